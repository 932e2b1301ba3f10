"""The chart of a plan: expected width, or power, by number of dialogues, with its range over pilots."""

from __future__ import annotations

from calibration.plans.answer import PlanAnswer
from calibration.plans.wording import figure_name
from calibration.reports.charts import Chart, Point
from calibration.statistics.planning import RANGE

SERIES = {"width": "Expected width", "power": "Power"}


def chart_of(answer: PlanAnswer) -> Chart | None:
    """Return a plan's chart, None where there is no plan."""
    if answer.reason:
        return None
    is_width = answer.goal == "width"
    points = tuple(
        Point(
            answer.title,
            SERIES[answer.goal],
            row.expected,
            row.low if row.high is not None else None,
            row.high,
            answer.n_items,
            row.n_clusters,
            "" if row.expected is not None else "no interval: undefined in too many resamples",
            float(row.n_clusters),
        )
        for row in answer.rows
    )
    axis = f"Width of the {answer.level:.0%} interval" if is_width else "Share of studies that pass"
    name = figure_name(answer)
    return Chart(
        "plan",
        f"{SERIES[answer.goal]} by number of dialogues",
        axis,
        points,
        caption=f"{name[:1].upper()}{name[1:]}. Lines: the range over pilots like this one ({RANGE:.0%}). "
        "Dashed: what is wanted.",
        x_axis="Dialogues rated twice",
        target=answer.target,
    )
