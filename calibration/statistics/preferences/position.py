"""The pull of the position: how often the response shown first is chosen, and what a swap changes.

Each answer counts, repeated ones as well. Where the order is drawn at random, or both orders are asked, half
of the decided answers choose the first shown if position does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.statistics.core.data import codes
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished, totals
from calibration.statistics.core.types import Floats
from calibration.statistics.preferences.votes import FIRST, LABELS, SECOND, Vote

SWAPS: dict[str, str] = {
    "consistent": "same answer in both orders",
    "for_first": "each time the one shown first",
    "for_second": "each time the one shown second",
    "otherwise": "changed in another way, such as to a tie",
}


@dataclass(frozen=True)
class PositionBias:
    """How often a rater, or a group, decided for the response shown first, and what a swap changes.

    ``swaps`` is None where no item was answered in both orders by the same rater.
    """

    rater: str
    shown_first: Result
    swaps: dict[str, Result] | None


def position_bias(votes: Sequence[Vote], rater: str, plan: Plan) -> PositionBias | None:
    """Return the bias in these votes on pairs; None where no order is known of any."""
    known = [v for v in votes if v.swapped is not None and v.label in LABELS]
    if not known:
        return None
    return PositionBias(rater, _shown_first(votes, known, plan), _swaps(known, plan))


def _shown_first(votes: Sequence[Vote], known: Sequence[Vote], plan: Plan) -> Result:
    decided = [v for v in known if v.label in (FIRST, SECOND)]
    counts = _counts(decided) | {"n_missing": sum(v.label is None or v.swapped is None for v in votes)}
    straight = sum(not v.swapped for v in decided)
    method = f"{straight:,} decided answers in the members' order, {len(decided) - straight:,} swapped"
    if not decided:
        reason = "no answer decided between the two"
        return Result("shown_first", status="insufficient", reason=reason, method=method, **counts)
    rows = np.array([[1.0, float((v.label == SECOND) == v.swapped)] for v in decided])
    whole, drawn = totals(codes([v.place for v in decided]), rows, plan)
    flags = () if 0 < straight < len(decided) else ("one_order",)
    return finished(
        "shown_first", _share(whole)[0], _share(drawn), plan, method=method, flags=flags, **counts
    )


def _share(sums: Floats) -> Floats:
    n, some = sums.T
    return np.where(n > 0, some / np.where(n > 0, n, 1.0), np.nan)


def _swaps(known: Sequence[Vote], plan: Plan) -> dict[str, Result] | None:
    """Return the share of items by what became of the answer.

    Several answers of one order weigh together as one.
    """
    both: dict[tuple[str, str], tuple[list[Vote], list[Vote]]] = defaultdict(lambda: ([], []))
    for vote in known:
        both[vote.item, vote.rater][bool(vote.swapped)].append(vote)
    asked_twice = [pair for pair in both.values() if pair[0] and pair[1]]
    if not asked_twice:
        return None
    rows = np.array([_outcomes(straight, swapped) for straight, swapped in asked_twice])
    one_each = [straight[0] for straight, _ in asked_twice]
    counts = _counts(one_each) | {"n_missing": len(both) - len(asked_twice)}
    whole, drawn = totals(codes([v.place for v in one_each]), rows, plan)
    return {
        name: finished(
            name,
            float(whole[0, at] / whole[0].sum()),
            _share(np.column_stack([drawn.sum(axis=1), drawn[:, at]])) if len(drawn) else np.empty(0),
            plan,
            method="items that a rater answered in both orders",
            **counts,
        )
        for at, name in enumerate(SWAPS)
    }


def _outcomes(straight: Sequence[Vote], swapped: Sequence[Vote]) -> list[float]:
    """Return the shares of consistent, for the first shown, for the second shown, and otherwise."""
    found = [0.0] * 4
    for one in straight:
        for other in swapped:
            answers = (one.label, other.label)
            if one.label == other.label:
                found[0] += 1
            elif answers == (FIRST, SECOND):
                found[1] += 1
            elif answers == (SECOND, FIRST):
                found[2] += 1
            else:
                found[3] += 1
    return [share / (len(straight) * len(swapped)) for share in found]


def _counts(votes: Sequence[Vote]) -> Counts:
    return {
        "n_items": len({v.item for v in votes}),
        "n_clusters": len({v.place for v in votes}),
        "n_raters": len({v.rater for v in votes}),
    }
