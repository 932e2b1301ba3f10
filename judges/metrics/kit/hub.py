"""Models of transformers, by name or folder: loaded from this machine, on one thread, one text at a time.

One text at a time, because a padded batch changes the last digits of a text's numbers.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from judges.metrics.kit.base import ModelMissing

# One thread for the numerical libraries.
#
# Threads that wait for each other burn more time on a metric's small matrices than they save, ten times as
# much on a busy machine; and with one thread the order of sums does not depend on the number of cores.

LIBRARIES = ("scipy.linalg", "sklearn.utils._openmp_helpers", "torch")
"""What brings thread pools of its own beside numpy's, once it is imported."""


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which the libraries that are loaded now compute on one thread."""
    found: AbstractContextManager[object] = _pools(tuple(name in sys.modules for name in LIBRARIES)).limit(
        limits=1
    )
    return found


@cache
def _pools(loaded: tuple[bool, ...]) -> ThreadpoolController:
    """Return the pools there are; looking them up takes a thousand times as long as limiting them."""
    return ThreadpoolController()


_threads = threading.Lock()
_inside: list[int] = []
"""The number of threads to go back to, once for every caller that is inside `torch_on_one_thread`."""


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Run torch on one thread, as sums over several would come out in another order.

    The number is the whole process's, so of several callers at a time only the last to leave restores it.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO")  # else where memory lies decides the order of MKL's sums
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
        """Return the model's output for a text or a pair of texts, cut to what the model can read."""
        inputs = self.tokenizer(text, second, return_tensors="pt", truncation=True, max_length=self.limit)
        return self.forward(**inputs, **options)

    def forward(self, **inputs: Any) -> Any:
        """Return the model's output for tensors, without gradients."""
        import torch

        with torch_on_one_thread(), torch.inference_mode():
            return self.model(**inputs)

    @property
    def limit(self) -> int:
        """How many tokens the model reads."""
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
    """Return the SHA-256 of a model's folder, names and contents of its files; raise ModelMissing."""
    there = name and Path(name).is_dir()
    files = sorted(path for path in Path(name).rglob("*") if path.is_file()) if there else []
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
