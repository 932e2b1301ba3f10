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
from annotation.api.submissions import BY_ANNOTATOR, of_annotator
from annotation.labels.pseudonyms import of_people, person_called
from annotation.models import Assignment, Campaign, turn_numbers
from annotation.permissions import IsCampaignResearcher
from annotation.work import handing
from annotation.work.in_hand import in_hand, key_of
from annotation.work.withdrawing import REASON_LIMIT
from config.pagination import Pages, paged


class HeldSerializer(serializers.Serializer[Any]):
    """A task in somebody's hands, `until` its lease ends; `draft_saved_at` is null where there is no draft.

    `state` is `leased` or `returned` (handed back to be done again). `given` says why a researcher gave it
    to them, '' where nobody did; `occasion` tells training, tests and checks from work.
    """

    assignment = serializers.IntegerField(source="pk")
    annotator = serializers.SerializerMethodField()
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

    def get_annotator(self, row: Assignment) -> str:
        """Return the pseudonym of who holds it."""
        return str(self.context["names"][row.user_id])

    def get_about(self, row: Assignment) -> str:
        """Return the key of what it is about: of an item, or of a continuation with all its turns."""
        return key_of(row.task)


class GiveSerializer(serializers.Serializer[Any]):
    """Which task to give (an item's key, or a task's number), to whom, and why: the annotator reads it."""

    task = serializers.CharField(max_length=2_000)
    to = serializers.CharField(max_length=20, help_text="an annotator's pseudonym")
    reason = serializers.CharField(max_length=REASON_LIMIT)


class TakeSerializer(serializers.Serializer[Any]):
    """Why a task is taken back, which its annotator reads; with `to`, it goes to that annotator."""

    reason = serializers.CharField(max_length=REASON_LIMIT)
    to = serializers.CharField(max_length=20, required=False, allow_null=True, default=None)


def _told(rows: list[Assignment], campaign: Campaign) -> Any:
    names = of_people({row.user_id for row in rows}, campaign.corpus_id)
    return HeldSerializer(rows, many=True, context={"names": names}).data


def _annotator(name: str, campaign: Campaign) -> User:
    person = person_called(name, campaign)
    if person is None:
        raise serializers.ValidationError({"to": [f"No annotator of this campaign is called {name!r}."]})
    return person


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(methods=["GET"], parameters=[BY_ANNOTATOR], responses=HeldSerializer(many=True))
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
        told["to"] = _annotator(told["to"], found)
        made = handing.give(by=_user(request), campaign=found, task=task, **told)
        return Response(_told([made], found)[0], status=201)
    pager = Pages()
    page: list[Assignment] = (
        pager.paginate_queryset(of_annotator(request, found, in_hand(found)), request) or []
    )
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    return pager.get_paginated_response(_told(page, found))


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
        person = _annotator(to, found.campaign)
        made = handing.pass_to(by=_user(request), assignment=found, to=person, reason=reason)
    return Response(_told([made], found.campaign)[0])
