"""The researcher's pages of what annotators noted on turns."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation import access
from annotation.labels.pseudonyms import of_people
from annotation.models import turn_numbers
from annotation.notes import files
from annotation.notes.reading import live
from annotation.permissions import campaign_researcher_only

ROWS = 100


@require_GET
@campaign_researcher_only
def campaign_notes(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: what annotators of a campaign noted on turns, latest first."""
    found = access.campaign(campaign)
    page = Paginator(live(found), ROWS).get_page(request.GET.get("page"))
    turn_numbers.number(note.turn for note in page)
    names = of_people({note.user_id for note in page}, found.corpus_id)
    context = {"campaign": found, "page": page, "names": names, "query": "", "active_room": "campaigns"}
    return render(request, "campaigns/notes.html", context)


@require_GET
@campaign_researcher_only
def campaign_notes_file(request: HttpRequest, campaign: int, form: str) -> HttpResponse:
    """Researchers: the same as a file, CSV or JSONL."""
    if form not in files.MEDIA:
        raise Http404
    found = access.campaign(campaign)
    answer = HttpResponse("".join(files.written(found, form)), content_type=files.MEDIA[form])
    name = slugify(found.name) or f"campaign-{found.pk}"
    answer["Content-Disposition"] = f'attachment; filename="{name}-notes.{form}"'
    return answer
