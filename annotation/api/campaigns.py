"""The API of campaigns, for researchers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.api.work import (
    CampaignSerializer,
    ConsentSerializer,
    CopySerializer,
    GuidelinesSerializer,
    MembersSerializer,
    ReorderedSerializer,
    ReorderSerializer,
    StateSerializer,
)
from annotation.campaigns import actions as campaigns
from annotation.campaigns import balancing, comparing, editing, reordering, sampling
from annotation.campaigns import job as opening
from annotation.campaigns import progress as campaign_progress
from annotation.campaigns import tasks as campaign_tasks
from annotation.models import Campaign
from annotation.permissions import IsCampaignResearcher, IsResearcherSomewhere
from config.lists import Filters, Pages, holds, named, one_of, paged, since
from config.permissions import IsResearcher, is_researcher
from jobs.models import Job

VERBS = {
    "open": opening.open_campaign,
    "pause": campaigns.pause,
    "close": campaigns.close,
    "archive": editing.archive,
    "bring-back": editing.bring_back,
}
CAMPAIGNS = Filters(
    {
        "state": one_of("state", Campaign.State.values),
        "corpus": named("corpus__name", "corpus"),
        "text": holds("name"),
        "since": since("created_at"),
    },
    order=("id", "name", "created_at"),
)
ARCHIVED = OpenApiParameter("archived", bool, description="true lists the archived campaigns instead")


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(
    methods=["GET"], parameters=[ARCHIVED, *CAMPAIGNS.parameters], responses=CampaignSerializer(many=True)
)
@extend_schema(methods=["POST"], request=CampaignSerializer, responses={201: CampaignSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
@answered
def campaign_list(request: Request) -> Response:
    """Researchers: all campaigns that are not archived, or set up a new one as a draft.

    Those who look after campaigns without being researchers list these.
    """
    if request.method == "GET":
        paginator = Pages()
        archived = request.query_params.get("archived", "false")
        if archived not in ("true", "false"):
            raise ValidationError({"archived": "Say true or false."})
        rows = access.managed(_user(request)).filter(archived_at__isnull=archived == "false")
        found = rows.select_related("corpus", "scheme_version__scheme").order_by("-id")
        page = paginator.paginate_queryset(CAMPAIGNS.of(request, found), request)
        return paginator.get_paginated_response(CampaignSerializer(page, many=True).data)
    if not is_researcher(request.user):
        raise PermissionDenied
    given = CampaignSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    made = campaigns.create(by=_user(request), **given.arguments())
    return Response(CampaignSerializer(made).data, status=201)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["PATCH"], request=CampaignSerializer(partial=True), responses=OpenApiTypes.OBJECT)
@api_view(["GET", "PATCH"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign(request: Request, campaign: int) -> Response:
    """Researchers: one campaign with its counts, its members, and how many annotators it lacks.

    `left_out` is what nobody is asked about (`tasks`, of which `mode`, and the `reason`), null for
    nothing. `sample` says how many `dialogues` were drawn, and of which `strata`, or would be if it
    opened now (`kept` false), and on how many `items` judge and people are `apart`; null where all
    dialogues are asked about. `comparing` says how many `comparisons` it asks about, and with which
    `baseline` if with one; null where it asks about none. `balanced` says how many tasks of each stratum
    each annotator has done or holds, without names: work is told by pseudonym (`watch/`). With PATCH,
    change it: a draft in everything, one that was opened in its name, lease, deadline, limits, annotators,
    guidelines and, upwards, its raters, for which its tasks get new places at once.
    """
    found = access.campaign(campaign)
    if request.method == "PATCH":
        given = CampaignSerializer(found, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        if "corpus" in given.validated_data and not is_researcher(request.user):
            raise PermissionDenied("Only researchers move a campaign to another corpus.")
        editing.change(by=_user(request), campaign=found, **given.arguments())
        found = access.campaign(campaign)
    return Response(_whole(found))


def _whole(found: Campaign) -> dict[str, Any]:
    members = [
        {
            "username": member["username"],
            "agreed_to": member["agreed_to"],
            "agreed_on": member["agreed_on"],
        }
        for member in campaign_progress.members(found)
    ]
    counts = asdict(campaign_progress.counts(found))
    lacking = campaign_progress.lacking([found]).get(found.pk, 0)
    left_out = campaign_tasks.left_out(found)
    told = {"counts": counts, "members": members, "annotators_lacking": lacking}
    told |= {"left_out": left_out and left_out._asdict(), "sample": sampling.told(found)}
    told |= {"comparing": comparing.told(found), "balanced": balancing.shares(found)}
    return CampaignSerializer(found).data | told


@extend_schema(request=CopySerializer, responses={201: CampaignSerializer})
@api_view(["POST"])
@permission_classes([IsResearcher])
@answered
def copy(request: Request, campaign: int) -> Response:
    """Researchers: set up a draft like this campaign, with its people and guidelines, none of their work."""
    given = CopySerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.campaign(campaign)
    made = editing.copy(by=_user(request), campaign=found, name=given.validated_data["name"])
    return Response(CampaignSerializer(made).data, status=201)


@extend_schema(request=StateSerializer, responses=CampaignSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def change_state(request: Request, campaign: int) -> Response:
    """Researchers: open, pause, close, archive or bring back a campaign.

    202 with the id of a job where opening takes a while.
    """
    given = StateSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    changed = VERBS[given.validated_data["verb"]](by=_user(request), campaign=access.campaign(campaign))
    if isinstance(changed, Job):
        return Response({"job": changed.pk}, status=202)
    return Response(CampaignSerializer(access.campaign(campaign)).data)


@extend_schema(request=ReorderSerializer, responses=ReorderedSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def reorder(request: Request, campaign: int) -> Response:
    """Researchers: put the tasks that nobody has begun in order anew, or in another order."""
    given = ReorderSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.campaign(campaign)
    return Response({"moved": reordering.reorder(by=_user(request), campaign=found, **given.validated_data)})


@extend_schema(request=MembersSerializer, responses=CampaignSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def change_members(request: Request, campaign: int) -> Response:
    """Researchers: let people take part, or take them out."""
    given = MembersSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    found = access.campaign(campaign)
    groups = given.validated_data.get("groups", [])
    joining = [*given.validated_data.get("add", [])]
    joining += User.objects.filter(people_groups__in=groups, is_active=True).distinct()
    for person in joining:
        campaigns.add_member(by=_user(request), campaign=found, user=person)
    for person in given.validated_data.get("remove", []):
        campaigns.remove_member(by=_user(request), campaign=found, user=person)
    return Response(CampaignSerializer(found).data)


@extend_schema(request=GuidelinesSerializer, responses=GuidelinesSerializer)
@api_view(["PUT"])
@permission_classes([IsCampaignResearcher])
@answered
def set_guidelines(request: Request, campaign: int) -> Response:
    """Researchers: change the guidelines; a version in use is kept and gets a successor."""
    given = GuidelinesSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    text = given.validated_data["text"]
    kept = campaigns.set_guidelines(by=_user(request), campaign=access.campaign(campaign), text=text)
    return Response(GuidelinesSerializer(kept).data)


@extend_schema(request=ConsentSerializer, responses=ConsentSerializer)
@api_view(["PUT"])
@permission_classes([IsCampaignResearcher])
@answered
def set_consent(request: Request, campaign: int) -> Response:
    """Researchers: change what annotators agree to before they work; empty, they are asked for nothing."""
    given = ConsentSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    text = given.validated_data["text"]
    kept = campaigns.set_consent(by=_user(request), campaign=access.campaign(campaign), text=text)
    return Response(ConsentSerializer(kept).data)
