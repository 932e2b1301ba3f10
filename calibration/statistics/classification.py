"""A rater measured against a reference rater on one positive class: precision, recall, specificity, F1.

Also what the 2 x 2 table says beside kappa (Byrt, Bishop and Carlin 1993; Cicchetti and Feinstein 1990):
prevalence index, bias index, PABAK, positive and negative agreement.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibration.statistics.core.base import Check, Statistic, Verdict, few_events, few_of_either
from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats

BINARY = frozenset({"binary"})


def counts_of(draw: Draw) -> tuple[Floats, Floats, Floats, Floats]:
    """Return true positives, false positives, false negatives and true negatives per row."""
    tables = draw.totals("joint")
    at = _positive_position(draw.sample)
    tp = tables[:, at, at]
    fp = tables[:, :, at].sum(axis=1) - tp
    fn = tables[:, at, :].sum(axis=1) - tp
    return tp, fp, fn, tables.sum(axis=(1, 2)) - tp - fp - fn


def precision(draw: Draw) -> Floats:
    """Share of the second rater's positives that are positive for the reference."""
    tp, fp, _, _ = counts_of(draw)
    return _ratio(tp, tp + fp)


def recall(draw: Draw) -> Floats:
    """Share of the reference's positives that the second rater finds."""
    tp, _, fn, _ = counts_of(draw)
    return _ratio(tp, tp + fn)


def specificity(draw: Draw) -> Floats:
    """Share of the reference's negatives that the second rater leaves alone."""
    _, fp, _, tn = counts_of(draw)
    return _ratio(tn, tn + fp)


def f1(draw: Draw) -> Floats:
    """2 TP / (2 TP + FP + FN)."""
    tp, fp, fn, _ = counts_of(draw)
    return _ratio(2 * tp, 2 * tp + fp + fn)


def prevalence_index(draw: Draw) -> Floats:
    """(TP - TN) / n: how far the two classes are from balance."""
    tp, fp, fn, tn = counts_of(draw)
    return _ratio(tp - tn, tp + fp + fn + tn)


def bias_index(draw: Draw) -> Floats:
    """(FN - FP) / n: how much more often the first rater says positive."""
    tp, fp, fn, tn = counts_of(draw)
    return _ratio(fn - fp, tp + fp + fn + tn)


def pabak(draw: Draw) -> Floats:
    """2 * observed agreement - 1: kappa if classes were balanced and raters unbiased."""
    tp, fp, fn, tn = counts_of(draw)
    return 2 * _ratio(tp + tn, tp + fp + fn + tn) - 1


def positive_agreement(draw: Draw) -> Floats:
    """2 TP / (2 TP + FP + FN): agreement on the positive class, whoever is the reference."""
    return f1(draw)


def negative_agreement(draw: Draw) -> Floats:
    """2 TN / (2 TN + FP + FN): agreement on the negative class."""
    _, fp, fn, tn = counts_of(draw)
    return _ratio(2 * tn, 2 * tn + fp + fn)


def _positive_position(sample: Sample) -> int:
    return int(np.searchsorted(sample.grids[0], sample.ratings.positive or 0.0))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    zero = bottom == 0
    return np.where(zero, np.nan, top / np.where(zero, 1.0, bottom))


def _known_positive(sample: Sample) -> Verdict | None:
    if sample.ratings.positive is None or sample.ratings.positive not in (sample.ratings.scale or ()):
        return Verdict("rejected", "the positive class is not a value of the scale; name it")
    return None


def _need(reference: bool, second: bool, reason: str) -> Callable[[Sample], Verdict | None]:
    def check(sample: Sample) -> Verdict | None:
        positive = sample.ratings.positive
        found = (reference and bool((sample.x == positive).any())) or (
            second and bool((sample.y == positive).any())
        )
        return None if found else Verdict("undefined", reason)

    return check


def _need_negatives(reference: bool, reason: str) -> Callable[[Sample], Verdict | None]:
    def check(sample: Sample) -> Verdict | None:
        positive = sample.ratings.positive
        found = bool((sample.x != positive).any()) or (not reference and bool((sample.y != positive).any()))
        return None if found else Verdict("undefined", reason)

    return check


OF_POSITIVES = ("precision", "recall", "f1", "positive_agreement")


def _events(key: str) -> tuple[Check, ...]:
    """Return the check of how few events a figure rests on; PABAK hardly looks at the rarer class."""
    if key == "pabak":
        return ()
    return (few_events,) if key in OF_POSITIVES else (few_of_either,)


NONE_ANYWHERE = "no positives: neither rater marks one (0 in the reference)"
_FORMULAS = (
    (
        "precision",
        "Precision",
        precision,
        False,
        (_need(False, True, "no positives given by the second rater"),),
    ),
    ("recall", "Recall", recall, False, (_need(True, False, "no positives in the reference"),)),
    ("f1", "F1", f1, True, (_need(True, True, NONE_ANYWHERE),)),
    (
        "specificity",
        "Specificity",
        specificity,
        False,
        (_need_negatives(True, "no negatives in the reference"),),
    ),
    ("prevalence_index", "Prevalence index", prevalence_index, True, ()),
    ("bias_index", "Bias index", bias_index, False, ()),
    ("pabak", "PABAK", pabak, True, ()),
    (
        "positive_agreement",
        "Positive agreement",
        positive_agreement,
        True,
        (_need(True, True, NONE_ANYWHERE),),
    ),
    (
        "negative_agreement",
        "Negative agreement",
        negative_agreement,
        True,
        (_need_negatives(False, "no negatives given by either rater"),),
    ),
)

CLASSIFICATION: tuple[Statistic, ...] = tuple(
    Statistic(
        key=key,
        title=title,
        compute=compute,
        levels=BINARY,
        symmetric=symmetric,
        bounds=(-1.0, 1.0) if key in ("prevalence_index", "bias_index", "pabak") else (0.0, 1.0),
        checks=(_known_positive, *checks, *_events(key)),
    )
    for key, title, compute, symmetric, checks in _FORMULAS
)
