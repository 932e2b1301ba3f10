"""Counts and scores corrected for a judge's errors, where people rated some of the same continuations.

* ``prediction_powered`` (Angelopoulos et al. 2023), where people rated at least ``ENOUGH`` of a cell's own
  continuations: their mean on these, corrected by the judge on the others. Valid if these were drawn at
  random; in a cell over strata each stratum is corrected by itself.
* ``rogan_gladen`` (1978) else: N * (q + Sp - 1) / (Se + Sp - 1), with q the judge's share of positive turns,
  N turns a continuation, and sensitivity and specificity from all continuations that people rated. Valid if
  the judge errs in the cell as it does there. A sum is the sum of its behaviours' corrected counts.

Where several people rated a turn, the truth is the share of them that marked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration.statistics.core.engine import Result, cluster_codes, finished
from calibration.statistics.core.ratings import Floats
from calibration.statistics.prevalence import (
    REFUSED,
    Labelled,
    Stratum,
    cluster_covariance,
    few_labelled,
    prediction_powered,
    stratified,
    within_range,
)
from calibration.statistics.strata import Column, Counted, Design, Mask, Sums, mean_of_strata

Correction = Literal["auto", "rogan_gladen", "none"]
CORRECTIONS: tuple[Correction, ...] = ("auto", "rogan_gladen", "none")
ENOUGH = 10
NAME = "corrected"


@dataclass(frozen=True)
class Rated:
    """People's ratings of the same continuations, and the agreement of the judge's marks turn by turn.

    ``values``: people's count or score, mean over the people, continuations x columns, NaN where nobody rated
    or where the judge has no value. The others are sums over the turns of rated continuations, 0 elsewhere:
    people's marks (``positives``) and those of them that the judge also marked (``hits``); turns people did
    not mark (``negatives``) and those of them that the judge did not mark either (``rejections``).
    """

    values: Floats
    positives: Floats
    hits: Floats
    negatives: Floats
    rejections: Floats


def corrected(
    counted: Counted,
    rated: Rated,
    design: Design,
    in_cell: Mask,
    correction: Correction = "auto",
    refusal: str = "",
) -> list[Result | None]:
    """Return each column's corrected value in the cell of the chosen continuations; None if not requested.

    A column that cannot be corrected is a result with its reason; ``refusal`` is a reason for all of them.
    """
    if correction == "none":
        return [None] * len(counted.columns)
    if refusal:
        return [Result(NAME, status="rejected", reason=refusal)] * len(counted.columns)
    pooled = _pooled(counted, rated, design, in_cell)
    results: list[Result | None] = []
    for at, column in enumerate(counted.columns):
        if np.isnan(counted.values[in_cell, at]).all():
            results.append(None)
        elif correction == "auto" and _enough(counted, rated, design, in_cell, at):
            results.append(_powered(counted, rated, design, in_cell, at))
        elif column.is_count:
            results.append(pooled[at])
        else:
            n = int((~np.isnan(rated.values[in_cell, at])).sum())
            reason = f"people rated {n} of these continuations; {ENOUGH} are needed, in every stratum some"
            results.append(
                Result(NAME, status="insufficient", reason=reason, method="prediction-powered mean")
            )
    return results


def _enough(counted: Counted, rated: Rated, design: Design, in_cell: Mask, at: int) -> bool:
    """Whether people rated enough, and in every stratum two clusters, with at least two or none left unrated.

    A single cluster has no variance that could be estimated.
    """
    judged = in_cell & ~np.isnan(counted.values[:, at])
    labelled = judged & ~np.isnan(rated.values[:, at])
    if labelled.sum() < ENOUGH:
        return False
    rest = judged & ~labelled
    if not rest.any():
        return True
    strata = design.strata[design.unit]
    for stratum in np.unique(strata[judged]):
        own = strata == stratum
        for part in (labelled, rest):
            if len(np.unique(design.unit[part & own])) < 2:
                return False
    return True


def _powered(counted: Counted, rated: Rated, design: Design, in_cell: Mask, at: int) -> Result:
    """The prediction-powered mean, computed as a share of the highest possible count."""
    column, judge, truth = counted.columns[at], counted.values[:, at], rated.values[:, at]
    judged = in_cell & ~np.isnan(judge)
    by_people = judged & ~np.isnan(truth)
    rest = judged & ~by_people
    if not rest.any():
        return _all_rated(rated, design, by_people, at)
    most = float(counted.most[at])
    strata = design.strata[design.unit]
    parts: list[Stratum] = []
    for stratum in np.unique(strata[judged]):
        own, other = by_people & (strata == stratum), rest & (strata == stratum)
        labelled = Labelled.of(truth[own] / most, judge[own] / most, design.unit[own])
        parts.append((labelled, judge[other] / most, design.unit[other]))
    level = design.plan.level
    if len(parts) == 1:
        result = prediction_powered(*parts[0], level=level)
    else:
        shares = [1.0] * len(parts)
        result = stratified(parts, shares=shares, tuning=_shared_tuning(parts), level=level)
    few = few_labelled(float(truth[by_people].sum())) if column.is_count else ()
    return _scaled(result, most, column).with_flags(*few)


def _shared_tuning(strata: Sequence[Stratum]) -> float:
    """Return the lambda at which the variance over all strata is smallest.

    One lambda, because each stratum's own would rest on few rated continuations: fitted to these it is
    biased.
    """
    top = bottom = 0.0
    for labelled, judge, clusters in strata:
        f, units = np.asarray(judge, np.float64), cluster_codes(clusters, len(np.asarray(judge)))
        top += cluster_covariance(labelled.truth, labelled.judge, labelled.clusters)
        bottom += cluster_covariance(labelled.judge, labelled.judge, labelled.clusters)
        bottom += cluster_covariance(f, f, units)
    return top / bottom if bottom > 0 else 0.0


def _all_rated(rated: Rated, design: Design, labelled: Mask, at: int) -> Result:
    """People's own mean, where they rated every continuation."""
    sums = design.sums(rated.values[:, [at]], labelled)
    units = sums.present
    own, strata = sums.at(units), design.strata[units]
    point = mean_of_strata(np.ones((1, len(strata))), own, strata)[0, 0]
    replicates = design.replicates(units, lambda weights: mean_of_strata(weights, own, strata))[:, 0]
    return finished(
        NAME,
        float(point),
        replicates,
        design.plan,
        n_items=int(labelled.sum()),
        n_clusters=design.n_clusters(units),
        n_raters=2,
        method="people's own mean, as they rated every continuation",
    )


def _scaled(result: Result, most: float, column: Column) -> Result:
    """Return a share's result in counts."""
    value, low, high = result.value, result.low, result.high
    flags = tuple(flag for flag in result.flags if flag != "few_events")  # counts have events of their own
    if value is None or not column.is_count:
        return replace(result, name=NAME, flags=flags)
    low, high = (None if end is None else end * most for end in (low, high))
    return replace(result, name=NAME, value=value * most, low=low, high=high, flags=flags)


def _pooled(counted: Counted, rated: Rated, design: Design, in_cell: Mask) -> list[Result | None]:
    """Rogan-Gladen for each column of counts, cell and rated continuations on the same resamples."""
    sums = design.sums(counted.values, in_cell)
    turns = np.hstack([rated.positives, rated.hits, rated.negatives, rated.rejections])
    confusion_sums = Sums(*(design.sums(turns, np.ones(len(turns), dtype=bool)).totals,) * 2)
    units = sums.present | confusion_sums.present
    own, seen, strata = sums.at(units), confusion_sums.at(units), design.strata[units]
    most = counted.most

    def compute(weights: Floats) -> Floats:
        cell = mean_of_strata(weights, own, strata)
        return _rogan_gladen(cell, weights @ seen.totals, most, counted.columns)

    points = compute(np.ones((1, len(strata))))[0]
    replicates = design.replicates(units, compute)
    totals = np.split(confusion_sums.totals.sum(axis=0), 4)
    reasons = _refusals(totals, counted.columns)
    n_rated = int((~np.isnan(rated.values)).any(axis=1).sum())
    method = f"Rogan-Gladen, sensitivity and specificity from the {n_rated} continuations that people rated"
    results: list[Result | None] = []
    for at, column in enumerate(counted.columns):
        n = int((~np.isnan(counted.values[in_cell, at])).sum())
        if reasons[at] is not None:
            status, reason = reasons[at] or ("undefined", "")
            results.append(Result(NAME, status=status, reason=reason, method=method, n_items=n, n_raters=2))
            continue
        members = column.addends or (at,)
        flags: tuple[str, ...] = ("errors_measured_elsewhere",)
        flags += few_labelled(min(min(totals[0][m], totals[2][m]) for m in members))
        n_clusters = design.n_clusters(sums.present)
        results.append(
            within_range(
                finished(
                    NAME,
                    float(points[at]),
                    np.clip(replicates[:, at], 0, most[at]),
                    design.plan,
                    n_items=n,
                    n_clusters=n_clusters,
                    n_raters=2,
                    method=method,
                    flags=flags,
                ),
                float(most[at]),
            )
        )
    return results


def _rogan_gladen(cell: Floats, turns: Floats, most: Floats, columns: Sequence[Column]) -> Floats:
    positives, hits, negatives, rejections = np.split(turns, 4, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        specificity = rejections / negatives
        gain = hits / positives + specificity - 1
        value = most * (cell / most + specificity - 1) / gain
    value = np.where(gain > 0, value, np.nan)
    for at, column in enumerate(columns):
        if column.addends:
            value[:, at] = value[:, list(column.addends)].sum(axis=1)
    return value


def _refusals(
    totals: Sequence[Floats], columns: Sequence[Column]
) -> list[tuple[Literal["undefined", "rejected"], str] | None]:
    """Return why a column cannot be corrected by people's ratings, None where it can."""
    positives, hits, negatives, rejections = totals
    refusals: list[tuple[Literal["undefined", "rejected"], str] | None] = []
    for at, column in enumerate(columns):
        reason: tuple[Literal["undefined", "rejected"], str] | None = None
        if column.addends:
            bad = next((m for m in column.addends if refusals[m] is not None), None)
            inner = None if bad is None else refusals[bad]
            reason = None if bad is None or inner is None else (inner[0], f"{columns[bad].key}: {inner[1]}")
        elif positives[at] == 0:
            reason = "undefined", "people marked none of the turns they rated, so sensitivity is not known"
        elif negatives[at] == 0:
            reason = "undefined", "people marked every turn they rated, so specificity is not known"
        elif hits[at] / positives[at] + rejections[at] / negatives[at] <= 1:
            reason = "rejected", REFUSED
        refusals.append(reason)
    return refusals
