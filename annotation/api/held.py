"""The API of tasks in hand, for researchers: list them, take one back, give one to somebody."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.models import Assignment, turn_numbers
from annotation.permissions import IsCampaignResearcher
from annotation.work import handing
from annotation.work.in_hand import in_hand, key_of
from annotation.work.withdrawing import REASON_LIMIT
from config.filters import Filters, named
from config.pagination import Pages, paged


class HeldSerializer(serializers.Serializer[Any]):
    """A task in somebody's hands, `until` its lease ends; `draft_saved_at` is null where there is no draft.

    `state` is `leased` or `returned` (handed back to be done again). `given` says why a researcher gave it
    to them, '' where nobody did; `occasion` tells training, tests and checks from work.
    """

    assignment = serializers.IntegerField(source="pk")
    annotator = serializers.CharField(source="user.username")
    about = serializers.SerializerMethodField()
    turn_number = serializers.IntegerField(
        source="task.item.turn.number", default=None, allow_null=True, read_only=True
    )
    occasion = serializers.CharField()
    state = serializers.CharField()
    since = serializers.DateTimeField(source="leased_at")
    until = serializers.DateTimeField(source="lease_expires")
    draft_saved_at = serializers.DateTimeField(allow_null=True)
    given = serializers.CharField(source="given_reason")

    def get_about(self, row: Assignment) -> str:
        """Return the key of what it is about: of an item, or of a continuation with all its turns."""
        return key_of(row.task)


class ToField(serializers.SlugRelatedField[User]):
    """An annotator, by user name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="username", queryset=User.objects.all(), **kwargs)


class GiveSerializer(serializers.Serializer[Any]):
    """Which task to give (an item's key, or a task's number), to whom, and why: the annotator reads it."""

    task = serializers.CharField(max_length=2_000)
    to = ToField()
    reason = serializers.CharField(max_length=REASON_LIMIT)


class TakeSerializer(serializers.Serializer[Any]):
    """Why a task is taken back, which its annotator reads; with `to`, it goes to that annotator."""

    reason = serializers.CharField(max_length=REASON_LIMIT)
    to = ToField(required=False, allow_null=True, default=None)


HELD = Filters({"annotator": named("user__username", "annotator")})


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(methods=["GET"], parameters=HELD.parameters, responses=HeldSerializer(many=True))
@extend_schema(
    methods=["POST"],
    request=GiveSerializer,
    responses={201: HeldSerializer},
    operation_id="campaigns_held_give",
)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@answered
def held(request: Request, campaign: int) -> Response:
    """Researchers: what annotators hold now, longest held first; or give a task to one of them."""
    found = access.campaign(campaign)
    if request.method == "POST":
        given = GiveSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        told = dict(given.validated_data)
        task = handing.task_named(found, told.pop("task"))
        made = handing.give(by=_user(request), campaign=found, task=task, **told)
        return Response(HeldSerializer(made).data, status=201)
    pager = Pages()
    page: list[Assignment] = pager.paginate_queryset(HELD.of(request, in_hand(found)), request) or []
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    return pager.get_paginated_response(HeldSerializer(page, many=True).data)


@extend_schema(request=TakeSerializer, responses=HeldSerializer, operation_id="campaigns_held_take_back")
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def take_back(request: Request, campaign: int, assignment: int) -> Response:
    """Researchers: take a task back from who holds it, for others to find or for somebody named (`to`)."""
    given = TakeSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.submission(campaign, assignment)
    to, reason = given.validated_data["to"], given.validated_data["reason"]
    if to is None:
        made = handing.take_back(by=_user(request), assignment=found, reason=reason)
    else:
        made = handing.pass_to(by=_user(request), assignment=found, to=to, reason=reason)
    return Response(HeldSerializer(made).data)
