"""A report of preferences as one CSV table: a line a figure, every number in full."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from annotation.text.table_cells import guarded
from calibration.preferences.computing import Report
from calibration.statistics.core.result import Result
from calibration.statistics.preferences.position import PositionBias
from calibration.statistics.preferences.report import Preferences

COLUMNS = (
    "question", "raters", "system", "against", "setup", "name", "value", "low", "high", "wins", "ties",
    "losses", "status", "reason", "flags", "n_items", "n_clusters", "n_raters", "n_missing", "method",
)  # fmt: skip
Line = dict[str, object]


def write(made: Report) -> str:
    """Return the table; a text that a spreadsheet would evaluate gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for asked in made.questions:
        for place, result in _lines(asked.figures):
            line = {"question": asked.key, **place, **_plain(result)}
            writer.writerow(
                {key: guarded(cell) if isinstance(cell, str) else cell for key, cell in line.items()}
            )
    return out.getvalue()


def _plain(result: Result) -> Line:
    plain = result.as_dict() | {"flags": ";".join(result.flags)}
    return {key: "" if cell is None else cell for key, cell in plain.items()}


def _lines(made: Preferences) -> Iterator[tuple[Line, Result]]:
    for voters in made.voters:
        for one in voters.standings.systems:
            place: Line = {"raters": voters.name, "system": one.system}
            place |= {"wins": one.wins, "ties": one.ties, "losses": one.losses}
            yield from ((place, result) for result in (one.win_rate, one.strength, one.rank))
        for met in voters.standings.meetings:
            place = {"raters": voters.name, "system": met.first, "against": met.second}
            place |= {"wins": met.wins, "ties": met.ties, "losses": met.losses}
            yield from ((place, result) for result in (met.win_rate, met.expected))
        if voters.standings.tie is not None:
            yield {"raters": voters.name}, voters.standings.tie
        if voters.position is not None:
            yield from _position(voters.position)
    for biased in made.positions:
        yield from _position(biased)
    for agreed in made.agreement:
        place = {"raters": ";".join(agreed.raters), "setup": agreed.setup}
        yield from ((place, result) for result in agreed.results)
    for ranked in made.rankings:
        yield {"raters": ";".join(ranked.raters)}, ranked.result


def _position(one: PositionBias) -> Iterator[tuple[Line, Result]]:
    for result in (one.shown_first, *(one.swaps or {}).values()):
        yield {"raters": one.rater}, result
