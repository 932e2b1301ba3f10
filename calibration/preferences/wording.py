"""How a report of preferences names its figures, and writes them."""

from __future__ import annotations

from annotation.text.display import number, percent
from calibration.statistics.core.result import FLAGS, Result
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.report import Choices, Voters
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES

NAMES = {
    "win_rate": "Win rate",
    "strength": "Strength",
    "rank": "Rank",
    "expected_win_rate": "Expected win rate",
    "tie_parameter": "Davidson’s tie parameter",
    "shown_first": "Chose the one shown first",
    "consistent": "Same answer in both orders",
    "for_first": "For the first shown, both times",
    "for_second": "For the second shown, both times",
    "otherwise": "Changed otherwise",
    "percent_agreement": "Agreement",
    "kappa": "Kappa",
    "alpha": "Krippendorff’s alpha",
    "kendall_tau_b": "Kendall’s tau-b",
    "kendall_w": "Kendall’s W",
}
SETUPS = {
    "as_answered": "As answered, both bad apart",
    "with_ties": "With ties (S1)",
    "without_ties": "Without ties (S2)",
}
ANSWERS = {
    "first": "first",
    "tie": "tie",
    "second": "second",
    "both_bad": "both bad",
    "ranking": "rankings",
}
SHARES = frozenset(NAMES) - {
    "strength",
    "rank",
    "tie_parameter",
    "kappa",
    "alpha",
    "kendall_tau_b",
    "kendall_w",
}
DIGITS = {"strength": 0, "rank": 0}


def figure(result: Result) -> str:
    """Return a value as it is shown: shares in per cent; a dash where there is none."""
    return _written(result.name, result.value)


def interval(result: Result) -> str:
    """Return the interval as it is shown, a dash where there is none."""
    if result.low is None or result.high is None:
        return "–"
    return f"{_written(result.name, result.low)} to {_written(result.name, result.high)}"


def with_interval(result: Result) -> str:
    """Return a value with its interval, or why there is no value."""
    if result.value is None:
        return "–"
    return f"{figure(result)} ({interval(result)})" if result.low is not None else f"{figure(result)} (–)"


def _written(name: str, value: float | None) -> str:
    if name in SHARES:
        return percent(value, 1)
    if name == "rank" and value is not None and value % 1:
        return number(value, 1)
    return number(value, DIGITS.get(name, 2))


def how(choices: Choices) -> list[str]:
    """Say how votes are read."""
    return [
        f"Strengths: {MODELS[choices.model]}. For win rates and strengths "
        f"{BOTH_BAD_POLICIES[choices.both_bad]}. "
        "Of a rater’s repeated answers that counts which more than half give, else they are a tie."
    ]


def who(voters: Voters) -> str:
    """Name voters with how many answers they gave, such as `people (3): 40 first, 12 tie`."""
    several = f" ({len(voters.raters)})" if len(voters.raters) > 1 or voters.kind in ("", "human") else ""
    answers = ", ".join(f"{n:,} {ANSWERS[label]}" for label, n in voters.answers.items())
    missing = f", {voters.n_missing:,} missing" if voters.n_missing else ""
    return f"{voters.name}{several}: {answers or 'no answers'}{missing}"


def told(flag: str) -> str:
    """Return what a flag says, as a sentence."""
    return f"{FLAGS[flag][0].upper()}{FLAGS[flag][1:]}"
