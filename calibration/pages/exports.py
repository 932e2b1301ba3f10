"""Downloads of labels, and what was downloaded.

For researchers; of a campaign also for those who look after it.
"""

from __future__ import annotations

import csv
import json
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.corpora import splits
from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus
from annotation.pages.campaigns import choose
from annotation.text.table_cells import guarded
from annotation.work import labels as pseudonyms
from calibration import access
from calibration.errors import CalibrationError
from calibration.exports import job as export_job
from calibration.exports import labels as exports
from calibration.exports import notes as note_export
from calibration.exports import tuning
from calibration.exports.orders import ZIP, Order
from calibration.exports.packages import PACKAGES
from calibration.exports.parts import Taken, take
from calibration.exports.writing import FORMATS
from calibration.models import Export, Gold
from calibration.pages.asked import WHOSE, place_of
from calibration.permissions import (
    export_researcher_only,
    must_manage,
    must_manage_any,
    place_researcher_only,
)
from calibration.reading.scope import scope_of
from config.permissions import is_researcher, researcher_only
from jobs.models import Job


@require_GET
@place_researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """What can be downloaded of a corpus or campaign, and what was, with the hashes."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return choose(request, title="Exports", lead=WHOSE, back=("studies", "Studies"), room="studies")
    user: Any = request.user
    golds = Gold.objects.filter(corpus=corpus).select_related("scheme_version__scheme", "campaign")
    done = Export.objects.filter(corpus=corpus).select_related("created_by", "gold", "campaign")
    if campaign is not None:
        golds, done = golds.filter(campaign=campaign), done.filter(campaign=campaign)
    scope = scope_of(corpus, campaign)
    shown: dict[str, Any] = {
        "active_room": "studies",
        "corpus": corpus,
        "campaign": campaign,
        "n": scope.most(),
        "n_notes": note_export.most(scope),
        "is_most": scope.machine_counts().exists(),
        "split": splits.lock_of(corpus),
        "query": place_told(corpus.pk, campaign.pk if campaign else None),
        "packages": PACKAGES.values(),
        "tuning": tuning.offered(corpus) if campaign is None and is_researcher(user) else None,
        "golds": golds,
        "done": done[:20],
        "written": (written := list(_written(user, corpus, campaign)[:10])),
        "active": any(job.active for job in written),
    }
    return render(request, "calibration/exports.html", shown)


def _written(user: Any, corpus: Corpus, campaign: Campaign | None) -> QuerySet[Job]:
    """Return the files that somebody asked for; who only looks after a campaign sees those of that one."""
    found = export_job.of_person(user, corpus)
    return found if campaign is None or is_researcher(user) else found.filter(params__campaign=campaign.pk)


@require_http_methods(["GET", "POST"])
@place_researcher_only
def labels(request: HttpRequest, form: str) -> HttpResponse | StreamingHttpResponse:
    """The labels of a corpus or campaign as a ratings file, or with `notes` what was noted beside them.

    Test is taken out by POST alone.
    """
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMATS:
        raise Http404
    taken = taken_by(request, corpus, campaign)
    if taken is None:
        return redirect(f"{reverse('exports')}?{request.GET.urlencode()}")
    user: Any = request.user
    notes = request.GET.get("notes") == "1"
    found = export_job.labels_or_job(
        corpus=corpus, campaign=campaign, taken=taken, form=form, notes=notes, by=user
    )
    if isinstance(found, Job):
        return being_written(request, place_told(corpus.pk, campaign.pk if campaign else None))
    place = f"campaign-{campaign.pk}" if campaign else f"corpus-{corpus.pk}"
    return found.response(f"{'notes' if notes else 'labels'}-{place}")


@require_http_methods(["GET", "POST"])
@place_researcher_only
def package(request: HttpRequest, kind: str) -> HttpResponse | StreamingHttpResponse:
    """Labels in the form of another tool, as a zip; test is taken out by POST alone."""
    corpus, campaign = place_of(request)
    if corpus is None or kind not in PACKAGES:
        raise Http404
    taken = taken_by(request, corpus, campaign)
    if taken is None:
        return redirect(f"{reverse('exports')}?{request.GET.urlencode()}")
    return answer(request, Order(kind, corpus, campaign, taken, ZIP))


def answer(request: HttpRequest, order: Order) -> HttpResponse | StreamingHttpResponse:
    """Return the file of an order, or lead to the list where it will appear or the reason why it will not."""
    user: Any = request.user
    place = place_told(order.corpus.pk, order.campaign.pk if order.campaign else None)
    try:
        found = export_job.order_or_job(order=order, by=user)
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place}")
    return being_written(request, place) if isinstance(found, Job) else found.response(order.name)


def place_told(corpus: int, campaign: int | None) -> str:
    """Return the parameter of an address that names a campaign, or a corpus where there is none."""
    return f"campaign={campaign}" if campaign else f"corpus={corpus}"


def being_written(request: HttpRequest, query: str) -> HttpResponse:
    """Lead to the list in which a file appears that a worker writes."""
    messages.info(request, "The file is being written: it appears below, and is kept for you for a week.")
    return redirect(f"{reverse('exports')}?{query}")


@require_GET
def written_file(request: HttpRequest, pk: int) -> HttpResponse | StreamingHttpResponse:
    """A file that a worker wrote, for who asked for it alone, as long as they may have it."""
    user: Any = request.user
    must_manage_any(user)
    job = access.export_job_of(pk, user)
    place = job.params["corpus"], job.params["campaign"]
    must_manage(user, place[1])
    found = export_job.download(job)
    if found is None:
        messages.error(request, "This file is not there any more, or not yet: ask for it again.")
        return redirect(f"{reverse('exports')}?{place_told(*place)}")
    return found.response(export_job.name_of(job))


@require_POST
@never_cache
@researcher_only
def names(request: HttpRequest) -> HttpResponse:
    """Who is behind the pseudonyms of a corpus, as CSV, for who asks for it expressly. Logged."""
    corpus, _ = place_of(request)
    if corpus is None:
        raise Http404
    user: Any = request.user
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="names-corpus-{corpus.pk}.csv"'
    writer = csv.writer(response, lineterminator="\n")
    writer.writerow(("pseudonym", "username"))
    for row in pseudonyms.reveal(by=user, corpus=corpus):
        writer.writerow((row["pseudonym"], guarded(row["username"])))
    return response


@require_GET
@export_researcher_only
def manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """What a downloaded file must hold, as JSON: import checks a file against it."""
    export = access.export(pk)
    content = json.dumps(exports.manifest(export), indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="export-{pk}.manifest.json"'
    return response


def taken_by(request: HttpRequest, corpus: Corpus, about: Campaign | Gold | None) -> Taken | None:
    """Return what a download takes: dev or training by GET, what the form names by POST; None if refused."""
    user: Any = request.user
    asked = {name: request.POST.get(name, "").replace("\0", "")[:500] for name in ("part", "purpose")}
    if request.GET.get("part") == TRAINING:
        asked["part"] = TRAINING
    try:
        return take(corpus=corpus, about=about, by=user, **asked)
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return None
