"""All that the report page shows, gathered from a report."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.utils.safestring import SafeString, mark_safe

from annotation.corpora import splits
from annotation.models import TestLook
from calibration.models import Report
from calibration.reading import changes
from calibration.reading.scope import scope_of
from calibration.reports import caveats, charts, drawing, lede, means, tables, tags
from calibration.reports.figures import crowd, figures
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.statistics.cocoeval import POLICIES
from calibration.studies import actions as studies


def charts_of(result: Snapshot) -> list[charts.Chart]:
    """Return all charts of a report, in the order of its page."""
    return [*charts.charts(result), *tags.marked(result)]


def tables_of(result: Snapshot) -> list[tables.Table]:
    """Return the tables that every written form of a report prints, in the order of its page."""
    by_tag = [view.table for view in tags.views(result) if view.table.rows]
    return [*tables.agreement(result), *by_tag, *means.means(result)]


def view_of(report: Report, *, policy: str | None = None, percent: bool = False) -> dict[str, Any]:
    """Return the context of the report page: sentences, charts, tables, provenance.

    `policy` (of table 7: all where it is None) and `percent` (its precision and recall) are how it is shown.
    """
    result = snapshot_of(report)
    questions = figures(result)
    return {
        "report": report,
        "result": result,
        "heading": lede.headline_question(result) if report.study.automatic else report.study.name,
        "answers": lede.lede(result),
        "caveats": caveats.caveats(result),
        "charts": [(chart, _trusted(chart)) for chart in charts_of(result)],
        "agreement": tables.agreement(result),
        "tags": tags.views(result, policy, percent=percent),
        "policy": policy,
        "policies": POLICIES,
        "percent": percent,
        "means": means.means(result),
        "metrics": tables.metrics(result),
        "matrices": tables.matrices(result),
        "raters": tables.raters(result),
        "crowd": crowd(questions),
        "unidentified": any(question.unidentified for question in questions),
        "looks": looks(report),
        "stale": (stale := studies.is_stale(report)),
        "changes": _changes(report) if stale else None,
        "earlier": report.study.reports.exclude(pk=report.pk).filter(part=report.part)[:10],
        "links": links(result),
        "query": f"?snapshot={report.pk}",
    }


def _changes(report: Report) -> changes.Changes:
    """Return what became of the labels that a report was computed from."""
    return changes.since(scope_of(report.study.corpus, report.study.campaign), report.created_at)


def looks(report: Report) -> list[TestLook]:
    """Return the looks at the test part of the report's split and of its corpus's lock, oldest first."""
    split = snapshot_of(report).split
    if split is None:
        return []
    lock = splits.lock_of(report.study.corpus)
    behind = Q(split__name=split.name) | Q(split=lock)
    found = TestLook.objects.filter(behind, split__corpus=report.study.corpus_id)
    return list(found.select_related("by"))


def links(result: Snapshot) -> list[str]:
    """Return which questions were read as answers to which, and through which map; many in one sentence."""
    found: dict[tuple[str, str], list[str]] = {}
    for question in result.questions:
        for link in question.links:
            how = link.scales.in_words()
            found.setdefault((link.question, how), []).append(question.ref)
    return [
        f"{asked} is read as an answer to {refs[0] if len(refs) == 1 else f'{len(refs)} questions'}, {how}"
        for (asked, how), refs in found.items()
    ]


def _trusted(chart: charts.Chart) -> SafeString:
    """Return a chart's SVG. Its texts (names of questions and raters) are escaped by the renderer."""
    return mark_safe(drawing.inline_svg(chart))
