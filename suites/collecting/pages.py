"""Pages of collecting: the release check of a corpus (researchers only), and the routes of all."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from annotation import access
from calibration.pages.exports import answer
from config.permissions import researcher_only
from suites.collecting import chat_pages, persona_pages, release, writing_pages
from suites.collecting.schemes import ETHICS, REVIEWERS

PAGE_SIZE = 25


@require_GET
@researcher_only
def release_check(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: the state of every dialogue, with reviewers' reasons and possible personal data."""
    corpus = access.corpus_named(name)
    rows = release.release_reviews(corpus)
    counts = release.state_counts(rows)
    state = request.GET.get("state", "")
    state = state if state in counts else ""
    selected = [row for row in rows if release.state_of(row) == state] if state else rows
    page = Paginator(selected, PAGE_SIZE).get_page(request.GET.get("page"))
    exclude = str(release.RELEASE)
    context = {
        "corpus": corpus,
        "campaigns": release.release_campaigns(corpus),
        "counts": counts,
        "states": [(key, f"{release.TITLES[key]} ({n:,})") for key, n in counts.items() if n],
        "state": state,
        "page": page,
        "rows": release.checked_dialogues(corpus, list(page.object_list)),
        "new": f"{reverse('new-campaign')}?corpus={corpus.pk}&{urlencode({'scheme': ETHICS.key})}",
        "exports": f"{reverse('exports')}?corpus={corpus.pk}&{urlencode({'exclude': exclude})}",
        "exclude": exclude,
        "reviewers": REVIEWERS,
    }
    return render(request, "collecting/release.html", context)


@require_GET
@researcher_only
def release_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Researchers: the release check as CSV, a row for each dialogue; a large one is written by a worker."""
    state = request.GET.get("state", "")
    return answer(request, release.release_order(access.corpus_named(name), state.replace("\0", "")[:20]))


urlpatterns: list[URLPattern] = [
    *chat_pages.urlpatterns,
    *persona_pages.urlpatterns,
    *writing_pages.urlpatterns,
    path("corpora/<str:name>/release/", release_check, name="release-check"),
    path("corpora/<str:name>/release/file/", release_file, name="release-file"),
]
