"""The judge workbench: benches, and on each drafts that are written, tried, kept or thrown away."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.corpora import splits
from annotation.errors import AnnotationError
from annotation.models import Corpus
from annotation.pages.choosing import choose
from calibration import access
from calibration.errors import CalibrationError
from calibration.pages.asked import place_of
from calibration.pages.workbench_form import BenchForm, DraftForm
from calibration.workbench import agreement, progress, showing
from calibration.workbench.sheets import Judged, sheets
from config.permissions import researcher_only
from jobs import runs
from jobs.errors import JobError
from judges.drafts import actions, benches, estimating, keeping
from judges.drafts.beginning import begun_from, versions_for
from judges.models import Bench, Draft
from judges.pages.runs import user_of
from judges.pages.starting import sync_endpoints
from judges.prompt_versions.requests import COUNTED
from judges.rating.estimates import Estimate
from judges.rating.needs import asked_on

ROOM = {"active_room": "workbench"}
PAGE = 10
HOW_MANY: dict[str, int | None] = {"5": 5, "20": 20, "all": None}
UNASKED = 20
"""Calls up to which an endpoint that the bench has used before is asked without a question in between."""


@require_GET
@researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """Researchers: all benches, latest first."""
    found = Bench.objects.select_related("corpus", "campaign").annotate(
        tried=Count("drafts", filter=Q(drafts__targets__gt=0, drafts__of=None))
    )
    page = Paginator(found.order_by("-pk"), 25).get_page(request.GET.get("page"))
    return render(request, "workbench/benches.html", {"page": page, **ROOM})


@researcher_only
def new_bench(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus or campaign, draw its split where it has none, and open a bench."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(
            request,
            title="New bench: on which dialogues?",
            lead="Drafts of judges are tried on the dev part of a corpus, or of what a campaign covers.",
            back=("workbench", "Workbench"),
            room="workbench",
        )
    opening = request.POST.get("act") == "open"
    form = BenchForm(request.POST if opening else None, has_campaign=campaign is not None)
    refused = ""
    try:
        if request.POST.get("act") == "draw":
            refused = _draw_split(request, corpus)
        elif opening and form.is_valid():
            made = benches.open_bench(
                by=user_of(request), corpus=corpus, campaign=campaign, **form.cleaned_data
            )
            return redirect("bench", made.pk)
    except JobError as error:
        refused = str(error)
    context = {"corpus": corpus, "campaign": campaign, "form": form, "split": splits.lock_of(corpus)}
    status = 422 if form.errors or refused else 200
    return render(request, "workbench/new.html", context | ROOM | {"refused": refused}, status=status)


def _draw_split(request: HttpRequest, corpus: Corpus) -> str:
    """Draw a corpus's split; return why it cannot be drawn, '' where it was."""
    try:
        splits.draw(corpus=corpus, by=user_of(request))
    except AnnotationError as error:
        return str(error)
    return ""


@researcher_only
def bench(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the text at the left, at the right the items with a draft's and the people's answers.

    POST writes the draft and tries it on some items; where that is a lot, or the first time at an endpoint,
    it is said beforehand what goes where.
    """
    found = access.bench(pk)
    sync_endpoints(request)
    if request.method == "POST":
        return _try(request, found)
    draft = _shown(found, request.GET.get("draft", ""))
    begin = request.GET.get("from") or (f"draft-{draft.number}" if draft else "")
    return _page(request, found, draft, _form(request, found, begin))


def _form(request: HttpRequest, found: Bench, begin: str, told: Any = None) -> DraftForm:
    """Return the editor; where there is nothing of the name that it is to begin with, with Concord's own."""
    try:
        return DraftForm(told, initial=begun_from(found, begin), bench=found, begin=begin)
    except JobError as error:
        messages.error(request, str(error))
    return DraftForm(told, initial=begun_from(found, ""), bench=found, begin="")


def _try(request: HttpRequest, found: Bench) -> HttpResponse:
    form = _form(request, found, request.POST.get("begin", ""), request.POST)
    wanted, key = request.POST.get("items", ""), request.POST.get("item", "")
    draft = None
    if form.is_valid() and (wanted in HOW_MANY or "show" in request.POST):
        samples = form.cleaned_data["samples"]
        try:
            if "show" in request.POST:
                shown = estimating.requests_of(found, key, later=user_of(request), **form.draft())
                return _page(request, found, None, form, requests=shown, counted=COUNTED, key=key)
            draft = actions.write(by=user_of(request), bench=found, **form.draft())
            if asked := _to_confirm(request, draft, HOW_MANY[wanted], samples):
                return _page(request, found, draft, form, asked=asked, wanted=wanted)
            actions.run(by=user_of(request), draft=draft, targets=HOW_MANY[wanted], samples=samples)
            return redirect(_address(draft))
        except JobError as error:
            form.refuse(error)
    return _page(request, found, draft, form, status=422)


def _to_confirm(request: HttpRequest, draft: Draft, targets: int | None, samples: int) -> Estimate | None:
    """Return what it takes, where somebody should see it first."""
    if "confirmed" in request.POST:
        return None
    found = estimating.estimate(draft, targets, samples)
    return found if found.calls > UNASKED or not estimating.is_known(draft) else None


def _page(
    request: HttpRequest,
    found: Bench,
    draft: Draft | None,
    form: DraftForm,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        "bench": found,
        "form": form,
        "drafts": list(found.drafts.filter(of=None, search_text=None, discarded_at=None)),
        "versions": versions_for(found),
        "steps": _steps(found),
        "one": benches.unit(found)[0],
        "unit": benches.unit(found)[1],
        "everything": _everything(found),
        "how_many": HOW_MANY,
        **ROOM,
        **more,
    }
    if draft is not None and not more:
        context |= _panel(request, found, draft)
    return render(request, "workbench/bench.html", context, status=status)


def _everything(found: Bench) -> str:
    """Return the words of the button that tries a draft on every target of dev."""
    n, (one, several) = benches.available(found), benches.unit(found)
    return f"On the one {one} of dev" if n == 1 else f"On all {n:,} {several} of dev"


def _steps(found: Bench) -> list[Bench]:
    """Return the benches on which the answers that a bench's protocol reads are worked on."""
    needs = benches.protocol_of(found).needs
    others = Bench.objects.filter(corpus=found.corpus).exclude(pk=found.pk).order_by("name")
    return [one for one in others if any(need.question in asked_on(one) for need in needs)]


@require_GET
@researcher_only
def draft_panel(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Researchers: the items of a draft alone, asked for again and again while replies arrive."""
    found = access.bench(pk)
    context = _panel(request, found, access.draft(found, number)) | {"bench": found}
    return render(request, "workbench/_draft.html", context)


def _panel(request: HttpRequest, found: Bench, draft: Draft) -> dict[str, Any]:
    judged = Judged(draft.name, draft.asker, draft)
    targets = found.targets.filter(position__lt=draft.targets).order_by("position")
    page = Paginator(targets, PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "draft": draft,
        "tried": progress.tried(draft),
        "page": page,
        "query": f"draft={draft.number}&",
        "one": benches.unit(found)[0],
        "unit": benches.unit(found)[1],
    }
    try:
        context["cards"] = showing.cards(found, judged, list(page))
        read = sheets(found, [judged])
        context["figures"] = agreement.agreement(read, judged)
        context["unanswered"] = agreement.unanswered(read)
    except CalibrationError as error:
        context["refused"] = str(error)
    return context


@require_POST
@researcher_only
def draft_act(request: HttpRequest, pk: int, number: int, verb: str) -> HttpResponse:
    """Researchers: cancel a draft, ask again for what failed, keep it as a version or throw it away."""
    draft = access.draft(access.bench(pk), number)
    by = user_of(request)
    try:
        if verb == "keep":
            name, note = request.POST.get("name", ""), request.POST.get("note", "")
            kept = keeping.keep(by=by, draft=draft, name=name, note=note)
            messages.success(request, f"Kept as {kept.kept}: its answers are labels of that judge now.")
        elif verb == "discard":
            actions.discard(by=by, draft=draft)
            messages.info(request, f"Draft {draft.number} was thrown away. It stays counted as tried.")
            return redirect("bench", pk)
        elif verb in ("cancel", "retry"):
            _change_run(request, draft, verb)
        else:
            raise Http404
    except JobError as error:
        messages.error(request, str(error))
    return redirect(_address(draft))


def _change_run(request: HttpRequest, draft: Draft, verb: str) -> None:
    run = actions.run_of(draft)
    if run is None:
        return
    change = runs.cancel if verb == "cancel" else runs.retry_failed
    change(by=user_of(request), run=run)


def _shown(found: Bench, number: str) -> Draft | None:
    """Return the draft that an address names, else the latest that was tried."""
    if number.isdecimal() and number.isascii() and len(number) < 10:
        return access.draft(found, int(number))
    latest = (
        found.drafts.filter(of=None, search_text=None, discarded_at=None, targets__gt=0)
        .order_by("-pk")
        .first()
    )
    return access.draft(found, latest.number) if latest else None


def _address(draft: Draft) -> str:
    return f"{reverse('bench', args=[draft.bench_id])}?draft={draft.number}"
