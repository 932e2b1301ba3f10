"""Strengths of systems from pairs and rankings: votes as games, win rates and fitted strengths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit

from calibration.statistics.core.engine import Counts, Result, finished
from calibration.statistics.core.ratings import Floats, Ints, codes
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.samples import Additive, tabulated

# Answers to pairs and rankings, and one rater's verdict on one item.
#
# A pair is answered `first`, `tie`, `second` or `both_bad`, always of its members in the order of their
# numbers, whichever was shown first. A ranking is text such as `2>0=1`: member numbers, best first.

FIRST, TIE, SECOND, BOTH_BAD = "first", "tie", "second", "both_bad"
LABELS = (FIRST, TIE, SECOND, BOTH_BAD)
BothBad = Literal["tie", "drop"]
BOTH_BAD_POLICIES: dict[str, str] = {
    "tie": "both bad counts as a tie",
    "drop": "both bad is left out",
}
RANKING = re.compile(r"\d+([>=]\d+)*")


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer. ``systems`` are those of the members in the order of their numbers.

    ``label`` is None where the answer is missing. ``swapped`` tells for a pair whether its second member was
    shown first; None where the order is not known. An empty cluster: the item is its own cluster.
    """

    item: str
    rater: str
    label: str | None
    systems: tuple[str, ...]
    cluster: str = ""
    kind: str = ""
    swapped: bool | None = None
    sample: int = 0

    @property
    def place(self) -> str:
        """Cluster for resampling."""
        return self.cluster or self.item


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rater's verdict on one item, from all of the rater's repeated answers.

    ``label`` answers a pair, ``ranks`` (1 is best, ties share their mean rank) a ranking; the other is empty.
    """

    item: str
    rater: str
    systems: tuple[str, ...]
    place: str
    label: str = ""
    ranks: tuple[float, ...] = ()


def ranks_of(text: str, n: int) -> tuple[float, ...]:
    """Return the rank of each of n members in a text such as `2>0=1`; ties share their mean rank.

    Raises ValueError where the text does not name every member from 0 to n - 1 once.
    """
    squeezed = "".join(text.split())
    if not RANKING.fullmatch(squeezed):
        raise ValueError(f"{text!r} is not a ranking such as 2>0=1")
    groups = [[int(number) for number in group.split("=")] for group in squeezed.split(">")]
    members = [number for group in groups for number in group]
    if sorted(members) != list(range(n)):
        raise ValueError(f"{text!r} does not name each of the {n} members 0 to {n - 1} once")
    ranks, above = [0.0] * n, 0
    for group in groups:
        for number in group:
            ranks[number] = above + (len(group) + 1) / 2
        above += len(group)
    return tuple(ranks)


def checked(vote: Vote) -> Vote:
    """Return the vote. Raises ValueError where its label does not answer its systems."""
    if vote.label is None:
        return vote
    if len(vote.systems) == 2 and vote.label in LABELS:
        return vote
    if len(vote.systems) == 2 and not vote.label[:1].isdigit():
        raise ValueError(f"{vote.label!r} does not answer a pair: use one of {', '.join(LABELS)}")
    ranks_of(vote.label, len(vote.systems))
    return vote


def verdicts(votes: Iterable[Vote]) -> list[Verdict]:
    """Return one verdict per item and rater, in the order they first appear; missing answers give none.

    Repeated answers to a pair are decided by an absolute majority; without one it is a tie, so that a judge
    who changes sides when the order is swapped has not decided (as in MT-Bench). Of repeated rankings the
    mean ranks are ranked again.
    """
    by_item_and_rater: dict[tuple[str, str], list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.label is not None:
            by_item_and_rater[vote.item, vote.rater].append(vote)
    return [_verdict(answers) for answers in by_item_and_rater.values()]


def _verdict(answers: Sequence[Vote]) -> Verdict:
    first_vote = answers[0]
    labels = [vote.label or "" for vote in answers]
    if all(label in LABELS for label in labels):
        label, times = Counter(labels).most_common(1)[0]
        settled = label if times * 2 > len(labels) else TIE
        return Verdict(first_vote.item, first_vote.rater, first_vote.systems, first_vote.place, settled)
    rankings = [ranks_of(label, len(first_vote.systems)) for label in labels]
    means = [sum(column) / len(rankings) for column in zip(*rankings, strict=True)]
    return Verdict(
        first_vote.item, first_vote.rater, first_vote.systems, first_vote.place, ranks=_ranked(means)
    )


def _ranked(values: Sequence[float]) -> tuple[float, ...]:
    """Return the ranks of values, the lowest first; ties share their mean rank."""
    return tuple(
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    )


# Verdicts as games between two systems, and their tables of wins and ties per resample.

MOST_CELLS = 2_000_000
"""Cells of the tables of resamples that are processed at a time."""


@dataclass(frozen=True)
class Tables:
    """Rows (one per resample) of systems x systems: how often the row's system beat or tied the column's.

    ``ties`` is symmetric; both have an empty diagonal.
    """

    wins: Floats
    ties: Floats

    @property
    def n(self) -> Floats:
        """Number of games between two systems."""
        return np.asarray(self.wins + self.wins.swapaxes(1, 2) + self.ties)


@dataclass(frozen=True)
class Games:
    """Games between two systems: ``a`` and ``b`` are codes of ``systems``, ``outcome`` is 1 where a won, -1
    where b won and 0 for a tie; ``items``, ``raters`` and ``units`` (clusters) are codes from 0.

    A ranking of n is n(n - 1)/2 games of one item. ``left_out`` counts votes that gave no game.
    """

    systems: tuple[str, ...]
    a: Ints
    b: Ints
    outcome: Ints
    items: Ints
    raters: Ints
    units: Ints
    left_out: int = 0

    @property
    def n_units(self) -> int:
        """Number of clusters."""
        return int(self.units.max()) + 1 if self.units.size else 0

    def only(self, mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Games:
        """Return the selected games."""
        return Games(
            self.systems,
            self.a[mask],
            self.b[mask],
            self.outcome[mask],
            self.items[mask],
            self.raters[mask],
            self.units[mask],
        )

    def tables(self, plan: Plan) -> tuple[Tables, Iterator[Tables]]:
        """Return the table of all games, and those of the resamples part by part."""
        n = len(self.systems)
        won = np.where(self.outcome >= 0, self.a * n + self.b, self.b * n + self.a)
        cells = won + np.where(self.outcome == 0, n * n, 0)
        cell_sums = tabulated(self.units, self.n_units, cells, (2, n, n))
        total = _tables(cell_sums, np.ones((1, self.n_units)))
        rows = max(1, MOST_CELLS // max(1, 2 * n * n))

        def resample_tables() -> Iterator[Tables]:
            for weights in Resampling(plan, self.units, self.n_units).chunks():
                for start in range(0, len(weights), rows):
                    yield _tables(cell_sums, weights[start : start + rows])

        return total, resample_tables()


def _tables(cell_sums: Additive, weights: Floats) -> Tables:
    totals = cell_sums.totals(weights)
    return Tables(totals[:, 0], totals[:, 1] + totals[:, 1].swapaxes(1, 2))


def games_of(verdicts: Sequence[Verdict], both_bad: BothBad = "tie") -> Games:
    """Convert verdicts to games, systems in the order of their names; a system never plays itself."""
    systems = tuple(sorted({system for verdict in verdicts for system in verdict.systems}))
    code = {system: at for at, system in enumerate(systems)}
    games: list[tuple[int, int, int]] = []
    sources: list[Verdict] = []
    left_out = 0
    for verdict in verdicts:
        played = [
            (code[first], code[second], outcome)
            for first, second, outcome in _games(verdict, both_bad)
            if first != second
        ]
        left_out += not played
        games += played
        sources += [verdict] * len(played)
    a, b, outcomes = np.ascontiguousarray(np.array(games, dtype=np.int64).reshape(-1, 3).T)
    return Games(
        systems,
        a,
        b,
        outcomes,
        items=codes([verdict.item for verdict in sources]),
        raters=codes([verdict.rater for verdict in sources]),
        units=codes([verdict.place for verdict in sources]),
        left_out=left_out,
    )


def _games(verdict: Verdict, both_bad: BothBad) -> list[tuple[str, str, int]]:
    if verdict.ranks:
        return [
            (first, second, int(np.sign(below - above)))
            for (first, above), (second, below) in combinations(
                zip(verdict.systems, verdict.ranks, strict=True), 2
            )
        ]
    if verdict.label == BOTH_BAD and both_bad == "drop":
        return []
    outcome = {FIRST: 1, SECOND: -1, TIE: 0, BOTH_BAD: 0}[verdict.label]
    return [(verdict.systems[0], verdict.systems[1], outcome)]


# Existence of strengths: which systems are connected with which by wins in both directions.
#
# Bradley-Terry strengths have a maximum of likelihood exactly where, for every split of the systems into two
# groups, a system of each beat one of the other (Ford 1957). With a tie parameter of its own (Davidson 1970)
# more is needed: a cycle of systems with more wins than ties along it.

Flags = npt.NDArray[np.bool_]


def connected(beaten: Floats) -> Flags:
    """Return per row whether each system leads to each other along beaten > 0 (rows x systems x systems).

    A single system is not connected with anything.
    """
    n = beaten.shape[-1]
    reach = ((beaten > 0) | np.eye(n, dtype=np.bool_)).astype(np.float32)
    for _ in range(max(1, int(np.ceil(np.log2(max(n, 2)))))):
        reach = (np.matmul(reach, reach) > 0).astype(np.float32)
    return np.asarray((reach > 0).all(axis=(1, 2)) & (n > 1))


def told_apart(wins: Floats, ties: Floats) -> Flags:
    """Return per row whether Davidson's model has a maximum: connected, and a cycle with more wins than ties.

    A likelihood that never falls raises the tie parameter by 1 and keeps every winner at least 2 above the
    systems it beat and tied systems within 2 of each other. Such levels exist unless a cycle of -2 per win
    and +2 per tie is below 0 (Bellman and Ford).
    """
    steps = np.where(wins > 0, -2.0, np.where(ties > 0, 2.0, np.inf))
    level = np.zeros(wins.shape[:2])
    moved = np.zeros(wins.shape[:2], dtype=np.bool_)
    for _ in range(wins.shape[1]):
        lower = np.minimum(level, (level[:, :, None] + steps).min(axis=1))
        moved = lower < level
        level = lower
    return np.asarray(connected(wins + ties) & moved.any(axis=1))


def why_not(beaten: Floats, systems: Sequence[str]) -> str:
    """Return why one table (systems x systems) has no finite strengths; empty where it has."""
    parts, part_of = connected_components(beaten > 0, connection="weak")
    if parts > 1:
        group = part_of == part_of[0]
        return (
            f"never compared: {_list_names(systems, group)} with {_list_names(systems, ~group)}; "
            "strengths need comparisons that connect all systems"
        )
    parts, part_of = connected_components(beaten > 0, connection="strong")
    if parts == 1:
        return ""
    for part in range(parts):
        group = part_of == part
        if not (beaten[~group][:, group] > 0).any():
            return (
                f"{_list_names(systems, group)} never lost a point to {_list_names(systems, ~group)}: "
                "the strength that fits best is infinite"
            )
    raise AssertionError("of several strong components one has nothing leading into it")


def _list_names(systems: Sequence[str], group: Flags, most: int = 4) -> str:
    names = [name for name, mine in zip(systems, group, strict=True) if mine]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# Strengths by maximum likelihood, for many tables at once.
#
# Bradley and Terry (1952): system i beats j with probability 1 / (1 + exp(s_j - s_i)). Davidson (1970)
# gives ties a parameter of their own: with d = s_i - s_j, a win, a tie and a loss have the weights exp(d /
# 2), nu and exp(-d / 2). Both likelihoods are concave; Newton's steps are halved where they overshoot.
# Strengths are natural logarithms with mean 0.

Model = Literal["half", "drop", "davidson"]
MODELS: dict[str, str] = {
    "half": "Bradley-Terry, a tie is half a win for each",
    "drop": "Bradley-Terry, ties left out",
    "davidson": "Davidson, ties with a parameter of their own",
}
STEPS, HALVINGS, CLOSE, NEAR, LONGEST, ROUNDING = 200, 40, 1e-10, 1e-6, 4.0, 1e-13
Of = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Fitted:
    """Strengths (rows x systems) and tie parameters (rows; 0 where ties have none), NaN where there is no
    maximum."""

    strengths: Floats
    tie: Floats

    def chances(self) -> Floats:
        """Return how often the row's system is expected to win over the column's, a tie as half."""
        d = self.strengths[:, :, None] - self.strengths[:, None, :]
        up, down = np.exp(d / 2), np.exp(-d / 2)
        nu = self.tie[:, None, None]
        return np.asarray((up + nu / 2) / (up + down + nu))


def scored(tables: Tables, model: Model) -> Floats:
    """Return the points of the row's system against the column's: wins, and half the ties unless dropped."""
    return tables.wins if model == "drop" else tables.wins + tables.ties / 2


def fitted(tables: Tables, model: Model) -> Fitted:
    """Fit every row of tables."""
    if model != "davidson":
        points = scored(tables, model)
        strengths, joined = np.full(points.shape[:2], np.nan), connected(points)
        strengths[joined] = bradley_terry(points[joined])
        return Fitted(strengths, np.zeros(len(strengths)))
    strengths, tie = np.full(tables.wins.shape[:2], np.nan), np.full(len(tables.wins), np.nan)
    without = ~(tables.ties > 0).any(axis=(1, 2))
    plain = without & connected(tables.wins)
    strengths[plain], tie[plain] = bradley_terry(tables.wins[plain]), 0.0
    have: Flags = ~without & told_apart(tables.wins, tables.ties)
    strengths[have], tie[have] = davidson(tables.wins[have], tables.ties[have])
    return Fitted(strengths, tie)


def bradley_terry(points: Floats) -> Floats:
    """Return the strengths of connected tables of points (rows x systems x systems)."""
    n = points + points.swapaxes(1, 2)

    def likelihood(s: Floats) -> Floats:
        return np.asarray((points * log_expit(s[:, :, None] - s[:, None, :])).sum(axis=(1, 2)))

    def step(s: Floats) -> Floats:
        p = expit(s[:, :, None] - s[:, None, :])
        slope = (points - n * p).sum(axis=2)
        return _solved(_laplacian(n * p * (1 - p)), slope)

    return _climbed(np.zeros(points.shape[:2]), likelihood, step)


def davidson(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Return the strengths and tie parameters of tables of wins and (symmetric) ties that have a maximum."""
    n = wins + wins.swapaxes(1, 2) + ties
    size = wins.shape[1]

    def shares(s: Floats) -> tuple[Floats, Floats, Floats]:
        half = (s[:, :size, None] - s[:, None, :size]) / 2
        utility = np.stack([half, -half, np.broadcast_to(s[:, size, None, None], half.shape)])
        return (*(utility - np.logaddexp.reduce(utility, axis=0)),)

    def likelihood(s: Floats) -> Floats:
        up, _, tie = shares(s)
        return np.asarray((wins * up).sum(axis=(1, 2)) + (ties * tie).sum(axis=(1, 2)) / 2)

    def step(s: Floats) -> Floats:
        up, down, tie = (np.exp(share) for share in shares(s))
        slope = np.empty_like(s)
        slope[:, :size] = (wins - wins.swapaxes(1, 2) - n * (up - down)).sum(axis=2) / 2
        slope[:, size] = (ties - n * tie).sum(axis=(1, 2)) / 2
        bend = np.zeros((len(s), size + 1, size + 1))
        bend[:, :size, :size] = _laplacian(n * ((up + down) - (up - down) ** 2) / 4)
        bend[:, :size, size] = bend[:, size, :size] = -(n * tie * (up - down)).sum(axis=2) / 2
        bend[:, size, size] = (n * tie * (1 - tie)).sum(axis=(1, 2)) / 2
        return _solved(bend, slope)

    solution = _climbed(np.zeros((len(wins), size + 1)), likelihood, step)
    return solution[:, :size] - solution[:, :size].mean(axis=1, keepdims=True), np.exp(solution[:, size])


def _laplacian(weights: Floats) -> Floats:
    """Return the negated second derivatives in the strengths; 1 added everywhere keeps their sum at 0."""
    size = weights.shape[1]
    diagonal = np.eye(size)
    return np.asarray(diagonal * weights.sum(axis=2)[:, :, None] - weights * (1 - diagonal) + 1.0)


def _solved(bend: Floats, slope: Floats) -> Floats:
    step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
    longest = np.abs(step).max(axis=1, initial=0.0, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST)))


def _climbed(at: Floats, likelihood: Of, step: Of) -> Floats:
    """Climb to the maximum from ``at`` by Newton steps, halved in the rows where they lead down.

    Raises ArithmeticError where a row does not converge: a defect, as a maximum exists.
    """
    height, last = likelihood(at), np.inf
    for _ in range(STEPS):
        move = step(at)
        for _ in range(HALVINGS):
            higher = likelihood(at + move)
            down = higher < height - ROUNDING * np.abs(height)
            if not down.any():
                break
            move = np.where(down[:, None], move / 2, move)
        at, height = at + move, higher
        longest = float(np.abs(move).max(initial=0.0))
        if longest < CLOSE or max(longest, last) < NEAR:  # two short steps: the second is rounding
            return at
        last = longest
    raise ArithmeticError(f"strengths did not settle within {STEPS} steps")


# Systems by win rate and strength, and head to head, with intervals by cluster.

CENTRE, PER_TENFOLD = 1000.0, 400.0
"""Scale of strengths: tenfold odds are 400 points, as with Elo's ratings."""


@dataclass(frozen=True)
class Standing:
    """One system against all others: game counts, win rate, strength and the rank of the strength."""

    system: str
    wins: int
    ties: int
    losses: int
    win_rate: Result
    strength: Result
    rank: Result


@dataclass(frozen=True)
class Meeting:
    """Two systems: the first's wins, ties and losses, its win rate, and the one expected from strengths."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    win_rate: Result
    expected: Result


@dataclass(frozen=True)
class Standings:
    """All systems, the best first, and their meetings; ``tie`` only where the model has a tie parameter."""

    systems: tuple[Standing, ...]
    meetings: tuple[Meeting, ...]
    tie: Result | None
    model: Model
    anchor: str

    @property
    def scale(self) -> str:
        """Meaning of a strength of 1000 and a step of 400."""
        at = self.anchor or "the mean of all systems"
        return f"{CENTRE:g} is {at}; {PER_TENFOLD:g} points are odds of ten to one"


@dataclass(frozen=True)
class _Figures:
    """Figures of all games and of the resamples: rows x systems (x systems)."""

    rates: Floats
    meetings: Floats
    strengths: Floats
    ranks: Floats
    chances: Floats
    tie: Floats


def standings(games: Games, plan: Plan, model: Model = "half", anchor: str = "") -> Standings:
    """Return win rates and strengths. ``anchor``: the system at 1000, else the mean of all."""
    anchor = anchor if anchor in games.systems else ""
    if not games.a.size:
        return Standings((), (), None, model, anchor)
    total, resamples = games.tables(plan)
    at = games.systems.index(anchor) if anchor else None
    point = _figures_of(total, model, at)
    parts = [_figures_of(part, model, at) for part in resamples]
    resampled_figures = _joined(parts) if parts else _none_of(point)
    results = _Results(games, plan, model, point, resampled_figures, _reason(total, games, model))
    tie = results.tie() if model == "davidson" else None
    systems = [results.system_standing(total, j) for j in range(len(games.systems))]
    n = len(games.systems)
    meetings = [results.meeting(total, i, j) for i in range(n) for j in range(i + 1, n)]
    return Standings(tuple(sorted(systems, key=_best_first)), tuple(meetings), tie, model, anchor)


def _best_first(entry: Standing) -> tuple[float, float, str]:
    rate, strength = entry.win_rate.value, entry.strength.value
    return (-(strength or 0.0), -1.0 if rate is None else -rate, entry.system)


def _figures_of(tables: Tables, model: Model, anchor: int | None) -> _Figures:
    points, n = scored(tables, model), tables.n
    if model == "drop":
        n = n - tables.ties
    fit = fitted(tables, model)
    strengths = fit.strengths if anchor is None else fit.strengths - fit.strengths[:, [anchor]]
    return _Figures(
        _ratio(points.sum(axis=2), n.sum(axis=2)),
        _ratio(points, n),
        CENTRE + PER_TENFOLD / np.log(10) * strengths,
        _ranks(fit),
        fit.chances(),
        fit.tie,
    )


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)


def _ranks(fit: Fitted) -> Floats:
    """Rank of each strength, 1 the greatest, equal ones sharing their mean rank; NaN without strengths."""
    mine, other = fit.strengths[:, :, None], fit.strengths[:, None, :]
    close = np.abs(other - mine) < 1e-9
    ranks = ((other > mine) & ~close).sum(axis=2) + (close.sum(axis=2) + 1) / 2
    return np.where(np.isnan(fit.strengths), np.nan, ranks)


def _joined(parts: Sequence[_Figures]) -> _Figures:
    names = [figure.name for figure in fields(_Figures)]
    return _Figures(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _none_of(figures: _Figures) -> _Figures:
    """Return the same figures with no rows: no resamples were requested."""
    return _Figures(*(getattr(figures, figure.name)[:0] for figure in fields(_Figures)))


def _reason(total: Tables, games: Games, model: Model) -> str:
    """Return why there are no strengths, empty where there are."""
    if len(games.systems) < 2:
        return "strengths need two systems"
    reason = why_not(scored(total, "drop" if model == "drop" else "half")[0], games.systems)
    if reason and model == "drop":
        return f"{reason} (ties are left out)"
    if reason or model != "davidson":
        return reason
    return "wins and ties leave a system that never lost clearly: Davidson's likelihood has no maximum"


@dataclass(frozen=True)
class _Results:
    """Converts figures to results."""

    games: Games
    plan: Plan
    model: Model
    point: _Figures
    replicates: _Figures
    reason: str

    def system_standing(self, total: Tables, j: int) -> Standing:
        """The row of system j."""
        a, b = self.games.a, self.games.b
        counts = self._counts((a == j) | (b == j))
        model = f"maximum likelihood, {MODELS[self.model]}"
        return Standing(
            self.games.systems[j],
            *_counted(total, j),
            self._of(
                "win_rate", self.point.rates[0, j], self.replicates.rates[:, j], counts, self._rate_method()
            ),
            self._of("strength", self.point.strengths[0, j], self.replicates.strengths[:, j], counts, model),
            _widen_to_places(
                self._of("rank", self.point.ranks[0, j], self.replicates.ranks[:, j], counts, model)
            ),
        )

    def meeting(self, total: Tables, i: int, j: int) -> Meeting:
        """The row of systems i and j."""
        a, b = self.games.a, self.games.b
        counts = self._counts(((a == i) & (b == j)) | ((a == j) & (b == i)))
        wins, ties, losses = total.wins[0, i, j], total.ties[0, i, j], total.wins[0, j, i]
        every = self._counts(np.ones(len(a), dtype=np.bool_))
        model = f"expected of the strengths, {MODELS[self.model]}"
        rates = self.point.meetings[0, i, j], self.replicates.meetings[:, i, j]
        chances = self.point.chances[0, i, j], self.replicates.chances[:, i, j]
        return Meeting(
            self.games.systems[i],
            self.games.systems[j],
            *(int(wins), int(ties), int(losses)),
            self._of("win_rate", *rates, counts, self._rate_method()),
            self._of("expected_win_rate", *chances, every, model),
        )

    def tie(self) -> Result:
        """Davidson's tie parameter: a tie of equals is nu / 2 times as likely as one of them winning."""
        every = self._counts(np.ones(len(self.games.a), dtype=np.bool_))
        return self._of("tie_parameter", self.point.tie[0], self.replicates.tie, every, MODELS["davidson"])

    def _rate_method(self) -> str:
        return "decided votes" if self.model == "drop" else "ties are half a win"

    def _counts(self, mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Counts:
        games = self.games
        return {
            "n_items": len(np.unique(games.items[mask])),
            "n_clusters": len(np.unique(games.units[mask])),
            "n_raters": len(np.unique(games.raters[mask])),
        }

    def _of(self, name: str, point: float, replicates: Floats, counts: Counts, method: str) -> Result:
        by_model = name in ("strength", "rank", "expected_win_rate", "tie_parameter")
        undefined = self.reason if by_model else self._no_rate(counts)
        return finished(
            name, float(point), replicates, self.plan, method=method, undefined=undefined, **counts
        )

    def _no_rate(self, counts: Counts) -> str:
        return "no decided vote" if counts["n_items"] else "never compared"


def _counted(total: Tables, j: int) -> tuple[int, int, int]:
    return (
        int(total.wins[0, j].sum()),
        int(total.ties[0, j].sum()),
        int(total.wins[0, :, j].sum()),
    )


def _widen_to_places(rank: Result) -> Result:
    """Return a rank with its interval rounded outwards to whole places."""
    if rank.low is None or rank.high is None:
        return rank
    return replace(rank, low=float(np.floor(rank.low)), high=float(np.ceil(rank.high)))
