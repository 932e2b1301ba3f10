"""The sections of a report, in the order of its page: one file and one line each."""

from __future__ import annotations

from calibration.reports.sections import intraclass, levels, prevalence, scores, table_seven
from calibration.reports.sections.base import Asked, Line, Section, Switch, View

SECTIONS: tuple[Section, ...] = (
    levels.SECTION,
    table_seven.SECTION,
    prevalence.SECTION,
    intraclass.SECTION,
    scores.SECTION,
)

__all__ = ["SECTIONS", "Asked", "Line", "Section", "Switch", "View"]
