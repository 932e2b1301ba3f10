"""The API of roles in one campaign."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.people import field_errors
from annotation.models import CampaignRole
from annotation.people import campaign_roles
from annotation.permissions import IsCampaignResearcher
from config.lists import Pages, paged
from config.permissions import IsResearcher


class CampaignRoleSerializer(serializers.ModelSerializer[CampaignRole]):
    """Who has a role in a campaign, by user name."""

    username = serializers.SlugRelatedField(
        source="user", slug_field="username", queryset=User.objects.filter(is_active=True)
    )

    class Meta:
        model = CampaignRole
        fields = ("id", "username", "role", "created_at")
        read_only_fields = ("created_at",)


class MayReadRoles(IsCampaignResearcher):
    """Who looks after a campaign reads its roles; researchers give and take them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        reading = request.method == "GET"
        return (
            super().has_permission(request, view) if reading else IsResearcher().has_permission(request, view)
        )


@extend_schema(methods=["GET"], responses=CampaignRoleSerializer(many=True))
@extend_schema(methods=["POST"], request=CampaignRoleSerializer, responses={201: CampaignRoleSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([MayReadRoles])
@field_errors
def roles(request: Request, campaign: int) -> Response:
    """List who adjudicates or looks after a campaign, or give somebody a role in it (researchers)."""
    found = access.campaign(campaign)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(found.roles.select_related("user").order_by("id"), request)
        return pager.get_paginated_response(CampaignRoleSerializer(page, many=True).data)
    asked = CampaignRoleSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    assert isinstance(request.user, User)
    told = asked.validated_data
    given = campaign_roles.give(by=request.user, campaign=found, person=told["user"], role=told["role"])
    return Response(CampaignRoleSerializer(given).data, status=201)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsResearcher])
def role(request: Request, campaign: int, pk: int) -> Response:
    """Researchers: take a role in a campaign away."""
    assert isinstance(request.user, User)
    campaign_roles.take(by=request.user, given=access.campaign_role(campaign, pk))
    return Response(status=204)
