"""Scores at turn, dialogue and system level: units, means, and items shared by a row and its reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from calibration.statistics.core.engine import Result, estimates, result_of
from calibration.statistics.core.ratings import Floats, Ints, Ratings, codes
from calibration.statistics.core.resampling import Plan, Resampling, Scheme, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.permutation import Correlation
from calibration.statistics.table import STATISTICS

# Input of correlations at levels: units, the items rated in them, and the scores of a reference and of rows.
#
# A unit is what a score of a dialogue belongs to: a continuation, or a system's answer to a dialogue. Turn
# items and dialogue items lie in the same units, so that scores of turns can be compared with labels of whole
# dialogues.

Level = Literal["turn", "dialogue", "system"]
Kind = Literal["turn", "dialogue"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue", "system")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Units:
    """The units, in order: codes from 0 of each one's dialogue, cluster and system, and their names.

    A cluster holds one dialogue or several that share material; clusters are resampled.
    """

    dialogues: Ints
    clusters: Ints
    systems: Ints
    dialogue_names: tuple[str, ...]
    system_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Reject codes of different lengths, or without a name."""
        if not len(self.dialogues) == len(self.clusters) == len(self.systems):
            raise ValueError("every unit has one dialogue, one cluster and one system")
        for numbers, names, noun in (
            (self.dialogues, self.dialogue_names, "dialogue"),
            (self.systems, self.system_names, "system"),
        ):
            if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(names):
                raise ValueError(f"{len(names)} {noun} names for codes up to {int(numbers.max())}")

    @staticmethod
    def of(dialogues: Sequence[str], clusters: Sequence[str], systems: Sequence[str]) -> Units:
        """Number the dialogue, the cluster and the system of each unit in the order of their appearance."""
        names = tuple(dict.fromkeys(dialogues)), tuple(dict.fromkeys(systems))
        return Units(codes(dialogues), codes(clusters), codes(systems), *names)

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.dialogues)

    def take(self, mask: Mask) -> Units:
        """Return some of the units, with the same names and codes."""
        return replace(
            self,
            dialogues=self.dialogues[mask],
            clusters=self.clusters[mask],
            systems=self.systems[mask],
        )


@dataclass(frozen=True)
class Frame:
    """The items of one kind: each one's unit, and its position there (turn 0, 1, ...; 0 for a dialogue item).

    A unit's expected turns are those of the frame, rated or not: a turn without a value counts as missing.
    """

    kind: Kind
    units: Ints
    positions: Ints

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.units)


@dataclass(frozen=True)
class Scores:
    """One side's values of the items of the frame of this kind, NaN where it has none.

    `kind` is the rater's (human, judge, metric, composite). `group` is the group whose best is underlined,
    such as a model; empty for none. Rows of people are not marked as best.
    """

    name: str
    frame: Kind
    values: Floats
    kind: str = ""
    group: str = ""

    @staticmethod
    def of_people(name: str, frame: Kind, values: Floats) -> Scores:
        """Return the mean over the people who answered each item; ``values`` is items x people."""
        present = ~np.isnan(values)
        counted = present.sum(axis=1)
        total = np.where(present, values, 0.0).sum(axis=1)
        return Scores(name, frame, np.where(counted > 0, total / np.maximum(counted, 1), np.nan), "human")


@dataclass(frozen=True)
class Scored:
    """All input of a table of levels. ``turns`` or ``dialogues`` is None where no side has such items."""

    units: Units
    reference: Scores
    rows: tuple[Scores, ...]
    turns: Frame | None = None
    dialogues: Frame | None = None

    def __post_init__(self) -> None:
        """Reject scores without a frame, or with other items than it has."""
        for side in (self.reference, *self.rows):
            if len(side.values) != len(self.frame(side.frame)):
                raise ValueError(
                    f"{side.name}: {len(side.values)} values for {len(self.frame(side.frame))} items"
                )

    def frame(self, kind: Kind) -> Frame:
        """Return the frame of turn items or of dialogue items. Raises ValueError where there is none."""
        frame = self.turns if kind == "turn" else self.dialogues
        if frame is None:
            raise ValueError(f"there are no {kind} items")
        return frame

    def take(self, mask: Mask) -> Scored:
        """Restrict items and scores to the units of a mask, for example those with static turns only."""
        number = np.cumsum(mask) - 1
        keep: dict[Kind, Mask] = {}
        frames: dict[str, Frame | None] = {"turns": self.turns, "dialogues": self.dialogues}
        for name, frame in frames.items():
            if frame is not None:
                keep[frame.kind] = mask[frame.units]
                units = number[frame.units[keep[frame.kind]]]
                frames[name] = replace(frame, units=units, positions=frame.positions[keep[frame.kind]])

        def masked(side: Scores) -> Scores:
            return replace(side, values=side.values[keep[side.frame]])

        return Scored(
            self.units.take(mask),
            masked(self.reference),
            tuple(masked(row) for row in self.rows),
            frames["turns"],
            frames["dialogues"],
        )

    def joined(self) -> Scored:
        """Return the same scores with one unit per dialogue and system: a system's continuations are joined.

        The turns of a later continuation follow those of an earlier one.
        """
        width = len(self.units.system_names)
        pairs = self.units.dialogues * width + self.units.systems
        _, first, unit = np.unique(pairs, return_index=True, return_inverse=True)
        unit = unit.ravel()
        first_of_pair = np.zeros(len(pairs), dtype=bool)
        first_of_pair[first] = True
        order = np.argsort(np.argsort(first))
        return replace(
            self,
            units=self.units.take(first_of_pair),
            turns=_joined(self.turns, order[unit]),
            dialogues=_joined(self.dialogues, order[unit]),
        )


def _joined(frame: Frame | None, unit: Ints) -> Frame | None:
    """Return the frame with its units joined: positions count on from one old unit to the next."""
    if frame is None:
        return None
    new = unit[frame.units]
    order = np.lexsort((frame.positions, frame.units, new))
    starts = np.flatnonzero(np.diff(new[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return replace(frame, units=new, positions=positions)


# Scores of units and systems: means of the scores of items, with ties kept as ties.

EQUAL = 1e-12
"""Means closer than this, relative to the largest, are equal: their orders of addition differ."""


def means(values: Floats, groups: Ints, n: int) -> Floats:
    """Return the mean of the values in each of n groups, ties kept; NaN where a group has none."""
    present = ~np.isnan(values)
    counted = np.bincount(groups[present], minlength=n)
    total = np.bincount(groups[present], weights=values[present], minlength=n)
    return tied(np.where(counted > 0, total / np.maximum(counted, 1), np.nan))


def tied(values: Floats) -> Floats:
    """Return the values with those that differ only by rounding made equal, to the lowest of them."""
    out = values.copy()
    present = np.flatnonzero(~np.isnan(values))
    if len(present) < 2:
        return out
    ordered = present[np.argsort(values[present], kind="stable")]
    sorted_values = values[ordered]
    tolerance = EQUAL * float(np.abs(sorted_values).max())
    first = np.concatenate([[True], np.diff(sorted_values) > tolerance])
    out[ordered] = sorted_values[first][np.cumsum(first) - 1]
    return out


# Systems and the dialogues that they answered.


def on_shared_dialogues(scored: Scored) -> Scored:
    """Restrict to the dialogues that all systems answered. Raises ValueError where there is none."""
    is_shared = shared_dialogues(scored.units)
    if not is_shared.any():
        raise ValueError("no dialogue was answered by all systems: compare the systems on all they answered")
    return scored.take(is_shared[scored.units.dialogues])


def answered(units: Units) -> Mask:
    """Return which systems (rows) answered which dialogues (columns)."""
    has_answer = np.zeros((len(units.system_names), len(units.dialogue_names)), dtype=bool)
    has_answer[units.systems, units.dialogues] = True
    return has_answer


def shared_dialogues(units: Units) -> Mask:
    """Return which dialogues were answered by all systems that answered any."""
    has_answer = answered(units)
    present = has_answer[has_answer.any(axis=1)]
    return np.asarray(present.all(axis=0)) if len(present) else np.zeros(has_answer.shape[1], dtype=bool)


def systems_apart(units: Units) -> tuple[str, ...]:
    """Return the systems that answered other dialogues than the usual ones, in the order of their codes.

    The usual set is the one that most systems answered; of several equally common ones the largest.
    """
    has_answer = answered(units)
    present = np.flatnonzero(has_answer.any(axis=1))
    sets, which, counted = np.unique(has_answer[present], axis=0, return_inverse=True, return_counts=True)
    if len(sets) < 2:
        return ()
    usual = max(range(len(sets)), key=lambda at: (counted[at], sets[at].sum()))
    return tuple(units.system_names[system] for system in present[which.ravel() != usual])


# Ratings of continuations or systems from ratings of their items: each rater's means.

Unit = Literal["continuation", "system"]


def aggregate(ratings: Ratings, unit: Unit) -> Ratings:
    """Return one item per continuation or system, each rater's mean over its items there.

    A continuation stays in its dialogue's cluster; a system is a cluster of its own. Raises ValueError where
    the ratings do not assign items to them, and for categories, which have no mean.
    """
    if ratings.level == "nominal":
        raise ValueError(f"categories have no mean over a {unit}: aggregate numbers, or 0 and 1 per category")
    groups = ratings.continuations if unit == "continuation" else ratings.systems
    if groups is None:
        raise ValueError(f"the ratings do not name the {unit} of each item")
    if ratings.is_unequal:
        raise ValueError(f"means over a {unit} are not defined for items drawn with unequal probabilities")
    n = int(groups.max()) + 1
    values = np.column_stack([means(ratings.values[:, j], groups, n) for j in range(len(ratings.raters))])
    first = np.zeros(n, np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    clusters = ratings.clusters[first] if unit == "continuation" else np.arange(n)
    return replace(
        ratings,
        values=values,
        level="interval" if ratings.level != "ratio" else "ratio",
        items=tuple(str(i) for i in range(n)),
        clusters=np.unique(clusters, return_inverse=True)[1].ravel(),
        scale=None,
        names=None,
        on_scale=(False,) * len(ratings.raters),
        firsts={},
        systems=ratings.systems[first] if ratings.systems is not None else None,
        continuations=None,
        weights=None,
    )


# Where turns and whole dialogues disagree: the order of systems within each dialogue, by two scores.


@dataclass(frozen=True)
class Placed:
    """A unit with both scores: its rank in its dialogue by each (1 is best, ties share the mean rank).

    ``unit`` is its index among the units.
    """

    unit: int
    by_turns: float
    by_whole: float
    rank_by_turns: float
    rank_by_whole: float

    @property
    def difference(self) -> float:
        """The score of the whole minus the mean of the turns."""
        return self.by_whole - self.by_turns

    @property
    def moved(self) -> float:
        """Ranks gained by the score of the whole: above 0 where it places the unit better than turns do."""
        return self.rank_by_turns - self.rank_by_whole


@dataclass(frozen=True)
class Inversions:
    """A dialogue's number of unit pairs that the two scores order differently; tied by one only: a half."""

    dialogue: str
    n_units: int
    inversions: float
    pairs: int

    @property
    def share(self) -> float | None:
        """Share of all pairs; None for a dialogue with fewer than two units."""
        return self.inversions / self.pairs if self.pairs else None


def turns_and_whole(
    units: Units, by_turns: Floats, by_whole: Floats
) -> tuple[tuple[Placed, ...], tuple[Inversions, ...]]:
    """Return the units with both scores, those that moved most first, and each dialogue's inversions.

    ``by_turns`` and ``by_whole`` hold a score per unit, NaN where there is none. Dialogues come in the order
    of their codes, those without a unit with both scores left out.
    """
    both = ~np.isnan(by_turns) & ~np.isnan(by_whole)
    placed: list[Placed] = []
    inversions: list[Inversions] = []
    for dialogue in np.unique(units.dialogues[both]):
        own = np.flatnonzero(both & (units.dialogues == dialogue))
        turns, dialogue_scores = tied(by_turns[own]), tied(by_whole[own])
        ranks = scipy.stats.rankdata(-turns), scipy.stats.rankdata(-dialogue_scores)
        placed += [
            Placed(int(unit), float(x), float(y), float(turn_rank), float(dialogue_rank))
            for unit, x, y, turn_rank, dialogue_rank in zip(
                own, by_turns[own], by_whole[own], *ranks, strict=True
            )
        ]
        name = units.dialogue_names[int(dialogue)]
        pairs = len(own) * (len(own) - 1) // 2
        inversions.append(Inversions(name, len(own), _inverted(turns, dialogue_scores), pairs))
    return tuple(sorted(placed, key=lambda unit: -abs(unit.moved))), tuple(inversions)


def _inverted(first: Floats, second: Floats) -> float:
    """Count discordant pairs: 1 where the orders are opposite, a half where only one is tied."""
    orders = [np.sign(values[:, None] - values[None, :]) for values in (first, second)]
    return float(np.abs(orders[0] - orders[1]).sum() / 4)


# Scores of a row and the reference that are compared, at each level.

Missing = Literal["skip", "whole"]
SystemScore = Literal["all_turns", "mean_of_dialogues"]


@dataclass(frozen=True)
class LeftOut:
    """Numbers of turns and continuations with a score on either side: those left out, and the totals.

    Turns are 0 of 0 where neither side rated turns.
    """

    turns: int
    of_turns: int
    units: int
    of_units: int

    @property
    def share_of_turns(self) -> float | None:
        """Between 0 and 1; None where there are no turns."""
        return self.turns / self.of_turns if self.of_turns else None

    @property
    def share_of_units(self) -> float | None:
        """Between 0 and 1; None where there are no continuations."""
        return self.units / self.of_units if self.of_units else None


@dataclass(frozen=True)
class Side:
    """One side's scores that count: per item of its frame, NaN where left out, and per unit."""

    frame: Frame
    items: Floats
    units: Floats

    @property
    def present(self) -> Mask:
        """The items that count."""
        return ~np.isnan(self.items)


@dataclass(frozen=True)
class Pair:
    """The reference (x) and a row (y), with the items left out of both."""

    x: Side
    y: Side
    left_out: LeftOut

    @property
    def same_items(self) -> bool:
        """Whether both sides rated items of the same kind, so that they are paired item by item."""
        return self.x.frame is self.y.frame


def paired(scored: Scored, row: Scores, missing: Missing) -> Pair:
    """Return the scores of a row and of the reference that are compared.

    Where both rated the same kind of items, those that both have a value for; where one side rated turns and
    the other whole dialogues, each side's own. With `whole`, units with a missing turn are left out of both.
    """
    n = len(scored.units)
    frames = scored.frame(scored.reference.frame), scored.frame(row.frame)
    counted = [~np.isnan(scored.reference.values), ~np.isnan(row.values)]
    if frames[0] is frames[1]:
        counted = [counted[0] & counted[1]] * 2
    if missing == "whole":
        complete = np.ones(n, dtype=bool)
        for frame, is_counted in zip(frames, counted, strict=True):
            if frame.kind == "turn":
                complete &= _complete(frame, is_counted, n)
        counted = [
            is_counted & complete[frame.units] for frame, is_counted in zip(frames, counted, strict=True)
        ]
    x, y = (
        _side(frame, side.values, is_counted, n)
        for frame, side, is_counted in zip(frames, (scored.reference, row), counted, strict=True)
    )
    return Pair(x, y, _left_out(scored, row, x, y))


def _side(frame: Frame, values: Floats, counted: Mask, n: int) -> Side:
    items = tied(np.where(counted, values, np.nan))
    return Side(frame, items, means(items, frame.units, n))


def _complete(frame: Frame, counted: Mask, n: int) -> Mask:
    """Return the units that have items in the frame, all of them given."""
    expected = np.bincount(frame.units, minlength=n)
    return (expected > 0) & (np.bincount(frame.units[counted], minlength=n) == expected)


def _left_out(scored: Scored, row: Scores, x: Side, y: Side) -> LeftOut:
    """Count over the units that either side has a value in."""
    n = len(scored.units)
    touched = np.zeros(n, dtype=bool)
    for frame, values in ((x.frame, scored.reference.values), (y.frame, row.values)):
        touched[frame.units[~np.isnan(values)]] = True
    used = ~np.isnan(x.units) & ~np.isnan(y.units)
    turns = of_turns = 0
    sides = (x, y) if x.frame is not y.frame else (x,)
    for side in sides:
        if side.frame.kind == "turn":
            of_turns = int(touched[side.frame.units].sum())
            turns = of_turns - int(side.present.sum())
    return LeftOut(turns, of_turns, int((touched & ~used).sum()), int(touched.sum()))


# Correlation of items and of continuations: points, and intervals that draw dialogues and systems.

LEAST_CROSSED = 10
"""Fewest clusters, and systems, for drawing both; with fewer of either, clusters alone are drawn."""


@dataclass
class Draws:
    """The resamples of units and items, drawn once for all rows of a table."""

    units: Units
    plan: Plan
    _resamplings: dict[tuple[Scheme, bytes], Resampling] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, scheme: Scheme, units: Ints) -> Resampling:
        """Return the resamples of items in these units."""
        key = scheme, units.tobytes()
        with self._lock:
            if key not in self._resamplings:
                ratings = self.ratings(np.empty((len(units), 0)), units, ())
                self._resamplings[key] = resampling_of(ratings, self.plan_of(scheme))
                for _ in self._resamplings[key].chunks():  # drawn and kept before rows read them in parallel
                    pass
            return self._resamplings[key]

    def plan_of(self, scheme: Scheme) -> Plan:
        """Return the plan with this scheme; BCa needs one kind of unit, so that crossed is percentile."""
        interval = "percentile" if scheme == "crossed" else self.plan.interval
        return replace(self.plan, scheme=scheme, interval=interval)

    def ratings(self, values: Floats, units: Ints, raters: tuple[str, ...]) -> Ratings:
        """Return values (items x raters) of items in these units, as ratings."""
        ratings = Ratings.from_matrix(
            values, level="interval", raters=raters, kinds=("metric",) * len(raters)
        )  # of no shared scale: the two sides are compared by correlation alone
        return replace(ratings, clusters=self.units.clusters[units], systems=self.units.systems[units])


def correlations(
    scored: Scored,
    pair: Pair,
    names: tuple[str, str],
    by_item: bool,
    keys: Sequence[Correlation],
    draws: Draws,
) -> list[Result]:
    """Return the correlations over items that both rated, or over the units in which both have a score."""
    if by_item:
        x, y, units = pair.x.items, pair.y.items, pair.x.frame.units
        n_missing = pair.left_out.turns if pair.x.frame.kind == "turn" else pair.left_out.units
    else:
        x, y, units = pair.x.units, pair.y.units, np.arange(len(scored.units))
        n_missing = pair.left_out.units
    both = ~np.isnan(x) & ~np.isnan(y)
    scheme = scheme_of(scored.units, units[both])
    resampling = draws.of(scheme, units)
    ratings = draws.ratings(np.column_stack([x, y]), units, names)
    sample = Sample(ratings, (0, 1), resampling)
    computed = estimates(sample, [STATISTICS[key] for key in keys], resampling)
    return [
        replace(result_of(estimate, sample, resampling.plan), n_missing=n_missing) for estimate in computed
    ]


def scheme_of(units: Units, used: Ints) -> Scheme:
    """Resampling scheme: clusters and systems where there are enough of both, else clusters."""
    least = min(len(np.unique(codes[used])) for codes in (units.clusters, units.systems))
    return "crossed" if least >= LEAST_CROSSED else "clusters"
