"""Downloads of labels over HTTP. For researchers; of a campaign also for who looks after it."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as annotation_access
from annotation.access import IsResearcherSomewhere
from annotation.corpora import splits
from annotation.models import Campaign
from annotation.models.corpora import Corpus
from annotation.work import labels as pseudonyms
from calibration import access
from calibration.access import must_manage, visible_to, within_campaign
from calibration.api.serializers import (
    ExportSerializer,
    LabelExportSerializer,
    LabelOrNoteExportSerializer,
    PackageExportSerializer,
    TranscriptExportSerializer,
)
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.exports.downloads import TRANSCRIPTS, ZIP, Order
from calibration.exports.labels import Download
from calibration.exports.packages import PACKAGES
from calibration.exports.parts import PARTS, ExportPart, take
from calibration.exports.transcripts import FORMS
from calibration.exports.writing import FORMATS
from calibration.models import Export, Gold
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.lists import Filters, Pages, numbered, paged, since, with_name
from config.openapi import files
from jobs.models import Job

PART = OpenApiParameter("part", str, enum=["", *PARTS])
PLACE = [OpenApiParameter("corpus", int), OpenApiParameter("campaign", int), PART]
NOTES = OpenApiParameter("notes", bool, description="notes instead of labels; false unless told")
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMATS))
FILE = files(media_type for _, media_type in FORMATS.values())
DOWNLOAD = FILE | {(202, "application/json"): OpenApiTypes.OBJECT}


EXPORTS = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@extend_schema(parameters=EXPORTS.parameters, responses=ExportSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsResearcherSomewhere])
def exports(request: Request) -> Response:
    """List completed downloads with their hashes, newest first."""
    pager = Pages()
    rows = visible_to(request.user, Export.objects.all())
    page = pager.paginate_queryset(EXPORTS.of(request, rows), request) or []
    return pager.get_paginated_response(ExportSerializer(page, many=True).data)


class NamesOf(serializers.Serializer[Any]):
    """The corpus whose pseudonyms are to be told."""

    corpus = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class PersonBehind(serializers.Serializer[Any]):
    """Who is behind a pseudonym."""

    pseudonym = serializers.CharField()
    username = serializers.CharField()


@extend_schema(request=NamesOf, responses=PersonBehind(many=True))
@api_view(["POST"])
def names(request: Request) -> Response:
    """Tell who is behind the pseudonyms of a corpus, for who asks for it expressly. Logged."""
    serializer = NamesOf(data=request.data)
    serializer.is_valid(raise_exception=True)
    corpus = annotation_access.corpus(serializer.validated_data["corpus"])
    return Response(pseudonyms.reveal(by=cast(User, request.user), corpus=corpus))


@extend_schema(methods=["GET"], parameters=[*PLACE, NOTES, FORM], responses=DOWNLOAD)
@extend_schema(methods=["POST"], parameters=[FORM], request=LabelOrNoteExportSerializer, responses=DOWNLOAD)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def labels(request: Request, form: str) -> Response | StreamingHttpResponse:
    """Stream the labels of a corpus or campaign as csv, jsonl or parquet.

    With `notes` it is what annotators noted beside them: comments and flags on turns and on whole tasks.
    Of a corpus that is split GET gives dev. POST takes a part and, for test or all, its purpose: that is
    logged as a look at test. Many labels are written by a job: 202 with its id; once it is done, the file is
    at `exports/files/<id>/` for a week.
    """
    if form not in FORMATS:
        raise Http404
    values = request.query_params.dict() if request.method == "GET" else request.data
    serializer = LabelOrNoteExportSerializer(data=values)
    serializer.is_valid(raise_exception=True)
    corpus, campaign = serializer.validated_data["corpus"], serializer.validated_data.get("campaign")
    must_manage(request.user, campaign)
    export_part, notes = (
        taken_by(request, corpus, campaign, serializer.validated_data),
        serializer.validated_data["notes"],
    )
    user: Any = request.user
    return response_of(
        downloads.labels_or_job(
            corpus=corpus, campaign=campaign, export_part=export_part, form=form, notes=notes, by=user
        )
    )


def response_of(download: Download | Job, name: str = "") -> Response | StreamingHttpResponse:
    """Return a file, or 202 and the id of the job that writes it."""
    if isinstance(download, Job):
        return Response({"job": download.pk}, status=status.HTTP_202_ACCEPTED)
    return download.response(name)


QUESTION = OpenApiParameter("question", str, many=True, description="`scheme@version/key`; all if left out")
KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(PACKAGES))
ZIPPED_FILE = files(["application/zip"])
ZIPPED = ZIPPED_FILE | {(202, "application/json"): OpenApiTypes.OBJECT}


@extend_schema(methods=["GET"], parameters=[*PLACE, QUESTION, KIND], responses=ZIPPED)
@extend_schema(methods=["POST"], parameters=[KIND], request=PackageExportSerializer, responses=ZIPPED)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def package(request: Request, kind: str) -> Response | StreamingHttpResponse:
    """Send labels in the form of another tool, as a zip with a manifest of its files.

    `label-studio` (tasks and labelling configuration), `hugging-face` (Parquet and a dataset card),
    `alt-test` (dictionaries of the alternative annotator test; `question` narrows it). Parts and jobs are as
    for labels.
    """
    if kind not in PACKAGES:
        raise Http404
    data = _export_data(request, PackageExportSerializer, "question")
    export_part = taken_by(request, data["corpus"], data.get("campaign"), data)
    choice = {"questions": sorted(set(data["question"]))} if data["question"] else {}
    return _ordered(
        request, Order(kind, data["corpus"], data.get("campaign"), export_part, ZIP, choice=choice)
    )


CONTINUATION = OpenApiParameter(
    "continuation", int, many=True, description="ids of continuations; all that were tagged if left out"
)
RATER = OpenApiParameter("rater", str, many=True, description="whose tags; people's if left out")
TRANSCRIPT = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMS))
WRITTEN_FILE = files(media for *_, media in FORMS.values())
TRANSCRIPT_RESPONSES = WRITTEN_FILE | {(202, "application/json"): OpenApiTypes.OBJECT}


@extend_schema(
    methods=["GET"], parameters=[*PLACE, CONTINUATION, RATER, TRANSCRIPT], responses=TRANSCRIPT_RESPONSES
)
@extend_schema(
    methods=["POST"],
    parameters=[TRANSCRIPT],
    request=TranscriptExportSerializer,
    responses=TRANSCRIPT_RESPONSES,
)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def transcripts(request: Request, form: str) -> Response | StreamingHttpResponse:
    """Send transcripts with the tags of chosen raters, as csv, md, tex or html; `Concord-Rows` counts turns.

    Continuations of the test part are sent by POST with part and purpose, as labels are.
    """
    if form not in FORMS:
        raise Http404
    data = _export_data(request, TranscriptExportSerializer, "continuation", "rater")
    within_campaign(request.user, data.get("campaign"), data["continuation"])
    export_part = taken_by(request, data["corpus"], data.get("campaign"), data)
    choice = {
        "continuations": list(dict.fromkeys(data["continuation"])),
        "raters": sorted(set(data["rater"])),
    }
    return _ordered(
        request, Order(TRANSCRIPTS, data["corpus"], data.get("campaign"), export_part, form, choice=choice)
    )


def _export_data(request: Request, kind: type[LabelExportSerializer], *lists: str) -> dict[str, Any]:
    """Return what a request asks for; in an address a list is a name that comes several times."""
    data: Any = request.data
    if request.method == "GET":
        query = request.query_params
        data = query.dict() | {name: query.getlist(name) for name in lists if name in query}
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    must_manage(request.user, validated.get("campaign"))
    return validated


def _ordered(request: Request, order: Order) -> Response | StreamingHttpResponse:
    user: Any = request.user
    try:
        return response_of(downloads.order_or_job(order=order, by=user), order.name)
    except CalibrationError as refused:
        raise ValidationError({"detail": f"{refused}."}) from refused


@extend_schema(responses=FILE | ZIPPED_FILE | WRITTEN_FILE)
@api_view(["GET"])
@permission_classes([IsResearcherSomewhere])
def written_file(request: Request, pk: int) -> StreamingHttpResponse:
    """Return the file that an export job wrote, to the account that asked for it; it is kept for a week."""
    user: Any = request.user
    job = access.export_job_of(pk, user)
    must_manage(user, job.params["campaign"])
    download = downloads.download(job)
    if download is None:
        raise NotFound("This file is not there any more, or not yet: look at the job, or ask for it again.")
    return download.response(downloads.name_of(job))


def taken_by(
    request: Request, corpus: Corpus, about: Campaign | Gold | None, data: dict[str, Any]
) -> ExportPart:
    """Return what a request takes out; test needs POST, because it changes what is logged."""
    part, user = data["part"], cast(User, request.user)
    if part in ("test", "all") and request.method == "GET" and splits.lock_of(corpus):
        raise ValidationError({"part": ["Test is locked: use POST with a part and a purpose."]})
    try:
        return take(corpus=corpus, about=about, part=part, purpose=data["purpose"], by=user)
    except CalibrationError as refused:
        raise ValidationError({"part": [f"{refused}."]}) from refused
