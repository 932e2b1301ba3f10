"""Runs of metrics: from a key to a rater, from continuations to scores."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User

from annotation import records, scheme_store
from annotation.corpora.splits import TRAINING
from annotation.models import Rater, Split
from annotation.models.corpora import Corpus
from annotation.schemes.definitions import SHORT_NAME, QuestionDefinition, SchemeDefinition
from annotation.work import labels
from annotation.work.labels import Answer
from jobs import errors
from jobs.calls.outcomes import DEFECTS, Outcome
from jobs.calls.prepared import PreparedCall, Preparer, Read
from jobs.fake_models import marked
from jobs.models import Call, Endpoint
from jobs.models.run import Run
from jobs.prompt import Prompt, Tokens, Unparseable
from judges.errors import JudgeError
from judges.metrics import METRICS, Content, KeyRefused, Metric, Scene, Score, content_hash, instrument_for
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.metric import DEV, ENDPOINT, LEARN_FROM, MetricError, Passage
from judges.metrics.lexical import flag
from judges.runs import judge_calls
from judges.runs.lookup import corpus_named, endpoint_named, split_for
from judges.runs.material import Material, contents, load, tools, whole_corpus
from judges.runs.plans import CONTINUATION, RaterPlan

# Plans of metric runs: from a metric key to a rater with its question.

# Training data of fitted metrics: the scored corpus, its dev part, or another corpus.


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus without its training dialogues, the dev part of its split, or its training dialogues alone."""

    corpus: int
    dev_of: Split | None = None
    part: str = ""

    def contents(self) -> Iterator[Content]:
        """Yield the contents that its hash covers."""
        return contents(self.corpus, self.dev_of, self.part)

    def dialogues(self) -> Iterator[records.Dialogue]:
        """Yield its dialogues."""
        return whole_corpus(self.corpus, self.dev_of, self.part)


def source_of(instrument: Instrument, corpus: Corpus) -> Source:
    """Return the source that an instrument learns from; raise JudgeError if it does not exist."""
    source_name = str(instrument.settings.values.get(LEARN_FROM, ""))
    if not source_name:
        return Source(corpus.pk)
    if source_name == DEV:
        return Source(corpus.pk, split_for(corpus, DEV))
    if source_name == TRAINING:
        return Source(corpus.pk, split_for(corpus, TRAINING), TRAINING)
    try:
        return Source(corpus_named(source_name).pk)
    except JudgeError:
        raise JudgeError(
            f"{instrument.metric.key} learns from dev, training or a corpus; "
            f"there is no corpus {source_name!r}."
        ) from None


def metric_plans(keys: Iterable[str], corpus: Corpus, person: User | None = None) -> list[RaterPlan]:
    """Return the plans of metrics such as `m_sns_avg@paper:window=10`; raise JudgeError for unknown ones, and
    for an endpoint that a person may not use.

    A corpus is hashed once, and only if a metric learns from it.
    """
    hashed = cache(lambda source: content_hash(source.contents()))
    instruments = [_instrument_for_key(key) for key in keys]
    return [_plan(instrument, _endpoint_of(instrument, person), corpus, hashed) for instrument in instruments]


def endpoint_of_key(key: str, person: User | None = None) -> Endpoint | None:
    """Return the endpoint that a metric asks, None for a metric computed here. Does not read the corpus.

    Raises JudgeError for an unknown key, or an endpoint that a person may not use.
    """
    return _endpoint_of(_instrument_for_key(key), person)


def metric_plan(key: str, corpus: Corpus, person: User | None = None) -> RaterPlan:
    """Return the plan of one metric."""
    return metric_plans([key], corpus, person)[0]


def _endpoint_of(instrument: Instrument, person: User | None) -> Endpoint | None:
    if not instrument.endpoint:
        return None
    if "model" in instrument.changed:
        raise JudgeError(f"{instrument.name}: give either a model on this machine or an endpoint, not both.")
    return endpoint_named(instrument.endpoint, person)


def _instrument_for_key(key: str) -> Instrument:
    try:
        return instrument_for(key)
    except KeyRefused as error:
        raise JudgeError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def _plan(
    instrument: Instrument, endpoint: Endpoint | None, corpus: Corpus, hashed: Callable[[Source], str]
) -> RaterPlan:
    metric = instrument.metric
    if instrument.learns:
        instrument = replace(instrument, fitted_on=hashed(source_of(instrument, corpus)))
    try:
        spec = instrument.spec(tools())
    except MetricError as error:
        raise JudgeError(f"{instrument.name}: {error}.") from None
    if endpoint is not None:
        spec |= {"model": endpoint.answering_model, **endpoint.server}
    rater = labels.machine_rater(
        kind=Rater.Kind.METRIC,
        name=_name(instrument, endpoint)[:180],
        spec=spec,
        short_name=instrument.title[:SHORT_NAME].rstrip(),
    )
    version = scheme_store.store(definition=scheme_of(metric))
    return RaterPlan(
        rater=rater,
        queue=Run.Queue.METRICS if endpoint is None else Run.Queue.CALLS,
        covers=CONTINUATION if endpoint is None else metric.kind,
        questions={metric.key: version.questions.get().pk, **_more_questions(metric)},
        scheme_version=version,
        item_kinds=(metric.kind,),
        endpoint=endpoint,
        kind="metric",
        reasks=1 if endpoint is None else 0,  # the same request would bring the same log-probabilities
    )


def _name(instrument: Instrument, endpoint: Endpoint | None) -> str:
    """Return a metric's key, after the model's name if an endpoint computes it, as for a judge."""
    if endpoint is None:
        return instrument.name
    changed = {name: value for name, value in instrument.changed.items() if name != ENDPOINT}
    return f"{marked(endpoint.answering_model)} {replace(instrument, changed=changed).name}"


def _more_questions(metric: Metric) -> dict[str, int]:
    """Return the ids of the questions that a metric answers besides its own, by key."""
    if metric.scheme is None:
        return {}
    version = scheme_store.store(definition=metric.scheme)
    return dict(version.questions.filter(key__in=metric.answers).values_list("key", "pk"))


def scheme_of(metric: Metric) -> SchemeDefinition:
    """Return the scheme that a metric's labels answer: a single question named after the metric.

    It takes any number, or one of the metric's categories.
    """
    question = QuestionDefinition(
        key=metric.key,
        wording=metric.title,
        level="nominal" if metric.categories else "interval",
        values=metric.categories,
        required=False,
    )
    return SchemeDefinition(
        key=f"metric:{metric.key}",
        version=1,
        title=f"Metric: {metric.title}",
        item_kind=metric.kind,
        unit="item",
        introduction="Computed, not asked.",
        questions=(question,),
    )


# Computing the calls of metrics: from continuations to scores.

logger = logging.getLogger(__name__)


class MetricRun:
    """Runs of metrics: computed on this machine, or from the log-probabilities of an endpoint."""

    def preparer(self) -> Preparer:
        """Return a preparer of the requests for one slice of work."""
        return MetricPreparer()

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Yield the outcome of each call, run by run; a run's texts are embedded together first."""
        for _, group in groupby(calls, key=lambda call: call.run_id):
            yield from _run_outcomes(list(group))

    def record(self, answered_calls: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the scores as labels; return the number of new ones."""
        return judge_calls.record_all(answered_calls)

    def reopened(self, run: Run) -> None:
        """Do nothing: the calls alone determine what is computed again."""

    def awaits_calls(self, run: Run) -> bool:
        """Return False: its calls are all there, or come with the results of others."""
        return False

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        judge_calls.count_values(run)


class MetricPreparer:
    """Prepares the calls of metrics that an endpoint computes: one request for each item."""

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Return the prepared calls, in order; items that need no request carry their outcome."""
        instruments: dict[int, Instrument | str] = {}
        for run in {call.run_id: call.run for call in calls}.values():
            try:
                instruments[run.pk] = _instrument(run)
            except MetricError as error:
                instruments[run.pk] = str(error)
        scenes = _scenes_of({call.rated for call in calls})
        return [self._prepared_call(call, instruments[call.run_id], scenes) for call in calls]

    def _prepared_call(
        self, call: Call, instrument: Instrument | str, scenes: Mapping[int, tuple[Scene, Material]]
    ) -> PreparedCall:
        spec, key = call.run.answerer.spec, call.run.answerer.spec["metric"]
        if isinstance(instrument, str):
            stop = Outcome(call.pk, "again", error=instrument, stop=True, unbegun=True)
            return PreparedCall(call, key, ready_outcome=stop)
        try:
            passage = _passage(instrument, *scenes[call.rated], call.item_id)
        except DEFECTS as error:
            logger.exception("%s failed on item %s", instrument.name, call.item_id)
            defect = f"defect in the metric: {type(error).__name__}: {error}"
            broken = Outcome(call.pk, "failed", error=defect, error_kind=errors.DEFECT)
            return PreparedCall(call, key, ready_outcome=broken)
        if isinstance(passage, Score):
            done = Outcome(call.pk, "done", _item_answers(call, passage))
            return PreparedCall(call, key, ready_outcome=done)
        return PreparedCall(
            call,
            key,
            prompt_of(passage),
            model=spec["model"],
            parameters=ECHO_PARAMETERS,
            read=partial(_read, call, instrument),
            reply_tokens=1,
        )


ECHO_PARAMETERS = {"max_tokens": 1, "temperature": 0}
"""A token is written, and does not count: some servers take 0 tokens for no limit."""


def prompt_of(passage: Passage) -> Prompt:
    """Return the prompt that asks for the log-probabilities of a passage's text."""
    return Prompt("", passage.context + passage.text, scored_from=len(passage.context))


def passages(plan: RaterPlan, targets: Sequence[tuple[int, int | None]]) -> list[Passage | Score]:
    """Return the passage that an endpoint scores about each target, or the score that needs no request."""
    scenes = _scenes_of({continuation for continuation, _ in targets})
    instrument = _instrument_of(plan.rater.spec)
    return [_passage(instrument, *scenes[continuation], item) for continuation, item in targets]


def _scenes_of(continuations: set[int]) -> dict[int, tuple[Scene, Material]]:
    material = load(continuations)
    return {pk: (Scene(entry.dialogue, entry.continuation), entry) for pk, entry in material.items()}


def _passage(instrument: Instrument, scene: Scene, material: Material, item: int | None) -> Passage | Score:
    turn = next(index for index, pk in material.items.items() if pk == item)
    return instrument.passage(scene, turn)


def _read(call: Call, instrument: Instrument, _reply: str, tokens: Tokens) -> Read:
    """Score an item by the log-probabilities of its tokens; raise Unparseable without any."""
    if not tokens:
        raise Unparseable(
            "no token begins where the message does, or the tokens do not spell the text: this model cannot "
            "score this message here"
        )
    mean = math.fsum(token.logprob for token in tokens) / len(tokens)
    return Read(_item_answers(call, instrument.score_of_mean(mean)))


def _item_answers(call: Call, score: Score) -> tuple[Answer, ...]:
    assert call.item_id is not None
    question = call.run.questions[call.run.answerer.spec["metric"]]
    return (_answer(call.item_id, question, score, call.sample),)


RUN = MetricRun()


def _run_outcomes(calls: list[Call]) -> Iterator[list[Outcome]]:
    run = calls[0].run
    try:
        instrument = _instrument(run)
        material = load({call.rated for call in calls})
        scenes = {pk: Scene(entry.dialogue, entry.continuation) for pk, entry in material.items()}
        tools().embed.prepare(text for scene in scenes.values() for text in instrument.texts(scene))
        for call in calls:
            entry = material[call.rated]
            yield [_careful_outcome(call, instrument, scenes[call.rated], entry)]
    except MetricError as error:
        yield [Outcome(call.pk, "again", error=str(error), stop=True, unbegun=True) for call in calls]


def _careful_outcome(call: Call, instrument: Instrument, scene: Scene, material: Material) -> Outcome:
    """Compute an outcome; an exception in one conversation fails only its call, not the worker."""
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
            _answer(item, questions[name], value, call.sample)
            for name, value in {key: score, **score.answers}.items()
        ]
        flags |= dict.fromkeys(score.flags)
    doubtful = flag(instrument, scene, tools().embed)
    return Outcome(call.pk, "done", tuple(answers), flags=(*filter(None, [doubtful]), *flags))


def _answer(item: int, question: int, score: Score, sample: int) -> Answer:
    return Answer(
        item, question, score.value, missing=score.reason, sample=sample, explanation=_causes(score)
    )


def _causes(score: Score) -> str:
    """Return the causes of a score as JSON, empty if the metric gives none."""
    return json.dumps(score.details, sort_keys=True, default=_plain) if score.details else ""


def _plain(value: Any) -> Any:
    """Convert numpy numbers and arrays, and sets, to JSON values."""
    return sorted(value) if isinstance(value, set | frozenset) else value.tolist()


def _instrument(run: Run) -> Instrument:
    """Return the instrument of a run's rater, fitted if it learns; raise MetricError."""
    spec = run.answerer.spec
    instrument = _instrument_of(spec)
    if run.endpoint is not None and instrument.metric.likelihood is None:
        raise MetricError(f"{spec['metric']} is not computed by an endpoint any more: start a new run")
    return _fitted(instrument, run, spec["fitted_on"]) if instrument.learns else instrument


def _instrument_of(spec: Mapping[str, Any]) -> Instrument:
    """Return the instrument of a rater's spec, not fitted; raise MetricError."""
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
    return instrument


_FITTED: dict[tuple[str, str], Instrument] = {}


def _fitted(instrument: Instrument, run: Run, fitted_on: str) -> Instrument:
    """Fit once per corpus content; only the last result is cached."""
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
