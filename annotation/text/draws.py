"""Deterministic draws: a number in [0, 1) from a seed and some texts, the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def u(seed: int, *parts: object) -> float:
    """Return the first 8 bytes, big-endian, of the SHA-256 of seed and parts joined by NUL, over 2^64."""
    text = "\x00".join(str(part) for part in (seed, *parts))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def one_of(values: Sequence[T], seed: int, *parts: object) -> T:
    """Draw one of several values, all equally likely. IndexError where there are none."""
    return values[min(int(u(seed, *parts) * len(values)), len(values) - 1)]


def in_drawn_order(keys: Iterable[str], seed: int, purpose: str) -> list[str]:
    """Return keys in an order that only the seed and the keys determine, whatever their input order."""
    return sorted(keys, key=lambda key: (u(seed, purpose, key), key))
