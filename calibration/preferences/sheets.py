"""The tables of a report, the same on its page and in every file: headings, and rows of results or texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calibration.preferences.wording import NAMES, SETUPS
from calibration.statistics.core.result import Result
from calibration.statistics.preferences.agreement import Agreed
from calibration.statistics.preferences.position import SWAPS, PositionBias
from calibration.statistics.preferences.report import Preferences, Voters
from calibration.statistics.preferences.standings import Meeting, Standing

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
