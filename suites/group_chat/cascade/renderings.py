"""Output formats of a Cascade report: all of them show the same tables."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from annotation.scenario_records import STAGES
from annotation.text.display import number
from calibration.renderings import json_text
from calibration.reports import charts
from calibration.reports.chart_layout import wrap
from calibration.reports.charts import alt
from suites.group_chat.cascade import score_figures
from suites.group_chat.cascade.report import CascadeReport
from suites.group_chat.cascade.score_figures import label
from suites.reports import (
    Cell,
    chart_forms,
    draw,
    forms,
    looks_json,
    results,
    table_json,
    value_text,
    write_csv,
    write_latex,
    write_markdown,
    write_text,
)

# Chart of the funnel: the share of probed decisions that reach each stage.

TITLE = "Funnel: probed decisions that reach a stage"
CAPTION = "Bars: the share of a row's probed decisions that reach a stage without a hard failure before it."
COLUMNS, WIDTH, HEIGHT = 3, 190, 130


def svg(report: CascadeReport) -> str:
    """Return the chart as a standalone SVG on white."""
    return charts.on_white(_draw_chart(_chart_data(report)))


def inline_svg(report: CascadeReport) -> str:
    """Return the chart for a page, in the page's colours."""
    data = _chart_data(report)
    return charts.in_page(_draw_chart(data), _alt_text(json.loads(data)))


def _alt_text(panels: list[dict[str, Any]]) -> str:
    """Return the counts of every row and stage, or of the last stage alone if there are many."""
    has_many = sum(len(panel["bars"]) for panel in panels) > charts.MOST_SPOKEN
    rows = [
        f"{panel['title']}: "
        + ", ".join(f"{bar['stage']} {bar['n']:,}" for bar in panel["bars"][-1 if has_many else 0 :])
        for panel in panels
    ]
    return f"{TITLE}. {'; '.join(rows)}."


def _chart_data(report: CascadeReport) -> str:
    """Return the chart's data as JSON, so that equal data is drawn once."""
    panels = []
    for row in (*report.rows, report.best):
        probed = score_figures.probed(row.decisions)
        reached = score_figures.funnel(probed, report.query.settings)
        panels.append(
            {
                "title": label(row),
                "bars": [
                    {"stage": stage.upper(), "share": n / len(probed) if probed else 0.0, "n": n}
                    for stage, n in reached.items()
                ],
            }
        )
    return json.dumps(panels)


@lru_cache(maxsize=64)
def _draw_chart(frozen: str) -> str:
    panels = [_panel(panel) for panel in json.loads(frozen)]
    return draw(alt.concat(*panels, columns=COLUMNS, spacing=18))


def _panel(panel: dict[str, Any]) -> Any:
    names = [stage.upper() for stage in STAGES]
    axis = charts.names_axis(labelPadding=6)
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(
        y=alt.Y("stage:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))
    )
    share = alt.X("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=charts.axis())
    bars = base.mark_bar(color=charts.COLOURS[0], opacity=0.55).encode(x=share)
    counts = base.mark_text(align="left", dx=4, color=charts.INK_2).encode(x=share, text="n:Q")
    head = alt.TitleParams(
        wrap(panel["title"], WIDTH + 20),
        anchor="start",
        fontSize=12,
        color=charts.INK,
        fontWeight=600,
    )
    return alt.layer(bars, counts).properties(width=WIDTH, height=HEIGHT, title=head)


CHARTS = chart_forms("Funnel", svg)
"""Download formats of the chart."""


CSV_HEAD = (
    *("table", "row", "baseline", "column", "value", "low", "high", "n", "n_clusters"),
    *("text", "flags", "reason"),
)


def title(report: CascadeReport) -> str:
    """Return the title of a report."""
    return f"Cascade report of {report.query.corpus.name}"


def reasons(report: CascadeReport) -> list[str]:
    """Return the reasons for undefined figures, in order and without repetition."""
    undefined = (
        f"{place}: {figure.reason}" for place, figure in results(report.tables) if figure.value is None
    )
    return list(dict.fromkeys(undefined))


def oracle_line(report: CascadeReport) -> str:
    """Return the sentence about the oracle's competence."""
    value = report.oracle.value
    if value == 1:
        return "Oracle: competence 1 at every point, as it must be."
    return f"Oracle: competence {number(value, 3)}. A key of this set cannot be played: check the scenarios."


def as_text(report: CascadeReport) -> str:
    """Return the report for the terminal."""
    head = [title(report), *report.facts, oracle_line(report)]
    return write_text(head, report.tables, reasons(report), report.guardrails)


def as_markdown(report: CascadeReport) -> str:
    """Return the report as Markdown."""
    facts = [*report.facts, oracle_line(report)]
    return write_markdown(title(report), facts, report.tables, reasons(report), "Limits", report.guardrails)


def as_latex(report: CascadeReport) -> str:
    """Return the report's tables as LaTeX (booktabs), each value above its interval."""
    return write_latex([title(report), *report.facts, *report.guardrails], report.tables, _latex_value)


def _latex_value(cell: Cell, printed: bool) -> str:
    return str(cell) if isinstance(cell, int) else value_text(cell, printed)


def as_csv(report: CascadeReport) -> str:
    """Return one line per cell, unrounded."""
    return write_csv(report.tables, CSV_HEAD)


def as_json(report: CascadeReport) -> str:
    """Return the report as one JSON object."""
    return json_text(content(report))


def content(report: CascadeReport) -> dict[str, Any]:
    """Return the report as plain data."""
    query = report.query
    return {
        "corpus": query.corpus.name,
        "part": report.part,
        "by": list(query.by),
        "judges": list(query.judges),
        "k": list(query.k),
        "success": query.success,
        "thresholds": list(query.settings.tau),
        "jaccard": query.settings.jaccard,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "best_baseline": report.best.name,
        "oracle": report.oracle.as_dict(),
        "systems": list(report.systems),
        "tables": list(map(table_json, report.tables)),
        "facts": list(report.facts),
        "guardrails": list(report.guardrails),
        "looks_at_test": looks_json(report.looks),
    }


RENDERINGS = forms(csv=as_csv, md=as_markdown, latex=as_latex, json=as_json)
"""Download formats of the report."""
