"""The API of submissions, for researchers: list them, hand one back, void one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.schemes import WrittenSerializer, read_scheme
from annotation.api.work import QUESTION_FIELDS, ScreenSerializer
from annotation.models import turn_numbers
from annotation.models.campaigns import Campaign
from annotation.models.work import Assignment
from annotation.scheme_store import Questionnaire, questionnaire_from, questionnaire_of
from annotation.work import screens
from annotation.work import submissions as handing
from annotation.work import submissions as withdrawing
from annotation.work.labels import person_called
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.screens import Screen
from annotation.work.submissions import REASON_LIMIT, in_hand, key_of
from config.lists import Filters, Pages, one_of, paged, since
from config.permissions import IsResearcher

# What annotators would get, for researchers: nothing is handed out, and nothing is kept.


class PreviewSerializer(serializers.Serializer[Any]):
    """A task (`number`, from 1, of the first `of`) as its annotator gets it: what is asked, what is shown."""

    number = serializers.IntegerField()
    of = serializers.IntegerField()
    questions = serializers.ListField(child=serializers.DictField())
    guidelines = serializers.CharField()
    task = ScreenSerializer()


TASK = OpenApiParameter(
    "task",
    {"type": "integer", "minimum": 1, "maximum": screens.FIRST, "default": 1},
    description=f"which of the campaign's first tasks, {screens.FIRST} at most",
)


@extend_schema(request=WrittenSerializer, responses=PreviewSerializer)
@api_view(["POST"])
@permission_classes([IsResearcher])
def scheme_preview(request: Request) -> Response:
    """Researchers: a scheme's questions beside a sample, as an annotator gets them; nothing is stored."""
    definition = read_scheme(WrittenSerializer, request)
    plan = questionnaire_from(definition)
    screen = screens.scheme_preview(definition, None)
    return Response(_preview_json(plan, screen, definition.guidelines, 1, 1))


@extend_schema(parameters=[TASK], responses=PreviewSerializer)
@api_view(["GET"])
@permission_classes([IsResearcher])
def campaign_preview(request: Request, campaign: int) -> Response:
    """Researchers: one of a campaign's first tasks as an annotator would get it, before or after it opens."""
    campaign_row = access.campaign(campaign)
    number = _number(request.query_params.get("task", "1"))
    places = screens.preview_places(campaign_row)
    if number > len(places):
        raise Http404(f"The campaign has {len(places)} tasks to look at.")
    plan = questionnaire_of(campaign_row.scheme_version_id)
    screen = screens.campaign_preview(campaign_row, places[number - 1])
    guidelines = campaign_row.guidelines.order_by("-version").first()
    return Response(_preview_json(plan, screen, guidelines.text if guidelines else "", number, len(places)))


def _preview_json(
    plan: Questionnaire, screen: Screen, guidelines: str, number: int, of: int
) -> dict[str, Any]:
    questions = [{name: getattr(question, name) for name in QUESTION_FIELDS} for question in plan.questions]
    payload = {"number": number, "of": of, "questions": questions, "guidelines": guidelines}
    return payload | {"task": ScreenSerializer(screen).data}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= screens.FIRST):
        raise ValidationError({"task": [f"A whole number from 1 to {screens.FIRST}."]})
    return int(text)


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
    campaign_row = access.campaign(campaign)
    rows = of_annotator(request, campaign_row, SUBMISSIONS.of(request, withdrawing.submissions(campaign_row)))
    pager = Pages()
    page: list[Assignment] = pager.paginate_queryset(rows, request) or []
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    names = {"names": of_people({row.user_id for row in page}, campaign_row.corpus_id)}
    return pager.get_paginated_response(SubmissionSerializer(page, many=True, context=names).data)


@extend_schema(request=WithdrawalSerializer, responses=WithdrawnSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def submission(request: Request, campaign: int, assignment: int) -> Response:
    """Researchers: hand a submission back to its annotator, or void it."""
    assert isinstance(request.user, User)
    serializer = WithdrawalSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    values = dict(serializer.validated_data)
    assignment_row = access.submission(campaign, assignment)
    labels = withdrawing.VERBS[values.pop("verb")](by=request.user, assignment=assignment_row, **values)
    return Response({"labels": labels})


# The API of tasks in hand, for researchers: list them, take one back, give one to somebody.


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


def _held_json(rows: list[Assignment], campaign: Campaign) -> Any:
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
def held_tasks(request: Request, campaign: int) -> Response:
    """Researchers: what annotators hold now, longest held first; or give a task to one of them."""
    campaign_row = access.campaign(campaign)
    if request.method == "POST":
        serializer = GiveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        task = handing.task_named(campaign_row, values.pop("task"))
        values["to"] = _annotator(values["to"], campaign_row)
        assignment = handing.give(by=_user(request), campaign=campaign_row, task=task, **values)
        return Response(_held_json([assignment], campaign_row)[0], status=201)
    pager = Pages()
    page: list[Assignment] = (
        pager.paginate_queryset(of_annotator(request, campaign_row, in_hand(campaign_row)), request) or []
    )
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    return pager.get_paginated_response(_held_json(page, campaign_row))


@extend_schema(request=TakeSerializer, responses=HeldSerializer, operation_id="campaigns_held_take_back")
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def take_back(request: Request, campaign: int, assignment: int) -> Response:
    """Researchers: take a task back from who holds it, for others to find or for somebody named (`to`)."""
    serializer = TakeSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    assignment_row = access.submission(campaign, assignment)
    to, reason = serializer.validated_data["to"], serializer.validated_data["reason"]
    if to is None:
        outcome = handing.take_back(by=_user(request), assignment=assignment_row, reason=reason)
    else:
        person = _annotator(to, assignment_row.campaign)
        outcome = handing.pass_to(by=_user(request), assignment=assignment_row, to=person, reason=reason)
    return Response(_held_json([outcome], assignment_row.campaign)[0])
