"""The annotator's page as a preview: the same templates, scripts and styles, and nothing that is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation import access
from annotation.models import Campaign, Comfort, Corpus
from annotation.pages import work
from annotation.people.comfort import for_page
from annotation.permissions import campaign_researcher_only
from annotation.scheme_versions.store import Questionnaire, questionnaire_from, questionnaire_of
from annotation.schemes import SchemeDefinition
from annotation.work import previews
from annotation.work.screens import Screen
from config.middleware import frames_others, stands_in_frame


@require_GET
@campaign_researcher_only
def campaign_preview(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: a campaign's first tasks as its annotators get them, in a frame."""
    found = access.campaign(campaign)
    context = {
        "campaign": found,
        "number": len(previews.places(found)),
        "source": reverse("campaign-preview-task", args=[found.pk, 1]),
        "active_room": "campaigns",
    }
    return frames_others(render(request, "campaigns/preview.html", context))


@require_GET
@campaign_researcher_only
def campaign_preview_task(request: HttpRequest, campaign: int, number: int) -> HttpResponse:
    """Researchers: one of a campaign's first tasks, counted from 1, as an annotator gets it."""
    found = access.campaign(campaign)
    places = previews.places(found)
    if not 1 <= number <= len(places):
        raise Http404
    plan = questionnaire_of(found.scheme_version_id)

    def address(there: int) -> str:
        return reverse("campaign-preview-task", args=[campaign, there]) if 1 <= there <= len(places) else ""

    return page(
        request,
        name=found.name,
        plan=plan,
        screen=previews.of_campaign(found, places[number - 1]),
        guidelines=found.guidelines.order_by("-version").first(),
        place=(number, len(places)),
        around={"previous": address(number - 1), "next": address(number + 1)},
    )


def of_definition(request: HttpRequest, definition: SchemeDefinition, corpus: Corpus | None) -> HttpResponse:
    """Return the work page with what a definition asks, beside a dialogue of a corpus or the sample."""
    plan = questionnaire_from(definition)
    guidelines = SimpleNamespace(text=definition.guidelines, version=definition.version)
    return page(
        request,
        name=definition.title,
        plan=plan,
        screen=previews.of_scheme(definition, corpus),
        guidelines=guidelines,
    )


def page(
    request: HttpRequest,
    *,
    name: str,
    plan: Questionnaire,
    screen: Screen,
    guidelines: Any,
    place: tuple[int, int] = (1, 1),
    around: dict[str, str] | None = None,
) -> HttpResponse:
    """Return the work page with one screen on it; `place` is its number among how many.

    `guidelines` have a text and a version, or are None. `around` has the addresses `previous` and `next`.
    """
    number, whole = place
    state = {
        "status": "preview",
        "campaign": Campaign.State.OPEN,
        "progress": {"text": f"{number} of {whole}", "time": "", "done": number - 1, "whole": whole},
    }
    task = {"assignment": 0, "items": screen.items, "whole": screen.whole, "sides": len(screen.sides)}
    task |= {"people": screen.named}
    task |= {"draft": {"version": 0}, "revising": False, "returned": False, "told": ""}
    end = get_template("annotate/_preview_end.html").render()
    context = {
        "seat": SimpleNamespace(name=name, campaign="preview"),
        "base": request.get_full_path(),
        "state": state | {"html": work.transcript(screen), "task": task},
        "guidelines": guidelines,
        "comfort": for_page(Comfort()),
        "preview": {**(around or {}), "end": state | {"html": end, "task": None}},
    }
    return stands_in_frame(render(request, "annotate/work.html", context | work.asked(plan)))
