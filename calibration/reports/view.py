"""Context of the report page, gathered from a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
    biases,
    charts,
    designs,
    judges,
    levels,
    raters,
    scores,
    sentences,
    systems,
    tables,
    unanswered,
    verdicts,
)
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    QuestionFigures,
    crowd,
    figures,
    in_order,
    label,
    leading_question,
    worded,
)
from calibration.reports.names import Names, key_of, names_of, titled_snapshot
from calibration.reports.overview import overview
from calibration.reports.papers import paper_tables
from calibration.reports.results import Figure
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.reports.tables import (
    Group,
    ItemSet,
    PageParams,
    Row,
    Section,
    Table,
    Topic,
    View,
    answered_items,
    filled,
    grouped,
    items_params,
    tabulate,
    under_headings,
)
from calibration.reports.topics import TopicHeading, topic_headings, verdict_table
from calibration.reports.wording import counted, narrowing
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.panel import POOLED
from calibration.statistics.table import STATISTICS
from calibration.studies import study_actions as studies

MOST_CAUTIONS = 2
"""Number of cautions that the page shows at once: the weightiest."""

# Sections of a report, in the order of its files.

SECTIONS: tuple[Section, ...] = (
    levels.SCORE_LEVELS,
    systems.PREFERENCES,
    judges.FLOORS,
    biases.BIASES,
    systems.SYSTEMS,
    judges.JUDGES_COMPARED,
    judges.AGAINST_KEY,
    behaviours.TABLE_SEVEN,
    behaviours.SETS,
    unanswered.UNANSWERED_ITEMS,
    behaviours.COVERAGE,
    behaviours.EVIDENCE,
    behaviours.PREVALENCE,
    scores.SCORES,
    raters.RATERS,
    raters.INTRACLASS,
    designs.DESIGN,
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
        return f"{row.rater} reused the replies to equal requests of other runs for {_calls(n_cached)}."
    how = modes[0]
    if len(modes) > 1:
        how = " and ".join(f"{mode} for {_calls(calls_by_mode[mode])}" for mode in modes)
    reused = "reuses" if n_cached == 1 else "reuse"
    cached = f"; {_calls(n_cached)} {reused} the reply to an equal request of another run" if n_cached else ""
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


# Judges beside people, question by question: where the page lists their disagreements.


@dataclass(frozen=True)
class JudgedQuestion:
    """A question that a judge and people answered; `items` are the parameters of its disagreements.

    `judge` is the judge's name in the report, `name` the name to show.
    """

    ref: str
    question: str
    judge: str
    name: str
    items: str


def failures(result: Snapshot, names: Names) -> list[JudgedQuestion]:
    """Return each question with each judge that answered it beside people, the leading question first."""
    questions = label(figures(result))
    leading = leading_question([question for _, question in questions])
    return [
        JudgedQuestion(
            question.data.ref,
            title,
            key_of(judge),
            names.short(judge),
            items_params(question, judge, tables.PEOPLE),
        )
        for title, question in sorted(questions, key=lambda pair: pair[1] is not leading)
        if question.people
        for judge in question.names(JUDGE)
    ]


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
    groups: list[Group] = []
    for title, question in label(figures(result)):
        placed = [
            (items, judge, _row(title, question, compared, cells))
            for items, judge, compared, cells in _compared(question, keys)
        ]
        groups += grouped(title, question, placed)
    rows = under_headings(groups)
    columns = [
        (name, f"{worded(key).heading}, {how}")
        for key in keys
        for name, how in ((key, "one table"), (f"mean_{key}", "mean over pairs"))
    ]
    return [tabulate("means", TITLE, *filled(columns, rows))] if rows else []


def _row(title: str, question: QuestionFigures, compared: str, cells: Both) -> Row:
    with_figure = [cell for cell in cells if cell]
    items, clusters = max(cell.n_items for cell in with_figure), max(cell.n_clusters for cell in with_figure)
    return Row(title, compared, items, clusters, cells, pooled=bool(question.data.pooled))


def _compared(question: QuestionFigures, keys: list[str]) -> list[tuple[ItemSet, str, str, Both]]:
    """Return rows: their items, their judge, the raters compared, and both figures of each statistic.

    Two people alone get no row if there are no judges, because both figures are the same.
    """
    crowd_words, judges = question.crowd, question.judging
    people = question.names(HUMAN, identified_only=True)
    compared_rows: list[tuple[ItemSet, str, str, Both]] = []

    def add_people(items: ItemSet, judge: str, first: Sequence[str]) -> None:
        cells = _both(question, "people", keys, first)
        compared = question.counted_in(next((cell for cell in cells if cell), None))
        compared_rows.append((items, judge, compared, cells))

    if len(people) > (1 if judges else 2):
        add_people(ItemSet(question.data.shared_items, 2), "", people)
    for judge in judges:
        items = answered_items(question, judge, 2)
        if items not in [row[0] for row in compared_rows]:
            add_people(items, judge, [judge])
        with_people, gap = f"{judge} with {crowd_words.many}", f"gap of {judge}"
        compared_rows.append((items, judge, with_people, _both(question, "judge", keys, [judge])))
        compared_rows.append((items, judge, gap, _both(question, "gap", keys, [judge])))
    return [row for row in compared_rows if any(cell and cell.ok for cell in row[-1][1::2])]


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


def keyed_tables(result: Snapshot) -> dict[str, tables.Table]:
    """Return every table of a report by its key: verdicts, tables of its files, of its page, of papers."""
    by_key: dict[str, tables.Table] = {}
    page_tables = (table for section in SECTIONS for table in section.page_tables(result))
    published = (paper.table for paper in paper_tables(result))
    decided = filter(None, [verdicts.table(result)])
    for table in chain(decided, tables_of(result), page_tables, published):
        by_key.setdefault(table.key, table)
    return by_key


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


@dataclass(frozen=True)
class SectionView:
    """A section on the page: its charts, its tables, and its anchor, if it has one."""

    charts: Sequence[tuple[charts.Chart, SafeString]]
    views: Sequence[View]
    key: str = ""
    leads: bool = False


@dataclass(frozen=True)
class TopicView:
    """A topic's fold on the page: its heading, its sections with content, and what is no section."""

    heading: TopicHeading
    sections: list[SectionView]
    template: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is unfolded at first: it holds the purpose of its study."""
        return any(section.leads for section in self.sections)


TEMPLATES: dict[Topic, str] = {
    "failures": "calibration/_failures.html",
    "by-level": "calibration/_levels_link.html",
    "rater-by-rater": "calibration/_raters.html",
    "method": "calibration/_method.html",
}
"""Templates of what a topic shows under its sections."""


def view_of(report: Report, params: PageParams | None = None) -> dict[str, Any]:
    """Return the context of the report page: verdicts, cautions, topics, provenance.

    `params` are the switches of its tables; None shows every variant of each table, as a file does.
    """
    names = names_of(report)
    result = titled_snapshot(report, names)
    questions = figures(result)
    study = report.study.pk if params is not None else None
    cautions = sentences.caveats(result)
    n_people = len(in_order(questions, HUMAN))
    return {
        "report": report,
        "result": result,
        "heading": sentences.headline_question(result) if report.study.automatic else report.study.name,
        "verdicts": verdict_table(snapshot_of(report), names, study=study, part=report.part),
        "answers": sentences.lede(result),
        "cautions": cautions[:MOST_CAUTIONS],
        "other_cautions": cautions[MOST_CAUTIONS:],
        "overview": _overview(result),
        "people_counted": crowd(questions).counted(n_people) if n_people else "",
        "failures": failures(result, names) if params is not None else [],
        "topics": (page_topics := topics(result, names, params)),
        "contents": [
            *([("verdicts", "Verdicts")] if result.verdicts else []),
            *((topic.heading.key, topic.heading.short) for topic in page_topics),
        ],
        "papers": paper_tables(result),
        "verdict_files": verdicts.table(result),
        "pairs": pairs_of(result, params) if params is not None else None,
        "matrices": matrices(result) if params is None else [],
        "raters": tables.raters(result),
        "names": names,
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
        "narrowing": narrowing(result),
        "everyone": _everyone(report.study),
    }


def topics(result: Snapshot, names: Names, params: PageParams | None) -> list[TopicView]:
    """Return the topics with content, in the order of the page; those of the study's purpose are open.

    Without judges and metrics, what would say how well a judge does says how well people do. Files have no
    disagreements.
    """
    questions = figures(result)
    headings = topic_headings(result, names)
    by_topic: dict[Topic, list[SectionView]] = {key: [] for key in headings}
    has_judges = any(question.judging or question.names(METRIC) for question in questions)
    judged: Topic = "judge-agrees" if has_judges else "humans-agree"
    below: dict[Topic, list[tuple[charts.Chart, SafeString]]] = {judged: [], "humans-agree": []}
    for chart, svg in _with_svg(_split_charts(result)[1]):
        below["humans-agree" if chart.key == "krippendorff_alpha" else judged].append((chart, svg))
    agreement, link = tables.agreement(result), [LINK] if params is not None else []
    if has_judges:
        of_people = [table for table in map(tables.of_people, agreement) if table.rows]
        views = _agreement(result, of_people, link, is_judged=False)
        by_topic["humans-agree"].append(SectionView(below["humans-agree"], views))
    views = _agreement(result, agreement, link, is_judged=has_judges)
    by_topic[judged].append(SectionView(below[judged], views))
    for section, section_views in sections(result, params):
        section_charts = _with_svg(section.charts(result))
        topic = judged if section.topic == "judge-agrees" else section.topic
        by_topic[topic].append(SectionView(section_charts, section_views, section.key, section.leads))
    by_topic["paper-tables"].append(SectionView([], _published(result)))
    visible: set[Topic] = {"rater-by-rater", "method"}
    if params is not None and any(q.people and q.names(JUDGE) for q in questions):
        visible.add("failures")
    return [
        TopicView(heading, by_topic[key], TEMPLATES.get(key, ""))
        for key, heading in headings.items()
        if key in visible or any(section.charts or section.views for section in by_topic[key])
    ]


LINK = "Each name leads to the items on which these raters differ."


def _agreement(
    result: Snapshot, agreement: Sequence[Table], link: list[str], *, is_judged: bool
) -> list[View]:
    """Return tables of agreement with the notes on how to read them; with judges also that of metrics."""
    crowd_words = crowd(figures(result))
    people, metrics = crowd_words.many, tables.metrics(result) if is_judged else None
    notes = [
        "Items stand above their number of clusters (dialogues), each figure above its "
        f"{result.definition.plan.level:.0%} interval. κ and MCC of more than two raters read one table of "
        "all pairs of ratings, ρ is the mean over pairs of raters; α and agreement are of all together.",
        "A dash: the statistic does not apply to this scale or these raters.",
    ]
    if is_judged:
        notes[1:1] = [
            "ω: the share of those tested whom the judge can replace; over judges: the same where each judge "
            "is tested at q divided by their number, so that it holds for whichever is chosen; advantage: "
            "the share of items on which it does at least as well.",
            f"Gap: judge with {people} minus {people} with {people}, on the same items and resamples.",
        ]
    views = [View(table) for table in agreement]
    if views:
        views[-1] = replace(views[-1], remarks=(*notes, *link))
    own_scale = f"A metric has a scale of its own, so it meets {people} by order alone."
    return [*views, *([View(metrics, (own_scale,))] if metrics else [])]


def _published(result: Snapshot) -> list[View]:
    """Return the tables of papers with their captions, and the means over pairs of raters."""
    people = crowd(figures(result)).many
    lead = (
        "The other figures read one table of all pairs of ratings. A mean over pairs takes each pair of "
        "raters by itself and weighs it by the items it shares. Where raters share few items it pulls "
        f"{people} with each other down and leaves the judge, who shares many, so its gap says “better” of a "
        "judge that is just one more of them."
    )
    papers = [View(paper.table, lead=paper.table.caption) for paper in paper_tables(result)]
    return [*papers, *(View(table, lead=lead) for table in means(result))]


def _overview(result: Snapshot) -> tuple[charts.Chart, SafeString] | None:
    """Return the picture at the top of the page, with people, judges and baselines on one axis."""
    leading, _ = _split_charts(result)
    return (leading, _trusted(leading)) if leading else None


def _split_charts(result: Snapshot) -> tuple[charts.Chart | None, Sequence[charts.Chart]]:
    """Return the picture at the top, and the charts of the sections below."""
    below = charts.charts(result)
    leading = overview(result)
    return (leading, below) if leading or not below else (below[0], below[1:])


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
    split = (
        splits.splits_of(report.study.corpus).filter(name=result.split.name).first() if result.split else None
    )
    if split is None or report.part != "test":
        return []
    judge_names = {rater.name for rater in result.answered if rater.kind == "judge"}
    return [opening for opening in openings(split) if opening.opening.rater.name in judge_names]


def links(result: Snapshot) -> list[str]:
    """Return sentences about questions read as answers to others, with the map of scales.

    Questions of one title are told apart by their references.
    """
    titles = {question.ref: question.title for rater in result.answered for question in rater.questions}
    titles |= {question.ref: question.title for question in result.questions}
    often = Counter(titles.values())

    def name(ref: str) -> str:
        title = titles.get(ref, ref)
        return f"{title} ({ref})" if often[title] > 1 else title

    refs_by_link: dict[tuple[str, str], list[str]] = {}
    for question in result.questions:
        for link in question.links:
            how = link.scales.in_words()
            refs_by_link.setdefault((link.question, how), []).append(question.ref)
    return [
        f"{name(ref)} is read as an answer to "
        f"{name(refs[0]) if len(refs) == 1 else f'{len(refs)} questions'}, {how}"
        for (ref, how), refs in refs_by_link.items()
    ]


def _trusted(chart: charts.Chart) -> SafeString:
    """Return a chart's SVG. Its texts (names of questions and raters) are escaped by the renderer."""
    return mark_safe(charts.inline_svg(chart))
