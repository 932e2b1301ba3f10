"""Judges of a question in a report: compared, above baselines, and as panels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibration.ratings.definitions import Definition, PanelAsked
from calibration.ratings.ratings import SubjectData
from calibration.ratings.scope import RaterInfo
from calibration.reports.contents import (
    ComparedJudges,
    ComparedPair,
    Figure,
    Floor,
    FloorRow,
    KeyRow,
    KeyTable,
    PanelMember,
    PanelSummary,
)
from calibration.reports.wording import Crowd, crowd_of
from calibration.statistics import Record, keys
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.baselines import BesidePeople, Row, baselines
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import RatingError, Ratings, Samples, default_samples
from calibration.statistics.judges_compared import KINDS, Compared, contenders_of, judges_compared
from calibration.statistics.panels import PANEL, PanelAnswers, panel_of

# Judges against each other and against answer keys, for a report.

PEOPLE, KEY = "human", "key"


def compared(subjects: Sequence[SubjectData], definition: Definition) -> tuple[ComparedJudges, ...]:
    """Return all pairs of judges and metrics of each question that two of them or more answered.

    One who answered an item several times is there twice: by the first answer, and on ordered scales by the
    mean, whatever the study's policy of repeated answers is for its other tables.
    """
    tables = (_compared(data, definition) for data in subjects if _several(data))
    return tuple(question for question in tables if question is not None)


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
    comparison = judges_compared(
        people, contenders_of(first, mean, calls), statistics=definition.statistics, plan=definition.plan
    )
    if not comparison.pairs:
        return None
    question, crowd = data.subject.question, crowd_of(_answering(data, first))
    pairs = tuple(_pair(row, question.title, crowd) for row in comparison.pairs)
    return ComparedJudges(question.ref, question.title, pairs, comparison.left_out)


def _answering(data: SubjectData, ratings: Ratings) -> list[RaterInfo]:
    return [info for info in data.raters if info.name in ratings.raters]


def _pair(row: Compared, title: str, crowd: Crowd) -> ComparedPair:
    first, other = row.contenders

    def figure(result: Result, names: Sequence[str]) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {crowd.own} mean")
        reason = reason.replace("by a person", f"by a {crowd.one}")
        return Figure.of(result, raters=names, question=title, reason=reason)

    both = (first.name, other.name)
    return ComparedPair(
        (first.rater, other.rater),
        (first.samples, other.samples),
        both,
        row.statistic,
        row.reference,
        figure(row.first, (row.reference, first.name)),
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
    tables: list[KeyTable] = []
    for data in subjects:
        if any(info.kind == KEY for info in data.raters):
            tables += _against(data, learned.get(data.subject.question.ref), definition)
    return tuple(tables)


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


# Each judge and panel of a question above the baselines, with the same figures on the same resamples.

HUMAN_KIND, JUDGE_KIND = "human", "judge"
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
    all_floors = (_floor(data, dev, lengths, definition) for data in subjects)
    return tuple(floor for floor in all_floors if floor is not None)


def _floor(
    data: SubjectData, dev: Mapping[str, SubjectData], lengths: Lengths, definition: Definition
) -> Floor | None:
    kinds = {info.kind for info in data.raters}
    if not (HUMAN_KIND in kinds and kinds & {JUDGE_KIND, PANEL}):
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
    columns = [*ratings.of_kind(JUDGE_KIND), *ratings.of_kind(PANEL)]
    rows = [_judge(beside, ratings, column, data.off_scale) for column in columns]
    rows += baselines(beside, learn=learn, lengths=lengths)
    question, crowd = data.subject.question, crowd_of(data.raters)

    def figure(result: Result, name: str) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {crowd.own} mean")
        return Figure.of(result, raters=("people", name), question=question.title, reason=reason)

    floor_rows = tuple(
        FloorRow(
            row.name,
            row.kind,
            row.told,
            tuple(figure(result, row.name) for result in row.figures.values()),
            row.reason,
        )
        for row in rows
    )
    return Floor(question.ref, question.title, DEV if learn is not None else OTHERS, floor_rows)


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


# Panels of judges among a question's raters: their answers, and what became of every item.

JUDGE = "judge"
NOBODY = 0
"""The id of a rater that is none of the database's."""


class Panels:
    """The panels of a study on one part of its split; collects a summary of each."""

    def __init__(self, definition: Definition, part: str, learning: Iterable[SubjectData]) -> None:
        self.definition, self.part = definition, part
        self.dev = {data.subject.question.ref: data for data in learning}
        self.summaries: list[PanelSummary] = []

    def among(self, data: SubjectData) -> SubjectData:
        """Return a question's answers with those of the panels; of nothing else is anything changed."""
        if not self.definition.panels:
            return data
        try:
            ratings = data.ratings(self._policy)
            learn = self._learn(data)
        except RatingError:
            return data  # the question itself says why
        for panel in self.definition.panels:
            data = self._add_panel(data, panel, ratings, learn)
        return data

    @property
    def _policy(self) -> Samples | None:
        """A panel reads one answer of each member: where samples are raters of their own, the usual one."""
        return None if self.definition.samples == "separate" else self.definition.samples

    def _learn(self, data: SubjectData) -> Ratings | None:
        """Return the ratings of dev that weights are learned from; None where there is no split."""
        if self.part == "dev":
            return data.ratings(self._policy)
        dev = self.dev.get(data.subject.question.ref)
        return dev.ratings(self._policy) if dev is not None and self.part == "test" else None

    def _add_panel(
        self, data: SubjectData, panel: PanelAsked, ratings: Ratings, learn: Ratings | None
    ) -> SubjectData:
        judges = [info.name for info in data.raters if info.kind == JUDGE and info.name not in data.off_scale]
        members = [name for name in panel.members or judges if name in judges]
        answers = panel_of(ratings, members, panel.rule, least=_least(panel), learn=learn)
        entry = self._summary(data, panel, answers)
        if (
            entry not in self.summaries
        ):  # answers about the other kind of item may count for several questions
            self.summaries.append(entry)
        if not answers.n_answered:
            return data
        info = RaterInfo(NOBODY, panel.name, PANEL, identified=True)
        records = _records(data.records, ratings, panel.name, answers, members)
        scale = ratings.scale
        off = scale is not None and not np.isin(answers.values[~np.isnan(answers.values)], scale).all()
        return replace(
            data,
            records=(*data.records, *records),
            raters=(*data.raters, info),
            off_scale=data.off_scale | ({panel.name} if off else set()),
        )

    def _summary(self, data: SubjectData, panel: PanelAsked, answers: PanelAnswers) -> PanelSummary:
        members = tuple(PanelMember(m.name, m.weight, m.agreement, m.n_items) for m in answers.members)
        question = data.subject.question
        basis = self.part if panel.rule == "weighted" else ""
        return PanelSummary(
            question.ref,
            question.title,
            panel.name,
            panel.rule,
            members,
            answers.least,
            answers.n_answered,
            answers.n_ties,
            answers.n_short,
            basis,
            answers.reason,
        )


def _least(panel: PanelAsked) -> int:
    """Number of members who must answer: by default more than half of the members named, present or not."""
    return panel.least or (len(panel.members) // 2 + 1 if panel.members else 0)


def _records(
    records: Sequence[Record], ratings: Ratings, name: str, answers: PanelAnswers, members: Sequence[str]
) -> list[Record]:
    """Return the panel's answer to every item that a member answered, without a value where it has none."""
    about: Mapping[str, Record] = {record.item: record for record in records if record.rater in members}
    panel_records = []
    for item, value in zip(ratings.items, answers.values.tolist(), strict=True):
        if item in about:
            answer = None if np.isnan(value) else ratings.label(value) if ratings.names else value
            panel_records.append(
                replace(about[item], rater=name, kind=PANEL, value=answer, sample=0, identified=True)
            )
    return panel_records
