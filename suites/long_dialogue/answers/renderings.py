"""Output formats of an Answers report; all show the same tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from annotation.text.display import number
from calibration.renderings import json_text
from calibration.reports import chart_layout, charts
from calibration.reports.charts import alt
from suites.long_dialogue.answers.answers import Agreement
from suites.long_dialogue.answers.figures import CHANCE, Figure, NamesRow, RowFigures
from suites.long_dialogue.answers.report import AnswersReport
from suites.long_dialogue.answers.rows import REPORT
from suites.long_dialogue.answers.tables import FIGURE7, beside_oracle, column_head
from suites.reports import (
    chart_forms,
    draw,
    flags,
    forms,
    looks_json,
    results,
    table_json,
    table_view,
    write_csv,
    write_latex,
    write_markdown,
    write_text,
)

# Charts of an Answers report: accuracy by row, and each model's memory beside the oracle.

WIDTH, BAR, WIDEST_LABEL, MOST_ROWS = 360, 18, 440, 60
LINE = f"Dashed line: {CHANCE:.0%}, what guessing reaches."


@dataclass(frozen=True)
class Chart:
    """A chart: its key in URLs, its title, its caption, and its bars."""

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
    """Return two bars for every model: whole sessions retrieved by BM25, and the oracle."""
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
"""The charts; a chart without bars is hidden."""


def visible_charts(report: AnswersReport) -> list[tuple[Chart, str]]:
    """Return the charts that have bars, each rendered for a page."""
    return [(chart, inline_svg(report, chart)) for chart in CHARTS.values() if chart.bars(report)]


def svg(report: AnswersReport, chart: Chart) -> str:
    """Return a chart as a standalone SVG on white."""
    return charts.on_white(_chart_svg(_frozen(report, chart)))


def inline_svg(report: AnswersReport, chart: Chart) -> str:
    """Return a chart for a page, in the page's colours."""
    return charts.in_page(_chart_svg(_frozen(report, chart)), _alt_text(report, chart))


def _alt_text(report: AnswersReport, chart: Chart) -> str:
    """Return every accuracy drawn, or the lowest and the highest of many."""
    bars = [bar for bar in chart.bars(report)[:MOST_ROWS] if bar["value"] is not None]
    if len(bars) > charts.MOST_SPOKEN:
        bars = sorted(bars, key=lambda bar: bar["value"])
        bars = [bars[0], bars[-1]]
    kinds = len({bar["kind"] for bar in bars}) > 1
    values = [f"{bar['row']}{', ' + bar['kind'] if kinds else ''} {number(bar['value'], 2)}" for bar in bars]
    return f"{chart.title}: {'; '.join(values) or 'no values'}."


def _frozen(report: AnswersReport, chart: Chart) -> str:
    """Return a chart's data as text, the cache key of its drawing."""
    return json.dumps(chart.bars(report)[:MOST_ROWS])


@lru_cache(maxsize=64)
def _chart_svg(frozen: str) -> str:
    return draw(_chart(json.loads(frozen)))


def _chart(bars: list[dict[str, Any]]) -> Any:
    bars = [bar | {"row": chart_layout.wrapped(bar["row"], WIDEST_LABEL)} for bar in bars]
    names = list(dict.fromkeys(bar["row"] for bar in bars))
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    labels = charts.names_axis(labelPadding=6)
    n_lines = max((name.count("\n") + 1 for name in names), default=1)
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
    step = max(BAR if len(kinds) == 1 else BAR - 4, n_lines * chart_layout.LINE / len(kinds))
    return alt.layer(*marks).properties(width=WIDTH, height=alt.Step(step))


CHART_RENDERINGS = chart_forms("Chart", lambda report_chart: svg(*report_chart))
"""Download formats of a report's chart."""


# An Answers report as plain data, for the command, the API and JSON files.


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
        "tables": list(map(table_json, report.tables)),
        "facts": list(report.facts),
        "looks_at_test": looks_json(report.looks),
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


# An Answers report in templates, for the page and its file: tables and charts.


def view_of(report: AnswersReport) -> dict[str, Any]:
    """Return the template context of a report."""
    chart_svgs = visible_charts(report) if report.query.layout == REPORT else []
    return {
        "made": report,
        "plan": report.query.plan,
        "tables": list(map(table_view, report.tables)),
        "charts": [(chart, mark_safe(svg)) for chart, svg in chart_svgs],
        "reasons": [f"{reason}." for reason in reasons(report)],
        "flags": flags(report.tables),
    }


# An Answers report as one self-contained page, with inline styles and charts.


def as_html(report: AnswersReport) -> str:
    """Return the report as a self-contained HTML file."""
    styles = (settings.BASE_DIR / "static" / "css" / "concord.css").read_text(encoding="utf-8")
    context = view_of(report) | {"styles": mark_safe(styles), "alone": True}
    return render_to_string("long_dialogue/answers_file.html", context)


CSV_HEAD = (
    *("table", "row", "column", "value", "low", "high", "sd", "n", "n_clusters", "n_missing"),
    *("difference", "difference_low", "difference_high", "text", "flags", "reason"),
)


def title(report: AnswersReport) -> str:
    """Return the title of a report."""
    return f"Answers report of {report.query.corpus.name}"


def reasons(report: AnswersReport) -> list[str]:
    """Return the distinct reasons for undefined figures, in order, each with its first occurrence."""
    places: dict[str, str] = {}
    for place, figure in results(report.tables):
        if figure.value is None:
            places.setdefault(figure.reason, place)
    return [f"{place}: {reason}" for reason, place in places.items()]


def as_text(report: AnswersReport) -> str:
    """Return the report for the terminal."""
    return write_text([title(report), *report.facts], report.tables, reasons(report))


def as_markdown(report: AnswersReport) -> str:
    """Return the report as Markdown."""
    return write_markdown(title(report), report.facts, report.tables, reasons(report), "What to keep in mind")


def as_latex(report: AnswersReport) -> str:
    """Return the report's tables as LaTeX (booktabs), each value above its interval."""
    return write_latex([title(report), *report.facts], report.tables)


def as_csv(report: AnswersReport) -> str:
    """Return one line per cell; shares are from 0 to 1, unrounded."""
    return write_csv(report.tables, CSV_HEAD)


def as_json(report: AnswersReport) -> str:
    """Return the report as one JSON object."""
    return json_text(content(report))


RENDERINGS = forms(csv=as_csv, md=as_markdown, latex=as_latex, html=as_html, json=as_json)
"""Download formats of a report."""
