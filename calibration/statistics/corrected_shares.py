"""How often a binary question is answered yes, where a judge answered all items and people only some.

The judge's own share, the people's on the items they answered, how the judge errs there, and both
corrections of ``prevalence``, each by cluster. Where several people answered an item, the share of them that
said yes is its truth; for sensitivity and specificity each of their answers counts. Items drawn with unequal
probabilities are weighted by 1 / probability in every figure with people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.core.engine import Result, finished, resampled
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan
from calibration.statistics.corrected_systems import (
    JudgedItems,
    confusion_corrected,
    prediction_powered_mean,
)
from calibration.statistics.prevalence import (
    Labelled,
    few_labelled,
    naive,
    prediction_powered,
    rogan_gladen_estimated,
)

PEOPLE = "human"
FIGURES = (
    "judge_share",
    "people_share",
    "sensitivity",
    "specificity",
    "prediction_powered",
    "rogan_gladen",
)
"""The figures, in the order they are read."""
NAME = "prevalence_"
"""Prefix of the names of their results."""
TITLES = {
    "judge_share": "Share by the judge",
    "people_share": "Share by people, where they answered",
    "sensitivity": "Sensitivity of the judge",
    "specificity": "Specificity of the judge",
    "prediction_powered": "Share, prediction-powered",
    "rogan_gladen": "Share, Rogan-Gladen",
}


@dataclass(frozen=True)
class Corrected:
    """A judge's share and what corrects it; figures by name, each 0 to 1.

    ``n_labelled`` items were answered by people and the judge, ``n_unlabelled`` by the judge alone;
    ``n_divided`` clusters hold both kinds.
    """

    judge: str
    people: tuple[str, ...]
    figures: dict[str, Result]
    n_labelled: int
    n_unlabelled: int
    n_divided: int


def corrected_shares(ratings: Ratings, plan: Plan | None = None) -> tuple[Corrected, ...]:
    """Return the corrected share of each judge that answered items which people did not, in their order.

    None for a question that is not binary or names no positive class, and for judges on another scale. The
    interval of ``prediction_powered`` is Student's t over clusters, the others are percentile.
    """
    plan = plan or Plan()
    people = [j for j in ratings.of_kind(PEOPLE) if ratings.on_scale[j]]
    if ratings.level != "binary" or ratings.positive is None or not people:
        return ()
    judges = [j for j in ratings.of_kind("judge") if ratings.on_scale[j]]
    results = (_of(ratings, judge, people, plan) for judge in judges)
    return tuple(result for result in results if result is not None)


def _of(ratings: Ratings, judge: int, people: list[int], plan: Plan) -> Corrected | None:
    present = ~np.isnan(ratings.values) & ratings.could_be_drawn()[:, None]
    yes = np.where(present, ratings.values == ratings.positive, np.nan)
    weights = _unequal(ratings.weights, present[:, judge] & present[:, people].any(axis=1))
    if weights is not None:  # an item that was not drawn is not labelled
        present[:, people] &= ~np.isnan(weights)[:, None]
        yes = np.where(present, yes, np.nan)
    judged, labelled = present[:, judge], present[:, people].any(axis=1)
    both_labelled, rest = judged & labelled, judged & ~labelled
    if not both_labelled.any() or not rest.any():
        return None
    clusters, judge_marks = ratings.clusters, yes[:, judge]
    truth = np.nanmean(yes[both_labelled][:, people], axis=1)
    answers, item = _answers(yes, both_labelled, people)
    pairs = Labelled.of(answers, judge_marks[item], clusters[item])
    sample = Labelled.of(truth, judge_marks[both_labelled], clusters[both_labelled])
    unlabelled, where = judge_marks[rest], clusters[rest]
    if weights is None:
        powered = prediction_powered(sample, unlabelled, where, level=plan.level)
        gladen = rogan_gladen_estimated(pairs, unlabelled, where, plan)
    else:
        columns = yes[judged][:, people]
        alike = np.zeros(len(columns), dtype=np.int64)
        items = JudgedItems(
            judge_marks[judged], columns, alike, clusters[judged], (0.0, 1.0), weights[judged]
        )
        powered = prediction_powered_mean(items, level=plan.level)
        gladen = confusion_corrected(items, np.ones(len(columns), dtype=bool), plan)
    rates = None if weights is None else weights[item]
    own = None if weights is None else weights[both_labelled]
    figures = {
        "judge_share": naive(judge_marks[judged], clusters[judged], plan),
        "people_share": _people_share(truth, clusters[both_labelled], own, plan),
        "sensitivity": _rate(pairs, rates, positive=True, plan=plan),
        "specificity": _rate(pairs, rates, positive=False, plan=plan),
        "prediction_powered": powered,
        "rogan_gladen": replace(gladen, n_items=int(judged.sum())),
    }
    return Corrected(
        ratings.raters[judge],
        tuple(ratings.raters[j] for j in people),
        {name: replace(result, name=NAME + name) for name, result in figures.items()},
        int(both_labelled.sum()),
        int(rest.sum()),
        len(np.intersect1d(clusters[both_labelled], where)),
    )


def _unequal(weights: Floats | None, labelled: np.ndarray) -> Floats | None:
    """Return the weights, None where those of all labelled items are equal."""
    if weights is None:
        return None
    own = weights[labelled & ~np.isnan(weights)]
    return weights if len(own) and np.ptp(own) > 1e-9 * own.max() else None


def _people_share(truth: Floats, clusters: Ints, weights: Floats | None, plan: Plan) -> Result:
    """Return the people's mean by item, weighted where items were drawn with unequal probabilities."""
    if weights is None:
        return replace(naive(truth, clusters, plan), method="people's mean by item")
    units = np.unique(clusters, return_inverse=True)[1].ravel()
    point, replicates = resampled(units, np.column_stack([weights, weights * truth]), _share, plan)
    return finished(
        "people_share",
        point,
        replicates,
        plan,
        n_items=len(truth),
        n_clusters=len(np.unique(units)),
        n_raters=1,
        method="people's mean by item, weighted by 1 / probability",
        flags=("unequal_probabilities",),
    )


def _answers(yes: Floats, both_labelled: np.ndarray, people: list[int]) -> tuple[Floats, Ints]:
    """Return each person's answer to an item that the judge answered too, and which item it is."""
    block = np.where(both_labelled[:, None], yes[:, people], np.nan)
    item, person = np.nonzero(~np.isnan(block))
    return block[item, person], item


def _rate(pairs: Labelled, weights: Floats | None, *, positive: bool, plan: Plan) -> Result:
    """Return the share of people's answers of one kind that the judge also gave, weighted if need be."""
    name, kind = ("sensitivity", "positives") if positive else ("specificity", "negatives")
    of = pairs.truth == float(positive)
    rows = np.column_stack([of, of & (pairs.judge == pairs.truth)]).astype(np.float64)
    if weights is not None:
        rows = rows * weights[:, None]
    point, replicates = resampled(
        np.unique(pairs.clusters, return_inverse=True)[1].ravel(), rows, _share, plan
    )
    return finished(
        name,
        point,
        replicates,
        plan,
        n_items=int(of.sum()),
        n_clusters=pairs.n_clusters,
        n_raters=2,
        method="share of people's answers that the judge gives too",
        flags=few_labelled(float(of.sum())) + (("unequal_probabilities",) if weights is not None else ()),
        undefined=f"no {kind} among the labelled items",
    )


def _share(totals: Floats) -> Floats:
    n = totals[:, 0]
    return np.where(n > 0, totals[:, 1] / np.where(n > 0, n, 1.0), np.nan)
