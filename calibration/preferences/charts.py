"""The charts of a report: win rates and strengths by system, a mark with its interval per group of voters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from calibration.preferences.computing import Asked, Report
from calibration.reports import drawing
from calibration.reports.charts import Chart, Point
from calibration.statistics.core.result import Result
from calibration.statistics.preferences.report import Preferences
from calibration.statistics.preferences.standings import CENTRE, Standing

MOST_SERIES = 6
"""Groups of voters that a chart tells apart by colour and shape; the others stand in the tables alone."""
Figure = Callable[[Standing], Result]


def charts(asked: Asked) -> list[Chart]:
    """Return the charts of one question: win rates, then strengths where there are any."""
    made, key = asked.figures, asked.key
    level = f"{made.plan.level:.0%} interval over clusters"
    found = [
        Chart(f"win_rate-{key}", "Win rate by system", f"Win rate, {level}", _points(made, _rate)),
        Chart(
            f"strength-{key}",
            "Strength by system",
            f"Strength above or below {CENTRE:g}, {level}",
            _points(made, _strength, CENTRE),
        ),
    ]
    return [chart for chart in found if any(point.value is not None for point in chart.points)]


def svg(made: Report) -> str:
    """Return the chart of the first question that has one, to stand alone."""
    return drawing.svg(_first(made))


def png(made: Report) -> bytes:
    """Return the same chart as a PNG."""
    return drawing.png(_first(made))


def _first(made: Report) -> Chart:
    """Return strengths where there are any, else win rates; an empty chart of a report without figures."""
    found = [chart for asked in made.questions for chart in charts(asked)]
    ladder = [chart for chart in found if chart.key.startswith("strength")]
    return (ladder or found or [Chart("empty", "No preferences", "", ())])[0]


def _rate(one: Standing) -> Result:
    return one.win_rate


def _strength(one: Standing) -> Result:
    return one.strength


def _points(made: Preferences, figure: Figure, above: float = 0.0) -> tuple[Point, ...]:
    """Return a point per system and voters, systems in the order of the first voters."""
    order = list(dict.fromkeys(one.system for v in made.voters for one in v.standings.systems))
    found = list(_drawn(made, figure, above))
    return tuple(sorted(found, key=lambda point: order.index(point.question)))


def _drawn(made: Preferences, figure: Figure, above: float) -> Iterator[Point]:
    for voters in made.voters[:MOST_SERIES]:
        for one in voters.standings.systems:
            result = figure(one)
            value, low, high = (
                None if end is None else end - above for end in (result.value, result.low, result.high)
            )
            why = "" if result.ok else "none"
            yield Point(one.system, voters.name, value, low, high, result.n_items, result.n_clusters, why)
