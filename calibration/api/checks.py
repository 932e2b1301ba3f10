"""The API of a campaign's training, test and checks. For who may manage the campaign."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.refusals import answered
from annotation.models import CheckPlan, KeyTask
from annotation.work import check_actions
from annotation.work.labels import person_called
from calibration.checks import sources
from calibration.checks.results import told as results_told


class CheckPlanSerializer(serializers.ModelSerializer[CheckPlan]):
    """How a campaign trains, tests and checks; marks are shares from 0 to 1, and null means never or none."""

    class Meta:
        model = CheckPlan
        exclude = ["id", "campaign"]


class KeyAnswerSerializer(serializers.Serializer[Any]):
    """What is right for a question: one of `values`, or a number within `tolerance` of one.

    `item` names the item where the task asks about several.
    """

    item = serializers.CharField(required=False, allow_blank=True, default="")
    question = serializers.CharField()
    values = serializers.ListField(
        child=serializers.JSONField(), min_length=1, help_text="numbers, or names of categories"
    )
    tolerance = serializers.FloatField(default=0.0, min_value=0)

    def validate_values(self, values: list[Any]) -> list[Any]:
        """Refuse what is neither a number nor a text."""
        if any(isinstance(value, bool) or not isinstance(value, int | float | str) for value in values):
            raise serializers.ValidationError("Each value is a number or a text.")
        return values


class ChangedKeySerializer(serializers.Serializer[Any]):
    """A key's answers and why they are right."""

    answers = KeyAnswerSerializer(many=True)
    explanation = serializers.CharField(required=False, allow_blank=True, default="")


class NewKeySerializer(ChangedKeySerializer):
    """A key: `about` is `dialogue/continuation/turn`, or `dialogue/continuation` where a task is a whole."""

    about = serializers.CharField()
    occasion = serializers.ChoiceField(choices=list(KeyTask.OCCASIONS))


class KeysFromSerializer(serializers.Serializer[Any]):
    """Where keys come from: `rater:NAME`, `gold:NUMBER` or `adjudicated`; which tasks the seed draws."""

    source: Any = serializers.CharField()
    occasion = serializers.ChoiceField(choices=list(KeyTask.OCCASIONS))
    most = serializers.IntegerField(min_value=1, max_value=check_actions.MOST_AT_ONCE, default=10)
    tolerance = serializers.FloatField(default=0.0, min_value=0)


class DecisionSerializer(serializers.Serializer[Any]):
    """What to do about an annotator, by pseudonym, and why."""

    annotator = serializers.CharField(max_length=150)
    verb = serializers.ChoiceField(choices=list(check_actions.VERBS))
    reason = serializers.CharField(max_length=check_actions.REASON_LIMIT)


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _checked(given: Any) -> dict[str, Any]:
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


@extend_schema(methods=["GET"], responses=CheckPlanSerializer)
@extend_schema(methods=["PATCH"], request=CheckPlanSerializer(partial=True), responses=CheckPlanSerializer)
@api_view(["GET", "PATCH"])
@permission_classes([IsCampaignResearcher])
@answered
def checks(request: Request, campaign: int) -> Response:
    """Researchers: how a campaign trains, tests and checks; with PATCH, set what is named."""
    found = access.campaign(campaign)
    plan = CheckPlan.objects.filter(campaign=found).first() or CheckPlan(campaign=found)
    if request.method == "PATCH":
        given = _checked(CheckPlanSerializer(plan, data=request.data, partial=True))
        plan = check_actions.set_up(by=_user(request), campaign=found, **given)
    return Response(CheckPlanSerializer(plan).data)


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def results_of(request: Request, campaign: int) -> Response:
    """Researchers: each annotator's state and scores with intervals, and agreement with themselves."""
    return Response(results_told(access.campaign(campaign)))


@extend_schema(request=DecisionSerializer, responses={204: None})
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def decide(request: Request, campaign: int) -> Response:
    """Researchers: let an annotator in, pause, lift, leave out of gold or readmit them, for a reason."""
    found = access.campaign(campaign)
    given = _checked(DecisionSerializer(data=request.data))
    person = person_called(given["annotator"], found)
    if person is None:
        raise serializers.ValidationError({"annotator": "No annotator of this campaign is called so."})
    check_actions.VERBS[given["verb"]](by=_user(request), campaign=found, user=person, reason=given["reason"])
    return Response(status=204)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT, operation_id="campaigns_checks_keys_list")
@extend_schema(methods=["POST"], request=NewKeySerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@answered
def keys_of(request: Request, campaign: int) -> Response:
    """Researchers: a campaign's tasks with a key (`keys`), or key one more."""
    found = access.campaign(campaign)
    if request.method == "GET":
        return Response({"keys": [check_actions.key_as_json(key) for key in check_actions.listed(found)]})
    given = _checked(NewKeySerializer(data=request.data))
    spot = check_actions.spot_named(found, given["about"])
    made = check_actions.add_key(
        by=_user(request),
        campaign=found,
        occasion=given["occasion"],
        spot=spot,
        answers=check_actions.answers_told(found, spot, given["answers"]),
        explanation=given["explanation"],
    )
    return Response(check_actions.key_as_json(made), status=201)


@extend_schema(request=KeysFromSerializer, responses={201: OpenApiTypes.OBJECT})
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def keys_from(request: Request, campaign: int) -> Response:
    """Researchers: key tasks by answers that are known; says how many `tasks` are keyed."""
    found = access.campaign(campaign)
    given = _checked(KeysFromSerializer(data=request.data))
    return Response({"tasks": sources.add(by=_user(request), campaign=found, **given)}, status=201)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["PUT"], request=ChangedKeySerializer, responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "PUT", "DELETE"])
@permission_classes([IsCampaignResearcher])
@answered
def key_one(request: Request, campaign: int, key: int) -> Response:
    """Researchers: one key; correct it (scores are counted anew), or retire it with DELETE."""
    found = access.campaign(campaign)
    related = KeyTask.objects.select_related("campaign", "task__continuation__dialogue", "task__item__turn")
    there = get_object_or_404(related, pk=key, campaign=found)
    if request.method == "DELETE":
        check_actions.retire_key(by=_user(request), key=there)
        return Response(status=204)
    if request.method == "PUT":
        given = _checked(ChangedKeySerializer(data=request.data))
        answers = check_actions.answers_told(found, check_actions.spot_of(there), given["answers"])
        check_actions.change_key(
            by=_user(request), key=there, answers=answers, explanation=given["explanation"]
        )
    return Response(check_actions.key_as_json(there))
