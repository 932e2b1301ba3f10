"""The raters of each question of a study: one row each, and how alike they answer again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from calibration.ratings.definitions import Definition
from calibration.ratings.ratings import SubjectData
from calibration.ratings.scope import QuestionInfo
from calibration.reports.contents import (
    BoundsRow,
    Figure,
    QuestionRaters,
    RaterLine,
    RepeatLine,
    ScoreBin,
    ScoreMap,
    ScoreMarks,
    ScoreProbabilities,
    Scores,
)
from calibration.reports.snapshot import TagRow, TagTable
from calibration.statistics import Plan, Record, cocoeval, ratings_from_records
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import Floats, RatingError, Ratings, as_number
from calibration.statistics.rater_panel import ASIDE, rater_panel
from calibration.statistics.repeats import How, repeats_of, right_answers
from calibration.statistics.score_calibration import FOLDS
from calibration.statistics.scores import Mapped, Marks, Probabilities, of_scores
from calibration.statistics.unanswered import Ends, bounds_of
from calibration.studies.inputs import Inputs

# Judges' and metrics' scores in people's terms, question by question.


def scores(
    subjects: Sequence[SubjectData], learning: Sequence[SubjectData], definition: Definition
) -> Scores | None:
    """Thresholds, probabilities and maps of scores; None where no question has people and scores.

    `learning` are dev's answers where test is shown: then nothing is learned on what is shown. Where they are
    empty, figures are cross-fitted by cluster. Questions that cannot be read as ratings are left out; the
    question's own place says why.
    """
    dev = {data.subject.question.ref: data for data in learning}
    marks: list[ScoreMarks] = []
    probabilities: list[ScoreProbabilities] = []
    maps: list[ScoreMap] = []
    for data in subjects:
        about = _Question(data, dev, definition)
        if not data.off_scale or about.ratings is None:
            continue
        results = of_scores(about.ratings, about.learning, ends=about.ends, plan=definition.plan)
        marks += [about.marks(result) for result in results.marks]
        probabilities += [about.probabilities(result) for result in results.probabilities]
        maps += [about.map(result) for result in results.mapped]
    if not (marks or probabilities or maps):
        return None
    return Scores(bool(dev), FOLDS, tuple(marks), tuple(probabilities), tuple(maps))


class _Question:
    """One question: its ratings, those of dev where test is shown, and what results become in a report."""

    def __init__(self, data: SubjectData, dev: Mapping[str, SubjectData], definition: Definition) -> None:
        question = data.subject.question
        self.ref, self.title = question.ref, question.title
        self.ratings = _ratings(data, definition)
        self.learning = self._learning(dev.get(question.ref), definition)
        self.kinds = dict(zip(self.ratings.raters, self.ratings.kinds, strict=True)) if self.ratings else {}
        self.ends = {
            name: ends for name in self.kinds if (ends := _ends_of_scores(name, data.ends)) is not None
        }

    def _learning(self, dev: SubjectData | None, definition: Definition) -> Ratings | None:
        """Return dev's ratings where test is shown, without a rater where dev has none that can be read."""
        if dev is None or self.ratings is None:
            return None
        return _ratings(dev, definition) or self.ratings.take([])

    def marks(self, marks: Marks) -> ScoreMarks:
        """Return the marks of a threshold as reports keep them."""
        return ScoreMarks(
            self.ref,
            self.title,
            marks.rater,
            self.kinds.get(marks.rater, ""),
            marks.rule,
            marks.threshold.value if marks.threshold else None,
            marks.threshold.rising if marks.threshold else True,
            marks.least,
            marks.most,
            marks.n_learned,
            marks.n_ties,
            self._figures(marks.results, marks.rater),
            marks.reason,
        )

    def probabilities(self, probabilities: Probabilities) -> ScoreProbabilities:
        """Return a score's probabilities as reports keep them."""
        calibration = probabilities.calibration
        results: tuple[Result, ...] = ()
        if calibration is not None:
            parts = calibration.parts
            results = (
                calibration.expected_calibration_error,
                calibration.brier,
                parts.reliability,
                parts.resolution,
            )
            results += (parts.uncertainty, parts.within)
        bins = [
            ScoreBin(b.low, b.high, b.n, b.predicted, self._figures((b.observed,), probabilities.rater)[0])
            for b in (calibration.curve if calibration else ())
        ]
        return ScoreProbabilities(
            self.ref,
            self.title,
            probabilities.rater,
            self.kinds.get(probabilities.rater, ""),
            probabilities.method,
            probabilities.n_learned,
            self._figures(results, probabilities.rater),
            tuple(bins),
            probabilities.reason,
        )

    def map(self, mapped: Mapped) -> ScoreMap:
        """Return a score on people's scale as reports keep it."""
        kind, figures = self.kinds.get(mapped.rater, ""), self._figures(mapped.results, mapped.rater)
        return ScoreMap(
            self.ref, self.title, mapped.rater, kind, mapped.map, mapped.n_learned, figures, mapped.reason
        )

    def _figures(self, results: Sequence[Result], rater: str) -> tuple[Figure, ...]:
        return tuple(Figure.of(result, raters=(rater,), question=self.title) for result in results)


def _ends_of_scores(name: str, ends: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Return the ends of a rater's scale; repeated answers may be raters of their own, called `name#0`."""
    return ends.get(name) or ends.get(name.rpartition("#")[0])


def _ratings(data: SubjectData, definition: Definition) -> Ratings | None:
    try:
        return data.ratings(definition.samples)
    except RatingError:
        return None


# How far what judges and metrics left unanswered could move a report's figures.

KINDS = ("judge", "metric")
Places = dict[str, set[str]]
"""Items by rater; where each sample is a rater, it is called `name#sample`."""


def bounds(subjects: Sequence[SubjectData], definition: Definition) -> tuple[BoundsRow, ...]:
    """Return a row per question and judge or metric that left something unanswered; none where nobody did.

    Questions that cannot be read as ratings are left out; their question says why.
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
                bounds_rows.append(
                    replace(row, n_failed=n_failed, n_partial=len(missing.get(name, set()) & items))
                )
    return bounds_rows


def _places(data: SubjectData, which: str) -> Places:
    """Return the items that raters were asked about, left without an answer, or failed to answer."""
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
    bounds_result = bounds_of(ratings, column, mask, statistics=definition.statistics, ends=_ends(data, name))
    if bounds_result is None or not bounds_result.figures:
        return None
    people = [ratings.raters[j] for j in ratings.of_kind("human")]
    figures = tuple(
        Figure.of(result, raters=(name, *people), question=question.title) for result in bounds_result.figures
    )
    return BoundsRow(
        question.ref,
        question.title,
        name,
        ratings.kinds[column],
        bounds_result.n_asked,
        bounds_result.n_unanswered,
        0,
        0,
        figures,
        bounds_result.unbounded,
    )


def _ends(data: SubjectData, name: str) -> Ends | None:
    """Return the lowest and highest value that a rater could give; None where its scale declares none."""
    rater = name if name in {info.name for info in data.raters} else name.rpartition("#")[0]
    if rater in data.off_scale:
        return data.ends.get(rater)
    numbers = [number for value in data.subject.question.values if (number := as_number(value)) is not None]
    if len(numbers) < 2 or len(numbers) < len(data.subject.question.values):
        return None
    return min(numbers), max(numbers)


# The tags of a scheme together: table 7 of each judge with the people.

OVERALL = "Overall"
T = TypeVar("T")


def tag_sets(subjects: Sequence[SubjectData]) -> list[list[SubjectData]]:
    """Return, per scheme, its binary questions that stand in a group with others; the rest stays out."""
    return in_sets(subjects, lambda data: data.subject.question)


def in_sets(members: Sequence[T], question: Callable[[T], QuestionInfo]) -> list[list[T]]:
    """Return, per scheme, the members whose question is a tag: binary, and in a group with others."""
    sets: dict[str, list[T]] = {}
    groups: dict[tuple[str, str], int] = {}
    tagged = [m for m in members if question(m).level == "binary" and question(m).group]
    for member in tagged:
        place = question(member).scheme, question(member).group
        groups[place] = groups.get(place, 0) + 1
    for member in tagged:
        tag_question = question(member)
        if groups[tag_question.scheme, tag_question.group] > 1:
            sets.setdefault(tag_question.scheme, []).append(member)
    return list(sets.values())


def tags(subjects: Sequence[SubjectData], definition: Definition) -> tuple[TagTable, ...]:
    """Return table 7 of every judge on each scheme's tags, by both policies (CoCoEval, table 7).

    Tags that cannot be read as ratings are left out; their question says why.
    """
    return tuple(table for members in tag_sets(subjects) for table in _of_scheme(members, definition))


def _of_scheme(members: Sequence[SubjectData], definition: Definition) -> list[TagTable]:
    ratings, titles = {}, {cocoeval.OVERALL: OVERALL}
    for data in members:
        question = data.subject.question
        try:
            ratings[question.key] = data.ratings(definition.samples)
        except RatingError:
            continue
        titles[question.key] = question.title
    first_question = members[0].subject.question
    return [
        TagTable(
            first_question.scheme,
            first_question.scheme_title,
            table.judge,
            table.people,
            tuple(titles[key] for key in ratings if key not in table.behaviours),
            table.policy,
            table.n_items,
            table.n_dropped,
            tuple(_row(row, table, titles[row.behaviour]) for row in table.rows),
            table.reason,
        )
        for table in cocoeval.tables_of(ratings, plan=definition.plan)
    ]


def _row(row: cocoeval.Row, table: cocoeval.TagTable, title: str) -> TagRow:
    everyone = (table.judge, *table.people)

    def figure(result: Result, raters: Sequence[str]) -> Figure:
        return Figure.of(result, raters=raters, question=title)

    return TagRow(
        row.behaviour,
        title,
        figure(row.detected_by_people, table.people),
        figure(row.detected_by_judge, (table.judge,)),
        tuple(figure(result, everyone) for result in row.judge.values()),
        tuple(figure(result, table.people) for result in row.people.values()),
    )


def raters_of(inputs: Inputs, pooled: Iterable[SubjectData] = ()) -> tuple[QuestionRaters, ...]:
    """Return the raters of every question that can be read as ratings; of pooled tags without repeats."""
    again = dict(zip((data.subject.question.ref for data in inputs.subjects), inputs.again, strict=True))
    all_questions = [
        _of_question(data, inputs, again.get(data.subject.question.ref))
        for data in (*inputs.subjects, *pooled)
    ]
    return tuple(question for question in all_questions if question is not None)


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
    repeat_lines: list[RepeatLine] = []
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
            repeat = repeats_of(answers, rater, how, reference=reference, plan=plan)
            repeat_lines.append(
                RepeatLine(repeat.rater, repeat.kind, repeat.how, repeat.n_answers, repeat.figures)
            )
    return tuple(repeat_lines)


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
