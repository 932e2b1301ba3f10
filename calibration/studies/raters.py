"""The raters of each question of a study: one row each, and how alike they answer again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from calibration.reading.ratings import SubjectData
from calibration.reports.contents import QuestionRaters, RaterLine, RepeatLine
from calibration.statistics import Plan, RatingError, Ratings, Record, ratings_from_records
from calibration.statistics.core.types import Floats
from calibration.statistics.rater_panel import ASIDE, rater_panel
from calibration.statistics.repeats import How, repeats_of, right_answers
from calibration.studies.inputs import Inputs


def raters_of(inputs: Inputs, pooled: Iterable[SubjectData] = ()) -> tuple[QuestionRaters, ...]:
    """Return the raters of every question that can be read as ratings; of pooled tags without repeats."""
    again = dict(zip((data.subject.question.ref for data in inputs.subjects), inputs.again, strict=True))
    found = [
        _of_question(data, inputs, again.get(data.subject.question.ref))
        for data in (*inputs.subjects, *pooled)
    ]
    return tuple(question for question in found if question is not None)


def _of_question(data: SubjectData, inputs: Inputs, again: Sequence[Record] | None) -> QuestionRaters | None:
    plan, policy = inputs.definition.plan, inputs.definition.samples
    try:
        ratings = data.ratings(policy if policy != "separate" else None)
        repeats = _repeats(data, ratings, again, plan) if again is not None else ()
    except RatingError:
        return None  # the question itself says so
    columns = [
        column
        for column, (name, kind) in enumerate(zip(ratings.raters, ratings.kinds, strict=True))
        if kind not in ASIDE and name not in data.off_scale
    ]
    panel = rater_panel(ratings, columns, plan)
    simulated = {info.name for info in data.raters if info.simulated}
    return QuestionRaters(
        data.subject.question.ref,
        panel.statistic,
        tuple(
            RaterLine(row.rater, row.kind, row.rater in simulated, row.group, row.figures, row.shares)
            for row in panel.rows
        ),
        repeats,
        panel.groups,
        panel.through_judges,
        panel.over,
        panel.unidentified,
        panel.reason,
    )


def _repeats(
    data: SubjectData, ratings: Ratings, again: Sequence[Record], plan: Plan
) -> tuple[RepeatLine, ...]:
    """Return the raters who answered items several times: by samples, then on two occasions."""
    several = frozenset(record.rater for record in data.records if record.sample > 0)
    by_sample = [record for record in data.records if record.rater in several]
    found: list[RepeatLine] = []
    sources: list[tuple[How, Sequence[Record]]] = [("samples", by_sample), ("again", again)]
    for how, records in sources:
        by_rater: dict[str, list[Record]] = {}
        for record in records:
            by_rater.setdefault(record.rater, []).append(record)
        for rater, mine in by_rater.items():
            if not mine[0].identified or mine[0].kind in ASIDE:
                continue
            answers = _answers(data, mine)
            reference = _reference(ratings, rater, answers) if how == "samples" else None
            told = repeats_of(answers, rater, how, reference=reference, plan=plan)
            found.append(RepeatLine(told.rater, told.kind, told.how, told.n_answers, told.figures))
    return tuple(found)


def _answers(data: SubjectData, records: Sequence[Record]) -> Ratings:
    """Return a rater's answers, a column each; on a scale of its own by the values that occur."""
    question = data.subject.question
    off = records[0].rater in data.off_scale
    return ratings_from_records(
        records,
        level=question.measured,
        values=None if off else question.values or None,
        positive=1 if question.positive is None else question.positive,
        samples="separate",
    )


def _reference(ratings: Ratings, rater: str, answers: Ratings) -> Floats | None:
    """Return the right answers to the items that a rater answered several times."""
    right = right_answers(ratings, rater)
    if right is None:
        return None
    at: Mapping[str, float] = dict(zip(ratings.items, right.tolist(), strict=True))
    return np.array([at.get(item, np.nan) for item in answers.items])
