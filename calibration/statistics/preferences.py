"""Preferences between systems: one report of a question, raters' agreement, and position bias."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.core.engine import Counts, Result, finished, totals
from calibration.statistics.core.ratings import Floats, codes
from calibration.statistics.core.resampling import Plan
from calibration.statistics.preference_strengths import (
    BOTH_BAD,
    FIRST,
    LABELS,
    SECOND,
    TIE,
    BothBad,
    Model,
    Standings,
    Verdict,
    Vote,
    games_of,
    standings,
    verdicts,
)

# Agreement of raters on pairs, with and without ties, whichever member is called the first.
#
# Which member of a pair has number 0 is a convention. So every item is read both ways, as given and with its
# members' names exchanged, and agreement is read from the table of both: then chance agreement, and with it
# kappa and alpha, cannot depend on the convention. (Without ties chance is one half for any raters, and kappa
# is 2 p - 1 of the share p on which they agree.)
#
# The setups are those of MT-Bench (Zheng et al. 2023): S1 keeps ties, S2 takes the items that both decided.

SETUPS: dict[str, str] = {
    "as_answered": "all four answers, both bad apart from a tie",
    "with_ties": "ties kept, both bad as a tie (S1 of MT-Bench)",
    "without_ties": "items that both decided (S2 of MT-Bench)",
}
TURNED = np.array([1, 0, 2, 3])
"""Categories first, second, tie and both bad, and their counterparts with the members exchanged."""
CODE = {FIRST: 0, SECOND: 1, TIE: 2, BOTH_BAD: 3}


@dataclass(frozen=True)
class Agreed:
    """Two raters, or all of them, in one setup: percent agreement and kappa, or alpha."""

    raters: tuple[str, ...]
    setup: str
    results: tuple[Result, ...]


def agreement(verdicts: Sequence[Verdict], plan: Plan) -> list[Agreed]:
    """Return alpha of all raters, then agreement of every two who answered an item in common.

    The setup `as_answered` is left out where nobody answered both bad: it is then `with_ties`.
    """
    answers, places = _answers(verdicts)
    raters = sorted({rater for by_rater in answers.values() for rater in by_rater})
    setups = list(SETUPS) if any(v.label == BOTH_BAD for v in verdicts) else list(SETUPS)[1:]
    if len(raters) < 2:
        return []
    agreements = [Agreed(tuple(raters), setup, (_alpha(answers, places, setup, plan),)) for setup in setups]
    for first, second in combinations(raters, 2):
        both = [item for item, by_rater in answers.items() if first in by_rater and second in by_rater]
        if both:
            agreements += [_pair(answers, places, both, (first, second), setup, plan) for setup in setups]
    return agreements


def _answers(verdicts: Sequence[Verdict]) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    answers: dict[str, dict[str, int]] = defaultdict(dict)
    places = {}
    for verdict in verdicts:
        if verdict.label:
            answers[verdict.item][verdict.rater] = CODE[verdict.label]
            places[verdict.item] = verdict.place
    return answers, places


def _codes_in_setup(by_rater: Mapping[str, int], setup: str) -> list[int]:
    """Return an item's answers as coded in a setup."""
    if setup == "without_ties":
        return [code for code in by_rater.values() if code < CODE[TIE]]
    return [min(code, CODE[TIE]) if setup == "with_ties" else code for code in by_rater.values()]


def _pair(
    answers: Mapping[str, Mapping[str, int]],
    places: Mapping[str, str],
    items: Sequence[str],
    raters: tuple[str, str],
    setup: str,
    plan: Plan,
) -> Agreed:
    rows, used = [], []
    for item in items:
        pair_codes = _codes_in_setup({rater: answers[item][rater] for rater in raters}, setup)
        if len(pair_codes) == 2:
            table = np.zeros((4, 4))
            table[pair_codes[0], pair_codes[1]] += 0.5
            table[TURNED[pair_codes[0]], TURNED[pair_codes[1]]] += 0.5
            rows.append(table.ravel())
            used.append(places[item])
    counts: Counts = {
        "n_items": len(rows),
        "n_clusters": len(set(used)),
        "n_raters": 2,
        "n_missing": len(answers) * 2 - sum(r in answers[i] for i in answers for r in raters),
    }
    if not rows:
        why = "no item that both decided" if setup == "without_ties" else "no item in common"
        names = ("percent_agreement", "kappa")
        empty = (Result(n, status="insufficient", reason=why, method=SETUPS[setup], **counts) for n in names)
        return Agreed(raters, setup, tuple(empty))
    total, resampled = totals(codes(used), np.array(rows), plan)
    results = tuple(
        finished(
            name,
            float(compute(total)[0]),
            compute(resampled),
            plan,
            method=f"{SETUPS[setup]}; both ways round",
            undefined="no variation: both gave one and the same answer throughout",
            **counts,
        )
        for name, compute in (("percent_agreement", _percent), ("kappa", _kappa))
    )
    return Agreed(raters, setup, results)


def _percent(sums: Floats) -> Floats:
    tables = sums.reshape(-1, 4, 4)
    n = tables.sum(axis=(1, 2))
    return np.where(n > 0, np.trace(tables, axis1=1, axis2=2) / np.where(n > 0, n, 1.0), np.nan)


def _kappa(sums: Floats) -> Floats:
    """(p - e) / (1 - e) with e of the margins of the table read both ways; NaN where e is 1."""
    tables = sums.reshape(-1, 4, 4)
    n = tables.sum(axis=(1, 2))
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / np.where(n > 0, n, 1.0) ** 2
    room = 1 - chance
    return np.where(room > 1e-12, (_percent(sums) - chance) / np.where(room > 1e-12, room, 1.0), np.nan)


def _alpha(
    answers: Mapping[str, Mapping[str, int]], places: Mapping[str, str], setup: str, plan: Plan
) -> Result:
    rows, used, raters, missing = [], [], set(), 0
    everybody = {rater for by_rater in answers.values() for rater in by_rater}
    for item, by_rater in answers.items():
        missing += len(everybody) - len(by_rater)
        item_codes = np.array(_codes_in_setup(by_rater, setup))
        if len(item_codes) >= 2:
            rows.append(((_coincidences(item_codes) + _coincidences(TURNED[item_codes])) / 2).ravel())
            used.append(places[item])
            raters |= set(by_rater)
    counts: Counts = {"n_items": len(rows), "n_clusters": len(set(used)), "n_raters": len(raters)}
    counts["n_missing"] = missing
    if not rows:
        why = (
            "no item that two raters decided"
            if setup == "without_ties"
            else "no item that two raters answered"
        )
        return Result("alpha", status="insufficient", reason=why, method=SETUPS[setup], **counts)
    total, resampled = totals(codes(used), np.array(rows), plan)
    return finished(
        "alpha",
        float(_alpha_of(total)[0]),
        _alpha_of(resampled),
        plan,
        method=f"Krippendorff's, nominal; {SETUPS[setup]}; both ways round",
        undefined="no variation: every answer is the same",
        **counts,
    )


def _coincidences(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """Return an item's ordered pairs of answers by value, each over the number of answers minus one."""
    counts = np.bincount(values, minlength=4).astype(np.float64)
    return (np.outer(counts, counts) - np.diag(counts)) / (len(values) - 1)


def _alpha_of(sums: Floats) -> Floats:
    tables = sums.reshape(-1, 4, 4)
    margins = tables.sum(axis=2)
    n = margins.sum(axis=1)
    observed = n - np.trace(tables, axis1=1, axis2=2)
    expected = n**2 - (margins**2).sum(axis=1)
    some = expected > 1e-9
    return np.where(some, 1 - (n - 1) * observed / np.where(some, expected, 1.0), np.nan)


# Position bias: how often the response shown first is chosen, and the effect of a swap.
#
# Each answer counts, including repeated ones. If the order is drawn at random, or both orders are shown, half
# of the decided answers choose the first shown unless position matters.

SWAPS: dict[str, str] = {
    "consistent": "same answer in both orders",
    "for_first": "each time the one shown first",
    "for_second": "each time the one shown second",
    "otherwise": "changed in another way, such as to a tie",
}


@dataclass(frozen=True)
class PositionBias:
    """Frequency with which a rater, or a group, chose the response shown first, and the effect of a swap.

    ``swaps`` is None where no item was answered in both orders by the same rater.
    """

    rater: str
    shown_first: Result
    swaps: dict[str, Result] | None


def position_bias(votes: Sequence[Vote], rater: str, plan: Plan) -> PositionBias | None:
    """Return the bias in these votes on pairs; None where no order is known of any."""
    ordered_votes = [v for v in votes if v.swapped is not None and v.label in LABELS]
    if not ordered_votes:
        return None
    return PositionBias(rater, _shown_first(votes, ordered_votes, plan), _swaps(ordered_votes, plan))


def _shown_first(votes: Sequence[Vote], ordered_votes: Sequence[Vote], plan: Plan) -> Result:
    decided = [v for v in ordered_votes if v.label in (FIRST, SECOND)]
    counts = _counts(decided) | {"n_missing": sum(v.label is None or v.swapped is None for v in votes)}
    straight = sum(not v.swapped for v in decided)
    method = f"{straight:,} decided answers in the members' order, {len(decided) - straight:,} swapped"
    if not decided:
        reason = "no answer prefers one of the two"
        return Result("shown_first", status="insufficient", reason=reason, method=method, **counts)
    rows = np.array([[1.0, float((v.label == SECOND) == v.swapped)] for v in decided])
    total, resampled = totals(codes([v.place for v in decided]), rows, plan)
    flags = () if 0 < straight < len(decided) else ("one_order",)
    return finished(
        "shown_first", _share(total)[0], _share(resampled), plan, method=method, flags=flags, **counts
    )


def _share(sums: Floats) -> Floats:
    n, some = sums.T
    return np.where(n > 0, some / np.where(n > 0, n, 1.0), np.nan)


def _swaps(ordered_votes: Sequence[Vote], plan: Plan) -> dict[str, Result] | None:
    """Return the share of items by outcome of the swap.

    Several answers of one order share one weight.
    """
    both: dict[tuple[str, str], tuple[list[Vote], list[Vote]]] = defaultdict(lambda: ([], []))
    for vote in ordered_votes:
        both[vote.item, vote.rater][bool(vote.swapped)].append(vote)
    asked_twice = [pair for pair in both.values() if pair[0] and pair[1]]
    if not asked_twice:
        return None
    rows = np.array([_outcomes(straight, swapped) for straight, swapped in asked_twice])
    one_each = [straight[0] for straight, _ in asked_twice]
    counts = _counts(one_each) | {"n_missing": len(both) - len(asked_twice)}
    total, resampled = totals(codes([v.place for v in one_each]), rows, plan)
    return {
        name: finished(
            name,
            float(total[0, at] / total[0].sum()),
            _share(np.column_stack([resampled.sum(axis=1), resampled[:, at]]))
            if len(resampled)
            else np.empty(0),
            plan,
            method="items that a rater answered in both orders",
            **counts,
        )
        for at, name in enumerate(SWAPS)
    }


def _outcomes(straight: Sequence[Vote], swapped: Sequence[Vote]) -> list[float]:
    """Return the shares of consistent, for the first shown, for the second shown, and otherwise."""
    counts = [0.0] * 4
    for first in straight:
        for second in swapped:
            answers = (first.label, second.label)
            if first.label == second.label:
                counts[0] += 1
            elif answers == (FIRST, SECOND):
                counts[1] += 1
            elif answers == (SECOND, FIRST):
                counts[2] += 1
            else:
                counts[3] += 1
    return [share / (len(straight) * len(swapped)) for share in counts]


def _counts(votes: Sequence[Vote]) -> Counts:
    return {
        "n_items": len({v.item for v in votes}),
        "n_clusters": len({v.place for v in votes}),
        "n_raters": len({v.rater for v in votes}),
    }


# Report of one question: all figures of its systems and raters.

# Agreement of raters on rankings: Kendall's tau-b of two, Kendall's W of all.
#
# Sources: Kendall (1938, 1945) for tau with ties; Kendall and Babington Smith (1939) for W. Tau is computed
# over the pairs of all items together: concordant minus discordant, divided by the root of the product of the
# numbers of pairs that each rater did not tie. W is computed per item, corrected for ties, then averaged.


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
    raters = tuple(sorted({rater for by_rater in ranks.values() for rater in by_rater}))
    if len(raters) < 2:
        return []
    results = [RankedAlike(raters, _w(ranks, places, plan))]
    for pair in combinations(raters, 2):
        both = [item for item, by_rater in ranks.items() if pair[0] in by_rater and pair[1] in by_rater]
        if both:
            results.append(RankedAlike(pair, _tau(ranks, places, both, pair, plan)))
    return results


def _tau(
    ranks: Ranks, places: Mapping[str, str], items: Sequence[str], pair: tuple[str, str], plan: Plan
) -> Result:
    rows = np.array([_pairs(ranks[item][pair[0]], ranks[item][pair[1]]) for item in items])
    counts: Counts = {
        "n_items": len(items),
        "n_clusters": len({places[item] for item in items}),
        "n_raters": 2,
        "n_missing": 2 * len(ranks) - sum(rater in by_rater for by_rater in ranks.values() for rater in pair),
    }
    total, resampled = totals(codes([places[item] for item in items]), rows, plan)
    return finished(
        "kendall_tau_b",
        float(_tau_of(total)[0]),
        _tau_of(resampled),
        plan,
        method="pairs of all items together",
        undefined="one of them ranked all members equally",
        **counts,
    )


def _pairs(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return concordant minus discordant pairs, and the pairs that each ranked apart."""
    i, j = np.triu_indices(len(first), 1)
    x, y = (np.sign(np.array(ranks)[i] - np.array(ranks)[j]) for ranks in (first, second))
    return [float((x * y).sum()), float((x != 0).sum()), float((y != 0).sum())]


def _tau_of(sums: Floats) -> Floats:
    difference, x, y = sums.T
    bottom = np.sqrt(x * y)
    return np.where(bottom > 0, difference / np.where(bottom > 0, bottom, 1.0), np.nan)


def kendall_w(ranks: Floats) -> float:
    """Return W of raters x members, NaN where every rater tied all members.

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
    everybody = {rater for by_rater in ranks.values() for rater in by_rater}
    for item, by_rater in ranks.items():
        value = kendall_w(np.array(list(by_rater.values()))) if len(by_rater) > 1 else float("nan")
        if not np.isnan(value):
            rows.append([1.0, value])
            used.append(places[item])
            raters |= set(by_rater)
    counts: Counts = {"n_items": len(rows), "n_clusters": len(set(used)), "n_raters": len(raters)}
    counts["n_missing"] = len(ranks) * len(everybody) - sum(len(by_rater) for by_rater in ranks.values())
    if not rows:
        reason = "no item was ranked by two raters who did not both rank all members equally"
        return Result("kendall_w", status="insufficient", reason=reason, **counts)
    total, resampled = totals(codes(used), np.array(rows), plan)
    return finished(
        "kendall_w",
        float(total[0, 1] / total[0, 0]),
        resampled[:, 1] / resampled[:, 0] if len(resampled) else np.empty(0),
        plan,
        method="corrected for ties, mean over items",
        **counts,
    )


PEOPLE, EVERYBODY = "human", ""
PEOPLE_NAME, ALL_NAME = "people", "all raters"


@dataclass(frozen=True)
class Choices:
    """Options for counting votes: ties, both-bad answers, and the system whose strength is 1000."""

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
    """Return the report. People are counted together, every judge, metric and key separately.

    Raises ValueError where there are no votes, or the anchor is not among their systems. Voters who never
    judged the anchor use the mean of their systems instead, and report that.
    """
    options, plan = choices or Choices(), plan or Plan()
    if not any(vote.label is not None for vote in votes):
        raise ValueError("there is no answer to a pair or a ranking" if votes else "there are no votes")
    settled = verdicts(votes)
    systems = sorted({system for verdict in settled for system in verdict.systems})
    if options.anchor and options.anchor not in systems:
        raise ValueError(f"no system {options.anchor!r} to start from; there are {', '.join(systems)}")
    groups = _groups(votes)
    voters = tuple(_voters(name, kind, mine, settled, options, plan) for name, kind, mine in groups)
    several = dict.fromkeys(vote.rater for vote in votes)
    positions = (
        (position_bias([v for v in votes if v.rater == rater], rater, plan) for rater in several)
        if len(several) > len(groups)
        else ()
    )
    return Preferences(
        voters,
        tuple(bias for bias in positions if bias is not None),
        tuple(agreement(settled, plan)),
        tuple(ranked_alike(settled, plan)),
        options,
        plan,
    )


def _groups(votes: Sequence[Vote]) -> list[tuple[str, str, list[Vote]]]:
    """Return name, kind and votes of each group: people first, together; others by name."""
    kinds = {vote.kind for vote in votes}
    if kinds <= {EVERYBODY}:
        return [(ALL_NAME, EVERYBODY, list(votes))]
    groups: dict[tuple[bool, str, str], list[Vote]] = {}
    for vote in votes:
        people = vote.kind in (PEOPLE, EVERYBODY)
        key = (not people, PEOPLE_NAME if people else vote.rater, PEOPLE if people else vote.kind)
        groups.setdefault(key, []).append(vote)
    return [(key[1], key[2], groups[key]) for key in sorted(groups)]


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
