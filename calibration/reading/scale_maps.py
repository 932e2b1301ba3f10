"""Declared maps between the scales of two questions. Nothing is mapped unless a study says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from calibration.errors import MapError

MapKind = Literal["identity", "linear", "rank"]


@dataclass(frozen=True, slots=True)
class ScaleMap:
    """How answers on one scale are read on another.

    `identity`: the same value. `linear`: the range `source` (a, b) onto `target` (c, d). `rank`: only the
    order counts, so the rater meets the others by correlation alone.
    """

    kind: MapKind = "identity"
    source: tuple[float, float] | None = None
    target: tuple[float, float] | None = None

    def apply(self, value: float) -> float:
        """Return a value of the source scale on the target scale; unchanged by identity and rank."""
        if self.kind != "linear" or self.source is None or self.target is None:
            return value
        (a, b), (c, d) = self.source, self.target
        return c + (value - a) * (d - c) / (b - a)

    def on_scale(self, values: list[Any], target: list[Any]) -> bool:
        """Whether every value of the source scale lands on a value of the target scale."""
        if self.kind == "rank":
            return False
        if not target:
            return True
        if not values:
            return False
        if self.kind == "identity":
            return set(values) <= set(target)
        return {self.apply(float(v)) for v in values} <= {float(v) for v in target}

    def as_dict(self) -> dict[str, Any]:
        """Return the map as it is written in a study's definition."""
        if self.kind != "linear":
            return {"kind": self.kind}
        return {"kind": "linear", "from": list(self.source or ()), "to": list(self.target or ())}

    def in_words(self) -> str:
        """Return the map in the reader's words."""
        if self.kind == "linear" and self.source and self.target:
            a, b, c, d = (f"{end:g}" for end in (*self.source, *self.target))
            return f"{a} to {b} read linearly as {c} to {d}"
        return "by order only" if self.kind == "rank" else "on the same scale"

    @staticmethod
    def parse(raw: Any) -> ScaleMap:
        """Read a map from a definition. Raises MapError with one clear line."""
        if raw is None:
            return ScaleMap()
        if isinstance(raw, str):
            raw = {"kind": raw}
        if not isinstance(raw, Mapping) or raw.get("kind") not in ("identity", "linear", "rank"):
            raise MapError(f"a map is identity, rank or linear with from and to, not {raw!r}")
        if raw["kind"] != "linear":
            return ScaleMap(raw["kind"])
        return ScaleMap("linear", _range(raw, "from"), _range(raw, "to"))


def _range(raw: Mapping[str, Any], side: str) -> tuple[float, float]:
    ends = raw.get(side)
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(_number(end) for end in ends):
        raise MapError(f"a linear map needs {side} as two numbers, such as [1, 5]")
    if ends[0] == ends[1]:
        raise MapError(f"a linear map's {side} must be two different numbers")
    return float(ends[0]), float(ends[1])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
