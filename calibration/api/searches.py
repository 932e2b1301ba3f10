"""Searches over HTTP: a model proposes texts for a judge. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from calibration import access
from calibration.api.workbench import person
from calibration.errors import CalibrationError
from calibration.searches import actions as search_actions
from calibration.searches import reading
from calibration.searches.actions import BOUNDS
from config.lists import Pages, paged
from jobs.endpoints.parameter_inputs import parameter_serializer_fields
from jobs.errors import JobError
from judges.prompts import versions
from judges.runs.lookup import endpoint_named


def _number(name: str, default: int) -> serializers.IntegerField:
    least, most = BOUNDS[name]
    return serializers.IntegerField(required=False, default=default, min_value=least, max_value=most)


class SearchParametersSerializer(serializers.Serializer[Any]):
    """The sampling parameters of the judge, or of the model that proposes."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return one field for each."""
        return super().get_fields() | parameter_serializer_fields()


class NewSearchSerializer(serializers.Serializer[Any]):
    """From which text (`name@number`), by which models, within which bounds."""

    begin = serializers.CharField(max_length=120, help_text="a version of a prompt")
    name = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=99, help_text="the prompt of the proposals"
    )
    endpoint = serializers.CharField(max_length=100, help_text="where the judge is asked")
    improver = serializers.CharField(max_length=100, help_text="where proposals are asked for")
    rounds = _number("rounds", 8)
    few = _number("few", 5)
    most_calls = _number("most_calls", 1000)
    most_cost = serializers.DecimalField(
        required=False, allow_null=True, default=None, max_digits=12, decimal_places=4, min_value=0
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    needs = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict, help_text="per role whom the judge reads"
    )
    parameters = SearchParametersSerializer(required=False, default=dict)
    improver_parameters = SearchParametersSerializer(required=False, default=dict)


class SearchActSerializer(serializers.Serializer[Any]):
    """`text` names the proposal to adopt; cancelling and resuming take nothing."""

    text = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="searches_list")
@extend_schema(
    methods=["POST"],
    request=NewSearchSerializer,
    operation_id="searches_start",
    responses={201: OpenApiTypes.OBJECT},
)
@paged
@api_view(["GET", "POST"])
def bench_searches(request: Request, pk: int) -> Response:
    """List a bench's searches, latest first; POST starts one."""
    bench = access.bench(pk)
    if request.method == "GET":
        pager = Pages()
        rows = pager.paginate_queryset(bench.searches.order_by("-pk"), request) or []
        return pager.get_paginated_response(
            [{"id": row.pk, "from": row.parent, "state": row.state} for row in rows]
        )
    wanted = NewSearchSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data = dict(wanted.validated_data)
    try:
        made = search_actions.start(
            by=person(request),
            bench=bench,
            version=versions.find(data.pop("begin")),
            endpoint=endpoint_named(data.pop("endpoint")),
            improver=endpoint_named(data.pop("improver")),
            options={name: data.pop(name) for name in ("needs", "parameters")},
            **data,
        )
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(reading.as_json(made), status=status.HTTP_201_CREATED)


@extend_schema(responses=OpenApiTypes.OBJECT, operation_id="searches_read")
@api_view(["GET"])
def bench_search(request: Request, pk: int, search: int) -> Response:
    """Return a search: how far it is, what it took, its texts and what they are worth."""
    found = access.search(access.bench(pk), search)
    try:
        return Response(reading.as_json(found))
    except CalibrationError as error:
        raise ValidationError({"detail": str(error)}) from None


@extend_schema(request=SearchActSerializer, responses=OpenApiTypes.OBJECT, operation_id="searches_act")
@api_view(["POST"])
def search_act(request: Request, pk: int, search: int, verb: str) -> Response:
    """Cancel or resume a search, or adopt one of its proposals."""
    found = access.search(access.bench(pk), search)
    wanted = SearchActSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    try:
        if verb == "adopt":
            number = str(wanted.validated_data.get("text", ""))
            search_actions.adopt(by=person(request), text=access.search_text(found, number))
        elif verb in search_actions.VERBS:
            found = search_actions.VERBS[verb](by=person(request), search=found)
        else:
            raise NotFound
    except (CalibrationError, JobError) as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(reading.as_json(found))
