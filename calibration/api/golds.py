"""Gold labels over HTTP. For researchers; those of a campaign also for who looks after it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import IsResearcherSomewhere
from annotation.models import SchemeVersion
from calibration import access
from calibration.access import IsGoldResearcher, must_manage, visible_to
from calibration.api.exports import DOWNLOAD, FORM, PART, response_of, taken_by
from calibration.api.serializers import (
    ExportPartSerializer,
    GoldPreviewSerializer,
    GoldRuleSerializer,
    GoldSerializer,
    NewGoldSerializer,
    rule_out,
)
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.exports.writing import FORMATS
from calibration.gold import export as gold_export
from calibration.gold.derivation import changes_of, default_rule_of, gold_or_job, preview_gold, reference
from calibration.gold.difference import STATUSES, Difference, as_json, difference, shared_questions
from calibration.gold.rules import RULES
from calibration.models import Gold
from calibration.ratings.scope import offered, scope_of
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.lists import Filters, Pages, numbered, paged, since, with_name
from jobs.models import Job

# Two golds side by side, over HTTP. For who may see both.

STATUS = OpenApiParameter("status", str, enum=list(STATUSES), description="which items: different by default")
QUESTION = OpenApiParameter("question", str, description="the key of a question that both answer")
PAGE = [OpenApiParameter("limit", int), OpenApiParameter("offset", int)]


@extend_schema(parameters=[STATUS, QUESTION, *PAGE], responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
@permission_classes([IsGoldResearcher])
def compared(request: Request, pk: int, other: int) -> Response:
    """Compare a gold with another one of the same corpus and questions; `results` are the items of a status.

    `questions` counts the items by status, and says which share changed, how far values are apart, and which
    value became which. Items of a test part that nobody has opened are left out; `locked` counts them.
    """
    status = request.query_params.get("status", "different")
    if status not in STATUSES:
        raise ValidationError({"status": [f"One of {', '.join(STATUSES)}."]})
    gold_difference = _difference(access.gold(pk), access.gold(other))
    key = request.query_params.get("question", "")
    question = next((row.question for row in gold_difference.questions if row.question.key == key), None)
    if key and question is None:
        keys = ", ".join(row.question.key for row in gold_difference.questions)
        raise ValidationError({"question": [f"Both answer {keys}."]})
    pager = Pages()
    page: Any = pager.paginate_queryset(gold_difference.rows(status, question), request) or []
    answer = pager.get_paginated_response([_row(row) for row in page])
    answer.data |= as_json(gold_difference)
    return answer


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return an item with both values, and why there is none."""
    sides = {
        name: row[f"{name}_number"] if row[f"{name}_text"] is None else row[f"{name}_text"]
        for name in ("first", "second")
    }
    names = ("item", "question", "status", "difference", "first_reason", "second_reason")
    return {name: row[name] for name in names} | sides


def _difference(first: Gold, second: Gold) -> Difference:
    try:
        return difference(first, second)
    except CalibrationError as error:
        raise ValidationError({"other": [f"{error}."]}) from error


@extend_schema(methods=["GET"], parameters=[PART, FORM], responses=DOWNLOAD)
@extend_schema(methods=["POST"], parameters=[FORM], request=ExportPartSerializer, responses=DOWNLOAD)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsGoldResearcher])
def compared_file(request: Request, pk: int, other: int, form: str) -> Response | StreamingHttpResponse:
    """Stream two golds side by side as csv, jsonl or parquet; test or all by POST with its purpose."""
    first, second = access.gold(pk), access.gold(other)
    if form not in FORMATS:
        raise Http404
    serializer = ExportPartSerializer(data=request.query_params if request.method == "GET" else request.data)
    serializer.is_valid(raise_exception=True)
    try:
        shared_questions(first, second)
    except CalibrationError as error:
        raise ValidationError({"other": [f"{error}."]}) from error
    export_part = taken_by(request, first.corpus, first, serializer.validated_data)
    user: Any = request.user
    download = downloads.difference_or_job(
        first=first, second=second, export_part=export_part, form=form, by=user
    )
    return response_of(download)


GOLD_RESPONSES = {201: GoldSerializer, 202: OpenApiTypes.OBJECT}


GOLDS = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "rule": with_name("rule", "rule"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@extend_schema(methods=["GET"], parameters=GOLDS.parameters, responses=GoldSerializer(many=True))
@extend_schema(methods=["POST"], request=NewGoldSerializer, responses=GOLD_RESPONSES)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def golds(request: Request) -> Response:
    """List gold derivations, newest first, or make one: 202 with the id of a job where that takes a while."""
    if request.method == "GET":
        pager = Pages()
        visible = visible_to(request.user, Gold.objects.select_related("scheme_version__scheme"))
        page = pager.paginate_queryset(GOLDS.of(request, visible), request) or []
        return pager.get_paginated_response(GoldSerializer(page, many=True).data)
    serializer = NewGoldSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    must_manage(request.user, serializer.validated_data.get("campaign"))
    gold_or_started = _make_gold(request, serializer.validated_data)
    if isinstance(gold_or_started, Job):
        return Response({"job": gold_or_started.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(GoldSerializer(gold_or_started).data, status=status.HTTP_201_CREATED)


def _make_gold(request: Request, data: dict[str, Any]) -> Gold | Job:
    user: Any = request.user
    choice = _choice(data)
    try:
        return gold_or_job(**choice, by=user)
    except CalibrationError as error:
        raise ValidationError({"rule": [str(error)]}) from error


def _choice(data: dict[str, Any]) -> dict[str, Any]:
    """Return what gold is chosen from and how; a rule that nobody named follows the questions' scales."""
    key, number = data["scheme"].rsplit("@", 1)
    version = (
        SchemeVersion.objects.filter(scheme__key=key, version=int(number[:9]))
        .select_related("scheme")
        .first()
    )
    if version is None:
        raise ValidationError({"scheme": [f"There is no scheme {data['scheme']}."]})
    corpus, campaign = data["corpus"], data.get("campaign")
    part = data["part"]
    counted = offered(scope_of(corpus, campaign, part))
    return {
        "corpus": corpus,
        "campaign": campaign,
        "part": part,
        "scheme_version": version,
        "rule": data.get("rule") or default_rule_of(counted, reference(version)),
        "options": data["options"],
        "raters": data["raters"],
    }


@extend_schema(request=NewGoldSerializer, responses=GoldPreviewSerializer)
@api_view(["POST"])
@permission_classes([IsResearcherSomewhere])
def preview(request: Request) -> Response:
    """Count the items that would have a value, and those that would stay without one; nothing is kept."""
    serializer = NewGoldSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    must_manage(request.user, serializer.validated_data.get("campaign"))
    choice = _choice(serializer.validated_data)
    try:
        counted = preview_gold(**choice)
    except CalibrationError as error:
        raise ValidationError({"rule": [str(error)]}) from error
    return Response(GoldPreviewSerializer({"rule": choice["rule"], **asdict(counted)}).data)


@extend_schema(responses=GoldRuleSerializer(many=True))
@api_view(["GET"])
@permission_classes([IsResearcherSomewhere])
def rules(request: Request) -> Response:
    """List the rules by which gold can be chosen, with their options."""
    return Response(GoldRuleSerializer([rule_out(rule) for rule in RULES.values()], many=True).data)


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([IsGoldResearcher])
def gold(request: Request, pk: int) -> Response:
    """Return how a derivation came about, and how many labels came or changed since (`changes`)."""
    derivation = access.gold(pk)
    return Response(gold_export.provenance(derivation) | {"changes": asdict(changes_of(derivation))})


@extend_schema(methods=["GET"], parameters=[PART, FORM], responses=DOWNLOAD)
@extend_schema(methods=["POST"], parameters=[FORM], request=ExportPartSerializer, responses=DOWNLOAD)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsGoldResearcher])
def labels(request: Request, pk: int, form: str) -> Response | StreamingHttpResponse:
    """Stream a derivation's labels as csv, jsonl or parquet; test or all by POST with its purpose."""
    derivation = access.gold(pk)
    if form not in FORMATS:
        raise Http404
    serializer = ExportPartSerializer(data=request.query_params if request.method == "GET" else request.data)
    serializer.is_valid(raise_exception=True)
    export_part = taken_by(request, derivation.corpus, derivation, serializer.validated_data)
    user: Any = request.user
    download = downloads.gold_or_job(gold=derivation, export_part=export_part, form=form, by=user)
    return response_of(download)
