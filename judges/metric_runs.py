"""Metrics as runs: from a metric key to a rater with its question, and from calls to scores."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

from django.conf import settings

from annotation import raters, scheme_store
from annotation.models import Corpus, Rater
from annotation.recording import Answer
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from judges.embedding_store import DatabaseStore
from judges.errors import JudgeError
from judges.material import Material, contents, load, whole_corpus
from judges.metrics import (
    DEFAULT_MODEL,
    METRICS,
    Embedder,
    Instrument,
    KeyRefused,
    Metric,
    MetricError,
    Scene,
    Score,
    Tools,
    content_hash,
    instrument_for,
)
from judges.metrics.readability import flag
from judges.models import Call, Run
from judges.plans import Plan
from judges.work.outcomes import DEFECTS, Outcome

logger = logging.getLogger(__name__)


@cache
def tools() -> Tools:
    """Return this process's tools: models load at first need, embeddings are kept in the database."""
    return Tools(embed=Embedder(settings.EMBEDDING_MODEL or DEFAULT_MODEL, store=DatabaseStore()))


def metric_plans(keys: Iterable[str], corpus: Corpus) -> list[Plan]:
    """Return the plans of metrics such as `m_sns_avg@paper:window=10`; raise JudgeError for no such one.

    The corpus is hashed once, and only where a metric learns from it.
    """
    hashed = cache(lambda: content_hash(contents(corpus.pk)))
    return [_plan(instrument, hashed) for instrument in map(_named, keys)]


def metric_plan(key: str, corpus: Corpus) -> Plan:
    """Return the plan of one metric."""
    return metric_plans([key], corpus)[0]


def _named(key: str) -> Instrument:
    try:
        return instrument_for(key)
    except KeyRefused as error:
        raise JudgeError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def _plan(instrument: Instrument, hashed: Callable[[], str]) -> Plan:
    metric = instrument.metric
    if instrument.learns:
        instrument = replace(instrument, fitted_on=hashed())
    spec = instrument.spec(tools())
    rater = raters.machine(kind=Rater.Kind.METRIC, name=instrument.name[:180], spec=spec)
    version = scheme_store.store(definition=scheme_of(metric))
    return Plan(
        rater=rater,
        queue=Run.Queue.METRICS,
        covers="continuation",
        questions={metric.key: version.questions.get().pk},
        scheme_version=version,
        item_kind=metric.kind,
    )


def scheme_of(metric: Metric) -> SchemeDefinition:
    """Return the scheme that a metric's labels answer: one question named like it, any number."""
    question = QuestionDefinition(key=metric.key, wording=metric.title, level="interval", required=False)
    return SchemeDefinition(
        key=f"metric:{metric.key}",
        version=1,
        title=f"Metric: {metric.title}",
        item_kind=metric.kind,
        unit="item",
        introduction="Computed, not asked.",
        questions=(question,),
    )


def outcomes(calls: Sequence[Call]) -> Iterator[list[Outcome]]:
    """Yield the outcome of each call, run by run; the texts of a run's calls are embedded together first."""
    for _, group in groupby(calls, key=lambda call: call.run_id):
        yield from _run_outcomes(list(group))


def _run_outcomes(calls: list[Call]) -> Iterator[list[Outcome]]:
    run = calls[0].run
    try:
        instrument = _instrument(run)
        material = load({call.continuation_id for call in calls})
        scenes = {pk: Scene(found.dialogue, found.continuation) for pk, found in material.items()}
        tools().embed.prepare(text for scene in scenes.values() for text in instrument.texts(scene))
        for call in calls:
            found = material[call.continuation_id]
            yield [_careful_outcome(call, instrument, scenes[call.continuation_id], found)]
    except MetricError as error:
        yield [Outcome(call.pk, "again", error=str(error), stop=True, unbegun=True) for call in calls]


def _careful_outcome(call: Call, instrument: Instrument, scene: Scene, material: Material) -> Outcome:
    """A defect that one conversation brings out fails its call alone, not the worker."""
    try:
        return _outcome(call, instrument, scene, material)
    except DEFECTS as error:
        logger.exception("%s failed on continuation %s", instrument.name, call.continuation_id)
        return Outcome(call.pk, "failed", error=f"defect in the metric: {type(error).__name__}: {error}")


def _outcome(call: Call, instrument: Instrument, scene: Scene, material: Material) -> Outcome:
    question = call.run.questions[instrument.metric.key]
    answers = []
    for turn, score in instrument.scores(scene, tools()):
        answers.append(
            Answer(
                material.items[turn],
                question,
                score.value,
                missing=score.reason,
                sample=call.sample,
                explanation=_causes(score),
            )
        )
    doubtful = flag(instrument, scene, tools().embed)
    return Outcome(call.pk, "done", tuple(answers), flags=(doubtful,) if doubtful else ())


def _causes(score: Score) -> str:
    """Return what caused a score as JSON, empty where the metric names nothing."""
    return json.dumps(score.details, sort_keys=True, default=_plain) if score.details else ""


def _plain(value: Any) -> Any:
    """Return what JSON can say of numpy's numbers and arrays, and of sets."""
    return sorted(value) if isinstance(value, set | frozenset) else value.tolist()


def _instrument(run: Run) -> Instrument:
    """Return the instrument that a run's rater is, fitted where it learns from the corpus."""
    spec = run.rater.spec
    metric = METRICS[spec["metric"]]
    defaults = metric.defaults(spec["variant"])
    changed = {name: value for name, value in spec["parameters"].items() if value != defaults[name]}
    instrument = Instrument(metric, spec["variant"], changed)
    if spec.get("embedding_model", tools().embed.name) != tools().embed.name:
        raise MetricError(f"this run was begun with the embedding model {spec['embedding_model']}")
    return _fitted(instrument, run.corpus_id, spec["fitted_on"]) if instrument.learns else instrument


_FITTED: dict[tuple[str, str], Instrument] = {}


def _fitted(instrument: Instrument, corpus: int, fitted_on: str) -> Instrument:
    """Fit once per corpus content; the last one is kept."""
    key = (instrument.name, fitted_on)
    if key not in _FITTED:
        fitted = instrument.fit(whole_corpus(corpus), tools())
        if fitted.fitted_on != fitted_on:
            raise MetricError("the corpus has changed since this run began: start a new one")
        _FITTED.clear()
        _FITTED[key] = fitted
    return _FITTED[key]
