"""Intraclass correlations with intervals from the F distribution, beside those that resampling gives."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.reports.figures import QuestionFigures, figures, worded
from calibration.reports.sections.base import Asked, Line, Section, View
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import Row, Table, label, noted
from calibration.reports.wording import listed
from calibration.statistics.icc_intervals import BY_F

ASSUMES = (
    "These intervals take items for independent and their effects for normal (McGraw and Wong 1996): turns "
    "of one dialogue are alike, which makes them too short. They serve where there are so few dialogues that "
    "resampling says little. With missing ratings there is none."
)


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return the table of all questions that intraclass correlations were computed on, if any were."""
    names = list(dict.fromkeys(e.name for question in result.questions for e in question.f_intervals))
    if not names:
        return []
    notes: list[str] = []
    rows = [row for title, question in label(figures(result)) for row in _rows(title, question, names, notes)]
    columns = [(name, worded(name.removesuffix(BY_F)).heading) for name in names]
    title = "Intraclass correlations with F intervals"
    return [View(Table(title, columns, rows, notes), (ASSUMES,))]


def _rows(title: str, question: QuestionFigures, names: list[str], notes: list[str]) -> list[Row]:
    found: list[Row] = []
    for raters in dict.fromkeys(e.raters for e in question.data.f_intervals):
        by_name = {e.name: e for e in question.data.f_intervals if e.raters == raters}
        cells: list[Figure | None] = [by_name.get(name) for name in names]
        given = [cell for cell in cells if cell]
        found.append(
            Row(
                title,
                _who(raters, question),
                max(cell.n_items for cell in given),
                max(cell.n_clusters for cell in given),
                [noted(cell, notes) for cell in cells],
                first=not found,
            )
        )
    return found


def _who(raters: tuple[str, ...], question: QuestionFigures) -> str:
    """Return `3 people`, or the names where raters of several kinds stand together."""
    by_raters = {entry.raters: entry for entry in question.data.f_intervals}
    return question.counted_in(by_raters[raters]) if set(raters) <= set(question.people) else listed(raters)


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield every intraclass correlation with its F interval."""
    for question in result.questions:
        for entry in question.f_intervals:
            yield question.ref, question.title, entry.name, entry


SECTION = Section("intraclass", views, lines)
