"""Output formats of a Cascade report: all of them show the same tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

from django.urls import reverse

from annotation.scenario_records import FORM, PROBES, STAGES
from annotation.text.display import number, percent
from calibration.renderings import json_text
from calibration.reports import charts
from calibration.reports.chart_layout import wrap
from calibration.reports.charts import alt
from calibration.reports.tables import VerdictRow, VerdictTable
from suites.group_chat.cascade import score_figures
from suites.group_chat.cascade.report import CascadeReport
from suites.group_chat.cascade.score_figures import CascadeQuery, label
from suites.group_chat.cascade.verdicts import VERDICTS, RowVerdict
from suites.reports import (
    Cell,
    Chart,
    Section,
    cautions,
    contents_of,
    draw,
    flags,
    forms,
    looks_json,
    result_of,
    results,
    score_chart,
    score_point,
    sections_view,
    small_interval,
    span,
    table_json,
    table_view,
    value_text,
    verdict_row,
    write_csv,
    write_latex,
    write_markdown,
    write_text,
)

# Charts: competence beside the baselines, and the funnel of every row.

FUNNEL = "Funnel: probed decisions that reach a stage"
COLUMNS, WIDTH, HEIGHT = 3, 190, 130


def _scores(report: CascadeReport) -> list[charts.Point]:
    """Return the competence of every system and baseline."""
    baselines = [(entry["system"], entry["competence"]) for entry in report.systems if entry["baseline"]]
    return [
        *(score_point(row.label, row.competence) for row in report.verdicts if row.verdict),
        *(score_point(f"baseline: {name}", score, is_baseline=True) for name, score in baselines),
    ]


def _funnel_data(report: CascadeReport) -> str:
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


def _funnel_spoken(report: CascadeReport) -> str:
    """Return the counts of every row and stage, or of the last stage alone if there are many."""
    panels = json.loads(_funnel_data(report))
    has_many = sum(len(panel["bars"]) for panel in panels) > charts.MOST_SPOKEN
    rows = [
        f"{panel['title']}: "
        + ", ".join(f"{bar['stage']} {bar['n']:,}" for bar in panel["bars"][-1 if has_many else 0 :])
        for panel in panels
    ]
    return f"{FUNNEL}: {'; '.join(rows)}."


@lru_cache(maxsize=64)
def _draw_funnel(data: str) -> str:
    panels = [_panel(panel) for panel in json.loads(data)]
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


CHARTS: dict[str, Chart] = {
    chart.key: chart
    for chart in (
        score_chart(
            "competence",
            "Competence at probes: systems and baselines",
            "competence at probes",
            "Points: mean competence. Lines: intervals over families of scenarios. Grey: baselines.",
            VERDICTS,
            _scores,
        ),
        Chart(
            "funnel",
            FUNNEL,
            "Bars: the share of probed decisions that reach a stage without a hard failure before it.",
            "funnel",
            _funnel_data,
            _draw_funnel,
            _funnel_spoken,
        ),
    )
}
"""The charts, the main one first."""


# The page of a report: verdicts, the main chart, and sections.

SECTIONS = (
    Section("competence", "Competence", "How competent are they?", ("competence", "accuracy")),
    Section(
        "stages",
        "Stages",
        "At which stage do decisions fail?",
        ("stages", "funnel", "failed_at", "failed_by_probe"),
        "group_chat/_failing.html",
    ),
    Section("probes", "Probes", "Which probes are hard?", ("probes",)),
    Section("scenarios", "Scenarios", "Which scenarios are hard?", ("by_scenario",)),
    Section("restraint", "Restraint", "Do they stay out, and join in, where they must?", ("restraint",)),
    Section("reliability", "Reliability", "How reliable are they?", ("reliability",)),
    Section("conduct", "Conduct", "How do they behave? Conduct and leaks", ("conduct", "leaks", "talk")),
    Section("people", "People", "What do people do in the agent’s place?", ("people", "contradicted")),
)
"""Sections in page order; each table of the report except the verdicts has one."""
VERDICT_COLUMNS = ("Competence", "Reliability", "Conduct", "Leaks", "Decided")


def is_grey(head: str) -> bool:
    """Whether a column is shown in grey: pass@k does not measure reliability."""
    return head.startswith("pass@")


def view_of(report: CascadeReport) -> dict[str, Any]:
    """Return the template context of a report."""
    tables = {table.key: table_view(table, is_grey) for table in report.tables}
    sections = sections_view(SECTIONS, tables, {"stages": [CHARTS["funnel"].view(report)]}, _results(report))
    return {
        "made": report,
        "plan": report.query.plan,
        "cluster": "a cluster is a family of scenarios",
        "oracle": oracle_line(report),
        "verdicts": VerdictTable(
            "System and condition",
            VERDICT_COLUMNS,
            tuple(_verdict_row(row, report.query) for row in report.verdicts if row.verdict),
        ),
        "picture": CHARTS["competence"].view(report),
        "cautions": [
            *cautions(report.tables[0]),
            *([] if report.oracle.value == 1 else [oracle_line(report)]),
        ],
        "sections": sections,
        "contents": contents_of(sections),
        "reasons": [f"{reason}." for reason in reasons(report)],
        "flags": flags(report.tables),
    }


def _oracle_caution(report: CascadeReport) -> list[str]:
    """Return the sentence about an oracle that fails, whose scenarios have an error."""
    return [] if report.oracle.value == 1 else [oracle_line(report)]


def _verdict_row(row: RowVerdict, query: CascadeQuery) -> VerdictRow:
    assert row.verdict is not None
    corpus = query.corpus.pk
    unrated = "not calibrated" if query.judges else "not judged"
    conduct = [f"{dimension} {number(result.value)}" for dimension, result in row.conduct.items()]
    return verdict_row(
        row.row.system + (" (fake model)" if row.row.is_fake else ""),
        row.row.condition,
        row.verdict,
        (
            (number(row.competence.value), small_interval(row.competence)),
            (number(row.pass_hat.value), f"k = {row.k}") if row.pass_hat else (number(None), ""),
            ("", ", ".join(conduct)) if conduct else (number(None), unrated),
            (number(row.leaks.value), small_interval(row.leaks)),
            (percent(row.decided.value), ""),
        ),
        {
            "read": "#stages",
            "add": reverse("scenarios", args=[corpus]),
            "complete": reverse("agents", args=[corpus]),
        },
    )


def _results(report: CascadeReport) -> dict[str, str]:
    """Return the main result of each section in a few words."""
    rows = [row for row in report.verdicts if row.verdict]
    systems = [entry for entry in report.systems if not entry["baseline"]]
    k = max((row.k for row in rows if row.k), default=None)
    pass_hats = [row.pass_hat.value for row in rows if row.pass_hat and row.k == k]
    failed = sum(
        (score_figures.failures(score_figures.probed(row.decisions)) for row in report.rows), Counter()
    )
    stage, n_failed = max(((stage, failed[stage]) for stage in (FORM, *STAGES)), key=lambda pair: pair[1])
    intrusions = [entry["restraint"]["intrusion_rate"]["value"] for entry in systems]
    return {
        "competence": span("at probes", (row.competence.value for row in rows)),
        "stages": f"most fail first at {stage.upper()}: {n_failed:,} of {failed.total():,} decisions"
        if n_failed
        else "",
        "probes": _hardest(systems),
        "scenarios": _hardest_scenario(report),
        "restraint": span("intrusion rate", intrusions),
        "reliability": span(f"pass^{k}", pass_hats),
        "conduct": span("leaks", (row.leaks.value for row in rows)),
    }


def _hardest(systems: Sequence[dict[str, Any]]) -> str:
    """Return the kind of probe with the lowest competence, with its range over systems."""
    values = {
        kind: [value for entry in systems if (value := entry["probes"][kind]["probe"]["value"]) is not None]
        for kind in PROBES
    }
    means = {kind: fmean(scores) for kind, scores in values.items() if scores}
    if not means:
        return ""
    kind = min(means, key=lambda kind: means[kind])
    return span(f"hardest: {kind.replace('_', ' ')},", values[kind])


def _hardest_scenario(report: CascadeReport) -> str:
    """Return the scenario with the lowest competence, with its range over systems."""
    lines = [line for table in report.tables if table.key == "by_scenario" for line in table.lines[:1]]
    figures = [result_of(cell) for line in lines for cell in line.cells[:-1]]
    return span(f"hardest: {lines[0].name},", (figure.value for figure in figures if figure)) if lines else ""


# Downloads.

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
        "verdicts": [row.as_dict() for row in report.verdicts if row.verdict],
        "systems": list(report.systems),
        "tables": list(map(table_json, report.tables)),
        "facts": list(report.facts),
        "excluded": report.excluded,
        "guardrails": list(report.guardrails),
        "looks_at_test": looks_json(report.looks),
    }


RENDERINGS = forms(csv=as_csv, md=as_markdown, latex=as_latex, json=as_json)
"""Download formats of the report."""
