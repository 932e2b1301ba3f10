"""Comparing two raters, and several comparisons at once.

Corrections of p-values: Holm (1979), Benjamini-Hochberg (1995), Benjamini-Yekutieli (2001). For the
difference of any statistic with an interval, see ``analyse`` (gaps) and ``paired_difference``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats
from calibration.statistics.table import STATISTICS

ROUNDING = 1e-12  # what counts as equal, relative to the largest value
Correction = Literal["holm", "benjamini_hochberg", "benjamini_yekutieli", "bonferroni"]


@dataclass(frozen=True)
class Test:
    """A test's statistic and its p-value."""

    statistic: float
    p: float
    method: str


def corrected(p_values: Sequence[float], correction: Correction) -> Floats:
    """Return adjusted p-values in the order given; a test is rejected at q where its value is <= q."""
    p = np.asarray(p_values, np.float64)
    m = len(p)
    if m == 0:
        return p
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError("p-values lie between 0 and 1")
    if correction == "bonferroni":
        return np.minimum(p * m, 1)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    if correction == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - ranks + 1))
    else:
        scale = m / ranks * ((1 / ranks).sum() if correction == "benjamini_yekutieli" else 1)
        stepped = np.minimum.accumulate((p[order] * scale)[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(stepped, 1)
    return out


def paired_difference(
    ratings: Ratings,
    statistic: str | Statistic,
    first: tuple[str, str],
    second: tuple[str, str],
    plan: Plan | None = None,
) -> Result:
    """A pair statistic of ``first`` less that of ``second``, on shared items and the same resamples.

    KeyError for an unknown statistic or rater. Example: kappa of (ann, judge A) less kappa of (ann, judge B).
    """
    plan = plan or Plan()
    chosen = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    columns = [tuple(ratings.column(r) for r in pair) for pair in (first, second)]
    everyone = sorted({c for pair in columns for c in pair})
    shared = np.isnan(ratings.values[:, everyone]).sum(axis=1) == 0
    limited = ratings.with_values(np.where(shared[:, None], ratings.values, np.nan))
    resampling = resampling_of(limited, plan)
    samples = [Sample(limited, pair, resampling) for pair in columns]
    found = [estimates(sample, [chosen], resampling)[0] for sample in samples]
    name = f"difference_{chosen.key}"
    counts: Counts = {
        "n_items": samples[0].n_items,
        "n_clusters": samples[0].n_clusters,
        "n_raters": len(everyone),
        "n_missing": samples[0].n_missing,
    }
    bad = next((e.verdict for e in found if not e.ok), None)
    if bad is not None:
        return Result(name, status=bad.status, reason=bad.reason, method=plan.method, **counts)
    method = f"{' and '.join(first)} less {' and '.join(second)}"
    left = [e.leave_one_out for e in found if e.leave_one_out is not None]
    return finished(
        name,
        found[0].point - found[1].point,
        found[0].replicates - found[1].replicates,
        plan,
        method=method,
        flags=tuple(dict.fromkeys(flag for e in found for flag in e.verdict.flags)),
        leave_one_out=left[0] - left[1] if left else None,
        **counts,
    )
