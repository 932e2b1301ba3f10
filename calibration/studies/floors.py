"""Each judge and panel of a question above the baselines, with the same figures on the same resamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import Figure, Floor, FloorRow
from calibration.reports.wording import crowd_of
from calibration.statistics import RatingError, Ratings, Result
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.baselines import Row, baselines
from calibration.statistics.beside_people import BesidePeople
from calibration.statistics.panels import PANEL

PEOPLE, JUDGE = "human", "judge"
DEV, OTHERS = "dev", "others"
Lengths = Mapping[str, tuple[int, int]]


def floors(
    subjects: Sequence[SubjectData],
    learning: Iterable[SubjectData],
    lengths: Lengths,
    definition: Definition,
) -> tuple[Floor, ...]:
    """Return the floor of every question that people and a judge answered; none where they are switched off.

    `learning` are dev's answers where test is shown.
    """
    if not definition.baselines:
        return ()
    dev = {data.subject.question.ref: data for data in learning}
    found = (_floor(data, dev, lengths, definition) for data in subjects)
    return tuple(floor for floor in found if floor is not None)


def _floor(
    data: SubjectData, dev: Mapping[str, SubjectData], lengths: Lengths, definition: Definition
) -> Floor | None:
    kinds = {info.kind for info in data.raters}
    if not (PEOPLE in kinds and kinds & {JUDGE, PANEL}):
        return None
    try:
        ratings = data.ratings(definition.samples)
        before = dev.get(data.subject.question.ref)
        learn = before.ratings(definition.samples) if before is not None else None
    except RatingError:
        return None  # the question itself says why
    beside = BesidePeople(ratings, definition.statistics, definition.plan)
    if not beside.stack.rows.size:
        return None
    columns = [*ratings.of_kind(JUDGE), *ratings.of_kind(PANEL)]
    rows = [_judge(beside, ratings, column, data.off_scale) for column in columns]
    rows += baselines(beside, learn=learn, lengths=lengths)
    question, who = data.subject.question, crowd_of(data.raters)

    def figure(result: Result, name: str) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {who.own} mean")
        return Figure.of(result, raters=("people", name), question=question.title, reason=reason)

    kept = tuple(
        FloorRow(
            row.name,
            row.kind,
            row.told,
            tuple(figure(result, row.name) for result in row.figures.values()),
            row.reason,
        )
        for row in rows
    )
    return Floor(question.ref, question.title, DEV if learn is not None else OTHERS, kept)


def _judge(beside: BesidePeople, ratings: Ratings, column: int, off_scale: frozenset[str]) -> Row:
    """Return a judge's row. Errors are in steps of the scale: for values on it, and means of such values."""
    name, kind, values = ratings.raters[column], ratings.kinds[column], ratings.values[:, column]
    figures: dict[str, Result] = {}
    same_units = kind == PANEL or (name.rpartition("#")[0] not in off_scale and name not in off_scale)
    answered = ratings.as_answered()
    if answered.on_scale[column]:
        figures |= beside.on_scale(name, answered.values[:, column])
    if beside.correlations:
        figures |= beside.correlated(name, values)
    if beside.is_ordered and same_units:
        error = beside.error(name, values)
        figures[error.name] = error
    return Row(name, kind, figures)
