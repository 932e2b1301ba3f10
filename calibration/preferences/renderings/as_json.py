"""A report of preferences as JSON: every figure in full."""

from __future__ import annotations

import json
from typing import Any

from calibration.preferences.computing import Asked, Report
from calibration.statistics.core.result import Result
from calibration.statistics.preferences.position import PositionBias
from calibration.statistics.preferences.report import Preferences, Voters


def write(made: Report) -> str:
    """Return the report as one JSON object."""
    return json.dumps(content(made), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content(made: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    return {
        "name": made.name,
        "facts": list(made.facts),
        "questions": [_question(asked) for asked in made.questions],
    }


def _question(asked: Asked) -> dict[str, Any]:
    made: Preferences = asked.figures
    return {
        "question": asked.key,
        "title": asked.title,
        "ties": made.choices.model,
        "both_bad": made.choices.both_bad,
        "anchor": made.choices.anchor or None,
        "resamples": made.plan.resamples,
        "seed": made.plan.seed,
        "level": made.plan.level,
        "voters": [_voters(voters) for voters in made.voters],
        "positions": [_position(one) for one in made.positions],
        "agreement": [
            {"raters": list(one.raters), "setup": one.setup, "figures": _figures(one.results)}
            for one in made.agreement
        ],
        "rankings": [
            {"raters": list(one.raters), "figures": _figures((one.result,))} for one in made.rankings
        ],
    }


def _voters(voters: Voters) -> dict[str, Any]:
    standings = voters.standings
    return {
        "name": voters.name,
        "kind": voters.kind,
        "raters": list(voters.raters),
        "answers": dict(voters.answers),
        "n_missing": voters.n_missing,
        "scale": standings.scale,
        "systems": [
            {"system": one.system, "wins": one.wins, "ties": one.ties, "losses": one.losses}
            | _figures((one.win_rate, one.strength, one.rank))
            for one in standings.systems
        ],
        "meetings": [
            {
                "first": one.first,
                "second": one.second,
                "wins": one.wins,
                "ties": one.ties,
                "losses": one.losses,
            }
            | _figures((one.win_rate, one.expected))
            for one in standings.meetings
        ],
        "tie_parameter": figure(standings.tie) if standings.tie else None,
        "position": _position(voters.position) if voters.position else None,
    }


def _position(one: PositionBias) -> dict[str, Any]:
    swaps = {key: figure(result) for key, result in one.swaps.items()} if one.swaps else None
    return {"rater": one.rater, "shown_first": figure(one.shown_first), "both_orders": swaps}


def _figures(results: tuple[Result, ...]) -> dict[str, Any]:
    return {result.name: figure(result) for result in results}


def figure(result: Result) -> dict[str, Any]:
    """Return a result without its name, which stands before it."""
    plain = result.as_dict()
    del plain["name"]
    return plain
