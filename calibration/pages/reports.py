"""Pages of a study's report: show, recompute, open on test, download; its plan and disagreements.

For researchers, and for those who manage the study's campaign; only researchers open test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from annotation import access as loading
from annotation.access import campaign_researcher_only
from annotation.corpora import queries
from annotation.corpora.splits import LONGEST_PURPOSE, TRAINING
from annotation.corpora.splits import unopened_raters as unopened
from calibration import access
from calibration.access import part_of, requested_report, study_researcher_only
from calibration.api.studies import PlanQuerySerializer
from calibration.errors import CalibrationError, OlderFormat
from calibration.figure_cache import CachedFigures
from calibration.models import Report, Study
from calibration.pages.report_pages import chart_files
from calibration.reports import charts
from calibration.reports.figures import worded
from calibration.reports.names import Names, names_in, names_of, titled_snapshot
from calibration.reports.renderings import RENDERINGS, TABLE_RENDERINGS, table_of_report
from calibration.reports.snapshot import snapshot_of
from calibration.reports.tables import PEOPLE as ALL_PEOPLE
from calibration.reports.view import charts_of, failures, pairs_of, view_of
from calibration.reports.wording import crowd_of
from calibration.statistics.planning import GAP
from calibration.studies import plan_texts, plans
from calibration.studies import study_actions as studies
from calibration.studies.disagreements import (
    ItemAnswers,
    Listing,
    items_with_answers,
    listing,
    table,
    value_name,
)
from calibration.studies.parts import split_of
from calibration.studies.plans import PEOPLE, PLANNED, Choices, PlanAnswer, read
from config.permissions import is_researcher, researcher_only
from jobs.models.job import Job

# Response of a study's pages if it cannot be computed.


def refusal_shown(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator: show a refusal for the study `pk` as a page with the reason (422)."""

    @wraps(view)
    def guarded(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, pk, *args, **kwargs)
        except CalibrationError as error:
            older = request.GET.get("snapshot", "") if isinstance(error, OlderFormat) else None
            context = {"study": access.study(pk), "reason": str(error), "older": older}
            return render(request, "calibration/report_refused.html", context, status=422)

    return guarded


@require_GET
@researcher_only
def corpus_report(request: HttpRequest, pk: int) -> HttpResponse:
    """The automatic report of a corpus; with `everyone` it includes people left out of gold."""
    study = studies.automatic(
        corpus=loading.corpus(pk), everyone="everyone" in request.GET, by=_user(request)
    )
    return redirect("report", study.pk)


@require_GET
@campaign_researcher_only
def campaign_report(request: HttpRequest, campaign: int) -> HttpResponse:
    """The automatic report of a campaign; with `everyone` it includes people left out of gold."""
    about = loading.campaign(campaign)
    study = studies.automatic(
        corpus=about.corpus, campaign=about, everyone="everyone" in request.GET, by=_user(request)
    )
    return redirect("report", study.pk)


@require_GET
@study_researcher_only
@refusal_shown
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """A study's report: computed at once if small, else in the background with its progress.

    The last finished report is shown until a new one has been requested and computed.
    """
    study = access.study(pk)
    part = _part(request, study)
    current = requested_report(study, request) or _current(request, study, part)
    if current is None:
        return redirect(_address(study, "open-test"))
    if isinstance(current, Job):
        context = _frame(study) | _progress(study, current, part)
        return render(request, "calibration/report_progress.html", context)
    return render(request, "calibration/report.html", _frame(study) | _shown_as(request, current))


def _shown_as(request: HttpRequest, current: Report) -> dict[str, Any]:
    """Return the page's data for a report, with the settings of its tables from the URL."""
    job = studies.under_way(current.study, current.part)
    return view_of(current, request.GET.dict()) | {
        **(_progress(current.study, job, current.part) if job else {}),
        "forms": RENDERINGS.values(),
        "switches": _switches(request),
        "new_gold": _new_gold_address(current.study),
        "nothing": _nothing(current.study, request),
    }


def _new_gold_address(study: Study) -> str:
    place: dict[str, Any] = (
        {"campaign": study.campaign_id} if study.campaign_id else {"corpus": study.corpus_id}
    )
    part = {"part": TRAINING} if study.definition.get("split") == TRAINING else {}
    return f"{reverse('new-gold')}?{urlencode(place | part)}"


def _nothing(study: Study, request: HttpRequest) -> dict[str, str]:
    """Return what a report without labels to compare says, and where others are."""
    if not study.campaign:
        return {
            "text": "A report compares raters, so a question needs answers of two raters or more on the same "
            "items. Collect labels in a campaign, import some, or run a judge."
        }
    text = (
        "A campaign’s report compares the people who took part in it, so two of them need to rate the same "
        "items."
    )
    if not is_researcher(request.user):
        return {"text": text}
    text += " What was imported for the corpus, and what judges said, is in the corpus’s report."
    return {"text": text, "href": reverse("corpus-report", args=[study.corpus_id])}


def _switches(request: HttpRequest) -> dict[str, str]:
    """Return the URL parameters that select the report, without the settings of its tables."""
    return {key: request.GET[key] for key in ("part", "snapshot") if key in request.GET}


def _part(request: HttpRequest, study: Study) -> str:
    """Return the requested part: dev by default, or all if there is no split."""
    return "test" if request.GET.get("part") == "test" else studies.default_part(study)


def _current(request: HttpRequest, study: Study, part: str) -> Report | Job | None:
    """Return the report to show: the newest on test, else the result of `studies.current`."""
    if part == "test":
        return studies.latest(study, part) or studies.under_way(study, part)
    return studies.current(study=study, part=part, by=_user(request))


@require_GET
@study_researcher_only
@refusal_shown
def report_pairs(request: HttpRequest, pk: int) -> HttpResponse:
    """The matrix of pairs for another question or statistic, as a replacement of the one shown."""
    displayed = _displayed_report(request, pk)
    if (pairs := pairs_of(titled_snapshot(displayed), request.GET.dict())) is None:
        raise Http404  # no question has a matrix
    context = {"study": displayed.study, "report": displayed, "switches": _switches(request)}
    return render(request, "calibration/_pairs.html", context | {"pairs": pairs})


MOST_FAILURES = 5
"""Number of disagreements that a report shows; the page of all is one link away."""


@require_GET
@study_researcher_only
@refusal_shown
def report_failures(request: HttpRequest, pk: int) -> HttpResponse:
    """Where a judge fails on a question: its answers beside people's, and the largest disagreements."""
    displayed = _displayed_report(request, pk)
    pairs = failures(snapshot_of(displayed), names_of(displayed))
    if not pairs:
        raise Http404  # no judge answered beside people
    question, judge = request.GET.get("question", ""), request.GET.get("a", "")
    of_question = [pair for pair in pairs if pair.ref == question] or [
        pair for pair in pairs if pair.ref == pairs[0].ref
    ]
    selected = next((pair for pair in of_question if pair.judge == judge), of_question[0])
    params = {"question": selected.ref, "a": selected.judge, "b": ALL_PEOPLE}
    try:
        items_listed = listing(displayed.study, displayed.part, params)
    except KeyError as error:
        raise Http404 from error  # the judge's labels are gone
    rows = items_listed.rows[:MOST_FAILURES]
    items = items_with_answers(
        items_listed.question, items_listed.compared, rows, [items_listed.apart[row] for row in rows]
    )
    people = crowd_of(items_listed.question.data.raters).many
    context = {
        "study": displayed.study,
        "report": displayed,
        "switches": _switches(request),
        "questions": list({pair.ref: pair.question for pair in pairs}.items()),
        "judges": [(pair.judge, pair.name) for pair in of_question],
        "selected": selected,
        "listing": items_listed,
        "table": _table(items_listed, displayed.study, displayed.part, selected.name, people),
        "items": [(item, _sides(item, selected.judge)) for item in items],
        "people": people,
    }
    return render(request, "calibration/_failures_of_judge.html", context)


Side = list[tuple[str, str, list[str]]]
"""Answers to an item: each with the people who gave it, and their reasons."""


def _sides(item: ItemAnswers, judge: str) -> tuple[Side, Side]:
    """Return the answers of a judge to an item, and those of people."""
    judged: Side = []
    of_people: Side = []
    for answer in item.answers:
        voices = [voice for voice in answer.raters if voice.name != judge]
        if len(voices) < len(answer.raters):
            reasons = [f"“{v.reason}”" for v in answer.raters if v.name == judge and v.reason]
            judged.append((answer.value, "", reasons))
        if voices:
            reasons = [f"{voice.name}: “{voice.reason}”" for voice in voices if voice.reason]
            of_people.append((answer.value, ", ".join(voice.name for voice in voices), reasons))
    return judged, of_people


@require_POST
@study_researcher_only
@refusal_shown
def recompute(request: HttpRequest, pk: int) -> HttpResponse:
    """Recompute a study from the current labels. On test this is another look, and needs a purpose."""
    study = access.study(pk)
    part = "test" if request.POST.get("part") == "test" else studies.default_part(study)
    if part == "test":
        return redirect(_address(study, "open-test"))
    before = studies.latest(study, part)
    try:
        computed = studies.report_or_job(study=study, part=part, by=_user(request))
    except CalibrationError as error:
        messages.error(request, str(error))
        return redirect(_address(study, "report"))
    if before is not None and computed == before:
        messages.info(request, "Nothing changed: the same inputs give the same report.")
    return redirect(_address(study, "report"))


@require_GET
@study_researcher_only
def progress(request: HttpRequest, pk: int, job: int) -> HttpResponse:
    """Progress of a report's job; once finished, the page redirects to the report."""
    study = access.study(pk)
    row = get_object_or_404(Job, pk=job, kind=studies.KIND, params__study=study.pk)
    part = row.params["part"]
    response = render(request, "calibration/_progress.html", _frame(study) | _progress(study, row, part))
    if row.state == Job.State.DONE:
        response["HX-Redirect"] = _address(study, "report", part=part)
    return response


def _progress(study: Study, job: Job, part: str) -> dict[str, Any]:
    """Return the progress of a report, which asks for itself again."""
    poll = reverse("report-progress", args=[study.pk, job.pk])
    address = _address(study, "report", part=part)
    return {"job": job, "part": part, "thing": "report", "poll": poll, "address": address}


class TestForm(forms.Form):
    """Purpose of opening test."""

    purpose = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What is this look for?",
        help_text="One or two sentences. They are printed on every report that shows test, with your name.",
        max_length=LONGEST_PURPOSE,
    )


@researcher_only
@refusal_shown
def open_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a purpose, log the look at test, and compute the report on it."""
    study = access.study(pk)
    split = split_of(study)
    if split is None:
        messages.error(request, "The corpus has no split, so there is no test part to open.")
        return redirect(_address(study, "report"))
    form = TestForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = _user(request)
        studies.open_test(study=study, by=user, purpose=form.cleaned_data["purpose"])
        studies.report_or_job(study=study, part="test", by=user)
        return redirect(_address(study, "report", part="test"))
    context = _frame(study) | {"form": form, "split": split, "looks": split.looks.select_related("by")}
    context |= {"judges": [rater.title for rater in unopened(split, studies.judges_of(study))]}
    return render(request, "calibration/open_test.html", context, status=422 if form.errors else 200)


@require_GET
@study_researcher_only
@refusal_shown
def chart(request: HttpRequest, pk: int, key: str, form: str) -> HttpResponse:
    """One chart of a report as SVG, PNG, or its data as CSV or Markdown."""
    displayed = _displayed_report(request, pk)
    result = titled_snapshot(displayed) if form in ("svg", "png", "md") else snapshot_of(displayed)
    for report_chart in charts_of(result):
        if report_chart.key == key:
            return chart_file(report_chart, form, f"{displayed.study.name}-{key}")
    raise Http404


def chart_file(report_chart: charts.Chart, form: str, name: str) -> HttpResponse:
    """Return a chart as SVG, PNG, or its data as Markdown or CSV."""
    if form == "svg":
        return file_of(charts.svg(report_chart), "image/svg+xml", name, form)
    if form == "png":
        return file_of(charts.png(report_chart), "image/png", name, form)
    if form == "md":
        return file_of(charts.as_markdown(report_chart), "text/markdown; charset=utf-8", name, form)
    return file_of(charts.as_csv(report_chart), "text/csv; charset=utf-8", name, "csv")


@require_GET
@study_researcher_only
@refusal_shown
def handed_out(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """A report as a file: JSON, CSV, Markdown, LaTeX or a standalone HTML page."""
    displayed = _displayed_report(request, pk)
    rendering = RENDERINGS.get(form)
    if rendering is None:
        raise Http404
    return file_of(rendering.write(displayed), rendering.media_type, displayed.study.name, rendering.suffix)


@require_GET
@study_researcher_only
@refusal_shown
def report_table(request: HttpRequest, pk: int, key: str, form: str) -> HttpResponse:
    """One table of a report as LaTeX, CSV, Markdown or JSON."""
    displayed = _displayed_report(request, pk)
    rendering, table = TABLE_RENDERINGS.get(form), table_of_report(displayed, key, form)
    if rendering is None or table is None:
        raise Http404(f"This report has no table {key} in the format {form}.")
    name = f"{displayed.study.name}-{key}"
    return file_of(rendering.write(table), rendering.media_type, name, rendering.suffix)


def _displayed_report(request: HttpRequest, pk: int) -> Report:
    """Return the report for a file: the named snapshot, else the newest of the part."""
    study = access.study(pk)
    newest = requested_report(study, request) or studies.latest(study, _part(request, study))
    if newest is None:
        raise Http404
    return newest


def file_of(content: str | bytes, media_type: str, name: str, suffix: str) -> HttpResponse:
    """Return a download; its file name contains only letters, digits, dots, dashes and underscores."""
    plain = (
        "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name).strip("-.")
        or "report"
    )
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{plain}.{suffix}"'
    return response


def _frame(study: Study) -> dict[str, Any]:
    return {"study": study}


def _address(study: Study, name: str, **query: str) -> str:
    return reverse(name, args=[study.pk]) + (f"?{urlencode(query)}" if query else "")


def _user(request: HttpRequest) -> Any:
    return request.user


# Plan of a study: how many more double-rated dialogues it needs. For users who may see the study.

PLAN_PARAMETERS = [name for name in PlanQuerySerializer().get_fields() if name != "again"]


@require_GET
@study_researcher_only
@refusal_shown
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """The form and its plan; a large plan is computed in the background, with its progress."""
    study = access.study(pk)
    parameters = _plan_parameters(request)
    context = _form(study, parameters)
    status = 200
    try:
        query = read(parameters, study)
        again = "again" in request.GET
        answer = plans.plan_or_job(study=study, query=query, by=_user(request), again=again)
        if again:
            return redirect(_address_of_plans(study, request))
        context |= {"query": query} | (
            _progress_of_plan(study, answer, request)
            if isinstance(answer, Job)
            else _shown_of_plans(study, answer)
        )
        context["values"] = _values(answer) | parameters
        context["chart_files"] = chart_files(request, "plan-file", pk, "data")
        if isinstance(answer, PlanAnswer) and answer.computed_at:
            newer = plans.newer_job(study, query)
            context["kept"] = CachedFigures({}, answer.computed_at, answer.labels_since, newer)
    except CalibrationError as refused:
        context["refused"], status = str(refused), 422 if parameters else 200
    return render(request, "calibration/plan.html", context, status=status)


@require_GET
@campaign_researcher_only
def campaign_plan(request: HttpRequest, campaign: int) -> HttpResponse:
    """The plan with a campaign as its pilot, from its automatic study."""
    about = loading.campaign(campaign)
    study = studies.automatic(corpus=about.corpus, campaign=about, by=_user(request))
    return redirect(_address_of_plans(study, request))


@require_GET
@study_researcher_only
@refusal_shown
def plan_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The plan as text, JSON, CSV or Markdown, or its chart as SVG, PNG or data."""
    study = access.study(pk)
    query = read(_plan_parameters(request), study)
    answer = plans.plan_or_job(study=study, query=query, by=_user(request))
    if isinstance(answer, Job):
        return redirect(_address_of_plans(study, request))
    name = f"{study.name}-plan"
    if form in plan_texts.FORMS:
        rendering = plan_texts.FORMS[form]
        return file_of(rendering.write(answer), rendering.media_type, name, rendering.suffix)
    chart = plan_texts.chart_of(answer)
    if chart is None or form not in ("svg", "png", "data"):
        raise Http404
    return chart_file(chart, form, name)


@require_GET
@study_researcher_only
def plan_progress(request: HttpRequest, pk: int, job_id: int) -> HttpResponse:
    """Progress of a plan's job; once finished, the page redirects to the plan."""
    study = access.study(pk)
    row = get_object_or_404(Job, pk=job_id, kind=plans.KIND, params__study=study.pk)
    address = _address_of_plans(study, request)
    context = _frame(study) | _progress_of_plan(study, row, request)
    response = render(request, "calibration/_progress.html", context)
    if row.state == Job.State.DONE:
        response["HX-Redirect"] = address
    return response


def _progress_of_plan(study: Study, job: Job, request: HttpRequest) -> dict[str, Any]:
    """Return the progress of a plan, which asks for itself again."""
    parameters = _plan_parameters(request)
    poll = f"{reverse('plan-progress', args=[study.pk, job.pk])}?{urlencode(parameters)}"
    again = _address(study, "plan", **parameters, again="1")
    address = _address_of_plans(study, request)
    return {"job": job, "thing": "plan", "poll": poll, "address": address, "again": again}


def _plan_parameters(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in PLAN_PARAMETERS if request.GET.get(name)}


def _form(study: Study, parameters: dict[str, str]) -> dict[str, Any]:
    """Return the form's choices and values; without labels to compare there are no choices."""
    choices = Choices(study, exact=False)
    gaps = [(key, f"Gap in {worded(key.removeprefix(GAP)).name}") for key in PLANNED if key.startswith(GAP)]
    plain = [(key, worded(key).name) for key in PLANNED if not key.startswith(GAP)]
    return {
        "study": study,
        "values": parameters,
        "goals": [("width", "a narrow interval"), ("power", "passing the alternative annotator test")],
        "questions": _titles(choices),
        "raters": [
            (PEOPLE, "people with each other"),
            *((r.name, r.choice) for r in choices.raters()),
        ],
        "statistics": [("Of raters", plain), ("Of a judge beside people", gaps)],
    }


def _titles(choices: Choices) -> list[tuple[str, str]]:
    """Return the questions to choose from; those of one title are told apart by their schemes."""
    titles = Counter(question.title for question in choices.questions)
    return [
        (
            question.ref,
            question.title
            if titles[question.title] == 1
            else f"{question.title} ({question.subjects[0].question.scheme_title})",
        )
        for question in choices.questions
    ]


def _shown_of_plans(study: Study, answer: PlanAnswer) -> dict[str, Any]:
    """Return the page's data for a plan."""
    titled_answer = replace(answer, rater=names_in(study.corpus).short(answer.rater))
    chart = plan_texts.chart_of(titled_answer)
    return {
        "answer": answer,
        "forms": plan_texts.FORMS.values(),
        "heading": plan_texts.title(titled_answer),
        "sentences": plan_texts.sentences(titled_answer),
        "cautions": plan_texts.cautions(titled_answer),
        "headings": plan_texts.headings(titled_answer),
        "rows": plan_texts.rows(titled_answer),
        "effort_headings": plan_texts.effort_headings(titled_answer),
        "efforts": plan_texts.efforts(titled_answer),
        "chart": chart,
        "svg": mark_safe(charts.inline_svg(chart)) if chart else "",
    }


def _values(answer: PlanAnswer | Job) -> dict[str, str]:
    """Return the values of the form's fields for a plan that leaves them to their defaults."""
    if isinstance(answer, Job):
        return {}
    values = {"question": answer.question, "rater": answer.rater, "statistic": answer.statistic}
    half = f"{answer.target / 2:.4g}" if answer.goal == "width" and answer.target else ""
    return values | {"half_width": half}


def _address_of_plans(study: Study, request: HttpRequest) -> str:
    return _address(study, "plan", **_plan_parameters(request))


# Items behind a figure of a report, largest disagreement first.

PAGE = 20


@require_GET
@study_researcher_only
@refusal_shown
def disagreements(request: HttpRequest, pk: int) -> HttpResponse:
    """Items of a question on which two raters differ, with the turns and all answers.

    The part of the split is that of the report; test is shown once it was opened for this study.
    """
    study = access.study(pk)
    part = part_of(request, study)
    if part is None:
        return redirect("open-test", pk)
    frame = {"study": study, "part": part}
    try:
        items_listed = listing(study, part, request.GET.dict())
    except KeyError as error:
        raise Http404 from error
    page = Paginator(items_listed.rows, PAGE).get_page(request.GET.get("page"))
    items = items_with_answers(
        items_listed.question, items_listed.compared, list(page), [items_listed.apart[row] for row in page]
    )
    names = names_in(study.corpus)
    sides = [
        _everybody(items_listed).get(name) or names.short(name)
        for name in (items_listed.first, items_listed.second)
    ]
    context = frame | {
        "found": items_listed,
        "page": page,
        "items": items,
        "may_share": queries.may_share({row.item.continuation.dialogue_id for row in items}),
        "question": items_listed.question.data.subject.question,
        "choices": _choices(items_listed, names),
        "names": names,
        "who": sides,
        "table": _table(items_listed, study, part, *sides),
    }
    return render(request, "calibration/disagreements.html", context)


def _choices(items_listed: Listing, names: Names) -> list[tuple[str, str]]:
    """Return the raters to choose from: all people together, then each identified rater, people first."""
    ratings = items_listed.question.ratings
    single = [
        (name, names.short(name))
        for kind in ("human", "judge", "key", "metric")
        for name, its, identified in zip(ratings.raters, ratings.kinds, ratings.identified, strict=True)
        if its == kind and identified
    ]
    return [*_everybody(items_listed).items(), *single]


def _everybody(items_listed: Listing) -> dict[str, str]:
    """Return the name for all people together, which respects simulated raters."""
    return {ALL_PEOPLE: f"the {crowd_of(items_listed.question.data.raters).many}"}


def _table(items_listed: Listing, study: Study, part: str, first: str, second: str) -> dict[str, Any] | None:
    """Return the cross-table of answers, with the address that lists each cell's items."""
    counts = table(items_listed.compared)
    if counts is None:
        return None
    names = [value_name(items_listed.question, value) for value in items_listed.question.ratings.scale or ()]
    rows = [
        (
            name,
            [
                (
                    n,
                    _address(study, "report-items", **items_listed.params(part) | {"cell": f"{i},{j}"}),
                    i == j,
                    (i, j) == items_listed.cell,
                )
                for j, n in enumerate(line)
            ],
        )
        for i, (name, line) in enumerate(zip(names, counts, strict=True))
    ]
    foot = "Shaded: the same answer. A number links to its items. Labels as they are now."
    if (n := len(items_listed.compared.pairs)) > 1:
        foot = f"Each rater counts once: {n} pairs of answers to an item. {foot}"
    return {"heading": f"{first} ↓ · {second} →", "names": names, "rows": rows, "foot": foot}
