"""Pages that compare systems: counts, metric scores, outputs, preferences, turn vs. dialogue ratings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.corpora import splits
from annotation.models import Continuation
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.text.display import language_tag
from calibration.comparisons import count_files, count_inputs, metric_causes, preference_tables, profiles
from calibration.comparisons import preferences as preference_charts
from calibration.comparisons.count_files import RENDERINGS as COUNT_FORMS
from calibration.comparisons.count_files import Kind, distances, kinds, rows_of
from calibration.comparisons.count_inputs import PEOPLE, SYSTEM
from calibration.comparisons.count_inputs import read as read_counts_query
from calibration.comparisons.counts import Counts, counts_or_job
from calibration.comparisons.counts import facts as count_facts
from calibration.comparisons.counts import open_test as open_test_counts
from calibration.comparisons.preference_tables import Cell as TableCell
from calibration.comparisons.preference_tables import Sheet, flags_of, reasons_of, sheets
from calibration.comparisons.preferences import NAMES, Computed, QuestionReport
from calibration.comparisons.preferences import RENDERINGS as PREFERENCE_FORMS
from calibration.comparisons.preferences import compute as compute_preferences
from calibration.comparisons.preferences import open_test as open_test_preferences
from calibration.comparisons.preferences import read as read_preferences_query
from calibration.comparisons.profile_cells import ALL, SAME
from calibration.comparisons.profiles import profile_or_job, spread_of
from calibration.comparisons.side_by_side import FILES as SIDE_BY_SIDE_FILES
from calibration.comparisons.side_by_side import (
    Cell,
    Column,
    Comparison,
    ComparisonQuery,
    Row,
    compare,
    contexts,
    signed,
)
from calibration.comparisons.turn_vs_dialogue import FILES as INVERSION_FILES
from calibration.comparisons.turn_vs_dialogue import TurnVsDialogue, offered
from calibration.comparisons.turn_vs_dialogue import compute as compute_inversions
from calibration.comparisons.turn_vs_dialogue import facts as inversion_facts
from calibration.comparisons.turn_vs_dialogue import read as read_turn_questions
from calibration.errors import CalibrationError
from calibration.ratings import votes
from calibration.ratings.scope import Census, census, scope_of
from calibration.reports import charts
from calibration.statistics.core.engine import Result
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config.files import row_id
from config.permissions import researcher_only
from jobs.models.job import Job

# Counts and scores by system and condition: the table, its chart, its files. Researchers only.

TITLE = "Behaviour counts"
CORRECTION_NAMES = {
    "auto": "yes, what people rated was drawn at random",
    "rogan_gladen": "yes, it was not drawn at random",
    "none": "no",
}
SINGLE = (
    "rater",
    "beside",
    "questions",
    "strata",
    "per_turns",
    "samples",
    "correction",
    "part",
    "resamples",
    "seed",
    "campaign",
)


@require_GET
@researcher_only
def counts(request: HttpRequest, pk: int) -> HttpResponse:
    """The table of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    parameters = _given_of_counts(request)
    counted = census(scope_of(corpus, campaign, parameters.get("part", "")))
    context = _form_of_counts(corpus, campaign, parameters, counted) | {"split": splits.lock_of(corpus)}
    status = 200
    if context["raters"]:
        try:
            tables = _tables_or_job(request, corpus, campaign, parameters)
            if "again" in request.GET:
                remaining = request.GET.copy()
                del remaining["again"]
                return redirect(f"{reverse('counts', args=[corpus.pk])}?{remaining.urlencode()}")
            if isinstance(tables, Job):
                page = {"corpus": corpus, "active_room": "corpora", "job": tables, "title": TITLE}
                return render(request, "calibration/figures_progress.html", page)
            context |= tables
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if parameters else 200
    return render(request, "calibration/counts.html", context, status=status)


@require_GET
@researcher_only
def counts_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The table as CSV, Markdown, LaTeX or JSON, its chart as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = COUNT_FORMS.get(form)
    if rendering is None:
        raise Http404
    try:
        query = read_counts_query(_given_of_counts(request), corpus, _campaign(request, corpus))
        counted = counts_or_job(query=query, by=_user(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    if isinstance(counted, Job):
        return redirect(f"{reverse('counts', args=[corpus.pk])}?{request.GET.urlencode()}")
    response = HttpResponse(rendering.write(counted), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="counts-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def counts_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the counts of the test part."""
    corpus = access.corpus(pk)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    parameters = {name: value for name, value in _given_of_counts(request).items() if name != "part"}
    campaign = _campaign(request, corpus)
    try:
        open_test_counts(
            query=read_counts_query(parameters, corpus, campaign), by=_user(request), purpose=purpose
        )
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('counts', args=[corpus.pk])}?{query.urlencode()}")


def _given_of_counts(request: HttpRequest) -> dict[str, str]:
    """Return what the address asks for; keys may be given several times, or by commas."""
    parameters = {name: request.GET[name].replace("\0", "") for name in SINGLE if request.GET.get(name)}
    if by := ",".join(key.replace("\0", "") for key in request.GET.getlist("by") if key):
        parameters["by"] = by
    return parameters


def _campaign(request: HttpRequest, corpus: Corpus) -> Campaign | None:
    number = row_id(request.GET.get("campaign", ""))
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != corpus.pk:
        raise Http404
    return campaign


def _form_of_counts(
    corpus: Corpus, campaign: Campaign | None, parameters: dict[str, str], counted: Census
) -> dict[str, Any]:
    """Return what the form offers and what is chosen."""
    by = parameters.get("by", SYSTEM).split(",")
    raters = count_inputs.raters(counted)
    return {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "given": parameters,
        "people": PEOPLE,
        "raters": raters,
        "rater": parameters.get("rater") or (count_inputs.by_default(counted) if raters else ""),
        "sets": list(count_inputs.sets(counted).items()),
        "keys": [(key, key in by) for key in count_inputs.condition_keys(corpus)],
        "metadata": count_inputs.metadata_keys(corpus),
        "corrections": [(key, CORRECTION_NAMES[key]) for key in CORRECTIONS],
        "forms": COUNT_FORMS.values(),
    }


def _shown_of_counts(counted: Counts) -> dict[str, Any]:
    """Return what the page shows of a table."""
    tables = [
        {
            "title": kind.title,
            "bodies": _bodies(counted, kind),
            "first": at == 0,
        }
        for at, kind in enumerate(kinds(counted))
    ]
    return {
        "made": counted,
        "facts": count_facts(counted),
        "tables": tables,
        "heads": [counted.titles[column.key] for column in counted.columns],
        "distances": distances(counted),
        "distance_names": list(count_files.DISTANCES.values()),
        "missing": [
            (count_files.row_name(counted, row), counted.titles[cell.column.key], count_files.bounds(cell))
            for row in counted.table.rows
            for cell in row.cells
            if count_files.bounds(cell)
        ],
        "flags": count_files.flags(counted),
        "chart_title": count_files.title(counted),
        "chart_caption": count_files.caption(counted),
        "svg": mark_safe(count_files.inline_svg(counted)),
    }


def _tables_or_job(
    request: HttpRequest, corpus: Corpus, campaign: Campaign | None, parameters: dict[str, str]
) -> dict[str, Any] | Job:
    """Return what the page shows of the tables, or the job that computes one of them.

    Beside them are those of a second rater with the same rows: scores can be equal where counts differ.
    """
    again = "again" in request.GET
    counted = counts_or_job(
        query=read_counts_query(parameters, corpus, campaign), by=_user(request), again=again
    )
    beside: Counts | Job | None = None
    if "beside" in parameters:
        other = {key: text for key, text in parameters.items() if key not in ("questions", "samples")}
        query = read_counts_query(other | {"rater": parameters["beside"]}, corpus, campaign)
        beside = counts_or_job(query=query, by=_user(request), again=again)
    if isinstance(counted, Job):
        return counted
    if isinstance(beside, Job):
        return beside
    return _shown_of_counts(counted) | ({"beside": _shown_of_counts(beside)} if beside else {})


def _bodies(counted: Counts, kind: Kind) -> list[list[Any]]:
    """Return the rows of a table in its parts: people's, and the others."""
    rows = [
        (
            row,
            count_files.row_name(counted, row),
            [(kind.of(cell), kind.more(cell), cell) for cell in row.cells],
        )
        for row in rows_of(counted, kind)
    ]
    parts = [[line for line in rows if line[0].human], [line for line in rows if not line[0].human]]
    return [part for part in parts if part]


def _user(request: HttpRequest) -> Any:
    return request.user


# The profile of a corpus: what metrics say of each system, and of one continuation. Researchers only.

PROFILE_TITLE = "What metrics say of each system"
PROFILE_FILES = {
    "csv": (profiles.as_csv, "text/csv; charset=utf-8"),
    "tex": (profiles.as_latex, "text/plain; charset=utf-8"),
}


@require_GET
@researcher_only
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    """Systems as rows, metrics as columns, in their aspects; of a large corpus as they were last computed."""
    corpus = access.corpus(pk)
    points = _points(request)
    profiled = profile_or_job(corpus=corpus, by=_user(request), points=points, again="again" in request.GET)
    if "again" in request.GET:
        return redirect(f"{reverse('profile', args=[corpus.pk])}?points={points}")
    context: dict[str, Any] = {"corpus": corpus, "active_room": "corpora", "points": points}
    if isinstance(profiled, Job):
        return render(
            request, "calibration/figures_progress.html", context | {"job": profiled, "title": PROFILE_TITLE}
        )
    columns = {column.id: column.name for panel in profiled.panels for column in panel.columns}
    context |= {
        "panels": profiled.panels,
        "doubts": [(columns[rater], doubt) for rater, doubt in profiled.doubts.items()],
        "learned": [(columns[rater], n) for rater, n in profiled.learned.items()],
        "examples": profiled.examples.select_related("dialogue", "system"),
        "kept": profiled.cached,
    }
    return render(request, "calibration/profile.html", context)


@require_GET
@researcher_only
def profile_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The profile as CSV or LaTeX."""
    corpus = access.corpus(pk)
    if form not in PROFILE_FILES:
        raise Http404
    write, media_type = PROFILE_FILES[form]
    points = _points(request)
    profiled = profile_or_job(corpus=corpus, by=_user(request), points=points)
    if isinstance(profiled, Job):
        return redirect("profile", corpus.pk)
    return _download(
        write(profiled.panels), media_type, f"profile-{corpus.pk}{_points_suffix(points)}.{form}"
    )


@require_GET
@researcher_only
def profile_chart(request: HttpRequest, pk: int, metric: int, form: str) -> HttpResponse:
    """How one metric's values are spread: as a part of the page, or as an SVG file."""
    corpus = access.corpus(pk)
    column = profiles.column(corpus, metric)
    if column is None or form not in ("part", "svg"):
        raise Http404
    points = _points(request)
    values = spread_of(corpus=corpus, column=column, by=_user(request), points=points)
    if form == "svg":
        name = f"profile-{corpus.pk}-{column.metric.key}{_points_suffix(points)}.svg"
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


def _points(request: HttpRequest) -> str:
    """Return which points an address asks for: those that rows share unless it names all."""
    return ALL if request.GET.get("points") == ALL else SAME


def _points_suffix(points: str) -> str:
    return "-all-points" if points == ALL else ""


def _download(text: str, media_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=media_type, headers=headers)


# Continuations of one context side by side, with what metrics say of each. Researchers only.

NEAR = 6
"""Turns of the context that are shown; those before them unfold."""
FEW = 12
"""Continuations to choose from that are shown; where there are more, they unfold."""


@require_GET
@researcher_only
def compare_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One context and its continuations, or why there is nothing to compare."""
    dialogue = access.dialogue(pk)
    frame = {"dialogue": dialogue, "corpus": dialogue.corpus, "active_room": "corpora"}
    try:
        comparison = compare(dialogue, _selection_from(request))
    except CalibrationError as refused:
        shared = contexts(dialogue)
        context = frame | {"refused": str(refused), "found": shared}
        return render(request, "calibration/compare.html", context, status=422 if shared else 200)
    return render(request, "calibration/compare.html", frame | _shown_of_comparing(request, comparison))


@require_GET
@researcher_only
def compare_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The same as CSV or JSON."""
    dialogue = access.dialogue(pk)
    if form not in SIDE_BY_SIDE_FILES:
        raise Http404
    write, media_type = SIDE_BY_SIDE_FILES[form]
    try:
        comparison = compare(dialogue, _selection_from(request))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    name = f"compare-{dialogue.pk}-{comparison.choice.context.at}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(comparison), content_type=media_type, headers=headers)


def _selection_from(request: HttpRequest) -> ComparisonQuery:
    """Return what an address asks for; a number of turns that is none is left out."""
    position = request.GET.get("at", "")
    return ComparisonQuery(
        at=0 if position == "0" else row_id(position),
        continuations=tuple(filter(None, request.GET.getlist("continuation"))),
        against=request.GET.get("against", ""),
        metric=request.GET.get("metric", ""),
    )


def _shown_of_comparing(request: HttpRequest, comparison: Comparison) -> dict[str, Any]:
    context, points = comparison.choice.context, {shared.at for shared in comparison.contexts}
    columns = {column.answer.name for column in comparison.columns}
    return {
        "made": comparison,
        "far": comparison.context[:-NEAR],
        "near": comparison.context[-NEAR:],
        "left_out": comparison.n_context - len(comparison.context),
        "points": [
            (at, max(len(shared.answers) for shared in comparison.contexts if shared.at == at))
            for at in sorted(points)
        ],
        "choices": [(answer, answer.name in columns) for answer in context.answers],
        "unfolds": len(context.answers) > FEW,
        "has_people": any(column.answer.is_human for column in comparison.columns),
        "unscored": [column for column in comparison.columns if not column.scored],
        "sections": [(section.title, _lines(section.rows, comparison)) for section in comparison.sections],
        "language": language_tag(comparison.dialogue.language),
        "metric": row_id(request.GET.get("metric", "")),
        "query": _query(comparison, request.GET.get("metric", "")),
    }


def _query(comparison: Comparison, metric: str) -> str:
    """Return the parameters that give exactly these columns again."""
    parameters: list[tuple[str, Any]] = [("at", comparison.choice.context.at)]
    parameters += [("continuation", column.answer.name) for column in comparison.columns]
    parameters += [("against", comparison.against.answer.name), *([("metric", metric)] if metric else [])]
    return urlencode(parameters)


def _lines(rows: Iterable[Row], comparison: Comparison) -> list[tuple[Row, list[dict[str, Any]]]]:
    """Return rows with their cells as the page writes them."""
    return [
        (
            row,
            [
                _cell_of_comparing(row, *pair, comparison)
                for pair in zip(comparison.columns, row.cells, strict=True)
            ],
        )
        for row in rows
    ]


def _cell_of_comparing(row: Row, column: Column, cell: Cell, comparison: Comparison) -> dict[str, Any]:
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


# Preferences between systems: win rates, strengths, agreement, position; their files. Researchers only.


@require_GET
@researcher_only
def preferences(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of what the form asks for, or why there is none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    parameters = _given_of_preferences(request)
    context = _form(corpus, campaign, parameters) | {"split": splits.lock_of(corpus)}
    status = 200
    if context["questions"]:
        try:
            context |= _shown_of_preferences(
                compute_preferences(
                    query=read_preferences_query(parameters, corpus, campaign), by=_user(request)
                )
            )
        except CalibrationError as refused:
            context["refused"] = str(refused)
            status = 422 if parameters else 200
    return render(request, "calibration/preferences.html", context, status=status)


@require_GET
@researcher_only
def preferences_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The report as CSV, Markdown, LaTeX or JSON, its chart as SVG or PNG."""
    corpus = access.corpus(pk)
    rendering = PREFERENCE_FORMS.get(form)
    if rendering is None:
        raise Http404
    try:
        computed = compute_preferences(
            query=read_preferences_query(_given_of_preferences(request), corpus, _campaign(request, corpus)),
            by=_user(request),
        )
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(rendering.write(computed.report), content_type=rendering.media_type)
    response["Content-Disposition"] = f'attachment; filename="preferences-{corpus.pk}.{rendering.suffix}"'
    return response


@require_POST
@researcher_only
def preferences_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Log a look at test with its purpose, and show the preferences of the test part."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    query = request.GET.copy()
    query.pop("part", None)
    try:
        open_test_preferences(
            query=read_preferences_query({}, corpus, campaign), by=_user(request), purpose=purpose
        )
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{reverse('preferences', args=[corpus.pk])}?{query.urlencode()}")


def _given_of_preferences(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in NAMES if request.GET.get(name)}


def _form(corpus: Corpus, campaign: Campaign | None, parameters: dict[str, str]) -> dict[str, Any]:
    """Return what the form offers and what is chosen."""
    questions = votes.comparing(census(scope_of(corpus, campaign, parameters.get("part", ""))))
    return {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "given": parameters,
        "questions": [(question.ref, question.title) for question in questions],
        "systems": list(corpus.systems.order_by("name").values_list("name", flat=True)),
        "models": [(key, text) for key, text in MODELS.items()],
        "both_bads": [(key, text[:1].upper() + text[1:]) for key, text in BOTH_BAD_POLICIES.items()],
        "forms": PREFERENCE_FORMS.values(),
    }


def _shown_of_preferences(computed: Computed) -> dict[str, Any]:
    """Return what the page shows of a report."""
    return {
        "made": computed,
        "plan": computed.query.plan,
        "facts": computed.report.facts,
        "asked": [_question(question) for question in computed.report.questions],
    }


def _question(question: QuestionReport) -> dict[str, Any]:
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


def _sheet(sheet: Sheet) -> dict[str, Any]:
    rows = [[_cell(cell) for cell in row] for row in sheet.rows]
    numeric = [not isinstance(cell, str) for cell in sheet.rows[0]]
    return {
        "title": sheet.title,
        "note": sheet.note,
        "head": list(zip(sheet.head, numeric, strict=True)),
        "rows": rows,
    }


def _cell(cell: TableCell) -> dict[str, Any]:
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


# Turns and whole: continuations by both of people's scores, and inversions. Researchers only.

PAGE = 50
TURN_PARAMETERS = ("campaign", "turns", "whole")


@require_GET
@researcher_only
def turns_and_whole(request: HttpRequest, pk: int) -> HttpResponse:
    """The continuations whose rank changes most between the two scores, or why there are none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    parameters = _turn_parameters(request)
    turns, dialogue_questions = offered(census(scope_of(corpus, campaign)))
    context: dict[str, Any] = {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "turns": turns,
        "whole": dialogue_questions,
        "query": f"{urlencode(parameters)}&" if parameters else "",
    }
    try:
        inversions = compute_inversions(read_turn_questions(corpus, campaign, parameters))
    except CalibrationError as refused:
        status = 422 if "turns" in parameters or "whole" in parameters else 200
        return render(
            request, "calibration/turns_and_whole.html", context | {"refused": str(refused)}, status=status
        )
    return render(
        request, "calibration/turns_and_whole.html", context | _inversions_context(request, inversions)
    )


def _inversions_context(request: HttpRequest, inversions: TurnVsDialogue) -> dict[str, Any]:
    return {
        "found": inversions,
        "facts": inversion_facts(inversions),
        "page": Paginator(inversions.lines, PAGE).get_page(request.GET.get("page")),
        "several": [dialogue for dialogue in inversions.dialogues if dialogue.pairs],
        "files": INVERSION_FILES.values(),
    }


@require_GET
@researcher_only
def turns_and_whole_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The whole list as CSV, of continuations or of dialogues, or as JSON."""
    corpus = access.corpus(pk)
    file = INVERSION_FILES.get(form)
    if file is None:
        raise Http404
    try:
        inversions = compute_inversions(
            read_turn_questions(corpus, _campaign(request, corpus), _turn_parameters(request))
        )
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(file.write(inversions), content_type=file.media_type)
    name = f"turns-and-whole-{corpus.pk}{'-dialogues' if form == 'dialogues' else ''}.{file.suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _turn_parameters(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in TURN_PARAMETERS if request.GET.get(name)}
