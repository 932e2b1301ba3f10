"""Topics: LS-TA and TES, and the topic models that both use."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.records import Dialogue
from annotation.text.words import words
from judges.metrics.kit.metric import (
    CONTENT,
    HIGHER,
    NEARER_HALF,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    MetricError,
    ModelMissing,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.tools import Scene, Tools
from judges.metrics.turn_taking import NO_CONTEXT, NO_SPEAKER

# Topic models and computations on topic mixtures. Mixtures are rows that sum to 1.
#
# LDA comes with scikit-learn. BERTopic is an extra: without the library there is an error message, and LDA
# never replaces it. Both are fitted with fixed seeds, so a model depends on its documents alone.

Mixture = NDArray[np.float64]
Place = tuple[str, str, int]

LDA = "lda"
BERTOPIC = "bertopic"
VOCABULARY = 5000
ITERATIONS = 10
SEED = 0
BLOCK = 10
MOST = 20_000
"""Maximum number of documents to fit a topic model on."""
NOISE = 1e-12
"""Smaller differences of running sums are rounding errors."""


class TopicModel(Protocol):
    """Converts texts to topic mixtures."""

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return one row per text; zeros for a text with nothing that the model knows."""


@dataclass(frozen=True, eq=False)
class Lda:
    """Latent Dirichlet allocation over words in any script."""

    vectorizer: Any
    model: Any

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return one row per text; zeros for a text without known words."""
        counts = self.vectorizer.transform(texts)
        rows = np.asarray(self.model.transform(counts), dtype=np.float64)
        return rows * (np.asarray(counts.sum(axis=1)).reshape(-1, 1) > 0)


@dataclass(frozen=True, eq=False)
class Bertopic:
    """BERTopic's topics; the share of a text that counts as outlier belongs to no topic."""

    model: Any
    tools: Tools

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return the topic probabilities, normalised to sum to 1; zeros for a text that is all outlier."""
        vectors = self.tools.embed(list(texts))
        _, probabilities = self.model.transform(list(texts), vectors)
        return renormalised(np.atleast_2d(np.asarray(probabilities, dtype=np.float64)))


def fit_lda(texts: Sequence[str], topics: int) -> Lda:
    """Fit LDA on texts; raise MetricError if they contain no words."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=words, max_features=VOCABULARY)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:
        raise MetricError("a topic model cannot be fitted: the corpus has no words") from None
    model = LatentDirichletAllocation(topics, max_iter=ITERATIONS, learning_method="batch", random_state=SEED)
    return Lda(vectorizer, model.fit(counts))


def fit_bertopic(texts: Sequence[str], smallest: int, tools: Tools) -> Bertopic:
    """Fit BERTopic on texts with seeded UMAP; raise ModelMissing without the library."""
    try:
        from bertopic import BERTopic
        from umap import UMAP
    except ImportError:
        raise ModelMissing("topics=bertopic needs the Python packages bertopic and umap-learn") from None
    reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=SEED)
    model = BERTopic(min_topic_size=smallest, umap_model=reduced, calculate_probabilities=True)
    try:
        return Bertopic(model.fit(list(texts), tools.embed(list(texts))), tools)
    except (TypeError, ValueError) as error:
        raise MetricError(f"BERTopic could not be fitted on {len(texts)} documents: {error}") from error


def documents(dialogues: Iterable[Dialogue], size: int = BLOCK, most: int = MOST) -> list[str]:
    """Return a corpus as documents of `size` consecutive turns, in an order independent of the corpus's.

    If there are more than `most` documents, keep those whose places have the least hashes: a sample that
    depends on the corpus alone and bounds memory and time.
    """
    sample: list[tuple[int, Place, str]] = []
    for place, text in _documents(dialogues, size):
        rank = int.from_bytes(hashlib.sha256(repr(place).encode("utf-8", "surrogatepass")).digest())
        (heapq.heappush if len(sample) < most else heapq.heappushpop)(sample, (-rank, place, text))
    return [text for _, _, text in sorted(sample, key=lambda row: row[1:])]


def _documents(dialogues: Iterable[Dialogue], size: int) -> Iterator[tuple[Place, str]]:
    for dialogue in dialogues:
        for continuation in dialogue.all_continuations():
            texts = [turn.text for turn in continuation.turns if turn.text.strip()]
            for at in range(0, len(texts), size):
                yield (dialogue.id, continuation.id, at), "\n".join(texts[at : at + size])


class Turns:
    """Topic mixtures of a scene's turns, computed once; the mixture of several turns is their mean."""

    def __init__(self, scene: Scene, model: TopicModel) -> None:
        rows = model.mixtures([turn.text for turn in scene.turns])
        self.rows = rows
        self._has_topics: list[bool] = [bool(row.any()) for row in rows]
        self._sums = np.vstack([np.zeros(rows.shape[1]), np.cumsum(rows, axis=0)])

    def mixture(self, positions: Sequence[int]) -> Mixture:
        """Return the mixture of some turns, zeros if none has a word that the model knows."""
        if positions and positions[-1] - positions[0] + 1 == len(positions):
            weights = self._sums[positions[-1] + 1] - self._sums[positions[0]]
            return renormalised(np.where(weights > NOISE, weights, 0.0))
        return renormalised(self.rows[list(positions)].sum(axis=0))

    def reach(self, context: Sequence[int], step: int, shift: float) -> int:
        """Return the greatest number of a context's last turns at which a step can shift their mixture by
        `shift`.

        The mean of k mixtures moves by at most step / (k + step) in total variation when `step` more are
        added, and the Jensen-Shannon divergence (base 2) of two distributions is never above that. Turns
        without a known word do not count.
        """
        counted = 0
        for size, position in enumerate(reversed(context), start=1):
            if step <= shift * (counted + step):
                return min(len(context), size - 1 + step)
            counted += self._has_topics[position]
        return len(context)


def of_turns(scene: Scene, model: TopicModel) -> Turns:
    """Return the mixtures of a scene's turns under a model."""
    return scene.once(("topics", model), lambda: Turns(scene, model))


def renormalised(rows: Mixture) -> Mixture:
    """Normalise rows to sum to 1; a row of zeros stays."""
    totals = rows.sum(axis=-1, keepdims=True)
    return rows / np.where(totals > 0, totals, 1.0)


def jensen_shannon(p: Mixture, q: Mixture, base: float = 2.0) -> float:
    """Return the Jensen-Shannon divergence of two distributions: 0 to 1 in base 2, to ln 2 in base e."""
    middle = (p + q) / 2
    nats = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    return max(0.0, nats / math.log(base))


def _relative_entropy(p: Mixture, q: Mixture) -> float:
    some = p > 0
    return float(np.sum(p[some] * np.log(p[some] / q[some])))


# LS-TA: similarity of the predicted speaker's topics to the context's.


def ls_ta(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Topic alignment of the speaker with the context: MPCEval eq. 8.

    1 - sqrt(JSD(theta(C_s), theta(C_-k))), theta the mean of the turns' topic mixtures. `paper` uses a topic
    model fitted once on the corpus, and JSD in base 2: range 0 to 1. Undefined if the speaker has no turn, or
    one side has no word that the model knows. `reference` fits a new LDA for every turn, on the context's
    turns plus the speaker's turns a second time, uses JSD in base e (so the least value is .167), rounds to 4
    decimals, and gives 0 where the value is undefined.
    """
    assert turn is not None
    target = scene.target(turn)
    blank = settings.is_reference
    context = scene.context(turn, settings.integer("window"), keep_blank=blank)
    own = scene.among(scene.said_by(target.speaker, keep_blank=blank), context, keep_blank=blank)
    if settings.is_reference:
        texts = [scene.turns[p].text for p in context]
        return scored(
            _alignment_reference(texts, [scene.turns[p].text for p in own], settings.integer("topics"))
        )
    if not target.speaker.strip():
        return unscored(NO_SPEAKER)
    if not own:
        return unscored("the speaker has no turn in the context" if context else NO_CONTEXT)
    turns = of_turns(scene, tools.fitted)
    own_topics, context_topics = turns.mixture(own), turns.mixture(context)
    if not own_topics.any() or not context_topics.any():
        return unscored("the topic model knows no word of the speaker or the context")
    return scored(
        max(0.0, 1 - math.sqrt(jensen_shannon(own_topics, context_topics))),
        topic=int(context_topics.argmax()),
    )


def _alignment_reference(context: list[str], own: list[str], count: int) -> float:
    """Return the published code's value: 0 if the speaker has no turns or there are no words."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    if not own:
        return 0.0
    vectorizer = CountVectorizer(max_features=VOCABULARY)
    try:
        counts = vectorizer.fit_transform([*context, *own])
    except ValueError:
        return 0.0
    model = LatentDirichletAllocation(count, max_iter=ITERATIONS, learning_method="batch", random_state=SEED)
    rows = model.fit_transform(counts)
    divergence = jensen_shannon(_mean(rows[: len(context)]), _mean(rows[len(context) :]), base=math.e)
    return round(max(0.0, 1 - math.sqrt(divergence)), 4)


def _mean(rows: Mixture) -> Mixture:
    return renormalised(np.asarray(rows).mean(axis=0))


def _fit_alignment(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> TopicModel:
    texts = documents(dialogues)
    if settings.text("model") == BERTOPIC:
        return fit_bertopic(texts, settings.integer("topic_size"), tools)
    return fit_lda(texts, settings.integer("topics"))


TOPIC_ALIGNMENT_CAUSES = {"topic": Cause("topic")}

TOPIC_ALIGNMENT = (
    Metric(
        key="ls_ta",
        title="Topic alignment of speaker and context",
        kind="turn",
        aspect=SPEAKER,
        causes=TOPIC_ALIGNMENT_CAUSES,
        compute=ls_ta,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"speakers", "corpus"}),
        parameters={
            "model": Parameter(LDA, "the topic model", choices=(LDA, BERTOPIC)),
            "topics": Parameter(20, "topics of an LDA", low=2, high=1000),
            "topic_size": Parameter(5, "least documents of a BERTopic topic", low=2),
        },
        variants={PAPER: {}, REFERENCE: {}},
        fit=_fit_alignment,
        fit_when=lambda settings: not settings.is_reference,
    ),
)


# TES: the share of a message's topics outside those that the context has established.

LONGEST_REPEAT = 20
SHARE_DIGITS = 9


def tes(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Topic expansion score: the share of the message's topics that are not dominant in the context.

    MPCEval eq. 19. The context is widened by `step` turns until the next step would move its topic mixture by
    more than `shift` (JSD, base 2); if no step would, the whole context is stable and is used. Topics that
    together hold `mass` of that mixture are dominant; the message is read with the `support` turns before it;
    the mixture of several turns is the mean of their mixtures. Range 0 (redundant) to 1 (off topic).
    Undefined with a context of fewer than two steps. `reference` reads several turns as one text, takes the
    greatest multiple of `step` if no step passes, repeats a short message until it is as long as the turns
    before it, and gives 0 if anything is missing.
    """
    assert turn is not None
    if settings.is_reference:
        return _reference(scene, turn, settings, tools.fitted)
    context = scene.context(turn, settings.integer("window"))
    if not scene.target(turn).text.strip():
        return unscored("the message has no text")
    if len(context) < 2 * settings.integer("step"):
        return unscored("the context is too short for two windows")
    turns = of_turns(scene, tools.fitted)
    most = turns.reach(context, settings.integer("step"), settings.number("shift"))
    size = _stable(most, settings, lambda size: turns.mixture(context[-size:]))
    established = turns.mixture(context if size is None else context[-size:])
    if not established.any():
        return unscored("the topic model knows no word of the context")
    message_mixture = turns.mixture([*context[-settings.integer("support") :], scene.position(turn)])
    if not message_mixture.any():
        return unscored("the topic model knows no word of the message")
    main = dominant(established, settings.number("mass"))
    value = float(np.delete(message_mixture, main).sum())
    return scored(value, stable_turns=size or len(context), shifts=size is not None, dominant=main)


def _reference(scene: Scene, turn: int, settings: Settings, model: TopicModel) -> Score:
    texts = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    message, step = scene.target(turn).text, settings.integer("step")
    if not message.strip() or len(texts) < step:
        return scored(0.0)

    def mixture(size: int) -> Mixture:
        """Return the mixture of the last `size` turns as one text."""
        return model.mixtures(["\n".join(texts[-size:])])[0]

    size = _stable(len(texts), settings, mixture) or len(texts) // step * step
    message_mixture = model.mixtures([_supported(texts, message, settings)])[0]
    main = dominant(mixture(size), settings.number("mass"))
    return scored(float(np.delete(message_mixture, main).sum()), stable_turns=size, dominant=main)


def _stable(count: int, settings: Settings, mixture: Callable[[int], Mixture]) -> int | None:
    """Return the first window size after which one more step shifts the topics, None if there is none."""
    step, shift = settings.integer("step"), settings.number("shift")
    before = mixture(step)
    for size in range(step, count - step + 1, step):
        wider = mixture(size + step)
        if before.any() and wider.any() and jensen_shannon(before, wider) > shift:
            return size
        before = wider
    return None


def _supported(texts: list[str], message: str, settings: Settings) -> str:
    """Return the supporting turns followed by the message, which is repeated against dilution."""
    before = texts[-settings.integer("support") :]
    length = len("\n".join(before))
    times = min(LONGEST_REPEAT, max(1, math.ceil(length / len(message))))
    return "\n".join([*before, *[message] * times])


def dominant(mixture: Mixture, mass: float) -> list[int]:
    """Return the topics that together reach `mass`, greatest first (ties: lower number first).

    Shares that differ only by rounding are ties: an LDA gives many topics the same small share.
    """
    ordered = np.argsort(-np.round(mixture, SHARE_DIGITS), kind="stable")
    reached = np.cumsum(mixture[ordered]) >= mass - 1e-12
    return (
        [int(topic) for topic in ordered[: int(reached.argmax()) + 1]]
        if reached.any()
        else list(map(int, ordered))
    )


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> TopicModel:
    if settings.text("model") == LDA:
        return fit_lda(documents(dialogues), settings.integer("topics"))
    texts = documents(dialogues) if not settings.is_reference else sorted(map(_history, dialogues))
    return fit_bertopic(list(filter(None, texts)), settings.integer("topic_size"), tools)


def _history(dialogue: Dialogue) -> str:
    return "\n".join(turn.text for turn in dialogue.turns if turn.text.strip())


TOPIC_EXPANSION_CAUSES = {
    "stable_turns": Cause("stable turns"),
    "shifts": Cause("shifts"),
    "dominant": Cause("dominant"),
}

TOPIC_EXPANSION = (
    Metric(
        key="tes",
        title="Topic expansion",
        kind="turn",
        aspect=CONTENT,
        causes=TOPIC_EXPANSION_CAUSES,
        compute=tes,
        low=0.0,
        high=1.0,
        direction=NEARER_HALF,
        needs=frozenset({"corpus"}),
        parameters={
            "model": Parameter(LDA, "the topic model", choices=(LDA, BERTOPIC)),
            "topics": Parameter(20, "topics of an LDA", low=2, high=1000),
            "topic_size": Parameter(5, "least documents of a BERTopic topic", low=2),
            "step": Parameter(2, "turns by which the context is widened", low=1),
            "shift": Parameter(0.1, "JSD above which the topics have shifted", low=0.0, high=1.0),
            "mass": Parameter(0.8, "share of the mixture that is dominant", low=0.0, high=1.0),
            "support": Parameter(2, "turns before the message that it is read with", low=1),
        },
        variants={PAPER: {}, REFERENCE: {"model": BERTOPIC}},
        fit=_fit,
    ),
)
