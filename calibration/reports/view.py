"""Context of the report page, gathered from a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q
from django.utils.safestring import SafeString, mark_safe

from annotation.corpora import splits
from annotation.corpora.splits import Opened, openings
from annotation.models import TestLook
from annotation.work.check_stages import left_out
from calibration.models import Report, Study
from calibration.ratings import scope
from calibration.ratings.calls import AT_ONCE, CACHED, IN_BATCHES, Calls
from calibration.ratings.scope import leaves_out, of_study
from calibration.reports import (
    behaviours,
    charts,
    judges,
    levels,
    preferences,
    raters,
    scores,
    sentences,
    tables,
    unanswered,
)
from calibration.reports.figures import HUMAN, JUDGE, QuestionFigures, crowd, figures, label, worded
from calibration.reports.overview import overview
from calibration.reports.snapshot import Figure, Snapshot, snapshot_of
from calibration.reports.tables import PageParams, Row, Section, Table, View, filled, items_params, tabulate
from calibration.reports.wording import counted
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.panel import POOLED
from calibration.statistics.table import STATISTICS
from calibration.studies import study_actions as studies

# Sections of a report, in the order of its page.

SECTIONS: tuple[Section, ...] = (
    levels.SCORE_LEVELS,
    preferences.PREFERENCES,
    judges.FLOORS,
    judges.JUDGES_COMPARED,
    judges.AGAINST_KEY,
    behaviours.TABLE_SEVEN,
    unanswered.UNANSWERED_ITEMS,
    behaviours.COVERAGE,
    behaviours.EVIDENCE,
    behaviours.PREVALENCE,
    scores.SCORES,
    raters.RATERS,
    raters.INTRACLASS,
)


# Request mode of judges, where their calls record it: at once, or in the provider's batches.


def how_asked(result: Snapshot) -> list[str]:
    """Return one sentence per judge whose mode is known; labels of other origins are not mentioned."""
    return [_sentence(row) for row in result.calls if row.modes]


def _sentence(row: Calls) -> str:
    calls_by_mode = dict(row.modes)
    n_cached, modes = (
        calls_by_mode.pop(CACHED, 0),
        [mode for mode in (AT_ONCE, IN_BATCHES) if mode in calls_by_mode],
    )
    if not modes:
        return f"{row.rater} took the replies that equal requests of other runs had got, {_calls(n_cached)}."
    how = modes[0]
    if len(modes) > 1:
        how = " and ".join(f"{mode} for {_calls(calls_by_mode[mode])}" for mode in modes)
    cached = (
        f"; {_calls(n_cached)} took the reply that an equal request of another run had got"
        if n_cached
        else ""
    )
    return f"{row.rater} was asked {how}{cached}."


def _calls(n: int) -> str:
    return counted(n, "call")


# Matrix of every rater with every other on one question, by one pair statistic, and its choices.

FEWEST = 3


@dataclass(frozen=True)
class Matrix:
    """One statistic of a question between identified people and judges, the upper triangle filled.

    `ordered`: the rater of the row is the reference, so the order matters.
    """

    ref: str
    question: str
    key: str
    statistic: str
    ordered: bool
    names: list[str]
    rows: list[tuple[str, list[tuple[Figure | None, str]]]]


@dataclass(frozen=True)
class Pairs:
    """Questions and statistics that a matrix can show, and the selected matrix."""

    questions: list[tuple[str, str]]
    statistics: list[tuple[str, str]]
    matrix: Matrix


def pairs(result: Snapshot, question: str = "", statistic: str = "") -> Pairs | None:
    """Return the matrix of a question (by its reference) and statistic; None if no question has one.

    An unknown question selects the first, an unknown statistic that of agreement on the question's scale.
    """
    with_pairs = _with_pairs(result)
    if not with_pairs:
        return None
    title, selected = next((pair for pair in with_pairs if pair[1].data.ref == question), with_pairs[0])
    offered = _statistics(selected)
    key = statistic if statistic in dict(offered) else _headline(selected, offered)
    return Pairs([(q.data.ref, heading) for heading, q in with_pairs], offered, _matrix(title, selected, key))


def matrices(result: Snapshot) -> list[Matrix]:
    """Return, per question, the matrix of the statistic for agreement, which files print."""
    return [_matrix(title, q, _headline(q, _statistics(q))) for title, q in _with_pairs(result)]


def _with_pairs(result: Snapshot) -> list[tuple[str, QuestionFigures]]:
    questions = label(figures(result))
    return [(title, q) for title, q in questions if len(_names(q)) >= FEWEST and _statistics(q)]


def _names(question: QuestionFigures) -> list[str]:
    return [*question.names(HUMAN, identified_only=True), *question.names(JUDGE)]


def _statistics(question: QuestionFigures) -> list[tuple[str, str]]:
    """Return the pair statistics computed for a question, in the order of the table."""
    computed = {entry.name for entry in question.data.pairs if MEAN_OF_PEOPLE not in entry.raters}
    return [(key, worded(key).name) for key in STATISTICS if key in computed]


def _headline(question: QuestionFigures, offered: Sequence[tuple[str, str]]) -> str:
    return question.headline if question.headline in dict(offered) else offered[0][0]


def _matrix(title: str, question: QuestionFigures, key: str) -> Matrix:
    names = _names(question)
    entries = {
        frozenset(e.raters): e
        for e in question.data.pairs
        if e.name == key and MEAN_OF_PEOPLE not in e.raters
    }
    rows = [
        (
            a,
            [
                (entries.get(frozenset((a, b))) if j > i else None, items_params(question, a, b))
                for j, b in enumerate(names)
            ],
        )
        for i, a in enumerate(names)
    ]
    ordered = not STATISTICS[key].symmetric
    return Matrix(question.data.ref, title, key, worded(key).name, ordered, names, rows[:-1])


# Means over pairs of raters, beside the figures of one table of all pairs that a report leads with.
#
# A mean over pairs misleads where raters share few items (docs/statistics/replacement.md), but many papers
# print it: so both stand side by side, each under its own name.

TITLE = "Mean over pairs"
Both = list[Figure | None]


def means(result: Snapshot) -> list[Table]:
    """Return κ and MCC of one table, each beside its mean over pairs of raters; empty if there is none.

    Rows are people with people, each judge with people, and the judge's gap.
    """
    keys = [key for key in STATISTICS if key in POOLED and key in result.definition.statistics]
    keys = [key for key in keys if key != "percent_agreement"]
    rows: list[Row] = []
    for title, question in label(figures(result)):
        question_rows = [
            _row(title, question, compared, cells) for compared, cells in _compared(question, keys)
        ]
        rows += [Row(**(vars(row) | {"first": place == 0})) for place, row in enumerate(question_rows)]
    columns = [
        (name, f"{worded(key).heading}, {how}")
        for key in keys
        for name, how in ((key, "one table"), (f"mean_{key}", "mean over pairs"))
    ]
    return [tabulate(TITLE, *filled(columns, rows))] if rows else []


def _row(title: str, question: QuestionFigures, compared: str, cells: Both) -> Row:
    with_figure = [cell for cell in cells if cell]
    items, clusters = max(cell.n_items for cell in with_figure), max(cell.n_clusters for cell in with_figure)
    return Row(title, compared, items, clusters, cells, pooled=bool(question.data.pooled))


def _compared(question: QuestionFigures, keys: list[str]) -> list[tuple[str, Both]]:
    """Return rows of raters compared, with both figures of each statistic.

    Two people alone get no row if there are no judges, because both figures are the same.
    """
    crowd_words, judges = question.crowd, question.judging
    people = question.names(HUMAN, identified_only=True)
    compared_rows = []
    if len(people) > (1 if judges else 2):
        cells = _both(question, "people", keys, people)
        compared_rows.append((question.counted_in(next((cell for cell in cells if cell), None)), cells))
    for judge in judges:
        compared_rows.append((f"{judge} with {crowd_words.many}", _both(question, "judge", keys, [judge])))
        compared_rows.append((f"gap of {judge}", _both(question, "gap", keys, [judge])))
    return [
        (compared, cells)
        for compared, cells in compared_rows
        if any(cell and cell.ok for cell in cells[1::2])
    ]


def _both(question: QuestionFigures, side: str, keys: list[str], first: Sequence[str]) -> Both:
    """Return each statistic's one-table figure and its mean, of those whose raters begin with `first`."""
    own = {entry.name: entry for entry in question.data.gaps if entry.raters[0] in first}
    return [own.get(name) for key in keys for name in (f"{side}_{key}", f"{side}_mean_{key}")]


def charts_of(result: Snapshot) -> list[charts.Chart]:
    """Return all charts of a report, in the order of its page."""
    leading = [chart for chart in [overview(result)] if chart is not None]
    of_sections = [chart for section in SECTIONS for chart in section.charts(result)]
    return [*leading, *charts.charts(result), *of_sections]


def tables_of(result: Snapshot) -> list[tables.Table]:
    """Return the tables that every written format prints, in the order of the page."""
    leading: list[tables.Table] = []
    others: list[tables.Table] = []
    for section, views in sections(result):
        printed = [
            replace(view.table, remarks=(*view.remarks, *view.table.remarks))
            for view in views
            if view.table.rows
        ]
        (leading if section.leads else others).extend(printed)
    metrics = tables.metrics(result)
    last = [*means(result), *([metrics] if metrics else [])]
    return [*leading, *tables.agreement(result), *others, *last]


def sections(result: Snapshot, params: PageParams | None = None) -> list[tuple[Section, Sequence[View]]]:
    """Return the sections that have content, with the selected tables.

    A section that leads (the purpose of its study) is included without content, too: it then says why.
    """
    section_views = [
        (section, [view for view in section.views(result, params) if section.leads or view.has_content])
        for section in SECTIONS
    ]
    return [(section, views) for section, views in section_views if views]


def without_content(result: Snapshot) -> list[str]:
    """Return why sections are not printed, one sentence each."""
    views = [view for section in SECTIONS if not section.leads for view in section.views(result, None)]
    return [view.why_empty for view in views if not view.has_content]


def view_of(report: Report, params: PageParams | None = None) -> dict[str, Any]:
    """Return the context of the report page: sentences, charts, tables, provenance.

    `params` are the switches of its tables; None shows every variant of each table, as a file does.
    """
    result = snapshot_of(report)
    questions = figures(result)
    return {
        "report": report,
        "result": result,
        "heading": sentences.headline_question(result) if report.study.automatic else report.study.name,
        "answers": sentences.lede(result),
        "caveats": sentences.caveats(result),
        "charts": _with_svg(charts.charts(result)),
        "agreement": tables.agreement(result),
        "sections": [
            (section, _with_svg(section.charts(result)), views) for section, views in sections(result, params)
        ],
        "means": means(result),
        "metrics": tables.metrics(result),
        "pairs": pairs_of(result, params) if params is not None else None,
        "matrices": matrices(result) if params is None else [],
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
    """Return the people whom gold leaves out, and whether an automatic report counts them; else None."""
    if not study.automatic:
        return None
    people = left_out(study.corpus, study.campaign)
    return {"counts": not leaves_out(study), "people": people} if people else None


def _with_svg(all_charts: Sequence[charts.Chart]) -> list[tuple[charts.Chart, SafeString]]:
    """Return charts with their SVG, except those that a section draws by itself."""
    return [(chart, _trusted(chart)) for chart in all_charts if not chart.folded]


def pairs_of(result: Snapshot, params: PageParams) -> Pairs | None:
    """Return the matrix of pairs that the page's switches select."""
    return pairs(result, params.get("pairs", ""), params.get("statistic", ""))


def _changes(report: Report) -> scope.Changes:
    """Return the changes to the labels since a report was computed."""
    return scope.since(of_study(report.study), report.created_at)


def looks(report: Report) -> list[TestLook]:
    """Return the looks at the test part of the report's split and of its corpus's lock, oldest first."""
    split = snapshot_of(report).split
    if split is None:
        return []
    lock = splits.lock_of(report.study.corpus)
    behind = Q(split__name=split.name) | Q(split=lock)
    test_looks = TestLook.objects.filter(behind, split__corpus=report.study.corpus_id)
    return list(test_looks.select_related("by"))


def openings_of(report: Report) -> list[Opened]:
    """For a report of test, return when test was opened for its judges, numbered within their families."""
    result = snapshot_of(report)
    split = report.study.corpus.splits.filter(name=result.split.name).first() if result.split else None
    if split is None or report.part != "test":
        return []
    judge_names = {rater.name for rater in result.answered if rater.kind == "judge"}
    return [opening for opening in openings(split) if opening.opening.rater.name in judge_names]


def links(result: Snapshot) -> list[str]:
    """Return sentences about questions read as answers to others, with the map of scales."""
    refs_by_link: dict[tuple[str, str], list[str]] = {}
    for question in result.questions:
        for link in question.links:
            how = link.scales.in_words()
            refs_by_link.setdefault((link.question, how), []).append(question.ref)
    return [
        f"{question} is read as an answer to {refs[0] if len(refs) == 1 else f'{len(refs)} questions'}, {how}"
        for (question, how), refs in refs_by_link.items()
    ]


def _trusted(chart: charts.Chart) -> SafeString:
    """Return a chart's SVG. Its texts (names of questions and raters) are escaped by the renderer."""
    return mark_safe(charts.inline_svg(chart))
