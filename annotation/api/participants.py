"""The API of links into a campaign and of those who came by them. For who may manage the campaign."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.people import field_errors, user_of
from annotation.models import Campaign, JoinLink, Participant, ParticipantBrowser
from annotation.people import participants
from annotation.permissions import IsCampaignResearcher
from config.lists import Pages, paged


class JoinLinkSerializer(serializers.ModelSerializer[JoinLink]):
    """A link by which people join a campaign; without a `code`, each gets one of their own."""

    most = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**31 - 1)
    address = serializers.SerializerMethodField()
    signing_key = serializers.SerializerMethodField()

    class Meta:
        model = JoinLink
        fields = (
            "id",
            "name",
            "address",
            "most",
            "expires_at",
            "code",
            "return_url",
            "revoked_at",
            "signing_key",
        )
        read_only_fields = ("revoked_at",)
        extra_kwargs: ClassVar[dict[str, Any]] = {
            "code": {"required": False},
            "return_url": {"required": False},
            "expires_at": {"required": False},
        }

    def get_address(self, link: JoinLink) -> str:
        """Return what people are given."""
        address = reverse("join", args=[participants.key_of(link)])
        request = self.context.get("request")
        return str(request.build_absolute_uri(address)) if request else address

    def get_signing_key(self, link: JoinLink) -> str:
        """Key that signs ids (HMAC-SHA256), where the campaign's `join_proof` is `signed`; '' elsewhere."""
        signed = link.campaign.join_proof == Campaign.JoinProof.SIGNED
        return participants.signing_key(link) if signed else ""


class ParticipantSerializer(serializers.ModelSerializer[Participant]):
    """Somebody who came by a link: `name` is their account's, `participant` what they are elsewhere."""

    name = serializers.CharField(source="user.username")
    participant = serializers.CharField(source="external_id")
    link = serializers.IntegerField(source="link_id")
    joined_on = serializers.SerializerMethodField()
    finished_on = serializers.SerializerMethodField()

    class Meta:
        model = Participant
        fields = (
            *("name", "participant", "study_id", "session_id", "link"),
            *("joined_on", "finished_on", "code"),
        )

    def get_joined_on(self, row: Participant) -> date:
        """Return the day, in UTC, on which they came."""
        return row.joined_at.date()

    def get_finished_on(self, row: Participant) -> date | None:
        """Return the day, in UTC, on which they were done; null before."""
        return row.finished_at.date() if row.finished_at else None


class ParticipantBrowserSerializer(serializers.ModelSerializer[ParticipantBrowser]):
    """A browser that waits for a confirmation, and the `code` that its participant can tell you.

    `confirmed_at` and `confirmed_by` say when and by whom it was confirmed; null while it waits.
    """

    name = serializers.CharField(source="participant.user.username")
    participant = serializers.CharField(source="participant.external_id")
    confirmed_by = serializers.SlugRelatedField[User](
        slug_field="username", read_only=True, allow_null=True, help_text="null, too, where they are deleted"
    )

    class Meta:
        model = ParticipantBrowser
        fields = ("id", "name", "participant", "code", "asked_at", "confirmed_at", "confirmed_by")


@extend_schema(methods=["GET"], responses=JoinLinkSerializer(many=True))
@extend_schema(methods=["POST"], request=JoinLinkSerializer, responses={201: JoinLinkSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@field_errors
def join_links(request: Request, campaign: int) -> Response:
    """The links by which people join a campaign, or make one."""
    found = access.campaign(campaign)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(found.join_links.all(), request)
        told = JoinLinkSerializer(page, many=True, context={"request": request}).data
        return pager.get_paginated_response(told)
    given = JoinLinkSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    made = participants.make_link(by=user_of(request), campaign=found, **given.validated_data)
    return Response(JoinLinkSerializer(made, context={"request": request}).data, status=201)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsCampaignResearcher])
def join_link(request: Request, campaign: int, pk: int) -> Response:
    """Revoke a link: nobody joins by it any more; who joined stays."""
    participants.revoke(by=user_of(request), link=access.join_link(campaign, pk))
    return Response(status=204)


@extend_schema(responses=ParticipantSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def participant_list(request: Request, campaign: int) -> Response:
    """Who came by links, with their ids and completion codes; days are of UTC."""
    pager = Pages()
    page = pager.paginate_queryset(participants.listed(access.campaign(campaign)), request)
    return pager.get_paginated_response(ParticipantSerializer(page, many=True).data)


@extend_schema(responses=ParticipantBrowserSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def participant_browsers(request: Request, campaign: int) -> Response:
    """The browsers in which participants ask to go on: those that wait, and those that were confirmed."""
    pager = Pages()
    page = pager.paginate_queryset(participants.browsers(access.campaign(campaign)), request)
    return pager.get_paginated_response(ParticipantBrowserSerializer(page, many=True).data)


@extend_schema(request=None, responses={204: None})
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def confirm_browser(request: Request, campaign: int, pk: int) -> Response:
    """Let a participant go on in another browser."""
    participants.confirm(by=user_of(request), browser=access.participant_browser(campaign, pk))
    return Response(status=204)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsCampaignResearcher])
def dismiss_browser(request: Request, campaign: int, pk: int) -> Response:
    """Dismiss a browser that waits, or take a confirmation back: its participant is signed out everywhere.

    They go on by the link in the browsers that are confirmed still.
    """
    participants.dismiss(by=user_of(request), browser=access.participant_browser(campaign, pk))
    return Response(status=204)
