"""What adjudicators decided comes first; where they decided nothing, a label chosen in another way."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats
from calibration.statistics.gold import Chosen

Bools = npt.NDArray[np.bool_]
DECIDED = "adjudication"


def adjudicated_first(
    ratings: Ratings, decisions: Ratings, *, empty: Collection[str] = (), fallback: Chosen | None, name: str
) -> Chosen:
    """Return per item what was decided, else the fallback's label; ``sources`` tells the two apart.

    ``decisions`` is items x adjudicators, over the items of ``ratings``. Adjudicators who decided differently
    leave no label, nor does a decision that there is no answer (items named in ``empty``). Confidence of what
    was decided is the share of the item's ratings that say the same, NaN where there are none; ``n_ratings``
    then counts adjudicators. ``name`` is what the fallback is called. Without a fallback, items on which
    nothing was decided have no label.
    """
    given = ~np.isnan(decisions.values)
    n_decisions = given.sum(axis=1)
    nothing = np.array([item in empty for item in ratings.items], dtype=np.bool_)
    reached = (n_decisions > 0) | nothing
    low = np.where(given, decisions.values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(given, decisions.values, -np.inf).max(axis=1, initial=-np.inf)
    agreed = (n_decisions > 0) & (low == high) & ~nothing
    n = np.where(reached, n_decisions, fallback.n_ratings if fallback else 0)
    other = fallback.values if fallback else np.full(len(reached), np.nan)
    values = np.where(agreed, low, np.where(reached, np.nan, other))
    unsure = fallback.confidence if fallback else np.full(len(reached), np.nan)
    confidence = np.where(agreed, _share(ratings, low), np.where(reached, np.nan, unsure))
    return Chosen(
        values,
        confidence,
        n,
        np.where(reached, False, fallback.tied if fallback else False),
        ratings.items,
        f"adjudicated, else {name or 'none'}",
        reasons=_reasons(ratings, decisions, reached, agreed, nothing, fallback),
        sources=tuple(DECIDED if decided else name for decided in reached),
        raters=fallback.raters if fallback else {},
        remarks=(
            f"{int(agreed.sum())} of {len(reached)} items were decided by adjudication",
            *(fallback.remarks if fallback else ()),
        ),
        estimation=fallback.estimation if fallback else None,
    )


def _share(ratings: Ratings, decided: Floats) -> Floats:
    n = (~np.isnan(ratings.values)).sum(axis=1)
    same = (ratings.values == decided[:, None]).sum(axis=1)
    return np.where(n > 0, same / np.maximum(n, 1), np.nan)


def _reasons(
    ratings: Ratings,
    decisions: Ratings,
    reached: Bools,
    agreed: Bools,
    nothing: Bools,
    fallback: Chosen | None,
) -> dict[int, str]:
    kept = dict(fallback.reasons) if fallback else {}
    reasons = {row: reason for row, reason in kept.items() if not reached[row]}
    if fallback is None:
        reasons |= {int(row): "it was not adjudicated" for row in np.flatnonzero(~reached)}
    for row in np.flatnonzero(reached & ~agreed):
        values = np.unique(decisions.values[row][~np.isnan(decisions.values[row])])
        if not len(values):
            reasons[int(row)] = "adjudicated as having no answer"
            continue
        names = [decisions.label(float(value)) for value in values] + ["no answer"] * bool(nothing[row])
        reasons[int(row)] = f"adjudicators decided differently: {' and '.join(names)}"
    return reasons
