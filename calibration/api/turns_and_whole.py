"""Turns and whole over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.models import Campaign
from calibration.errors import CalibrationError
from calibration.turns_and_whole.computing import compute as compute_inversions
from calibration.turns_and_whole.files import head_out as inversions_head
from calibration.turns_and_whole.files import line_out
from calibration.turns_and_whole.questions import read as read_turn_questions
from config.lists import DEFAULT, MOST, Pages

Plain = serializers.Serializer[Any]


class TurnsAndWholeQuerySerializer(Plain):
    """Whose labels, and of which two questions; left out, the two that fit best."""

    turns = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, about turns")
    whole = serializers.CharField(
        required=False, max_length=300, help_text="scheme@version/key, about whole continuations"
    )
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class LineSerializer(Plain):
    """A continuation by both scores, and its ranks in its dialogue; 1 is best."""

    dialogue = serializers.CharField()
    continuation = serializers.CharField()
    system = serializers.CharField()
    n_turns = serializers.IntegerField()
    by_turns = serializers.FloatField()
    by_whole = serializers.FloatField()
    difference = serializers.FloatField(allow_null=True)
    rank_by_turns = serializers.FloatField()
    rank_by_whole = serializers.FloatField()
    moved = serializers.FloatField()


class DialogueOrdersSerializer(Plain):
    """The pairs of continuations of a dialogue that the two scores put in different orders."""

    dialogue = serializers.CharField()
    continuations = serializers.IntegerField()
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)


class TurnsAndWholeSerializer(Plain):
    """A page of continuations, those that changed rank most first, and all dialogues."""

    corpus = serializers.CharField()
    campaign = serializers.CharField(allow_null=True)
    turns = serializers.CharField()
    whole = serializers.CharField()
    same_scale = serializers.BooleanField()
    people = serializers.IntegerField()
    left_out = serializers.IntegerField()
    test_left_out = serializers.BooleanField()
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    dialogues = DialogueOrdersSerializer(many=True)
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = LineSerializer(many=True)


@extend_schema(
    parameters=[
        TurnsAndWholeQuerySerializer,
        OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}),
        OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}),
    ],
    responses=TurnsAndWholeSerializer,
)
@api_view(["GET"])
def turns_and_whole(request: Request, pk: int) -> Response:
    """List continuations by people's mean of their turns and by their label of the whole."""
    corpus = access.corpus(pk)
    given = TurnsAndWholeQuerySerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    data = given.validated_data
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    try:
        found = compute_inversions(read_turn_questions(corpus, campaign, data))
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    pager = Pages()
    lines: Any = pager.paginate_queryset(found.lines, request)
    answer = pager.get_paginated_response([line_out(line) for line in lines])
    answer.data |= inversions_head(found)
    return answer
