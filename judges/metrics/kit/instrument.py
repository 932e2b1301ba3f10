"""A metric with its variant and parameters chosen: what is run, named and stored as a rater."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from annotation.records import Continuation, Dialogue
from judges.metrics.kit.base import HALVES, Metric, Score, Settings, Value, given_halves, unscored
from judges.metrics.kit.errors import MetricError
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.threads import one_thread
from judges.metrics.kit.tools import Tools

Content = tuple[str, list[tuple[str, list[tuple[str, str, int | None]]]]]

AT_ONCE = 64
"""Items scored before the caller gets them."""

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
        tail = ",".join(f"{name}={_shown(value)}" for name, value in sorted(self.changed.items()))
        return f"{head}:{tail}" if tail else head

    @property
    def settings(self) -> Settings:
        """The variant with every parameter's value."""
        return Settings(self.variant, {**self.metric.defaults(self.variant), **self.changed})

    @property
    def learns(self) -> bool:
        """Whether it must be fitted on a corpus before it scores."""
        wanted = self.metric.fit_when
        return self.metric.fit is not None and (wanted is None or wanted(self.settings))

    def spec(self, tools: Tools) -> dict[str, Any]:
        """Return all that makes its values what they are, as plain JSON: a rater's identity."""
        spec: dict[str, Any] = {
            "metric": self.metric.key,
            "variant": self.variant,
            "parameters": dict(sorted(self.settings.values.items())),
        }
        if "embeddings" in self.metric.needs:
            spec["embedding_model"] = tools.embed.name
        if self.learns:
            spec["fitted_on"] = self.fitted_on
        if self.metric.identity is not None:
            spec |= self.metric.identity(self.settings)
        return spec

    def fit(self, dialogues: Iterable[Dialogue], tools: Tools) -> Instrument:
        """Return it fitted on a corpus; itself where the metric learns nothing."""
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
        """Return what scoring a scene will embed."""
        if "embeddings" not in self.metric.needs:
            return ()
        if self.metric.texts:
            return self.metric.texts(scene, self.settings)
        return (turn.text for turn in scene.turns if turn.text.strip())

    def score(self, scene: Scene, turn: int | None, tools: Tools) -> Score:
        """Return the score of one item: a turn of the scene's continuation, or None for the whole.

        Raises MetricError where a model is missing or the metric was not fitted.
        """
        for half in given_halves(scene.continuation.condition):
            if half in self.metric.aspect.halves:
                return self._answering(unscored(HALVES[half]))
        if self.learns and self.fitted is None:
            raise MetricError(f"{self.metric.key} must be fitted on a corpus before it scores")
        found = self.metric.compute(scene, turn, self.settings, replace(tools, fitted=self.fitted))
        if self.metric.categories:
            return _classed(found, self.metric.categories)
        return self._answering(_held(found, self.metric.low, self.metric.high))

    def _answering(self, score: Score) -> Score:
        """Return a score that answers all of the metric's questions: those left out are missing like it."""
        left = [key for key in self.metric.answers if key not in score.answers]
        if not left:
            return score
        return replace(score, answers={**dict.fromkeys(left, unscored(score.reason)), **score.answers})

    def scores(self, scene: Scene, tools: Tools) -> Iterator[tuple[int | None, Score]]:
        """Yield the score of every item of a scene, in order, computed on one thread."""
        items = iter(scene.items(self.metric.kind))
        while part := list(islice(items, AT_ONCE)):
            with one_thread():
                found = [(turn, self.score(scene, turn, tools)) for turn in part]
            yield from found


def _held(score: Score, low: float | None, high: float | None) -> Score:
    """Return a score whose value, where rounding put it just outside the declared range, is on its edge."""
    if score.value is None:
        return score
    if isinstance(score.value, str):
        raise ValueError(f"{score.value!r} is not a number, and the metric declares no categories")
    for edge, beyond in ((low, -1), (high, 1)):
        if edge is not None and 0 < beyond * (score.value - edge) <= ROUNDING:
            return replace(score, value=edge)
    return score


def _classed(score: Score, categories: Sequence[str]) -> Score:
    """Return a score whose value is one of the categories; ValueError where it is not: a defect."""
    if score.value is None or score.value in categories:
        return score
    raise ValueError(f"{score.value!r} is not one of the categories {', '.join(categories)}")


def score_continuation(
    instruments: Sequence[Instrument], dialogue: Dialogue, continuation: Continuation, tools: Tools
) -> Iterator[tuple[Instrument, int | None, Score]]:
    """Yield every instrument's score of every item of a continuation, sharing what they have in common."""
    scene = Scene(dialogue, continuation)
    tools.embed.prepare(text for instrument in instruments for text in instrument.texts(scene))
    for instrument in instruments:
        for turn, score in instrument.scores(scene, tools):
            yield instrument, turn, score


def corpus_hash(dialogues: Iterable[Dialogue]) -> str:
    """Return the SHA-256 of what metrics may learn from: ids, speakers and texts, in whatever order."""
    return content_hash(map(_content, dialogues))


def content_hash(dialogues: Iterable[Content]) -> str:
    """Return what `corpus_hash` does, from the contents alone: each dialogue's id, and its continuations' ids
    with speaker, text and `at` of every turn; `self` comes first and is left out where it has no turn."""
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
    """Yield dialogues and note their digests, so that a corpus is read once and never held."""
    for dialogue in dialogues:
        digests.append(_digest(_content(dialogue)))
        yield dialogue


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
