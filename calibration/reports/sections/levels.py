"""Correlations at turn, dialogue and system level: ComperDial's tables 3 to 6, and a scatter for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.safestring import SafeString, mark_safe

from calibration.reports import drawing
from calibration.reports.charts import Chart
from calibration.reports.figures import Figure
from calibration.reports.levels import LevelCell, LevelTable
from calibration.reports.sections.base import Asked, Line, Section, Switch, View
from calibration.reports.sections.level_table import LEFT_OUT, said, share, table_of, whose
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Table

TEMPLATE = "calibration/_level_charts.html"
DOTS = "systems"
"""The switch that says which row's scatter is drawn."""


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return the tables of a study at levels, each with the scatter of the row asked for, or of all."""
    return [view for at, table in enumerate(result.levels, 1) for view in _views(result, table, at, asked)]


def _views(result: Snapshot, table: LevelTable, at: int, asked: Asked | None) -> list[View]:
    shown = table_of(result, table)
    if not table.rows:
        return [View(shown, (f"{table.reason[:1].upper()}{table.reason[1:]}.",))]
    found = [View(shown, said(result, table))]
    if drawn := _charts_of(result, table, at):
        chosen = drawn if asked is None else [_chosen(drawn, table, asked)]
        switches = [Switch(chart.up, {DOTS: chart.key}, chart in chosen) for chart in drawn]
        data = {"charts": [(chart, _svg(chart)) for chart in chosen], "switches": switches}
        title = chosen[0].title if len(chosen) == 1 else f"Systems by each row and by {whose(result, table)}"
        caption = ("One point a system, with its interval on both axes.",)
        found.append(View(Table(title, []), caption, template=TEMPLATE, data=data))
    return found


def _chosen(drawn: Sequence[Chart], table: LevelTable, asked: Asked) -> Chart:
    """Return the scatter asked for, else that of the row that is best in the last column."""
    best = next((row.name for row in table.rows if row.cells[-1].best), "")
    named = next((chart for chart in drawn if chart.key == asked.get(DOTS)), None)
    return named or next((chart for chart in drawn if chart.up == best), drawn[0])


def _svg(chart: Chart) -> SafeString:
    """Return a scatter's SVG. Its texts are escaped by the renderer."""
    return mark_safe(drawing.inline_svg(chart))


def charts(result: Snapshot) -> list[Chart]:
    """Return the scatter of systems of every row, to be drawn under its table and downloaded."""
    return [chart for at, table in enumerate(result.levels, 1) for chart in _charts_of(result, table, at)]


def _charts_of(result: Snapshot, table: LevelTable, at: int) -> list[Chart]:
    labels = whose(result, table)
    level = f"{result.definition.plan.level:.0%} intervals over dialogues"
    return [
        Chart(
            key=f"systems-{at}-{number}",
            title=f"Systems by {row.name} and by {labels}",
            axis=f"{labels[:1].upper()}{labels[1:]}, {level}",
            points=(),
            dots=row.dots,
            up=row.name,
            folded=True,
        )
        for number, row in enumerate(table.rows, 1)
        if row.dots
    ]


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield the correlations, by level and coefficient, each with its p-value; then what is left out."""
    for table in result.levels:
        made = f"_{table.made}" if table.made else ""
        for row in table.rows:
            raters = (table.reference, row.name)
            figures = {f"{c.level}_level{made}_{c.coefficient}": c.result for c in row.cells}
            figures |= {f"{c.level}_level{made}_{c.coefficient}_p": _p(c) for c in row.cells}
            figures |= {f"{key}{made}": share(key, row) for key in LEFT_OUT}
            for name, figure in figures.items():
                kept = Figure.of(figure, raters=raters, question=table.question)
                yield table.question, table.title, name, kept


def _p(cell: LevelCell) -> Figure:
    n, n_clusters = cell.result.n_items, cell.result.n_clusters
    if cell.p is None:
        why = cell.p_reason or cell.result.reason
        return Figure("p", status="undefined", reason=why, n_items=n, n_clusters=n_clusters)
    return Figure("p", value=cell.p, method=cell.p_method, n_items=n, n_clusters=n_clusters)


SECTION = Section("levels", views, lines, charts, leads=True)
