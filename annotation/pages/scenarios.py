"""The Scenarios page of a corpus: what it has of each kind of probe, and what the oracle says of each one."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from annotation.scenario_editing.reading import rows
from annotation.scenarios.overview import overview
from config.permissions import researcher_only

ROOM = {"active_room": "corpora"}
SHOWN = 50


@require_GET
@researcher_only
def scenarios(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the scenarios of a corpus, with counts per probe and the oracle's check."""
    corpus = access.corpus(pk)
    found = rows(corpus)
    page = Paginator(found, SHOWN).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus,
        "page": page,
        "rows": list(page),
        "wrong": [row for row in found if row.summary.problems],
        "overview": overview([row.summary for row in found]),
        **ROOM,
    }
    return render(request, "scenarios/list.html", context)
