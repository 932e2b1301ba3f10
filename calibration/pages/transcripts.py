"""Transcripts with the tags of chosen raters: choosing, and the files.

For researchers; of a campaign also for those who look after it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.corpora import splits
from annotation.models import Campaign, Continuation, Corpus
from annotation.pages.campaigns import choose
from calibration.errors import CalibrationError
from calibration.exports import tuning
from calibration.exports.orders import SFT, TRANSCRIPTS, Order
from calibration.exports.parts import Taken, taken_by_default
from calibration.exports.transcripts.collecting import of_part, raters_of
from calibration.exports.transcripts.forms import FORMS
from calibration.pages.asked import WHOSE, place_of
from calibration.pages.exports import answer, place_told, taken_by
from calibration.permissions import place_researcher_only, within_campaign
from calibration.reading.census import census
from calibration.reading.scope import scope_of
from config.files import row_id
from config.permissions import researcher_only
from systems.generators.cocoeval_continuation import CocoevalContinuation

# Examples for fine-tuning, as a download. For researchers.


@require_http_methods(["GET", "POST"])
@researcher_only
def sft_file(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The examples of a corpus; of a split test is taken out by POST alone."""
    corpus, campaign = place_of(request)
    if corpus is None or campaign is not None:
        raise Http404
    user: Any = request.user
    told = request.POST if request.method == "POST" else request.GET
    names = [setting.name for setting in CocoevalContinuation.settings]
    given = {name: told[name][:100] for name in names if told.get(name)}
    purpose = request.POST.get("purpose", "").replace("\0", "")[:500]
    try:
        settings = tuning.settings_of(given)
        taken, part = tuning.taken_for(
            corpus=corpus, part=told.get("part", "")[:20], purpose=purpose, by=user
        )
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place_told(corpus.pk, None)}")
    return answer(request, Order(SFT, corpus, None, taken, "jsonl", choice={"part": part, **settings}))


MOST_CHOSEN = 500
"""Continuations that one request may name."""
MOST_LISTED = 30


@require_GET
@place_researcher_only
def choose_transcripts(request: HttpRequest) -> HttpResponse:
    """Whose tags, of which continuations, in which form."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(request, title="Transcripts", lead=WHOSE, back=("exports", "Exports"), room="studies")
    scope = scope_of(corpus, campaign)
    chosen = _chosen(request)
    found = Continuation.objects.filter(pk__in=chosen, dialogue__corpus=corpus)
    if chosen and found.count() < len(set(chosen)):
        raise Http404
    within_campaign(request.user, campaign, chosen)
    raters = raters_of(census(scope))
    shown: dict[str, Any] = {
        "active_room": "studies",
        "corpus": corpus,
        "campaign": campaign,
        "chosen": found.select_related("dialogue", "system").order_by("dialogue__key", "key")[:MOST_LISTED],
        "continuations": chosen,
        "more": max(0, len(chosen) - MOST_LISTED),
        "n": len(chosen) or len(of_part(scope, taken_by_default(corpus, training=scope.training))),
        "raters": raters,
        "has_people": any(rater.kind == "human" for rater in raters),
        "forms": [(form, title) for form, (title, *_) in FORMS.items()],
        "split": splits.lock_of(corpus),
        "query": f"campaign={campaign.pk}" if campaign else f"corpus={corpus.pk}",
    }
    return render(request, "calibration/transcripts.html", shown)


@require_http_methods(["GET", "POST"])
@place_researcher_only
def transcripts_file(request: HttpRequest, form: str) -> HttpResponse | StreamingHttpResponse:
    """The transcripts; test is taken out by POST alone."""
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMS:
        raise Http404
    taken = taken_by(request, corpus, campaign)
    if taken is None:
        return redirect(f"{reverse('transcripts')}?{request.GET.urlencode()}")
    within_campaign(request.user, campaign, _chosen(request))
    return answer(request, order_of(request, corpus, campaign, taken, form))


def order_of(
    request: HttpRequest, corpus: Corpus, campaign: Campaign | None, taken: Taken, form: str
) -> Order:
    """Return what a request asks for: continuations and raters, by default all and the people."""
    raters = [name.replace("\0", "") for name in _values(request, "rater")]
    choice = {"continuations": _chosen(request), "raters": sorted(filter(None, raters))[:MOST_CHOSEN]}
    return Order(TRANSCRIPTS, corpus, campaign, taken, form, choice=choice)


def _chosen(request: HttpRequest) -> list[int]:
    """Return the continuations that a request names, each once; 404 for what is not an id."""
    ids = [row_id(text) for text in _values(request, "continuation")[:MOST_CHOSEN]]
    found = [pk for pk in ids if pk is not None]
    if len(found) < len(ids):
        raise Http404
    return list(dict.fromkeys(found))


def _values(request: HttpRequest, name: str) -> list[str]:
    return [*request.GET.getlist(name), *request.POST.getlist(name)]
