"""Examples for fine-tuning, as a download. For researchers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from calibration.access import place_of
from calibration.errors import CalibrationError
from calibration.exports.downloads import Order
from calibration.pages.exports import answer, place_told
from config.permissions import researcher_only
from suites.continuation import tuning
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.tuning import SFT


@require_http_methods(["GET", "POST"])
@researcher_only
def sft_file(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The examples of a corpus; of a split test is taken out by POST alone."""
    corpus, campaign = place_of(request)
    if corpus is None or campaign is not None:
        raise Http404
    user: Any = request.user
    params = request.POST if request.method == "POST" else request.GET
    names = [setting.name for setting in CocoevalContinuation.settings]
    values = {name: params[name][:100] for name in names if params.get(name)}
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    try:
        settings = tuning.settings_of(values)
        selection, part = tuning.taken_for(
            corpus=corpus, part=params.get("part", "")[:20], purpose=purpose, by=user
        )
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place_told(corpus.pk, None)}")
    return answer(request, Order(SFT, corpus, None, selection, "jsonl", choice={"part": part, **settings}))
