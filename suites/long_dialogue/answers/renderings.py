"""The forms of an Answers report: all of them show the same tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import vl_convert
from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from annotation.text.table_cells import guarded
from calibration.renderings import NEEDS, Rendering, aligned, escaped, fitted, printable
from calibration.reports import charts
from calibration.reports.charts import alt
from calibration.statistics.core.engine import FLAGS
from suites.long_dialogue.answers.answers import Agreement
from suites.long_dialogue.answers.figures import CHANCE, Figure, NamesRow, RowFigures
from suites.long_dialogue.answers.report import AnswersReport
from suites.long_dialogue.answers.rows import REPORT
from suites.long_dialogue.answers.tables import (
    FIGURE7,
    Cell,
    Line,
    Range,
    Table,
    Versus,
    beside_oracle,
    cell_text,
    column_head,
    figure_of,
    flags,
    interval,
    reasons,
    spread,
    value_text,
)

# The charts of an Answers report: accuracy row by row, and each model's memory beside the oracle.

WIDTH, BAR, WIDEST_LABEL, MOST_ROWS = 360, 18, 440, 60
LINE = f"Dashed line: {CHANCE:.0%}, what guessing reaches."


@dataclass(frozen=True)
class Chart:
    """A chart: its key in addresses, its title, what the bars are, and the bars themselves."""

    key: str
    title: str
    caption: str
    bars: Callable[[AnswersReport], list[dict[str, Any]]]


def accuracies(report: AnswersReport) -> list[dict[str, Any]]:
    """Return a bar for every row of the report."""
    return [_bar(row.label, "accuracy", row.accuracy) for row in report.rows]


def best_and_oracle(report: AnswersReport) -> list[dict[str, Any]]:
    """Return two bars for every model: its best memory, and the oracle."""
    bars = []
    for row in beside_oracle(report.answers, report.query.rule):
        bars.append(_bar(row.label, "best memory", row.accuracy, row.best_label))
        bars.append(_bar(row.label, "oracle", row.oracle))
    return bars


def figure7_and_oracle(report: AnswersReport) -> list[dict[str, Any]]:
    """Return two bars for every model: whole sessions found by BM25, and the oracle."""
    bars = []
    for row in beside_oracle(report.answers, report.query.rule):
        if row.figure7 is not None:
            bars.append(_bar(row.label, column_head(FIGURE7), row.figure7))
            bars.append(_bar(row.label, "oracle", row.oracle))
    return bars


def _bar(label: str, kind: str, figure: Figure, note: str = "") -> dict[str, Any]:
    result = figure.result
    return {
        "row": label,
        "kind": kind,
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "note": note,
    }


CHARTS: dict[str, Chart] = {
    chart.key: chart
    for chart in (
        Chart("accuracy", "Accuracy", f"Bars: accuracy with intervals over sessions. {LINE}", accuracies),
        Chart(
            "figure4",
            "Best memory and oracle",
            f"Bars: each model's best memory, named beside it, and the oracle, with intervals. {LINE}",
            best_and_oracle,
        ),
        Chart(
            "figure7",
            "Whole sessions by BM25, and oracle",
            f"Bars: whole sessions found by BM25, and the oracle, with intervals. {LINE}",
            figure7_and_oracle,
        ),
    )
}
"""The charts; one without bars is not shown."""


def visible_charts(report: AnswersReport) -> list[tuple[Chart, str]]:
    """Return the charts that have bars, each drawn for a page."""
    return [(chart, inline_svg(report, chart)) for chart in CHARTS.values() if chart.bars(report)]


def svg(report: AnswersReport, chart: Chart) -> str:
    """Return a chart as a free-standing SVG on white."""
    return charts.on_white(_chart_svg(_frozen(report, chart)))


def inline_svg(report: AnswersReport, chart: Chart) -> str:
    """Return a chart for a page, in the page's colours."""
    spoken = f"{chart.title}. {chart.caption} The same figures are in the tables."
    return charts.in_page(_chart_svg(_frozen(report, chart)), spoken)


def png(report: AnswersReport, chart: Chart) -> bytes:
    """Return a chart as a PNG at twice the size of the page's."""
    image: bytes = vl_convert.svg_to_png(svg(report, chart), scale=2)
    return image


def _frozen(report: AnswersReport, chart: Chart) -> str:
    """Return what is drawn, as text: the same text is drawn once."""
    return json.dumps(chart.bars(report)[:MOST_ROWS])


@lru_cache(maxsize=64)
def _chart_svg(frozen: str) -> str:
    chart = _chart(json.loads(frozen)).properties(background="transparent", padding=6)
    return charts.to_svg(dict(chart.configure(font=charts.FONT).configure_view(stroke=None).to_dict()))


def _chart(bars: list[dict[str, Any]]) -> Any:
    names = list(dict.fromkeys(bar["row"] for bar in bars))
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    labels = alt.Axis(
        labelColor=charts.INK,
        ticks=False,
        domainColor=charts.STRONG,
        labelPadding=6,
        labelLimit=WIDEST_LABEL,
    )
    y = alt.Y("row:N", sort=names, title=None, axis=labels, scale=alt.Scale(domain=names, paddingInner=0.25))
    base = alt.Chart(alt.Data(values=bars)).encode(y=y)
    if len(kinds) > 1:
        base = base.encode(yOffset=alt.YOffset("kind:N", sort=kinds, scale=alt.Scale(domain=kinds)))
    x = alt.X("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=charts.axis())
    ranges = charts.COLOURS[: len(kinds)]
    legend = alt.Legend(title=None, orient="top", labelColor=charts.INK) if len(kinds) > 1 else None
    colour = alt.Color("kind:N", sort=kinds, scale=alt.Scale(domain=kinds, range=list(ranges)), legend=legend)
    marks = [
        base.transform_filter("datum.value !== null").mark_bar(opacity=0.55).encode(x=x, color=colour),
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5, color=charts.INK)
        .encode(x=alt.X("low:Q"), x2="high:Q"),
        base.transform_filter("datum.note !== ''")
        .mark_text(align="left", dx=4, x=0, color=charts.INK, fontSize=10)
        .encode(text="note:N"),
        alt.Chart(alt.Data(values=[{"chance": CHANCE}]))
        .mark_rule(strokeDash=[4, 3], color=charts.INK_2)
        .encode(x="chance:Q"),
    ]
    return alt.layer(*marks).properties(width=WIDTH, height=alt.Step(BAR if len(kinds) == 1 else BAR - 4))


ReportChart = tuple[AnswersReport, Chart]
FORMS: tuple[Rendering[ReportChart, Any], ...] = (
    Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", lambda report_chart: svg(*report_chart)),
    Rendering("png", "Chart as PNG", "png", "image/png", lambda report_chart: png(*report_chart)),
)
CHART_RENDERINGS: dict[str, Rendering[ReportChart, Any]] = {form.key: form for form in FORMS}
"""The forms that a chart is downloaded in."""


# An Answers report as plain data: what the command prints, the API answers, and JSON files hold.


def content(report: AnswersReport) -> dict[str, Any]:
    """Return the report as plain data; a figure is {value, low, high, sd, n, ..., reason}."""
    query = report.query
    return {
        "corpus": query.corpus.name,
        "part": report.part,
        "by": list(query.by),
        "score": query.rule,
        "judge": query.judge,
        "sets": list(query.sets),
        "layout": query.layout,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "level": query.plan.level,
        "random": CHANCE,
        "rows": [_row(row) for row in report.rows],
        "names": [_names(row) for row in report.names],
        "agreement": [_agreement(agreement) for agreement in report.agreements],
        "tables": [_table_of_content(table) for table in report.tables],
        "facts": list(report.facts),
        "looks_at_test": [
            {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
            for look in report.looks
        ],
    }


def _row(row: RowFigures) -> dict[str, Any]:
    return {
        "system": row.group.system,
        "condition": dict(row.group.condition),
        "script": row.group.script,
        "fake_model": row.group.fake_model,
        "accuracy": row.accuracy.as_dict(),
        "on_shared": row.on_shared.as_dict(),
        "strict": row.strict.as_dict(),
        "lenient": row.lenient.as_dict(),
        "bounds": {"low": row.low.value, "high": row.high.value},
        "by": {
            factor: {value: figure.as_dict() for value, figure in values.items()}
            for factor, values in row.by.items()
        },
        "retrieval": {
            state: retrieval_figures["share"].as_dict()
            | {"accuracy": retrieval_figures["accuracy"].as_dict()}
            for state, retrieval_figures in row.retrieval.items()
        },
        "oracle_gap": row.gap.as_dict(),
        "abstention": {name: figure.as_dict() for name, figure in row.abstention.items()},
        "shares": {name: figure.as_dict() for name, figure in row.shares.items() if name != "always_e"},
        "always_e": row.shares["always_e"].as_dict(),
        "counts": row.counts.as_dict(),
    }


def _names(row: NamesRow) -> dict[str, Any]:
    return {
        "condition": dict(row.group.condition),
        "script": row.group.script,
        "accuracy": {kind: figure.as_dict() for kind, figure in row.accuracy.items()},
        "differences": [
            {"names": first, "less": second, **figure.as_dict()}
            for (first, second), figure in row.differences.items()
        ],
    }


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {
        "judge": agreement.judge,
        "people": agreement.people,
        "cohen_kappa": Figure(agreement.kappa).as_dict(),
        "percent_agreement": Figure(agreement.equal).as_dict(),
    }


def _table_of_content(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "columns": list(table.heads),
        "rows": [
            {
                "name": line.name,
                "baseline": line.is_baseline,
                "cells": list(map(_cell_of_content, line.cells)),
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def _cell_of_content(cell: Cell) -> Any:
    if isinstance(cell, Versus):
        return cell.figure.as_dict() | {"difference": cell.difference.as_dict()}
    if isinstance(cell, Range):
        return {"low": cell.low, "high": cell.high}
    return cell.as_dict() if isinstance(cell, Figure) else cell


# What a page and a file show of an Answers report: its tables as templates read them, and its charts.

PERCENT = 100.0


def view_of(report: AnswersReport) -> dict[str, Any]:
    """Return what templates show of a report."""
    chart_svgs = visible_charts(report) if report.query.layout == REPORT else []
    return {
        "made": report,
        "plan": report.query.plan,
        "tables": [_table(table) for table in report.tables],
        "charts": [(chart, mark_safe(svg)) for chart, svg in chart_svgs],
        "reasons": [f"{reason}." for reason in reasons(report.tables)],
        "flags": [(flag, FLAGS.get(flag, flag)) for flag in flags(report.tables)],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "heads": table.heads,
        "folds": table.folds,
        "lines": [
            (line.name, line.is_baseline, [_cell(cell, table.printed) for cell in line.cells])
            for line in table.lines
        ],
        "notes": table.notes,
    }


def _cell(cell: Cell, printed: bool) -> dict[str, Any]:
    """Return a cell as the template reads it: words, or a figure with what stands below it."""
    figure = figure_of(cell)
    if figure is None:
        return {"kind": "text", "text": value_text(cell)}
    if figure.value is None:
        return {"kind": "none", "text": figure.result.status, "why": figure.result.reason}
    interval_text = interval(figure.result, PERCENT if printed else 1.0) or "no interval"
    return {
        "kind": "figure",
        "text": value_text(cell, printed),
        "below": [interval_text, "" if printed else spread(figure)],
        "n": figure.result.n_items,
    }


# An Answers report as one self-contained page: styles and charts inside, nothing loaded from elsewhere.


def as_html(report: AnswersReport) -> str:
    """Return the report's page as a file that opens anywhere."""
    styles = (settings.BASE_DIR / "static" / "css" / "concord.css").read_text(encoding="utf-8")
    context = view_of(report) | {"styles": mark_safe(styles), "alone": True}
    return render_to_string("long_dialogue/answers_file.html", context)


CSV_HEAD = (
    *("table", "row", "column", "value", "low", "high", "sd", "n", "n_clusters", "n_missing"),
    *("difference", "difference_low", "difference_high", "text", "flags", "reason"),
)


def title(report: AnswersReport) -> str:
    """Return what a report is called."""
    return f"Answers report of {report.query.corpus.name}"


def as_text(report: AnswersReport) -> str:
    """Return the report for the terminal."""
    lines = [title(report), *report.facts]
    for table in report.tables:
        rows = [
            ["", *table.heads],
            *([line.name, *(cell_text(cell, table.printed) for cell in line.cells)] for line in table.lines),
        ]
        lines += ["", table.title, *aligned(rows), *table.notes]
    lines += ["", *(f"Not defined: {reason}." for reason in reasons(report.tables))]
    lines += [f"{flag}: {FLAGS.get(flag, flag)}" for flag in flags(report.tables)]
    return "\n".join([*map(printable, lines), ""])


def as_markdown(report: AnswersReport) -> str:
    """Return the report as Markdown."""
    lines = [f"# {_plain(title(report))}", "", *(f"- {_plain(fact)}" for fact in report.facts)]
    for table in report.tables:
        marks = ["---", *(["---:"] * len(table.heads))]
        lines += ["", f"## {_plain(table.title)}", "", _line(["", *table.heads]), f"| {' | '.join(marks)} |"]
        lines += [
            _line([line.name, *(cell_text(cell, table.printed) for cell in line.cells)])
            for line in table.lines
        ]
        lines += ["", *(f"{_plain(note)}" for note in table.notes)] if table.notes else []
    caveats = [f"- Not defined: {_plain(reason)}" for reason in reasons(report.tables)]
    caveats += [f"- {_plain(flag)}: {_plain(FLAGS.get(flag, flag))}" for flag in flags(report.tables)]
    lines += ["", "## What to keep in mind", "", *caveats] if caveats else []
    return "\n".join([*lines, ""])


def as_latex(report: AnswersReport) -> str:
    """Return the report's tables as LaTeX (booktabs), under each value its interval."""
    lines = [f"% {' '.join(text.split())}" for text in (title(report), *report.facts)]
    lines.append(f"{NEEDS}; under each value its interval")
    for table in report.tables:
        body = [text for line in table.lines for text in _latex_lines(line, table.printed)]
        head = [rf"\rotatebox{{60}}{{{escaped(heading)}}}" for heading in table.heads]
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


def _latex_lines(line: Line, printed: bool) -> list[str]:
    values = [escaped(value_text(cell, printed)) for cell in line.cells]
    scale = PERCENT if printed else 1.0
    under = [interval(figure.result, scale) if (figure := figure_of(cell)) else "" for cell in line.cells]
    small = [rf"{{\scriptsize {escaped(text)}}}" if text else "" for text in under]
    rows = [_tex([escaped(line.name), *values])]
    return [*rows, _tex(["", *small])] if any(small) else rows


def _tex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def as_csv(report: AnswersReport) -> str:
    """Return one line a cell, shares from 0 to 1, unrounded."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_HEAD, lineterminator="\n", restval="")
    writer.writeheader()
    for table in report.tables:
        for line in table.lines:
            for head, cell in zip(table.heads, line.cells, strict=True):
                place = {"table": table.key, "row": guarded(line.name), "column": guarded(head)}
                writer.writerow(place | _csv_cell(cell))
    return out.getvalue()


def _csv_cell(cell: Cell) -> dict[str, Any]:
    figure = figure_of(cell)
    if figure is None:
        if isinstance(cell, Range):
            return {"low": cell.low, "high": cell.high}
        return {"value": cell} if isinstance(cell, int) else {"text": guarded(str(cell))}
    result = figure.result
    row: dict[str, Any] = {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "sd": figure.sd,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "n_missing": result.n_missing,
        "flags": " ".join(result.flags),
        "reason": guarded(result.reason),
    }
    if isinstance(cell, Versus):
        moved = cell.difference.result
        row |= {"difference": moved.value, "difference_low": moved.low, "difference_high": moved.high}
    return row


def as_json(report: AnswersReport) -> str:
    """Return the report as one JSON object."""
    return json.dumps(content(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped_text = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped_text.split())


RENDERINGS: dict[str, Rendering[AnswersReport, str]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex),
        Rendering("html", "HTML", "html", "text/html; charset=utf-8", as_html),
        Rendering("json", "JSON", "json", "application/json", as_json),
    )
}
"""The forms a report is downloaded in."""
__all__ = ["RENDERINGS", "as_text", "title"]
