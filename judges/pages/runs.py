"""Researchers' pages of runs: a run with its live progress, actions on it, and costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Rater, turn_numbers
from annotation.text.display import duration, many, money, number
from config.files import row_id
from config.listing import Column, Listing
from config.lists import LongPaginator
from config.permissions import researcher_only, user_of
from config.templatetags.concord import setting
from jobs import access, runs
from jobs.bulk_acts import RUN_ACTS
from jobs.calls import batch_actions
from jobs.calls.causes import Cause, failure_causes
from jobs.calls.served_models import served_differently
from jobs.endpoints.endpoint_actions import sync_environment
from jobs.endpoints.ownership import usable_by
from jobs.errors import ERROR_KINDS, OLDER, JobError
from jobs.models import Call, Endpoint
from jobs.models.job import Job
from jobs.models.run import FLAGGED, TROUBLED, Batch, Run
from jobs.progress import Progress, progress
from jobs.runs import CAPS
from judges import access as judges_access
from judges.drafts import DRAFT
from judges.pages.forms import AdoptForm, CapsForm
from judges.prompts import versions
from judges.runs import run_sets
from judges.runs.lookup import has_model
from judges.runs.run_sets import SetProgress, progress_of, sets_of


@require_GET
@researcher_only
def run_set_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a run set; the page refreshes its runs while one goes on."""
    run_set = judges_access.run_set(pk)
    state = progress_of([run_set])[run_set.pk]
    context = {
        "run_set": run_set,
        "corpus": run_set.corpus,
        "progress": state,
        "total": state.sum("total"),
        "finished": state.sum("done") + state.sum("failed"),
        "figures": _set_figures(state),
        "has_answers": any(row.done or row.reused for row in state.rows),
    }
    return render(request, "judges/run_set.html", context)


def _set_figures(state: SetProgress) -> list[tuple[str, Any]]:
    """Return how far a set is as pairs of term and value; those without a value do not apply."""
    seconds = state.seconds_left
    return [
        ("Done", f"{state.sum('done'):,}"),
        ("Failed", f"{state.sum('failed'):,}"),
        ("Cancelled", f"{state.sum('cancelled'):,}" if state.sum("cancelled") else ""),
        ("Done by other runs", f"{state.sum('reused'):,}" if state.sum("reused") else ""),
        ("Time left", ("not known yet" if seconds is None else duration(seconds)) if state.is_active else ""),
        ("Tokens read", f"{state.sum('tokens_in'):,}"),
        ("Tokens written", f"{state.sum('tokens_out'):,}"),
        ("Cost", state.price),
    ]


@require_POST
@researcher_only
def change_run_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: pause, resume, cancel or retry all runs of a set that this applies to."""
    verb = request.POST.get("verb", "")
    try:
        outcome = run_sets.change_run_set(by=user_of(request), run_set=judges_access.run_set(pk), verb=verb)
    except JobError as error:
        messages.error(request, str(error))
        return redirect("run-set", pk)
    if outcome.done:
        messages.success(request, f"{many(len(outcome.done), 'run')} {RUN_ACTS.acts[verb].past}.")
    for refusal in outcome.refused:
        messages.error(request, f"{refusal.name}: {refusal.reason}")
    return redirect("run-set", pk)


CALL_FILTERS = (
    ("failed", "Failed or tried again", "No call failed."),
    ("flagged", "Flagged", "Nothing was flagged."),
    ("all", "All", "No calls."),
)
"""Calls that the page of a run lists: key, title, and the sentence where there are none."""


@require_GET
@researcher_only
def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a run, its progress and its calls."""
    return one_run(request, access.run(pk))


def one_run(
    request: HttpRequest, run: Run, caps: CapsForm | None = None, adopting: AdoptForm | None = None
) -> HttpResponse:
    """Show a run, with the rejected form if there is one: for its caps, or for a batch."""
    state = progress(run)
    show = request.GET.get("show", "failed" if state.failed else "flagged" if state.flagged else "all")
    show = show if show in {key for key, _, _ in CALL_FILTERS} else "all"
    context: dict[str, Any] = {"show": show, "call_filters": CALL_FILTERS, "page": _calls(request, run, show)}
    context |= _progress_context(run, state)
    context |= {"prompt": versions.of_spec(run.identity), "facts": _facts(run)}
    context["excluded"] = run.scope.get("excluded")
    context["caps"] = caps or CapsForm(initial={name: getattr(run, name) for name in CAPS})
    context["unclear"] = _unclear(run, adopting)
    context["causes"] = _causes(run) if state.failed else []
    context["run_sets"] = sets_of(run)
    context["report"] = "" if state.moving or run.is_empty or not state.done else _report_of(run)
    status = 422 if caps or adopting else 200
    return render(request, "judges/run.html", context, status=status)


def _progress_context(run: Run, state: Progress) -> dict[str, Any]:
    return {"run": run, "progress": state, "loading": loading(run, state), "figures": _figures(run, state)}


def _facts(run: Run) -> list[tuple[str, Any]]:
    """Return what a run is as pairs of term and value; those without a value do not apply."""
    identity, rater, endpoint, version = run.identity, run.rater, run.endpoint, run.scheme_version
    about, variant = identity.get("version", ""), identity.get("variant")
    reuse = "from the cache" if run.use_cache else "never reused"
    protocol, metric, generator = (identity.get(name, "") for name in ("protocol", "metric", "generator"))
    return [
        ("Name in files", rater.name if rater and rater.short_name else ""),
        ("Kind", rater.kind if rater else "writes"),
        ("Protocol", protocol and f"{protocol}, version {about}{f', variant {variant}' if variant else ''}"),
        ("Scheme", identity.get("scheme")),
        ("Metric", metric and f"{metric}, {variant}"),
        ("Model", identity.get("model")),
        *identity.get("parameters", {}).items(),
        ("Endpoint", endpoint.name if endpoint else ""),
        ("Address", run.address),
        ("Served revision", run.revision),
        ("Served as", served_differently(run) if endpoint else ""),
        ("Generator", generator and f"{generator}, version {about}"),
        *((name, setting(value)) for name, value in identity.get("settings", {}).items()),
        *((f"{name} (condition)", setting(value)) for name, value in run.scope.get("condition", {}).items()),
        ("Answers", version.name if version else ""),
        ("Asked", run.get_mode_display() if endpoint else ""),
        ("Replies to equal requests", reuse if endpoint else ""),
        ("Samples" if rater else "Trials", run.samples),
        ("Systems", (", ".join(run.scope.get("systems") or ()) or "all") if rater else ""),
        ("Part", run.scope.get("part")),
        ("Dialogues left out by", run.scope.get("exclude")),
    ]


def _figures(run: Run, state: Progress) -> list[tuple[str, Any]]:
    """Return how far a run is as pairs of term and value; those without a value do not apply."""
    rows: list[tuple[str, Any]] = [("Done", f"{state.done:,}"), ("Failed", f"{state.failed:,}")]
    rows.append(("Flagged", f"{state.flagged:,}"))
    rows.append(("Cancelled", _count(state.cancelled)))
    rows.append(("Done by other runs", _count(state.reused)))
    if state.active:
        rows += [("Waiting", f"{state.pending:,}"), ("Under way", f"{state.leased:,}")]
        rows += [("In batches", _count(state.batched)), ("Calls a second", number(state.rate, 1))]
        seconds_left = state.seconds_left
        rows.append(("Time left", "not known yet" if seconds_left is None else duration(seconds_left)))
    elif state.seconds is not None:
        rows.append(("Took", duration(state.seconds)))
    if run.endpoint is None:
        return rows
    saved = "" if state.saved is None else f", saved {number(float(state.saved), 4)} {state.currency}"
    most_calls, most_tokens, most_cost = state.cap_calls, state.cap_tokens, state.cap_cost
    lost = "asked for again; tokens and cost of the lost ones are estimated"
    return [
        *rows,
        ("Tokens read", f"{state.tokens_in:,}"),
        ("Tokens written", f"{state.tokens_out:,}"),
        ("From the cache", f"{state.cached:,}{saved}" if state.cached else ""),
        ("Calls made, of at most", "" if most_calls is None else f"{state.sent:,} of {most_calls:,}"),
        ("Most tokens", "" if most_tokens is None else f"{most_tokens:,}"),
        ("Most money", "" if most_cost is None else f"{number(float(most_cost), 4)} {state.currency}"),
        ("Cost so far" if state.moving else "Cost", _cost_so_far(state)),
        ("Projected cost", _projected(state)),
        ("Left of the most money", "" if state.cap_left is None else money(state.cap_left, state.currency)),
        ("Lost with a worker", f"{many(state.lost, 'reply', 'replies')}, {lost}" if state.lost else ""),
        ("Mean reply", f"{state.latency_ms:,.0f} ms" if state.latency_ms else ""),
    ]


def _cost_so_far(state: Progress) -> str:
    """Return what a run has cost, and what is unknown of it."""
    cost = "not known" if state.cost is None else money(state.cost, state.currency)
    if not state.unpriced:
        return cost
    before = f"{many(state.unpriced, 'reply', 'replies')} came before the endpoint had prices"
    if state.priced_afterwards is None:
        return f"{cost}; {before} and {'is' if state.unpriced == 1 else 'are'} not counted"
    priced = money(state.priced_afterwards, state.currency)
    return f"{cost}; {before}: about {priced} more at the present ones, priced afterwards"


def _projected(state: Progress) -> str:
    """Return the projected total of a run with its interval; '' where there is none."""
    if state.projected_cost is None or state.projected_low is None or state.projected_high is None:
        return ""
    bounds = [f"{number(float(value), 4)}" for value in (state.projected_low, state.projected_high)]
    total = money(state.projected_cost, state.currency)
    return f"{total} ({' to '.join(bounds)}: 95%, by the cost of the latest calls)"


def _count(value: int) -> str:
    return f"{value:,}" if value else ""


def _report_of(run: Run) -> str:
    """Return the address of the report that shows a run's answers; '' if none does."""
    if run.rater is None or run.kind == DRAFT:
        return ""
    if run.campaign_id is not None:
        return reverse("campaign-report", args=[run.campaign_id])
    return reverse("corpus-report", args=[run.corpus_id])


def _unclear(run: Run, adopting: AdoptForm | None) -> list[Batch]:
    """Return the batches of unclear outcome, each with the form that adopts it."""
    batches = list(run.batches.filter(state=Batch.State.UNCLEAR))
    for batch in batches:
        mine = adopting if adopting is not None and adopting.batch == batch.pk else None
        batch.adopting = mine or AdoptForm(batch=batch.pk)  # type: ignore[attr-defined]
    return batches


@require_GET
@researcher_only
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the polled progress fragment; all of the page is fetched again when the run ends."""
    run = access.run(pk)
    state = progress(run)
    response = render(request, "judges/_progress.html", _progress_context(run, state))
    if not state.moving and request.headers.get("HX-Request"):
        place = {
            "path": reverse("run", args=[run.pk]),
            "target": "#main",
            "select": "#main",
            "swap": "outerHTML",
        }
        response["HX-Location"] = json.dumps(place)
    return response


@require_POST
@researcher_only
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel a run; done calls are kept."""
    runs.cancel_calls(by=user_of(request), run=access.run(pk))
    return redirect("run", pk)


@require_POST
@researcher_only
def retry_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: continue a cancelled or failed run, or ask again the failed calls of one cause."""
    try:
        retried = runs.retry(by=user_of(request), run=access.run(pk), cause=request.POST.get("cause", ""))
    except JobError as error:
        messages.error(request, str(error))
        return redirect("run", pk)
    if isinstance(retried, Job):
        messages.info(request, "The run's calls are being prepared: see below. Then it starts automatically.")
        return redirect("jobs")
    return redirect("run", pk)


def loading(run: Run, state: Progress) -> bool:
    """Whether a metric is running and may still be loading its model, since no call has finished yet."""
    return bool(state.leased and not state.finished and run.rater and has_model(run.rater))


def _causes(run: Run) -> list[Cause]:
    """Return the causes of a run's failed calls, with the numbers of their examples' turns."""
    causes = failure_causes(run)
    turn_numbers.number(cause.example.item.turn if cause.example.item else None for cause in causes)
    return causes


def _calls(request: HttpRequest, run: Run, show: str) -> Page[Call]:
    counted = runs.of_run(run)
    kind = request.GET.get("kind", "")
    if show == "failed" and (kind in ERROR_KINDS or kind == OLDER):
        error_kind = "" if kind == OLDER else kind
        failed = run.calls.filter(state=Call.State.FAILED, error_kind=error_kind)
        return _page(request, failed, runs.failures(run).get(error_kind, 0))
    calls, many = {
        "failed": (run.calls.filter(TROUBLED), counted["troubled"]),
        "flagged": (run.calls.filter(FLAGGED), counted["flagged"]),
        "all": (run.calls.all(), counted["n"]),
    }[show]
    return _page(request, calls, many)


def _page(request: HttpRequest, calls: QuerySet[Call], many: int) -> Page[Call]:
    """Return a page of calls; `many` is their total number."""
    rows = Call.objects.select_related("continuation__dialogue", "item__turn")
    page = LongPaginator(calls.order_by("pk"), 25, many=many, rows=rows).get_page(request.GET.get("page"))
    turn_numbers.number(call.item.turn if call.item else None for call in page)
    return page


# Researchers' actions on existing runs (pause, resume, caps), and the costs of runs.


@require_POST
@researcher_only
def pause_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: pause a run; calls under way are finished."""
    return _changed_of_changes(request, pk, runs.pause)


@require_POST
@researcher_only
def resume_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: resume a paused run."""
    return _changed_of_changes(request, pk, runs.resume)


@require_POST
@researcher_only
def cap_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: change a run's caps; a run paused at a cap resumes."""
    run, form = access.run(pk), CapsForm(request.POST)
    if not form.is_valid():
        return one_run(request, run, form)
    try:
        runs.set_caps(by=user_of(request), run=run, caps=form.cleaned_data)
    except JobError as error:
        form.add_error(None, str(error))
        return one_run(request, run, form)
    messages.success(request, "The limits are set.")
    return redirect("run", pk)


COSTS = {
    by: Listing(
        Column(by.capitalize()),
        *([] if by == "run" else [Column("Runs", "runs", is_numeric=True)]),
        Column("Calls made", "total_asked", is_numeric=True),
        Column("From the cache", "total_cached", is_numeric=True),
        Column("Tokens read", "total_tokens_in", is_numeric=True),
        Column("Tokens written", "total_tokens_out", is_numeric=True),
        Column("Cost", "total_cost", is_numeric=True),
        Column("Saved by the cache", "total_saved", is_numeric=True),
        tie="key",
    )
    for by in runs.SPENT_BY
}


@require_GET
@researcher_only
def costs(request: HttpRequest) -> HttpResponse:
    """Researchers: costs of judges, by judge, campaign or run."""
    by = request.GET.get("by", "judge")
    by = by if by in runs.SPENT_BY else "judge"
    page = COSTS[by].page(request, runs.spent(by))
    rows = [runs.spending_row(row) for row in page]
    if by == "judge":
        raters = Rater.objects.in_bulk([row["key"] for row in rows if row["key"] is not None])
        rows = [row | {"rater": raters.get(row["key"])} for row in rows]
    context = {
        "page": page,
        "rows": rows,
        "by": by,
        "ways": list(runs.SPENT_BY),
    }
    return render(request, "judges/costs.html", context)


def _changed_of_changes(request: HttpRequest, pk: int, verb: Callable[..., Any]) -> HttpResponse:
    try:
        verb(by=user_of(request), run=access.run(pk))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("run", pk)


# Researchers' actions on a run's batches: check a batch now, adopt an unclear one, or give it up.


@require_POST
@researcher_only
def look_at_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: let a worker check a batch now."""
    return _changed(request, pk, batch_actions.look_now)


@require_POST
@researcher_only
def adopt_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: assign one of the provider's batches to a batch of unclear outcome."""
    batch, form = access.batch(pk), AdoptForm(request.POST, batch=pk)
    if form.is_valid():
        try:
            batch_actions.adopt(
                by=user_of(request), batch=batch, provider_id=form.cleaned_data["provider_id"]
            )
            return redirect("run", batch.run_id)
        except JobError as error:
            form.add_error("provider_id", str(error))
            messages.error(request, f"Not adopted: {error}")
    return one_run(request, access.run(batch.run_id), adopting=form)


@require_POST
@researcher_only
def give_up_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: give up a batch of unclear outcome; its calls are sent again."""
    return _changed(request, pk, batch_actions.give_up)


def _changed(request: HttpRequest, pk: int, verb: Callable[..., Batch]) -> HttpResponse:
    batch = access.batch(pk)
    try:
        verb(by=user_of(request), batch=batch)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("run", batch.run_id)


# Endpoints of the environment, for every page that offers endpoints.


def sync_endpoints(request: HttpRequest) -> None:
    """Register the endpoints declared by the environment; show a message about an invalid one."""
    try:
        sync_environment()
    except JobError as error:
        messages.error(request, str(error))


def offer_endpoints(request: HttpRequest, form: forms.Form) -> None:
    """Offer, in all fields of a form for an endpoint, those that the person who sends the request may use.

    `?endpoint=`, or the only one, is chosen where one is needed.
    """
    endpoints = usable_by(user_of(request)).order_by("name")
    added = row_id(request.GET.get("endpoint", ""))
    usual = endpoints.filter(pk=added) if added else endpoints[:2]
    for name, field in form.fields.items():
        if isinstance(field, forms.ModelChoiceField) and getattr(field.queryset, "model", None) is Endpoint:
            field.queryset = endpoints
            if name == "endpoint" and len(usual) == 1 and (added or not form.initial.get(name)):
                form.initial[name] = usual[0]
            field.is_for_endpoint = name == "endpoint"  # type: ignore[attr-defined]
