"""Which rule is taken where nobody named one."""

from __future__ import annotations

from collections.abc import Iterable

from calibration.statistics.core.types import ORDERED

MEANING = "median where the questions are on ordered scales, majority where one has categories"


def default_rule(levels: Iterable[str]) -> str:
    """Return the key of the rule for questions of these levels: median, or majority where one is not ordered.

    A majority of two raters on a scale is a tie wherever they differ; categories have no middle.
    """
    present = set(levels)
    return "median" if present and present <= ORDERED else "majority"
