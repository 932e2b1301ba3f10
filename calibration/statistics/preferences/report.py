"""All that votes say of systems and of raters: one report of one question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.core.data import codes
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished, totals
from calibration.statistics.core.types import Floats
from calibration.statistics.preferences.agreement import Agreed, agreement
from calibration.statistics.preferences.fitting import Model
from calibration.statistics.preferences.games import games_of
from calibration.statistics.preferences.position import PositionBias, position_bias
from calibration.statistics.preferences.standings import Standings, standings
from calibration.statistics.preferences.votes import LABELS, BothBad, Verdict, Vote, verdicts

# How far raters agree on rankings: Kendall's tau-b of two, Kendall's W of all.
#
# Sources: Kendall (1938, 1945) for tau with ties; Kendall and Babington Smith (1939) for W. Tau is of the
# pairs of all items together: concordant less discordant, over the root of the pairs that each of the two
# told apart. W is of each item, corrected for ties, and its mean over the items.


@dataclass(frozen=True)
class RankedAlike:
    """Two raters with tau, or all of them with W."""

    raters: tuple[str, ...]
    result: Result


Ranks = Mapping[str, Mapping[str, tuple[float, ...]]]


def ranked_alike(verdicts: Sequence[Verdict], plan: Plan) -> list[RankedAlike]:
    """Return W of all raters, then tau of every two who ranked an item in common."""
    ranks: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    places = {}
    for verdict in verdicts:
        if verdict.ranks:
            ranks[verdict.item][verdict.rater] = verdict.ranks
            places[verdict.item] = verdict.place
    raters = tuple(sorted({rater for given in ranks.values() for rater in given}))
    if len(raters) < 2:
        return []
    found = [RankedAlike(raters, _w(ranks, places, plan))]
    for pair in combinations(raters, 2):
        both = [item for item, given in ranks.items() if pair[0] in given and pair[1] in given]
        if both:
            found.append(RankedAlike(pair, _tau(ranks, places, both, pair, plan)))
    return found


def _tau(
    ranks: Ranks, places: Mapping[str, str], items: Sequence[str], pair: tuple[str, str], plan: Plan
) -> Result:
    rows = np.array([_pairs(ranks[item][pair[0]], ranks[item][pair[1]]) for item in items])
    counts: Counts = {
        "n_items": len(items),
        "n_clusters": len({places[item] for item in items}),
        "n_raters": 2,
        "n_missing": 2 * len(ranks) - sum(rater in given for given in ranks.values() for rater in pair),
    }
    whole, drawn = totals(codes([places[item] for item in items]), rows, plan)
    return finished(
        "kendall_tau_b",
        float(_tau_of(whole)[0]),
        _tau_of(drawn),
        plan,
        method="pairs of all items together",
        undefined="one of them told no members apart",
        **counts,
    )


def _pairs(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return concordant less discordant pairs, and the pairs that each told apart."""
    i, j = np.triu_indices(len(one), 1)
    x, y = (np.sign(np.array(ranks)[i] - np.array(ranks)[j]) for ranks in (one, other))
    return [float((x * y).sum()), float((x != 0).sum()), float((y != 0).sum())]


def _tau_of(sums: Floats) -> Floats:
    difference, x, y = sums.T
    bottom = np.sqrt(x * y)
    return np.where(bottom > 0, difference / np.where(bottom > 0, bottom, 1.0), np.nan)


def kendall_w(ranks: Floats) -> float:
    """Return W of raters x members, NaN where nobody told members apart.

    W = 12 S / (m^2 (n^3 - n) - m T) with S the squared deviations of the rank sums and T the sum of t^3 - t
    over each rater's groups of t tied members.
    """
    m, n = ranks.shape
    sums = ranks.sum(axis=0)
    ties = sum(float((times**3 - times).sum()) for times in (_times(row) for row in ranks))
    bottom = m**2 * (n**3 - n) - m * ties
    return float(12 * ((sums - sums.mean()) ** 2).sum() / bottom) if bottom > 1e-9 else float("nan")


def _times(row: Floats) -> Floats:
    return np.asarray(np.unique(row, return_counts=True)[1], dtype=np.float64)


def _w(ranks: Ranks, places: Mapping[str, str], plan: Plan) -> Result:
    rows, used, raters = [], [], set()
    everybody = {rater for given in ranks.values() for rater in given}
    for item, given in ranks.items():
        value = kendall_w(np.array(list(given.values()))) if len(given) > 1 else float("nan")
        if not np.isnan(value):
            rows.append([1.0, value])
            used.append(places[item])
            raters |= set(given)
    counts: Counts = {"n_items": len(rows), "n_clusters": len(set(used)), "n_raters": len(raters)}
    counts["n_missing"] = len(ranks) * len(everybody) - sum(len(given) for given in ranks.values())
    if not rows:
        reason = "no item that two raters ranked and one of them told members apart"
        return Result("kendall_w", status="insufficient", reason=reason, **counts)
    whole, drawn = totals(codes(used), np.array(rows), plan)
    return finished(
        "kendall_w",
        float(whole[0, 1] / whole[0, 0]),
        drawn[:, 1] / drawn[:, 0] if len(drawn) else np.empty(0),
        plan,
        method="corrected for ties, mean over items",
        **counts,
    )


PEOPLE, EVERYBODY = "human", ""
PEOPLE_NAME, ALL_NAME = "people", "all raters"


@dataclass(frozen=True)
class Choices:
    """How votes are read: what ties and both-bad answers count as, and the system whose strength is 1000."""

    model: Model = "half"
    both_bad: BothBad = "tie"
    anchor: str = ""


@dataclass(frozen=True)
class Voters:
    """Raters whose votes are counted together: all people, or one judge; their answers as counts."""

    name: str
    kind: str
    raters: tuple[str, ...]
    answers: dict[str, int]
    n_missing: int
    standings: Standings
    position: PositionBias | None


@dataclass(frozen=True)
class Preferences:
    """The report: each group of voters, position bias by rater, agreement on pairs and on rankings."""

    voters: tuple[Voters, ...]
    positions: tuple[PositionBias, ...]
    agreement: tuple[Agreed, ...]
    rankings: tuple[RankedAlike, ...]
    choices: Choices
    plan: Plan


def preferences(
    votes: Sequence[Vote], choices: Choices | None = None, plan: Plan | None = None
) -> Preferences:
    """Return the report. People are counted together, every judge, metric and key by itself.

    ValueError where there are no votes, or the anchor is not among their systems. Voters who never judged
    the anchor have the mean of their systems as theirs, and say so.
    """
    chosen, plan = choices or Choices(), plan or Plan()
    if not any(vote.label is not None for vote in votes):
        raise ValueError("there is no answer to a pair or a ranking" if votes else "there are no votes")
    settled = verdicts(votes)
    systems = sorted({system for verdict in settled for system in verdict.systems})
    if chosen.anchor and chosen.anchor not in systems:
        raise ValueError(f"no system {chosen.anchor!r} to start from; there are {', '.join(systems)}")
    groups = _groups(votes)
    voters = tuple(_voters(name, kind, mine, settled, chosen, plan) for name, kind, mine in groups)
    several = dict.fromkeys(vote.rater for vote in votes)
    positions = (
        (position_bias([v for v in votes if v.rater == rater], rater, plan) for rater in several)
        if len(several) > len(groups)
        else ()
    )
    return Preferences(
        voters,
        tuple(found for found in positions if found is not None),
        tuple(agreement(settled, plan)),
        tuple(ranked_alike(settled, plan)),
        chosen,
        plan,
    )


def _groups(votes: Sequence[Vote]) -> list[tuple[str, str, list[Vote]]]:
    """Return name, kind and votes of each group: people first, together; others by name."""
    kinds = {vote.kind for vote in votes}
    if kinds <= {EVERYBODY}:
        return [(ALL_NAME, EVERYBODY, list(votes))]
    found: dict[tuple[bool, str, str], list[Vote]] = {}
    for vote in votes:
        people = vote.kind in (PEOPLE, EVERYBODY)
        key = (not people, PEOPLE_NAME if people else vote.rater, PEOPLE if people else vote.kind)
        found.setdefault(key, []).append(vote)
    return [(key[1], key[2], found[key]) for key in sorted(found)]


def _voters(
    name: str, kind: str, votes: list[Vote], settled: Sequence[Verdict], choices: Choices, plan: Plan
) -> Voters:
    raters = tuple(dict.fromkeys(vote.rater for vote in votes))
    mine = set(raters)
    games = games_of([v for v in settled if v.rater in mine], choices.both_bad)
    answers = Counter(v.label if v.label in LABELS else "ranking" for v in votes if v.label is not None)
    return Voters(
        name,
        kind,
        raters,
        {label: answers[label] for label in (*LABELS, "ranking") if answers[label]},
        sum(vote.label is None for vote in votes),
        standings(games, plan, choices.model, choices.anchor),
        position_bias(votes, name, plan),
    )
