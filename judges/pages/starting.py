"""The researcher's page that starts runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Campaign, Corpus
from annotation.pages.choosing import choose
from config.files import row_id
from config.permissions import researcher_only
from jobs.endpoints.actions import sync_environment
from jobs.errors import JobError
from jobs.models import Job, Run
from judges.pages.forms import JudgeForm, MetricForm
from judges.pages.runs import ROOM, user_of
from judges.rating.availability import language_warning
from judges.rating.estimates import Estimate, estimate
from judges.rating.job import start_judge, start_metrics
from judges.rating.selection import judge_needs_opening as needs_opening
from judges.rating.settings import settings_of
from judges.rating.unanswered import Unanswered, unanswered

Target = tuple[Corpus, Campaign | None]


@researcher_only
def new_run(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus or campaign, then a judge or metrics."""
    sync_endpoints(request)
    target = target_of(request)
    if target is None:
        return choose(
            request,
            title="New run: on which dialogues?",
            lead="A run answers questions about the items of a corpus, or of what a campaign covers.",
            back=("runs", "Judges and metrics"),
            room="runs",
        )
    corpus, campaign = target
    judging = request.POST.get("kind") == "judge"
    measuring = request.POST.get("kind") == "metrics"
    judge = JudgeForm(request.POST if judging else None, corpus=corpus, campaign=campaign, prefix="judge")
    metric = MetricForm(
        request.POST if measuring else None, corpus=corpus, campaign=campaign, prefix="metric"
    )
    if judging and judge.is_valid() and (response := _start_judge(request, judge)):
        return response
    if measuring and metric.is_valid() and (response := _start_metrics(request, metric)):
        return response
    context = {"corpus": corpus, "campaign": campaign, "judge": judge, "metric": metric, **ROOM}
    context |= {"language_warning": language_warning(corpus)}
    status = 422 if judge.errors or metric.errors else 200
    return render(request, "judges/new.html", context, status=status)


def _start_judge(request: HttpRequest, form: JudgeForm) -> HttpResponse | None:
    """Start a judge; one that asks somebody, or cannot answer everything, once that was seen."""
    try:
        opening = form.cleaned_data.get("open_test", "")
        if not opening and (refusal := needs_opening(form.chosen(), form.selection())):
            form.add_error("open_test", refusal)
            return None
        if "confirmed" not in request.POST:
            asked = estimate(form.chosen(), form.selection(), form.cleaned_data["mode"])
            lacking = asked.unanswered if asked else unanswered(form.chosen(), form.selection())
            if asked is not None or lacking:
                return _confirm(request, form, asked, lacking)
        started = start_judge(
            by=user_of(request),
            judge=form.chosen(),
            selection=form.selection(),
            settings=settings_of(form.cleaned_data),
            open_test=opening,
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return _started(request, [started])


def _confirm(
    request: HttpRequest, form: JudgeForm, asked: Estimate | None, lacking: Sequence[Unanswered]
) -> HttpResponse:
    told = [
        (name, value)
        for name, values in request.POST.lists()
        if name != "csrfmiddlewaretoken"
        for value in values
    ]
    about: dict[str, Any] = {"corpus": form.corpus, "campaign": form.campaign, "told": told, **ROOM}
    context = about | {"estimate": asked, "lacking": lacking}
    return render(request, "judges/confirm.html", context)


def _start_metrics(request: HttpRequest, form: MetricForm) -> HttpResponse | None:
    try:
        started = start_metrics(by=user_of(request), keys=form.chosen(), selection=form.selection())
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return _started(request, started)


def _started(request: HttpRequest, started: Sequence[Run | Job]) -> HttpResponse:
    """Lead to what was started: a run, the runs, or the jobs that start them."""
    first = started[0]
    if isinstance(first, Job):
        messages.info(request, "The run is being prepared: see below. After that you find it among the runs.")
        return redirect("jobs")
    return redirect("run", first.pk) if len(started) == 1 else redirect("runs")


def target_of(request: HttpRequest) -> Target | None:
    """Return the corpus, and the campaign where one was chosen."""
    corpus, campaign = request.GET.get("corpus", ""), request.GET.get("campaign", "")
    if (number := row_id(campaign)) is not None:
        rows = Campaign.objects.select_related("corpus", "scheme_version__scheme")
        found = rows.filter(pk=number).first()
        return (found.corpus, found) if found else None
    chosen = Corpus.objects.filter(pk=row_id(corpus) or 0).first()
    return (chosen, None) if chosen else None


def sync_endpoints(request: HttpRequest) -> None:
    """Take up the endpoints that the environment declares; say what is wrong with one."""
    try:
        sync_environment()
    except JobError as error:
        messages.error(request, str(error))
