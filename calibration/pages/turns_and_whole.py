"""Turns and whole: continuations by both of people's scores, and inversions. Researchers only."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from annotation import access
from annotation.models import Campaign, Corpus
from calibration.errors import CalibrationError
from calibration.reading.census import census
from calibration.reading.scope import scope_of
from calibration.turns_and_whole.computing import TurnsAndWhole
from calibration.turns_and_whole.computing import compute as compute_inversions
from calibration.turns_and_whole.files import FILES as INVERSION_FILES
from calibration.turns_and_whole.questions import offered
from calibration.turns_and_whole.questions import read as read_turn_questions
from calibration.turns_and_whole.wording import facts as inversion_facts
from config.files import row_id
from config.permissions import researcher_only

PAGE = 50
GIVEN = ("campaign", "turns", "whole")


@require_GET
@researcher_only
def turns_and_whole(request: HttpRequest, pk: int) -> HttpResponse:
    """The continuations whose rank changes most between the two scores, or why there are none."""
    corpus = access.corpus(pk)
    campaign = _campaign(request, corpus)
    given = _given(request)
    turns, whole = offered(census(scope_of(corpus, campaign)))
    context: dict[str, Any] = {
        "corpus": corpus,
        "campaign": campaign,
        "active_room": "corpora",
        "turns": turns,
        "whole": whole,
        "query": f"{urlencode(given)}&" if given else "",
    }
    try:
        found = compute_inversions(read_turn_questions(corpus, campaign, given))
    except CalibrationError as refused:
        status = 422 if "turns" in given or "whole" in given else 200
        return render(
            request, "calibration/turns_and_whole.html", context | {"refused": str(refused)}, status=status
        )
    return render(request, "calibration/turns_and_whole.html", context | _shown(request, found))


def _shown(request: HttpRequest, found: TurnsAndWhole) -> dict[str, Any]:
    return {
        "found": found,
        "facts": inversion_facts(found),
        "page": Paginator(found.lines, PAGE).get_page(request.GET.get("page")),
        "several": [dialogue for dialogue in found.dialogues if dialogue.pairs],
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
        found = compute_inversions(read_turn_questions(corpus, _campaign(request, corpus), _given(request)))
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(file.write(found), content_type=file.media_type)
    name = f"turns-and-whole-{corpus.pk}{'-dialogues' if form == 'dialogues' else ''}.{file.suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _given(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name].replace("\0", "") for name in GIVEN if request.GET.get(name)}


def _campaign(request: HttpRequest, corpus: Corpus) -> Campaign | None:
    number = row_id(request.GET.get("campaign", ""))
    if number is None:
        return None
    campaign = access.campaign(number)
    if campaign.corpus_id != corpus.pk:
        raise Http404
    return campaign
