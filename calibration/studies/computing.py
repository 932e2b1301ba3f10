"""Computes the snapshot of a report, unrounded, from a study's inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibration.ratings.definitions import Definition
from calibration.ratings.designs import NO_DESIGN
from calibration.ratings.ratings import SubjectData
from calibration.reports import (
    behaviours,
    biases,
    judges,
    levels,
    raters,
    scores,
    systems,
    unanswered,
    verdicts,
)
from calibration.reports.figures import HUMAN, METRIC
from calibration.reports.results import (
    Answerer,
    Figure,
    Link,
    Question,
    RaterVerdict,
    SplitUsed,
    Totals,
    recorded,
)
from calibration.reports.snapshot import FORMAT, Snapshot
from calibration.reports.wording import PEOPLE, Crowd, crowd_of
from calibration.statistics import Ratings, analyse
from calibration.statistics.analysis import MEAN_OF_PEOPLE, Entry, f_intervals, mean_of
from calibration.statistics.core.ratings import Ints, RatingError
from calibration.statistics.replacement import StandIn
from calibration.studies.inputs import Inputs
from calibration.studies.parts import pooled

Progress = Callable[[int, int], None]


def result_of(inputs: Inputs, progress: Progress | None = None) -> Snapshot:
    """Compute a report; `progress` is called with (questions done, questions in total)."""
    definition = inputs.definition
    panels = judges.Panels(definition, inputs.part, inputs.learning)
    subjects = [panels.among(data) for data in inputs.subjects]
    todo = [*subjects, *pooled(subjects)]
    questions: list[Question] = []
    all_verdicts: list[RaterVerdict] = []
    for number, data in enumerate(todo, 1):
        question, its_verdicts = _question(data, inputs, is_pooled=number > len(subjects))
        questions.append(question)
        all_verdicts += its_verdicts
        if progress:
            progress(number, len(todo))
    campaign = inputs.scope.campaign
    alike = _without_unequal(inputs)
    of_alike = [data for data in todo if not data.design.is_unequal]
    rater_lines = raters.raters_of(alike, pooled(alike.subjects))
    judge_biases = biases.biases_of(inputs, rater_lines)
    return Snapshot(
        format=FORMAT,
        study=inputs.study.name,
        corpus=inputs.scope.corpus.name,
        campaign=campaign.name if campaign else None,
        occasions=tuple(inputs.scope.occasions),
        definition=definition,
        part=inputs.part,
        split=_split(inputs),
        counts=_counts([*inputs.subjects, *(inputs.levels.across if inputs.levels else ())]),
        calls=inputs.calls,
        answered=inputs.answered,
        uncompared=inputs.uncompared,
        questions=tuple(questions),
        tags=behaviours.tags(subjects, definition),
        sets=behaviours.sets_of_tags(subjects, definition),
        coverage=behaviours.coverage_of(inputs.coverage, definition),
        raters=rater_lines,
        levels=levels.level_tables(alike.levels, definition, subjects, panels, inputs.lengths),
        prevalence=behaviours.prevalence(inputs.subjects, definition),
        compared=judges.compared(todo, definition),
        keys=judges.against_keys(todo, [*inputs.dev_keys, *pooled(inputs.dev_keys)], definition),
        scores=scores.scores(alike.subjects, inputs.learning, definition),
        panels=tuple(panels.summaries),
        bounds=unanswered.bounds(of_alike, definition),
        left_out=tuple(omission.sentence for omission in inputs.scope.without),
        excluded=inputs.excluded.as_json() if inputs.excluded else None,
        fake_systems=inputs.fake_systems,
        evidence=behaviours.evidence_tables(inputs.evidence, definition),
        preferences=systems.preference_tables(inputs.compared, definition),
        verdicts=biases.with_reasons(all_verdicts, judge_biases),
        biases=judge_biases,
        systems=systems.systems_of(inputs),
        floors=judges.floors(todo, [*inputs.learning, *pooled(inputs.learning)], inputs.lengths, definition),
    )


def _without_unequal(inputs: Inputs) -> Inputs:
    """Return the inputs of the figures that have no weighted form: without unequally drawn questions."""
    is_alike = [not data.design.is_unequal for data in inputs.subjects]
    return replace(
        inputs,
        subjects=tuple(data for data, alike in zip(inputs.subjects, is_alike, strict=True) if alike),
        again=tuple(rows for rows, alike in zip(inputs.again, is_alike, strict=True) if alike),
        levels=inputs.levels if all(is_alike) else None,
    )


def _split(inputs: Inputs) -> SplitUsed | None:
    return recorded(SplitUsed, inputs.split) if inputs.split else None


def _counts(subjects: Sequence[SubjectData]) -> Totals:
    """Count the labels read; each item, cluster and rater counts once."""
    records = [record for data in subjects for record in data.records]
    return Totals(
        labels=len(records),
        missing=sum(record.value is None for record in records),
        items=len({record.item for record in records}),
        clusters=len({record.cluster for record in records}),
        raters=len({info.id for data in subjects for info in data.raters}),
    )


def _question(
    data: SubjectData, inputs: Inputs, *, is_pooled: bool
) -> tuple[Question, tuple[RaterVerdict, ...]]:
    question, definition = data.subject.question, inputs.definition
    described = recorded(
        Question,
        question,
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
        return replace(described, problem=str(error)), ()
    n_people = (~np.isnan(ratings.values[:, list(ratings.of_kind(HUMAN))])).sum(axis=1)
    described = replace(
        described,
        raters=_answerers(data, ratings, n_people),
        n_items=ratings.n_items,
        n_clusters=ratings.n_clusters,
        design=data.design.as_dict() if data.design != NO_DESIGN else None,
        people_items=int((n_people > 0).sum()),
        shared_items=int((n_people > 1).sum()),
    )
    return _compared(described, ratings, inputs)


def _compared(
    described: Question, ratings: Ratings, inputs: Inputs
) -> tuple[Question, tuple[RaterVerdict, ...]]:
    """Compute all applicable comparisons of people, judges and keys; metrics are compared with people only.

    A metric that uses the question's categories is compared like a judge. The verdicts follow from these
    ratings and the alternative annotator tests.
    """
    definition = inputs.definition
    metrics = [column for column in ratings.of_kind(METRIC) if not ratings.on_scale[column]]
    others = [column for column in range(len(ratings.raters)) if column not in metrics]
    title = described.title
    crowd = crowd_of(rater for rater in described.raters if rater.n)
    compared = analyse(
        ratings.take(others),
        question=title,
        statistics=definition.statistics,
        plan=definition.plan,
        epsilon=definition.epsilon,
    )
    pairs = compared.pairs + _with_metrics(ratings, metrics, title, definition)
    stand_ins = tuple(_called(verdict, crowd) for verdict in compared.stand_ins)
    question = replace(
        described,
        panel=_figures(compared.panel, crowd),
        pairs=_figures(pairs, crowd),
        replacement=_figures(compared.replacement, crowd),
        gaps=_figures(compared.gaps, crowd),
        pairs_left_out=compared.left_out,
        stand_ins=stand_ins,
        f_intervals=_figures(f_intervals(ratings.take(others), compared.panel, definition.plan.level), crowd),
    )
    return question, verdicts.verdicts_of(
        question,
        ratings,
        stand_ins=stand_ins,
        crowd=crowd,
        lengths=inputs.lengths,
        definition=definition,
    )


def _called(verdict: StandIn, crowd: Crowd) -> StandIn:
    """Return a verdict whose reasons name people as the crowd is called."""
    return replace(
        verdict, reasons=tuple(reason.replace(PEOPLE.many, crowd.many) for reason in verdict.reasons)
    )


def _figures(entries: Iterable[Entry], crowd: Crowd) -> tuple[Figure, ...]:
    """Return entries as figures for a report, with reasons in readers' words."""
    own = f"the {crowd.own} mean"
    return tuple(
        Figure.of(
            entry.result,
            raters=entry.raters,
            question=entry.question,
            reason=entry.result.reason.replace(PEOPLE.many, crowd.many).replace(MEAN_OF_PEOPLE, own),
        )
        for entry in entries
    )


def _with_metrics(
    ratings: Ratings, metrics: Sequence[int], title: str, definition: Definition
) -> tuple[Entry, ...]:
    """Compare each metric with the people's mean (or the only person), on the resamples used elsewhere.

    Pairs of metrics, and of a metric with each person, are left out: there may be hundreds.
    """
    people = ratings.of_kind(HUMAN)
    if not metrics or not people or ratings.level == "nominal":
        return ()
    if len(people) > 1:
        against = MEAN_OF_PEOPLE
        mean = mean_of(ratings.values[:, list(people)])
        compared = ratings.take(metrics).with_column(against, mean)
    else:
        against = ratings.raters[people[0]]
        compared = ratings.take([*people, *metrics])
    plan = definition.plan
    return analyse(
        compared, question=title, statistics=definition.statistics, against=against, plan=plan
    ).pairs


def _answerers(data: SubjectData, ratings: Ratings, n_people: Ints) -> tuple[Answerer, ...]:
    """Describe the raters: number of items answered and missing, and the mean answer.

    `n_people` are the numbers of people who rated each item.
    """
    missing: dict[str, int] = {}
    samples: dict[str, set[int]] = {}
    for record in data.records:
        samples.setdefault(record.rater, set()).add(record.sample)
        if record.value is None:
            missing[record.rater] = missing.get(record.rater, 0) + 1
    on_scale = ratings.as_answered().on_scale

    def answerer(column: int, name: str) -> Answerer:
        is_answer = ~np.isnan(ratings.values[:, column])
        answers = ratings.values[is_answer, column]
        return Answerer(
            name=name,
            kind=ratings.kinds[column],
            identified=ratings.identified[column],
            on_scale=on_scale[column],
            n=int(answers.size),
            constant=answers.size > 1 and bool((answers == answers[0]).all()),
            mean=_mean(ratings, answers, _weights(ratings, is_answer)),
            missing=missing.get(name, 0),
            samples=len(samples.get(name, {0})),
            simulated=_is_simulated(name, data),
            n_of_people=int(((n_people > 0) & is_answer).sum()),
            n_shared=int(((n_people > 1) & is_answer).sum()),
            answered_items=hashlib.sha256(np.packbits((n_people > 0) & is_answer).tobytes()).hexdigest()[:16],
        )

    return tuple(answerer(column, name) for column, name in enumerate(ratings.raters))


def _is_simulated(name: str, data: SubjectData) -> bool:
    """Whether a rater is simulated; repeated answers may form separate raters called `name#0`."""
    return any(
        info.simulated and name in (info.name, f"{info.name}#{name.rsplit('#')[-1]}") for info in data.raters
    )


def _weights(ratings: Ratings, is_answer: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Return the weights of a rater's answers; None where the rater also answered items not drawn."""
    weights = ratings.weights_of(is_answer) if ratings.is_unequal else None
    return None if weights is None or np.isnan(weights).any() else weights


def _mean(
    ratings: Ratings, answers: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None
) -> float | None:
    """Weighted mean; for a binary question the share of the positive class; None for categories."""
    if not answers.size or ratings.level == "nominal":
        return None
    if ratings.level == "binary":
        if ratings.positive is None:
            return None
        answers = answers == ratings.positive
    return float(answers.mean() if weights is None else np.average(answers, weights=weights))
