"""How far raters agree on pairs, with ties and without, whichever member is called the first.

Which member of a pair bears number 0 is a convention. So every item is read both ways round, as it is and
with its members' names exchanged, and agreement is read from the table of both: then chance agreement, and
with it kappa and alpha, cannot depend on the convention. (With no ties chance is one half for any raters, and
kappa is 2 p - 1 of the share p on which they agree.)

The setups are those of MT-Bench (Zheng et al. 2023): S1 keeps ties, S2 takes the items that both decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.core.data import codes
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished, totals
from calibration.statistics.core.types import Floats
from calibration.statistics.preferences.votes import BOTH_BAD, FIRST, SECOND, TIE, Verdict

SETUPS: dict[str, str] = {
    "as_answered": "all four answers, both bad apart from a tie",
    "with_ties": "ties kept, both bad as a tie (S1 of MT-Bench)",
    "without_ties": "items that both decided (S2 of MT-Bench)",
}
TURNED = np.array([1, 0, 2, 3])
"""Categories first, second, tie and both bad, and what each becomes with the members exchanged."""
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
    raters = sorted({rater for given in answers.values() for rater in given})
    setups = list(SETUPS) if any(v.label == BOTH_BAD for v in verdicts) else list(SETUPS)[1:]
    if len(raters) < 2:
        return []
    found = [Agreed(tuple(raters), setup, (_alpha(answers, places, setup, plan),)) for setup in setups]
    for one, other in combinations(raters, 2):
        both = [item for item, given in answers.items() if one in given and other in given]
        if both:
            found += [_pair(answers, places, both, (one, other), setup, plan) for setup in setups]
    return found


def _answers(verdicts: Sequence[Verdict]) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    answers: dict[str, dict[str, int]] = defaultdict(dict)
    places = {}
    for verdict in verdicts:
        if verdict.label:
            answers[verdict.item][verdict.rater] = CODE[verdict.label]
            places[verdict.item] = verdict.place
    return answers, places


def _kept(given: Mapping[str, int], setup: str) -> list[int]:
    """Return an item's answers as a setup reads them."""
    if setup == "without_ties":
        return [code for code in given.values() if code < CODE[TIE]]
    return [min(code, CODE[TIE]) if setup == "with_ties" else code for code in given.values()]


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
        kept = _kept({rater: answers[item][rater] for rater in raters}, setup)
        if len(kept) == 2:
            table = np.zeros((4, 4))
            table[kept[0], kept[1]] += 0.5
            table[TURNED[kept[0]], TURNED[kept[1]]] += 0.5
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
    whole, drawn = totals(codes(used), np.array(rows), plan)
    results = tuple(
        finished(
            name,
            float(compute(whole)[0]),
            compute(drawn),
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
    """(p - e) / (1 - e) with e of the margins of the table read both ways round; NaN where e is 1."""
    tables = sums.reshape(-1, 4, 4)
    n = tables.sum(axis=(1, 2))
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / np.where(n > 0, n, 1.0) ** 2
    room = 1 - chance
    return np.where(room > 1e-12, (_percent(sums) - chance) / np.where(room > 1e-12, room, 1.0), np.nan)


def _alpha(
    answers: Mapping[str, Mapping[str, int]], places: Mapping[str, str], setup: str, plan: Plan
) -> Result:
    rows, used, raters, missing = [], [], set(), 0
    everybody = {rater for given in answers.values() for rater in given}
    for item, given in answers.items():
        missing += len(everybody) - len(given)
        kept = np.array(_kept(given, setup))
        if len(kept) >= 2:
            rows.append(((_coincidences(kept) + _coincidences(TURNED[kept])) / 2).ravel())
            used.append(places[item])
            raters |= set(given)
    counts: Counts = {"n_items": len(rows), "n_clusters": len(set(used)), "n_raters": len(raters)}
    counts["n_missing"] = missing
    if not rows:
        why = (
            "no item that two raters decided"
            if setup == "without_ties"
            else "no item that two raters answered"
        )
        return Result("alpha", status="insufficient", reason=why, method=SETUPS[setup], **counts)
    whole, drawn = totals(codes(used), np.array(rows), plan)
    return finished(
        "alpha",
        float(_alpha_of(whole)[0]),
        _alpha_of(drawn),
        plan,
        method=f"Krippendorff's, nominal; {SETUPS[setup]}; both ways round",
        undefined="no variation: every answer is the same",
        **counts,
    )


def _coincidences(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """Return an item's ordered pairs of answers by value, each over the number of answers less one."""
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
