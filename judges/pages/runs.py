"""The researcher's pages of runs: the list, one run with its live progress, and what is done to it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import turn_numbers
from config.lists import LongPaginator
from config.permissions import administrator_only, researcher_only
from jobs import access, runs
from jobs.endpoints.actions import ask_for_test, save, sync_environment
from jobs.endpoints.limits import width_of
from jobs.errors import ERROR_KINDS, OLDER, JobError
from jobs.models import Batch, Call, Endpoint, Job, Run
from jobs.models.run import FLAGGED, TROUBLED
from jobs.progress import Progress, progress
from jobs.runs import CAPS
from judges.drafts import DRAFT
from judges.pages.forms import AdoptForm, CapsForm, EndpointForm
from judges.prompt_versions import listing
from judges.rating.availability import has_model

ROOM = {"active_room": "runs"}
SHOWN = ("failed", "flagged", "all")


def user_of(request: HttpRequest) -> User:
    """Return the signed-in account."""
    assert isinstance(request.user, User)
    return request.user


@require_GET
@researcher_only
def run_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all runs, latest first. Those of drafts are on their benches."""
    found = Run.objects.exclude(kind=DRAFT).select_related("rater", "corpus", "campaign")
    page = Paginator(found.order_by("-id"), 25).get_page(request.GET.get("page"))
    counted = runs.by_state(page)
    for run in page:
        states = counted.get(run.pk, {})
        run.total = sum(states.values())  # type: ignore[attr-defined]
        run.done = states.get(Call.State.DONE, 0)  # type: ignore[attr-defined]
        run.failed = states.get(Call.State.FAILED, 0)  # type: ignore[attr-defined]
    return render(request, "judges/runs.html", {"page": page, **ROOM})


@require_GET
@researcher_only
def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one run, its progress and its calls."""
    return one_run(request, access.run(pk))


def one_run(
    request: HttpRequest, run: Run, caps: CapsForm | None = None, adopting: AdoptForm | None = None
) -> HttpResponse:
    """Show a run, with a form that was not accepted where there is one: of its caps, or for a batch."""
    state = progress(run)
    show = request.GET.get("show", "failed" if state.failed else "flagged" if state.flagged else "all")
    show = show if show in SHOWN else "all"
    context = {"run": run, "progress": state, "show": show, "page": _calls(request, run, show), **ROOM}
    context |= {"loading": loading(run, state), "prompt": listing.of_spec(run.identity)}
    context["caps"] = caps or CapsForm(initial={name: getattr(run, name) for name in CAPS})
    context["unclear"] = _unclear(run, adopting)
    status = 422 if caps or adopting else 200
    return render(request, "judges/run.html", context | {"query": f"show={show}&"}, status=status)


def _unclear(run: Run, adopting: AdoptForm | None) -> list[Batch]:
    """Return the batches of which it is unclear what became, each with the form that adopts it."""
    found = list(run.batches.filter(state=Batch.State.UNCLEAR))
    for batch in found:
        mine = adopting if adopting is not None and adopting.batch == batch.pk else None
        batch.adopting = mine or AdoptForm(batch=batch.pk)  # type: ignore[attr-defined]
    return found


@require_GET
@researcher_only
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the progress alone, asked for again and again; the page reloads when the run ends."""
    run = access.run(pk)
    state = progress(run)
    context = {"run": run, "progress": state, "loading": loading(run, state)}
    response = render(request, "judges/_progress.html", context)
    if not state.moving and request.headers.get("HX-Request"):
        response["HX-Refresh"] = "true"
    return response


@require_POST
@researcher_only
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop a run; what is done stays."""
    runs.cancel_calls(by=user_of(request), run=access.run(pk))
    return redirect("run", pk)


@require_POST
@researcher_only
def retry_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: go on with a cancelled or failed run."""
    if isinstance(runs.retry(by=user_of(request), run=access.run(pk)), Job):
        messages.info(request, "The run's calls are being made ready: see below. Then it goes on by itself.")
        return redirect("jobs")
    return redirect("run", pk)


def loading(run: Run, state: Progress) -> bool:
    """Whether a metric is at work and may be loading its model still, as no call has finished yet."""
    return bool(state.leased and not state.finished and run.rater and has_model(run.rater))


def _calls(request: HttpRequest, run: Run, show: str) -> Page[Call]:
    counted = runs.of_run(run)
    kind = request.GET.get("kind", "")
    if show == "failed" and (kind in ERROR_KINDS or kind == OLDER):
        wanted = "" if kind == OLDER else kind
        failed = run.calls.filter(state=Call.State.FAILED, error_kind=wanted)
        return _page(request, failed, runs.failures(run).get(wanted, 0))
    chosen, many = {
        "failed": (run.calls.filter(TROUBLED), counted["troubled"]),
        "flagged": (run.calls.filter(FLAGGED), counted["flagged"]),
        "all": (run.calls.all(), counted["n"]),
    }[show]
    return _page(request, chosen, many)


def _page(request: HttpRequest, chosen: QuerySet[Call], many: int) -> Page[Call]:
    """Return a page of calls, of which there are so many."""
    rows = Call.objects.select_related("continuation__dialogue", "item__turn")
    page = LongPaginator(chosen.order_by("pk"), 25, many=many, rows=rows).get_page(request.GET.get("page"))
    turn_numbers.number(call.item.turn if call.item else None for call in page)
    return page


# The administrator's page of endpoints.


@require_http_methods(["GET", "POST"])
@administrator_only
def endpoints(request: HttpRequest) -> HttpResponse:
    """Administrators: all endpoints, and a form for a new one."""
    return _page_of_endpoints(request, None)


@require_http_methods(["GET", "POST"])
@administrator_only
def endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: change an endpoint."""
    return _page_of_endpoints(request, access.endpoint(pk))


@require_POST
@administrator_only
def test_endpoint(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: let a worker ask the endpoint something; the page says what came of it."""
    tested = ask_for_test(by=user_of(request), endpoint=access.endpoint(pk))
    return redirect(f"{reverse('endpoints')}#endpoint-{tested.pk}")


def _page_of_endpoints(request: HttpRequest, chosen: Endpoint | None) -> HttpResponse:
    try:
        sync_environment()
    except JobError as error:
        messages.error(request, str(error))
    form = EndpointForm(request.POST or None, instance=chosen)
    if request.method == "POST" and form.is_valid():
        try:
            saved = save(by=user_of(request), fields=form.cleaned_data, endpoint=chosen)
        except JobError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{saved.name} is saved.")
            return redirect("endpoints")
    rows = list(Endpoint.objects.select_related("pace").order_by("name"))
    for row in rows:
        row.at_once = width_of(row, getattr(row, "pace", None))  # type: ignore[attr-defined]
    testing = any(row.test_asked and not row.test_done for row in rows)
    context = {"rows": rows, "form": form, "chosen": chosen, "testing": testing, **ROOM}
    return render(request, "judges/endpoints.html", context, status=422 if form.errors else 200)
