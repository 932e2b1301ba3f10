"""`agree --threshold` and `--scale-maps`: metrics' scores in people's terms, cross-fitted by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from calibration.agree.report import Block, Section
from calibration.statistics import Analysis, Entry, Plan, Ratings, Result
from calibration.statistics.cross_fitting import FOLDS
from calibration.statistics.scores import MAPS, RULES, Mapped, Marks, Probabilities, ScoreAnalysis, of_scores

HOW = (
    f"Cross-fitted: the clusters are dealt into {FOLDS} folds, and each item is read by what the other folds "
    "teach."
)


def computed(ratings: Ratings, plan: Plan, *, threshold: bool, maps: bool) -> ScoreAnalysis:
    """Return what was asked for of the scores in a question's ratings."""
    found = of_scores(ratings, plan=plan)
    return replace(
        found,
        marks=found.marks if threshold else (),
        probabilities=found.probabilities if threshold else (),
        mapped=found.mapped if maps else (),
    )


def section(title: str, ratings: Ratings, found: ScoreAnalysis) -> Section:
    """Return the scores of a question as a section of the report: a block per score and kind of reading."""
    rows = [(_heading(one), entries(one, title)) for one in readings(found)]
    blocks = tuple(Block(heading, shown) for heading, shown in rows if shown)
    said = tuple(f"{_heading(one)}: {one.reason}." for one in readings(found) if one.reason)
    every = tuple(entry for block in blocks for entry in block.entries)
    name = f"Scores in people’s terms: {title}" if title else "Scores in people’s terms"
    return Section(name, ratings, Analysis(panel=every), (HOW,), said, blocks, ())


def readings(found: ScoreAnalysis) -> Sequence[Marks | Probabilities | Mapped]:
    """Return every reading of every score."""
    return (*found.marks, *found.probabilities, *found.mapped)


def _heading(one: Marks | Probabilities | Mapped) -> str:
    if isinstance(one, Probabilities):
        return f"{one.rater} as a probability, {one.method}"
    if isinstance(one, Mapped):
        return f"{one.rater} on people’s scale, {MAPS[one.map]}"
    if one.threshold is None:
        return f"{one.rater}, threshold by {RULES[one.rule].name}"
    sign = "at least" if one.threshold.rising else "at most"
    return f"{one.rater} {sign} {one.threshold.value:.4g}, by {RULES[one.rule].name}"


def entries(one: Marks | Probabilities | Mapped, question: str) -> tuple[Entry, ...]:
    """Return the figures of one reading of a score, named after it."""
    return tuple(
        Entry(replace(result, name=f"{_prefix(one)}_{result.name}"), (one.rater,), question)
        for result in _results(one)
    )


def _prefix(one: Marks | Probabilities | Mapped) -> str:
    if isinstance(one, Probabilities):
        return one.method
    return f"map_{one.map}" if isinstance(one, Mapped) else f"threshold_{one.rule}"


def _results(one: Marks | Probabilities | Mapped) -> tuple[Result, ...]:
    if not isinstance(one, Probabilities):
        return one.results
    found = one.calibration
    if found is None:
        return ()
    parts = found.parts
    error = found.expected_calibration_error
    return (error, found.brier, parts.reliability, parts.resolution, parts.uncertainty, parts.within)


def as_json(found: ScoreAnalysis, question: str) -> dict[str, list[dict[str, Any]]]:
    """Return plain values: `thresholds`, `probabilities` with their bins, and `scale_maps`."""
    return {
        "thresholds": [
            _plain(one, question)
            | {
                "rule": one.rule,
                "threshold": one.threshold.value if one.threshold else None,
                "rising": one.threshold.rising if one.threshold else None,
                "least": one.least,
                "most": one.most,
                "n_ties": one.n_ties,
            }
            for one in found.marks
        ],
        "probabilities": [
            _plain(one, question) | {"method": one.method, "bins": _bins(one)} for one in found.probabilities
        ],
        "scale_maps": [_plain(one, question) | {"map": one.map} for one in found.mapped],
    }


def _plain(one: Marks | Probabilities | Mapped, question: str) -> dict[str, Any]:
    figures = {result.name: result.as_dict() for result in _results(one)}
    return {
        "question": question,
        "rater": one.rater,
        "n_learned": one.n_learned,
        "reason": one.reason,
        "figures": figures,
    }


def _bins(one: Probabilities) -> list[dict[str, Any]]:
    return [
        {"low": b.low, "high": b.high, "n": b.n, "predicted": b.predicted, "observed": b.observed.as_dict()}
        for b in (one.calibration.curve if one.calibration else ())
    ]
