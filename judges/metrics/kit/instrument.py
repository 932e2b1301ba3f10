"""Instruments: metrics with a variant and parameters, as they are run, named and stored as raters."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from annotation.records import Continuation, Dialogue
from judges.metrics.kit.metric import (
    ENDPOINT,
    HALVES,
    KeyRefused,
    Metric,
    MetricError,
    Parameter,
    Passage,
    Score,
    Settings,
    Value,
    given_halves,
    unscored,
)
from judges.metrics.kit.models import one_thread
from judges.metrics.kit.tools import Scene, Tools

Content = tuple[str, list[tuple[str, list[tuple[str, str, int | None]]]]]

AT_ONCE = 64
"""Number of items scored per batch before the batch is yielded."""

ROUNDING = 1e-6


@dataclass(frozen=True)
class Instrument:
    """A runnable metric. `fitted_on` is the hash of the corpus that `fitted` was learned from."""

    metric: Metric
    variant: str
    changed: dict[str, Value] = field(default_factory=dict)
    fitted: Any = None
    fitted_on: str = ""

    @property
    def name(self) -> str:
        """The canonical key: `hmp@reference:epsilon=0.01`, with parameters that differ from the defaults."""
        head = f"{self.metric.key}@{self.variant}"
        tail = ",".join(f"{name}={_format_value(value)}" for name, value in sorted(self.changed.items()))
        return f"{head}:{tail}" if tail else head

    @property
    def title(self) -> str:
        """Name on pages: the metric's title with its variant and the parameters that differ."""
        tail = ", ".join(f"{name} {_format_value(value)}" for name, value in sorted(self.changed.items()))
        title = self.metric.titled(self.variant)
        return f"{title}, {tail}" if tail else title

    @property
    def settings(self) -> Settings:
        """The variant with the values of all parameters."""
        return Settings(self.variant, {**self.metric.defaults(self.variant), **self.changed})

    @property
    def endpoint(self) -> str:
        """Name of the endpoint that computes it; '' if this machine does."""
        return self.settings.text(ENDPOINT) if self.metric.likelihood else ""

    @property
    def learns(self) -> bool:
        """Whether the metric must be fitted on a corpus before it can score."""
        fit_when = self.metric.fit_when
        return self.metric.fit is not None and (fit_when is None or fit_when(self.settings))

    def spec(self, tools: Tools) -> dict[str, Any]:
        """Return a rater's identity as plain JSON: everything that determines the values.

        An endpoint is identified by its model and server, which the caller adds, not by its name.
        """
        left_out = {ENDPOINT, "model"} if self.endpoint else {ENDPOINT}
        values = {name: value for name, value in self.settings.values.items() if name not in left_out}
        spec: dict[str, Any] = {
            "metric": self.metric.key,
            "variant": self.variant,
            "parameters": dict(sorted(values.items())),
        }
        if "embeddings" in self.metric.needs:
            spec["embedding_model"] = tools.embed.name
        if self.learns:
            spec["fitted_on"] = self.fitted_on
        if self.metric.identity is not None:
            spec |= self.metric.identity(self.settings)
        return spec

    def fit(self, dialogues: Iterable[Dialogue], tools: Tools) -> Instrument:
        """Return a copy fitted on a corpus, or the instrument itself if its metric learns nothing."""
        if not self.learns or self.metric.fit is None:
            return self
        digests: list[bytes] = []
        watched = _watched(dialogues, digests)
        with one_thread():
            learned = self.metric.fit(watched, self.settings, tools)
        for _ in watched:
            pass
        return replace(self, fitted=learned, fitted_on=_combined(digests))

    def texts(self, scene: Scene) -> Iterable[str]:
        """Return the texts that scoring a scene will embed."""
        if "embeddings" not in self.metric.needs:
            return ()
        if self.metric.texts:
            return self.metric.texts(scene, self.settings)
        return (turn.text for turn in scene.turns if turn.text.strip())

    def score(self, scene: Scene, turn: int | None, tools: Tools) -> Score:
        """Score one item: a turn of the scene's continuation, or the whole continuation (None).

        Raises MetricError if a model is missing or the metric was not fitted.
        """
        if (refusal := self._half_refusal(scene)) is not None:
            return self._answering(refusal)
        if self.learns and self.fitted is None:
            raise MetricError(f"{self.metric.key} must be fitted on a corpus before it scores")
        if self.endpoint:
            raise MetricError(f"{self.metric.key} with an endpoint is computed by a run over a corpus only")
        score = self.metric.compute(scene, turn, self.settings, replace(tools, fitted=self.fitted))
        if self.metric.categories:
            return _classed(score, self.metric.categories)
        return self._answering(_snap_to_range(score, self.metric.low, self.metric.high))

    def passage(self, scene: Scene, turn: int | None) -> Passage | Score:
        """Return the passage that an endpoint scores for an item, or the score of one that needs none."""
        assert self.metric.likelihood is not None
        if (refusal := self._half_refusal(scene)) is not None:
            return refusal
        return self.metric.likelihood.passage(scene, turn, self.settings)

    def score_of_mean(self, mean: float) -> Score:
        """Return the score for the mean log-probability (nats a token) of a passage's text."""
        assert self.metric.likelihood is not None
        score = self.metric.likelihood.score(mean, self.settings)
        return _snap_to_range(score, self.metric.low, self.metric.high)

    def _half_refusal(self, scene: Scene) -> Score | None:
        """Return the missing score of a prediction whose measured half was given."""
        for half in given_halves(scene.continuation.condition):
            if half in self.metric.aspect.halves:
                return unscored(HALVES[half])
        return None

    def _answering(self, score: Score) -> Score:
        """Add the metric's unanswered questions to a score, as missing for the score's own reason."""
        unanswered = [key for key in self.metric.answers if key not in score.answers]
        if not unanswered:
            return score
        return replace(score, answers={**dict.fromkeys(unanswered, unscored(score.reason)), **score.answers})

    def scores(self, scene: Scene, tools: Tools) -> Iterator[tuple[int | None, Score]]:
        """Yield the score of every item of a scene, in order, computed on one thread."""
        items = iter(scene.items(self.metric.kind))
        while part := list(islice(items, AT_ONCE)):
            with one_thread():
                results = [(turn, self.score(scene, turn, tools)) for turn in part]
            yield from results


def _snap_to_range(score: Score, low: float | None, high: float | None) -> Score:
    """Move a value that rounding put just outside the declared range to the edge of that range."""
    if score.value is None:
        return score
    if isinstance(score.value, str):
        raise ValueError(f"{score.value!r} is not a number, and the metric declares no categories")
    for edge, beyond in ((low, -1), (high, 1)):
        if edge is not None and 0 < beyond * (score.value - edge) <= ROUNDING:
            return replace(score, value=edge)
    return score


def _classed(score: Score, categories: Sequence[str]) -> Score:
    """Return the score if its value is missing or one of the categories; else raise ValueError (a defect)."""
    if score.value is None or score.value in categories:
        return score
    raise ValueError(f"{score.value!r} is not one of the categories {', '.join(categories)}")


def score_continuation(
    instruments: Sequence[Instrument], dialogue: Dialogue, continuation: Continuation, tools: Tools
) -> Iterator[tuple[Instrument, int | None, Score]]:
    """Yield every instrument's score of every item of a continuation; shared results are computed once."""
    scene = Scene(dialogue, continuation)
    tools.embed.prepare(text for instrument in instruments for text in instrument.texts(scene))
    for instrument in instruments:
        for turn, score in instrument.scores(scene, tools):
            yield instrument, turn, score


def corpus_hash(dialogues: Iterable[Dialogue]) -> str:
    """Return the SHA-256 of the ids, speakers and texts that metrics may learn from, in any order."""
    return content_hash(map(_content, dialogues))


def content_hash(dialogues: Iterable[Content]) -> str:
    """Return the same hash as `corpus_hash`, from contents alone: each dialogue's id, and its continuations'
    ids with speaker, text and `at` of every turn; `self` comes first and is left out if it has no turn."""
    return _combined(map(_digest, dialogues))


def _content(dialogue: Dialogue) -> Content:
    return dialogue.id, [
        (continuation.id, [(turn.speaker, turn.text, turn.at) for turn in continuation.turns])
        for continuation in dialogue.all_continuations()
    ]


def _digest(content: Content) -> bytes:
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).digest()


def _combined(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def _watched(dialogues: Iterable[Dialogue], digests: list[bytes]) -> Iterator[Dialogue]:
    """Yield dialogues and collect their digests, so that a corpus is read once and never held in memory."""
    for dialogue in dialogues:
        digests.append(_digest(_content(dialogue)))
        yield dialogue


def _format_value(value: Value) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


# Metric keys as people write them: `pd`, `hmp@reference`, `hmp@reference:epsilon=0.01,history=0`.

TRUE = ("1", "true", "yes")
FALSE = ("0", "false", "no")


def split_keys(text: str) -> list[str]:
    """Split a comma-separated list of keys; a part `name=value` belongs to the key before it."""
    keys: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        if keys and "=" in part.split(":", 1)[0]:
            keys[-1] += ("," if ":" in keys[-1] else ":") + part
        elif part:
            keys.append(part)
    return keys


def parse_key(key: str, table: Mapping[str, Metric], shared: Mapping[str, str] | None = None) -> Instrument:
    """Return the instrument for a key. `shared` sets parameters of every metric that has them.

    Raises KeyRefused for an unknown metric, variant or parameter, or an invalid value.
    """
    head, _, tail = key.strip().partition(":")
    name, _, variant = head.partition("@")
    metric = table.get(name)
    if metric is None:
        raise KeyRefused(f"there is no metric {name!r}: the metrics are {' '.join(sorted(table))}")
    variant = variant or metric.default_variant
    if variant not in metric.variants:
        raise KeyRefused(f"{name} has no variant {variant!r}: its variants are {' '.join(metric.variants)}")
    parameters = metric.all_parameters()
    texts = {name: text for name, text in (shared or {}).items() if name in parameters}
    texts |= _pairs(key, tail)
    defaults = metric.defaults(variant)
    values = {name: _value(metric, parameters, name, text) for name, text in texts.items()}
    return Instrument(metric, variant, {n: v for n, v in values.items() if v != defaults[n]})


def _pairs(key: str, tail: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in tail.split(","))):
        name, equals, text = part.partition("=")
        if not equals or not name.strip():
            raise KeyRefused(f"{key!r}: {part!r} is not a parameter; write name=value")
        pairs[name.strip()] = text.strip()
    return pairs


def _value(metric: Metric, parameters: Mapping[str, Parameter], name: str, text: str) -> Value:
    if name not in parameters:
        raise KeyRefused(f"{metric.key} has no parameter {name!r}: it has {' '.join(sorted(parameters))}")
    parameter = parameters[name]
    value = _typed(parameter.default, text)
    if value is None:
        kind = {bool: "0 or 1", int: "a whole number", float: "a number"}[type(parameter.default)]
        raise KeyRefused(f"{metric.key}: {name} must be {kind}, not {text!r}")
    if parameter.choices and value not in parameter.choices:
        raise KeyRefused(f"{metric.key}: {name} must be one of {' '.join(parameter.choices)}, not {text!r}")
    if isinstance(value, int | float):
        low, high = parameter.low, parameter.high
        if (low is not None and value < low) or (high is not None and value > high):
            raise KeyRefused(f"{metric.key}: {name} must be {_limits(low, high)}, not {text}")
    return value


def _typed(default: Value, text: str) -> Value | None:
    """Parse the text as the default's type, None if it cannot be parsed."""
    if isinstance(default, bool):
        return text.lower() in TRUE if text.lower() in TRUE + FALSE else None
    if isinstance(default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number) or (isinstance(default, int) and number != int(number)):
        return None
    return int(number) if isinstance(default, int) else number


def _limits(low: float | None, high: float | None) -> str:
    if high is None:
        return f"at least {low:g}"
    return f"at most {high:g}" if low is None else f"between {low:g} and {high:g}"
