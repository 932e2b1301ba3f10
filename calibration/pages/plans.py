"""The plan of a study: how many more double-rated dialogues it needs. For who may see the study."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from annotation import access as loading
from annotation.access import campaign_researcher_only
from calibration import access
from calibration.errors import CalibrationError
from calibration.kept import Kept
from calibration.models import Study
from calibration.pages.reports import chart_file, file_of, refusal_shown
from calibration.permissions import study_researcher_only
from calibration.plans import job, renderings, wording
from calibration.plans.answer import PlanAnswer
from calibration.plans.pilot import Choices
from calibration.plans.query import PEOPLE, PLANNED, read
from calibration.reports import drawing
from calibration.reports.figures import worded
from calibration.statistics.planned_figures import GAP
from calibration.studies import actions as studies
from jobs.models import Job

ASKED = ("goal", "question", "rater", "statistic", "width", "half_width", "power", "pay", "part")


@require_GET
@study_researcher_only
@refusal_shown
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """The form and the plan of what it asks; a large one in the background, with its progress."""
    study = access.study(pk)
    given = _given(request)
    context = _form(study, given)
    status = 200
    try:
        query = read(given, study)
        again = "again" in request.GET
        found = job.plan_or_job(study=study, query=query, by=_user(request), again=again)
        if again:
            return redirect(_address(study, request))
        context |= {"query": query} | _shown(found)
        if isinstance(found, PlanAnswer) and found.computed_at:
            newer = job.newer_job(study, query)
            context["kept"] = Kept({}, found.computed_at, found.labels_since, newer)
    except CalibrationError as refused:
        context["refused"], status = str(refused), 422 if given else 200
    return render(request, "calibration/plan.html", context, status=status)


@require_GET
@campaign_researcher_only
def campaign_plan(request: HttpRequest, campaign: int) -> HttpResponse:
    """The plan from a campaign as its own pilot: that of its automatic study."""
    found = loading.campaign(campaign)
    study = studies.automatic(corpus=found.corpus, campaign=found, by=_user(request))
    return redirect(_address(study, request))


@require_GET
@study_researcher_only
@refusal_shown
def plan_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The plan as text, JSON, CSV or Markdown, or its chart as SVG, PNG or data."""
    study = access.study(pk)
    query = read(_given(request), study)
    found = job.plan_or_job(study=study, query=query, by=_user(request))
    if isinstance(found, Job):
        return redirect(_address(study, request))
    name = f"{study.name}-plan"
    if form in renderings.FORMS:
        rendering = renderings.FORMS[form]
        return file_of(rendering.write(found), rendering.media_type, name, rendering.suffix)
    chart = renderings.chart_of(found)
    if chart is None or form not in ("svg", "png", "data"):
        raise Http404
    return chart_file(chart, form, name)


@require_GET
@study_researcher_only
def plan_progress(request: HttpRequest, pk: int, job_id: int) -> HttpResponse:
    """How far a plan in the background is; once it is finished, the page goes on to it."""
    study = access.study(pk)
    row = get_object_or_404(Job, pk=job_id, kind=job.KIND, params__study=study.pk)
    address = _address(study, request)
    context = {"study": study, "job": row, "address": address, "asked": request.GET.urlencode()}
    response = render(request, "calibration/_plan_progress.html", context)
    if row.state == Job.State.DONE:
        response["HX-Redirect"] = address
    return response


def _given(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in ASKED if request.GET.get(name)}


def _form(study: Study, given: dict[str, str]) -> dict[str, Any]:
    """Return what the form offers and what is chosen; without labels to compare it offers nothing."""
    choices = Choices(study, exact=False)
    gaps = [(key, f"Gap in {worded(key.removeprefix(GAP)).name}") for key in PLANNED if key.startswith(GAP)]
    plain = [(key, worded(key).name) for key in PLANNED if not key.startswith(GAP)]
    return {
        "study": study,
        "active_room": "studies",
        "given": given,
        "questions": [
            (asked.ref, f"{asked.title} ({asked.subjects[0].question.scheme_title})")
            for asked in choices.questions
        ],
        "raters": [
            (PEOPLE, "people with each other"),
            *((r.name, f"{r.name} ({r.kind})") for r in choices.raters()),
        ],
        "statistics": [("Of raters", plain), ("Of a judge beside people", gaps)],
        "forms": renderings.FORMS.values(),
    }


def _shown(found: PlanAnswer | Job) -> dict[str, Any]:
    """Return what the page shows of a plan, or of the job that computes it."""
    if isinstance(found, Job):
        return {"job": found}
    chart = renderings.chart_of(found)
    return {
        "answer": found,
        "half": f"{found.target / 2:.4g}" if found.goal == "width" and found.target else "",
        "heading": wording.title(found),
        "sentences": wording.sentences(found),
        "cautions": wording.cautions(found),
        "headings": renderings.headings(found),
        "rows": renderings.rows(found),
        "effort_headings": renderings.effort_headings(found),
        "efforts": renderings.efforts(found),
        "chart": chart,
        "svg": mark_safe(drawing.inline_svg(chart)) if chart else "",
    }


def _address(study: Study, request: HttpRequest) -> str:
    given = _given(request)
    return reverse("plan", args=[study.pk]) + (f"?{urlencode(given)}" if given else "")


def _user(request: HttpRequest) -> Any:
    return request.user
