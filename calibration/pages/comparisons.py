"""Pages that compare systems: counts, metric scores, outputs, preferences, turn vs. dialogue ratings.

Researchers only. Each kind of report has a page, and views of one form give its page, its files and its looks
at the test part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora import splits
from annotation.models import Continuation
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus, Dialogue
from annotation.text.display import language_tag
from calibration.comparisons import count_files, count_inputs, metric_causes, preference_tables, profiles
from calibration.comparisons import preferences as preference_charts
from calibration.comparisons.count_files import COUNTS
from calibration.comparisons.count_inputs import SYSTEM
from calibration.comparisons.counts import Counts
from calibration.comparisons.counts import facts as count_facts
from calibration.comparisons.engine import ReportKind
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
from calibration.ratings import votes
from calibration.ratings.scope import census, scope_of
from calibration.reports import charts
from calibration.statistics.core.engine import Result
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config.files import row_id
from config.permissions import researcher_only
from jobs.models.job import Job

# What pages of reports share.

Context = dict[str, Any]
Params = dict[str, Any]


class ReportPage:
    """The page of a kind of report about a corpus; a subclass says what its form offers and what it shows."""

    kind: ClassVar[ReportKind[Any, Any]]
    template: ClassVar[str]
    names: ClassVar[tuple[str, ...]] = ()
    """Parameters that the page's address may have, one of each."""

    def subject(self, pk: int) -> Any:
        """Load what the report is about."""
        return access.corpus(pk)

    def parameters(self, query: QueryDict) -> Params:
        """Return the parameters of an address."""
        return {name: str(query[name]).replace("\0", "") for name in self.names if query.get(name)}

    def offers(self, subject: Any, campaign: Campaign | None, params: Params) -> Context:
        """Return what the form offers; `nothing` is true where there is nothing to report on."""
        return {}

    def is_error(self, subject: Any, params: Params) -> bool:
        """Whether a refusal is an error of the address, or only says that there is nothing to show yet."""
        return bool(params)

    def compute(self, request: HttpRequest, subject: Any, campaign: Campaign | None, params: Params) -> Any:
        """Return the report, or the job that computes it."""
        query = self.kind.read(params, subject, campaign)
        return self.kind.compute(query=query, by=_user(request), again="again" in request.GET)

    def shows(self, request: HttpRequest, report: Any) -> Context:
        """Return what the page shows of a report."""
        raise NotImplementedError


def report_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """The report that an address asks for, the progress of the job that computes it, or why there is none."""

    @require_GET
    @researcher_only
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        subject = page.subject(pk)
        campaign = _campaign(request, subject)
        params = page.parameters(request.GET)
        context = {"corpus": subject, "campaign": campaign, "active_room": "corpora", "given": params}
        context |= {"forms": page.kind.renderings.values()} | page.offers(subject, campaign, params)
        status = 200
        if not context.get("nothing"):
            try:
                report = page.compute(request, subject, campaign, params)
                if "again" in request.GET:
                    return redirect(_page_address(page, pk, request.GET))
                if isinstance(report, Job):
                    context |= {"job": report, "title": page.kind.title}
                    return render(request, "calibration/figures_progress.html", context)
                context |= page.shows(request, report)
            except CalibrationError as refused:
                is_error = page.is_error(subject, params)
                context |= {"refused": str(refused), "is_error": is_error}
                status = 422 if is_error else 200
        return render(request, page.template, context, status=status)

    return view


def file_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """The report as a file in one of its forms."""

    @require_GET
    @researcher_only
    def view(request: HttpRequest, pk: int, form: str) -> HttpResponse:
        subject = page.subject(pk)
        rendering = page.kind.renderings.get(form)
        if rendering is None:
            raise Http404
        try:
            query = page.kind.read(page.parameters(request.GET), subject, _campaign(request, subject))
            report = page.kind.compute(query=query, by=_user(request))
        except CalibrationError as refused:
            return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
        if isinstance(report, Job):
            return redirect(_page_address(page, pk, request.GET))
        name = page.kind.file_name(pk, report, form)
        return _download(rendering.write(report), rendering.media_type, name)

    return view


def test_view(page: ReportPage) -> Callable[..., HttpResponse]:
    """Log a look at test with its purpose, and show the report of the test part."""

    @require_POST
    @researcher_only
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        assert page.kind.open_test is not None
        subject = page.subject(pk)
        purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
        address = request.GET.copy()
        address.pop("part", None)
        try:
            query = page.kind.read(page.parameters(address), subject, _campaign(request, subject))
            page.kind.open_test(query=query, by=_user(request), purpose=purpose)
            address["part"] = "test"
        except CalibrationError as refused:
            messages.error(request, f"Test was not opened: {refused}.")
        return redirect(_page_address(page, pk, address))

    return view


def _campaign(request: HttpRequest, subject: Corpus | Dialogue) -> Campaign | None:
    """Load the campaign that an address names; a dialogue is compared without one."""
    number = row_id(request.GET.get("campaign", "")) if isinstance(subject, Corpus) else None
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != subject.pk:
        raise Http404
    return campaign


def _page_address(page: ReportPage, pk: int, query: QueryDict) -> str:
    """Return the address of a page with its parameters, without a call for newer figures."""
    params = query.copy()
    params.pop("again", None)
    return f"{reverse(page.kind.name, args=[pk])}?{params.urlencode()}"


def _user(request: HttpRequest) -> Any:
    return request.user


def _download(content: str | bytes, media_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=media_type, headers=headers)


# Counts and scores by system and condition: the table, its chart, a second rater beside it.

CORRECTION_NAMES = {
    "auto": "yes, what people rated was drawn at random",
    "rogan_gladen": "yes, it was not drawn at random",
    "none": "no",
}


class CountsPage(ReportPage):
    """Behaviour counts."""

    kind = COUNTS
    template = "calibration/counts.html"
    names = (
        *("rater", "beside", "questions", "strata", "per_turns", "samples", "correction", "part"),
        *("resamples", "seed", "campaign"),
    )

    def parameters(self, query: QueryDict) -> Params:
        """Keys of rows may be given several times, or by commas."""
        by = ",".join(key.replace("\0", "") for key in query.getlist("by") if key)
        return super().parameters(query) | ({"by": by} if by else {})

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """Raters, questions, keys of rows and strata."""
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
        """Return the counts, and those of a second rater with the same rows: scores can be equal where
        counts differ."""
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
            "shown": counted.shown,
            "beside": beside and _count_tables(beside),
            "distances": count_files.distances(counted),
            "distance_names": list(count_files.DISTANCES.values()),
            "missing": count_files.missing_bounds(counted),
            "flags": count_files.flags(counted),
            "chart_title": count_files.title(counted),
            "chart_caption": count_files.caption(counted),
            "svg": mark_safe(count_files.inline_svg(counted)),
        }


def _count_tables(counted: Counts) -> Context:
    """Return the tables of counts, with people's rows and the others each in a part."""
    tables: list[Context] = []
    for kind in count_files.kinds(counted):
        rows = [
            (row.figures, row.name, [(kind.of(cell), kind.more(cell), cell) for cell in row.figures.cells])
            for row in count_files.rows_of(counted, kind)
        ]
        bodies = [[line for line in rows if line[0].human is human] for human in (True, False)]
        tables.append({"title": kind.title, "bodies": [*filter(None, bodies)], "first": not tables})
    return {"made": counted, "facts": count_facts(counted), "tables": tables, "heads": counted.headings}


# The profile of a corpus: what metrics say of each system, and of one continuation.


class ProfilePage(ReportPage):
    """Metric scores, in their aspects; of a large corpus as they were last computed."""

    kind = PROFILE
    template = "calibration/profile.html"

    def parameters(self, query: QueryDict) -> Params:
        """Which points are compared: those that rows share unless all are named."""
        return {"points": ALL if query.get("points") == ALL else SAME}

    def shows(self, request: HttpRequest, report: Profile) -> Context:
        """Return the panels, what is doubtful in them, and examples."""
        columns = {column.id: column.name for panel in report.panels for column in panel.columns}
        return {
            "points": report.points,
            "panels": report.panels,
            "doubts": [(columns[rater], doubt) for rater, doubt in report.doubts.items()],
            "learned": [(columns[rater], n) for rater, n in report.learned.items()],
            "examples": report.examples.select_related("dialogue", "system"),
            "kept": report.cached,
        }


@require_GET
@researcher_only
def profile_chart(request: HttpRequest, pk: int, metric: int, form: str) -> HttpResponse:
    """How one metric's values are spread: as a part of the page, or as an SVG file."""
    corpus = access.corpus(pk)
    column = profiles.column(corpus, metric)
    if column is None or form not in ("part", "svg"):
        raise Http404
    points = ProfilePage().parameters(request.GET)["points"]
    values = spread_of(corpus=corpus, column=column, by=_user(request), points=points)
    if form == "svg":
        name = f"profile-{corpus.pk}-{column.metric.key}{points_suffix(points)}.svg"
        return _download(profiles.svg(values, column), "image/svg+xml", name)
    inline_chart = mark_safe(profiles.inline_svg(values, column))
    return render(request, "calibration/_profile_chart.html", {"svg": inline_chart})


@require_GET
@researcher_only
def profile_continuation(request: HttpRequest, pk: int) -> HttpResponse:
    """One continuation's values with the turns that caused them; of one metric where one is chosen."""
    continuation = access.continuation(pk)
    lines, values = metric_causes.values(continuation)
    first = {value.rater: value.metric for value in reversed(values)}  # of several, its own question's
    metrics = dict(sorted(first.items(), key=lambda pair: pair[1]))
    metric_id = request.GET.get("metric", "")
    selected = number if (number := row_id(metric_id)) in metrics else None
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
        "active_room": "corpora",
        "turns": by_turn,
        "compared": next(iter(beside.values()), ""),
        "whole": [value for value in visible if value.place is None],
    }
    return render(request, "calibration/profile_continuation.html", context)


def _beside(continuation: Continuation, metric: int | None) -> dict[int, str]:
    """Return by the index of a turn how the page Compare is asked for its context, where others share it."""
    parameters: dict[str, str | int] = {"continuation": continuation.key}
    if metric:
        parameters["metric"] = metric
    return {
        answer.position: urlencode({"at": context.at, **parameters})
        for context in contexts(continuation.dialogue)
        for answer in context.answers
        if answer.continuation == continuation
    }


# Continuations of one context side by side, with what metrics say of each.

NEAR = 6
"""Turns of the context that are shown; those before them unfold."""
FEW = 12
"""Continuations to choose from that are shown; where there are more, they unfold."""


class SideBySidePage(ReportPage):
    """One context of a dialogue and its continuations."""

    kind = SIDE_BY_SIDE
    template = "calibration/compare.html"

    def subject(self, pk: int) -> Dialogue:
        """Load the dialogue."""
        return access.dialogue(pk)

    def parameters(self, query: QueryDict) -> Params:
        """Context, continuations and metric; a number of turns that is none is left out."""
        position = query.get("at", "")
        return {
            "at": 0 if position == "0" else row_id(position),
            "continuations": tuple(filter(None, query.getlist("continuation"))),
            "against": query.get("against", ""),
            "metric": query.get("metric", ""),
        }

    def offers(self, subject: Dialogue, campaign: Campaign | None, params: Params) -> Context:
        """The dialogue."""
        return {"dialogue": subject, "corpus": subject.corpus}

    def is_error(self, subject: Dialogue, params: Params) -> bool:
        """Whether there are other continuations to compare."""
        return bool(contexts(subject))

    def shows(self, request: HttpRequest, report: Comparison) -> Context:
        """Return the context, the columns and the metrics in their sections."""
        metric = request.GET.get("metric", "")
        columns = {column.answer.name for column in report.columns}
        at_points: dict[int, int] = {}
        for shared in report.contexts:
            at_points[shared.at] = max(at_points.get(shared.at, 0), len(shared.answers))
        answers = report.choice.context.answers
        return {
            "made": report,
            "far": report.context[:-NEAR],
            "near": report.context[-NEAR:],
            "left_out": report.n_context - len(report.context),
            "points": sorted(at_points.items()),
            "choices": [(answer, answer.name in columns) for answer in answers],
            "unfolds": len(answers) > FEW,
            "has_people": any(column.answer.is_human for column in report.columns),
            "unscored": [column for column in report.columns if not column.scored],
            "sections": [
                (section.title, [(row, _compared_cells(row, report)) for row in section.rows])
                for section in report.sections
            ],
            "language": language_tag(report.dialogue.language),
            "metric": row_id(metric),
            "query": _same_columns(report, metric),
        }


def _same_columns(comparison: Comparison, metric: str) -> str:
    """Return the parameters that give exactly these columns again."""
    parameters: list[tuple[str, Any]] = [("at", comparison.choice.context.at)]
    parameters += [("continuation", column.answer.name) for column in comparison.columns]
    parameters += [("against", comparison.against.answer.name), *([("metric", metric)] if metric else [])]
    return urlencode(parameters)


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
        "shown": cell.value if isinstance(cell.value, str) else None,
        "difference": "" if cell.difference is None else signed(cell.difference),
        "behind": f"{behind}#{column.line.anchor}" if of_turn else behind,
        "leads": leads,
    }


# Preferences between systems: win rates, strengths, agreement, position.


class PreferencesPage(ReportPage):
    """Preferences, question by question."""

    kind = PREFERENCES
    template = "calibration/preferences.html"
    names = ("question", "systems", "ties", "both_bad", "anchor", "part", "resamples", "seed")

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """Questions, systems, and how votes are read."""
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
            "made": report,
            "shown": report.shown,
            "plan": report.questions[0].figures.plan,
            "facts": report.facts,
            "asked": [_question(question) for question in report.questions],
        }


def _question(question: QuestionReport) -> Context:
    question_sheets = sheets(question.figures)
    return {
        "title": question.title,
        "ref": question.key,
        "who": [
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
        "rows": [[_cell(cell) for cell in row] for row in sheet.rows],
    }


def _cell(cell: TableCell) -> Context:
    """Return a cell as the template reads it: a text, a count, a figure with its interval, or nothing."""
    if isinstance(cell, Result):
        return {
            "kind": "figure" if cell.ok else "none",
            "text": preference_tables.figure(cell) if cell.ok else cell.status,
            "interval": preference_tables.interval(cell) if cell.low is not None else "no interval",
            "why": cell.reason,
        }
    if cell is None:
        return {"kind": "nothing"}
    return {"kind": "text", "text": cell} if isinstance(cell, str) else {"kind": "count", "text": cell}


# Turn vs. dialogue ratings: the continuations whose rank changes most between people's two scores.

PAGE = 50


class TurnVsDialoguePage(ReportPage):
    """Continuations by both of people's scores, and inversions."""

    kind = TURN_VS_DIALOGUE
    template = "calibration/turns_and_whole.html"
    names = ("campaign", "turns", "whole")

    def offers(self, subject: Corpus, campaign: Campaign | None, params: Params) -> Context:
        """The questions about turns, and about whole continuations."""
        turns, dialogue_questions = offered(census(scope_of(subject, campaign)))
        query = f"{urlencode(params)}&" if params else ""
        return {"turns": turns, "whole": dialogue_questions, "query": query}

    def is_error(self, subject: Corpus, params: Params) -> bool:
        """Whether a question is named."""
        return "turns" in params or "whole" in params

    def shows(self, request: HttpRequest, report: TurnVsDialogue) -> Context:
        """Return a page of continuations, and the dialogues with inversions."""
        return {
            "found": report,
            "facts": inversion_facts(report),
            "page": Paginator(report.lines, PAGE).get_page(request.GET.get("page")),
            "several": [dialogue for dialogue in report.dialogues if dialogue.pairs],
        }


# The views of all kinds of reports.

counts, counts_file, counts_test = (make(CountsPage()) for make in (report_view, file_view, test_view))
preferences, preferences_file, preferences_test = (
    make(PreferencesPage()) for make in (report_view, file_view, test_view)
)
profile, profile_file = report_view(ProfilePage()), file_view(ProfilePage())
turns_and_whole, turns_and_whole_file = report_view(TurnVsDialoguePage()), file_view(TurnVsDialoguePage())
compare_page, compare_file = report_view(SideBySidePage()), file_view(SideBySidePage())
