"""From long records to :class:`~calibration.statistics.data.Ratings`: scales, samples, duplicates."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.statistics.data import (
    LEVELS,
    OFF_SCALE_KINDS,
    ORDERED,
    Floats,
    Ints,
    Level,
    RatingError,
    Ratings,
    Record,
    Samples,
    Value,
    as_number,
    codes,
)


@dataclass(frozen=True)
class Scale:
    """The values that may occur: ``numbers`` in order, and their ``names`` where they are categories."""

    numbers: tuple[float, ...] | None
    names: tuple[str, ...] | None
    declared: bool

    def encode(self, value: Value) -> float | None:
        """Return the number of a value on this scale, or None if it is not on it."""
        if self.names is not None:
            text = str(value)
            return float(self.names.index(text)) if text in self.names else None
        number = as_number(value)
        if number is None or (self.numbers is not None and number not in self.numbers):
            return None
        return number

    def written(self) -> str:
        """Return the scale as a reader writes it."""
        if self.names is not None:
            return ", ".join(self.names)
        return "any number" if self.numbers is None else ", ".join(f"{v:g}" for v in self.numbers)


def build(
    records: Sequence[Record],
    *,
    level: Level,
    values: Sequence[Value] | None = None,
    positive: Value = 1,
    samples: Samples | None = None,
    off_scale: Collection[str] = (),
) -> Ratings:
    """Return the ratings of long records.

    ``samples`` says what becomes of a rater's repeated answers: their mean (ordered scales), the first, or
    one rater each (``name#0``, ``name#1``). Raters named in ``off_scale``, metrics and composites answer on
    another scale. Raises RatingError with the index of the record at fault: a value off the scale, a second
    value for the same item, rater and sample, one item in two clusters, one rater of two kinds.
    """
    if level not in LEVELS:
        raise RatingError(f"{level!r} is not a measurement level; use one of {', '.join(LEVELS)}", field="scale")
    policy: Samples = samples or ("mean" if level in ORDERED else "first")
    if policy == "mean" and level not in ORDERED:
        raise RatingError(f"the mean of samples needs an ordered scale, not {level}", field="samples")
    off = frozenset(off_scale)
    shared = [r for r in records if r.rater not in off and r.kind not in OFF_SCALE_KINDS]
    scale = scale_of([r.value for r in shared if r.value is not None], level, values)
    table = _Table(records, scale, off, policy, level)
    return table.ratings(level, _positive(positive, scale))


def scale_of(observed: Sequence[Value], level: Level, values: Sequence[Value] | None = None) -> Scale:
    """Return the scale: as declared, or the distinct values seen (for binary, nominal and ordinal)."""
    given = list(values) if values is not None else None
    candidates = given if given is not None else list(dict.fromkeys(observed))
    numbers = [as_number(v) for v in candidates]
    if all(n is not None for n in numbers):
        distinct = tuple(sorted({n for n in numbers if n is not None}))
        _check_size(distinct, level)
        continuous = given is None and level in ("interval", "ratio")
        return Scale(None if continuous else distinct, None, given is not None)
    if level in ("interval", "ratio"):
        bad = next(v for v, n in zip(candidates, numbers, strict=True) if n is None)
        position = next((i for i, v in enumerate(observed) if v == bad), -1)
        raise RatingError(f"{bad!r} is not a number, and the scale is {level}", index=position)
    if level == "ordinal" and given is None:
        raise RatingError("ordered categories that are not numbers need their order: declare the values", field="values")
    names = tuple(dict.fromkeys(str(v) for v in candidates))
    names = names if given is not None else tuple(sorted(names))
    _check_size(names, level)
    return Scale(tuple(float(i) for i in range(len(names))), names, given is not None)


def _check_size(distinct: Sequence[object], level: Level) -> None:
    if level == "binary" and len(distinct) > 2:
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in distinct[:5])
        raise RatingError(f"a binary scale has two values, not {len(distinct)} ({shown})", field="values")


def _positive(positive: Value, scale: Scale) -> float | None:
    return None if scale.numbers is None else scale.encode(positive)


class _Table:
    """Fills the matrix cell by cell, refusing what contradicts itself."""

    def __init__(
        self, records: Sequence[Record], scale: Scale, off: frozenset[str], policy: Samples, level: Level
    ) -> None:
        self.scale, self.off, self.policy, self.level = scale, off, policy, level
        self.items: dict[str, int] = {}
        self.clusters: list[str] = []
        self.systems: list[str] = []
        self.continuations: list[str] = []
        self.columns: dict[tuple[str, int], int] = {}
        self.kinds: dict[str, tuple[str, bool]] = {}
        self.cells: dict[tuple[int, int], float] = {}
        for index, record in enumerate(records):
            self._add(index, record)

    def _add(self, index: int, record: Record) -> None:
        row = self._row(index, record)
        known = self.kinds.setdefault(record.rater, (record.kind, record.identified))
        if known != (record.kind, record.identified):
            raise RatingError(f"rater {record.rater!r} is {known[0]!r} and {record.kind!r}", index, "kind")
        column = self.columns.setdefault((record.rater, record.sample), len(self.columns))
        if (row, column) in self.cells:
            message = f"a second value of rater {record.rater!r} for item {record.item!r}"
            raise RatingError(f"{message}, sample {record.sample}", index, "item")
        self.cells[row, column] = self._number(index, record)

    def _row(self, index: int, record: Record) -> int:
        row = self.items.setdefault(record.item, len(self.items))
        cluster = record.cluster or f"\0{record.item}"
        if row == len(self.clusters):
            self.clusters.append(cluster)
            self.systems.append(record.system)
            self.continuations.append(record.continuation)
        elif self.clusters[row] != cluster:
            raise RatingError(f"item {record.item!r} is in two clusters", index, "cluster")
        elif self.systems[row] != record.system:
            raise RatingError(f"item {record.item!r} has two systems", index, "system")
        return row

    def _number(self, index: int, record: Record) -> float:
        if record.value is None:
            return math.nan
        if record.rater in self.off or record.kind in OFF_SCALE_KINDS:
            number = as_number(record.value)
            expected = "a number"
        else:
            number, expected = self.scale.encode(record.value), f"one of {self.scale.written()}"
            if self.scale.numbers is None:
                expected = "a number"
        if number is None:
            raise RatingError(f"value {record.value!r} of rater {record.rater!r}: expected {expected}", index)
        if self.level == "ratio" and number < 0 and record.kind not in OFF_SCALE_KINDS:
            raise RatingError(f"value {record.value!r}: a ratio scale has no negative values", index)
        return number

    def ratings(self, level: Level, positive: float | None) -> Ratings:
        """Return the matrix with its samples joined by the policy."""
        raw = np.full((len(self.items), len(self.columns)), np.nan)
        for (row, column), number in self.cells.items():
            raw[row, column] = number
        names, columns, derived = self._join(raw)
        base = [name if name in self.kinds else name.rsplit("#", 1)[0] for name in names]
        kinds = tuple(self.kinds[b][0] for b in base)
        off = [b in self.off or self.kinds[b][0] in OFF_SCALE_KINDS for b in base]
        return Ratings(
            values=np.column_stack(columns) if columns else np.empty((len(self.items), 0)),
            level=level,
            items=tuple(self.items),
            raters=tuple(names),
            clusters=codes(self.clusters),
            scale=self.scale.numbers,
            names=self.scale.names,
            kinds=kinds,
            identified=tuple(self.kinds[b][1] for b in base),
            on_scale=tuple(not (o or d) for o, d in zip(off, derived, strict=True)),
            systems=self._optional(self.systems),
            continuations=self._optional(self.continuations),
            positive=positive,
            declared=self.scale.declared,
        )

    def _optional(self, labels: list[str]) -> Ints | None:
        return codes(labels) if any(labels) else None

    def _join(self, raw: Floats) -> tuple[list[str], list[Floats], list[bool]]:
        names: list[str] = []
        columns: list[Floats] = []
        derived: list[bool] = []
        for rater in self.kinds:
            mine = sorted((sample, column) for (name, sample), column in self.columns.items() if name == rater)
            if self.policy == "separate" and len(mine) > 1:
                names += [f"{rater}#{sample}" for sample, _ in mine]
                columns += [raw[:, column] for _, column in mine]
                derived += [False] * len(mine)
                continue
            block = raw[:, [column for _, column in mine]]
            joined = _mean(block) if self.policy == "mean" and len(mine) > 1 else _first(block)
            names.append(rater)
            columns.append(joined)
            derived.append(not self._all_on_scale(joined))
        return names, columns, derived

    def _all_on_scale(self, column: Floats) -> bool:
        if self.scale.numbers is None:
            return True
        return bool(np.isin(column[~np.isnan(column)], self.scale.numbers).all())


def _mean(block: Floats) -> Floats:
    counted = (~np.isnan(block)).sum(axis=1)
    total = np.nansum(block, axis=1)
    return np.where(counted > 0, total / np.maximum(counted, 1), np.nan)


def _first(block: Floats) -> Floats:
    present = ~np.isnan(block)
    return np.where(present.any(axis=1), block[np.arange(len(block)), present.argmax(axis=1)], np.nan)
