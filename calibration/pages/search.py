"""Search over the names of corpora, campaigns, dialogues, prompts, schemes and pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.models import Campaign, Corpus, Dialogue, Scheme
from calibration.models import Study
from config.permissions import is_administrator, researcher_only
from judges.models import Prompt

MOST = 8
"""Results of each kind."""
Row = tuple[str, str, str]
"""Text, note, and address of a result."""
PAGES = (
    ("Import a file", "import-corpus"),
    ("New scheme", "new-scheme"),
    ("Prompts", "prompts"),
    ("Endpoints", "endpoints"),
    ("Names of judges and metrics", "raters"),
    ("Costs of judges", "run-costs"),
    ("Background jobs", "jobs"),
    ("Groups of people", "groups"),
    ("Your account and API tokens", "account"),
)
ADMINISTRATORS_PAGES = (
    ("People", "people"),
    ("Log of what was done", "audit-log"),
)


@require_GET
@researcher_only
def search(request: HttpRequest) -> HttpResponse:
    """Researchers: what has all words of `q` in its name, by kind."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:200]
    words = query.split()[:8]
    pages = PAGES + (ADMINISTRATORS_PAGES if is_administrator(request.user) else ())
    results = [(title, rows) for title, rows in _results(words, pages) if rows] if words else []
    return render(request, "search.html", {"query": query, "results": results})


def _results(words: list[str], pages: Iterable[tuple[str, str]]) -> list[tuple[str, list[Row]]]:
    corpora = _with_name(Corpus.objects.order_by("name"), "name", words)
    campaigns = _with_name(Campaign.objects.select_related("corpus").order_by("-pk"), "name", words)
    studies = _with_name(Study.objects.select_related("corpus").order_by("automatic", "-pk"), "name", words)
    dialogues = _with_name(Dialogue.objects.select_related("corpus").order_by("key"), "key", words)
    prompts = _with_name(Prompt.objects.order_by("name"), "name", words)
    schemes = _with_name(Scheme.objects.order_by("title"), "title", words)
    return [
        ("Corpora", [(row.name, row.source[:80], reverse("corpus", args=[row.name])) for row in corpora]),
        ("Campaigns", [(row.name, row.corpus.name, reverse("campaign", args=[row.pk])) for row in campaigns]),
        ("Studies", [(row.name, row.corpus.name, reverse("report", args=[row.pk])) for row in studies]),
        ("Dialogues", [(row.key, row.corpus.name, reverse("dialogue", args=[row.pk])) for row in dialogues]),
        ("Prompts", [(row.name, "", reverse("prompt", args=[row.name])) for row in prompts]),
        ("Schemes", [(row.title, "", reverse("scheme", args=[row.key])) for row in schemes]),
        ("Pages", [(text, "", reverse(name)) for text, name in pages if _has(text, words)]),
    ]


def _with_name(rows: QuerySet[Any], field: str, words: list[str]) -> list[Any]:
    condition = Q()
    for word in words:
        condition &= Q(**{f"{field}__icontains": word})
    return list(rows.filter(condition)[:MOST])


def _has(text: str, words: list[str]) -> bool:
    return all(word.casefold() in text.casefold() for word in words)
