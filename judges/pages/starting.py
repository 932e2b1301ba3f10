"""The researcher's page that starts runs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Campaign, Corpus
from annotation.pages.choosing import choose
from config.ids import row_id
from config.permissions import researcher_only
from judges import runs
from judges.endpoints import sync_environment
from judges.errors import JudgeError
from judges.metric_runs import metric_plans
from judges.models import Endpoint
from judges.pages.forms import JudgeForm, MetricForm
from judges.pages.runs import ROOM, user_of

Target = tuple[Corpus, Campaign | None]


@researcher_only
def new_run(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus or campaign, then a judge or metrics."""
    _sync(request)
    target = _target(request)
    if target is None:
        return choose(
            request,
            title="New run: over what?",
            lead="A run answers questions about the items of a corpus, or of what a campaign covers.",
            back=("runs", "Judges and metrics"),
            room="runs",
        )
    corpus, campaign = target
    judging = request.POST.get("kind") == "judge"
    measuring = request.POST.get("kind") == "metrics"
    endpoint = Endpoint.objects.filter(active=True).first()
    initial = {"endpoint": endpoint} if endpoint else {"judge": "rules_baseline:"}
    judge = JudgeForm(
        request.POST if judging else None, corpus=corpus, campaign=campaign, prefix="judge", initial=initial
    )
    metric = MetricForm(
        request.POST if measuring else None, corpus=corpus, campaign=campaign, prefix="metric"
    )
    if judging and judge.is_valid() and (response := _start_judge(request, judge)):
        return response
    if measuring and metric.is_valid() and (response := _start_metrics(request, metric)):
        return response
    context = {"corpus": corpus, "campaign": campaign, "judge": judge, "metric": metric, **ROOM}
    status = 422 if judge.errors or metric.errors else 200
    return render(request, "judges/new.html", context, status=status)


def _start_judge(request: HttpRequest, form: JudgeForm) -> HttpResponse | None:
    try:
        plan = form.chosen().plan(form.campaign)
        run = runs.start(by=user_of(request), plan=plan, scope=form.scope())
    except JudgeError as error:
        form.add_error(None, str(error))
        return None
    return redirect("run", run.pk)


def _start_metrics(request: HttpRequest, form: MetricForm) -> HttpResponse | None:
    try:
        plans = metric_plans(form.chosen(), form.corpus)
        started = [runs.start(by=user_of(request), plan=plan, scope=form.scope()) for plan in plans]
    except JudgeError as error:
        form.add_error(None, str(error))
        return None
    return redirect("run", started[0].pk) if len(started) == 1 else redirect("runs")


def _target(request: HttpRequest) -> Target | None:
    """Return the corpus, and the campaign where one was chosen."""
    corpus, campaign = request.GET.get("corpus", ""), request.GET.get("campaign", "")
    if (number := row_id(campaign)) is not None:
        rows = Campaign.objects.select_related("corpus", "scheme_version__scheme")
        found = rows.filter(pk=number).first()
        return (found.corpus, found) if found else None
    chosen = Corpus.objects.filter(pk=row_id(corpus)).first()
    return (chosen, None) if chosen else None


def _sync(request: HttpRequest) -> None:
    try:
        sync_environment()
    except JudgeError as error:
        messages.error(request, str(error))
