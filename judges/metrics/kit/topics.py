"""Topic models and what is computed with topic mixtures. Mixtures are rows that sum to 1.

LDA comes with scikit-learn. BERTopic is an extra: without the library there is one clear line, and LDA never
stands in for it. Both are fitted with fixed seeds, so a model depends on its documents alone.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annotation.records import Dialogue
from annotation.text.tokens import words
from judges.metrics.kit.base import MetricError, ModelMissing
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

Mixture = NDArray[np.float64]
Place = tuple[str, str, int]

LDA = "lda"
BERTOPIC = "bertopic"
VOCABULARY = 5000
ITERATIONS = 10
SEED = 0
BLOCK = 10
MOST = 20_000
"""Documents that a topic model is fitted on at most."""
NOISE = 1e-12
"""Differences of running sums below this are rounding."""


class TopicModel(Protocol):
    """Turns texts into topic mixtures."""

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return one row per text; a row of zeros where a text has nothing that the model knows."""


@dataclass(frozen=True, eq=False)
class Lda:
    """Latent Dirichlet allocation over words in any script."""

    vectorizer: Any
    model: Any

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return one row per text; a row of zeros where no word of it is known."""
        counts = self.vectorizer.transform(texts)
        rows = np.asarray(self.model.transform(counts), dtype=np.float64)
        return rows * (np.asarray(counts.sum(axis=1)).reshape(-1, 1) > 0)


@dataclass(frozen=True, eq=False)
class Bertopic:
    """BERTopic's topics; the share of a text that it takes as outlier belongs to no topic."""

    model: Any
    tools: Tools

    def mixtures(self, texts: Sequence[str]) -> Mixture:
        """Return the topic probabilities, made to sum to 1; zeros where a text is all outlier."""
        vectors = self.tools.embed(list(texts))
        _, probabilities = self.model.transform(list(texts), vectors)
        return renormalised(np.atleast_2d(np.asarray(probabilities, dtype=np.float64)))


def fit_lda(texts: Sequence[str], topics: int) -> Lda:
    """Fit LDA on texts; raise MetricError where they hold no word at all."""
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
    """Return a corpus as documents of `size` turns in a row, in an order that does not depend on its own.

    Of a corpus with more than `most` documents, those whose places have the least hashes: a sample that
    depends on the corpus alone, so that memory and time stay bounded.
    """
    kept: list[tuple[int, Place, str]] = []
    for place, text in _documents(dialogues, size):
        rank = int.from_bytes(hashlib.sha256(repr(place).encode("utf-8", "surrogatepass")).digest())
        (heapq.heappush if len(kept) < most else heapq.heappushpop)(kept, (-rank, place, text))
    return [text for _, _, text in sorted(kept, key=lambda one: one[1:])]


def _documents(dialogues: Iterable[Dialogue], size: int) -> Iterator[tuple[Place, str]]:
    for dialogue in dialogues:
        for one in dialogue.all_continuations():
            texts = [turn.text for turn in one.turns if turn.text.strip()]
            for at in range(0, len(texts), size):
                yield (dialogue.id, one.id, at), "\n".join(texts[at : at + size])


class Turns:
    """The mixtures of a scene's turns, computed once; that of several turns is the mean of theirs."""

    def __init__(self, scene: Scene, model: TopicModel) -> None:
        rows = model.mixtures([turn.text for turn in scene.turns])
        self.rows = rows
        self._known: list[bool] = [bool(row.any()) for row in rows]
        self._sums = np.vstack([np.zeros(rows.shape[1]), np.cumsum(rows, axis=0)])

    def mixture(self, positions: Sequence[int]) -> Mixture:
        """Return the mixture of some turns, zeros where none has a word that the model knows."""
        if positions and positions[-1] - positions[0] + 1 == len(positions):
            found = self._sums[positions[-1] + 1] - self._sums[positions[0]]
            return renormalised(np.where(found > NOISE, found, 0.0))
        return renormalised(self.rows[list(positions)].sum(axis=0))

    def reach(self, context: Sequence[int], step: int, shift: float) -> int:
        """Return how many of a context's last turns can hold a step that moves their mixture by `shift`.

        The mean of k mixtures moves by at most step / (k + step) in total variation when `step` more come
        in, and the Jensen-Shannon divergence (base 2) of two distributions is never above that. Turns without
        a known word do not count.
        """
        counted = 0
        for size, position in enumerate(reversed(context), start=1):
            if step <= shift * (counted + step):
                return min(len(context), size - 1 + step)
            counted += self._known[position]
        return len(context)


def of_turns(scene: Scene, model: TopicModel) -> Turns:
    """Return the mixtures of a scene's turns under a model."""
    return scene.once(("topics", model), lambda: Turns(scene, model))


def renormalised(rows: Mixture) -> Mixture:
    """Make rows sum to 1; a row of zeros stays."""
    totals = rows.sum(axis=-1, keepdims=True)
    return rows / np.where(totals > 0, totals, 1.0)


def jensen_shannon(left: Mixture, right: Mixture, base: float = 2.0) -> float:
    """Return the Jensen-Shannon divergence of two distributions: 0 to 1 in base 2, to ln 2 in base e."""
    middle = (left + right) / 2
    nats = (_relative_entropy(left, middle) + _relative_entropy(right, middle)) / 2
    return max(0.0, nats / math.log(base))


def _relative_entropy(left: Mixture, right: Mixture) -> float:
    some = left > 0
    return float(np.sum(left[some] * np.log(left[some] / right[some])))
