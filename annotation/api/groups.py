"""The API of groups of people, of what people read and write as, and of a campaign's rules."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import refusals
from annotation.api.people import field_errors, user_of
from annotation.api.people_serializers import Text
from annotation.campaigns import rules as campaign_rules
from annotation.campaigns import unclaimable as unclaimable_tasks
from annotation.campaigns.rules import Rules
from annotation.models import PeopleGroup
from annotation.people import groups as people_groups
from annotation.permissions import IsCampaignResearcher
from config.lists import Pages, paged
from config.permissions import IsResearcher


class GroupSerializer(serializers.ModelSerializer[PeopleGroup]):
    """A group with its people by user name."""

    name = serializers.CharField(max_length=80)
    people = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.all(), many=True, required=False
    )

    class Meta:
        model = PeopleGroup
        fields = ("id", "name", "people")


class AnnotatorSerializer(serializers.Serializer[Any]):
    """A person: the `groups` they are in, the `languages` they read, the names they write as."""

    id = serializers.IntegerField(read_only=True, source="pk")
    username = serializers.CharField(read_only=True)
    groups = serializers.ListField(child=serializers.CharField(), read_only=True)
    languages = serializers.ListField(child=Text(max_length=40), required=False, max_length=50)
    writes_as = serializers.ListField(child=Text(max_length=200), required=False, max_length=50)

    def to_representation(self, instance: User) -> dict[str, Any]:
        """Return a person with plain lists."""
        return {
            "id": instance.pk,
            "username": instance.get_username(),
            "groups": [group.name for group in instance.people_groups.all()],
            "languages": [row.language for row in instance.languages.all()],
            "writes_as": [row.name for row in instance.writes_as.all()],
        }


class GroupName(serializers.SlugRelatedField[PeopleGroup]):
    """A group by its name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="name", queryset=PeopleGroup.objects.all(), **kwargs)


class StratumSerializer(serializers.Serializer[Any]):
    """A stratum and the group that rates it."""

    stratum = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=1_000)
    group = GroupName()


class RequiredSerializer(serializers.Serializer[Any]):
    """How many raters of a group each task needs."""

    group = GroupName()
    raters = serializers.IntegerField(min_value=1, max_value=100)


class RulesSerializer(serializers.Serializer[Any]):
    """Who may, and who must, rate what. `unclaimable` says which tasks nobody who takes part can take."""

    by_language = serializers.BooleanField(default=False)
    not_own = serializers.CharField(max_length=120, allow_blank=True, default="")
    groups_by = serializers.CharField(max_length=120, allow_blank=True, default="")
    strata = StratumSerializer(many=True, required=False)
    required = RequiredSerializer(many=True, required=False)  # type: ignore[assignment]
    unclaimable = serializers.ListField(child=serializers.DictField(), read_only=True)

    def rules(self) -> Rules:
        """Return what was written."""
        told = self.validated_data
        return Rules(
            by_language=told["by_language"],
            not_own=told["not_own"],
            groups_by=told["groups_by"],
            strata={row["stratum"]: row["group"] for row in told.get("strata", ())},
            required={row["group"]: row["raters"] for row in told.get("required", ())},
        )


@extend_schema(methods=["GET"], responses=GroupSerializer(many=True))
@extend_schema(methods=["POST"], request=GroupSerializer, responses={201: GroupSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcher])
@field_errors
def groups(request: Request) -> Response:
    """Researchers: the groups of people, or make one."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(PeopleGroup.objects.prefetch_related("people").order_by("id"), request)
        return pager.get_paginated_response(GroupSerializer(page, many=True).data)
    given = GroupSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    made = people_groups.create(by=user_of(request), **given.validated_data)
    return Response(GroupSerializer(made).data, status=201)


@extend_schema(methods=["GET"], responses=GroupSerializer)
@extend_schema(methods=["PATCH"], request=GroupSerializer(partial=True), responses=GroupSerializer)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "PATCH", "DELETE"])
@permission_classes([IsResearcher])
@field_errors
def group(request: Request, pk: int) -> Response:
    """Researchers: one group; rename it, say who is in it, or delete it."""
    found = access.people_group(pk)
    if request.method == "DELETE":
        people_groups.delete(by=user_of(request), group=found)
        return Response(status=204)
    if request.method == "PATCH":
        given = GroupSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        found = people_groups.change(by=user_of(request), group=found, **given.validated_data)
    return Response(GroupSerializer(found).data)


@extend_schema(responses=AnnotatorSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsResearcher])
def annotators(request: Request) -> Response:
    """Researchers: the active accounts with their groups, languages and the names they write as."""
    pager = Pages()
    page = pager.paginate_queryset(people_groups.people(), request)
    return pager.get_paginated_response(AnnotatorSerializer(page, many=True).data)


@extend_schema(methods=["GET"], responses=AnnotatorSerializer)
@extend_schema(methods=["PATCH"], request=AnnotatorSerializer(partial=True), responses=AnnotatorSerializer)
@api_view(["GET", "PATCH"])
@permission_classes([IsResearcher])
@field_errors
def annotator(request: Request, pk: int) -> Response:
    """Researchers: one person; say which languages they read and under which names they write."""
    found = access.account(pk)
    if request.method == "PATCH":
        given = AnnotatorSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        people_groups.describe(by=user_of(request), person=found, **given.validated_data)
    return Response(AnnotatorSerializer(found).data)


@extend_schema(methods=["GET"], responses=RulesSerializer)
@extend_schema(methods=["PUT"], request=RulesSerializer, responses=RulesSerializer)
@api_view(["GET", "PUT"])
@permission_classes([IsCampaignResearcher])
@refusals.answered
def rules(request: Request, campaign: int) -> Response:
    """Who may and must rate what in a campaign; written, it holds from the next task handed out."""
    found = access.campaign(campaign)
    if request.method == "PUT":
        given = RulesSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        campaign_rules.set_rules(by=user_of(request), campaign=found, rules=given.rules())
        found = access.campaign(campaign)
    asked = campaign_rules.rules_of(found)
    told = campaign_rules.as_json(asked) | {
        "strata": [{"stratum": name, "group": group.name} for name, group in asked.strata.items()],
        "required": [{"group": group.name, "raters": raters} for group, raters in asked.required.items()],
        "unclaimable": unclaimable_tasks.told(found),
    }
    return Response(told)
