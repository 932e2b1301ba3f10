"""Computing the calls of metrics: from continuations to scores."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from annotation.labels.recording import Answer
from jobs.calls.outcomes import DEFECTS, Outcome
from jobs.calls.prepared import Preparer
from jobs.models import Call, Run
from judges.errors import JudgeError
from judges.material.loading import Material, load, tools
from judges.metrics import (
    METRICS,
    Instrument,
    MetricError,
    Scene,
    Score,
)
from judges.metrics.kit.vectors import flag
from judges.rating import recording
from judges.rating.metric_plans import source_of

logger = logging.getLogger(__name__)


class MetricRun:
    """Runs of metrics: computed, not asked."""

    def preparer(self) -> Preparer:
        """Metrics are computed, not asked."""
        raise AssertionError("calls of metrics on the queue of judges")

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Yield the outcome of each call, run by run; a run's texts are embedded together first."""
        for _, group in groupby(calls, key=lambda call: call.run_id):
            yield from _run_outcomes(list(group))

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the scores as labels; return how many are new."""
        return recording.record_all(given)

    def reopened(self, run: Run) -> None:
        """Nothing but its calls says what is asked again."""

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        recording.count_values(run)


RUN = MetricRun()


def _run_outcomes(calls: list[Call]) -> Iterator[list[Outcome]]:
    run = calls[0].run
    try:
        instrument = _instrument(run)
        material = load({call.rated for call in calls})
        scenes = {pk: Scene(found.dialogue, found.continuation) for pk, found in material.items()}
        tools().embed.prepare(text for scene in scenes.values() for text in instrument.texts(scene))
        for call in calls:
            found = material[call.rated]
            yield [_careful_outcome(call, instrument, scenes[call.rated], found)]
    except MetricError as error:
        yield [Outcome(call.pk, "again", error=str(error), stop=True, unbegun=True) for call in calls]


def _careful_outcome(call: Call, instrument: Instrument, scene: Scene, material: Material) -> Outcome:
    """A defect that one conversation brings out fails its call alone, not the worker."""
    try:
        return _outcome(call, instrument, scene, material)
    except DEFECTS as error:
        logger.exception("%s failed on continuation %s", instrument.name, call.rated)
        return Outcome(call.pk, "failed", error=f"defect in the metric: {type(error).__name__}: {error}")


def _outcome(call: Call, instrument: Instrument, scene: Scene, material: Material) -> Outcome:
    questions, key = call.run.questions, instrument.metric.key
    answers: list[Answer] = []
    flags: dict[str, None] = {}
    for turn, score in instrument.scores(scene, tools()):
        item = material.items[turn]
        answers += [
            _answer(item, questions[name], one, call.sample)
            for name, one in {key: score, **score.answers}.items()
        ]
        flags |= dict.fromkeys(score.flags)
    doubtful = flag(instrument, scene, tools().embed)
    return Outcome(call.pk, "done", tuple(answers), flags=(*filter(None, [doubtful]), *flags))


def _answer(item: int, question: int, score: Score, sample: int) -> Answer:
    return Answer(
        item, question, score.value, missing=score.reason, sample=sample, explanation=_causes(score)
    )


def _causes(score: Score) -> str:
    """Return what caused a score as JSON, empty where the metric names nothing."""
    return json.dumps(score.details, sort_keys=True, default=_plain) if score.details else ""


def _plain(value: Any) -> Any:
    """Return what JSON can say of numpy's numbers and arrays, and of sets."""
    return sorted(value) if isinstance(value, set | frozenset) else value.tolist()


def _instrument(run: Run) -> Instrument:
    """Return the instrument that a run's rater is, fitted where it learns; raise MetricError."""
    spec = run.answerer.spec
    metric = METRICS[spec["metric"]]
    if spec["variant"] not in metric.variants:
        raise MetricError(f"{metric.key} has no variant {spec['variant']} any more: start a new run")
    defaults = metric.defaults(spec["variant"])
    changed = {name: value for name, value in spec["parameters"].items() if value != defaults.get(name)}
    instrument = Instrument(metric, spec["variant"], changed)
    if spec.get("embedding_model", tools().embed.name) != tools().embed.name:
        raise MetricError(f"this run was begun with the embedding model {spec['embedding_model']}")
    own = metric.identity(instrument.settings) if metric.identity else {}
    if any(spec.get(name) != value for name, value in own.items()):
        raise MetricError("the model has changed since this run began: start a new one")
    return _fitted(instrument, run, spec["fitted_on"]) if instrument.learns else instrument


_FITTED: dict[tuple[str, str], Instrument] = {}


def _fitted(instrument: Instrument, run: Run, fitted_on: str) -> Instrument:
    """Fit once per corpus content; the last one is kept."""
    key = (instrument.name, fitted_on)
    if key not in _FITTED:
        try:
            source = source_of(instrument, run.corpus)
        except JudgeError as error:
            raise MetricError(str(error)) from None
        fitted = instrument.fit(source.dialogues(), tools())
        if fitted.fitted_on != fitted_on:
            raise MetricError("the corpus has changed since this run began: start a new one")
        _FITTED.clear()
        _FITTED[key] = fitted
    return _FITTED[key]
