"""Fake models for demos and tests: their answers never pass for a real model's.

Their names begin with `fake` (see `demo.fake_model`), which shows in judge names, run pages and reports.
Behind a proxy with another name a fake model is recognised by a response header, and its name shows both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MARK = "(fake model)"
"""Part of the name of every rater that uses a fake model."""

MODEL_PREFIX = "fake"
"""Prefix of fake model names, in any case."""

ENDPOINT = "fake model (for trying out)"
"""Endpoint created by the demo."""

HEADER = "X-Concord-Fake-Model"
"""Header of every response of a fake model. Proxies pass it on, some with a prefix."""

EMBEDDING_MODEL = "embedding_model"
"""Condition key of a continuation: the embedding model of its writer's retrieval."""
CONDITION_KEYS = ("model", EMBEDDING_MODEL)

_HEADER_SUFFIX = HEADER.casefold()
_ALIAS = "fake model as "


def aliased(model: str) -> str:
    """Return the name of a fake model that its server serves under another name."""
    return model if is_fake(model) else _ALIAS + model


def requested_name(model: str) -> str:
    """Return the model name to send to its server."""
    return model.removeprefix(_ALIAS)


def has_mark(headers: Iterable[str]) -> bool:
    """Whether response header names include the mark of a fake model."""
    return any(name.casefold().endswith(_HEADER_SUFFIX) for name in headers)


def is_fake(model: str) -> bool:
    """Whether a model name is a fake model's."""
    return model.casefold().startswith(MODEL_PREFIX)


def has_fake(condition: Mapping[str, Any]) -> bool:
    """Whether a continuation's condition names a fake model."""
    return any(is_fake(str(condition.get(key, ""))) for key in CONDITION_KEYS)


def marked(model: str) -> str:
    """Return a model's name as raters and pages show it."""
    return f"{model} {MARK}" if is_fake(model) else model
