"""The API of annotating: what the annotation page does, for programs. Members of the campaign only."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.campaigns.settings import Settings
from annotation.models import Assignment, Campaign, CampaignMember, Corpus, Guidelines, PeopleGroup, System
from annotation.scheme_store import ScreenQuestion, find, questionnaire_of
from annotation.work import actions as labelling
from annotation.work import check_stages, task_page
from annotation.work.check_stages import ACCEPTED
from annotation.work.leases import Hold, Seat, limits_of
from annotation.work.own_work import progress
from annotation.work.screens import load
from annotation.work.task_page import beside, completion
from config import api
from config.permissions import IsSignedIn

# What the API of annotation takes and gives.

SETTINGS = tuple(Settings.__annotations__)
"""The settings of a campaign, by the names of its columns."""


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


class DraftSerializer(SubmitSerializer):
    """A draft: its version grows with every change; answers are item id to question to value, and evidence
    says what they point at.

    `client` names the program or tab that writes it, `based_on` the version of the task's draft it has seen,
    `attention` the milliseconds for which it had this task in front of somebody at work.
    """

    version = serializers.IntegerField(min_value=1, max_value=2**53 - 1)
    client = serializers.CharField(allow_blank=True, default="", max_length=64)
    answers = Answers(default=dict)


class SkipSerializer(serializers.Serializer[Any]):
    """Why a task is given up."""

    reason = serializers.CharField()


class ReopenSerializer(serializers.Serializer[Any]):
    """The task submitted last, or the one before `before`."""

    before = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=2**63 - 1)


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign; write with corpus and systems by name, annotators by user name."""

    corpus = serializers.SlugRelatedField(slug_field="name", queryset=Corpus.objects.all())
    scheme = serializers.CharField(
        source="scheme_version.scheme.key", max_length=140, help_text="key, or key@version"
    )
    systems = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    annotators = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.filter(is_active=True), many=True, required=False
    )
    guidelines = serializers.CharField(required=False, allow_blank=True)
    consent = serializers.CharField(required=False, allow_blank=True)
    shows = serializers.ListField(child=serializers.CharField(), required=False)
    baseline = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="a system of the corpus, with which all others are compared",
    )

    class Meta:
        model = Campaign
        fields = [
            "id",
            "name",
            "state",
            "corpus",
            "scheme",
            "systems",
            "include_self",
            *SETTINGS,
            "annotators",
            "guidelines",
            "consent",
            "shows",
            "archived_at",
        ]
        read_only_fields = ["state", "archived_at"]
        extra_kwargs: ClassVar[dict[str, Any]] = {"name": {"validators": []}}

    def validate_scheme(self, ref: str) -> str:
        """Refuse a scheme that there is not."""
        if find(ref) is None:
            raise serializers.ValidationError(f"There is no scheme “{ref}”.")
        return ref

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Find the systems of the corpus by their names."""
        corpus = attrs.get("corpus") or cast("Campaign", self.instance).corpus
        if name := attrs.get("baseline"):
            baseline = System.objects.filter(corpus=corpus, name=name).first()
            if baseline is None:
                raise serializers.ValidationError({"baseline": f"The corpus has no system “{name}”."})
            attrs = attrs | {"baseline": baseline}
        if "systems" not in attrs:
            return attrs
        names = attrs["systems"]
        systems = list(System.objects.filter(corpus=corpus, name__in=names))
        unknown = set(names) - {system.name for system in systems}
        if unknown:
            raise serializers.ValidationError({"systems": f"The corpus has no system “{min(unknown)}”."})
        return attrs | {"systems": systems}

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Name what is related."""
        guidelines = instance.guidelines.order_by("-version").first()
        consent = instance.consents.order_by("-version").first()
        return {
            "id": instance.pk,
            "name": instance.name,
            "state": instance.state,
            "corpus": instance.corpus.name,
            "scheme": instance.scheme_version.scheme.key,
            "scheme_version": instance.scheme_version.version,
            "systems": sorted(system.name for system in instance.systems.all()),
            "include_self": instance.include_self,
            **{name: getattr(instance, name) for name in SETTINGS},
            "baseline": instance.baseline and instance.baseline.name,
            "annotators": sorted(
                member.user.get_username() for member in instance.members.select_related("user")
            ),
            "guidelines": guidelines.text if guidelines else "",
            "consent": consent.text if consent else "",
            "shows": instance.shows,
            "archived_at": instance.archived_at,
        }

    @property
    def writable(self) -> list[str]:
        """The names of what can be written."""
        return [name for name, field in self.fields.items() if not field.read_only]

    def arguments(self) -> dict[str, Any]:
        """Return what was written as `campaigns.create` and `editing.change` take it."""
        values = dict(self.validated_data)
        if "scheme_version" in values:
            values["scheme"] = values.pop("scheme_version")["scheme"]["key"]
        return values


class StateSerializer(serializers.Serializer[Any]):
    """What to do with a campaign."""

    verb = serializers.ChoiceField(choices=["open", "pause", "close", "archive", "bring-back"])


class ReorderSerializer(serializers.Serializer[Any]):
    """The order that the tasks get which nobody has begun; what is left out stays as the campaign has it."""

    task_order = serializers.ChoiceField(choices=Campaign.Order.choices, required=False)
    order_by = serializers.CharField(max_length=120, required=False, allow_blank=True)
    apart_judge = serializers.CharField(max_length=200, required=False, allow_blank=True)


class ReorderedSerializer(serializers.Serializer[Any]):
    """How many tasks changed their place."""

    moved = serializers.IntegerField()


class CopySerializer(serializers.Serializer[Any]):
    """The name of a copy."""

    name = serializers.CharField(max_length=120)


class MembersSerializer(serializers.Serializer[Any]):
    """Who joins and who leaves, by user name; all active people of a group join by its name."""

    groups = serializers.SlugRelatedField(
        slug_field="name", queryset=PeopleGroup.objects.all(), many=True, required=False
    )
    add = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.filter(is_active=True), many=True, required=False
    )
    remove = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.all(), many=True, required=False
    )


class GuidelinesSerializer(serializers.Serializer[Any]):
    """Guidelines; `version` is given by Concord."""

    text = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField(read_only=True)


class ConsentSerializer(GuidelinesSerializer):
    """What annotators agree to before they work; `version` is given by Concord."""


class AcceptSerializer(serializers.Serializer[Any]):
    """Which version of what is agreed to (consent), was read (guidelines, a notice) or begins (the test)."""

    what = serializers.ChoiceField(choices=["consent", "guidelines", *ACCEPTED])
    version = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


@api.get(MyCampaignSerializer, many=True, permission=IsSignedIn)
def my_campaigns(request: Request) -> list[dict[str, Any]]:
    """Everyone signed in: the campaigns they take part in."""
    mine = CampaignMember.objects.filter(user=api.user(request)).exclude(campaign__state="draft")
    mine = mine.filter(campaign__archived_at=None)
    return [
        {
            "campaign": member.campaign_id,
            "name": member.campaign.name,
            "state": member.campaign.state,
            "done": member.done,
            "limits": limits_of(member).as_json(),
        }
        for member in mine.select_related("campaign").order_by("-campaign_id")
    ]


@api.post(permission=IsSignedIn)
def next_task(request: Request, campaign: int) -> dict[str, Any]:
    """Members: the task before them; claims one where they hold none.

    Where `waiting` is set, `task` is null until what it tells is accepted: a consent text, guidelines that
    changed since they were last read, or a notice of the training, the test or the checks. Who came by a link
    and is done finds under `completion` the `code` to take away and the `address` to return to ('' for none).
    """
    seat, hold = labelling.start(by=api.user(request), campaign=campaign)
    return _state(request, seat, hold, "next")


@api.post(AcceptSerializer, permission=IsSignedIn)
def accept(request: Request, campaign: int) -> dict[str, Any]:
    """Members: agree to a version of the consent text, say that changed guidelines or a notice are read.

    A notice is accepted with what it is and its `version`; accepting `training` or `test` begins it.
    """
    access.membership(api.user(request), campaign)
    task_page.accept(by=api.user(request), campaign=campaign, **api.data(request))
    seat, hold = labelling.start(by=api.user(request), campaign=campaign)
    return _state(request, seat, hold, "next")


@api.post(ReopenSerializer, permission=IsSignedIn)
def reopen(request: Request, campaign: int) -> dict[str, Any]:
    """Members: an earlier task of theirs, to be revised."""
    seat, hold = labelling.reopen(by=api.user(request), campaign=campaign, **api.data(request))
    return _state(request, seat, hold, "reopened")


@api.post(DraftSerializer, permission=IsSignedIn)
def save_draft(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: keep a draft; it replaces neither a newer one nor another client's that it has not seen."""
    draft = api.data(request)
    about = {name: draft.pop(name) for name in ("revising", "client", "based_on", "attention")}
    version = labelling.save_draft(
        by=api.user(request), campaign=campaign, assignment=assignment, draft=draft, **about
    )
    return {"version": version}


@api.post(SubmitSerializer, permission=IsSignedIn)
def submit(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: submit a task; the answer carries the next one. The same sent again changes nothing."""
    values = api.data(request)
    outcome = labelling.submit(by=api.user(request), campaign=campaign, assignment=assignment, **values)
    return _state(request, outcome.seat, outcome.next, outcome.status)


@api.post(SkipSerializer, permission=IsSignedIn)
def skip(request: Request, campaign: int, assignment: int) -> dict[str, Any]:
    """Members: give a task up for a reason; the answer carries the next one."""
    values = api.data(request)
    outcome = labelling.skip(by=api.user(request), campaign=campaign, assignment=assignment, **values)
    return _state(request, outcome.seat, outcome.next, outcome.status)


@api.get(GuidelinesSerializer, permission=IsSignedIn)
def guidelines(request: Request, campaign: int) -> Guidelines:
    """Members: the guidelines in force."""
    access.membership(api.user(request), campaign)
    return get_object_or_404(Guidelines.objects.filter(campaign_id=campaign).order_by("-version")[:1])


QUESTION_FIELDS = (
    *("key", "wording", "level", "values", "anchors", "group", "required", "show_if", "minimum", "maximum"),
    *("whole", "evidence", "evidence_for", "evidence_required", "item_kind"),
)
"""What programs are told of a question."""


def _state(request: Request, seat: Seat, hold: Hold | None, status: str) -> dict[str, Any]:
    task, plan = None, questionnaire_of(seat.version)
    if hold is not None:
        screen = load(hold.task, plan.is_tagged, hold.assignment, plan.item_kinds)
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
        "progress": progress(seat=seat, hold=hold)._asdict(),
        "limits": seat.limits.as_json(),
        "questions": [question_json(question) for question in plan.questions],
        "task": task,
    }


def question_json(question: ScreenQuestion) -> dict[str, Any]:
    """Return a question as programs are told of it."""
    return {name: getattr(question, name) for name in QUESTION_FIELDS}
