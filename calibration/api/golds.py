"""Gold labels over HTTP. For researchers; those of a campaign also for who looks after it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import IsResearcherSomewhere
from annotation.models import SchemeVersion
from calibration import access
from calibration.api.exports import DOWNLOAD, FORM, PART, response_of, taken_by
from calibration.api.gold_rules import GoldRuleSerializer, rule_out
from calibration.api.serializers import (
    ExportPartSerializer,
    GoldPreviewSerializer,
    GoldSerializer,
    NewGoldSerializer,
)
from calibration.errors import CalibrationError
from calibration.exports import job as export_job
from calibration.exports.writing import FORMATS
from calibration.gold import export as gold_export
from calibration.gold.job import gold_or_job, preview_gold
from calibration.gold.making import changes_of
from calibration.gold.reading import default_rule_of, reference
from calibration.gold.rules import RULES
from calibration.models import Gold
from calibration.permissions import IsGoldResearcher, must_manage, visible_to
from calibration.reading.census import offered
from calibration.reading.scope import scope_of
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.lists import Filters, Pages, named, numbered, paged, since
from jobs.models import Job

MADE = {201: GoldSerializer, 202: OpenApiTypes.OBJECT}


GOLDS = Filters(
    {
        "corpus": named("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "rule": named("rule", "rule"),
        "since": since("created_at"),
    },
    order=("id", "created_at"),
)


@extend_schema(methods=["GET"], parameters=GOLDS.parameters, responses=GoldSerializer(many=True))
@extend_schema(methods=["POST"], request=NewGoldSerializer, responses=MADE)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def golds(request: Request) -> Response:
    """List gold derivations, newest first, or make one: 202 with the id of a job where that takes a while."""
    if request.method == "GET":
        pager = Pages()
        found = visible_to(request.user, Gold.objects.select_related("scheme_version__scheme"))
        page = pager.paginate_queryset(GOLDS.of(request, found), request) or []
        return pager.get_paginated_response(GoldSerializer(page, many=True).data)
    given = NewGoldSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    must_manage(request.user, given.validated_data.get("campaign"))
    made = _made(request, given.validated_data)
    if isinstance(made, Job):
        return Response({"job": made.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(GoldSerializer(made).data, status=status.HTTP_201_CREATED)


def _made(request: Request, data: dict[str, Any]) -> Gold | Job:
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
    given = NewGoldSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    must_manage(request.user, given.validated_data.get("campaign"))
    choice = _choice(given.validated_data)
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
    found = access.gold(pk)
    return Response(gold_export.provenance(found) | {"changes": asdict(changes_of(found))})


@extend_schema(methods=["GET"], parameters=[PART, FORM], responses=DOWNLOAD)
@extend_schema(methods=["POST"], parameters=[FORM], request=ExportPartSerializer, responses=DOWNLOAD)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
@permission_classes([IsGoldResearcher])
def labels(request: Request, pk: int, form: str) -> Response | StreamingHttpResponse:
    """Stream a derivation's labels as csv, jsonl or parquet; test or all by POST with its purpose."""
    found = access.gold(pk)
    if form not in FORMATS:
        raise Http404
    given = ExportPartSerializer(data=request.query_params if request.method == "GET" else request.data)
    given.is_valid(raise_exception=True)
    taken = taken_by(request, found.corpus, found, given.validated_data)
    user: Any = request.user
    made = export_job.gold_or_job(gold=found, taken=taken, form=form, by=user)
    return response_of(made)
