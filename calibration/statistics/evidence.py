"""Agreement in evidence: how far raters with the same answer point at the same turns and words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import sparse

from calibration.statistics.core.engine import Counts, Result, finished, resampled
from calibration.statistics.core.ratings import Floats, Ints, codes
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.sets import MOST_SETS, alpha_of_sets, masi_distances

# The parts of evidence, and the similarity of two such sets.
#
# Sources: Dice (1945), the F1 by which rationales are compared (DeYoung et al. 2020, ERASER); Jaccard (1912);
# MASI (Passonneau 2006); overlap of spans as in SQuAD (Rajpurkar et al. 2016), by characters, so that
# languages without spaces between words are treated like others.


@dataclass(frozen=True, slots=True)
class Stretch:
    """The characters of a turn from `start` to `end` (excluded). A whole turn is all of its characters.

    `turn` counts back from the rated turn (0 is that turn, 1 the one before), or from the beginning where a
    whole dialogue is rated: so a number has the same meaning for all items.
    """

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pointing:
    """One answer with its evidence; no stretches where it points nowhere.

    `item`, `rater` and `cluster` are names; `kind` is that of the rater.
    """

    item: str
    rater: str
    answer: float | str
    stretches: tuple[Stretch, ...]
    cluster: str
    kind: str = "human"

    @property
    def turns(self) -> frozenset[int]:
        """The turns it points at."""
        return frozenset(stretch.turn for stretch in self.stretches)


def dice(first: Set[int], second: Set[int]) -> float:
    """2 |A and B| / (|A| + |B|): the F1 of either set against the other. ValueError where both are empty."""
    _some(first, second)
    return 2 * len(first & second) / (len(first) + len(second))


def jaccard(first: Set[int], second: Set[int]) -> float:
    """|A and B| / |A or B|. Raises ValueError where both are empty."""
    _some(first, second)
    return len(first & second) / len(first | second)


def span_f1(first: Iterable[Stretch], second: Iterable[Stretch]) -> float:
    """2 |A and B| / (|A| + |B|) of the characters pointed at, each counted once.

    Raises ValueError where both are empty.
    """
    ours, theirs = _merged(first), _merged(second)
    total = _length(ours) + _length(theirs)
    if not total:
        raise ValueError("neither points at anything")
    shared = sum(_shared(ours[turn], theirs[turn]) for turn in ours.keys() & theirs.keys())
    return 2 * shared / total


Pieces = list[tuple[int, int]]


def _some(first: Collection[int], second: Collection[int]) -> None:
    if not first and not second:
        raise ValueError("neither points at anything")


def _merged(stretches: Iterable[Stretch]) -> dict[int, Pieces]:
    """Return the characters of each turn as pieces that do not overlap, in order."""
    pieces_of_turn: dict[int, Pieces] = defaultdict(list)
    for stretch in sorted(stretches, key=lambda s: (s.turn, s.start, s.end)):
        pieces = pieces_of_turn[stretch.turn]
        if pieces and stretch.start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], stretch.end))
        else:
            pieces.append((stretch.start, stretch.end))
    return pieces_of_turn


def _length(pieces: dict[int, Pieces]) -> int:
    return sum(end - start for some in pieces.values() for start, end in some)


def _shared(ours: Pieces, theirs: Pieces) -> int:
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)


# Figures of evidence: how far do raters with the same answer point at the same place?
#
# A unit is an item with one answer to it, so that only raters who agree on the answer are compared. An answer
# without evidence says nothing about the place: it is left out, and `evidence_pointed` reports how many have
# evidence. Each unit counts once in the means, however many raters it has.

# Krippendorff's alpha over sets of turns, with the MASI distance (Passonneau 2006).
#
# alpha = 1 - (n - 1) D / E over the n sets of units with two or more: D adds up, over units, the distances of
# its pairs of sets divided by their number minus 1, E all distances of two of the n sets. Two sets are the
# same where they hold the same turns as counted by `Stretch`, so chance is that of pointing at the same
# places.


def set_alpha(units: Sequence[Sequence[frozenset[int]]], clusters: Ints, plan: Plan) -> tuple[float, Floats]:
    """Return alpha of units with two sets or more, and alpha of each resample of their clusters.

    ``clusters`` has a code from 0 per unit. NaN where all sets are the same. Raises ValueError for more than
    `MOST_SETS` distinct sets.
    """
    codes = {turn_set: at for at, turn_set in enumerate(dict.fromkeys(s for unit in units for s in unit))}
    if not codes:
        return float("nan"), np.empty(0)
    if len(codes) > MOST_SETS:
        raise ValueError(f"{len(codes):,} different sets of turns: at most {MOST_SETS:,} are compared")
    distances = masi_distances(list(codes))
    n_clusters = int(clusters.max()) + 1
    observed = np.zeros(n_clusters)
    rows, columns = [], []
    for unit, cluster in zip(units, clusters.tolist(), strict=True):
        unit_codes = np.array([codes[turn_set] for turn_set in unit])
        observed[cluster] += distances[np.ix_(unit_codes, unit_codes)].sum() / (len(unit_codes) - 1)
        rows += [cluster] * len(unit_codes)
        columns += unit_codes.tolist()
    shape = (n_clusters, len(codes))
    used = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)

    def alpha(weights: Floats) -> Floats:
        return alpha_of_sets(weights @ observed, np.asarray((used.T @ weights.T).T), distances)

    point = alpha(np.ones((1, n_clusters)))
    chunks = Resampling(plan, np.arange(n_clusters), n_clusters).chunks()
    resampled_alphas = [alpha(part) for part in _in_parts(chunks, len(codes))]
    return float(point[0]), np.concatenate(resampled_alphas) if resampled_alphas else np.empty(0)


def _in_parts(chunks: Iterable[Floats], columns: int) -> Iterator[Floats]:
    """Yield weights in parts whose tables of sets stay small."""
    rows = max(1, 4_000_000 // columns)
    for weights in chunks:
        for start in range(0, len(weights), rows):
            yield weights[start : start + rows]


Asks = Literal["turns", "spans"]
"""Kind of evidence that a question requests: whole turns, or words in them."""
PEOPLE, ALL = "human", "all"


@dataclass(frozen=True, slots=True)
class Described:
    """A figure: its title, column heading, source, and where it applies."""

    title: str
    heading: str
    source: str
    applies: tuple[Asks, ...] = ("turns", "spans")


FIGURES: dict[str, Described] = {
    "evidence_pointed": Described("Share of answers that point at something", "Pointed", "counted"),
    "evidence_f1": Described(
        "Same turns, F1 of two raters", "Turns F1", "Dice (1945); DeYoung et al. (2020)"
    ),
    "evidence_jaccard": Described("Same turns, intersection over union", "Turns IoU", "Jaccard (1912)"),
    "evidence_alpha": Described(
        "Krippendorff's alpha over sets of turns, MASI distance",
        "α (MASI)",
        "Krippendorff (2011); Passonneau (2006)",
    ),
    "evidence_span_f1": Described(
        "Same characters, F1 of two raters", "Characters F1", "Rajpurkar et al. (2016)", ("spans",)
    ),
}
"""The figures, in order. All are symmetric and treat raters as exchangeable."""
ALIKE: dict[str, Callable[[Pointing, Pointing], float]] = {
    "evidence_f1": lambda first, second: dice(first.turns, second.turns),
    "evidence_jaccard": lambda first, second: jaccard(first.turns, second.turns),
    "evidence_span_f1": lambda first, second: span_f1(first.stretches, second.stretches),
}
NOBODY = "nobody pointed at anything"
NO_PAIR = "no two of these raters who gave the same answer both point at something"
ALL_SAME = "no variation: all point at the same turns; read the share in common instead"


@dataclass(frozen=True)
class Overlap:
    """Figures of people with each other, all raters with each other, or one other rater with people.

    `name` is that other rater's, otherwise ''; `kind` is its kind, or otherwise that of people, or `ALL`.
    """

    name: str
    kind: str
    raters: tuple[str, ...]
    figures: tuple[Result, ...]


def overlaps(pointings: Iterable[Pointing], asks: Asks, plan: Plan) -> list[Overlap]:
    """Return the figures of all people together, then of every other rater with people.

    Where fewer than two people answered, all raters are together instead. Empty where only one rater
    answered.
    """
    all_pointings = list(pointings)
    kinds = {pointing.rater: pointing.kind for pointing in all_pointings}
    if len(kinds) < 2:
        return []
    people = {name for name, kind in kinds.items() if kind == PEOPLE}
    if len(people) < 2:
        return [_overlap("", ALL, all_pointings, _everyone, asks, plan)]
    figures = [
        _overlap(
            "",
            PEOPLE,
            [pointing for pointing in all_pointings if pointing.rater in people],
            _everyone,
            asks,
            plan,
        )
    ]
    for name in sorted(kinds.keys() - people):
        among = [pointing for pointing in all_pointings if pointing.rater in people or pointing.rater == name]
        figures.append(_overlap(name, kinds[name], among, _with(name), asks, plan))
    return figures


Meets = Callable[[Pointing, Pointing], bool]


def _everyone(first: Pointing, second: Pointing) -> bool:
    return True


def _with(name: str) -> Meets:
    return lambda first, second: name in (first.rater, second.rater)


def _overlap(
    name: str, kind: str, group: Sequence[Pointing], meets: Meets, asks: Asks, plan: Plan
) -> Overlap:
    raters = tuple(sorted({pointing.rater for pointing in group}, key=lambda rater: (rater != name, rater)))
    own_pointings = [pointing for pointing in group if not name or pointing.rater == name]
    units = _units(group)
    figures = [_pointed(own_pointings, plan)]
    for key, described in FIGURES.items():
        if asks not in described.applies:
            continue
        if key in ALIKE:
            figures.append(_mean(key, units, meets, group, plan))
        elif key == "evidence_alpha" and not name:
            figures.append(_alpha(units, group, plan))
    return Overlap(name, kind, raters, tuple(figures))


def _units(pointings: Iterable[Pointing]) -> list[list[Pointing]]:
    """Return, per item and answer, the answers that have evidence."""
    by_answer: dict[tuple[str, float | str], list[Pointing]] = defaultdict(list)
    for pointing in pointings:
        if pointing.stretches:
            by_answer[pointing.item, pointing.answer].append(pointing)
    return list(by_answer.values())


def _counts(units: Sequence[Sequence[Pointing]], pointings: Sequence[Pointing]) -> Counts:
    used = [pointing for unit in units for pointing in unit]
    return {
        "n_items": len({pointing.item for pointing in used}),
        "n_clusters": len({pointing.cluster for pointing in used}),
        "n_raters": len({pointing.rater for pointing in used}),
        "n_missing": sum(not pointing.stretches for pointing in pointings),
    }


def _pointed(pointings: Sequence[Pointing], plan: Plan) -> Result:
    units = codes([pointing.cluster for pointing in pointings])
    rows = np.array([[float(bool(pointing.stretches)), 1.0] for pointing in pointings])
    point, replicates = resampled(units, rows, lambda sums: sums[:, 0] / sums[:, 1], plan)
    counts = _counts([pointings], pointings) | {"n_missing": 0}
    return finished("evidence_pointed", point, replicates, plan, **counts)


def _mean(
    key: str, units: Sequence[list[Pointing]], meets: Meets, pointings: Sequence[Pointing], plan: Plan
) -> Result:
    """Return the mean over units of the mean over their pairs."""
    alike, used_units = [], []
    for unit in units:
        values = [ALIKE[key](*pair) for pair in combinations(unit, 2) if meets(*pair)]
        if values:
            alike.append(sum(values) / len(values))
            used_units.append(unit)
    method = "mean over items, of pairs who gave the same answer"
    if not used_units:
        return _none(key, pointings, method)
    rows = np.column_stack([alike, np.ones(len(alike))])
    clusters = codes([unit[0].cluster for unit in used_units])
    point, replicates = resampled(clusters, rows, lambda sums: sums[:, 0] / sums[:, 1], plan)
    return finished(
        key,
        point,
        replicates,
        plan,
        method=method,
        flags=_one_item_flags(used_units),
        **_counts(used_units, pointings),
    )


def _alpha(units: Sequence[list[Pointing]], pointings: Sequence[Pointing], plan: Plan) -> Result:
    key, method = "evidence_alpha", "MASI distance, of those who gave the same answer"
    shared_units = [unit for unit in units if len(unit) > 1]
    if not shared_units:
        return _none(key, pointings, method)
    clusters = codes([unit[0].cluster for unit in shared_units])
    counts = _counts(shared_units, pointings)
    try:
        point, replicates = set_alpha(
            [[pointing.turns for pointing in unit] for unit in shared_units], clusters, plan
        )
    except ValueError as error:
        return Result(key, status="rejected", reason=str(error), method=method, **counts)
    description = {"method": method, "flags": _one_item_flags(shared_units), "undefined": ALL_SAME}
    return finished(key, point, replicates, plan, **description, **counts)  # type: ignore[arg-type]


def _none(key: str, pointings: Sequence[Pointing], method: str) -> Result:
    reason = NO_PAIR if any(pointing.stretches for pointing in pointings) else NOBODY
    return Result(key, status="insufficient", reason=reason, method=method, **_counts([], pointings))


def _one_item_flags(units: Sequence[Sequence[Pointing]]) -> tuple[str, ...]:
    return ("one_item",) if len({unit[0].item for unit in units}) == 1 else ()
