"""Tables of a report of preferences, the same on its page and in every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.text.display import number, percent
from calibration.statistics.core.engine import FLAGS, Result
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS, Meeting, Standing
from calibration.statistics.preferences import SWAPS, Agreed, Choices, PositionBias, Preferences, Voters

# How a report of preferences names its figures, and writes them.

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


# The tables of a report, the same on its page and in every file: headings, and rows of results or texts.

Cell = str | int | Result | None
"""A name, a count, a figure, or nothing (not measured)."""


@dataclass(frozen=True)
class Sheet:
    """One table. ``of`` names the voters that it is about, empty where it is about all."""

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    of: str = ""
    note: str = ""

    @property
    def results(self) -> list[Result]:
        """All figures in it."""
        return [cell for row in self.rows for cell in row if isinstance(cell, Result)]


def sheets(made: Preferences) -> list[Sheet]:
    """Return all tables: systems and meetings of each group of voters, position bias, agreement, rankings."""
    found = [sheet for voters in made.voters for sheet in _of_voters(voters)]
    return [sheet for sheet in (*found, _position(made), *_agreement(made), _rankings(made)) if sheet.rows]


def _of_voters(voters: Voters) -> Iterator[Sheet]:
    standings = voters.standings
    tie = standings.tie
    note = f"Strength: {standings.scale}."
    if tie is not None and tie.value is not None:
        ends = "no interval" if tie.low is None else f"{tie.low:.2f} to {tie.high:.2f}"
        note += f" Davidson’s tie parameter: {tie.value:.2f} ({ends})."
    head = ("System", "Wins", "Ties", "Losses", *(NAMES[key] for key in ("win_rate", "strength", "rank")))
    yield Sheet(
        "systems",
        f"Systems, by {voters.name}",
        (*head, "Items", "Clusters", "Raters"),
        tuple(_standing(one) for one in standings.systems),
        voters.name,
        note,
    )
    yield Sheet(
        "meetings",
        f"Head to head, by {voters.name}",
        (
            "System",
            "Against",
            "Wins",
            "Ties",
            "Losses",
            "Win rate",
            "Expected of strengths",
            "Items",
            "Clusters",
        ),
        tuple(_meeting(one) for one in standings.meetings if one.win_rate.n_items),
        voters.name,
    )


def _standing(one: Standing) -> tuple[Cell, ...]:
    rate = one.win_rate
    figures = (rate, one.strength, one.rank)
    return (
        one.system,
        one.wins,
        one.ties,
        one.losses,
        *figures,
        rate.n_items,
        rate.n_clusters,
        rate.n_raters,
    )


def _meeting(one: Meeting) -> tuple[Cell, ...]:
    rate = one.win_rate
    counts = (one.wins, one.ties, one.losses)
    return (one.first, one.second, *counts, rate, one.expected, rate.n_items, rate.n_clusters)


def _position(made: Preferences) -> Sheet:
    rows = [v.position for v in made.voters if v.position is not None]
    named = {row.rater for row in rows}
    rows += [one for one in made.positions if one.rater not in named]
    return Sheet(
        "position",
        "Position: does it matter which is shown first?",
        ("Rater", NAMES["shown_first"], "Decided", *(NAMES[key] for key in SWAPS), "In both orders"),
        tuple(_biased(row) for row in rows),
        note="Half of the decided answers are for the one shown first where position does not matter.",
    )


def _biased(one: PositionBias) -> tuple[Cell, ...]:
    swaps: Sequence[Cell] = [one.swaps[key] if one.swaps else None for key in SWAPS]
    items = one.swaps["consistent"].n_items if one.swaps else 0
    return (one.rater, one.shown_first, one.shown_first.n_items, *swaps, items)


def _agreement(made: Preferences) -> list[Sheet]:
    pairs = [one for one in made.agreement if len(one.results) == 2]
    panel = [one for one in made.agreement if len(one.results) == 1]
    note = "Every item is read both ways round, so it does not matter which response bears which number."
    return [
        Sheet(
            "agreement",
            "Agreement of two raters",
            ("Raters", "Answers", NAMES["percent_agreement"], NAMES["kappa"], "Items", "Clusters"),
            tuple(_agreed(one) for one in pairs),
            note=note,
        ),
        Sheet(
            "panel",
            "Agreement of all raters together",
            ("Answers", NAMES["alpha"], "Items", "Clusters", "Raters"),
            tuple(_panel(one) for one in panel),
            note=note,
        ),
    ]


def _agreed(one: Agreed) -> tuple[Cell, ...]:
    n = one.results[0]
    return (" and ".join(one.raters), SETUPS[one.setup], *one.results, n.n_items, n.n_clusters)


def _panel(one: Agreed) -> tuple[Cell, ...]:
    alpha = one.results[0]
    return (SETUPS[one.setup], alpha, alpha.n_items, alpha.n_clusters, alpha.n_raters)


def _rankings(made: Preferences) -> Sheet:
    return Sheet(
        "rankings",
        "Agreement on rankings",
        ("Raters", "Figure", "Value", "Items", "Clusters"),
        tuple(
            (
                "all" if one.result.name == "kendall_w" else " and ".join(one.raters),
                NAMES[one.result.name],
                one.result,
                one.result.n_items,
                one.result.n_clusters,
            )
            for one in made.rankings
        ),
    )


def flags_of(found: Sequence[Sheet]) -> list[str]:
    """Return the flags that any figure raises, each once."""
    return list(dict.fromkeys(flag for sheet in found for result in sheet.results for flag in result.flags))


def reasons_of(found: Sequence[Sheet]) -> list[str]:
    """Return why figures have no value or no interval, each reason once."""
    return list(dict.fromkeys(result.reason for sheet in found for result in sheet.results if result.reason))
