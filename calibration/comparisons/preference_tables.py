"""Tables of a preference report, the same on its page and in every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.text.display import MISSING, number, percent
from calibration.renderings import interval_text
from calibration.statistics.core.engine import FLAGS, Result
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS, Meeting, Standing
from calibration.statistics.preferences import SWAPS, Agreed, Choices, PositionBias, Preferences, Voters

# Names and formats of the figures of a preference report.

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
DIGITS = {
    "strength": 0,
    "rank": 0,
    "tie_parameter": 2,
    "kappa": 2,
    "alpha": 2,
    "kendall_tau_b": 2,
    "kendall_w": 2,
}
"""Decimals of the figures that are not shares."""


def figure(result: Result) -> str:
    """Format a value: shares in per cent; a dash where there is none."""
    return _format_value(result.name, result.value)


def interval(result: Result) -> str:
    """Format the interval, a dash where there is none."""
    return interval_text(result, lambda end: _format_value(result.name, end), MISSING)


def with_interval(result: Result) -> str:
    """Format a value with its interval, a dash where there is no value."""
    return MISSING if result.value is None else f"{figure(result)} ({interval(result)})"


def _format_value(name: str, value: float | None) -> str:
    if name not in DIGITS:
        return percent(value, 1)
    if name == "rank" and value is not None and value % 1:
        return number(value, 1)
    return number(value, DIGITS[name])


def method_lines(choices: Choices) -> list[str]:
    """Explain how votes are read."""
    return [
        f"Strengths: {MODELS[choices.model]}. For win rates and strengths "
        f"{BOTH_BAD_POLICIES[choices.both_bad]}. "
        "Of several answers of a rater to an item, the one that more than half give counts, else a tie."
    ]


def voters_line(voters: Voters) -> str:
    """Describe voters with their answer counts, such as `people (3): 40 first, 12 tie`."""
    several = f" ({len(voters.raters)})" if len(voters.raters) > 1 or voters.kind in ("", "human") else ""
    answers = ", ".join(f"{n:,} {ANSWERS[label]}" for label, n in voters.answers.items())
    missing = f", {voters.n_missing:,} missing" if voters.n_missing else ""
    return f"{voters.name}{several}: {answers or 'no answers'}{missing}"


def flag_sentence(flag: str) -> str:
    """Format a flag's warning as a sentence."""
    return f"{FLAGS[flag][0].upper()}{FLAGS[flag][1:]}"


# Tables of a preference report, the same on its page and in every file: headings, and rows of results or
# texts.

Cell = str | int | Result | None
"""A name, a count, a figure, or None (not measured)."""


@dataclass(frozen=True)
class Sheet:
    """One table. ``of`` names the voters that it is about; empty if it is about all."""

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    of: str = ""
    note: str = ""

    @property
    def results(self) -> list[Result]:
        """All figures in the table."""
        return [cell for row in self.rows for cell in row if isinstance(cell, Result)]


def sheets(preferences: Preferences) -> list[Sheet]:
    """Return all tables: systems and meetings per group of voters, position bias, agreement, rankings."""
    voter_sheets = [sheet for voters in preferences.voters for sheet in _of_voters(voters)]
    return [
        sheet
        for sheet in (*voter_sheets, _position(preferences), *_agreement(preferences), _rankings(preferences))
        if sheet.rows
    ]


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
        tuple(_system_row(row) for row in standings.systems),
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
        tuple(_meeting_row(meeting) for meeting in standings.meetings if meeting.win_rate.n_items),
        voters.name,
    )


def _system_row(row: Standing) -> tuple[Cell, ...]:
    rate = row.win_rate
    figures = (rate, row.strength, row.rank)
    return (
        row.system,
        row.wins,
        row.ties,
        row.losses,
        *figures,
        rate.n_items,
        rate.n_clusters,
        rate.n_raters,
    )


def _meeting_row(meeting: Meeting) -> tuple[Cell, ...]:
    rate = meeting.win_rate
    counts = (meeting.wins, meeting.ties, meeting.losses)
    return (meeting.first, meeting.second, *counts, rate, meeting.expected, rate.n_items, rate.n_clusters)


def _position(preferences: Preferences) -> Sheet:
    rows = [v.position for v in preferences.voters if v.position is not None]
    listed_raters = {row.rater for row in rows}
    rows += [bias for bias in preferences.positions if bias.rater not in listed_raters]
    return Sheet(
        "position",
        "Position: does it matter which is shown first?",
        ("Rater", NAMES["shown_first"], "Decided", *(NAMES[key] for key in SWAPS), "In both orders"),
        tuple(_position_row(row) for row in rows),
        note="If position does not matter, half of the decided answers are for the response shown first.",
    )


def _position_row(bias: PositionBias) -> tuple[Cell, ...]:
    swaps: Sequence[Cell] = [bias.swaps[key] if bias.swaps else None for key in SWAPS]
    items = bias.swaps["consistent"].n_items if bias.swaps else 0
    return (bias.rater, bias.shown_first, bias.shown_first.n_items, *swaps, items)


def _agreement(preferences: Preferences) -> list[Sheet]:
    pairs = [agreed for agreed in preferences.agreement if len(agreed.results) == 2]
    panel = [agreed for agreed in preferences.agreement if len(agreed.results) == 1]
    note = "Every item counts in both orders, so the numbering of the responses does not matter."
    return [
        Sheet(
            "agreement",
            "Agreement of two raters",
            ("Raters", "Answers", NAMES["percent_agreement"], NAMES["kappa"], "Items", "Clusters"),
            tuple(_agreement_row(agreed) for agreed in pairs),
            note=note,
        ),
        Sheet(
            "panel",
            "Agreement of all raters together",
            ("Answers", NAMES["alpha"], "Items", "Clusters", "Raters"),
            tuple(_panel_row(agreed) for agreed in panel),
            note=note,
        ),
    ]


def _agreement_row(agreed: Agreed) -> tuple[Cell, ...]:
    n = agreed.results[0]
    return (" and ".join(agreed.raters), SETUPS[agreed.setup], *agreed.results, n.n_items, n.n_clusters)


def _panel_row(agreed: Agreed) -> tuple[Cell, ...]:
    alpha = agreed.results[0]
    return (SETUPS[agreed.setup], alpha, alpha.n_items, alpha.n_clusters, alpha.n_raters)


def _rankings(preferences: Preferences) -> Sheet:
    return Sheet(
        "rankings",
        "Agreement on rankings",
        ("Raters", "Figure", "Value", "Items", "Clusters"),
        tuple(
            (
                "all" if ranking.result.name == "kendall_w" else " and ".join(ranking.raters),
                NAMES[ranking.result.name],
                ranking.result,
                ranking.result.n_items,
                ranking.result.n_clusters,
            )
            for ranking in preferences.rankings
        ),
    )


def flags_of(tables: Sequence[Sheet]) -> list[str]:
    """Return the flags that any figure raises, each once."""
    return list(dict.fromkeys(flag for sheet in tables for result in sheet.results for flag in result.flags))


def reasons_of(tables: Sequence[Sheet]) -> list[str]:
    """Return the reasons for missing values and intervals, each once."""
    return list(dict.fromkeys(result.reason for sheet in tables for result in sheet.results if result.reason))
