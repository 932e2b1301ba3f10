"""Downloads of labels, and the list of earlier downloads.

For researchers; for a campaign also those who manage it.
"""

from __future__ import annotations

import csv
import json
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.corpora import exclusion, splits
from annotation.corpora.splits import LONGEST_PURPOSE, TRAINING
from annotation.errors import ExclusionRefused
from annotation.models import Continuation
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.text.table_cells import guarded
from annotation.work import labels as pseudonyms
from calibration import access
from calibration.access import (
    export_researcher_only,
    must_manage,
    must_manage_any,
    place_of,
    place_researcher_only,
    within_campaign,
)
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.exports import labels as exports
from calibration.exports import notes as note_export
from calibration.exports.downloads import CONTENTS, LABELS, LONG, NOTES, SHAPES, TRANSCRIPTS, ZIP, Order
from calibration.exports.packages import PACKAGES
from calibration.exports.parts import ExportPart, take, taken_by_default
from calibration.exports.transcripts import FORMS, MOST_CHOSEN, of_part, raters_of
from calibration.exports.writing import FORMATS
from calibration.models import Export, Gold
from calibration.ratings.scope import census, scope_of
from config.files import row_id
from config.permissions import is_researcher, researcher_only
from jobs.models import Job


@require_GET
@place_researcher_only
def index(request: HttpRequest) -> HttpResponse:
    """Available downloads of a corpus or campaign, and earlier ones with their hashes."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    user: Any = request.user
    golds = Gold.objects.filter(corpus=corpus).select_related("scheme_version__scheme", "campaign")
    done = Export.objects.filter(corpus=corpus).select_related("created_by", "gold", "campaign")
    if campaign is not None:
        golds, done = golds.filter(campaign=campaign), done.filter(campaign=campaign)
    scope = scope_of(corpus, campaign)
    place = place_query(corpus.pk, campaign.pk if campaign else None)
    context: dict[str, Any] = {
        "corpus": corpus,
        "campaign": campaign,
        "place": ("campaign", campaign.pk) if campaign else ("corpus", corpus.pk),
        **left_out_context(request, corpus, training=scope.training),
        "n": scope.most(),
        "n_notes": note_export.most(scope),
        "is_most": scope.machine_counts().exists(),
        "split": splits.lock_of(corpus),
        "query": place + exclude_query(request),
        "packages": [
            (package.title, package.hint, reverse("export-package", args=[key]))
            for key, package in PACKAGES.items()
        ],
        "package_files": [
            (package.title, reverse("export-package", args=[key])) for key, package in PACKAGES.items()
        ],
        "test_parts": TEST_PARTS,
        "files": file_addresses("export-labels"),
        "offers": _offers(corpus) if campaign is None and is_researcher(user) else [],
        "golds": golds,
        "done": done[:20],
        "written": (jobs := list(_export_jobs(user, corpus, campaign)[:10])),
        "active": any(job.active for job in jobs),
    }
    return render(request, "calibration/exports.html", context)


TEST_PARTS = [("all", "Dev and test"), ("test", "Test alone")]
"""Parts to download that are a look at test."""


def file_addresses(name: str, *args: int) -> list[tuple[str, str]]:
    """Return the title and the address of a file in each form."""
    return [(form.title, reverse(name, args=[*args, key])) for key, form in FORMATS.items()]


def _offers(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the page's data on the kinds of files that suites add."""
    offers = ((content, content.offer(corpus)) for content in CONTENTS.values())
    return [offer | {"template": content.template} for content, offer in offers if offer is not None]


def _export_jobs(user: Any, corpus: Corpus, campaign: Campaign | None) -> QuerySet[Job]:
    """Return a user's export jobs; users who only manage a campaign see those of that campaign."""
    jobs = downloads.of_person(user, corpus)
    return jobs if campaign is None or is_researcher(user) else jobs.filter(params__campaign=campaign.pk)


@require_http_methods(["GET", "POST"])
@place_researcher_only
def labels(request: HttpRequest, form: str) -> HttpResponse | StreamingHttpResponse:
    """The labels of a corpus or campaign as a ratings file; with `notes`, comments and flags instead.

    With `shape=wide` each rater has a column. The test part is exported by POST only.
    """
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMATS:
        raise Http404
    export_part = taken_by(request, corpus, campaign)
    if export_part is None:
        return redirect(f"{reverse('exports')}?{request.GET.urlencode()}")
    shape = request.GET.get("shape", LONG)
    if shape not in SHAPES:
        raise Http404
    notes = request.GET.get("notes") == "1"
    choice = {} if notes or shape == LONG else {"shape": shape}
    contents = NOTES if notes else LABELS
    return answer(request, Order(contents, corpus, campaign, export_part, form, choice=choice))


@require_http_methods(["GET", "POST"])
@place_researcher_only
def package(request: HttpRequest, kind: str) -> HttpResponse | StreamingHttpResponse:
    """Labels in another tool's format, as a zip; the test part is exported by POST only."""
    corpus, campaign = place_of(request)
    if corpus is None or kind not in PACKAGES:
        raise Http404
    export_part = taken_by(request, corpus, campaign)
    if export_part is None:
        return redirect(f"{reverse('exports')}?{request.GET.urlencode()}")
    return answer(request, Order(kind, corpus, campaign, export_part, ZIP))


@require_GET
@researcher_only
def dialogues(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Researchers: the dialogues of a corpus in the native format, one a line."""
    corpus, _ = place_of(request)
    if corpus is None:
        raise Http404
    try:
        order = downloads.dialogues_of(corpus, exclude_of(request))
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place_query(corpus.pk, None)}")
    return answer(request, order)


def answer(request: HttpRequest, order: Order) -> HttpResponse | StreamingHttpResponse:
    """Return the file of an order, or redirect to the list that will show it or the reason for refusal."""
    user: Any = request.user
    place = place_query(order.corpus.pk, order.campaign.pk if order.campaign else None)
    try:
        download = downloads.order_or_job(order=order, by=user)
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place}")
    return being_written(request, place) if isinstance(download, Job) else download.response(order.name)


def place_query(corpus: int, campaign: int | None) -> str:
    """Return the query that names a campaign, or else a corpus."""
    return f"campaign={campaign}" if campaign else f"corpus={corpus}"


def being_written(request: HttpRequest, query: str) -> HttpResponse:
    """Redirect to the list in which the file will appear once a worker has written it."""
    messages.info(request, "The file is being written: it appears below, and is kept for you for a week.")
    return redirect(f"{reverse('exports')}?{query}")


@require_GET
def written_file(request: HttpRequest, pk: int) -> HttpResponse | StreamingHttpResponse:
    """A file written by a worker, only for the user who requested it, while they may have it."""
    user: Any = request.user
    must_manage_any(user)
    job = access.export_job_of(pk, user)
    place = job.params["corpus"], job.params["campaign"]
    must_manage(user, place[1])
    download = downloads.download(job)
    if download is None:
        messages.error(request, "This file has expired or is not ready: request it again.")
        return redirect(f"{reverse('exports')}?{place_query(*place)}")
    return download.response(downloads.name_of(job))


@require_POST
@never_cache
@researcher_only
def names(request: HttpRequest) -> HttpResponse:
    """The names behind the pseudonyms of a corpus, as CSV, on explicit request. Logged."""
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
    """Manifest of a downloaded file as JSON, against which an import checks the file."""
    export = access.export(pk)
    content = json.dumps(exports.manifest(export), indent=2, ensure_ascii=False) + "\n"
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="export-{pk}.manifest.json"'
    return response


def taken_by(request: HttpRequest, corpus: Corpus, about: Campaign | Gold | None) -> ExportPart | None:
    """Return the part to download: dev or training by GET, the form's part by POST; None if refused."""
    user: Any = request.user
    posted = {
        name: request.POST.get(name, "").replace("\0", "")[:LONGEST_PURPOSE] for name in ("part", "purpose")
    }
    if request.GET.get("part") == TRAINING:
        posted["part"] = TRAINING
    try:
        return take(corpus=corpus, about=about, by=user, exclude=exclude_of(request), **posted)
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return None


def exclude_of(request: HttpRequest) -> str:
    """Return the exclusion of dialogues in an address."""
    return request.GET.get("exclude", "").replace("\0", "").strip()


def exclude_query(request: HttpRequest) -> str:
    """Return the exclusion of an address as a further parameter of its files, '' for none."""
    exclude = exclude_of(request)
    return f"&{urlencode({'exclude': exclude})}" if exclude else ""


def left_out_context(request: HttpRequest, corpus: Corpus, *, training: bool = False) -> dict[str, Any]:
    """Return what a page shows of the exclusion in its address: what it leaves out, or why it is refused."""
    exclude, refusal, excluded = exclude_of(request), "", None
    try:
        exclusion.check(corpus, exclude)
        excluded = exclusion.described(corpus, exclude, training=training)
    except ExclusionRefused as error:
        refusal = str(error)
    context = {"exclude": exclude, "excluded": excluded, "exclude_refusal": refusal}
    return context | {"may_exclude": exclusion.is_possible(corpus), "exclude_hint": exclusion.HELP}


# Transcripts with the tags of selected raters: selection and files.
#
# For researchers; for a campaign also those who manage it.

MOST_LISTED = 30


@require_GET
@place_researcher_only
def choose_transcripts(request: HttpRequest) -> HttpResponse:
    """Form to choose the raters, continuations and format of transcripts."""
    corpus, campaign = place_of(request)
    if corpus is None:
        return redirect("corpora")
    scope = scope_of(corpus, campaign)
    selected = _selected_continuations(request)
    continuations = Continuation.objects.filter(pk__in=selected, dialogue__corpus=corpus)
    if selected and continuations.count() < len(set(selected)):
        raise Http404
    within_campaign(request.user, campaign, selected)
    raters = raters_of(census(scope))
    context: dict[str, Any] = {
        "corpus": corpus,
        "campaign": campaign,
        "chosen": continuations.select_related("dialogue", "system").order_by("dialogue__key", "key")[
            :MOST_LISTED
        ],
        "continuations": [("continuation", pk) for pk in selected],
        "parts": [("dev", "Dev"), *TEST_PARTS],
        "more": max(0, len(selected) - MOST_LISTED),
        "n": len(selected) or len(of_part(scope, taken_by_default(corpus, training=scope.training))),
        "raters": raters,
        "has_people": any(rater.kind == "human" for rater in raters),
        "forms": [(form, title) for form, (title, *_) in FORMS.items()],
        "split": splits.lock_of(corpus),
        "query": place_query(corpus.pk, campaign.pk if campaign else None) + exclude_query(request),
    }
    return render(request, "calibration/transcripts.html", context)


@require_http_methods(["GET", "POST"])
@place_researcher_only
def transcripts_file(request: HttpRequest, form: str) -> HttpResponse | StreamingHttpResponse:
    """Transcripts as a file; the test part is exported by POST only."""
    corpus, campaign = place_of(request)
    if corpus is None or form not in FORMS:
        raise Http404
    export_part = taken_by(request, corpus, campaign)
    if export_part is None:
        return redirect(f"{reverse('transcripts')}?{request.GET.urlencode()}")
    within_campaign(request.user, campaign, _selected_continuations(request))
    return answer(request, order_of(request, corpus, campaign, export_part, form))


def order_of(
    request: HttpRequest, corpus: Corpus, campaign: Campaign | None, export_part: ExportPart, form: str
) -> Order:
    """Return the order in a request: its continuations and raters, by default all and the people."""
    raters = [name.replace("\0", "") for name in _values(request, "rater")]
    choice = {
        "continuations": _selected_continuations(request),
        "raters": sorted(filter(None, raters))[:MOST_CHOSEN],
    }
    return Order(TRANSCRIPTS, corpus, campaign, export_part, form, choice=choice)


def _selected_continuations(request: HttpRequest) -> list[int]:
    """Return the continuations named in a request, without duplicates; 404 for an invalid id."""
    ids = [row_id(text) for text in _values(request, "continuation")[:MOST_CHOSEN]]
    valid = [pk for pk in ids if pk is not None]
    if len(valid) < len(ids):
        raise Http404
    return list(dict.fromkeys(valid))


def _values(request: HttpRequest, name: str) -> list[str]:
    return [*request.GET.getlist(name), *request.POST.getlist(name)]
