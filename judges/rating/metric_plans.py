"""Metrics as runs: from a metric key to a rater with its question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from annotation import records
from annotation.corpora.parts import TRAINING
from annotation.labels import raters
from annotation.models import Rater, Split
from annotation.models.corpora import Corpus
from annotation.scheme_versions import store as scheme_store
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from jobs.models import Run
from judges.errors import JudgeError
from judges.material.loading import contents, tools, whole_corpus
from judges.metrics import Content, KeyRefused, Metric, MetricError, content_hash, instrument_for
from judges.metrics.kit.base import DEV, LEARN_FROM
from judges.metrics.kit.instrument import Instrument
from judges.rating.lookup import corpus_named, split_for
from judges.rating.plans import WHOLE, RaterPlan

# What a metric that is fitted learns from: the corpus that it scores, its dev part, or another corpus.


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus without its training dialogues, the dev part of its split, or its training dialogues alone."""

    corpus: int
    dev_of: Split | None = None
    part: str = ""

    def contents(self) -> Iterator[Content]:
        """Yield what its hash is made of."""
        return contents(self.corpus, self.dev_of, self.part)

    def dialogues(self) -> Iterator[records.Dialogue]:
        """Yield its dialogues."""
        return whole_corpus(self.corpus, self.dev_of, self.part)


def source_of(instrument: Instrument, corpus: Corpus) -> Source:
    """Return what an instrument learns from; raise JudgeError where there is no such thing."""
    named = str(instrument.settings.values.get(LEARN_FROM, ""))
    if not named:
        return Source(corpus.pk)
    if named == DEV:
        return Source(corpus.pk, split_for(corpus, DEV))
    if named == TRAINING:
        return Source(corpus.pk, split_for(corpus, TRAINING), TRAINING)
    try:
        return Source(corpus_named(named).pk)
    except JudgeError:
        raise JudgeError(
            f"{instrument.metric.key} learns from dev, training or a corpus; there is no corpus {named!r}."
        ) from None


def metric_plans(keys: Iterable[str], corpus: Corpus) -> list[RaterPlan]:
    """Return the plans of metrics such as `m_sns_avg@paper:window=10`; raise JudgeError for no such one.

    A corpus is hashed once, and only where a metric learns from it.
    """
    hashed = cache(lambda source: content_hash(source.contents()))
    return [_plan(instrument, corpus, hashed) for instrument in map(_named, keys)]


def check_keys(keys: Iterable[str]) -> None:
    """Raise JudgeError for a key that there is no metric of. The corpus is not looked at."""
    for key in keys:
        _named(key)


def metric_plan(key: str, corpus: Corpus) -> RaterPlan:
    """Return the plan of one metric."""
    return metric_plans([key], corpus)[0]


def _named(key: str) -> Instrument:
    try:
        return instrument_for(key)
    except KeyRefused as error:
        raise JudgeError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def _plan(instrument: Instrument, corpus: Corpus, hashed: Callable[[Source], str]) -> RaterPlan:
    metric = instrument.metric
    if instrument.learns:
        instrument = replace(instrument, fitted_on=hashed(source_of(instrument, corpus)))
    try:
        spec = instrument.spec(tools())
    except MetricError as error:
        raise JudgeError(f"{instrument.name}: {error}.") from None
    rater = raters.machine(kind=Rater.Kind.METRIC, name=instrument.name[:180], spec=spec)
    version = scheme_store.store(definition=scheme_of(metric))
    return RaterPlan(
        rater=rater,
        queue=Run.Queue.METRICS,
        covers=WHOLE,
        questions={metric.key: version.questions.get().pk, **_more_questions(metric)},
        scheme_version=version,
        item_kinds=(metric.kind,),
        kind="metric",
    )


def _more_questions(metric: Metric) -> dict[str, int]:
    """Return the ids of the questions that a metric answers beside its own, by key."""
    if metric.scheme is None:
        return {}
    version = scheme_store.store(definition=metric.scheme)
    return dict(version.questions.filter(key__in=metric.answers).values_list("key", "pk"))


def scheme_of(metric: Metric) -> SchemeDefinition:
    """Return the scheme that a metric's labels answer: one question named like it.

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
