"""Continuations side by side over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.errors import CalibrationError
from calibration.profiles.contexts import Wanted
from calibration.profiles.side_by_side import compare
from calibration.profiles.side_by_side_files import head_out, row_out
from config.lists import DEFAULT, MOST, Pages

Plain = serializers.Serializer[Any]
LONGEST = 10**9


class SideBySideQuerySerializer(Plain):
    """What is compared. What is left out is chosen: the context that most continuations share, and some of
    its continuations."""

    at = serializers.IntegerField(
        required=False, min_value=0, max_value=LONGEST, help_text="turns of the history before"
    )
    continuation = serializers.ListField(
        child=serializers.CharField(max_length=400),
        required=False,
        help_text="names, one a parameter; one alone has the usual others beside it",
    )
    against = serializers.CharField(
        required=False, max_length=400, help_text="whose values the others' differences are from: the first"
    )
    metric = serializers.CharField(required=False, max_length=200, help_text="only this metric, by its name")


class SharedContextSerializer(Plain):
    """A context that continuations share: `given` turns stand between the history and each of them."""

    at = serializers.IntegerField()
    given = serializers.IntegerField()
    continuations = serializers.ListField(child=serializers.CharField())


class SideBySideLineSerializer(Plain):
    """A turn: its number as annotators count it, who speaks, and what happened beside the text."""

    number = serializers.IntegerField()
    speaker = serializers.CharField()
    how = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)


class SideBySideColumnSerializer(Plain):
    """A continuation: the index of its turn here, and those that are shown of the `n_turns` from there on."""

    name = serializers.CharField()
    id = serializers.IntegerField()
    continuation = serializers.CharField()
    system = serializers.CharField()
    human = serializers.BooleanField(help_text="people's is one of several valid continuations")
    fake_model = serializers.BooleanField()
    mode = serializers.CharField()
    condition = serializers.DictField()
    trial = serializers.IntegerField()
    turn = serializers.IntegerField()
    turns = SideBySideLineSerializer(many=True)
    n_turns = serializers.IntegerField()


class SideBySideCellSerializer(Plain):
    """A metric's value of one column. Where it is null, `missing` says why."""

    column = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    missing = serializers.CharField(allow_blank=True)
    difference = serializers.FloatField(allow_null=True)
    causes = serializers.ListField(child=serializers.CharField())
    turns = serializers.ListField(
        child=serializers.IntegerField(), help_text="numbers of turns that caused it"
    )


class SideBySideRowSerializer(Plain):
    """A metric, with a cell for each column."""

    metric = serializers.CharField()
    title = serializers.CharField()
    items = serializers.CharField()
    aspect = serializers.CharField()
    direction = serializers.CharField()
    cells = SideBySideCellSerializer(many=True)


class SideBySideSerializer(Plain):
    """A page of metrics, and what is compared. Of a long context the last turns are shown."""

    corpus = serializers.CharField()
    dialogue = serializers.CharField()
    at = serializers.IntegerField()
    contexts = SharedContextSerializer(many=True)
    before = SideBySideLineSerializer(many=True)
    n_before = serializers.IntegerField()
    columns = SideBySideColumnSerializer(many=True)
    against = serializers.CharField()
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SideBySideRowSerializer(many=True)


@extend_schema(
    parameters=[
        SideBySideQuerySerializer,
        OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}),
        OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}),
    ],
    responses=SideBySideSerializer,
)
@api_view(["GET"])
def compared(request: Request, pk: int) -> Response:
    """List what each metric says of continuations of one context, beside each other."""
    dialogue = access.dialogue(pk)
    query = request.query_params
    given = SideBySideQuerySerializer(
        data=query.dict()
        | ({"continuation": query.getlist("continuation")} if "continuation" in query else {})
    )
    given.is_valid(raise_exception=True)
    data = dict(given.validated_data)
    names = tuple(data.pop("continuation", ()))
    try:
        made = compare(dialogue, Wanted(continuations=names, **data))
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    pager = Pages()
    rows: Any = pager.paginate_queryset(made.rows, request)
    answer = pager.get_paginated_response([row_out(made, row) for row in rows])
    answer.data |= head_out(made)
    return answer
