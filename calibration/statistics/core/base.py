"""What a statistic is: a row of the table, with its formula and where it applies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.features import Draw
from calibration.statistics.core.result import Status
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import ORDERED, SCALES, Floats

ALL = frozenset(SCALES)
CORRELATION_LEVELS = ORDERED
MOST_CELLS = 20_000_000  # cells of all tables of one part of a draw


@dataclass(frozen=True)
class Verdict:
    """What a check found: a status with its reason, or flags on a value that stands."""

    status: Status = "ok"
    reason: str = ""
    flags: tuple[str, ...] = ()


Check = Callable[[Sample], Verdict | None]
Family = Literal[
    "Agreement of two raters",
    "All raters together",
    "Tags, person as reference",
    "Tags of two raters",
    "Correlation of two raters",
    "Standing in for a person",
]
"""What statistics are offered among, in this order."""


def in_parts(compute: Callable[[Draw], Floats]) -> Callable[[Draw], Floats]:
    """Return compute for as many rows of a draw at a time as their tables fit in memory."""

    @wraps(compute)
    def run(draw: Draw) -> Floats:
        rows = max(1, MOST_CELLS // draw.sample.table_cells)
        if len(draw.weights) <= rows:
            return compute(draw)
        starts = range(0, len(draw.weights), rows)
        return np.concatenate(
            [compute(Draw(draw.sample, draw.weights[start : start + rows])) for start in starts]
        )

    return run


@dataclass(frozen=True)
class InReports:
    """How reports word a statistic: its name in a sentence, its column's heading and its symbol, if any."""

    name: str
    heading: str
    symbol: str = ""


@dataclass(frozen=True)
class JudgeTest:
    """A figure of the test whether a judge may stand in for people, worded like a statistic."""

    key: str
    title: str
    in_reports: InReports
    source: str

    family: ClassVar[Family] = "Standing in for a person"

    @property
    def words(self) -> InReports:
        """How reports word it."""
        return self.in_reports


@dataclass(frozen=True)
class Statistic:
    """One statistic. ``compute`` returns a value per row of a draw, NaN where it is undefined.

    ``levels``: measurement levels it applies to. ``raters``: a pair or the whole panel. ``symmetric``: the
    order of the raters does not matter. ``exchangeable``: applies to unidentified raters. ``needs_scale``:
    all raters must answer on one shared scale. ``bounds``: the least and greatest value possible.
    ``checks`` say why it has no value, or what flags it; the first status that is not ok decides.
    ``used`` marks the sample's items it rests on, where that is not all of them. ``reads_singles``: items
    that a single rater rated count as well, in how often each value is used. ``library`` computes the point
    value by a library, None where that would take too much memory: it is then the value, and one that
    differs from ours is an error. ``second_opinion`` computes it by a library that takes seconds to load:
    asked where a report is verified, it stays ours. ``remark`` says what the result's method adds of this
    sample, if anything. ``in_reports`` words it in reports, where its title would be too long for a column or
    a sentence.
    """

    key: str
    title: str
    compute: Callable[[Draw], Floats]
    levels: frozenset[str] = ALL
    raters: Literal["pair", "panel"] = "pair"
    symmetric: bool = True
    exchangeable: bool = False
    needs_scale: bool = True
    bounds: tuple[float, float] = (-1.0, 1.0)
    checks: tuple[Check, ...] = ()
    source: str = ""
    used: Callable[[Sample], npt.NDArray[np.bool_]] | None = None
    reads_singles: bool = False
    library: Callable[[Sample], float | None] | None = None
    second_opinion: Callable[[Sample], float] | None = None
    remark: Callable[[Sample], str] | None = None
    in_reports: InReports | None = None

    def __post_init__(self) -> None:
        """Compute in parts where tables are large."""
        object.__setattr__(self, "compute", in_parts(self.compute))

    @property
    def words(self) -> InReports:
        """How reports word it: its title, where nothing shorter was said."""
        return self.in_reports or InReports(self.title, self.title)

    @property
    def family(self) -> Family:
        """What it is offered among."""
        if self.raters == "panel":
            return "All raters together"
        if self.levels == {"binary"}:
            return "Tags, person as reference" if not self.symmetric else "Tags of two raters"
        return "Agreement of two raters" if self.needs_scale else "Correlation of two raters"

    def applies(self, sample: Sample) -> bool:
        """Whether it makes sense for these raters and their scale."""
        ratings = sample.ratings
        if self.needs_scale:
            if ratings.level not in self.levels or not sample.on_scale:
                return False
            return ratings.scale is not None or self.key in WITHOUT_VALUES
        ordered = ratings.names is None or ratings.declared or ratings.positive is not None
        return ratings.level in self.levels or (not sample.on_scale and ratings.level == "binary" and ordered)

    def verdict(self, sample: Sample) -> Verdict:
        """Return the first check that speaks against a value, or all flags together."""
        flags: tuple[str, ...] = ()
        for check in (enough, *self.checks):
            found = check(sample)
            if found is None:
                continue
            if found.status != "ok":
                return found
            flags += found.flags
        return Verdict(flags=flags)


# Statistics of a shared scale that do not need its values listed: they read numbers or equality.
WITHOUT_VALUES = frozenset({"percent_agreement", "krippendorff_alpha"}) | {
    f"icc_{form}_{unit}" for form in (1, 2, 3) for unit in ("1", "k")
}


def enough(sample: Sample) -> Verdict | None:
    """Refuse a sample with fewer than two raters, or without an item that two of them rated."""
    if sample.ratings.problem:
        return Verdict("rejected", sample.ratings.problem)
    if sample.n_raters < 2:
        return Verdict("insufficient", "fewer than two raters")
    if sample.n_items == 0:
        if not sample.present.any():
            return Verdict("insufficient", "no ratings: every value is missing")
        return Verdict("insufficient", "no item was rated by two of the raters")
    return Verdict(flags=("one_item",)) if sample.n_items == 1 else None


def no_variation(sample: Sample) -> Verdict | None:
    """Chance-corrected agreement needs at least two different values."""
    if not sample.all_same:
        return None
    value = sample.ratings.label(float(sample.values[sample.values == sample.values][0]))
    return Verdict(
        "undefined", f"no variation: every rating is {value}; percent agreement is what can be said"
    )


def prevalence(sample: Sample) -> Verdict | None:
    """Flag a sample in which one value has 90% of the ratings or more."""
    return Verdict(flags=("prevalence",)) if sample.common_share() >= 0.9 else None


FEW_EVENTS = 30
LEAST_EVENTS = 10
"""Events below which no interval of chance-corrected agreement held the truth often enough to be given."""


def few_events(sample: Sample) -> Verdict | None:
    """Flag fewer than 30 positives in binary ratings: of either of two raters, or of a panel per rating."""
    return _few(sample, sample.values == sample.ratings.positive)


def few_of_either(sample: Sample) -> Verdict | None:
    """Flag binary ratings whose rarer class has fewer than 30, for figures that rest on both classes."""
    given = sample.values == sample.values
    positive = given & (sample.values == sample.ratings.positive)
    return _few(sample, positive) or _few(sample, given & ~positive)


def events_flags(events: float, *, corrected_for_chance: bool) -> tuple[str, ...]:
    """Return the flags of a figure that rests on so many of the rarer answer."""
    flags = ("few_events",) if events < FEW_EVENTS else ()
    return (*flags, "too_few_events") if corrected_for_chance and events < LEAST_EVENTS else flags


def too_few_of_either(sample: Sample) -> Verdict | None:
    """Flag binary ratings whose rarer class has fewer than 10: chance-corrected agreement has no interval."""
    given = sample.values == sample.values
    positive = given & (sample.values == sample.ratings.positive)
    events = min(_events(sample, positive), _events(sample, given & ~positive))
    return Verdict(flags=("too_few_events",)) if events < LEAST_EVENTS else None


def _few(sample: Sample, marked: npt.NDArray[np.bool_]) -> Verdict | None:
    return Verdict(flags=("few_events",)) if _events(sample, marked) < FEW_EVENTS else None


def _events(sample: Sample, marked: npt.NDArray[np.bool_]) -> float:
    """Return how many items are marked, by the rater who marks fewest; of a panel its marks per rating."""
    if sample.ratings.level != "binary" or sample.ratings.positive is None:
        return np.inf
    if sample.n_raters > 2:  # items' worth of marks: a crowd's mean rater has few whatever the data hold
        return float(marked.sum() / max(sample.per_item[sample.used].mean(), 1.0))
    return float(marked.sum(axis=0).min())


def constant_flag(sample: Sample) -> Verdict | None:
    """Flag a rater who gave one value throughout."""
    return Verdict(flags=("constant_rater",)) if any(sample.constant) else None


def constant_undefined(sample: Sample) -> Verdict | None:
    """Correlation-like statistics are undefined when a rater gave one value throughout."""
    for position, constant in enumerate(sample.constant):
        if constant:
            return Verdict(
                "undefined", f"{sample.name(position)} gave one value throughout", ("constant_rater",)
            )
    return None


def as_numbers(sample: Sample) -> Verdict | None:
    """Flag ordered categories read as equally spaced numbers."""
    return Verdict(flags=("treated_as_interval",)) if sample.ratings.level == "ordinal" else None
