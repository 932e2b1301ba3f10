"""The sections of a report, in the order of its page: one file and one line each."""

from __future__ import annotations

from calibration.reports.sections import behaviours, judges, levels, raters, scores, unanswered
from calibration.reports.sections.base import CsvLine, PageParams, Section, Switch, View

SECTIONS: tuple[Section, ...] = (
    levels.SCORE_LEVELS,
    levels.PREFERENCES,
    judges.FLOORS,
    judges.JUDGES_COMPARED,
    judges.AGAINST_KEY,
    behaviours.TABLE_SEVEN,
    unanswered.UNANSWERED_ITEMS,
    behaviours.COVERAGE,
    behaviours.EVIDENCE,
    behaviours.PREVALENCE,
    scores.SCORES,
    raters.RATERS,
    raters.INTRACLASS,
)

__all__ = ["SECTIONS", "PageParams", "CsvLine", "Section", "Switch", "View"]
