"""The API of a campaign's batches, for researchers: how far each is, and opening the next one."""

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
from annotation.campaigns import batches
from annotation.models import Campaign
from annotation.permissions import IsCampaignResearcher


class CampaignBatchSerializer(serializers.Serializer[Any]):
    """A batch of tasks with their slots: how many of these are submitted, and submitted or held (`taken`)."""

    number = serializers.IntegerField()
    tasks = serializers.IntegerField()
    slots = serializers.IntegerField()
    submitted = serializers.IntegerField()
    taken = serializers.IntegerField()
    opened = serializers.BooleanField()
    complete = serializers.BooleanField()


class CampaignBatchesSerializer(serializers.Serializer[Any]):
    """The batches of a campaign: `listed` are the last ones open, and the one after them.

    `batch_size` is null, and nothing listed, where its tasks are not in batches.
    """

    batch_size = serializers.IntegerField(allow_null=True)
    next_batch = serializers.ChoiceField(choices=Campaign.NextBatch.choices)
    total = serializers.IntegerField()
    opened = serializers.IntegerField()
    listed = CampaignBatchSerializer(many=True)


@extend_schema(methods=["GET"], responses=CampaignBatchesSerializer, operation_id="campaigns_batches")
@extend_schema(
    methods=["POST"],
    request=None,
    responses=CampaignBatchesSerializer,
    operation_id="campaigns_batches_open_next",
)
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
@answered
def campaign_batches(request: Request, campaign: int) -> Response:
    """Researchers: the batches of a campaign; POST opens the next one."""
    found = access.campaign(campaign)
    if request.method == "POST":
        assert isinstance(request.user, User)
        batches.open_next(by=request.user, campaign=found)
        found = access.campaign(campaign)
    told = batches.batches(found)
    if told is None:
        nothing: dict[str, Any] = {
            "batch_size": None,
            "next_batch": found.next_batch,
            "total": 0,
            "opened": 0,
            "listed": [],
        }
        return Response(CampaignBatchesSerializer(nothing).data)
    return Response(CampaignBatchesSerializer(told.as_json()).data)
