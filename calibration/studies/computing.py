"""From a study's inputs to the snapshot that its report keeps, nothing rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.snapshot import (
    FORMAT,
    Answerer,
    Figure,
    Link,
    Question,
    Snapshot,
    SplitUsed,
    Totals,
)
from calibration.reports.wording import PEOPLE, Crowd, crowd_of
from calibration.statistics import RatingError, Ratings, Record, analyse
from calibration.statistics.analysis import MEAN_OF_PEOPLE, Entry, mean_of
from calibration.statistics.icc_intervals import f_intervals
from calibration.statistics.replacement import StandIn
from calibration.studies.coverage import coverage_of
from calibration.studies.evidence import evidence_tables
from calibration.studies.floors import floors
from calibration.studies.inputs import Inputs
from calibration.studies.judging import against_keys, compared
from calibration.studies.levels import level_tables
from calibration.studies.panels import Panels
from calibration.studies.preferences import preference_tables
from calibration.studies.prevalence import prevalence
from calibration.studies.raters import raters_of
from calibration.studies.scores import scores
from calibration.studies.tags import tag_sets, tags
from calibration.studies.unanswered import bounds

Progress = Callable[[int, int], None]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
POOLED, ALL_TAGS = "all", "All tags, pooled"
HUMAN, METRIC = "human", "metric"


def result_of(inputs: Inputs, progress: Progress | None = None) -> Snapshot:
    """Compute a report; `progress` is told (questions done, questions in all) as it goes."""
    panels = Panels(inputs.definition, inputs.part, inputs.learning)
    subjects = [panels.among(data) for data in inputs.subjects]
    todo = [*subjects, *pooled(subjects)]
    questions = []
    for number, data in enumerate(todo, 1):
        questions.append(_question(data, inputs.definition, is_pooled=number > len(subjects)))
        if progress:
            progress(number, len(todo))
    campaign = inputs.scope.campaign
    return Snapshot(
        format=FORMAT,
        study=inputs.study.name,
        corpus=inputs.scope.corpus.name,
        campaign=campaign.name if campaign else None,
        occasions=tuple(inputs.scope.occasions),
        definition=inputs.definition,
        part=inputs.part,
        split=_split(inputs),
        counts=_counts([*inputs.subjects, *(inputs.levels.across if inputs.levels else ())]),
        calls=inputs.calls,
        answered=inputs.answered,
        uncompared=inputs.uncompared,
        questions=tuple(questions),
        tags=tags(subjects, inputs.definition),
        coverage=coverage_of(inputs),
        raters=raters_of(inputs, pooled(inputs.subjects)),
        levels=level_tables(inputs.levels, inputs.definition, subjects, panels, inputs.lengths),
        prevalence=prevalence(inputs.subjects, inputs.definition),
        compared=compared(todo, inputs.definition),
        keys=against_keys(todo, [*inputs.dev_keys, *pooled(inputs.dev_keys)], inputs.definition),
        scores=scores(inputs.subjects, inputs.learning, inputs.definition),
        panels=tuple(panels.told),
        bounds=bounds(todo, inputs.definition),
        left_out=tuple(one.sentence for one in inputs.scope.without),
        fake_systems=inputs.fake_systems,
        evidence=evidence_tables(inputs.evidence, inputs.definition),
        preferences=preference_tables(inputs.compared, inputs.definition),
        floors=floors(todo, [*inputs.learning, *pooled(inputs.learning)], inputs.lengths, inputs.definition),
    )


def _split(inputs: Inputs) -> SplitUsed | None:
    split = inputs.split
    return SplitUsed(split.name, split.seed, split.test_share) if split else None


def _counts(subjects: Sequence[SubjectData]) -> Totals:
    """Count what was read, each item, cluster and rater once."""
    records = [record for data in subjects for record in data.records]
    return Totals(
        labels=len(records),
        missing=sum(record.value is None for record in records),
        items=len({record.item for record in records}),
        clusters=len({record.cluster for record in records}),
        raters=len({info.id for data in subjects for info in data.raters}),
    )


def _question(data: SubjectData, definition: Definition, *, is_pooled: bool) -> Question:
    asked = data.subject.question
    described = Question(
        ref=asked.ref,
        key=asked.key,
        title=asked.title,
        wording=asked.wording,
        scheme=asked.scheme,
        scheme_title=asked.scheme_title,
        item_kind=asked.item_kind,
        level=asked.level,
        values=asked.values,
        group=asked.group,
        pooled=is_pooled,
        links=tuple(
            Link(link.question.ref, link.map.as_dict())
            for link in (*data.subject.links, *data.subject.across)
        ),
        repeated=data.repeated,
    )
    try:
        ratings = data.ratings(definition.samples)
    except RatingError as error:
        return replace(described, problem=str(error))
    of_people: Bools = np.any(~np.isnan(ratings.values[:, list(ratings.of_kind(HUMAN))]), axis=1)
    raters = _answerers(data, ratings, of_people)
    described = replace(
        described,
        raters=raters,
        n_items=ratings.n_items,
        n_clusters=ratings.n_clusters,
        people_items=int(of_people.sum()),
    )
    return _compared(described, ratings, definition)


def _compared(described: Question, ratings: Ratings, definition: Definition) -> Question:
    """Compare people, judges and keys in every way that applies; metrics with the people alone.

    A metric that names the question's categories is compared like a judge.
    """
    metrics = [column for column in ratings.of_kind(METRIC) if not ratings.on_scale[column]]
    others = [column for column in range(len(ratings.raters)) if column not in metrics]
    title = described.title
    who = crowd_of(rater for rater in described.raters if rater.n)
    compared = analyse(
        ratings.take(others),
        question=title,
        statistics=definition.statistics,
        plan=definition.plan,
        epsilon=definition.epsilon,
    )
    pairs = compared.pairs + _with_metrics(ratings, metrics, title, definition)
    return replace(
        described,
        panel=_figures(compared.panel, who),
        pairs=_figures(pairs, who),
        replacement=_figures(compared.replacement, who),
        gaps=_figures(compared.gaps, who),
        pairs_left_out=compared.left_out,
        stand_ins=tuple(_called(verdict, who) for verdict in compared.stand_ins),
        f_intervals=_figures(f_intervals(ratings.take(others), compared.panel, definition.plan.level), who),
    )


def _called(verdict: StandIn, who: Crowd) -> StandIn:
    """Return a verdict with people called what they are."""
    return replace(
        verdict, reasons=tuple(reason.replace(PEOPLE.many, who.many) for reason in verdict.reasons)
    )


def _figures(entries: Iterable[Entry], who: Crowd) -> tuple[Figure, ...]:
    """Return entries as reports keep them, their reasons in the reader's words."""
    own = f"the {who.own} mean"
    return tuple(
        Figure.of(
            entry.result,
            raters=entry.raters,
            question=entry.question,
            reason=entry.result.reason.replace(MEAN_OF_PEOPLE, own),
        )
        for entry in entries
    )


def _with_metrics(
    ratings: Ratings, metrics: Sequence[int], title: str, definition: Definition
) -> tuple[Entry, ...]:
    """Compare each metric with the people's mean (or the only person), on the same resamples as all else.

    Pairs of metrics, and of a metric with each person, are left out: there may be hundreds.
    """
    people = ratings.of_kind(HUMAN)
    if not metrics or not people or ratings.level == "nominal":
        return ()
    if len(people) > 1:
        against = MEAN_OF_PEOPLE
        mean = mean_of(ratings.values[:, list(people)])
        chosen = ratings.take(metrics).with_column(against, mean)
    else:
        against = ratings.raters[people[0]]
        chosen = ratings.take([*people, *metrics])
    plan = definition.plan
    return analyse(chosen, question=title, statistics=definition.statistics, against=against, plan=plan).pairs


def _answerers(data: SubjectData, ratings: Ratings, of_people: Bools) -> tuple[Answerer, ...]:
    """Describe the raters: how many items each answered, left out, and what each said on average.

    `of_people` are the items that a person rated.
    """
    missing: dict[str, int] = {}
    samples: dict[str, set[int]] = {}
    for record in data.records:
        samples.setdefault(record.rater, set()).add(record.sample)
        if record.value is None:
            missing[record.rater] = missing.get(record.rater, 0) + 1
    return tuple(
        replace(
            _answerer(ratings, column, of_people),
            missing=missing.get(name, 0),
            samples=len(samples.get(name, {0})),
            simulated=_is_simulated(name, data),
        )
        for column, name in enumerate(ratings.raters)
    )


def _is_simulated(name: str, data: SubjectData) -> bool:
    """Whether nobody is behind a rater; repeated answers may be raters of their own, called `name#0`."""
    return any(
        info.simulated and name in (info.name, f"{info.name}#{name.rsplit('#')[-1]}") for info in data.raters
    )


def _answerer(ratings: Ratings, column: int, of_people: Bools) -> Answerer:
    values = ratings.values[:, column]
    given = values[~np.isnan(values)]
    return Answerer(
        name=ratings.raters[column],
        kind=ratings.kinds[column],
        identified=ratings.identified[column],
        on_scale=ratings.as_answered().on_scale[column],
        n=int(given.size),
        constant=given.size > 1 and bool((given == given[0]).all()),
        mean=_mean(ratings, given),
        missing=0,
        samples=1,
        simulated=False,
        n_of_people=int((of_people & ~np.isnan(values)).sum()),
    )


def _mean(ratings: Ratings, given: np.ndarray[Any, Any]) -> float | None:
    """Mean of the values; for a binary question the share of the positive class; none for categories."""
    if not given.size or ratings.level == "nominal":
        return None
    if ratings.level == "binary":
        return float((given == ratings.positive).mean()) if ratings.positive is not None else None
    return float(given.mean())


def pooled(subjects: Sequence[SubjectData]) -> list[SubjectData]:
    """Return, per scheme, all its grouped binary questions read as one: an item is then a turn's question.

    This is the overall agreement of a set of tags: rated items of all questions, one below the other, per
    rater. Questions that stand alone in their group, and raters on other scales, stay out.
    """
    return [_pool(members) for members in tag_sets(subjects)]


def _pool(members: Sequence[SubjectData]) -> SubjectData:
    first = members[0]
    question = replace(
        first.subject.question,
        key=POOLED,
        ref=f"{first.subject.question.scheme}/{POOLED}",
        wording=ALL_TAGS,
        group="",
    )
    records, unanswered = _renamed(members, "records"), _renamed(members, "unanswered")
    raters = {info.name: info for data in members for info in data.raters if info.name not in data.off_scale}
    subject = replace(first.subject, question=question, links=())
    return SubjectData(subject, records, tuple(raters.values()), frozenset(), 0, "", unanswered=unanswered)


def _renamed(members: Sequence[SubjectData], which: str) -> tuple[Record, ...]:
    """Return the answers of all questions, each item named with its question."""
    return tuple(
        replace(record, item=f"{record.item}/{data.subject.question.key}")
        for data in members
        for record in getattr(data, which)
        if record.rater not in data.off_scale and record.kind != METRIC
    )
