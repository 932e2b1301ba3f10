"""The page on which a researcher chooses the corpus or campaign that something new is about."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Campaign, Corpus


def choose(
    request: HttpRequest, *, title: str, lead: str, back: tuple[str, str], room: str, campaigns: bool = True
) -> HttpResponse:
    """Show every corpus, and every campaign where one may be chosen; each leads back here with its number.

    `back` is the address name and the text of the page that led here. For researchers; the caller says so.
    """
    listed = Campaign.objects.filter(archived_at=None).select_related("corpus", "scheme_version__scheme")
    context = {
        "title": title,
        "lead": lead,
        "back": back,
        "corpora": Corpus.objects.annotate(count=Count("dialogues")).order_by("name"),
        "campaigns": listed.order_by("name") if campaigns else (),
        "active_room": room,
    }
    return render(request, "corpora/choose.html", context)
