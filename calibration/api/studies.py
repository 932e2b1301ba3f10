"""Studies and reports over HTTP.

For researchers; those of a campaign also for who looks after it. Test is opened by researchers alone.
"""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as loading
from annotation.access import IsCampaignResearcher
from calibration import access
from calibration.api.serializers import (
    EveryoneSerializer,
    PartSerializer,
    PurposeSerializer,
    RecomputeSerializer,
    ReportJobSerializer,
    ReportSerializer,
    StudySerializer,
    study_out,
)
from calibration.errors import CalibrationError
from calibration.models import Report, Study
from calibration.permissions import IsStudyResearcher
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import is_readable
from calibration.studies import actions as verbs
from calibration.studies import job as jobs
from config.lists import Filters, Pages, holds, named, numbered, paged, since
from config.openapi import files
from jobs.models import Job

PART = OpenApiParameter("part", str, enum=["dev", "test", "all"])
EVERYONE = OpenApiParameter(
    "everyone", bool, description="whether who is left out of gold counts here, too; false unless told"
)
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(RENDERINGS))


STUDIES = Filters(
    {
        "corpus": named("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "text": holds("name"),
        "since": since("created_at"),
    },
    order=("id", "name", "created_at"),
)


@extend_schema(methods=["GET"], parameters=STUDIES.parameters, responses=StudySerializer(many=True))
@extend_schema(methods=["POST"], request=StudySerializer, responses={201: StudySerializer})
@paged
@api_view(["GET", "POST"])
def studies(request: Request) -> Response:
    """List studies, newest first, or make one."""
    if request.method == "GET":
        pager = Pages()
        rows = STUDIES.of(request, Study.objects.select_related("corpus", "campaign"))
        page = pager.paginate_queryset(rows, request) or []
        return pager.get_paginated_response([study_out(study) for study in page])
    given = StudySerializer(data=request.data)
    given.is_valid(raise_exception=True)
    data = given.validated_data
    try:
        made = verbs.create(
            name=data["name"],
            corpus=data["corpus"],
            campaign=data.get("campaign"),
            definition=data["definition"],
            by=_user(request),
        )
    except CalibrationError as error:
        raise ValidationError({"definition": [str(error)]}) from error
    return Response(study_out(made), status=status.HTTP_201_CREATED)


@extend_schema(responses=StudySerializer)
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def study(request: Request, pk: int) -> Response:
    """Return a study."""
    return Response(study_out(access.study(pk)))


@extend_schema(parameters=[PART], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def report(request: Request, pk: int) -> Response:
    """Return a study's newest report; of a small study it is of the labels of now.

    Of a large one it stays as it was when labels come, and says so (`labels_since`); `recompute` asks for a
    new one, whose job stands at `computing` meanwhile. Before the first is done: 202 with its progress.
    """
    return _report(request, access.study(pk))


@extend_schema(parameters=[PART, EVERYONE], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
def corpus_report(request: Request, pk: int) -> Response:
    """Return the automatic report of a corpus."""
    corpus, everyone = loading.corpus(pk), _everyone(request)
    return _report(request, verbs.automatic(corpus=corpus, everyone=everyone, by=_user(request)))


@extend_schema(parameters=[PART, EVERYONE], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_report(request: Request, campaign: int) -> Response:
    """Return the automatic report of a campaign."""
    found, everyone = loading.campaign(campaign), _everyone(request)
    study = verbs.automatic(corpus=found.corpus, campaign=found, everyone=everyone, by=_user(request))
    return _report(request, study)


@extend_schema(request=RecomputeSerializer, responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["POST"])
@permission_classes([IsStudyResearcher])
def recompute(request: Request, pk: int) -> Response:
    """Compute a study again on the labels of now. A look at test goes through open-test instead."""
    given = RecomputeSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.study(pk)
    part = given.validated_data.get("part") or _default(found)
    return _answer(_computed(request, found, part))


@extend_schema(request=PurposeSerializer, responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["POST"])
def open_test(request: Request, pk: int) -> Response:
    """Log a look at test with its purpose, and return the report on test."""
    given = PurposeSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.study(pk)
    try:
        verbs.open_test(study=found, by=_user(request), purpose=given.validated_data["purpose"])
    except CalibrationError as error:
        raise ValidationError({"purpose": [str(error)]}) from error
    return _answer(_computed(request, found, "test"))


@extend_schema(parameters=[PART, FORM], responses=files(r.media_type for r in RENDERINGS.values()))
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def report_file(request: Request, pk: int, form: str) -> HttpResponse:
    """Return the newest report as json, csv, md, latex or html."""
    found, rendering = access.study(pk), RENDERINGS.get(form)
    given = PartSerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    newest = verbs.latest(found, given.validated_data.get("part") or _default(found))
    if rendering is None or newest is None:
        raise Http404
    return HttpResponse(rendering.write(newest), content_type=rendering.media_type)


def _report(request: Request, found: Study) -> Response:
    given = PartSerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    part = given.validated_data.get("part") or _default(found)
    if part != "test":
        try:
            return _answer(jobs.current(study=found, part=part, by=_user(request)))
        except CalibrationError as error:
            raise ValidationError({"part": [str(error)]}) from error
    newest = verbs.latest(found, part)
    if newest is None:
        raise ValidationError(
            {"part": ["Test was not opened for this study: use open-test, with a purpose."]}
        )
    return _answer(newest)


def _everyone(request: Request) -> bool:
    given = EveryoneSerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    return bool(given.validated_data["everyone"])


def _default(found: Study) -> str:
    try:
        return verbs.default_part(found)
    except CalibrationError as error:
        raise ValidationError({"definition": [str(error)]}) from error


def _computed(request: Request, found: Study, part: str) -> Report | Job:
    newest = verbs.latest(found, part)
    if newest is not None and is_readable(newest) and part != "test" and not verbs.is_stale(newest):
        return newest
    try:
        return jobs.report_or_job(study=found, part=part, by=_user(request))
    except CalibrationError as error:
        raise ValidationError({"part": [str(error)]}) from error


def _answer(found: Report | Job) -> Response:
    if isinstance(found, Job):
        return Response(ReportJobSerializer(found).data, status=status.HTTP_202_ACCEPTED)
    return Response(ReportSerializer(found).data)


def _user(request: Request) -> Any:
    return request.user
