"""The page of the exact request about an item: of a version, of a draft, or of a run before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Campaign, Corpus
from config.permissions import researcher_only
from jobs.errors import JobError
from judges.errors import JudgeError
from judges.pages.forms import JudgeForm
from judges.pages.prompt_forms import EditorForm, NewPromptForm, RequestForm
from judges.pages.prompts import ROOM
from judges.pages.runs import user_of
from judges.pages.starting import sync_endpoints, target_of
from judges.prompt_versions import finding, requests
from judges.prompt_versions.finding import Version
from judges.prompt_versions.requests import Request
from judges.protocols import Wording
from judges.rating.plans import Judge


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is not saved, and the fields that carry it from page to page."""

    wording: Wording
    told: tuple[tuple[str, str], ...]


@require_http_methods(["GET", "POST"])
@researcher_only
def prompt_request(request: HttpRequest) -> HttpResponse:
    """Researchers: what would be sent about an item with a version of a prompt (`ref`), or with a draft of it
    that the editor sent."""
    told = request.POST if request.method == "POST" else request.GET
    try:
        version = finding.find(told.get("ref", ""))
    except JudgeError as error:
        messages.error(request, str(error))
        return redirect("prompts")
    draft: Draft | None = None
    if "user" in request.POST:
        named = NewPromptForm if "name" in request.POST else EditorForm
        editor = named(request.POST, base=version)
        editor.full_clean()
        if {"system", "user", "form"} & editor.errors.keys():
            context = {"form": editor, "base": version, "action": _editor_of(version, named), **ROOM}
            return render(request, "judges/prompts/editor.html", context, status=422)
        draft = _draft(request, editor)
    sync_endpoints(request)
    asked = "corpus" in told
    initial = {"corpus": Corpus.objects.order_by("name").first()}
    form = RequestForm(told if asked else None, initial=initial, version=version)
    found: list[Request] = []
    if asked and form.is_valid():
        data = form.cleaned_data
        try:
            about = (data["corpus"], data["item"], draft.wording if draft else None)
            found = _found(user_of(request), form.judge(version), *about)
        except JobError as error:
            form.add_error("item", str(error))
    context = {"form": form, "version": version, "draft": draft, "requests": found, **ROOM}
    context["counted"] = requests.COUNTED
    return render(request, "judges/prompts/request.html", context, status=422 if form.errors else 200)


def _draft(request: HttpRequest, editor: EditorForm) -> Draft:
    kept = ("system", "user", "form", "keep_examples")
    return Draft(editor.wording(), tuple((name, request.POST[name]) for name in kept if name in request.POST))


def _editor_of(version: Version, named: type[EditorForm]) -> str:
    """Return the address that a draft came from: one with faults goes back to its editor, whole."""
    if named is NewPromptForm or version.row is None:
        return f"{reverse('new-prompt')}?{urlencode({'from': version.ref})}"
    return reverse("edit-prompt", args=[version.name, version.number])


def _found(
    by: User,
    judge: Judge,
    corpus: Corpus,
    key: str,
    draft: Wording | None = None,
    campaign: Campaign | None = None,
) -> list[Request]:
    covers = judge.asks(campaign).covers
    item = requests.item_of(corpus, key, covers) if key.strip() else requests.any_item(corpus, covers)
    return requests.requests(judge, item, campaign, draft, later=by)


@require_POST
@researcher_only
def run_request(request: HttpRequest) -> HttpResponse:
    """Researchers: what a run that waits to be confirmed would send about an item."""
    target = target_of(request)
    if target is None:
        return redirect("new-run")
    corpus, campaign = target
    form = JudgeForm(request.POST, corpus=corpus, campaign=campaign, prefix="judge")
    if not form.is_valid():
        messages.error(request, "The run cannot be read: set it up again.")
        return redirect("new-run")
    found: list[Request] = []
    trouble = ""
    try:
        key = request.POST.get("item", "")
        found = _found(user_of(request), form.chosen(), corpus, key, campaign=campaign)
    except JobError as error:
        trouble = str(error)
    told = [(name, value) for name, values in request.POST.lists() for value in values]
    context = {
        "told": [pair for pair in told if pair[0] not in ("csrfmiddlewaretoken", "item", "confirmed")],
        "corpus": corpus,
        "requests": found,
        "trouble": trouble,
        "key": request.POST.get("item", ""),
        "counted": requests.COUNTED,
        "back": f"{reverse('new-run')}?{request.GET.urlencode()}",
        "active_room": "runs",
    }
    return render(request, "judges/prompts/run_request.html", context, status=422 if trouble else 200)
