"""All that the report page shows, gathered from a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.utils.safestring import SafeString, mark_safe

from annotation.checks.left_out import left_out
from annotation.corpora import splits
from annotation.corpora.openings import Opened, openings
from annotation.models import TestLook
from calibration.models import Report, Study
from calibration.reading import changes
from calibration.reading.scope import leaves_out, of_study
from calibration.reports import caveats, charts, drawing, lede, means, pairs, tables
from calibration.reports.figures import crowd, figures
from calibration.reports.how_asked import how_asked
from calibration.reports.sections import SECTIONS, Asked, Section, View
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import actions as studies


def charts_of(result: Snapshot) -> list[charts.Chart]:
    """Return all charts of a report, in the order of its page."""
    return [*charts.charts(result), *(chart for section in SECTIONS for chart in section.charts(result))]


def tables_of(result: Snapshot) -> list[tables.Table]:
    """Return the tables that every written form of a report prints, in the order of its page."""
    leading: list[tables.Table] = []
    others: list[tables.Table] = []
    for section, views in sections(result):
        shown = [
            replace(view.table, said=(*view.what, *view.table.said)) for view in views if view.table.rows
        ]
        (leading if section.leads else others).extend(shown)
    metrics = tables.metrics(result)
    last = [*means.means(result), *([metrics] if metrics else [])]
    return [*leading, *tables.agreement(result), *others, *last]


def sections(result: Snapshot, asked: Asked | None = None) -> list[tuple[Section, Sequence[View]]]:
    """Return the sections that have content, with their tables as they are asked for.

    One that its study was made for (it leads) is there without, too: it then says why.
    """
    found = [
        (section, [view for view in section.views(result, asked) if section.leads or view.has_content])
        for section in SECTIONS
    ]
    return [(section, views) for section, views in found if views]


def without_content(result: Snapshot) -> list[str]:
    """Return what is said of the sections that are not printed: each with the reason, in one sentence."""
    views = [view for section in SECTIONS if not section.leads for view in section.views(result, None)]
    return [view.why_empty for view in views if not view.has_content]


def view_of(report: Report, asked: Asked | None = None) -> dict[str, Any]:
    """Return the context of the report page: sentences, charts, tables, provenance.

    `asked` are the switches of its tables; None shows each table in every way, as a file does.
    """
    result = snapshot_of(report)
    questions = figures(result)
    return {
        "report": report,
        "result": result,
        "heading": lede.headline_question(result) if report.study.automatic else report.study.name,
        "answers": lede.lede(result),
        "caveats": caveats.caveats(result),
        "charts": _drawn(charts.charts(result)),
        "agreement": tables.agreement(result),
        "sections": [
            (section, _drawn(section.charts(result)), views) for section, views in sections(result, asked)
        ],
        "means": means.means(result),
        "metrics": tables.metrics(result),
        "pairs": pairs_of(result, asked) if asked is not None else None,
        "matrices": pairs.matrices(result) if asked is None else [],
        "raters": tables.raters(result),
        "how_asked": how_asked(result),
        "without_content": without_content(result),
        "crowd": crowd(questions),
        "unidentified": any(question.unidentified for question in questions),
        "looks": looks(report),
        "openings": openings_of(report),
        "stale": (stale := studies.is_stale(report)),
        "changes": _changes(report) if stale else None,
        "earlier": report.study.reports.exclude(pk=report.pk).filter(part=report.part)[:10],
        "links": links(result),
        "query": f"?snapshot={report.pk}",
        "everyone": _everyone(report.study),
    }


def _everyone(study: Study) -> dict[str, Any] | None:
    """Return who gold leaves out and whether an automatic report counts them; None where it is nobody."""
    if not study.automatic:
        return None
    people = left_out(study.corpus, study.campaign)
    return {"counts": not leaves_out(study), "people": people} if people else None


def _drawn(found: Sequence[charts.Chart]) -> list[tuple[charts.Chart, SafeString]]:
    """Return charts with their SVG, without those that a section draws by itself."""
    return [(chart, _trusted(chart)) for chart in found if not chart.folded]


def pairs_of(result: Snapshot, asked: Asked) -> pairs.Pairs | None:
    """Return the matrix of pairs that the switches of a page ask for."""
    return pairs.pairs(result, asked.get("pairs", ""), asked.get("statistic", ""))


def _changes(report: Report) -> changes.Changes:
    """Return what became of the labels that a report was computed from."""
    return changes.since(of_study(report.study), report.created_at)


def looks(report: Report) -> list[TestLook]:
    """Return the looks at the test part of the report's split and of its corpus's lock, oldest first."""
    split = snapshot_of(report).split
    if split is None:
        return []
    lock = splits.lock_of(report.study.corpus)
    behind = Q(split__name=split.name) | Q(split=lock)
    found = TestLook.objects.filter(behind, split__corpus=report.study.corpus_id)
    return list(found.select_related("by"))


def openings_of(report: Report) -> list[Opened]:
    """Return, on a report of test, when test was opened for its judges, numbered within their families."""
    result = snapshot_of(report)
    split = report.study.corpus.splits.filter(name=result.split.name).first() if result.split else None
    if split is None or report.part != "test":
        return []
    shown = {rater.name for rater in result.answered if rater.kind == "judge"}
    return [one for one in openings(split) if one.opening.rater.name in shown]


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
