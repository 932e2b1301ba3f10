"""API of annotation, equivalent to the annotation page. Members of the campaign only."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.models import Assignment, CampaignMember, Guidelines
from annotation.scheme_store import ScreenQuestion, questionnaire_of
from annotation.work import check_stages, task_page
from annotation.work import task_actions as labelling
from annotation.work.check_stages import ACCEPTED
from annotation.work.leases import Hold, Seat, limits_of
from annotation.work.own_work import progress
from annotation.work.screens import load, with_notes
from annotation.work.task_page import beside, completion
from config import api
from config.permissions import IsSignedIn

# Request and response bodies.


@extend_schema_serializer(component_name="ShownLine")
class LineSerializer(serializers.Serializer[Any]):
    """A turn as shown: `how` and `private` describe its act and audience; `item` is set where the turn itself
    is rated. `line` is its place on the screen, counted from 1; evidence refers to turns by `line`."""

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
    """A section of the transcript; long sections are `folded`: pages show them on request."""

    heading = serializers.CharField()
    lines = LineSerializer(many=True)
    folded = serializers.BooleanField()


class SideSerializer(serializers.Serializer[Any]):
    """A compared side, with its name on the screen."""

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
    """A choice of a question, and whether it is the correct answer."""

    letter = serializers.CharField()
    text = serializers.CharField()
    is_answer = serializers.BooleanField()


class CardSerializer(serializers.Serializer[Any]):
    """Content of a fact or a question, or the expected answer: `rows` are [name, text], `wordings` [speaker,
    text]."""

    title = serializers.CharField()
    rows = serializers.ListField()
    choices = ChoiceSerializer(many=True)
    wordings = serializers.ListField()


class ScreenSerializer(serializers.Serializer[Any]):
    """Content of a task that its annotator may see.

    `items` are in order; where a scheme asks about turns and about the whole dialogue (see `item_kind` of
    questions), the last item is the `whole`. `sides` are the compared sides, in the order drawn for this
    annotator. Answers refer to this order: `first` is the first side, and rankings number sides from 0.
    Where each side is rated by itself, `items` are those of the sides.
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
    start_texts = serializers.DictField(
        child=serializers.CharField(),
        help_text="by question, the text with which its answer begins; an unchanged one is no answer",
    )
    metadata = serializers.ListField()
    summary = serializers.CharField()
    agenda = serializers.ListField(child=serializers.CharField())
    language = serializers.CharField()


@extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
class Answers(serializers.JSONField):
    """Item id to question to value; the values are checked against the scheme."""


ENTRY = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in ("line", "start", "end")},
    "required": ["line"],
}
BY_QUESTION = {"type": "object", "additionalProperties": {"type": "array", "items": ENTRY}}


@extend_schema_field({"type": "object", "additionalProperties": BY_QUESTION})
class EvidenceField(serializers.JSONField):
    """Item id to question to evidence: lines of the screen, counted from 1, or a span of a line's text from
    `start` to `end` (Unicode code points, `end` excluded)."""


class LimitsSerializer(serializers.Serializer[Any]):
    """Deadline and maximum number of tasks of an annotator; `notice` is on the limit `reached`, if any."""

    deadline = serializers.DateTimeField(allow_null=True)
    most_tasks = serializers.IntegerField(allow_null=True)
    most_tasks_a_day = serializers.IntegerField(allow_null=True)
    done_today = serializers.IntegerField()
    reached = serializers.ChoiceField(choices=["", "deadline", "total", "day"])
    notice = serializers.CharField()


class MyCampaignSerializer(serializers.Serializer[Any]):
    """A campaign of the annotator, with the number of tasks done."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    done = serializers.IntegerField()
    limits = LimitsSerializer()
    prerequisite = serializers.CharField(
        allow_blank=True, help_text="Name of the campaign whose test has to be passed first"
    )


class SubmitSerializer(serializers.Serializer[Any]):
    """Answers to a task: item id to question to value; `client`, `based_on` and `attention` as in a draft."""

    client = serializers.CharField(allow_null=True, default=None, max_length=labelling.CLIENT_LIMIT)
    based_on = serializers.IntegerField(
        allow_null=True, default=None, min_value=0, max_value=labelling.MOST_VERSION
    )
    answers = Answers()
    evidence = EvidenceField(default=dict)
    comment = api.optional_text(max_length=labelling.COMMENT_LIMIT)
    flagged = serializers.BooleanField(default=False)
    attention = serializers.IntegerField(default=0, min_value=0, max_value=labelling.MOST_VERSION)
    revising = serializers.BooleanField(default=False)


class DraftSerializer(SubmitSerializer):
    """A draft: its version grows with every change; answers are item id to question to value, evidence the
    lines or spans that support them.

    `client` identifies the program or tab that writes the draft, `based_on` is the draft version that it has
    seen, `attention` the milliseconds for which it showed the task to an active annotator.
    """

    version = serializers.IntegerField(min_value=1, max_value=labelling.MOST_VERSION)
    client = api.optional_text(max_length=labelling.CLIENT_LIMIT)
    answers = Answers(default=dict)


class SkipSerializer(serializers.Serializer[Any]):
    """Reason for skipping a task."""

    reason = serializers.CharField()


class ReopenSerializer(serializers.Serializer[Any]):
    """The task to reopen: the last submitted one, or the one before `before`."""

    before = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=2**63 - 1)


class GuidelinesSerializer(serializers.Serializer[Any]):
    """Guidelines; Concord sets `version`."""

    text = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField(read_only=True)


class AcceptSerializer(serializers.Serializer[Any]):
    """The version of a consent text agreed to, of guidelines or a notice read, or of a test to begin."""

    what = serializers.ChoiceField(choices=["consent", "guidelines", *ACCEPTED])
    version = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


@api.get(MyCampaignSerializer, many=True, permission=IsSignedIn)
def my_campaigns(request: Request) -> list[dict[str, Any]]:
    """Everyone signed in: list the campaigns of which you are a member."""
    mine = CampaignMember.objects.filter(user=api.user(request)).exclude(campaign__state="draft")
    mine = mine.filter(campaign__archived_at=None)
    first = check_stages.prerequisites(api.user(request).pk)
    return [
        {
            "campaign": member.campaign_id,
            "name": member.campaign.name,
            "state": member.campaign.state,
            "done": member.done,
            "limits": limits_of(member).as_json(),
            "prerequisite": first[member.campaign_id].name if member.campaign_id in first else "",
        }
        for member in mine.select_related("campaign").order_by("-campaign_id")
    ]


@api.post(permission=IsSignedIn)
def next_task(request: Request, campaign: int) -> dict[str, Any]:
    """Members: get your current task, or claim the next one.

    Where `waiting` is set, `task` is null until its content is accepted: a consent text, guidelines that
    changed since they were last read, or a notice of the training, the test or the checks. Participants who
    joined by a link get, when done, the `code` and the `address` to return to ('' for none) in `completion`.
    Where members write before they rate, `own_page` is the address of the campaign's page for that, '' else.
    """
    seat, hold = labelling.start(by=api.user(request), campaign=campaign)
    return _state(request, seat, hold, "next")


@api.post(AcceptSerializer, permission=IsSignedIn)
def accept(request: Request, campaign: int) -> dict[str, Any]:
    """Members: agree to a version of the consent text, or confirm changed guidelines or a notice as read.

    A notice is accepted by its kind (`what`) and `version`; accepting `training` or `test` begins it.
    """
    access.membership(api.user(request), campaign)
    task_page.accept(by=api.user(request), campaign=campaign, **api.data(request))
    seat, hold = labelling.start(by=api.user(request), campaign=campaign)
    return _state(request, seat, hold, "next")


@api.post(ReopenSerializer, permission=IsSignedIn)
def reopen(request: Request, campaign: int) -> dict[str, Any]:
    """Members: reopen an earlier task of yours for revision."""
    seat, hold = labelling.reopen(by=api.user(request), campaign=campaign, **api.data(request))
    return _state(request, seat, hold, "reopened")


@api.post(DraftSerializer, permission=IsSignedIn)
def save_draft(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: save a draft; it replaces neither a newer draft nor another client's unseen draft."""
    draft = api.data(request)
    about = {name: draft.pop(name) for name in ("revising", "client", "based_on", "attention")}
    version = labelling.save_draft(
        by=api.user(request), campaign=campaign, assignment=assignment, draft=draft, **about
    )
    return {"version": version}


@api.post(SubmitSerializer, permission=IsSignedIn)
def submit(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: submit a task; the response has the next one. An identical repeat changes nothing."""
    values = api.data(request)
    outcome = labelling.submit(by=api.user(request), campaign=campaign, assignment=assignment, **values)
    return _state(request, outcome.seat, outcome.next, outcome.status)


@api.post(SkipSerializer, permission=IsSignedIn)
def skip(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: skip a task for a reason; the response has the next one."""
    values = api.data(request)
    outcome = labelling.skip(by=api.user(request), campaign=campaign, assignment=assignment, **values)
    return _state(request, outcome.seat, outcome.next, outcome.status)


@api.get(GuidelinesSerializer, permission=IsSignedIn)
def guidelines(request: Request, campaign: int) -> Guidelines:
    """Members: read the current guidelines."""
    access.membership(api.user(request), campaign)
    return get_object_or_404(Guidelines.objects.filter(campaign_id=campaign).order_by("-version")[:1])


QUESTION_FIELDS = (
    *("key", "wording", "level", "values", "anchors", "group", "required", "show_if", "minimum", "maximum"),
    *("whole", "evidence", "evidence_for", "evidence_required", "item_kind"),
)
"""Fields of a question in responses."""


def _state(request: Request, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    task, plan = None, questionnaire_of(seat.version)
    if hold is not None:
        screen = with_notes(load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds), plan.key)
        task = ScreenSerializer(screen).data | {
            "assignment": hold.assignment,
            "draft": hold.draft,
            "revising": hold.state == Assignment.State.SUBMITTED,
            "note": hold.note,
            **beside(by=api.user(request), seat=seat, hold=hold, screen=screen),
        }
    before = (task_page.waiting(seat) or check_stages.waiting(seat)) if hold is None else None
    done = completion(seat) if hold is None and before is None and not seat.waits else None
    return {
        "status": status,
        "campaign": seat.state,
        "waiting": before and before.as_json(),
        "completion": done and done._asdict(),
        "own_page": task_page.own_page(seat) if hold is None and before is None else "",
        "progress": progress(seat=seat, hold=hold)._asdict(),
        "limits": seat.limits.as_json(),
        "questions": [question_json(question) for question in plan.questions],
        "task": task,
    }


def question_json(question: ScreenQuestion) -> dict[str, Any]:
    """Return a question as JSON data."""
    return {name: getattr(question, name) for name in QUESTION_FIELDS}
