"""Turn values as dialogue values and system values, by the arithmetic mean.

ComperDial: a dialogue's value is the mean of its turns', a system's the mean of all of its turns' (footnotes
9 and 11); of a metric of whole conversations, the mean of its conversations'. Items without a value are left
out, and where none has one, neither has the mean. Categories have no mean: they are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

EMPTY = "no item has a value"
FIELDS = ("dialogue", "continuation", "system", "turn", "metric", "variant")


class Averages:
    """Collects values and yields the means; memory grows with continuations and systems, not with turns."""

    def __init__(self) -> None:
        self._values: dict[tuple[Any, ...], list[float]] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Count one value, given as `score` writes it."""
        if isinstance(line["value"], str):
            return
        metric = (line["metric"], line["variant"])
        if line["turn"] is not None:
            self._count(
                (line["dialogue"], line["continuation"], line["system"], None, *metric), line["value"]
            )
        self._count((None, None, line["system"], None, *metric), line["value"])

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the means in the order of first appearance; a system's have neither dialogue nor
        continuation."""
        for key, values in self._values.items():
            mean = math.fsum(values) / len(values) if values else None
            yield {
                **dict(zip(FIELDS, key, strict=True)),
                "value": mean,
                "reason": EMPTY if mean is None else None,
            }

    def _count(self, key: tuple[Any, ...], value: float | None) -> None:
        values = self._values.setdefault(key, [])
        if value is not None:
            values.append(value)
