"""Output formats of an Answers report; all show the same tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.http import urlencode

from annotation.text.display import number, percent
from calibration.renderings import json_text
from calibration.reports import chart_layout, charts
from calibration.reports.charts import alt
from calibration.reports.tables import VerdictRow, VerdictTable
from config.styles import standalone_styles
from suites.long_dialogue.answers.answers import WRONG, Agreement
from suites.long_dialogue.answers.figures import CHANCE, Figure, NamesRow, RowFigures
from suites.long_dialogue.answers.report import AnswersReport
from suites.long_dialogue.answers.rows import (
    FACTORS,
    MODEL,
    REPORT,
    SUFFICIENT,
    TABLE2,
    TABLE3,
    TABLE4,
)
from suites.long_dialogue.answers.tables import FIGURE7, beside_oracle, column_head
from suites.long_dialogue.answers.verdicts import ALWAYS_E, GUESSING, VERDICTS, RowVerdict
from suites.reports import (
    Chart,
    Section,
    cautions,
    contents_of,
    draw,
    flags,
    forms,
    looks_json,
    results,
    score_chart,
    score_point,
    sections_view,
    small_interval,
    span,
    table_json,
    table_view,
    verdict_row,
    write_csv,
    write_latex,
    write_markdown,
    write_text,
)

# Charts of an Answers report: accuracy beside the baselines, and each model's memory beside the oracle.

WIDTH, BAR, WIDEST_LABEL, MOST_ROWS = 360, 14, 440, 60
LINE = f"Dashed line: {CHANCE:.0%}, what guessing reaches."


def _scores(report: AnswersReport) -> list[charts.Point]:
    """Return the accuracy of every row, of guessing, and of always (E) if that is the same for all rows."""
    if not report.verdicts:
        return []
    points = [score_point(row.row.label, row.row.accuracy.result) for row in report.verdicts]
    always = [row.row.shares["always_e"].result for row in report.verdicts]
    if len({result.value for result in always}) == 1:
        points.append(score_point(f"baseline: {ALWAYS_E}", always[0], is_baseline=True))
    guess = {"value": CHANCE, "low": None, "high": None}
    return [*points, score_point(f"baseline: {GUESSING}", guess, is_baseline=True)]


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


def _bar_chart(
    key: str, title: str, caption: str, bars: Callable[[AnswersReport], list[dict[str, Any]]]
) -> Chart:
    """Return a chart of bars, two for each model; it is hidden without bars."""

    def data(report: AnswersReport) -> str:
        return json.dumps(bars(report)[:MOST_ROWS]) if report.query.layout == REPORT and bars(report) else ""

    def spoken(report: AnswersReport) -> str:
        """Return every accuracy drawn, or the lowest and the highest of many."""
        spoken_bars = [bar for bar in bars(report)[:MOST_ROWS] if bar["value"] is not None]
        if len(spoken_bars) > charts.MOST_SPOKEN:
            spoken_bars.sort(key=lambda bar: bar["value"])
            spoken_bars = [spoken_bars[0], spoken_bars[-1]]
        values = "; ".join(f"{bar['row']}, {bar['kind']} {number(bar['value'])}" for bar in spoken_bars)
        return f"{title}: {values or 'no values'}."

    return Chart(key, title, caption, "oracle", data, _draw_bars, spoken)


@lru_cache(maxsize=64)
def _draw_bars(data: str) -> str:
    bars = json.loads(data)
    bars = [bar | {"row": chart_layout.wrapped(bar["row"], WIDEST_LABEL)} for bar in bars]
    names = list(dict.fromkeys(bar["row"] for bar in bars))
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    labels = charts.names_axis(labelPadding=6)
    n_lines = max((name.count("\n") + 1 for name in names), default=1)
    y = alt.Y("row:N", sort=names, title=None, axis=labels, scale=alt.Scale(domain=names, paddingInner=0.25))
    offset = alt.YOffset("kind:N", sort=kinds, scale=alt.Scale(domain=kinds))
    base = alt.Chart(alt.Data(values=bars)).encode(y=y, yOffset=offset)
    x = alt.X("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=charts.axis())
    ranges = charts.COLOURS[: len(kinds)]
    legend = alt.Legend(title=None, orient="top", labelColor=charts.INK)
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
    step = max(BAR, n_lines * chart_layout.LINE / len(kinds))
    return draw(alt.layer(*marks).properties(width=WIDTH, height=alt.Step(step)))


CHARTS: dict[str, Chart] = {
    chart.key: chart
    for chart in (
        score_chart(
            "accuracy",
            "Accuracy: systems and baselines",
            "accuracy",
            "Points: mean accuracy. Lines: intervals over sessions. Grey: baselines.",
            VERDICTS,
            _scores,
        ),
        _bar_chart(
            "figure4",
            "Best memory and oracle",
            f"Bars: each model's best memory, named beside it, and the oracle, with intervals. {LINE}",
            best_and_oracle,
        ),
        _bar_chart(
            "figure7",
            "Whole sessions by BM25, and oracle",
            f"Bars: whole sessions found by BM25, and the oracle, with intervals. {LINE}",
            figure7_and_oracle,
        ),
    )
}
"""The charts, the main one first."""


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
        "verdicts": [row.as_dict() for row in report.verdicts],
        "rows": [_row(row) for row in report.rows],
        "names": [_names(row) for row in report.names],
        "agreement": [_agreement(agreement) for agreement in report.agreements],
        "tables": list(map(table_json, report.tables)),
        "facts": list(report.facts),
        "excluded": report.excluded,
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


# An Answers report in templates, for the page and its file: verdicts, the main chart, and sections.

SECTIONS = (
    Section("accuracy", "Accuracy", "How accurate are they?", ("accuracy", "outcomes")),
    Section("memory", "Memory", "What does memory contribute?", ("oracle", "retrieval")),
    Section("abstention", "Abstention", "Do they say so where they cannot know?", ("abstention",)),
    Section("factors", "Factors", "Where are they right?", tuple(f"by_{factor}" for factor in FACTORS)),
    Section("names", "Names", "Do names matter?", ("names",)),
    Section("asked", "Questions", "What was asked?", ("shares",)),
    Section("judges", "Judges", "Do judges of free answers agree with people?", ("agreement",)),
    Section(
        "paper", "Tables", "Tables of the paper", (TABLE2, TABLE3, TABLE4), "long_dialogue/_paper_tables.html"
    ),
)
"""Sections in page order; each table of a layout except the verdicts has one."""
VERDICT_COLUMNS = ("Accuracy", "Evidence", "Abstention", "Scored")


def view_of(report: AnswersReport, answers_address: str = "") -> dict[str, Any]:
    """Return the template context of a report; verdicts link to the list of answers at an address, if any."""
    tables = {table.key: table_view(table) for table in report.tables}
    memory = [CHARTS[key].view(report) for key in ("figure4", "figure7")]
    sections = sections_view(SECTIONS, tables, {"memory": memory}, _results(report))
    is_whole = report.query.layout == REPORT
    verdict_rows = tuple(_verdict_row(row, answers_address) for row in report.verdicts)
    return {
        "made": report,
        "plan": report.query.plan,
        "cluster": "a cluster is a session, or a season where one is named, drawn within its script",
        "verdicts": VerdictTable("System and condition", VERDICT_COLUMNS, verdict_rows) if is_whole else None,
        "picture": CHARTS["accuracy"].view(report),
        "cautions": cautions(report.tables[0]) if is_whole else [],
        "sections": sections,
        "contents": contents_of(sections),
        "alone": not is_whole,
        "reasons": [f"{reason}." for reason in reasons(report)],
        "flags": flags(report.tables),
    }


def _verdict_row(row: RowVerdict, answers_address: str) -> VerdictRow:
    query = urlencode({"outcome": WRONG, "system": row.row.group.system})
    figures = row.row
    accuracy, recall = figures.accuracy.result, figures.abstention["recall"].result
    conditions = [f"{key} {value}" for key, value in figures.group.condition.items() if key != MODEL]
    name = figures.group.system or figures.group.condition.get(MODEL, "all")
    return verdict_row(
        name + (" (fake model)" if figures.group.fake_model else ""),
        ", ".join([*conditions, *filter(None, [figures.group.script])]),
        row.verdict,
        (
            (number(accuracy.value), small_interval(accuracy)),
            (percent(figures.retrieval[SUFFICIENT]["share"].value), ""),
            (number(recall.value), "recall" if recall.value is not None else ""),
            (percent(row.scored.value), ""),
        ),
        {"read": f"{answers_address}?{query}"} if answers_address else {},
    )


def _results(report: AnswersReport) -> dict[str, str]:
    """Return the main result of each section in a few words."""
    rows = report.rows
    return {
        "accuracy": span("accuracy", (row.accuracy.value for row in rows)),
        "memory": span("below the oracle", (row.gap.value for row in rows)),
        "abstention": span("recall", (row.abstention["recall"].value for row in rows)),
        "asked": span("unanswerable", (row.shares["unanswerable"].value for row in rows)),
        "judges": span("kappa", (row.kappa.value for row in report.agreements)),
    }


# An Answers report as one self-contained page, with inline styles and charts.


def as_html(report: AnswersReport) -> str:
    """Return the report as a self-contained HTML file."""
    context = view_of(report) | {"styles": standalone_styles(), "alone": True}
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
