"""Rules of a report's sentences about the biases of judges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from statsmodels.stats.multitest import multipletests

from calibration.reports.biases import TESTED
from calibration.reports.results import BiasRow, JudgeBiases
from tests.calibration.report_facts import Facts

VALUE = r"([−+]?[\d.]+)"
ENDS = rf"\((\d+)% interval {VALUE} to {VALUE}; ([\d,]+) (?:turns|dialogues|answers about turns)\)"
EXPLANATIONS = (
    "Position: a tie counts half.",
    "Length: regression of the judge’s answer ",
    "Own family: judge less ",
    "Severity: above 0 the judge is more lenient.",
    "Rewording: the share of items with the same answer ",
    "p: of no effect, from the interval; ",
    "the length does not vary, or people",
    "too few items were rated by two people",
    "not checked: run the check of rewordings ",
    "no item was answered by both ",
)


def _float(text: str) -> float:
    return float(text.replace("−", "-"))


def _is_clear(question: JudgeBiases, row: BiasRow, facts: Facts, alpha: float) -> bool:
    """Whether an interval excludes 0 and its p, corrected over all checks of the judge, is small."""
    every = [
        other
        for biases in facts.result.biases
        for other in biases.rows
        if other.rater == row.rater and other.check in TESTED and other.p is not None and other.p.ok
    ]
    own = [at for at, other in enumerate(every) if other is row]
    if not own or row.effect.low is None or row.effect.high is None:
        return False
    corrected = multipletests([other.p.point for other in every if other.p], method="holm")[1][own[0]]
    return bool(corrected <= alpha and (row.effect.low > 0 or row.effect.high < 0))


def no_bias(facts: Facts, alpha: str) -> bool:
    """Some question has no clear effect of any judge, and its rows have no sentence."""
    return any(
        not any(row.sentence or _is_clear(q, row, facts, float(alpha)) for row in q.rows)
        for q in facts.result.biases
    )


def severity(
    facts: Facts,
    judge: str,
    way: str,
    size: str,
    level: str,
    low: str,
    high: str,
    n: str,
    place: str | None,
    lowest: str | None,
    highest: str | None,
) -> bool:
    """Judge less people, item by item, lies in the interval and has its sign."""
    effect = (1 if way == "lenient" else -1) * _float(size)
    ends = _float(low), _float(high)
    assert ends[0] * ends[1] > 0, "the interval excludes 0"
    assert effect * ends[0] > 0
    if place is not None and lowest is not None and highest is not None:
        assert (place == "within") == (_float(lowest) <= effect <= _float(highest))
    for question in facts.result.biases:
        for row in question.rows:
            if row.rater == judge and row.check == "severity" and row.sentence:
                own, people = facts.answers[question.ref][judge], facts.answers[question.ref]
                persons = [people[name] for name in people if facts.kind.get(name) == "human"]
                gaps = [
                    own[item] - np.mean([person[item] for person in persons if item in person])
                    for item in own
                    if any(item in person for person in persons)
                ]
                if len(gaps) == int(n.replace(",", "")) and ends[0] - 0.01 <= np.mean(gaps) <= ends[1] + 0.01:
                    return _is_clear(question, row, facts, 1 - int(level) / 100)
    return False


def length(facts: Facts, judge: str, way: str, size: str, level: str, low: str, high: str, n: str) -> bool:
    """The effect is that of a stored check, clear, and of the sign that the sentence names."""
    assert (way == "higher") == (_float(size) > 0)
    assert _float(low) * _float(high) > 0
    return any(
        row.rater == judge
        and row.check == "length"
        and row.effect.n_items == int(n.replace(",", ""))
        and round(row.effect.point, 2) == _float(size)
        and _is_clear(question, row, facts, 1 - int(level) / 100)
        for question in facts.result.biases
        for row in question.rows
    )


RULES: list[tuple[str, Callable[..., bool]]] = [
    (r"No bias is clear: no interval excludes 0 after Holm’s correction at (0\.\d+)\.", no_bias),
    (
        rf"(\S+): It is more (lenient|severe) than [a-z ]+ by {VALUE}(?: points)? {ENDS}"
        rf"(?:, (within|outside) the range of single [a-z ]+, {VALUE} to {VALUE})?\.",
        severity,
    ),
    (
        r"(\S+): It rates longer texts (higher|lower) than [a-z ]+ do: "
        rf"{VALUE}(?: points)? per doubling {ENDS}\.",
        length,
    ),
]
