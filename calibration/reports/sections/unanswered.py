"""How far unanswered items could move what a report says of judges and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calibration.reports.contents import BoundsRow
from calibration.reports.figures import QuestionFigures, crowd, figures
from calibration.reports.sections.base import (
    CsvLine,
    PageParams,
    Section,
    View,
    count,
    headed,
    select_question,
)
from calibration.reports.sentences import (
    BOUNDS_REMARKS,
    counted_row,
    heading,
    leading_bound,
    left_out,
    sentence,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table
from calibration.statistics.unanswered import MEAN, NAME, SHARE, WITH_MEAN

KEY = "bounds"
UNANSWERED = f"{NAME}n_unanswered"


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table a question: who left something unanswered, and between what its figures could lie.

    What bounds are is said once, under the first.
    """
    questions = {question.data.ref: question for question in figures(result)}
    people = crowd(questions.values())
    selected, switches = select_question(headed(result, result.bounds), KEY, params)
    bound_views: list[View] = []
    for ref in dict.fromkeys(row.ref for _, row in selected):
        rows = [row for _, row in selected if row.ref == ref]
        title = next(title for title, row in selected if row.ref == ref)
        remarks = (
            *_row_remarks(rows, questions.get(ref)),
            *(() if bound_views else BOUNDS_REMARKS),
            *left_out(rows),
        )
        bound_views.append(View(_table(title, rows, f"{people.own} mean"), remarks, switches))
    return bound_views


def _table(title: str, rows: Sequence[BoundsRow], mean: str) -> Table:
    names = _ordered({figure.name for row in rows for figure in row.figures}, rows)
    lines = []
    for row in rows:
        cells = [count(UNANSWERED, row.n_unanswered), *(row.figure(name) for name in names)]
        lines.append(Row(row.rater, row.kind, row.n_asked, _clusters(row), cells, first=True))
    columns = [(UNANSWERED, "Unanswered"), *((name, heading(name, mean)) for name in names)]
    return Table(f"Had every item been answered: {title}", columns, lines, first="Rater")


def _clusters(row: BoundsRow) -> int:
    return max(figure.n_clusters for figure in row.figures)


def _ordered(names: set[str], rows: Sequence[BoundsRow]) -> list[str]:
    """Return the figures of all rows in one order: alone, with people, with the people's mean."""
    seen = list(dict.fromkeys(figure.name for row in rows for figure in row.figures))
    return sorted(names, key=lambda name: (name not in (SHARE, MEAN), WITH_MEAN in name, seen.index(name)))


def _row_remarks(rows: Sequence[BoundsRow], question: QuestionFigures | None) -> Iterator[str]:
    for row in rows:
        figure = leading_bound(row, question)
        more = f". Had they all been answered, {sentence(figure, row.title)}" if figure else ""
        yield f"{counted_row(row)}{more}."


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the bounds, named `bounds_...`, and how many items were left unanswered."""
    for row in result.bounds:
        unanswered = replace(count(UNANSWERED, row.n_unanswered), raters=(row.rater,), n_items=row.n_asked)
        yield CsvLine(row.ref, row.title, UNANSWERED, unanswered)
        for entry in row.figures:
            yield CsvLine(row.ref, row.title, entry.name, entry)


UNANSWERED_ITEMS = Section(KEY, views, lines)
