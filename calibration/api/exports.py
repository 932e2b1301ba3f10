"""API of label downloads, for researchers; of a campaign also for its managers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as annotation_access
from annotation.access import IsResearcherSomewhere
from annotation.api.corpora_serializers import exclude_field
from annotation.corpora import splits
from annotation.models import Campaign
from annotation.models.corpora import Corpus
from annotation.work import labels as pseudonyms
from calibration import access
from calibration.access import must_manage, visible_to, within_campaign
from calibration.api.serializers import (
    ExportSerializer,
    LabelOrNoteExportSerializer,
    PackageExportSerializer,
    TranscriptExportSerializer,
)
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.exports.downloads import LABELS, LONG, NOTES, SHAPES, TRANSCRIPTS, ZIP, Order
from calibration.exports.labels import Download
from calibration.exports.packages import PACKAGES
from calibration.exports.parts import PARTS, ExportPart, check_exclusion, take
from calibration.exports.transcripts import FORMS
from calibration.exports.writing import FORMATS
from calibration.models import Export, Gold
from config import api
from config.idempotency import FILE as AS_FILE
from config.lists import Filters, numbered, since, with_name
from config.openapi import files
from jobs.api import accepted
from jobs.models import Job

PART = OpenApiParameter("part", str, enum=["", *PARTS])
EXCLUDE = OpenApiParameter("exclude", str, description="leave out dialogues by an answer: `objection>=1`")
PLACE = [OpenApiParameter("corpus", int), OpenApiParameter("campaign", int), PART, EXCLUDE]
WITH_NOTES = OpenApiParameter("notes", bool, description="notes instead of labels; false by default")
SHAPE = OpenApiParameter("shape", str, enum=list(SHAPES), description="long by default")
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMATS))
FILE = files(form.media for form in FORMATS.values())
ZIPPED_FILE = files(["application/zip"])
TRANSCRIPT_FILE = files(media for *_, media in FORMS.values())


def download(
    takes: type[serializers.Serializer[Any]],
    *,
    query: Sequence[Any],
    path: OpenApiParameter | None = None,
    file: Mapping[Any, Any] = FILE,
    permission: api.Permission = IsResearcherSomewhere,
) -> Callable[[api.Handler], tuple[api.Operation, api.Operation]]:
    """Decorate a function that sends a file: dev by GET, any part with a purpose by POST.

    A file that takes long is written by a job: 202 with the job's id.
    """
    shared: dict[str, Any] = {
        "takes": takes,
        "responses": {**file, (202, "application/json"): OpenApiTypes.OBJECT},
        "permission": permission,
        "without_keys": AS_FILE,
    }
    in_path = [path] if path else []

    def decorate(handler: api.Handler) -> tuple[api.Operation, api.Operation]:
        read = api.get(query=[*query, *in_path], **shared)(handler)
        return read, api.post(query=in_path, **shared)(handler)

    return decorate


@contextmanager
def refused_as(field: str, end: str = ".") -> Iterator[None]:
    """Turn a refusal into a validation error of a field."""
    try:
        yield
    except CalibrationError as error:
        raise ValidationError({field: [f"{error}{end}"]}) from error


EXPORTS = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@api.listing(ExportSerializer, filters=EXPORTS, permission=IsResearcherSomewhere)
def exports(request: Request) -> QuerySet[Export]:
    """List completed downloads with their hashes, newest first."""
    return visible_to(request.user, Export.objects.all())


class NamesOf(serializers.Serializer[Any]):
    """The corpus whose pseudonyms are to be resolved."""

    corpus = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class PersonBehind(serializers.Serializer[Any]):
    """A pseudonym and its user."""

    pseudonym = serializers.CharField()
    username = serializers.CharField()


@api.post(NamesOf, PersonBehind, many=True)
def names(request: Request) -> list[dict[str, str]]:
    """Resolve the pseudonyms of a corpus to usernames, on explicit request only. Logged."""
    corpus = annotation_access.corpus(api.data(request)["corpus"])
    return pseudonyms.reveal(by=api.user(request), corpus=corpus)


@download(LabelOrNoteExportSerializer, query=[*PLACE, WITH_NOTES, SHAPE], path=FORM)
def labels(request: Request, form: str) -> HttpResponseBase:
    """Stream the labels of a corpus or campaign as csv, csv-excel, xlsx, jsonl or parquet.

    `shape` is `long` (a row for each label) or `wide` (a row for each item and question, a column for each
    rater). With `notes`, stream the annotators' notes instead: comments and flags on turns and on tasks.
    For a split corpus GET returns dev. POST takes a part and, for test or all, a purpose, and logs a look at
    test. Many labels are written by a job: 202 with the job's id; once it is done, the file is at
    `exports/files/<id>/` for a week.
    """
    if form not in FORMATS:
        raise Http404
    data = api.data(request)
    must_manage(request.user, data.get("campaign"))
    if data["notes"]:
        return _ordered(request, data, NOTES, form, {})
    return _ordered(request, data, LABELS, form, {} if data["shape"] == LONG else {"shape": data["shape"]})


def response_of(download: Download | Job, name: str = "") -> Response | StreamingHttpResponse:
    """Return the file, or 202 with the id of the job that writes it."""
    return accepted(download) if isinstance(download, Job) else download.response(name)


QUESTION = OpenApiParameter("question", str, many=True, description="`scheme@version/key`; all if left out")
KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(PACKAGES))


@download(PackageExportSerializer, query=[*PLACE, QUESTION], path=KIND, file=ZIPPED_FILE)
def package(request: Request, kind: str) -> HttpResponseBase:
    """Send labels in another tool's format, as a zip with a manifest of its files.

    `label-studio` (tasks and labelling configuration), `hugging-face` (Parquet and a dataset card),
    `alt-test` (dictionaries of the alternative annotator test, optionally of one `question`). Parts and jobs
    work as for labels.
    """
    if kind not in PACKAGES:
        raise Http404
    data = api.data(request)
    must_manage(request.user, data.get("campaign"))
    choice = {"questions": sorted(set(data["question"]))} if data["question"] else {}
    return _ordered(request, data, kind, ZIP, choice)


CONTINUATION = OpenApiParameter(
    "continuation", int, many=True, description="ids of continuations; all that were tagged if left out"
)
RATER = OpenApiParameter("rater", str, many=True, description="whose tags; people's if left out")
TRANSCRIPT = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMS))


@download(
    TranscriptExportSerializer, query=[*PLACE, CONTINUATION, RATER], path=TRANSCRIPT, file=TRANSCRIPT_FILE
)
def transcripts(request: Request, form: str) -> HttpResponseBase:
    """Send transcripts with tags of selected raters, as csv, md, tex or html; `Concord-Rows` counts turns.

    Continuations of the test part need POST with part and purpose, as labels do.
    """
    if form not in FORMS:
        raise Http404
    data = api.data(request)
    must_manage(request.user, data.get("campaign"))
    within_campaign(request.user, data.get("campaign"), data["continuation"])
    continuations = list(dict.fromkeys(data["continuation"]))
    choice = {"continuations": continuations, "raters": sorted(set(data["rater"]))}
    return _ordered(request, data, TRANSCRIPTS, form, choice)


class DialoguesQuerySerializer(api.QuerySerializer):
    """The corpus of a file of dialogues."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all())
    exclude = exclude_field()


@api.get(
    takes=DialoguesQuerySerializer,
    responses={
        (200, "application/x-ndjson"): OpenApiTypes.STR,
        (202, "application/json"): OpenApiTypes.OBJECT,
    },
)
def dialogues(request: Request) -> HttpResponseBase:
    """Send the dialogues of a corpus in the native format, one a line, with everything written for them.

    An import reads them back as the same. Many are written by a job: 202 with the job's id.
    """
    data = api.data(request)
    with refused_as("exclude"):
        order = downloads.dialogues_of(data["corpus"], data["exclude"])
    return response_of(downloads.order_or_job(order=order, by=api.user(request)), order.name)


def _ordered(
    request: Request, data: api.Data, contents: str, form: str, choice: Mapping[str, Any]
) -> HttpResponseBase:
    corpus, campaign = data["corpus"], data.get("campaign")
    export_part = taken_by(request, corpus, campaign, data)
    order = Order(contents, corpus, campaign, export_part, form, choice=choice)
    with refused_as("detail"):
        return response_of(downloads.order_or_job(order=order, by=api.user(request)), order.name)


@api.get(responses=FILE | ZIPPED_FILE | TRANSCRIPT_FILE, permission=IsResearcherSomewhere)
def written_file(request: Request, pk: int) -> HttpResponseBase:
    """Return the file of an export job to the account that requested it; files are kept for a week."""
    job = access.export_job_of(pk, api.user(request))
    must_manage(request.user, job.params["campaign"])
    download = downloads.download(job)
    if download is None:
        raise NotFound("This file has expired or is not ready: look at the job, or request it again.")
    return download.response(downloads.name_of(job))


def taken_by(request: Request, corpus: Corpus, about: Campaign | Gold | None, data: api.Data) -> ExportPart:
    """Return the part that a request exports; test needs POST, because the look is logged."""
    part = data["part"]
    if part in ("test", "all") and request.method == "GET" and splits.lock_of(corpus):
        raise ValidationError({"part": ["Test is locked: use POST with a part and a purpose."]})
    with refused_as("exclude"):
        check_exclusion(corpus, data["exclude"])
    with refused_as("part"):
        return take(
            corpus=corpus,
            about=about,
            part=part,
            purpose=data["purpose"],
            exclude=data["exclude"],
            by=api.user(request),
        )
