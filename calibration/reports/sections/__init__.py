"""The sections of a report, in the order of its page: one file and one line each."""

from __future__ import annotations

from calibration.reports.sections import (
    against_key,
    coverage,
    evidence,
    floors,
    intraclass,
    judges_compared,
    levels,
    preferences,
    prevalence,
    raters,
    scores,
    table_seven,
    unanswered,
)
from calibration.reports.sections.base import Asked, Line, Section, Switch, View

SECTIONS: tuple[Section, ...] = (
    levels.SECTION,
    preferences.SECTION,
    floors.SECTION,
    judges_compared.SECTION,
    against_key.SECTION,
    table_seven.SECTION,
    unanswered.SECTION,
    coverage.SECTION,
    evidence.SECTION,
    prevalence.SECTION,
    scores.SECTION,
    raters.SECTION,
    intraclass.SECTION,
)

__all__ = ["SECTIONS", "Asked", "Line", "Section", "Switch", "View"]
