"""Chances that are no chance: a number in [0, 1) that a seed and some texts determine, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def u(seed: int, *parts: object) -> float:
    """Return the first 8 bytes, big-endian, of the SHA-256 of seed and parts joined by NUL, over 2^64."""
    text = "\x00".join(str(part) for part in (seed, *parts))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def pick(values: Sequence[T], chances: Sequence[float], draw: float) -> T:
    """Return the value at which the chances, added up in order, pass a draw."""
    total = 0.0
    for value, chance in zip(values, chances, strict=True):
        total += chance
        if draw < total:
            return value
    return next(value for value, chance in reversed(list(zip(values, chances, strict=True))) if chance > 0)
