"""Fake models, for trying out and for tests: what they answer is never taken for a real model's.

Their names begin with `fake` (see `demo.fake_model`); names of judges, pages of runs and reports say it.
Behind a proxy that calls one otherwise it is known by a header of its replies, and its name says both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MARK = "(fake model)"
"""In the name of every rater that asks one."""

MODEL_PREFIX = "fake"
"""How the names of fake models begin, in capitals or not."""

ENDPOINT = "fake model (for trying out)"
"""The endpoint that the demo makes."""

HEADER = "X-Concord-Fake-Model"
"""Of every response of a fake model. Proxies pass it on, some with a prefix."""

EMBEDDING_MODEL = "embedding_model"
"""In a continuation's condition: the model that embedded what its writer looked up."""
CONDITION_KEYS = ("model", EMBEDDING_MODEL)

_HEADER_SUFFIX = HEADER.casefold()
_ALIAS = "fake model as "


def aliased(model: str) -> str:
    """Return the name of a fake model that its server calls otherwise."""
    return model if is_fake(model) else _ALIAS + model


def requested_name(model: str) -> str:
    """Return the name by which a model is asked for at its server."""
    return model.removeprefix(_ALIAS)


def has_mark(headers: Iterable[str]) -> bool:
    """Whether the names of a response's headers say that a fake model answered."""
    return any(name.casefold().endswith(_HEADER_SUFFIX) for name in headers)


def is_fake(model: str) -> bool:
    """Whether a model's name is a fake one's."""
    return model.casefold().startswith(MODEL_PREFIX)


def has_fake(condition: Mapping[str, Any]) -> bool:
    """Whether a continuation's condition names a fake model."""
    return any(is_fake(str(condition.get(key, ""))) for key in CONDITION_KEYS)


def marked(model: str) -> str:
    """Return a model's name as raters and pages show it."""
    return f"{model} {MARK}" if is_fake(model) else model
