"""Downloads of labels, and what was downloaded. Researchers only."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
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
    """The labels of a corpus or campaign as a ratings file, streamed."""
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMATS:
        raise Http404
    user: Any = request.user
    selection = exports.labels(scope_of(corpus, campaign))
    blocks = exports.stream(selection=selection, form=form, corpus=corpus, campaign=campaign, by=user)
    response = StreamingHttpResponse(blocks, content_type=FORMATS[form][1])
    name = f"campaign-{campaign.pk}" if campaign else f"corpus-{corpus.pk}"
    response["Content-Disposition"] = f'attachment; filename="labels-{name}.{form}"'
    return response
