"""Bounds on how far unanswered items could move a report's figures of judges and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from annotation.text.display import number
from calibration.ratings.definitions import Definition
from calibration.ratings.ratings import SubjectData
from calibration.reports.figures import QuestionFigures, crowd, figures, worded
from calibration.reports.results import BoundsRow, Figure, recorded
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    CsvLine,
    PageParams,
    Row,
    Section,
    Table,
    View,
    count,
    headed,
    question_key,
    select_question,
    table_key,
)
from calibration.reports.wording import counted
from calibration.statistics import Result
from calibration.statistics.core.ratings import RatingError, Ratings, as_number
from calibration.statistics.unanswered import GAP, MEAN, NAME, SHARE, WITH_MEAN, Ends, bounds_of

KINDS = ("judge", "metric")
Places = dict[str, set[str]]
"""Items by rater; where each sample is a rater, it is called `name#sample`."""


def bounds(subjects: Sequence[SubjectData], definition: Definition) -> tuple[BoundsRow, ...]:
    """Return one row per question and judge or metric that left items unanswered; empty if none did.

    Questions that cannot be read as ratings are left out; their question gives the reason.
    """
    return tuple(row for data in subjects for row in _bounds_rows(data, definition))


def _bounds_rows(data: SubjectData, definition: Definition) -> list[BoundsRow]:
    records = (*data.records, *data.unanswered)
    if not any(record.value is None and record.kind in KINDS for record in records):
        return []
    try:
        ratings = replace(data, records=records).ratings(definition.samples)
    except RatingError:
        return []
    asked_items, missing, failed = (_places(data, which) for which in ("asked", "missing", "failed"))
    bounds_rows = []
    for column, name in enumerate(ratings.raters):
        if ratings.kinds[column] in KINDS:
            row = _bounds_row(data, ratings, column, definition, asked_items.get(name, set()))
            if row is not None:
                items = {i for i, v in zip(ratings.items, ratings.values[:, column], strict=True) if v == v}
                n_failed = len(failed.get(name, set()) - items)
                n_partial = len(missing.get(name, set()) & items)
                bounds_rows.append(replace(row, n_failed=n_failed, n_partial=n_partial))
    return bounds_rows


def _places(data: SubjectData, which: str) -> Places:
    """Return each rater's items that are `asked`, `missing` an answer, or `failed`."""
    records = data.unanswered if which == "failed" else (*data.records, *data.unanswered)
    items_by_rater: Places = {}
    for record in records:
        if record.kind in KINDS and (which != "missing" or record.value is None):
            for name in (record.rater, f"{record.rater}#{record.sample}"):
                items_by_rater.setdefault(name, set()).add(record.item)
    return items_by_rater


def _bounds_row(
    data: SubjectData, ratings: Ratings, column: int, definition: Definition, asked_items: set[str]
) -> BoundsRow | None:
    name, question = ratings.raters[column], data.subject.question
    mask = np.array([item in asked_items for item in ratings.items])
    computed = bounds_of(
        ratings, column, mask, statistics=definition.statistics, ends=_scale_ends(data, name)
    )
    if computed is None or not computed.figures:
        return None
    raters = (name, *(ratings.raters[j] for j in ratings.of_kind("human")))
    return recorded(
        BoundsRow,
        computed,
        ref=question.ref,
        title=question.title,
        kind=ratings.kinds[column],
        n_failed=0,
        n_partial=0,
        figures=tuple(Figure.of(r, raters=raters, question=question.title) for r in computed.figures),
    )


def _scale_ends(data: SubjectData, name: str) -> Ends | None:
    """Return the lowest and highest value that a rater could give; None if its scale declares none."""
    rater = name if name in {info.name for info in data.raters} else name.rpartition("#")[0]
    if rater in data.off_scale:
        return data.ends.get(rater)
    numbers = [number for value in data.subject.question.values if (number := as_number(value)) is not None]
    if len(numbers) < 2 or len(numbers) < len(data.subject.question.values):
        return None
    return min(numbers), max(numbers)


# Wording of bounds over unanswered items, the same in a report's caveats and under its table.

ALONE = {SHARE: "the share that it says yes to", MEAN: "its mean"}
HEADINGS = {SHARE: "Says yes", MEAN: "Mean"}
BOUNDS_REMARKS = (
    "Each figure is over the answered items. Lowest and highest are what it could be if every item had been "
    "answered, whatever the answers, with people’s answers as they are. They are bounds, not confidence "
    "intervals: they leave out chance.",
    "Bounds of shares, means, kappa and MCC are sharp: some set of answers reaches each end. Bounds of "
    "correlations are conservative: no set of answers lies beyond them, but perhaps none reaches them.",
)


def statistic_of(name: str) -> str:
    """Return the key of the statistic of a bound."""
    prefix = next(prefix for prefix in (WITH_MEAN, GAP, NAME) if name.startswith(prefix))
    return name.removeprefix(prefix)


def heading(name: str, mean: str) -> str:
    """Return the heading of a bound's column; `mean` is the name of people's mean."""
    if name in HEADINGS:
        return HEADINGS[name]
    words = worded(statistic_of(name))
    if name.startswith(GAP):
        return f"{words.heading}, less people’s own"
    return f"{words.symbol or words.heading}, {mean}" if name.startswith(WITH_MEAN) else words.heading


def figure_name(result: Result) -> str:
    """Name a bound in a sentence: `Cohen's kappa`, or a phrase for a share or a mean."""
    name = ALONE.get(result.name)
    if name is not None:
        return name
    words = worded(statistic_of(result.name)).name
    if result.name.startswith(GAP):
        return f"The gap in {words} to people"
    return f"{words} with the people’s mean" if result.name.startswith(WITH_MEAN) else words


def sentence(result: Result, title: str) -> str:
    """Return a sentence with the bounds of a figure beside its reported value."""
    where = f"{figure_name(result)} on {title} could be anywhere from {_ends(result)}"
    return f"{where} (reported without them: {number(result.value)})"


def _ends(result: Result) -> str:
    return f"{number(result.low)} to {number(result.high)}"


def leading_bound(row: BoundsRow, question: QuestionFigures | None) -> Figure | None:
    """Return a row's representative bound: of the report's leading figure, else the first with people."""
    names = [f"{NAME}{question.headline}", f"{WITH_MEAN}spearman"] if question is not None else []
    bounds = [row.figure(name) for name in names] + [f for f in row.figures if f.name not in ALONE]
    return next((figure for figure in bounds if figure is not None), None)


def of_failures(result: Snapshot, rater: str) -> str:
    """Return how a judge's failures could change its leading figure; '' if nothing is bounded."""
    questions = {question.data.ref: question for question in figures(result)}
    rows = [row for row in result.bounds if row.rater == rater and row.n_failed]
    rows.sort(key=lambda row: _importance(questions.get(row.ref)))
    for row in rows:
        question = questions.get(row.ref)
        figure = leading_bound(row, question)
        if figure is not None:
            change = f" With all items answered, {sentence(figure, row.title)}."
            return change + (failure_note(row, figure, question) if question is not None else "")
    return ""


def _importance(question: QuestionFigures | None) -> int:
    if question is None:
        return 3
    return 0 if question.data.pooled else 1 if question.data.key == "overall" else 2


def failure_note(row: BoundsRow, figure: Figure, question: QuestionFigures) -> str:
    """Interpret wide bounds; '' if they are narrow.

    Bounds are wide if the report shows a difference from people with each other and the bounds of that
    difference contain 0, or if they are wider than the figure's interval.
    """
    key = statistic_of(figure.name)
    gap, moved = question.gap(key, row.rater), row.figure(f"{GAP}{key}")
    gap_is_clear = gap is not None and gap.low is not None and gap.high is not None and gap.low * gap.high > 0
    if gap_is_clear and moved is not None and (moved.low or 0) <= 0 <= (moved.high or 0):
        return " This could reverse the comparison with people."
    is_mean = figure.name.startswith(WITH_MEAN)
    reported = question.with_mean(row.rater, key) if is_mean else question.with_people(key, row.rater)
    if reported is not None and _width(figure) > _width(reported) > 0:
        return " This is wider than the interval: the failures matter more than chance."
    return ""


def _width(figure: Figure) -> float:
    return 0.0 if figure.low is None or figure.high is None else figure.high - figure.low


def left_out(rows: Sequence[BoundsRow]) -> list[str]:
    """Return the statistics without bounds, by reason."""
    by_reason: dict[str, dict[str, None]] = {}
    for row in rows:
        for key, reason in row.unbounded:
            by_reason.setdefault(reason, {})[worded(key).name] = None
    return [f"No bounds for {', '.join(names)}: {reason}." for reason, names in by_reason.items()]


def counted_row(row: BoundsRow) -> str:
    """Count the items that a rater left unanswered, by cause."""
    rest = row.n_unanswered - row.n_failed
    causes = [f"failed calls: {row.n_failed:,}"] if row.n_failed else []
    causes += [f"no answer with a reason: {rest:,}"] if rest else []
    unanswered = f"{row.rater} left {row.n_unanswered:,} of {counted(row.n_asked, 'item')} unanswered"
    lack = "lacks some samples and counts" if row.n_partial == 1 else "lack some samples and count"
    some = f"; {row.n_partial:,} more {lack} as answered" if row.n_partial else ""
    return f"{unanswered} ({'; '.join(causes)}){some}"


# The table, and its lines in files.

KEY = "bounds"
UNANSWERED = f"{NAME}n_unanswered"


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question: raters with unanswered items, and the bounds of their figures.

    The first table explains bounds.
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
    key = table_key(KEY, question_key(rows[0].ref))
    return Table(key, f"Bounds over unanswered items: {title}", columns, lines, first="Rater")


def _clusters(row: BoundsRow) -> int:
    return max(figure.n_clusters for figure in row.figures)


def _ordered(names: set[str], rows: Sequence[BoundsRow]) -> list[str]:
    """Sort the figures of all rows: alone, with people, with the people's mean."""
    seen = list(dict.fromkeys(figure.name for row in rows for figure in row.figures))
    return sorted(names, key=lambda name: (name not in (SHARE, MEAN), WITH_MEAN in name, seen.index(name)))


def _row_remarks(rows: Sequence[BoundsRow], question: QuestionFigures | None) -> Iterator[str]:
    for row in rows:
        figure = leading_bound(row, question)
        more = f". With all items answered, {sentence(figure, row.title)}" if figure else ""
        yield f"{counted_row(row)}{more}."


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the bounds, named `bounds_...`, and the number of unanswered items."""
    for row in result.bounds:
        unanswered = replace(count(UNANSWERED, row.n_unanswered), raters=(row.rater,), n_items=row.n_asked)
        yield CsvLine(row.ref, row.title, UNANSWERED, unanswered)
        for entry in row.figures:
            yield CsvLine(row.ref, row.title, entry.name, entry)


UNANSWERED_ITEMS = Section(KEY, "judge-agrees", views, lines)
