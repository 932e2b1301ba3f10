"""One's own agreement with others over HTTP, where the campaign shows it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.agreement.own import own_agreement
from config.permissions import IsSignedIn


class OwnAgreementRow(serializers.Serializer[Any]):
    """The share of pairs of an own answer and another's that are the same; null with the reason why."""

    question = serializers.CharField()
    value = serializers.FloatField(source="result.value", allow_null=True)
    low = serializers.FloatField(source="result.low", allow_null=True)
    high = serializers.FloatField(source="result.high", allow_null=True)
    n_items = serializers.IntegerField(source="result.n_items")
    n_clusters = serializers.IntegerField(source="result.n_clusters")
    n_raters = serializers.IntegerField(source="result.n_raters")
    status = serializers.CharField(source="result.status")
    reason = serializers.CharField(source="result.reason")
    method = serializers.CharField(source="result.method")
    flags = serializers.ListField(child=serializers.CharField(), source="result.flags")


class OwnAgreement(serializers.Serializer[Any]):
    """Tasks that count, tasks that all raters finished, and a row a question (none below 20 tasks)."""

    tasks = serializers.IntegerField()
    finished = serializers.IntegerField()
    rows = OwnAgreementRow(many=True)


@extend_schema(responses=OwnAgreement)
@api_view(["GET"])
@permission_classes([IsSignedIn])
def own(request: Request, campaign: int) -> Response:
    """Members of a campaign that shows it: how far they agree with the others."""
    assert isinstance(request.user, User)
    member = access.membership(request.user, campaign)
    if not member.campaign.shows_agreement:
        raise Http404
    return Response(OwnAgreement(own_agreement(request.user, member.campaign)).data)
