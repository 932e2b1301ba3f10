"""The examples nearest to a case, by embeddings of what each is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from judges.errors import JudgeError
from judges.material.embedding_store import DatabaseStore
from judges.material.metric_tools import tools
from judges.metrics import DEFAULT_MODEL, Embedder
from judges.metrics.kit.embedding import text_hash
from judges.metrics.kit.errors import ModelMissing
from judges.protocols import Case, Wording
from judges.protocols.examples import about

Matrix = NDArray[np.float64]
RULE = "nearest"


def model() -> str:
    """Return the embedding model that a new version's nearest examples are found with."""
    return settings.EMBEDDING_MODEL or DEFAULT_MODEL


def ranked(wording: Wording, case: Case) -> Wording:
    """Return a text with its examples in the order of their nearness to a case, the nearest first.

    Nearness is the cosine between the mean unit vectors of the texts that each is about; equally near ones
    keep the version's order. A text whose examples were picked by another rule is returned as it is. Raises
    JudgeError where the embedding model is not on this machine.
    """
    if wording.picking.get("rule") != RULE or not wording.examples:
        return wording
    name = str(wording.picking.get("model", ""))
    pool = tuple(tuple(example.get("about", ())) for example in wording.examples)
    try:
        cosines = _vectors(name, pool) @ _vector(name, about(case))
    except ModelMissing as error:
        raise JudgeError(f"The nearest examples cannot be found: {error}.") from error
    order = np.argsort(-np.round(cosines, 6), kind="stable")
    return replace(wording, examples=tuple(wording.examples[index] for index in order))


def _texts(wording: Wording, case: Case) -> list[str]:
    """Return the texts whose embeddings say which examples are nearest to a case."""
    pool = [text for example in wording.examples for text in example.get("about") or [""]]
    return list(dict.fromkeys([*pool, *(about(case) or [""])]))


def is_known(wording: Wording, case: Case) -> bool:
    """Whether the nearest examples can be told without loading a model: every text was embedded before."""
    if wording.picking.get("rule") != RULE or not wording.examples:
        return True
    wanted = {text_hash(text) for text in _texts(wording, case)}
    return wanted == DatabaseStore().load(str(wording.picking.get("model", "")), list(wanted)).keys()


def embed(wording: Wording, case: Case) -> int:
    """Embed what the nearest examples are found by; return how many texts that is. Raises JudgeError where
    the embedding model is not on this machine."""
    wanted = _texts(wording, case)
    try:
        _embedder(str(wording.picking.get("model", ""))).prepare(wanted)
    except ModelMissing as error:
        raise JudgeError(f"The nearest examples cannot be found: {error}.") from error
    return len(wanted)


@lru_cache(maxsize=32)
def _vectors(name: str, pool: tuple[tuple[str, ...], ...]) -> Matrix:
    """Return one row for each of a version's examples."""
    return np.stack([_vector(name, texts) for texts in pool])


def _vector(name: str, texts: Sequence[str]) -> Matrix:
    """Return the mean of the texts' unit vectors, of length 1; zeros where there is no text."""
    rows = _embedder(name)(list(texts) or [""]).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    mean = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).mean(axis=0)
    length = float(np.linalg.norm(mean))
    made: Matrix = mean / length if texts and length else np.zeros_like(mean)
    return made


@cache
def _embedder(name: str) -> Embedder:
    return tools().embed if name == model() else Embedder(name, store=DatabaseStore())
