"""Pages that compare systems: counts, metric scores, outputs, preferences, turn vs. dialogue ratings.

Researchers only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from annotation import access
from annotation.corpora import splits
from annotation.models import Continuation
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus, Dialogue
from annotation.text.display import language_tag, number
from calibration.comparisons import count_files, count_inputs, metric_causes, preference_tables, profiles
from calibration.comparisons import preferences as preference_charts
from calibration.comparisons.count_files import COUNTS
from calibration.comparisons.count_inputs import SYSTEM
from calibration.comparisons.counts import Counts
from calibration.comparisons.counts import facts as count_facts
from calibration.comparisons.preference_tables import Cell as TableCell
from calibration.comparisons.preference_tables import Sheet, flags_of, reasons_of, sheets
from calibration.comparisons.preferences import PREFERENCES, QuestionReport
from calibration.comparisons.preferences import Report as PreferencesReport
from calibration.comparisons.profile_cells import ALL, SAME
from calibration.comparisons.profiles import PROFILE, Profile, points_suffix, spread_of
from calibration.comparisons.side_by_side import SIDE_BY_SIDE, Cell, Column, Comparison, Row, contexts, signed
from calibration.comparisons.turn_vs_dialogue import TURN_VS_DIALOGUE, TurnVsDialogue, offered
from calibration.comparisons.turn_vs_dialogue import facts as inversion_facts
from calibration.errors import CalibrationError
from calibration.pages.report_pages import (
    Context,
    Params,
    ReportPage,
    chart_files,
    download,
    file_view,
    report_view,
    test_view,
)
from calibration.ratings import votes
from calibration.ratings.scope import census, question_choices, scope_of
from calibration.reports import charts, wording
from calibration.statistics.core.engine import Result
from calibration.statistics.counts import Cell as CountCell
from calibration.statistics.counts import Row as CountedRow
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config.files import row_id
from config.permissions import researcher_only
from jobs.models.job import Job
from judges.pages.runs import user_of

# Counts and scores by system and condition: table, chart, and optionally a second rater.

CORRECTION_NAMES = {
    "auto": "yes, what people rated was drawn at random",
    "rogan_gladen": "yes, it was not drawn at random",
    "none": "no",
}


class SheetCell(NamedTuple):
    """A text or figure of a table, with small print below it, or with the reason why it is missing."""

    text: str
    below: tuple[str, ...] = ()
    why: str = ""
    is_numeric: bool = True


class CountsPage(ReportPage):
    """Page of behaviour counts."""

    kind = COUNTS
    template = "calibration/counts.html"
    names = (
        *("rater", "beside", "questions", "strata", "per_turns", "samples", "correction", "part"),
        *("resamples", "seed", "campaign", "exclude"),
    )

    def parameters(self, query: QueryDict) -> Params:
        """Return the parameters; `by` may be repeated or comma-separated."""
        by = ",".join(key.replace("\0", "") for key in query.getlist("by") if key)
        return super().parameters(query) | ({"by": by} if by else {})

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """Return the raters, questions, row keys and strata to choose from."""
        counted = census(scope_of(subject, campaign, params.get("part", "")))
        by = params.get("by", SYSTEM).split(",")
        raters = count_inputs.raters(counted)
        return {
            "nothing": not raters,
            "split": splits.lock_of(subject),
            "raters": raters,
            "rater": params.get("rater") or (count_inputs.by_default(counted) if raters else ""),
            "sets": list(count_inputs.sets(counted).items()),
            "keys": [(key, key in by) for key in count_inputs.condition_keys(subject)],
            "metadata": count_inputs.metadata_keys(subject),
            "corrections": [(key, CORRECTION_NAMES[key]) for key in CORRECTIONS],
        }

    def compute(
        self, request: HttpRequest, subject: Corpus, campaign: Campaign | None, params: Params
    ) -> tuple[Counts, Counts | None] | Job:
        """Return the counts, and those of a second rater with the same rows.

        The second rater's figures show whether equal scores hide different counts.
        """
        counted = super().compute(request, subject, campaign, params)
        beside: Counts | Job | None = None
        if "beside" in params:
            other = {key: text for key, text in params.items() if key not in ("questions", "samples")}
            beside = super().compute(request, subject, campaign, other | {"rater": params["beside"]})
        if isinstance(counted, Job):
            return counted
        return beside if isinstance(beside, Job) else (counted, beside)

    def shows(self, request: HttpRequest, report: tuple[Counts, Counts | None]) -> Context:
        """Return the tables with their notes, and the chart of the first."""
        counted, beside = report
        return _count_tables(counted) | {
            "excluded": counted.query.left_out(),
            "beside": beside and _count_tables(beside),
            "distances": count_files.distances(counted),
            "distance_names": list(count_files.DISTANCES.values()),
            "missing": count_files.missing_bounds(counted),
            "flags": count_files.flags(counted),
            "chart_files": chart_files(request, "counts-file", counted.query.corpus.pk, "csv"),
            "chart_title": count_files.title(counted),
            "chart_caption": count_files.caption(counted),
            "svg": mark_safe(count_files.inline_svg(counted)),
        }


def _count_tables(counted: Counts) -> Context:
    """Return the tables of counts, with people's rows and other rows in separate parts."""
    counts_sheets: list[Context] = []
    for kind in count_files.kinds(counted):
        is_first = not counts_sheets
        rows = [
            (
                row.figures.human,
                row.name,
                [
                    *([_continuations(row.figures)] if is_first else []),
                    *(_count_cell(kind, cell, is_first=is_first) for cell in row.figures.cells),
                ],
            )
            for row in count_files.rows_of(counted, kind)
        ]
        bodies = [[row for is_human, *row in rows if is_human is human] for human in (True, False)]
        heads = [*(["Continuations"] if is_first else []), *counted.headings]
        head = [("Row", False), *((name, True) for name in heads)]
        counts_sheets.append({"title": kind.title, "head": head, "bodies": [*filter(None, bodies)]})
    counts_sheets += [_system_sheet(table) for table in count_files.system_tables(counted)]
    return {"report": counted, "facts": count_facts(counted), "sheets": counts_sheets}


def _system_sheet(table: count_files.SystemTable) -> Context:
    """Return a table of corrected systems, or of their pairs, with the p-values last."""
    ps = table.ps or ("",) * len(table.rows)
    rows = [
        (name, [*map(_system_cell, results), *([SheetCell(p)] if p else [])])
        for (name, results), p in zip(table.rows, ps, strict=True)
    ]
    head = [("Row", False), *((name, True) for name in table.head)]
    return {"title": table.title, "head": head, "bodies": [rows]}


def _system_cell(result: Result) -> SheetCell:
    if result.value is None:
        return SheetCell(result.status, why=result.reason)
    return SheetCell(number(result.value, 3), (count_files.interval(result, 3), f"n {result.n_items:,}"))


def _continuations(figures: CountedRow) -> SheetCell:
    """Return the number of continuations of a row, above those of clusters and of missing ones."""
    missing = (f"{figures.n_missing:,} missing",) if figures.n_missing else ()
    return SheetCell(
        f"{figures.n_continuations:,}", (wording.counted(figures.n_clusters, "cluster"), *missing)
    )


def _count_cell(kind: count_files.Kind, cell: CountCell, *, is_first: bool) -> SheetCell:
    """Return a figure of a kind with its interval; in the first table also what it was counted from."""
    result = kind.of(cell)
    if result is None:
        return SheetCell("–", why="does not apply")
    if result.value is None:
        return SheetCell(result.status, why=result.reason)
    interval = "no interval" if result.low is None else f"{number(result.low)} to {number(result.high)}"
    raw = f"{number(cell.raw)} as counted" if is_first and cell.raw is not None else ""
    items = f"n {cell.result.n_items:,}" if is_first and cell.result.n_missing else ""
    return SheetCell(number(result.value), tuple(filter(None, (interval, kind.more(cell), raw, items))))


# Profile of a corpus: metric scores by system, and of one continuation.


class ProfilePage(ReportPage):
    """Page of metric scores by aspect; for a large corpus the last computed ones."""

    kind = PROFILE
    template = "calibration/profile.html"

    def parameters(self, query: QueryDict) -> Params:
        """Return the points to compare, those shared by all rows by default, and the exclusion."""
        exclude = query.get("exclude", "").replace("\0", "").strip()
        return {"points": ALL if query.get("points") == ALL else SAME, "exclude": exclude}

    def shows(self, request: HttpRequest, report: Profile) -> Context:
        """Return the panels, their doubtful values, and examples."""
        columns = {column.id: column.name for panel in report.panels for column in panel.columns}
        return {
            "points": report.points,
            "panels": report.panels,
            "doubts": [(columns[rater], doubt) for rater, doubt in report.doubts.items()],
            "learned": [(columns[rater], n) for rater, n in report.learned.items()],
            "examples": report.examples.select_related("dialogue", "system"),
            "kept": report.cached,
            "excluded": report.excluded,
            "query": urlencode(self.parameters(request.GET)),
        }

    def is_error(self, subject: Corpus, params: Params) -> bool:
        """Whether an exclusion is named."""
        return bool(params["exclude"])


@require_GET
@researcher_only
def profile_chart(request: HttpRequest, pk: int, metric: int, form: str) -> HttpResponse:
    """Distribution of a metric's values, as a fragment of the page or an SVG file."""
    corpus = access.corpus(pk)
    column = profiles.column(corpus, metric)
    if column is None or form not in ("part", "svg"):
        raise Http404
    try:
        query = PROFILE.read(ProfilePage().parameters(request.GET), corpus, None)
    except CalibrationError as refused:
        raise Http404 from refused
    values = spread_of(query=query, column=column, by=user_of(request))
    if form == "svg":
        name = f"profile-{corpus.pk}-{column.metric.key}{points_suffix(query.points)}.svg"
        return download(profiles.svg(values, column), "image/svg+xml", name)
    inline_chart = mark_safe(profiles.inline_svg(values, column))
    return HttpResponse(format_html('<div class="chart">{}</div>', inline_chart))


@require_GET
@researcher_only
def profile_continuation(request: HttpRequest, pk: int) -> HttpResponse:
    """Metric values of a continuation with the turns that caused them; optionally of one metric."""
    continuation = access.continuation(pk)
    lines, values = metric_causes.values(continuation)
    first = {value.rater: value.metric for value in reversed(values)}  # prefers its own question
    metrics = dict(sorted(first.items(), key=lambda pair: pair[1]))
    requested = row_id(request.GET.get("metric", ""))
    selected = requested if requested in metrics else None
    visible = [value for value in values if selected in (None, value.rater)]
    beside = _beside(continuation, selected)
    history = sum(line.history for line in lines)
    by_turn = [
        (
            line,
            [value for value in visible if value.place == line.place],
            beside.get(line.place - 1 - history),
        )
        for line in lines
    ]
    context = {
        "continuation": continuation,
        "corpus": continuation.dialogue.corpus,
        "siblings": continuation.dialogue.continuations.select_related("system").order_by("pk"),
        "metrics": metrics,
        "chosen": selected,
        "turns": by_turn,
        "compared": next(iter(beside.values()), ""),
        "whole": [value for value in visible if value.place is None],
    }
    return render(request, "calibration/profile_continuation.html", context)


def _beside(continuation: Continuation, metric: int | None) -> dict[int, str]:
    """Return, by turn index, the query of the Compare page for each context shared with others."""
    parameters: dict[str, str | int] = {"continuation": continuation.key}
    if metric:
        parameters["metric"] = metric
    return {
        answer.position: urlencode({"at": context.at, **parameters})
        for context in contexts(continuation.dialogue)
        for answer in context.answers
        if answer.continuation == continuation
    }


# Continuations of one context side by side, with their metric scores.

NEAR = 6
"""Number of context turns shown; earlier turns are folded."""
FEW = 12
"""Number of continuations to choose from that are shown; more are folded."""


class SideBySidePage(ReportPage):
    """Page of one context of a dialogue and its continuations."""

    kind = SIDE_BY_SIDE
    template = "calibration/compare.html"

    def subject(self, pk: int) -> Dialogue:
        """Load the dialogue."""
        return access.dialogue(pk)

    def parameters(self, query: QueryDict) -> Params:
        """Return context, continuations and metric; an invalid turn number is left out."""
        position = query.get("at", "")
        return {
            "at": 0 if position == "0" else row_id(position),
            "continuations": tuple(filter(None, query.getlist("continuation"))),
            "against": query.get("against", ""),
            "metric": query.get("metric", ""),
        }

    def offers(self, subject: Dialogue, campaign: Campaign | None, params: Params) -> Context:
        """Return the dialogue."""
        return {"dialogue": subject, "corpus": subject.corpus}

    def is_error(self, subject: Dialogue, params: Params) -> bool:
        """Whether there are other continuations to compare."""
        return bool(contexts(subject))

    def shows(self, request: HttpRequest, report: Comparison) -> Context:
        """Return the context, the columns and the metrics in their sections."""
        metric = request.GET.get("metric", "")
        columns = [column.answer.name for column in report.columns]
        at_points: dict[int, int] = {}
        for shared in report.contexts:
            at_points[shared.at] = max(at_points.get(shared.at, 0), len(shared.answers))
        answers = report.choice.context.answers
        return {
            "far": report.context[:-NEAR],
            "near": report.context[-NEAR:],
            "left_out": report.n_context - len(report.context),
            "points": [
                (at, f"{wording.counted(at, 'turn')} ({wording.counted(n, 'continuation')})")
                for at, n in sorted(at_points.items())
            ],
            "choices": [(answer.name, answer.name in columns) for answer in answers],
            "columns": columns,
            "unfolds": len(answers) > FEW,
            "has_people": any(column.answer.is_human for column in report.columns),
            "unscored": [column for column in report.columns if not column.scored],
            "heads": [_head(column, report) for column in report.columns],
            "sections": [
                (section.title, [(row.metric, _compared_cells(row, report)) for row in section.rows])
                for section in report.sections
            ],
            "language": language_tag(report.dialogue.language),
            "metric": row_id(metric),
            "forms": self.kind.renderings.values() if report.rows else (),
            "query": _same_columns(report, metric),
        }


def _same_columns(comparison: Comparison, metric: str) -> str:
    """Return the query that reproduces exactly these columns."""
    parameters: list[tuple[str, Any]] = [("at", comparison.choice.context.at)]
    parameters += [("continuation", column.answer.name) for column in comparison.columns]
    parameters += [("against", comparison.against.answer.name), *([("metric", metric)] if metric else [])]
    return urlencode(parameters)


def _head(column: Column, comparison: Comparison) -> tuple[str, list[str]]:
    """Return a column's system, and lines about which of its continuations it is."""
    part, name = column.answer.continuation, column.answer.name
    lines = [
        name if name != part.system.name else "",
        column.condition,
        "fake model" if part.fake_model else "",
        "compared with" if column == comparison.against else "",
    ]
    return part.system.name, [line for line in lines if line]


def _compared_cells(row: Row, comparison: Comparison) -> list[Context]:
    pairs = zip(comparison.columns, row.cells, strict=True)
    return [_compared_cell(row, column, cell, comparison) for column, cell in pairs]


def _compared_cell(row: Row, column: Column, cell: Cell, comparison: Comparison) -> Context:
    part = column.answer.continuation
    behind = f"{reverse('profile-continuation', args=[part.pk])}?metric={row.metric.id}"
    leads = [
        (place, f"#{anchor}" if anchor in comparison.anchors else f"{behind}#{anchor}")
        for place, anchor in cell.leads
    ]
    of_turn = row.metric.metric.kind == "turn"
    return {
        "cell": cell,
        "text": cell.value if isinstance(cell.value, str) else number(cell.value, 3),
        "difference": "" if cell.difference is None else signed(cell.difference),
        "behind": f"{behind}#{column.line.anchor}" if of_turn else behind,
        "leads": leads,
    }


# Preferences between systems: win rates, strengths, agreement, position bias.


class PreferencesPage(ReportPage):
    """Page of preferences, by question."""

    kind = PREFERENCES
    template = "calibration/preferences.html"
    names = ("question", "systems", "ties", "both_bad", "anchor", "part", "resamples", "seed", "exclude")

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """Return the questions, systems, and settings for votes to choose from."""
        questions = votes.comparing(census(scope_of(subject, campaign, params.get("part", ""))))
        return {
            "nothing": not questions,
            "split": splits.lock_of(subject),
            "questions": [(question.ref, question.title) for question in questions],
            "systems": list(subject.systems.order_by("name").values_list("name", flat=True)),
            "models": list(MODELS.items()),
            "both_bads": [(key, text[:1].upper() + text[1:]) for key, text in BOTH_BAD_POLICIES.items()],
        }

    def shows(self, request: HttpRequest, report: PreferencesReport) -> Context:
        """Return the questions with their charts and tables."""
        return {
            "plan": report.questions[0].figures.plan,
            "facts": report.facts,
            "excluded": report.excluded,
            "parts": [_question(question) for question in report.questions],
        }


def _question(question: QuestionReport) -> Context:
    question_sheets = sheets(question.figures)
    return {
        "title": question.title,
        "ref": question.key,
        "sentences": [
            *map(preference_tables.voters_line, question.figures.voters),
            *preference_tables.method_lines(question.figures.choices),
        ],
        "charts": [
            (chart, mark_safe(charts.inline_svg(chart))) for chart in preference_charts.charts(question)
        ],
        "sheets": [_sheet(sheet) for sheet in question_sheets],
        "reasons": [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons_of(question_sheets)],
        "flags": [(flag, preference_tables.flag_sentence(flag)) for flag in flags_of(question_sheets)],
    }


def _sheet(sheet: Sheet) -> Context:
    numeric = [not isinstance(cell, str) for cell in sheet.rows[0]]
    return {
        "title": sheet.title,
        "note": sheet.note,
        "head": list(zip(sheet.head, numeric, strict=True)),
        "bodies": [[(row[0], [_sheet_cell(cell) for cell in row[1:]]) for row in sheet.rows]],
    }


def _sheet_cell(cell: TableCell) -> SheetCell:
    """Return a text, a count, a figure with its interval, or the reason why there is none."""
    if isinstance(cell, Result):
        if not cell.ok:
            return SheetCell(cell.status, why=cell.reason)
        interval = preference_tables.interval(cell) if cell.low is not None else "no interval"
        return SheetCell(preference_tables.figure(cell), (interval,))
    if cell is None:
        return SheetCell("–", why="not measured")
    return SheetCell(cell, is_numeric=False) if isinstance(cell, str) else SheetCell(f"{cell:,}")


# Turn vs. dialogue ratings: continuations whose rank differs most between people's two scores.

PAGE = 50


class TurnVsDialoguePage(ReportPage):
    """Page of continuations by both of people's scores, and inversions."""

    kind = TURN_VS_DIALOGUE
    template = "calibration/turns_and_whole.html"
    names = ("campaign", "turns", "whole", "exclude")

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """Return the questions about turns, and about whole continuations."""
        turns, dialogue_questions = offered(census(scope_of(subject, campaign)))
        about_turns, about_dialogues = question_choices(turns), question_choices(dialogue_questions)
        return {"turns": about_turns, "whole": about_dialogues}

    def is_error(self, subject: Corpus, params: Params) -> bool:
        """Whether a question is named."""
        return bool({"turns", "whole", "exclude"} & {*params})

    def shows(self, request: HttpRequest, report: TurnVsDialogue) -> Context:
        """Return a page of continuations, and the dialogues with inversions."""
        return {
            "facts": inversion_facts(report),
            "excluded": report.excluded,
            "forms": self.kind.renderings.values() if report.lines else (),
            "page": Paginator(report.lines, PAGE).get_page(request.GET.get("page")),
            "several": [dialogue for dialogue in report.dialogues if dialogue.pairs],
        }


# Views of all kinds of reports.

counts, counts_file, counts_test = (make(CountsPage()) for make in (report_view, file_view, test_view))
preferences, preferences_file, preferences_test = (
    make(PreferencesPage()) for make in (report_view, file_view, test_view)
)
profile, profile_file = report_view(ProfilePage()), file_view(ProfilePage())
turns_and_whole, turns_and_whole_file = report_view(TurnVsDialoguePage()), file_view(TurnVsDialoguePage())
compare_page, compare_file = report_view(SideBySidePage()), file_view(SideBySidePage())
