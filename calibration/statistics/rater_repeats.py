"""How alike a rater answers when it is asked again: by several samples, or the same item twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration.statistics.core.base import InReports
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.types import CATEGORIES, Floats
from calibration.statistics.describe import as_numbers, bland_altman
from calibration.statistics.gold import majority
from calibration.statistics.repeats import pass_at_k, pass_hat_k, self_consistency

How = Literal["samples", "again"]
KS = (1, 2, 3, 4, 5, 8, 16, 32)

SAME = {
    "percent_agreement": InReports("Percent agreement with itself", "Same answer"),
    "gwet_ac1": InReports("Gwet's AC1 with itself", "AC1"),
    "krippendorff_alpha": InReports("Krippendorff's alpha with itself", "α"),
    "drift": InReports("Second answer less the first", "Drift"),
}
"""What figures say, by their names without `samples_` or `again_`."""
PASSES = {
    "pass_hat_": "marked by all k samples (pass^k)",
    "pass_at_": "marked by one of k samples or more (pass@k)",
    "right_hat_": "right in all k samples (pass^k)",
}
"""What a sample's success is, by the start of a figure's name; the rest of the name is k."""


def repeat_title(name: str) -> str:
    """Return what a figure of repeated answers is called; nothing for another figure."""
    how, _, same = name.partition("_")
    if how in ("samples", "again") and same in SAME:
        return SAME[same].name
    for start, what in PASSES.items():
        k = name.removeprefix(start)
        if name.startswith(start) and k.isdecimal():
            return f"{what[:1].upper()}{what[1:]}, k = {k}"
    return ""


@dataclass(frozen=True)
class Repeats:
    """A rater's answers to the same items: `n_answers` samples each, or two occasions; and its figures."""

    rater: str
    kind: str
    how: How
    n_answers: int
    figures: tuple[Result, ...]


def repeats_of(
    answers: Ratings, rater: str, how: How, *, reference: Floats | None = None, plan: Plan
) -> Repeats:
    """Return what can be said of a rater's repeated answers, one column per sample or occasion.

    ``reference`` holds, per item of ``answers``, what the others say it is (NaN where they are at odds or
    silent): against it binary samples are right or wrong.
    """
    found = [replace(r, name=f"{how}_{r.name}") for r in self_consistency(answers, plan)]
    block = as_numbers(answers)
    if how == "again" and block is not None:
        drift, _, _ = bland_altman(block[:, 1], block[:, 0], resampling_of(answers, plan))
        found.append(replace(drift, name="again_drift"))
    if how == "samples" and answers.level == "binary" and block is not None:
        truth = None if reference is None or answers.positive is None else reference == answers.positive
        known = None if truth is None or reference is None else np.where(np.isnan(reference), np.nan, truth)
        found += _passes(answers, block, known, plan)
    return Repeats(rater, answers.kinds[0], how, len(answers.raters), tuple(found))


def right_answers(ratings: Ratings, rater: str) -> Floats | None:
    """Return what an answer key, or else most people but the rater, say of each item; None without either."""
    if ratings.level not in CATEGORIES:
        return None
    keys = [j for j in ratings.of_kind("key") if ratings.on_scale[j]]
    people = [j for j in ratings.of_kind("human") if ratings.on_scale[j] and ratings.raters[j] != rater]
    return majority(ratings, columns=keys or people).values if keys or people else None


def _passes(answers: Ratings, block: Floats, truth: Floats | None, plan: Plan) -> list[Result]:
    """Return pass^k and pass@k of marking, and pass^k of being right, over items with all of the samples."""
    whole = ~np.isnan(block).any(axis=1)
    n = block.shape[1]
    marked = block[whole].sum(axis=1).astype(int).tolist()
    units = answers.clusters[whole]
    ks = [k for k in KS if k < n] + [n]
    found = [pass_hat_k(marked, n, k, units, plan) for k in ks]
    found += [pass_at_k(marked, n, k, units, plan) for k in ks]
    if truth is None:
        return found
    known = whole & ~np.isnan(truth)
    right = (block[known] == truth[known][:, None]).sum(axis=1).astype(int).tolist()
    units = answers.clusters[known]
    return found + [replace(pass_hat_k(right, n, k, units, plan), name=f"right_hat_{k}") for k in ks]
