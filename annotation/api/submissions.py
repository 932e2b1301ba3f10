"""API of submissions, tasks in hand and task previews, for researchers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.schemes import WrittenSerializer, read_scheme
from annotation.api.work import ScreenSerializer, question_json
from annotation.models import turn_numbers
from annotation.models.campaigns import Campaign
from annotation.models.work import Assignment
from annotation.scheme_store import Questionnaire, questionnaire_from, questionnaire_of
from annotation.work import screens
from annotation.work import submissions as actions
from annotation.work.labels import person_called
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.screens import Screen
from annotation.work.submissions import REASON_LIMIT
from config import api
from config.lists import Filters, one_of, since

# Previews of tasks for researchers: nothing is assigned, and nothing is stored.


class PreviewSerializer(serializers.Serializer[Any]):
    """Preview of a task (`number`, from 1, of the first `of`): its questions and its screen."""

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


@api.post(WrittenSerializer, PreviewSerializer)
def scheme_preview(request: Request) -> dict[str, Any]:
    """Researchers: preview a scheme's questions beside a sample, as for an annotator; nothing is stored."""
    definition = read_scheme(api.data(request))
    plan = questionnaire_from(definition)
    screen = screens.scheme_preview(definition, None)
    return _preview_json(plan, screen, definition.guidelines, 1, 1)


@api.get(PreviewSerializer, query=[TASK])
def campaign_preview(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: preview one of a campaign's first tasks as for an annotator, before or after it opens."""
    campaign_row = access.campaign(campaign)
    number = _number(request.query_params.get("task", "1"))
    places = screens.preview_places(campaign_row)
    if number > len(places):
        raise Http404(f"The campaign has {len(places)} tasks to look at.")
    plan = questionnaire_of(campaign_row.scheme_version_id)
    screen = screens.campaign_preview(campaign_row, places[number - 1])
    guidelines = campaign_row.guidelines.order_by("-version").first()
    return _preview_json(plan, screen, guidelines.text if guidelines else "", number, len(places))


def _preview_json(
    plan: Questionnaire, screen: Screen, guidelines: str, number: int, of: int
) -> dict[str, Any]:
    questions = [question_json(question) for question in plan.questions]
    payload = {"number": number, "of": of, "questions": questions, "guidelines": guidelines}
    return payload | {"task": ScreenSerializer(screen).data}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= screens.FIRST):
        raise ValidationError({"task": [f"A whole number from 1 to {screens.FIRST}."]})
    return int(text)


# Submissions: list, return to the annotator, void.


class AssignmentSerializer(serializers.Serializer[Any]):
    """An annotator's task, past or present; `occasion` is work, training, a test, a check or a repeat."""

    assignment = serializers.IntegerField(source="pk")
    annotator = serializers.SerializerMethodField()
    about = serializers.SerializerMethodField()
    turn_number = serializers.IntegerField(
        source="task.item.turn.number", default=None, allow_null=True, read_only=True
    )
    occasion = serializers.CharField()
    state = serializers.CharField()

    def get_annotator(self, row: Assignment) -> str:
        """Pseudonym of the annotator."""
        return str(self.context["names"][row.user_id])

    def get_about(self, row: Assignment) -> str:
        """Key of the rated item, or of the continuation where all its turns are rated."""
        return actions.key_of(row.task)

    @classmethod
    def payload(cls, rows: list[Assignment], campaign: Campaign) -> Any:
        """Return assignments of a campaign as JSON data."""
        turn_numbers.number(row.task.item.turn if row.task.item else None for row in rows)
        names = of_people({row.user_id for row in rows}, campaign.corpus_id)
        return cls(rows, many=True, context={"names": names}).data


class SubmissionSerializer(AssignmentSerializer):
    """A submission; `seen` identifies its current answers, `occasion` separates checks and repeats from work.

    `seconds` is the time from assignment to submission, `attended` the time of attention, where a page
    reported it.
    """

    submitted_at = serializers.DateTimeField()
    seconds = serializers.FloatField()
    attended = serializers.FloatField(allow_null=True)
    answers = serializers.IntegerField()
    seen = serializers.IntegerField()
    flagged = serializers.BooleanField()
    comment = serializers.CharField()
    reason = serializers.CharField(source="withdrawn_reason")


class WithdrawalSerializer(serializers.Serializer[Any]):
    """Return or void a submission: the reason, and the answers that the researcher has seen (`seen`)."""

    verb = serializers.ChoiceField(choices=["return", "void"])
    reason = serializers.CharField(max_length=REASON_LIMIT)
    seen = serializers.IntegerField(allow_null=True, default=None, min_value=0)


class WithdrawnSerializer(serializers.Serializer[Any]):
    """Number of labels that no longer count."""

    labels = serializers.IntegerField()


BY_ANNOTATOR = OpenApiParameter("annotator", description="only of the annotator with this pseudonym")
SUBMISSIONS = Filters(
    {
        "state": one_of("state", ("submitted", "returned", "voided")),
        "since": since("submitted_at"),
    }
)


def _of_annotator(request: Request, campaign: Campaign, rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Filter assignments by the annotator whose pseudonym the request names."""
    name = request.query_params.get("annotator")
    return rows if name is None else rows.filter(user=person_called(name, campaign))


@api.listing(
    SubmissionSerializer, query=[BY_ANNOTATOR, *SUBMISSIONS.parameters], permission=IsCampaignResearcher
)
def submissions(request: Request, campaign: int) -> Response:
    """Researchers: list the submissions of a campaign, latest first."""
    campaign_row = access.campaign(campaign)
    rows = SUBMISSIONS.of(request, actions.submissions(campaign_row))
    rows = _of_annotator(request, campaign_row, rows)
    return api.page_of(request, rows, lambda page: SubmissionSerializer.payload(page, campaign_row))


@api.post(WithdrawalSerializer, WithdrawnSerializer, permission=IsCampaignResearcher)
def submission(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Researchers: return a submission to its annotator, or void it."""
    data = api.data(request)
    assignment_row = access.submission(campaign, assignment)
    verb = actions.VERBS[data.pop("verb")]
    return {"labels": verb(by=api.user(request), assignment=assignment_row, **data)}


# Tasks in hand: list, take back, assign.


class HeldSerializer(AssignmentSerializer):
    """A task that an annotator holds `until` the lease ends; `draft_saved_at` is null without a draft.

    `state` is `leased` or `returned` (sent back for revision). `given` is the researcher's reason for
    assigning the task, '' where nobody did; `occasion` separates training, tests and checks from work.
    """

    since = serializers.DateTimeField(source="leased_at")
    until = serializers.DateTimeField(source="lease_expires")
    draft_saved_at = serializers.DateTimeField(allow_null=True)
    given = serializers.CharField(source="given_reason")


class GiveSerializer(serializers.Serializer[Any]):
    """The task to assign (an item's key or a task's number), the annotator, and the reason shown to them."""

    task = serializers.CharField(max_length=2_000)
    to = serializers.CharField(max_length=20, help_text="an annotator's pseudonym")
    reason = serializers.CharField(max_length=REASON_LIMIT)


class TakeSerializer(serializers.Serializer[Any]):
    """Reason for taking a task back, shown to its annotator; with `to`, the task goes to that annotator."""

    reason = serializers.CharField(max_length=REASON_LIMIT)
    to = serializers.CharField(max_length=20, allow_null=True, default=None)


def _annotator(name: str, campaign: Campaign) -> User:
    person = person_called(name, campaign)
    if person is None:
        raise ValidationError({"to": [f"No annotator of this campaign is called {name!r}."]})
    return person


@api.listing(HeldSerializer, query=[BY_ANNOTATOR], permission=IsCampaignResearcher)
def held_tasks(request: Request, campaign: int) -> Response:
    """Researchers: list the tasks that annotators hold now, longest held first."""
    campaign_row = access.campaign(campaign)
    rows = _of_annotator(request, campaign_row, actions.in_hand(campaign_row))
    return api.page_of(request, rows, lambda page: HeldSerializer.payload(page, campaign_row))


@api.post(
    GiveSerializer, HeldSerializer, status=201, permission=IsCampaignResearcher, name="campaigns_held_give"
)
def give(request: Request, campaign: int) -> Any:
    """Researchers: assign a task to an annotator."""
    campaign_row = access.campaign(campaign)
    data = api.data(request)
    task = actions.task_named(campaign_row, data.pop("task"))
    data["to"] = _annotator(data["to"], campaign_row)
    assignment = actions.give(by=api.user(request), campaign=campaign_row, task=task, **data)
    return HeldSerializer.payload([assignment], campaign_row)[0]


@api.post(TakeSerializer, HeldSerializer, permission=IsCampaignResearcher, name="campaigns_held_take_back")
def take_back(request: Request, campaign: int, assignment: int) -> Any:
    """Researchers: take a task back from its holder, for any annotator or for a named one (`to`)."""
    data, by = api.data(request), api.user(request)
    assignment_row = access.submission(campaign, assignment)
    if data["to"] is None:
        outcome = actions.take_back(by=by, assignment=assignment_row, reason=data["reason"])
    else:
        data["to"] = _annotator(data["to"], assignment_row.campaign)
        outcome = actions.pass_to(by=by, assignment=assignment_row, **data)
    return HeldSerializer.payload([outcome], assignment_row.campaign)[0]
