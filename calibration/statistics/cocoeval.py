"""CoCoEval's table 7: per behaviour, how a judge's marks agree with people's.

Two policies. ``cocoeval`` repeats the paper: judge against each annotator, then the mean; recall and MCC
leave out an annotator who never marks the behaviour, kappa counts as 0 for that annotator; "Overall" joins
the behaviours end to end per annotator first. ``consistent`` (the default) gives all four figures of a row
the same annotators: one who never marks the behaviour is left out of all of them, and the row is flagged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.engine import UNEQUAL, Labels, Result, cluster_codes, events_flags, finished
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.pairwise import disagreement_weights, kappa_of, mcc_of, ratio

Policy = Literal["consistent", "cocoeval"]
POLICIES: dict[Policy, str] = {
    "consistent": "a person who never marks a behaviour is left out of all four figures of its row",
    "cocoeval": (
        "as published, a person who never marks a behaviour is left out of recall and MCC, and counts as 0 "
        "in precision and kappa"
    ),
}
"""The policies, the default first, and how each treats a person who never marks a behaviour."""
Marks = npt.NDArray[np.bool_]
FIGURES = ("precision", "recall", "mcc", "kappa")
OVERALL = "overall"


@dataclass(frozen=True)
class Row:
    """One behaviour: how often people and judge mark it, the four figures, and people with each other."""

    behaviour: str
    detected_by_people: Result
    detected_by_judge: Result
    judge: Mapping[str, Result]
    people: Mapping[str, Result]


@dataclass(frozen=True)
class TagTable:
    """Table 7 of one judge: the people compared, the number of turns, and its rows by behaviour.

    ``n_dropped`` turns were answered by some of these raters but not by all, for all behaviours. Without a
    turn to compare there are no rows, and ``reason`` explains why.
    """

    judge: str
    people: tuple[str, ...]
    behaviours: tuple[str, ...]
    policy: Policy
    n_items: int
    n_dropped: int
    rows: tuple[Row, ...] = ()
    reason: str = ""


def tables_of(
    questions: Mapping[str, Ratings], *, policies: Iterable[Policy] = POLICIES, plan: Plan | None = None
) -> tuple[TagTable, ...]:
    """Return table 7 of every identified judge with the identified people, per policy.

    ``questions`` are the ratings of each behaviour, binary, over items with the same names in all. A judge's
    table has the behaviours that it answered, and the people who answered all of these; only turns that all
    of them answered count. A judge without such a person has no table.
    """
    tables = []
    raters_of = {
        key: [*_identified_names(each, "judge"), *_identified_names(each, "panel")]
        for key, each in questions.items()
    }
    for judge in dict.fromkeys(name for names in raters_of.values() for name in names):
        own = {key: ratings for key, ratings in questions.items() if judge in raters_of[key]}
        by_question = [_identified_names(ratings, "human") for ratings in own.values()]
        people = tuple(name for name in by_question[0] if all(name in names for names in by_question))
        if not people:
            continue
        marks, clusters, weights, n_dropped = _marks_of(own, (judge, *people))
        for policy in policies:
            if not len(clusters):
                reason = f"no turn was answered for every behaviour by {judge} and by all it is compared with"
                tables.append(TagTable(judge, people, tuple(own), policy, 0, n_dropped, reason=reason))
                continue
            rows = table(
                marks[0],
                marks[1:],
                tuple(own),
                clusters.tolist(),
                policy=policy,
                plan=plan,
                weights=weights,
            )
            tables.append(TagTable(judge, people, tuple(own), policy, len(clusters), n_dropped, rows))
    return tuple(tables)


def _identified_names(ratings: Ratings, kind: str) -> list[str]:
    """Return the identified raters of a kind who answered on the question's own scale."""
    return [
        ratings.raters[column]
        for column in ratings.of_kind(kind)
        if ratings.identified[column]
        and ratings.on_scale[column]
        and not np.isnan(ratings.values[:, column]).all()
    ]


def _marks_of(
    questions: Mapping[str, Ratings], raters: Sequence[str]
) -> tuple[list[Floats], Ints, Floats | None, int]:
    """Return each rater's marks (turns x behaviours) on shared turns, clusters, weights, and turns dropped.

    There are no weights where all turns count alike, or some were not drawn.
    """
    every = list(questions.values())
    answers: dict[str, list[Floats]] = {}
    clusters: dict[str, int] = {}
    weights: dict[str, float] = {}
    for ratings in every:
        columns = [ratings.column(name) for name in raters]
        for row, item in enumerate(ratings.items):
            row_values = ratings.values[row, columns]
            if not np.isnan(row_values).all():
                marked = np.where(np.isnan(row_values), np.nan, row_values == ratings.positive)
                answers.setdefault(item, []).append(marked)
                clusters.setdefault(item, int(ratings.clusters[row]))
                if ratings.weights is not None:
                    weights.setdefault(item, float(ratings.weights[row]))
    complete = [
        item
        for item, marks in answers.items()
        if len(marks) == len(every) and not any(np.isnan(mark).any() for mark in marks)
    ]
    cube = np.array([answers[item] for item in complete]).reshape(len(complete), len(every), len(raters))
    own = np.array([clusters[item] for item in complete], dtype=np.int64)
    of_items = np.array([weights.get(item, np.nan) for item in complete])
    unequal = None if np.isnan(of_items).any() or not complete or np.ptp(of_items) == 0 else of_items
    return [cube[:, :, place] for place in range(len(raters))], own, unequal, len(answers) - len(complete)


def table(
    judge: npt.ArrayLike,
    people: Sequence[npt.ArrayLike],
    behaviours: Sequence[str],
    clusters: Labels | None = None,
    *,
    policy: Policy = "consistent",
    plan: Plan | None = None,
    weights: Floats | None = None,
) -> tuple[Row, ...]:
    """Return a row per behaviour and an overall row.

    ``judge`` and each of ``people`` are marks (turns x behaviours, 0 or 1; ValueError for anything else, also
    for a missing one: leave that turn out). Figures are shares, not percent.
    Precision, recall and the rest compare the judge with each person as reference; ``people`` compares each
    pair of people, the first as reference. ``weights`` (one per turn, above 0) are 1 / the probabilities of
    turns drawn unequally: marked turns are then numbers of the population.
    """
    plan = plan or Plan()
    matrices = [np.asarray(m, np.float64) for m in (judge, *people)]
    if not all(np.isin(m, (0, 1)).all() for m in matrices):
        raise ValueError("marks are 0 or 1; leave out turns that a rater did not mark")
    marks = [m == 1 for m in matrices]
    shape = marks[0].shape
    if any(m.shape != shape for m in marks) or len(shape) != 2 or shape[1] != len(behaviours):
        raise ValueError(f"marks are turns x {len(behaviours)} behaviours, alike for all raters")
    if not people:
        raise ValueError("the table needs at least one person")
    if not shape[0]:
        raise ValueError("the table needs at least one turn")
    units = cluster_codes(clusters, shape[0])
    tables = _Tables(marks, units, plan, policy, weights)
    return tuple(tables.row(i, name) for i, name in enumerate((*behaviours, OVERALL)))


class _Tables:
    """Joint 2 x 2 tables of every pair and behaviour, on the same resamples."""

    def __init__(
        self,
        marks: Sequence[Marks],
        units: Ints,
        plan: Plan,
        policy: Policy,
        weights: Floats | None = None,
    ) -> None:
        self.weights = weights
        self.flags = (UNEQUAL,) if weights is not None else ()
        self.marks, self.units, self.plan, self.policy = marks, units, plan, policy
        self.n_units = int(units.max()) + 1
        self.n_behaviours = marks[0].shape[1]
        self.judged = [(person, 0) for person in range(1, len(marks))]
        self.among = list(combinations(range(1, len(marks)), 2))
        pairs = self.judged + self.among
        sums = np.concatenate([self._pair(a, b) for a, b in pairs], axis=1)
        size = 4 * self.n_behaviours
        total = sums.sum(axis=0)[None, :]
        parts = [w @ sums for w in Resampling(plan, units, self.n_units).chunks()] if plan.resamples else []
        resampled_sums = np.concatenate(parts) if parts else np.empty((0, sums.shape[1]))
        self.points = {p: self._split(total[:, i * size : (i + 1) * size]) for i, p in enumerate(pairs)}
        self.resampled = {
            p: self._split(resampled_sums[:, i * size : (i + 1) * size]) for i, p in enumerate(pairs)
        }

    def _pair(self, a: int, b: int) -> Floats:
        out = np.empty((self.n_units, 4 * self.n_behaviours))
        for behaviour in range(self.n_behaviours):
            cells = 2 * self.marks[a][:, behaviour] + self.marks[b][:, behaviour]
            counted = np.bincount(self.units * 4 + cells, self.weights, minlength=4 * self.n_units)
            out[:, 4 * behaviour : 4 * behaviour + 4] = counted.reshape(-1, 4)
        return out

    def _split(self, totals: Floats) -> Floats:
        """Return tables as rows x (behaviours + overall) x 2 x 2; overall is the sum of the others."""
        each = totals.reshape(len(totals), self.n_behaviours, 2, 2)
        return np.concatenate([each, each.sum(axis=1, keepdims=True)], axis=1)

    def row(self, behaviour: int, name: str) -> Row:
        """Return the row of a behaviour, or of all joined."""
        judge = {f: self._figure(f, self.judged, behaviour) for f in FIGURES}
        people = {f: self._figure(f, self.among, behaviour) for f in FIGURES} if self.among else {}
        return Row(name, self._marked(1, behaviour), self._marked(0, behaviour), judge, people)

    def _marked(self, side: int, behaviour: int) -> Result:
        """Return how many turns the people (side 1, their mean) or the judge (side 0) marked."""
        points, replicates = (
            np.array([_marks(tables[pair][:, behaviour], side) for pair in self.judged])
            for tables in (self.points, self.resampled)
        )
        raters = len(self.judged) if side else 1
        return finished(
            "detected_by_people" if side else "detected_by_judge",
            float(points.mean()),
            replicates.mean(axis=0),
            self.plan,
            n_items=self._n_items(behaviour),
            n_clusters=self.n_units,
            n_raters=raters,
            method=f"marked turns, mean over {raters} raters" if side else "marked turns",
            flags=self.flags,
        )

    def _why(self, figure: str, pairs: Sequence[tuple[int, int]], behaviour: int) -> str:
        """Return why a figure is undefined for every pair: the first's marks, or else the second's."""
        name = figure.upper() if figure == "mcc" else figure
        pair_tables = [self.points[pair][0, behaviour] for pair in pairs]
        if all(not _marks(table[None], 1)[0] for table in pair_tables):
            return f"no {name}: no person marks the behaviour"
        if pairs is self.judged and not _marks(pair_tables[0][None], 0)[0]:
            return f"no {name}: the judge marks no turn"
        return f"no {name}: in no pair do both mark some turns and leave some out"

    def _n_items(self, behaviour: int) -> int:
        return len(self.units) * (self.n_behaviours if behaviour == self.n_behaviours else 1)

    def _figure(self, figure: str, pairs: Sequence[tuple[int, int]], behaviour: int) -> Result:
        points = np.array([_FORMULAS[figure](self.points[p][:, behaviour])[0] for p in pairs])
        replicates = np.array([_FORMULAS[figure](self.resampled[p][:, behaviour]) for p in pairs])
        if self.policy == "cocoeval":
            if figure == "kappa":
                points, replicates = np.nan_to_num(points, nan=0.0), np.nan_to_num(replicates, nan=0.0)
        else:
            marked = np.array([self.points[p][0, behaviour, 1].sum() > 0 for p in pairs])
            points, replicates = (
                np.where(marked, points, np.nan),
                np.where(marked[:, None], replicates, np.nan),
            )
        n_dropped = int(np.isnan(points).sum())
        return finished(
            figure,
            _mean(points[:, None])[0],
            _mean(replicates),
            self.plan,
            n_items=self._n_items(behaviour),
            n_clusters=self.n_units,
            n_raters=len({r for p in pairs for r in p}),
            method=f"policy {self.policy}, mean over {len(points) - n_dropped} of {len(points)} pairs",
            flags=self.flags
            + (("dropped_raters",) if n_dropped else ())
            + self._rare(figure, pairs, behaviour),
            undefined=self._why(figure, pairs, behaviour),
        )

    def _rare(self, figure: str, pairs: Sequence[tuple[int, int]], behaviour: int) -> tuple[str, ...]:
        """Return the flags of few marks, by the rater of each pair who gave fewest of the rarer answer."""
        tables = np.array([self.points[p][0, behaviour] for p in pairs])
        rarer = np.minimum(tables.sum(axis=1), tables.sum(axis=2)).min(axis=1)
        return events_flags(float(rarer.mean()), corrected_for_chance=figure in ("mcc", "kappa"))


def _mean(values: Floats) -> Floats:
    """Mean over pairs (rows) of the defined values; NaN where none is."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    return np.where(n > 0, np.where(defined, values, 0).sum(axis=0) / np.maximum(n, 1), np.nan)


def _marks(tables: Floats, side: int) -> Floats:
    """Return per table how many turns the second rater (side 0) or the first (side 1) marked."""
    return tables[:, 1, :].sum(axis=1) if side else tables[:, :, 1].sum(axis=1)


_FORMULAS: dict[str, Callable[[Floats], Floats]] = {
    "precision": lambda t: ratio(t[:, 1, 1], t[:, 1, 1] + t[:, 0, 1]),
    "recall": lambda t: ratio(t[:, 1, 1], t[:, 1, 1] + t[:, 1, 0]),
    "mcc": mcc_of,
    "kappa": lambda t: kappa_of(t, disagreement_weights(2, "unweighted")),
}
