"""The API of submissions, for researchers: list them, hand one back, void one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.labels.pseudonyms import of_people, person_called
from annotation.models import Assignment, Campaign, turn_numbers
from annotation.permissions import IsCampaignResearcher
from annotation.work import withdrawing
from annotation.work.in_hand import key_of
from config.filters import Filters, one_of, since
from config.pagination import Pages, paged


class SubmissionSerializer(serializers.Serializer[Any]):
    """A submission; `seen` names its answers as they are now, `occasion` tells checks and repeats from work.

    `seconds` is the time from being handed out to being submitted, `attended` that of
    attention, where a page told it.
    """

    assignment = serializers.IntegerField(source="pk")
    annotator = serializers.SerializerMethodField()
    about = serializers.SerializerMethodField()
    turn_number = serializers.IntegerField(
        source="task.item.turn.number", default=None, allow_null=True, read_only=True
    )
    occasion = serializers.CharField()
    state = serializers.CharField()
    submitted_at = serializers.DateTimeField()
    seconds = serializers.FloatField()
    attended = serializers.FloatField(allow_null=True)
    answers = serializers.IntegerField()
    seen = serializers.IntegerField()
    flagged = serializers.BooleanField()
    comment = serializers.CharField()
    reason = serializers.CharField(source="withdrawn_reason")

    def get_annotator(self, row: Assignment) -> str:
        """Return the pseudonym of who submitted it."""
        return str(self.context["names"][row.user_id])

    def get_about(self, row: Assignment) -> str:
        """Return the key of what was rated: of an item, or of a continuation with all its turns."""
        return key_of(row.task)


class WithdrawalSerializer(serializers.Serializer[Any]):
    """What to do with a submission, why, and which answers were looked at (`seen`)."""

    verb = serializers.ChoiceField(choices=["return", "void"])
    reason = serializers.CharField(max_length=withdrawing.REASON_LIMIT)
    seen = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)


class WithdrawnSerializer(serializers.Serializer[Any]):
    """How many labels no longer count."""

    labels = serializers.IntegerField()


BY_ANNOTATOR = OpenApiParameter("annotator", description="only of the annotator with this pseudonym")


def of_annotator(request: Request, campaign: Campaign, rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Return those of some assignments that are by the annotator whose pseudonym a request tells."""
    name = request.query_params.get("annotator")
    return rows if name is None else rows.filter(user=person_called(name, campaign))


SUBMISSIONS = Filters(
    {
        "state": one_of("state", ("submitted", "returned", "voided")),
        "since": since("submitted_at"),
    }
)


@extend_schema(parameters=[BY_ANNOTATOR, *SUBMISSIONS.parameters], responses=SubmissionSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def submissions(request: Request, campaign: int) -> Response:
    """Researchers: what was submitted in a campaign, latest first."""
    found = access.campaign(campaign)
    rows = of_annotator(request, found, SUBMISSIONS.of(request, withdrawing.submissions(found)))
    pager = Pages()
    page: list[Assignment] = pager.paginate_queryset(rows, request) or []
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    names = {"names": of_people({row.user_id for row in page}, found.corpus_id)}
    return pager.get_paginated_response(SubmissionSerializer(page, many=True, context=names).data)


@extend_schema(request=WithdrawalSerializer, responses=WithdrawnSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
@answered
def submission(request: Request, campaign: int, assignment: int) -> Response:
    """Researchers: hand a submission back to its annotator, or void it."""
    assert isinstance(request.user, User)
    given = WithdrawalSerializer(data=request.data)
    given.is_valid(raise_exception=True)
    values = dict(given.validated_data)
    found = access.submission(campaign, assignment)
    labels = withdrawing.VERBS[values.pop("verb")](by=request.user, assignment=found, **values)
    return Response({"labels": labels})
