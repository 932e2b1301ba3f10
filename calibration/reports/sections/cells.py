"""Figures of sections that stand without an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibration.reports.figure import Figure


@dataclass(frozen=True)
class Bare(Figure):
    """A figure that has no interval by its nature."""

    bare: ClassVar[bool] = True


@dataclass(frozen=True)
class PValue(Bare):
    """The p-value of a test: with 2,000 swaps the least is 0.0005."""

    digits: ClassVar[int] = 4


@dataclass(frozen=True)
class Count(Bare):
    """A number of items."""

    digits: ClassVar[int] = 0


def count(name: str, number: int, like: Figure | None = None) -> Count:
    """Return a number as a figure of a table; its items and clusters are those of another figure."""
    n_items, n_clusters = (like.n_items, like.n_clusters) if like else (0, 0)
    return Count(name, float(number), n_items=n_items, n_clusters=n_clusters)
