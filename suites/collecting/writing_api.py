"""The API of written responses: as the pages, for members and for researchers."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.campaigns import CampaignSerializer, SettingsSerializer
from annotation.models import Assignment, Campaign, Corpus
from annotation.work.labels import pseudonyms_of_people
from config import api
from config.lists import Filters, one_of
from config.permissions import IsSignedIn
from suites.collecting import writing_actions, writing_plans
from suites.collecting.models import WritingPlan
from suites.collecting.writing_plans import PLAN_SETTINGS

Plain = serializers.Serializer[Any]


class WritingPlanSerializer(SettingsSerializer):
    """What the members of a campaign see, and write."""

    settings = PLAN_SETTINGS

    class Meta:
        model = WritingPlan
        fields = [*PLAN_SETTINGS]


class NewWriteCampaignSerializer(Plain):
    """A new campaign of written responses to the dialogues of a corpus."""

    name = serializers.CharField()
    corpus = serializers.SlugRelatedField(slug_field="name", queryset=Corpus.objects.all())
    raters_per_item = serializers.IntegerField(
        default=2, min_value=1, max_value=100, help_text="Writers of a dialogue"
    )
    plan = WritingPlanSerializer(default=dict)
    scheme = api.optional_text(help_text="Only for training and tests: key, or key@version")
    guidelines = serializers.CharField(required=False, allow_blank=True)
    consent = api.optional_text()


WritingPlaceSerializer = api.serializer_of(writing_actions.Place, "WritingPlace")
SentSerializer = api.serializer_of(writing_actions.Sent, "SentResponse")


class ResponseTextSerializer(Plain):
    """Response `number` to a dialogue, from 1; the same again is the same response."""

    number = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    text = serializers.CharField(
        trim_whitespace=False, allow_blank=True, max_length=writing_actions.DRAFT_LIMIT
    )


class SkippedDialogueSerializer(Plain):
    """Reason for skipping a dialogue."""

    reason = serializers.CharField()


class WriterDialogueSerializer(Plain):
    """A dialogue of a writer, by pseudonym, with the number of responses so far."""

    id = serializers.IntegerField(source="pk")
    dialogue = serializers.CharField(source="task.continuation.dialogue.key")
    writer = serializers.SerializerMethodField()
    state = serializers.CharField()
    responses = serializers.IntegerField(source="number")
    began_at = serializers.DateTimeField(source="leased_at")
    last_at = serializers.DateTimeField(allow_null=True)

    def get_writer(self, row: Assignment) -> str:
        """Pseudonym of the writer."""
        return pseudonyms_of_people([row.user_id], row.campaign.corpus_id)[row.user_id]


class ResponseOfWriterSerializer(Plain):
    """A response at `point`, the number of turns before it, with the real reply."""

    number = serializers.IntegerField()
    point = serializers.IntegerField()
    text = serializers.CharField()
    real = serializers.CharField()
    at = serializers.DateTimeField()


class WritingTextSerializer(WriterDialogueSerializer):
    """A dialogue of a writer with the responses."""

    texts = ResponseOfWriterSerializer(many=True)


@api.post(NewWriteCampaignSerializer, CampaignSerializer, status=201)
def create(request: Request) -> Campaign:
    """Create a draft campaign of written responses; members and other settings are as for any campaign."""
    return writing_plans.create(by=api.user(request), **api.data(request))


@api.post(gives=WritingPlaceSerializer, permission=IsSignedIn)
def start(request: Request, campaign: int) -> writing_actions.Place:
    """Members: get the dialogue that you write for, up to the next point; one is claimed where you have none.

    `state` is `task` where something on the annotation page comes first, `nothing` where nothing is left.
    """
    _member(request, campaign)
    return writing_actions.start(by=api.user(request), campaign=campaign)


def _member(request: Request, campaign: int) -> None:
    access.membership(api.user(request), campaign)
    get_object_or_404(WritingPlan, campaign=campaign)


@api.post(ResponseTextSerializer, SentSerializer, permission=IsSignedIn)
def send(request: Request, campaign: int, assignment: int) -> writing_actions.Sent:
    """Members: send the next response to an own dialogue; the last one finishes it."""
    _member(request, campaign)
    values = api.data(request)
    return writing_actions.send(by=api.user(request), campaign=campaign, assignment=assignment, **values)


@api.post(ResponseTextSerializer, permission=IsSignedIn)
def save_draft(request: Request, campaign: int, assignment: int) -> None:
    """Members: save the text begun for the next response to an own dialogue."""
    _member(request, campaign)
    values = api.data(request)
    writing_actions.save_draft(by=api.user(request), campaign=campaign, assignment=assignment, **values)


@api.post(SkippedDialogueSerializer, permission=IsSignedIn)
def skip(request: Request, campaign: int, assignment: int) -> None:
    """Members: skip an own dialogue for a reason; others get it."""
    _member(request, campaign)
    values = api.data(request)
    writing_actions.skip(by=api.user(request), campaign=campaign, assignment=assignment, **values)


@api.get(
    WriterDialogueSerializer,
    permission=IsCampaignResearcher,
    paged=True,
    filters=Filters({"state": one_of("state", Assignment.State.values)}),
)
def writings(request: Request, campaign: int) -> QuerySet[Assignment]:
    """Campaign researchers: list who writes, or wrote, for which dialogue, latest first."""
    get_object_or_404(WritingPlan, campaign=campaign)
    return writing_actions.writings(campaign)


@api.get(WritingTextSerializer, permission=IsCampaignResearcher)
def writing(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Campaign researchers: read what a person wrote for a dialogue, beside the real replies."""
    get_object_or_404(WritingPlan, campaign=campaign)
    row = get_object_or_404(writing_actions.writings(campaign), pk=assignment)
    return {**WriterDialogueSerializer(row).data, "texts": writing_actions.responses(row)}


urlpatterns = [
    path("write-campaigns/", api.route(create), name="api-write-campaigns"),
    path("work/<int:campaign>/writing/", api.route(start), name="api-write"),
    path("work/<int:campaign>/writing/<int:assignment>/responses/", api.route(send), name="api-write-send"),
    path(
        "work/<int:campaign>/writing/<int:assignment>/draft/", api.route(save_draft), name="api-write-draft"
    ),
    path("work/<int:campaign>/writing/<int:assignment>/skip/", api.route(skip), name="api-write-skip"),
    path("campaigns/<int:campaign>/writings/", api.route(writings), name="api-writings"),
    path("campaigns/<int:campaign>/writings/<int:assignment>/", api.route(writing), name="api-writing"),
]
