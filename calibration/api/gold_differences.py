"""Two golds side by side, over HTTP. For who may see both."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from calibration import access
from calibration.api.exports import DOWNLOAD, FORM, PART, response_of, taken_by
from calibration.api.serializers import ExportPartSerializer
from calibration.errors import CalibrationError
from calibration.exports import job as export_job
from calibration.exports.writing import FORMATS
from calibration.gold.difference import STATUSES, Difference, as_json, difference, shared_questions
from calibration.models import Gold
from calibration.permissions import IsGoldResearcher
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.lists import Pages, paged

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
    found = _difference(access.gold(pk), access.gold(other))
    key = request.query_params.get("question", "")
    asked = next((one.question for one in found.questions if one.question.key == key), None)
    if key and asked is None:
        keys = ", ".join(one.question.key for one in found.questions)
        raise ValidationError({"question": [f"Both answer {keys}."]})
    pager = Pages()
    page: Any = pager.paginate_queryset(found.rows(status, asked), request) or []
    answer = pager.get_paginated_response([_row(row) for row in page])
    answer.data |= as_json(found)
    return answer


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return an item with both values, and why there is none."""
    sides = {
        name: row[f"{name}_number"] if row[f"{name}_text"] is None else row[f"{name}_text"]
        for name in ("first", "second")
    }
    kept = ("item", "question", "status", "difference", "first_reason", "second_reason")
    return {name: row[name] for name in kept} | sides


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
    given = ExportPartSerializer(data=request.query_params if request.method == "GET" else request.data)
    given.is_valid(raise_exception=True)
    try:
        shared_questions(first, second)
    except CalibrationError as error:
        raise ValidationError({"other": [f"{error}."]}) from error
    taken = taken_by(request, first.corpus, first, given.validated_data)
    user: Any = request.user
    made = export_job.difference_or_job(first=first, second=second, taken=taken, form=form, by=user)
    return response_of(made)
