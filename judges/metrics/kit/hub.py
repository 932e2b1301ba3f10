"""Models of transformers, by name or folder: loaded from this machine, on one thread, one text at a time.

One text at a time, because a padded batch changes the last digits of a text's numbers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from judges.metrics.kit.errors import ModelMissing
from judges.metrics.kit.threads import torch_on_one_thread


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
