"""Verdicts of the suites: whether a system scores better than the baselines, by a rule over intervals. Pure.

Every difference is a system's score minus a baseline's on the same items, with an interval over clusters. The
first line that holds is the verdict:

1. *Cannot say yet*: a difference is undefined, has fewer than LEAST_CLUSTERS clusters, or has no interval.
2. *Below*: an interval lies below 0, even if all missing items were right.
3. *Above every baseline*: all intervals lie above 0, even if all missing items were wrong.
4. *Cannot say yet*: 2 or 3 would hold if the missing items were left out.
5. *Not shown to be better*: everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Literal

from annotation.text.display import number
from calibration.statistics import Result

State = Literal["above", "not_above", "below", "cannot_say"]
ABOVE: State = "above"
NOT_ABOVE: State = "not_above"
BELOW: State = "below"
CANNOT_SAY: State = "cannot_say"
TITLES: dict[State, str] = {
    ABOVE: "Above every baseline",
    NOT_ABOVE: "Not shown to be better",
    BELOW: "Below a baseline",
    CANNOT_SAY: "Cannot say yet",
}
Step = Literal["add", "complete", "read", "resample", ""]
"""The kind of a next step: more clusters, missing items, reading failures, a report with intervals, none."""
STEPS: tuple[Step, ...] = ("add", "complete", "read", "resample")
LEAST_CLUSTERS = 10
"""Below this number of clusters an interval says too little for a verdict."""
LEAST_GAP = 0.005
"""A smaller difference is 0 in print, and no number of clusters is estimated for it."""
DEGENERATE = "degenerate_resamples"
RESAMPLE = "Compute the report with resamples."


@dataclass(frozen=True)
class Comparison:
    """A system's score minus a baseline's, on the same items.

    ``if_wrong`` and ``if_right`` are the difference with all missing items of the system counted as wrong and
    as right; both equal ``difference`` if nothing is missing.
    """

    baseline: str
    difference: Result
    if_wrong: Result
    if_right: Result

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as plain data, with the ends of its interval under both bounds."""
        return {
            "baseline": self.baseline,
            "value": self.difference.value,
            "low": self.difference.low,
            "high": self.difference.high,
            "low_if_missing_wrong": self.if_wrong.low,
            "high_if_missing_right": self.if_right.high,
            "n": self.difference.n_items,
            "n_clusters": self.difference.n_clusters,
            "n_missing": self.difference.n_missing,
            "reason": self.difference.reason,
        }


@dataclass(frozen=True)
class Wording:
    """Terms of a report: its score, its cluster (one, several), and the next steps of a verdict."""

    score: str
    cluster: str
    clusters: str
    add: str
    """How to get more clusters."""
    complete: str
    """How to get the missing items."""
    read: str
    """Where to read what went wrong."""


@dataclass(frozen=True)
class Verdict:
    """A state with its main reason and the next step; `needed` clusters would show the difference."""

    state: State
    sentence: str
    step: Step
    next_step: str
    comparisons: tuple[Comparison, ...]
    needed: int | None = None

    @property
    def title(self) -> str:
        """The state in words."""
        return TITLES[self.state]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "state": self.state,
            "sentence": self.sentence,
            "step": self.step,
            "next": self.next_step,
            "needed": self.needed,
            "baselines": [comparison.as_dict() for comparison in self.comparisons],
        }


def verdict(comparisons: Sequence[Comparison], wording: Wording) -> Verdict:
    """Return the verdict on a system from its differences from the baselines, at least one."""
    return (
        _missing_interval(comparisons, wording)
        or _clear_verdict(comparisons, wording)
        or _not_above(comparisons, wording)
    )


def _missing_interval(comparisons: Sequence[Comparison], wording: Wording) -> Verdict | None:
    """Return the verdict where a difference or its interval is missing, or rests on too few clusters."""
    compared = tuple(comparisons)
    for comparison in comparisons:
        if comparison.difference.value is None:
            sentence = f"There is no difference from {comparison.baseline}: {comparison.difference.reason}."
            return Verdict(CANNOT_SAY, sentence, "complete", wording.complete, compared)
    fewest = min(comparison.difference.n_clusters for comparison in comparisons)
    if fewest < LEAST_CLUSTERS:
        clusters = f"{fewest} {wording.cluster if fewest == 1 else wording.clusters}"
        sentence = f"Only {clusters}; a verdict needs at least {LEAST_CLUSTERS}."
        return Verdict(CANNOT_SAY, sentence, "add", wording.add, compared, LEAST_CLUSTERS)
    for comparison in comparisons:
        for result in (comparison.difference, comparison.if_wrong, comparison.if_right):
            if _ends(result) is None:
                reason = result.reason.removeprefix("no interval: ")
                sentence = f"The difference from {comparison.baseline} has no interval: {reason}."
                return Verdict(CANNOT_SAY, sentence, "resample", RESAMPLE, compared)
    return None


def _clear_verdict(comparisons: Sequence[Comparison], wording: Wording) -> Verdict | None:
    """Return *below* or *above every baseline*, or *cannot say* where that hangs on missing items."""
    compared = tuple(comparisons)
    if below := [comparison for comparison in comparisons if _is_below(comparison.if_right)]:
        worst = min(below, key=_value)
        return Verdict(BELOW, f"{_gap(worst, wording)}.", "read", wording.read, compared)
    closest = min(comparisons, key=_value)
    if all(_is_above(comparison.if_wrong) for comparison in comparisons):
        return Verdict(ABOVE, f"{_gap(closest, wording, 'the best baseline, ')}.", "", "", compared)
    is_below = any(_is_below(comparison.difference) for comparison in comparisons)
    if is_below or all(_is_above(comparison.difference) for comparison in comparisons):
        n_missing = max(comparison.difference.n_missing for comparison in comparisons)
        side = f"below {closest.baseline}" if is_below else "above every baseline"
        sentence = f"It is {side} where it has a score; {n_missing:,} missing scores could change that."
        return Verdict(CANNOT_SAY, sentence, "complete", wording.complete, compared)
    return None


def _not_above(comparisons: Sequence[Comparison], wording: Wording) -> Verdict:
    """Return *not shown to be better*, with the closest baseline whose interval includes 0."""
    compared = tuple(comparisons)
    closest = min((each for each in comparisons if not _is_above(each.difference)), key=_value)
    value, (low, _) = _value(closest), _ends(closest.difference) or (0.0, 0.0)
    sentence = f"{_gap(closest, wording)}."
    if closest.difference.n_missing:
        return Verdict(NOT_ABOVE, sentence, "complete", wording.complete, compared)
    if value < LEAST_GAP:
        return Verdict(NOT_ABOVE, sentence, "read", wording.read, compared)
    needed = _rounded_up(closest.difference.n_clusters * ((value - low) / value) ** 2)
    sentence += f" About {needed:,} {wording.clusters} would show such a difference."
    return Verdict(NOT_ABOVE, sentence, "add", wording.add, compared, needed)


def _rounded_up(count: float) -> int:
    """Round a number up to two significant digits."""
    unit = 10 ** max(floor(log10(count)) - 1, 0)
    return int(ceil(count / unit) * unit)


def _value(comparison: Comparison) -> float:
    return comparison.difference.value or 0.0


def _gap(comparison: Comparison, wording: Wording, role: str = "") -> str:
    """Return a difference in words: `Competence 0.14 below mention_rule (0.07 to 0.22)`."""
    value, (low, high) = _value(comparison), _ends(comparison.difference) or (0.0, 0.0)
    score = f"{wording.score[0].upper()}{wording.score[1:]}"
    if abs(value) < LEAST_GAP:
        return f"{score} the same as {comparison.baseline} ({number(low)} to {number(high)})"
    if value < 0:
        return f"{score} {number(-value)} below {comparison.baseline} ({number(-high)} to {number(-low)})"
    return f"{score} {number(value)} above {role}{comparison.baseline} ({number(low)} to {number(high)})"


def _ends(result: Result) -> tuple[float, float] | None:
    """Return an interval; of a difference that is the same in every resample, its value twice."""
    if DEGENERATE in result.flags and result.value is not None:
        return result.value, result.value
    return None if result.low is None or result.high is None else (result.low, result.high)


def _is_above(result: Result) -> bool:
    ends = _ends(result)
    return ends is not None and ends[0] > 0


def _is_below(result: Result) -> bool:
    ends = _ends(result)
    return ends is not None and ends[1] < 0
