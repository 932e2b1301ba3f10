"""The forms of a Cascade report: all of them show the same tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import vl_convert

from annotation.scenario_records import STAGES
from annotation.text.display import number
from annotation.text.table_cells import guarded
from calibration.renderings import NEEDS, Rendering, aligned, escaped, fitted, printable
from calibration.reports import charts
from calibration.reports.charts import alt
from calibration.statistics import Result
from calibration.statistics.core.engine import FLAGS
from suites.group_chat.cascade import score_figures
from suites.group_chat.cascade.report import CascadeReport
from suites.group_chat.cascade.score_figures import (
    Cell,
    Line,
    Table,
    cell_text,
    flags,
    interval,
    label,
    reasons,
)

# The funnel of a Cascade report as a chart: of the probed decisions, how many reach each stage.

TITLE = "Funnel: probed decisions that reach a stage"
CAPTION = "Bars: the share of a row's probed decisions that reach a stage without a hard failure before it."
COLUMNS, WIDTH, HEIGHT = 3, 190, 130
MOST_TITLE = 46


def svg(report: CascadeReport) -> str:
    """Return the chart as a free-standing SVG on white."""
    return charts.on_white(_draw_chart(_chart_data(report)))


def inline_svg(report: CascadeReport) -> str:
    """Return the chart for a page, in the page's colours."""
    spoken = f"{TITLE}. {CAPTION} The same counts are in the table of the funnel."
    return charts.in_page(_draw_chart(_chart_data(report)), spoken)


def png(report: CascadeReport) -> bytes:
    """Return the chart as a PNG at twice the size of the page's."""
    image: bytes = vl_convert.svg_to_png(svg(report), scale=2)
    return image


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
    chart = alt.concat(*panels, columns=COLUMNS, spacing=18).properties(background="transparent", padding=6)
    return charts.to_svg(dict(chart.configure(font=charts.FONT).configure_view(stroke=None).to_dict()))


def _panel(panel: dict[str, Any]) -> Any:
    names = [stage.upper() for stage in STAGES]
    axis = alt.Axis(labelColor=charts.INK, ticks=False, domainColor=charts.STRONG, labelPadding=6, grid=False)
    base = alt.Chart(alt.Data(values=panel["bars"])).encode(
        y=alt.Y("stage:N", sort=names, title=None, axis=axis, scale=alt.Scale(domain=names))
    )
    share = alt.X("share:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=charts.axis())
    bars = base.mark_bar(color=charts.COLOURS[0], opacity=0.55).encode(x=share)
    counts = base.mark_text(align="left", dx=4, color=charts.INK_2).encode(x=share, text="n:Q")
    title = panel["title"]
    head = alt.TitleParams(
        title if len(title) <= MOST_TITLE else f"{title[: MOST_TITLE - 1]}…",
        anchor="start",
        fontSize=12,
        color=charts.INK,
        fontWeight=600,
    )
    return alt.layer(bars, counts).properties(width=WIDTH, height=HEIGHT, title=head)


CHARTS: dict[str, Rendering[CascadeReport, Any]] = {
    form.key: form
    for form in (
        Rendering("svg", "Funnel as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Funnel as PNG", "png", "image/png", png),
    )
}
"""The forms that the chart is downloaded in."""


CSV_HEAD = (
    "table",
    "row",
    "baseline",
    "column",
    "value",
    "low",
    "high",
    "n",
    "n_clusters",
    "text",
    "flags",
    "reason",
)


def title(report: CascadeReport) -> str:
    """Return the title of a report."""
    return f"Cascade report of {report.query.corpus.name}"


def as_text(report: CascadeReport) -> str:
    """Return the report for the terminal."""
    lines = [title(report), *report.facts, oracle_line(report)]
    for table in report.tables:
        rows = [["", *table.heads], *([line.name, *map(cell_text, line.cells)] for line in table.lines)]
        lines += ["", table.title, *aligned(rows), *table.notes]
    lines += ["", *(f"Not defined: {reason}." for reason in reasons(report.tables))]
    lines += [f"{flag}: {FLAGS.get(flag, flag)}" for flag in flags(report.tables)]
    lines += ["", *report.guardrails]
    return "\n".join([*map(printable, lines), ""])


def oracle_line(report: CascadeReport) -> str:
    """Return the sentence about the oracle's competence."""
    value = report.oracle.value
    if value == 1:
        return "Oracle: competence 1 at every point, as it must be."
    return f"Oracle: competence {number(value, 3)}. A key of this set cannot be played: check the scenarios."


def as_markdown(report: CascadeReport) -> str:
    """Return the report as Markdown."""
    lines = [
        f"# {_plain(title(report))}",
        "",
        *(f"- {_plain(fact)}" for fact in (*report.facts, oracle_line(report))),
    ]
    for table in report.tables:
        marks = ["---", *(["---:"] * len(table.heads))]
        lines += ["", f"## {_plain(table.title)}", "", _line(["", *table.heads]), f"| {' | '.join(marks)} |"]
        lines += [_line([line.name, *map(cell_text, line.cells)]) for line in table.lines]
        lines += ["", *(f"{_plain(note)}" for note in table.notes)] if table.notes else []
    lines += ["", "## Limits", "", *(f"- {_plain(sentence)}" for sentence in report.guardrails)]
    lines += [f"- Not defined: {_plain(reason)}" for reason in reasons(report.tables)]
    lines += [f"- {_plain(flag)}: {_plain(FLAGS.get(flag, flag))}" for flag in flags(report.tables)]
    return "\n".join([*lines, ""])


def as_latex(report: CascadeReport) -> str:
    """Return the report's tables as LaTeX (booktabs), under each value its interval."""
    lines = [f"% {' '.join(text.split())}" for text in (title(report), *report.facts, *report.guardrails)]
    lines.append(f"{NEEDS}; under each value its interval")
    for table in report.tables:
        body = [text for line in table.lines for text in _latex_lines(line)]
        head = [rf"\rotatebox{{60}}{{{escaped(column)}}}" for column in table.heads]
        tabular = [
            rf"\begin{{tabular}}{{l{'r' * len(table.heads)}}}",
            r"\toprule",
            _tex(["", *head]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        lines += [f"% {table.title}", *fitted(tabular)]
    return "\n".join([*lines, ""])


def _latex_lines(line: Line) -> list[str]:
    values = [
        escaped(number(cell.value)) if isinstance(cell, Result) else escaped(str(cell)) for cell in line.cells
    ]
    under = [interval(cell) if isinstance(cell, Result) else "" for cell in line.cells]
    small = [rf"{{\scriptsize {escaped(text)}}}" if text else "" for text in under]
    first_row = [_tex([escaped(line.name), *values])]
    return [*first_row, _tex(["", *small])] if any(small) else first_row


def _tex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def as_csv(report: CascadeReport) -> str:
    """Return one line a cell, unrounded."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_HEAD, lineterminator="\n", restval="")
    writer.writeheader()
    for table in report.tables:
        for line in table.lines:
            for head, cell in zip(table.heads, line.cells, strict=True):
                place = {"table": table.key, "row": guarded(line.name), "baseline": int(line.is_baseline)}
                writer.writerow(place | {"column": guarded(head)} | _csv_cell(cell))
    return out.getvalue()


def _csv_cell(cell: Cell) -> dict[str, Any]:
    if not isinstance(cell, Result):
        return {"value": cell} if isinstance(cell, int) else {"text": guarded(cell)}
    return {
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
        "n": cell.n_items,
        "n_clusters": cell.n_clusters,
        "flags": " ".join(cell.flags),
        "reason": guarded(cell.reason),
    }


def as_json(report: CascadeReport) -> str:
    """Return the report as one JSON object."""
    return json.dumps(content(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


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
        "tables": [_table(table) for table in report.tables],
        "facts": list(report.facts),
        "guardrails": list(report.guardrails),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in report.looks
        ],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "columns": list(table.heads),
        "rows": [
            {
                "name": line.name,
                "baseline": line.is_baseline,
                "cells": [cell.as_dict() if isinstance(cell, Result) else cell for cell in line.cells],
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped_text = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped_text.split())


RENDERINGS: dict[str, Rendering[CascadeReport, str]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex),
        Rendering("json", "JSON", "json", "application/json", as_json),
    )
}
"""The forms a report is downloaded in."""
