"""Ratings of items by raters: levels and values, records of single answers, and arrays for statistics."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

# The parts of a rating: levels and values, one answer, and the error that names the faulty answer.

Level = Literal["binary", "nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Level, ...] = ("binary", "nominal", "ordinal", "interval", "ratio")
CATEGORIES: frozenset[str] = frozenset({"binary", "nominal"})
ORDERED: frozenset[str] = frozenset({"ordinal", "interval", "ratio"})
OFF_SCALE_KINDS = frozenset({"metric", "composite"})
Samples = Literal["mean", "first", "separate"]
Value = str | float | int | bool | None
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class RatingError(ValueError):
    """A rating that cannot be used; ``index`` is the position of its record, -1 where none is at fault."""

    def __init__(self, message: str, index: int = -1, field: str = "value", value: Value = None) -> None:
        super().__init__(message)
        self.index = index
        self.field = field
        self.value = value


@dataclass(frozen=True, slots=True)
class Record:
    """One answer: a rater's value for an item. An empty cluster means that the item is its own cluster."""

    item: str
    rater: str
    value: Value
    cluster: str = ""
    kind: str = ""
    identified: bool = True
    sample: int = 0
    system: str = ""
    continuation: str = ""


def as_number(value: Value) -> float | None:
    """Return a finite number, or None for anything else: "nan", "inf", "1_000", digits of other scripts."""
    if value is None or (isinstance(value, str) and ("_" in value or not value.isascii())):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# The one input type of every statistic: ratings of items by raters, as arrays.
#
# Numbers stay numbers; category names become their position in the declared scale. Missing is NaN, and only
# missing is: a category called "nan" is a category.


@dataclass(frozen=True)
class Ratings:
    """Ratings of one question: ``values`` is items x raters, NaN where missing.

    ``scale`` holds the values that may occur, in order (None: any number). ``names`` are the category
    names where the scale is not numeric (``values`` then holds positions). ``on_scale`` tells per rater
    whether the answers are on that scale; metrics and means are not, and are compared with the others by
    correlation only. ``firsts`` holds, by rater, the first of repeated answers (a value per item) where
    their mean left the scale: agreement reads these values for that rater (``as_answered``). ``clusters``
    and ``systems`` are codes from 0 per item; ``system_names`` are the systems' names by code, where they
    have any. ``sets`` are the sets of tags behind the values, where an answer is a set. ``weights``
    holds, per item, how many items of the population it stands for: 1 / its probability of having been
    drawn for people to rate, and NaN where it was not drawn; None where items were not drawn with known
    probabilities and each counts once. ``outside`` marks the items that could not be drawn: figures that
    a judge's answers to further items extend from the drawn ones are without them. ``problem`` is the
    reason why all statistics are rejected.
    """

    values: Floats
    level: Level
    items: tuple[str, ...]
    raters: tuple[str, ...]
    clusters: Ints
    scale: tuple[float, ...] | None = None
    names: tuple[str, ...] | None = None
    kinds: tuple[str, ...] = ()
    identified: tuple[bool, ...] = ()
    on_scale: tuple[bool, ...] = ()
    systems: Ints | None = None
    system_names: tuple[str, ...] = ()
    continuations: Ints | None = None
    positive: float | None = 1.0
    declared: bool = True
    problem: str = ""
    firsts: Mapping[str, Floats] = field(default_factory=dict)
    sets: tuple[frozenset[str], ...] | None = None
    weights: Floats | None = None
    outside: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Reject weights that are not one number above 0 per item."""
        if self.weights is None:
            return
        if self.weights.shape != (len(self.values),):
            raise ValueError(f"{self.weights.shape} weights for {len(self.values)} items")
        if not (np.isnan(self.weights) | ((self.weights > 0) & (self.weights < np.inf))).all():
            raise ValueError("a weight is a finite number above 0, or NaN for an item that was not drawn")

    @property
    def n_items(self) -> int:
        """Number of items, rated or not."""
        return self.values.shape[0]

    @property
    def n_clusters(self) -> int:
        """Number of clusters among the items."""
        return int(self.clusters.max()) + 1 if self.clusters.size else 0

    def column(self, rater: str) -> int:
        """Return the column of a rater. Raises KeyError for an unknown rater."""
        if rater not in self.raters:
            raise KeyError(f"no rater {rater!r}; there are {', '.join(self.raters)}")
        return self.raters.index(rater)

    def of_kind(self, kind: str) -> tuple[int, ...]:
        """Return the columns of the raters of this kind."""
        return tuple(j for j, k in enumerate(self.kinds) if k == kind)

    def take(self, columns: Sequence[int]) -> Ratings:
        """Return the ratings of these columns, over the same items."""
        keep = list(columns)
        return replace(
            self,
            values=self.values[:, keep],
            raters=tuple(self.raters[j] for j in keep),
            kinds=tuple(self.kinds[j] for j in keep),
            identified=tuple(self.identified[j] for j in keep),
            on_scale=tuple(self.on_scale[j] for j in keep),
        )

    def as_answered(self) -> Ratings:
        """Return the ratings with the first of repeated answers where their mean left the scale.

        An item whose mean was removed (NaN) stays without an answer.
        """
        averaged = [name in self.firsts for name in self.raters]
        if not any(averaged):
            return self
        values = self.values.copy()
        for column in np.flatnonzero(averaged):
            first = self.firsts[self.raters[column]]
            values[:, column] = np.where(np.isnan(values[:, column]), np.nan, first)
        on_scale = tuple(on or mean for on, mean in zip(self.on_scale, averaged, strict=True))
        return replace(self, values=values, on_scale=on_scale, firsts={})

    def with_values(self, values: Floats) -> Ratings:
        """Return the same raters and items with other values (items x raters)."""
        return replace(self, values=values)

    def with_column(
        self, name: str, values: Floats, kind: str = "composite", on_scale: bool = False
    ) -> Ratings:
        """Return the ratings with one more rater, derived from others or measured elsewhere."""
        return replace(
            self,
            values=np.column_stack([self.values, values]),
            raters=(*self.raters, name),
            kinds=(*self.kinds, kind),
            identified=(*self.identified, True),
            on_scale=(*self.on_scale, on_scale),
        )

    def with_weights(self, by_item: Mapping[str, float], outside: Collection[str] = ()) -> Ratings:
        """Return the same ratings with the weights of the items drawn; an item without one was not drawn.

        ``outside`` are the items that could not be drawn.
        """
        if not by_item:
            return self
        return replace(
            self,
            weights=np.array([by_item.get(item, np.nan) for item in self.items]),
            outside=np.array([item in outside for item in self.items]) if outside else None,
        )

    def could_be_drawn(self) -> npt.NDArray[np.bool_]:
        """Return which items belong to those that the rated ones were drawn from."""
        return np.ones(self.n_items, dtype=bool) if self.outside is None else ~self.outside

    @property
    def is_unequal(self) -> bool:
        """Whether the items drawn differ in weight."""
        weights = np.empty(0) if self.weights is None else self.weights[~np.isnan(self.weights)]
        return bool(weights.size) and bool(np.ptp(weights) > 0)

    def weights_of(self, rows: Ints | npt.NDArray[np.bool_] | Sequence[int]) -> Floats | None:
        """Return the weights of these items, None where each item counts once."""
        return None if self.weights is None else self.weights[rows]

    def label(self, value: float) -> str:
        """Return the label of a scale value."""
        return self.names[int(value)] if self.names else f"{value:g}"

    @staticmethod
    def from_matrix(
        values: npt.ArrayLike,
        *,
        level: Level,
        scale: Sequence[float] | None = None,
        clusters: Sequence[object] | npt.NDArray[np.generic] | None = None,
        raters: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        identified: Sequence[bool] | None = None,
        systems: Sequence[object] | npt.NDArray[np.generic] | None = None,
        positive: float | None = 1.0,
        weights: npt.ArrayLike | None = None,
    ) -> Ratings:
        """Build from an items x raters matrix. A value outside the scale rejects every statistic."""
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"ratings are items x raters, not an array of shape {matrix.shape}")
        n, k = matrix.shape
        names = tuple(raters) if raters is not None else tuple(f"r{j + 1}" for j in range(k))
        rater_kinds = tuple(kinds) if kinds is not None else ("",) * k
        on_scale = tuple(kind not in OFF_SCALE_KINDS for kind in rater_kinds)
        rated = matrix[:, list(on_scale)]
        observed = tuple(float(v) for v in np.unique(rated[np.isfinite(rated)]))
        declared_scale = tuple(sorted({float(v) for v in scale})) if scale is not None else None
        if declared_scale is None and level == "binary" and set(observed) <= {0.0, 1.0}:
            observed = (0.0, 1.0)
        return Ratings(
            values=matrix,
            level=level,
            items=tuple(str(i) for i in range(n)),
            raters=names,
            clusters=codes(clusters) if clusters is not None else np.arange(n),
            scale=declared_scale or (observed if level not in ("interval", "ratio") else None),
            kinds=rater_kinds,
            identified=tuple(identified) if identified is not None else (True,) * k,
            on_scale=on_scale,
            systems=codes(systems) if systems is not None else None,
            positive=positive,
            declared=declared_scale is not None,
            problem=_problem(matrix, observed, declared_scale, level),
            weights=None if weights is None else np.asarray(weights, np.float64),
        )


def _problem(
    matrix: Floats, observed: tuple[float, ...], scale: tuple[float, ...] | None, level: Level
) -> str:
    if level not in SCALES:
        return f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}"
    if np.isinf(matrix).any():
        return "a value is infinite"
    outside = [v for v in observed if scale is not None and v not in scale]
    if outside:
        return (
            f"value {outside[0]:g} is outside the declared scale {', '.join(f'{v:g}' for v in scale or ())}"
        )
    if level == "binary" and len(scale or observed) > 2:
        return f"a binary scale has two values, not {len(scale or observed)}"
    if level == "ratio" and observed and observed[0] < 0:
        return f"a ratio scale has no negative values such as {observed[0]:g}"
    return ""


def codes(labels: Sequence[object] | npt.NDArray[np.generic]) -> Ints:
    """Return codes 0, 1, ... in order of first appearance."""
    seen: dict[object, int] = {}
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return np.fromiter((seen.setdefault(x, len(seen)) for x in values), dtype=np.int64, count=len(labels))


# From long records to :class:`~calibration.statistics.core.data.Ratings`: a table filled row by row.
#
# Rows are kept as codes in flat arrays, so a million of them cost a few dozen megabytes.

# The scale of ratings: its values, and the conversion of answers to numbers.


@dataclass(frozen=True)
class Scale:
    """The values that may occur: ``numbers`` in order, and their ``names`` where they are categories."""

    numbers: tuple[float, ...] | None
    names: tuple[str, ...] | None
    declared: bool

    def encode(self, value: Value) -> float:
        """Return the number of a value on this scale, NaN if the value is not on it."""
        if self.names is not None:
            text = str(value)
            return float(self.names.index(text)) if text in self.names else math.nan
        number = as_number(value)
        if number is None or (self.numbers is not None and number not in self.numbers):
            return math.nan
        return number

    @property
    def expected(self) -> str:
        """Description of the accepted values, for an error message."""
        if self.names is not None:
            return f"one of {', '.join(self.names)}"
        return "a number" if self.numbers is None else f"one of {', '.join(f'{v:g}' for v in self.numbers)}"


def scale_of(
    observed: Iterable[Value], level: Level, values: Sequence[Value] | None = None, positive: Value = None
) -> Scale:
    """Return the scale: as declared, or the distinct values seen (for binary, nominal and ordinal).

    On an undeclared binary scale of numbers both 0 and 1 are included even where only one occurs; of two
    undeclared names the positive one comes last, so that a correlation rises with it. Raises RatingError
    where categories cannot serve the level.
    """
    candidates = list(values) if values is not None else list(dict.fromkeys(observed))
    numbers = [as_number(v) for v in candidates]
    if all(n is not None for n in numbers):
        distinct = {n for n in numbers if n is not None}
        if level == "binary" and values is None and distinct <= {0.0, 1.0}:
            distinct = {0.0, 1.0}
        _check_binary([f"{v:g}" for v in sorted(distinct)], level)
        continuous = values is None and level in ("interval", "ratio")
        return Scale(None if continuous else tuple(sorted(distinct)), None, values is not None)
    if level in ("interval", "ratio"):
        bad = next(v for v, n in zip(candidates, numbers, strict=True) if n is None)
        advice = _decimal_point(bad) or f", and the scale is {level}"
        raise RatingError(f"value {bad!r} is not a number{advice}", value=bad)
    if level == "ordinal" and values is None:
        bad = next(v for v, n in zip(candidates, numbers, strict=True) if n is None)
        advice = _decimal_point(bad) or ": name the ordered categories from lowest to highest (--values)"
        raise RatingError(f"value {bad!r} is not a number{advice}", value=bad)
    names = [str(v) for v in candidates]
    if len(set(names)) < len(names):
        raise RatingError("a value is declared twice", field="values")
    names = names if values is not None else sorted(names, key=lambda name: (name == str(positive), name))
    _check_binary(names, level)
    return Scale(tuple(float(i) for i in range(len(names))), tuple(names), values is not None)


def _decimal_point(value: Value) -> str:
    """Return advice for a number with a decimal comma, or an empty string."""
    text = str(value)
    return ": write it with a decimal point" if as_number(text.replace(",", ".", 1)) is not None else ""


def _check_binary(scale_labels: Sequence[str], level: Level) -> None:
    if level == "binary" and len(scale_labels) > 2:
        more = ", ..." if len(scale_labels) > 5 else ""
        raise RatingError(
            f"a binary scale has two values, not {len(scale_labels)}: {', '.join(scale_labels[:5])}{more}",
            field="scale",
        )


def ratings_from_records(
    records: Iterable[Record],
    *,
    level: Level,
    values: Sequence[Value] | None = None,
    positive: Value = 1,
    samples: Samples | None = None,
    off_scale: Collection[str] = (),
) -> Ratings:
    """Convert long records to ratings; raises RatingError naming the record at fault.

    See ``Collector.ratings`` for the options and for the records it rejects.
    """
    collector = Collector()
    for record in records:
        collector.add(record)
    return collector.ratings(
        level=level, values=values, positive=positive, samples=samples, off_scale=off_scale
    )


def default_samples(level: Level) -> Samples:
    """Default handling of repeated answers: the mean on ordered scales, else the first."""
    return "mean" if level in ORDERED else "first"


class Collector:
    """Collects records one by one and builds ratings from them."""

    def __init__(self) -> None:
        self._items: dict[str, int] = {}
        self._raters: dict[str, int] = {}
        self._values: dict[Value, int] = {}
        self._about: list[tuple[str, str, str]] = []
        self._shared: dict[tuple[str, str, str], tuple[str, str, str]] = {}
        self._rater_roles: list[tuple[str, bool]] = []
        self._rows, self._columns, self._samples, self._answers = (array("i") for _ in range(4))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def items(self) -> Iterable[str]:
        """Items, in order of appearance."""
        return self._items.keys()

    @property
    def texts(self) -> list[str]:
        """Distinct answers that are texts."""
        return [value for value in self._values if isinstance(value, str)]

    @property
    def repeated(self) -> bool:
        """Whether any rater answered more than once."""
        return any(self._samples)

    @property
    def answers(self) -> dict[str, int]:
        """Largest number of answers that each rater gave to one item: for a judge, its calls."""
        columns, samples, answers = (
            np.frombuffer(a, np.intc).astype(np.int64) for a in (self._columns, self._samples, self._answers)
        )
        present = answers >= 0
        most = int(samples.max(initial=0)) + 1
        distinct = np.unique(columns[present] * most + samples[present]) // most
        counted = np.bincount(distinct, minlength=len(self._raters))
        return dict(zip(self._raters, counted.tolist(), strict=True))

    def add(self, record: Record) -> None:
        """Add a record.

        Raises RatingError for an item in two clusters or systems, a rater of two kinds, a sample number of
        2^31 or more.
        """
        index = len(self._rows)
        if not 0 <= record.sample < 2**31:
            raise RatingError(f"sample {record.sample}: expected a whole number below 2^31", index, "sample")
        row = self._items.setdefault(record.item, len(self._items))
        about = (record.cluster or f"\0{record.item}", record.system, record.continuation)
        if record.cluster:  # the items of a cluster share one tuple: there may be millions of them
            about = self._shared.setdefault(about, about)
        if row == len(self._about):
            self._about.append(about)
        elif self._about[row] != about:
            self._clash(index, record, about, self._about[row])
        column = self._raters.setdefault(record.rater, len(self._raters))
        role = (record.kind, record.identified)
        if column == len(self._rater_roles):
            self._rater_roles.append(role)
        elif self._rater_roles[column] != role:
            field = "kind" if self._rater_roles[column][0] != record.kind else "identified"
            raise RatingError(f"rater {record.rater!r} has two different values of {field}", index, field)
        self._rows.append(row)
        self._columns.append(column)
        self._samples.append(record.sample)
        value = record.value.strip() if isinstance(record.value, str) else record.value
        missing = value is None or value == "" or value != value  # a float that is not a number
        self._answers.append(-1 if missing else self._values.setdefault(value, len(self._values)))

    def _clash(self, index: int, record: Record, stored: tuple[str, ...], other: tuple[str, ...]) -> None:
        field = next(
            f for f, a, b in zip(("cluster", "system", "continuation"), stored, other, strict=True) if a != b
        )
        raise RatingError(f"item {record.item!r} is in two different values of {field}", index, field)

    def ratings(
        self,
        *,
        level: Level,
        values: Sequence[Value] | None = None,
        positive: Value = 1,
        samples: Samples | None = None,
        off_scale: Collection[str] = (),
    ) -> Ratings:
        """Build the ratings.

        ``samples`` selects how a rater's repeated answers are handled: their mean (ordered scales; where it
        leaves the scale, agreement reads the first, see ``Ratings.firsts``), the first, or one rater each
        (``name#0``, ``name#1``). Raters named in ``off_scale``, metrics and composites answer on another
        scale; a metric that names categories answers a nominal question like any other rater. Raises
        RatingError with the index of the record at fault: a value off the scale, or a second value for the
        same item, rater and sample.
        """
        if level not in SCALES:
            raise RatingError(
                f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}", field="scale"
            )
        policy: Samples = samples or default_samples(level)
        if policy == "mean" and level not in ORDERED:
            raise RatingError(f"the mean of samples needs an ordered scale, not {level}", field="samples")
        nominal_columns = self._columns_naming_categories() if level == "nominal" else set()
        off = [
            name in off_scale or (kind in OFF_SCALE_KINDS and column not in nominal_columns)
            for column, (name, (kind, _)) in enumerate(zip(self._raters, self._rater_roles, strict=True))
        ]
        scale, numbers = self._encoded(level, values, positive, np.array(off, dtype=np.bool_))
        raw, keys = self._matrix(numbers)
        names, columns, base, firsts = self._joined(raw, keys, policy, scale, off)
        return Ratings(
            values=np.column_stack(columns) if columns else np.empty((len(self._items), 0)),
            level=level,
            items=tuple(self._items),
            raters=tuple(names),
            clusters=codes([a[0] for a in self._about]),
            scale=scale.numbers,
            names=scale.names,
            kinds=tuple(self._rater_roles[b][0] for b in base),
            identified=tuple(self._rater_roles[b][1] for b in base),
            on_scale=tuple(not (off[b] or name in firsts) for b, name in zip(base, names, strict=True)),
            systems=self._optional(1),
            system_names=tuple(dict.fromkeys(a[1] for a in self._about)),
            continuations=self._optional(2),
            positive=_number_or_none(scale, positive),
            declared=scale.declared,
            firsts=firsts,
        )

    def _columns_naming_categories(self) -> set[int]:
        """Return the columns of raters whose answers are all words: on the scale, even for metrics."""
        words = np.array([as_number(value) is None for value in self._values] + [True])
        answers, columns = np.frombuffer(self._answers, np.intc), np.frombuffer(self._columns, np.intc)
        return set(columns.tolist()) - set(columns[~words[answers]].tolist())

    def _encoded(
        self,
        level: Level,
        values: Sequence[Value] | None,
        positive: Value,
        off: npt.NDArray[np.bool_],
    ) -> tuple[Scale, Floats]:
        """Return the scale and each record's number, NaN where missing; reject values off the scale."""
        answers, columns = np.frombuffer(self._answers, np.intc), np.frombuffer(self._columns, np.intc)
        distinct = list(self._values)
        shared: list[int] = np.unique(answers[(answers >= 0) & ~off[columns]]).tolist()
        try:
            scale = scale_of([distinct[a] for a in shared], level, values, positive)
        except RatingError as error:
            if error.value is not None and error.value in self._values:
                error.index = int(np.flatnonzero(answers == self._values[error.value])[0])
            raise
        on_number = np.array([scale.encode(v) for v in distinct] + [np.nan])
        off_number = np.array([_or_nan(as_number(v)) for v in distinct] + [np.nan])
        numbers = np.where(off[columns], off_number[answers], on_number[answers])
        if level == "ratio":
            numbers = np.where(~off[columns] & (numbers < 0), np.nan, numbers)
        wrong = np.flatnonzero(np.isnan(numbers) & (answers >= 0))
        if wrong.size:
            index = int(wrong[0])
            expected = "a number" if off[columns[index]] else scale.expected
            expected += " of at least 0" if level == "ratio" and scale.numbers is None else ""
            raise RatingError(f"value {distinct[answers[index]]!r}: expected {expected}", index)
        return scale, numbers

    def _matrix(self, numbers: Floats) -> tuple[Floats, list[tuple[int, int]]]:
        """Return items x (rater, sample), rejecting two values in one cell."""
        rows, columns, samples = (
            np.frombuffer(a, np.intc) for a in (self._rows, self._columns, self._samples)
        )
        most = int(samples.max()) + 1 if samples.size else 1
        keys, where = np.unique(columns * np.int64(most) + samples, return_inverse=True)
        cells = rows * np.int64(max(1, len(keys))) + where
        index = _first_repeated(cells)
        if index is not None:
            item, rater = list(self._items)[rows[index]], list(self._raters)[columns[index]]
            message = f"a second value of rater {rater!r} for item {item!r}, sample {samples[index]}"
            raise RatingError(message, index, "item")
        raw = np.full((len(self._items), len(keys)), np.nan)
        raw.ravel()[cells] = numbers
        return raw, [(int(key) // most, int(key) % most) for key in keys]

    def _joined(
        self, raw: Floats, keys: list[tuple[int, int]], policy: Samples, scale: Scale, off: Sequence[bool]
    ) -> tuple[list[str], list[Floats], list[int], dict[str, Floats]]:
        """Return the names of raters, their values, their columns, and the first answers of means."""
        names: list[str] = []
        columns: list[Floats] = []
        base: list[int] = []
        firsts: dict[str, Floats] = {}
        for name, rater in self._raters.items():
            mine = [(sample, c) for c, (r, sample) in enumerate(keys) if r == rater]
            if policy == "separate" and len(mine) > 1:
                names += [f"{name}#{sample}" for sample, _ in mine]
                columns += [raw[:, c] for _, c in mine]
                base += [rater] * len(mine)
                continue
            block = raw[:, [c for _, c in mine]]
            several = policy == "mean" and len(mine) > 1
            joined = row_means(block) if several else _first(block)
            if several and not off[rater] and not _within(joined, scale.numbers):
                firsts[name] = _first(block)
            names.append(name)
            columns.append(joined)
            base.append(rater)
        return names, columns, base, firsts

    def _optional(self, field: int) -> Ints | None:
        labels = [a[field] for a in self._about]
        return codes(labels) if any(labels) else None


def _first_repeated(cells: Ints) -> int | None:
    """Return the position of the first cell that occurred before, or None."""
    ordered = np.sort(cells)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    _, first = np.unique(cells, return_index=True)
    again = np.ones(cells.size, dtype=np.bool_)
    again[first] = False
    return int(np.flatnonzero(again)[0])


def _number_or_none(scale: Scale, value: Value) -> float | None:
    number = scale.encode(value)
    return None if np.isnan(number) else number


def _or_nan(number: float | None) -> float:
    return np.nan if number is None else number


def _within(column: Floats, numbers: tuple[float, ...] | None) -> bool:
    return numbers is None or bool(np.isin(column[~np.isnan(column)], numbers).all())


def row_means(block: Floats) -> Floats:
    """Return the mean of each row, NaN for a row without a number."""
    counted = (~np.isnan(block)).sum(axis=1)
    return np.where(counted > 0, np.nansum(block, axis=1) / np.maximum(counted, 1), np.nan)


def _first(block: Floats) -> Floats:
    present = ~np.isnan(block)
    return np.where(present.any(axis=1), block[np.arange(len(block)), present.argmax(axis=1)], np.nan)
