"""Downloads of labels, and what was downloaded. Researchers only."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.pages.choosing import choose
from calibration import exports
from calibration.copying import FORMATS
from calibration.models import Export, Gold
from calibration.pages.access import WHOSE, place_of
from calibration.scope import scope_of
from config.permissions import researcher_only


@require_GET
@researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """What can be downloaded of a corpus or campaign, and what was, with the hashes."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(request, title="Exports", lead=WHOSE, back=("studies", "Studies"), room="studies")
    golds = Gold.objects.filter(corpus=corpus).select_related("scheme_version__scheme", "campaign")
    done = Export.objects.filter(corpus=corpus).select_related("created_by", "gold", "campaign")
    if campaign is not None:
        golds, done = golds.filter(campaign=campaign), done.filter(campaign=campaign)
    shown: dict[str, Any] = {
        "active_room": "studies",
        "corpus": corpus,
        "campaign": campaign,
        "n": scope_of(corpus, campaign).labels().count(),
        "query": f"campaign={campaign.pk}" if campaign else f"corpus={corpus.pk}",
        "golds": golds,
        "done": done[:20],
    }
    return render(request, "calibration/exports.html", shown)


@require_GET
@researcher_only
def labels(request: HttpRequest, form: str) -> StreamingHttpResponse:
    """The labels of a corpus or campaign as a ratings file."""
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMATS:
        raise Http404
    user: Any = request.user
    selection = exports.labels(scope_of(corpus, campaign))
    download = exports.stream(selection=selection, form=form, corpus=corpus, campaign=campaign, by=user)
    return download.response(f"labels-campaign-{campaign.pk}" if campaign else f"labels-corpus-{corpus.pk}")


@require_GET
@researcher_only
def manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """What a downloaded file must hold, as JSON: import checks a file against it."""
    export = get_object_or_404(Export.objects.select_related("corpus", "campaign"), pk=pk)
    content = json.dumps(exports.manifest(export), indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="export-{pk}.manifest.json"'
    return response
