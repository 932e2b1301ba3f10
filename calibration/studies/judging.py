"""Judges against each other and against answer keys, for a report."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.reading.census import RaterInfo
from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import ComparedJudges, ComparedPair, Figure, KeyRow, KeyTable
from calibration.reports.wording import Crowd, crowd_of
from calibration.statistics import RatingError, Ratings, Result, keys
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.records import default_samples
from calibration.statistics.core.types import Samples
from calibration.statistics.judges_compared import KINDS, Compared, contenders_of, judges_compared

PEOPLE, KEY = "human", "key"


def compared(subjects: Sequence[SubjectData], definition: Definition) -> tuple[ComparedJudges, ...]:
    """Return all pairs of judges and metrics of each question that two of them or more answered.

    One who answered an item several times is there twice: by the first answer, and on ordered scales by the
    mean, whatever the study's policy of repeated answers is for its other tables.
    """
    found = (_compared(data, definition) for data in subjects if _several(data))
    return tuple(question for question in found if question is not None)


def _several(data: SubjectData) -> bool:
    """Whether a question may have two to compare: two raters, or one who answered several times."""
    kinds = [info.kind for info in data.raters]
    contenders = {info.name for info in data.raters if info.kind in KINDS}
    return (PEOPLE in kinds or KEY in kinds) and (
        len(contenders) > 1 or any(record.sample and record.rater in contenders for record in data.records)
    )


def _compared(data: SubjectData, definition: Definition) -> ComparedJudges | None:
    ordered = default_samples(data.subject.question.measured) == "mean"
    try:
        first, mean = data.ratings("first"), data.ratings("mean") if ordered else None
    except RatingError:
        return None
    samples: dict[str, set[int]] = {}
    for record in data.records:
        if record.value is not None:
            samples.setdefault(record.rater, set()).add(record.sample)
    calls = {name: len(numbers) for name, numbers in samples.items()}
    people = first if mean is None or definition.samples == "first" else mean
    found = judges_compared(
        people, contenders_of(first, mean, calls), statistics=definition.statistics, plan=definition.plan
    )
    if not found.pairs:
        return None
    question, who = data.subject.question, crowd_of(_answering(data, first))
    pairs = tuple(_pair(row, question.title, who) for row in found.pairs)
    return ComparedJudges(question.ref, question.title, pairs, found.left_out)


def _answering(data: SubjectData, ratings: Ratings) -> list[RaterInfo]:
    return [info for info in data.raters if info.name in ratings.raters]


def _pair(row: Compared, title: str, who: Crowd) -> ComparedPair:
    one, other = row.contenders

    def figure(result: Result, names: Sequence[str]) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {who.own} mean")
        reason = reason.replace("by a person", f"by a {who.one}")
        return Figure.of(result, raters=names, question=title, reason=reason)

    both = (one.name, other.name)
    return ComparedPair(
        (one.rater, other.rater),
        (one.samples, other.samples),
        both,
        row.statistic,
        row.reference,
        figure(row.first, (row.reference, one.name)),
        figure(row.second, (row.reference, other.name)),
        figure(row.difference, both),
        figure(row.p, both),
        figure(row.p_holm, both),
        row.n_dropped,
    )


def against_keys(
    subjects: Sequence[SubjectData], dev: Sequence[SubjectData], definition: Definition
) -> tuple[KeyTable, ...]:
    """Return the raters of each question that a key answers against it, each by its first answer.

    `dev` holds the keys' answers in the dev part, where the report is one of test.
    """
    learned = {data.subject.question.ref: data for data in dev}
    found: list[KeyTable] = []
    for data in subjects:
        if any(info.kind == KEY for info in data.raters):
            found += _against(data, learned.get(data.subject.question.ref), definition)
    return tuple(found)


def _against(data: SubjectData, dev: SubjectData | None, definition: Definition) -> list[KeyTable]:
    policy: Samples = "separate" if definition.samples == "separate" else "first"
    try:
        ratings = data.ratings(policy)
        of_dev = dev.ratings("first") if dev is not None and dev.records else None
    except RatingError:
        return []
    question = data.subject.question
    return [
        KeyTable(
            question.ref,
            question.title,
            question.level,
            table.key,
            table.values,
            tuple(_row(row, table.key, question.title) for row in table.rows),
            tuple(_row(row, table.key, question.title) for row in table.baselines),
            table.reason,
        )
        for table in keys.keys_of(ratings, dev=of_dev, plan=definition.plan)
    ]


def _row(row: keys.KeyRow, key: str, title: str) -> KeyRow:
    def figure(result: Result) -> Figure:
        return Figure.of(result, raters=(key, row.rater), question=title)

    return KeyRow(
        row.rater,
        row.kind,
        row.n,
        row.missing,
        tuple(figure(result) for result in row.figures),
        figure(row.difference) if row.difference else None,
        row.best,
        row.best_accuracy,
        row.matrix,
    )
