"""The judge workbench over HTTP: benches and drafts. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from calibration import access
from calibration.api.workbench_serializers import KeepSerializer, NewBenchSerializer, TrySerializer
from calibration.errors import CalibrationError
from calibration.workbench import as_json
from config.pagination import Pages, paged
from jobs import runs
from jobs.errors import JobError
from judges.drafts import actions, benches, estimating, keeping
from judges.drafts.beginning import begun_from, options_of, parent_of, wording_from
from judges.drafts.worked_examples import picked
from judges.models import Bench, Draft
from judges.rating.lookup import endpoint_named, selection_of

VERBS = ("cancel", "retry", "keep", "discard")


def person(request: Request) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="benches_list")
@extend_schema(
    methods=["POST"],
    request=NewBenchSerializer,
    operation_id="benches_open",
    responses={201: OpenApiTypes.OBJECT},
)
@paged
@api_view(["GET", "POST"])
def bench_list(request: Request) -> Response:
    """List the benches, latest first; POST opens one on the dev part of a corpus or campaign."""
    if request.method == "GET":
        found: QuerySet[Bench] = Bench.objects.select_related("corpus", "campaign", "split")
        pager = Pages()
        rows = pager.paginate_queryset(found.order_by("-pk"), request) or []
        return pager.get_paginated_response([as_json.bench(row) for row in rows])
    wanted = NewBenchSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data = dict(wanted.validated_data)
    try:
        place = selection_of(corpus=data.pop("corpus"), campaign=data.pop("campaign"))
        made = benches.open_bench(by=person(request), corpus=place.corpus, campaign=place.campaign, **data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(as_json.bench(made), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="benches_read")
@api_view(["GET"])
def bench_one(request: Request, pk: int) -> Response:
    """Return a bench with its drafts in short."""
    return Response(as_json.bench(access.bench(pk)))


@extend_schema(request=TrySerializer, operation_id="drafts_try", responses={201: OpenApiTypes.OBJECT})
@api_view(["POST"])
def bench_try(request: Request, pk: int) -> Response:
    """Write a draft and try it on the bench's first targets; with `estimate` say only what that takes."""
    wanted = TrySerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    try:
        return _tried(access.bench(pk), person(request), wanted.validated_data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None


def _tried(bench: Bench, by: User, data: dict[str, Any]) -> Response:
    begin = begun_from(bench, data["begin"])
    variant = data.get("variant", begin["variant"])
    wording = wording_from(bench, data["begin"], data)
    draft = actions.write(
        by=by,
        bench=bench,
        wording=picked(bench, variant, wording, data["examples"]),
        variant=variant,
        endpoint=endpoint_named(data["endpoint"]),
        options=options_of(data),
        parent=parent_of(bench, data["begin"]),
    )
    if data["estimate"]:
        asked = estimating.estimate(draft, data["targets"], data["samples"])
        return Response({"draft": draft.number, "estimate": asked.as_json()})
    actions.run(by=by, draft=draft, targets=data["targets"], samples=data["samples"])
    return Response(as_json.draft(access.draft(bench, draft.number)), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="drafts_read")
@api_view(["GET"])
def draft_one(request: Request, pk: int, number: int) -> Response:
    """Return a draft with its text, how far it is, the agreement so far, and all answers beside people's."""
    try:
        return Response(as_json.draft(access.draft(access.bench(pk), number)))
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None


@extend_schema(request=KeepSerializer, responses=OpenApiTypes.OBJECT, operation_id="drafts_act")
@api_view(["POST"])
def draft_act(request: Request, pk: int, number: int, verb: str) -> Response:
    """Cancel a draft, ask again for what failed (`retry`), keep it as a version, or throw it away."""
    draft = access.draft(access.bench(pk), number)
    if verb not in VERBS:
        raise NotFound(f"There is no {verb}; there are {', '.join(VERBS)}.")
    told = KeepSerializer(data=request.data)
    told.is_valid(raise_exception=True)
    try:
        _done(verb, draft, person(request), told.validated_data)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(as_json.draft(access.draft(access.bench(pk), number)))


def _done(verb: str, draft: Draft, by: User, told: dict[str, Any]) -> None:
    run = actions.run_of(draft)
    if verb == "keep":
        keeping.keep(by=by, draft=draft, **told)
    elif verb == "discard":
        actions.discard(by=by, draft=draft)
    elif run is not None and verb == "cancel":
        runs.cancel(by=by, run=run)
    elif run is not None:
        runs.retry_failed(by=by, run=run)
