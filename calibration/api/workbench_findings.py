"""What the workbench found, over HTTP: disagreements, marks, versions side by side, checks, adjudication."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Item, Question
from calibration import access
from calibration.api.workbench import person
from calibration.api.workbench_serializers import CheckSerializer, DifferencesSerializer, MarkSerializer
from calibration.errors import CalibrationError
from calibration.workbench import as_json, checks, exporting, marks
from calibration.workbench.differences import Difference, differences
from calibration.workbench.sheets import Judged, judged_on, sheets
from calibration.workbench.versions import side_by_side
from config.pagination import Pages, paged
from jobs.errors import JobError
from judges.models import Bench


@extend_schema(parameters=[DifferencesSerializer], responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
def bench_disagreements(request: Request, pk: int) -> Response:
    """List where a draft or judge and people disagree, largest share of the scale first."""
    bench = access.bench(pk)
    wanted = DifferencesSerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    asked = dict(wanted.validated_data)
    judged = _judged(bench, asked.pop("judged"))
    try:
        listed = differences(sheets(bench, [judged]), judged, **asked)
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None
    pager = Pages()
    rows: list[Difference] = pager.paginate_queryset(listed, request) or []
    standing = marks.standing(bench)
    return pager.get_paginated_response(
        [
            as_json.difference(one, judged)
            | {"mark": mark.verdict if (mark := standing.get(_place(one, judged))) else None}
            for one in rows
        ]
    )


def _place(one: Difference, judged: Judged) -> tuple[int, int, str]:
    return one.item, one.sheet.question.id, judged.key


def _judged(bench: Bench, key: str) -> Judged:
    found = [one for one in judged_on(bench) if key in ("", one.key)]
    if not found:
        raise NotFound(
            f"This bench has nobody {key!r} who was tried." if key else "Nobody was tried here yet."
        )
    return found[0]


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["POST"], request=MarkSerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["GET", "POST"])
def bench_marks(request: Request, pk: int) -> Response:
    """Return the marks that stand, and their numbers; POST says who is wrong (`withdrawn` takes it back)."""
    bench = access.bench(pk)
    if request.method == "GET":
        return Response({"counts": marks.counts(bench), "marks": exporting.listed(bench)})
    wanted = MarkSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data = wanted.validated_data
    try:
        made = marks.mark(
            by=person(request),
            bench=bench,
            judged=_judged(bench, data["judged"]),
            item=get_object_or_404(Item, pk=data["item"]),
            question=get_object_or_404(Question, pk=data["question"]),
            verdict=data["verdict"],
            note=data["note"],
        )
        sent = marks.send_to_adjudication(by=person(request), mark=made) if data["adjudicate"] else None
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(
        {"id": made.pk, "verdict": made.verdict, "adjudication": sent.pk if sent else None},
        status=status.HTTP_201_CREATED,
    )


@extend_schema(
    parameters=[
        OpenApiParameter("with", str, description="draft-3 or judge-17; the first tried if left out")
    ],
    responses=OpenApiTypes.OBJECT,
)
@api_view(["GET"])
def bench_versions(request: Request, pk: int) -> Response:
    """Put all versions and drafts of a bench side by side, each compared with a chosen one."""
    try:
        found = side_by_side(access.bench(pk), request.query_params.get("with", ""))
    except CalibrationError as error:
        raise ValidationError({"with": [str(error)]}) from None
    return Response(as_json.side_by_side(found))


@extend_schema(
    methods=["GET"],
    parameters=[
        OpenApiParameter("draft", int, required=True, description="a draft's number"),
        OpenApiParameter("own", str, many=True, description="systems of the judge's own family"),
    ],
    responses=OpenApiTypes.OBJECT,
)
@extend_schema(methods=["POST"], request=CheckSerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["GET", "POST"])
def bench_checks(request: Request, pk: int) -> Response:
    """Return what checks of a draft found; POST asks what one needs, or says (`estimate`) what it takes."""
    bench = access.bench(pk)
    if request.method == "GET":
        number = request.query_params.get("draft", "")
        if not (number.isdecimal() and len(number) < 10):
            raise ValidationError({"draft": ["Give a draft's number."]})
        draft = access.draft(bench, int(number))
        own = request.query_params.getlist("own")
        try:
            found = [checks.finding(draft, key, own=own) for key in checks.CHECKS]
        except CalibrationError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response({"findings": [as_json.finding(one) for one in found]})
    wanted = CheckSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data = wanted.validated_data
    draft = access.draft(bench, data["draft"])
    try:
        if data["estimate"]:
            return Response({"estimate": checks.cost(draft, data["check_key"]).as_json()})
        made = checks.start(by=person(request), draft=draft, key=data["check_key"])
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response({"drafts": [one.number for one in made]}, status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
def adjudication(request: Request) -> Response:
    """List what waits for adjudication, latest first."""
    pager = Pages()
    rows = pager.paginate_queryset(marks.waiting(), request) or []
    return pager.get_paginated_response(as_json.waiting(rows))


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
def withdraw_adjudication(request: Request, pk: int) -> Response:
    """Take an item off the list."""
    row = marks.withdraw(by=person(request), row=access.for_adjudication(pk))
    return Response({"id": row.pk, "withdrawn_at": row.withdrawn_at})
