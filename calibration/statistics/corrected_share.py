"""How often a binary question is answered yes, where a judge answered all items and people only some.

The judge's own share, the people's on the items they answered, how the judge errs there, and both corrections
of ``prevalence``, each resampled by cluster. Where several people answered an item, the share of them that
said yes is its truth; for sensitivity and specificity each of their answers counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Result
from calibration.statistics.core.sums import finished, resampled
from calibration.statistics.core.types import Floats, Ints
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
"""What the names of their results begin with."""
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
    found = (_of(ratings, judge, people, plan) for judge in judges)
    return tuple(one for one in found if one is not None)


def _of(ratings: Ratings, judge: int, people: list[int], plan: Plan) -> Corrected | None:
    given = ~np.isnan(ratings.values)
    yes = np.where(given, ratings.values == ratings.positive, np.nan)
    judged, labelled = given[:, judge], given[:, people].any(axis=1)
    known, rest = judged & labelled, judged & ~labelled
    if not known.any() or not rest.any():
        return None
    clusters, said = ratings.clusters, yes[:, judge]
    truth = np.nanmean(yes[known][:, people], axis=1)
    answers, item = _answers(yes, known, people)
    pairs = Labelled.of(answers, said[item], clusters[item])
    sample = Labelled.of(truth, said[known], clusters[known])
    unlabelled, where = said[rest], clusters[rest]
    powered = prediction_powered(sample, unlabelled, where, level=plan.level)
    gladen = rogan_gladen_estimated(pairs, unlabelled, where, plan)
    figures = {
        "judge_share": naive(said[judged], clusters[judged], plan),
        "people_share": replace(naive(truth, clusters[known], plan), method="people's mean by item"),
        "sensitivity": _rate(pairs, positive=True, plan=plan),
        "specificity": _rate(pairs, positive=False, plan=plan),
        "prediction_powered": powered,
        "rogan_gladen": replace(gladen, n_items=int(judged.sum())),
    }
    return Corrected(
        ratings.raters[judge],
        tuple(ratings.raters[j] for j in people),
        {name: replace(result, name=NAME + name) for name, result in figures.items()},
        int(known.sum()),
        int(rest.sum()),
        len(np.intersect1d(clusters[known], where)),
    )


def _answers(yes: Floats, known: np.ndarray, people: list[int]) -> tuple[Floats, Ints]:
    """Return each person's answer to an item that the judge answered too, and which item it is."""
    block = np.where(known[:, None], yes[:, people], np.nan)
    item, person = np.nonzero(~np.isnan(block))
    return block[item, person], item


def _rate(pairs: Labelled, *, positive: bool, plan: Plan) -> Result:
    """Return how often the judge says what people said, of their answers of one kind."""
    name, kind = ("sensitivity", "positives") if positive else ("specificity", "negatives")
    of = pairs.truth == float(positive)
    rows = np.column_stack([of, of & (pairs.judge == pairs.truth)]).astype(np.float64)
    point, drawn = resampled(np.unique(pairs.clusters, return_inverse=True)[1].ravel(), rows, _share, plan)
    return finished(
        name,
        point,
        drawn,
        plan,
        n_items=int(of.sum()),
        n_clusters=pairs.n_clusters,
        n_raters=2,
        method="share of people's answers that the judge gives too",
        flags=few_labelled(float(of.sum())),
        undefined=f"no {kind} among the labelled items",
    )


def _share(totals: Floats) -> Floats:
    n = totals[:, 0]
    return np.where(n > 0, totals[:, 1] / np.where(n > 0, n, 1.0), np.nan)
