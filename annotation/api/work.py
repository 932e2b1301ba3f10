"""The API of annotating: what the annotation page does, for programs. Members of the campaign only."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.refusals import answered
from annotation.models import Assignment, CampaignMember, Guidelines
from annotation.scheme_store import ScreenQuestion, questionnaire_of
from annotation.work import actions as labelling
from annotation.work import check_stages, task_page
from annotation.work.check_stages import ACCEPTED
from annotation.work.leases import Hold, Seat, limits_of
from annotation.work.own_work import progress
from annotation.work.screens import load
from annotation.work.task_page import beside, completion
from config.permissions import IsSignedIn

# What the API of annotation takes and gives.


@extend_schema_serializer(component_name="ShownLine")
class LineSerializer(serializers.Serializer[Any]):
    """One turn as shown: `how` and `private` say what happened beside its text; `item` is set where the turn
    itself is rated. `line` is its place on the screen, counted from 1: evidence names turns by it."""

    line = serializers.IntegerField()
    no = serializers.IntegerField()
    speaker = serializers.CharField(source="who")
    how = serializers.CharField()
    private = serializers.CharField()
    heading = serializers.CharField()
    text = serializers.CharField()
    place = serializers.ChoiceField(choices=["history", "given", "item", "rated", "marked"])
    item = serializers.IntegerField(allow_null=True)


class PartSerializer(serializers.Serializer[Any]):
    """A stretch of the transcript; `folded` ones are long, and pages show them when asked."""

    heading = serializers.CharField()
    lines = LineSerializer(many=True)
    folded = serializers.BooleanField()


class SideSerializer(serializers.Serializer[Any]):
    """One of what is compared, by the name that the screen gives it."""

    name = serializers.CharField()
    parts = PartSerializer(many=True)


class PersonSerializer(serializers.Serializer[Any]):
    """A speaker."""

    name = serializers.CharField()
    role = serializers.CharField()
    profile = serializers.ListField(child=serializers.CharField())
    aliases = serializers.ListField(child=serializers.CharField())
    extra = serializers.ListField()


class ChoiceSerializer(serializers.Serializer[Any]):
    """A choice of a question, and whether it is the answer."""

    letter = serializers.CharField()
    text = serializers.CharField()
    is_answer = serializers.BooleanField()


class CardSerializer(serializers.Serializer[Any]):
    """What a fact or a question says, or what an answer should have been: `rows` are [name, text], `wordings`
    [who asks, text]."""

    title = serializers.CharField()
    rows = serializers.ListField()
    choices = ChoiceSerializer(many=True)
    wordings = serializers.ListField()


class ScreenSerializer(serializers.Serializer[Any]):
    """What an annotator may see of a task.

    `items` are in their order; where questions about the whole dialogue (their `item_kind`) stand beside
    those about turns, the last is the `whole`. `sides` are what is compared, in the order drawn for this
    annotator. Answers speak of them in this order: `first` is the first of them, and rankings number them
    from 0. Where each of them is rated for itself, `items` are theirs.
    """

    items = serializers.ListField(child=serializers.IntegerField())
    whole = serializers.IntegerField(allow_null=True)
    parts = PartSerializer(many=True)
    sides = SideSerializer(many=True)
    people = PersonSerializer(many=True)
    named = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="[id, name] of those whom an answer may name: people of a decision, sessions of a question",
    )
    card = CardSerializer(allow_null=True)
    offered = serializers.ListField(help_text="[list, values] that answers in words may be chosen from")
    metadata = serializers.ListField()
    summary = serializers.CharField()
    agenda = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField()


@extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
class Answers(serializers.JSONField):
    """Item id to question to value; what it may hold is checked against the scheme."""


ENTRY = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in ("line", "start", "end")},
    "required": ["line"],
}
BY_QUESTION = {"type": "object", "additionalProperties": {"type": "array", "items": ENTRY}}


@extend_schema_field({"type": "object", "additionalProperties": BY_QUESTION})
class EvidenceField(serializers.JSONField):
    """Item id to question to what the answer points at: lines of the screen, counted from 1, and with `start`
    and `end` (Unicode code points, `end` excluded) a stretch of a line's text."""


class LimitsSerializer(serializers.Serializer[Any]):
    """Until when, and how much, an annotator may submit; `notice` says which of it is `reached`, if any."""

    deadline = serializers.DateTimeField(allow_null=True)
    most_tasks = serializers.IntegerField(allow_null=True)
    most_tasks_a_day = serializers.IntegerField(allow_null=True)
    done_today = serializers.IntegerField()
    reached = serializers.ChoiceField(choices=["", "deadline", "total", "day"])
    notice = serializers.CharField()


class MyCampaignSerializer(serializers.Serializer[Any]):
    """A campaign that an annotator takes part in, with how many tasks they have done."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    done = serializers.IntegerField()
    limits = LimitsSerializer()


class DraftSerializer(serializers.Serializer[Any]):
    """A draft: its version grows with every change; answers are item id to question to value, and evidence
    says what they point at.

    `client` names the program or tab that writes it, `based_on` the version of the task's draft it has seen,
    `attention` the milliseconds for which it had this task in front of somebody at work.
    """

    version = serializers.IntegerField(min_value=1, max_value=2**53 - 1)
    client = serializers.CharField(allow_blank=True, default="", max_length=64)
    based_on = serializers.IntegerField(allow_null=True, default=None, min_value=0, max_value=2**53 - 1)
    answers = Answers(default=dict)
    evidence = EvidenceField(default=dict)
    comment = serializers.CharField(allow_blank=True, default="", max_length=5000)
    flagged = serializers.BooleanField(default=False)
    attention = serializers.IntegerField(default=0, min_value=0, max_value=2**53 - 1)
    revising = serializers.BooleanField(default=False)


class SubmitSerializer(serializers.Serializer[Any]):
    """Answers to a task: item id to question to value; `client`, `based_on` and `attention` as in a draft."""

    client = serializers.CharField(allow_null=True, default=None, max_length=64)
    based_on = serializers.IntegerField(allow_null=True, default=None, min_value=0, max_value=2**53 - 1)
    answers = Answers()
    evidence = EvidenceField(default=dict)
    comment = serializers.CharField(allow_blank=True, default="", max_length=5000)
    flagged = serializers.BooleanField(default=False)
    attention = serializers.IntegerField(default=0, min_value=0, max_value=2**53 - 1)
    revising = serializers.BooleanField(default=False)


class SkipSerializer(serializers.Serializer[Any]):
    """Why a task is given up."""

    reason = serializers.CharField()


class ReopenSerializer(serializers.Serializer[Any]):
    """The task submitted last, or the one before `before`."""

    before = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=2**63 - 1
    )


class GuidelinesSerializer(serializers.Serializer[Any]):
    """Guidelines; `version` is given by Concord."""

    text = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField(read_only=True)


class AcceptSerializer(serializers.Serializer[Any]):
    """Which version of what is agreed to (consent), was read (guidelines, a notice) or begins (the test)."""

    what = serializers.ChoiceField(choices=["consent", "guidelines", *ACCEPTED])
    version = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(responses=MyCampaignSerializer(many=True))
@api_view(["GET"])
@permission_classes([IsSignedIn])
def my_campaigns(request: Request) -> Response:
    """Everyone signed in: the campaigns they take part in."""
    mine = CampaignMember.objects.filter(user=_user(request)).exclude(campaign__state="draft")
    mine = mine.filter(campaign__archived_at=None)
    memberships = mine.select_related("campaign").order_by("-campaign_id")
    return Response(
        [
            {
                "campaign": member.campaign_id,
                "name": member.campaign.name,
                "state": member.campaign.state,
                "done": member.done,
                "limits": limits_of(member).as_json(),
            }
            for member in memberships
        ]
    )


@extend_schema(request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def next_task(request: Request, campaign: int) -> Response:
    """Members: the task before them; claims one where they hold none.

    Where `waiting` is set, `task` is null until what it tells is accepted: a consent text, guidelines that
    changed since they were last read, or a notice of the training, the test or the checks. Who came by a link
    and is done finds under `completion` the `code` to take away and the `address` to return to ('' for none).
    """
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return Response(_state(_user(request), seat, hold, "next"))


@extend_schema(request=AcceptSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def accept(request: Request, campaign: int) -> Response:
    """Members: agree to a version of the consent text, say that changed guidelines or a notice are read.

    A notice is accepted with what it is and its `version`; accepting `training` or `test` begins it.
    """
    access.membership(_user(request), campaign)
    values = _checked(AcceptSerializer(data=request.data))
    task_page.accept(by=_user(request), campaign=campaign, **values)
    seat, hold = labelling.start(by=_user(request), campaign=campaign)
    return Response(_state(_user(request), seat, hold, "next"))


@extend_schema(request=ReopenSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def reopen(request: Request, campaign: int) -> Response:
    """Members: an earlier task of theirs, to be revised."""
    values = _checked(ReopenSerializer(data=request.data))
    seat, hold = labelling.reopen(by=_user(request), campaign=campaign, before=values["before"])
    return Response(_state(_user(request), seat, hold, "reopened"))


@extend_schema(request=DraftSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def save_draft(request: Request, campaign: int, assignment: int) -> Response:
    """Members: keep a draft; it replaces neither a newer one nor another client's that it has not seen."""
    draft = _checked(DraftSerializer(data=request.data))
    about = {name: draft.pop(name) for name in ("revising", "client", "based_on", "attention")}
    version = labelling.save_draft(
        by=_user(request), campaign=campaign, assignment=assignment, draft=draft, **about
    )
    return Response({"version": version})


@extend_schema(request=SubmitSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def submit(request: Request, campaign: int, assignment: int) -> Response:
    """Members: submit a task; the answer carries the next one. The same sent again changes nothing."""
    values = _checked(SubmitSerializer(data=request.data))
    outcome = labelling.submit(by=_user(request), campaign=campaign, assignment=assignment, **values)
    return Response(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@extend_schema(request=SkipSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([IsSignedIn])
@answered
def skip(request: Request, campaign: int, assignment: int) -> Response:
    """Members: give a task up for a reason; the answer carries the next one."""
    values = _checked(SkipSerializer(data=request.data))
    outcome = labelling.skip(by=_user(request), campaign=campaign, assignment=assignment, **values)
    return Response(_state(_user(request), outcome.seat, outcome.next, outcome.status))


@extend_schema(responses=GuidelinesSerializer)
@api_view(["GET"])
@permission_classes([IsSignedIn])
def guidelines(request: Request, campaign: int) -> Response:
    """Members: the guidelines in force."""
    access.membership(_user(request), campaign)
    current = get_object_or_404(Guidelines.objects.filter(campaign_id=campaign).order_by("-version")[:1])
    return Response(GuidelinesSerializer(current).data)


QUESTION_FIELDS = (
    "key",
    "wording",
    "level",
    "values",
    "anchors",
    "group",
    "required",
    "show_if",
    "minimum",
    "maximum",
    "whole",
    "evidence",
    "evidence_for",
    "evidence_required",
    "item_kind",
)
"""What programs are told of a question."""


def _checked(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _state(by: User, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    task, plan = None, questionnaire_of(seat.version)
    if hold is not None:
        screen = load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds)
        task = ScreenSerializer(screen).data | {
            "assignment": hold.assignment,
            "draft": hold.draft,
            "revising": hold.state == Assignment.State.SUBMITTED,
            "note": hold.note,
            **beside(by=by, seat=seat, hold=hold, screen=screen),
        }
    before = (task_page.waiting(seat) or check_stages.waiting(seat)) if hold is None else None
    done = completion(seat) if hold is None and before is None and not seat.waits else None
    return {
        "status": status,
        "campaign": seat.state,
        "waiting": before and before.as_json(),
        "completion": done and done._asdict(),
        "progress": progress(seat=seat, hold=hold)._asdict(),
        "limits": seat.limits.as_json(),
        "questions": [_question(question) for question in plan.questions],
        "task": task,
    }


def _question(question: ScreenQuestion) -> dict[str, Any]:
    return {name: getattr(question, name) for name in QUESTION_FIELDS}
