"""API of campaigns, for researchers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.drainage import set_override
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher, IsResearcherSomewhere
from annotation.api.work import GuidelinesSerializer
from annotation.campaigns import allocation, campaign_actions, comparing, editing, sampling
from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import progress as campaign_progress
from annotation.campaigns import tasks as campaign_tasks
from annotation.campaigns.bulk_acts import CAMPAIGN_ACTS
from annotation.campaigns.defaults import defaults
from annotation.campaigns.settings import SETTINGS, Setting
from annotation.corpora import exclusion, queries, splits
from annotation.models import (
    CampaignRole,
    Consent,
    Corpus,
    Guidelines,
    JoinLink,
    Participant,
    ParticipantBrowser,
    PeopleGroup,
    System,
)
from annotation.models.campaigns import Campaign
from annotation.people import accounts, participants
from annotation.scheme_store import find
from config import api
from config.bulk import BulkOutcomeSerializer
from config.lists import Filters, holds, one_of, since, with_name
from config.permissions import IsResearcher, is_researcher
from jobs.api import accepted
from jobs.models import Job

# Request and response bodies of campaigns.

BASELINE, REVIEW = SETTINGS["baseline"], SETTINGS["review"]


class StratumSerializer(serializers.Serializer[Any]):
    """A stratum of a review queue: its rule, and a share or a number of its items; neither: of the total."""

    rule = serializers.ChoiceField(
        choices=list(allocation.RULES),
        help_text="; ".join(f"{rule.key}: {rule.meaning}" for rule in allocation.RULES.values()),
    )
    limit = serializers.FloatField(required=False, allow_null=True, help_text="A score, or a distance.")
    values = serializers.ListField(
        child=serializers.JSONField(), required=False, allow_null=True, help_text="Answers, for `value`."
    )
    share = serializers.FloatField(
        required=False, allow_null=True, help_text="Above 0, at most 1; of the rest also 0: left out."
    )
    number = serializers.IntegerField(required=False, allow_null=True)
    sd = serializers.FloatField(
        required=False, allow_null=True, help_text="Standard deviation for Neyman allocation; else estimated."
    )


class ReviewQueueSerializer(serializers.Serializer[Any]):
    """A review queue: items drawn by judges' answers to a question, in strata; the first that fits counts."""

    judges = serializers.ListField(child=serializers.CharField())
    question = serializers.CharField(help_text="Key of a question of the campaign's scheme.")
    strata = StratumSerializer(many=True)
    total = serializers.IntegerField(required=False, allow_null=True)
    allocation = serializers.ChoiceField(
        choices=list(allocation.ALLOCATIONS), required=False, allow_null=True, allow_blank=True
    )


class SettingsSerializer(serializers.ModelSerializer[Any]):
    """A row with settings: the API document shows their texts and bounds; their actions check the bounds."""

    settings: ClassVar[Mapping[str, Setting]]

    def get_extra_kwargs(self) -> dict[str, Any]:
        """Add each setting's description, and its error messages for invalid values."""
        described = {
            name: {
                "help_text": f"{setting.description} May change {setting.when}.",
                "error_messages": setting.error_messages,
            }
            for name, setting in self.settings.items()
        }
        return super().get_extra_kwargs() | described

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the settings' bounds to the API document."""
        fields = super().get_fields()
        for name, setting in self.settings.items():
            if setting.bounds is not None:
                least, most = setting.bounds
                kind = {"type": "number", "format": "double"} if setting.is_share else {"type": "integer"}
                set_override(fields[name], "field", {**kind, "minimum": least, "maximum": most})
        return fields


class CampaignSerializer(SettingsSerializer):
    """A campaign; requests name corpus and systems by name, annotators by user name."""

    settings = SETTINGS
    corpus = serializers.SlugRelatedField(slug_field="name", queryset=Corpus.objects.all())
    scheme = serializers.CharField(
        source="scheme_version.scheme.key", max_length=140, help_text="key, or key@version"
    )
    systems = serializers.ListField(child=serializers.CharField(), default=list)
    annotators = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.filter(is_active=True), many=True, required=False
    )
    guidelines = serializers.CharField(required=False, allow_blank=True)
    consent = serializers.CharField(required=False, allow_blank=True)
    shows = serializers.ListField(child=serializers.CharField(), required=False)
    baseline = serializers.CharField(
        required=False,
        allow_null=True,
        help_text=f"A system of the corpus. {BASELINE.description} May change {BASELINE.when}.",
    )

    review = ReviewQueueSerializer(
        required=False,
        allow_null=True,
        help_text=f"{REVIEW.description} May change {REVIEW.when}.",
    )

    class Meta:
        model = Campaign
        fields = [
            "id",
            "name",
            "state",
            "form",
            "corpus",
            "scheme",
            "systems",
            *SETTINGS,
            "annotators",
            "guidelines",
            "consent",
            "shows",
            "archived_at",
        ]
        read_only_fields = ["state", "form", "archived_at"]
        extra_kwargs: ClassVar[dict[str, Any]] = {"name": {"validators": []}}

    def validate_scheme(self, ref: str) -> str:
        """Refuse an unknown scheme."""
        if find(ref) is None:
            raise serializers.ValidationError(f"There is no scheme “{ref}”.")
        return ref

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Replace the names of systems by the corpus's systems."""
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
        """Return the campaign with related objects by name."""
        guidelines = instance.guidelines.order_by("-version").first()
        consent = instance.consents.order_by("-version").first()
        return {
            "id": instance.pk,
            "name": instance.name,
            "state": instance.state,
            "form": instance.form,
            "corpus": instance.corpus.name,
            "scheme": instance.scheme_version.scheme.key,
            "scheme_version": instance.scheme_version.version,
            "systems": sorted(system.name for system in instance.systems.all()),
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


class CampaignDefaultsSerializer(serializers.Serializer[Any]):
    """Values with which a campaign over a corpus may start, as fields of a campaign.

    `name` is "" where the corpus's name would reveal a system, `scheme` is "" without a scheme of your own.
    `speaker_choices` are the speakers that `speakers` may name: roles, or names without a role.
    """

    name = serializers.CharField(allow_blank=True)
    scheme = serializers.CharField(allow_blank=True)
    speakers = serializers.ListField(child=serializers.CharField())
    speaker_choices = serializers.ListField(child=serializers.CharField())
    annotators = serializers.ListField(child=serializers.CharField(), help_text="User names.")
    raters_per_item = serializers.IntegerField()


@api.get(CampaignDefaultsSerializer, name="campaigns_defaults")
def campaign_defaults(request: Request, name: str) -> dict[str, Any]:
    """Researchers: read the values with which a campaign over a corpus may start."""
    corpus = access.corpus_named(name)
    values = defaults(corpus=corpus, by=api.user(request))._asdict()
    people = [person.get_username() for person in values["annotators"]]
    return values | {"annotators": people, "speaker_choices": queries.speakers(corpus)}


class StateSerializer(serializers.Serializer[Any]):
    """A change of a campaign's state."""

    verb = serializers.ChoiceField(choices=list(editing.VERBS))


class ReorderSerializer(serializers.ModelSerializer[Campaign]):
    """New order of the tasks that nobody has begun; fields that are missing keep the campaign's settings."""

    class Meta:
        model = Campaign
        fields = ("task_order", "order_by", "apart_judge")
        extra_kwargs: ClassVar[dict[str, Any]] = {
            name: {
                "help_text": SETTINGS[name].description,
                "error_messages": SETTINGS[name].error_messages,
            }
            for name in fields
        }


class ReorderedSerializer(serializers.Serializer[Any]):
    """Number of tasks that changed place."""

    moved = serializers.IntegerField()


class CopySerializer(serializers.Serializer[Any]):
    """Name of a copy."""

    name = serializers.CharField(max_length=Campaign.name.field.max_length)


class MembersSerializer(serializers.Serializer[Any]):
    """Members to add and to remove, by user name; `groups` adds all active people of each group."""

    groups = serializers.SlugRelatedField(
        slug_field="name", queryset=PeopleGroup.objects.all(), many=True, required=False
    )
    add = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.filter(is_active=True), many=True, required=False
    )
    remove = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.all(), many=True, required=False
    )


class ConsentSerializer(GuidelinesSerializer):
    """Consent text that annotators agree to before they work; Concord sets `version`."""


# API of a campaign's batches, for researchers: progress of each, and opening the next.


class CampaignBatchSerializer(serializers.Serializer[Any]):
    """A batch of tasks: number of slots, of submitted slots, and of submitted or held slots (`taken`)."""

    number = serializers.IntegerField()
    tasks = serializers.IntegerField()
    slots = serializers.IntegerField()
    submitted = serializers.IntegerField()
    taken = serializers.IntegerField()
    opened = serializers.BooleanField()
    complete = serializers.BooleanField()


class CampaignBatchesSerializer(serializers.Serializer[Any]):
    """The batches of a campaign: `listed` are the last open batches and the next one.

    Where tasks are not in batches, `batch_size` is null and `listed` is empty.
    """

    batch_size = serializers.IntegerField(allow_null=True)
    next_batch = serializers.ChoiceField(choices=Campaign.NextBatch.choices)
    total = serializers.IntegerField()
    opened = serializers.IntegerField()
    listed = CampaignBatchSerializer(many=True)


@api.get(CampaignBatchesSerializer, permission=IsCampaignResearcher, name="campaigns_batches")
def campaign_batches(request: Request, campaign: int) -> Any:
    """Researchers: read the batches of a campaign."""
    return _batches(access.campaign(campaign))


@api.post(
    gives=CampaignBatchesSerializer, permission=IsCampaignResearcher, name="campaigns_batches_open_next"
)
def open_next_batch(request: Request, campaign: int) -> Any:
    """Researchers: open a campaign's next batch."""
    campaign_actions.open_next(by=api.user(request), campaign=access.campaign(campaign))
    return _batches(access.campaign(campaign))


def _batches(campaign: Campaign) -> campaign_actions.Batches | dict[str, Any]:
    nothing: dict[str, Any] = {"batch_size": None, "total": 0, "opened": 0, "listed": []}
    return campaign_actions.batches(campaign) or nothing | {"next_batch": campaign.next_batch}


# API of roles in one campaign.


class CampaignRoleSerializer(serializers.ModelSerializer[CampaignRole]):
    """A person's role in a campaign, by user name."""

    username = serializers.SlugRelatedField(
        source="user", slug_field="username", queryset=User.objects.filter(is_active=True)
    )

    class Meta:
        model = CampaignRole
        fields = ("id", "username", "role", "created_at")
        read_only_fields = ("created_at",)


class MayReadRoles(IsCampaignResearcher):
    """API permission: whoever may manage a campaign reads its roles; researchers give and remove them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        reading = request.method == "GET"
        return (
            super().has_permission(request, view) if reading else IsResearcher().has_permission(request, view)
        )


@api.listing(CampaignRoleSerializer, permission=MayReadRoles)
def roles(request: Request, campaign: int) -> QuerySet[CampaignRole]:
    """List the adjudicators and researchers of a campaign."""
    return access.campaign(campaign).roles.select_related("user").order_by("id")


@api.post(CampaignRoleSerializer, CampaignRoleSerializer, status=201, permission=MayReadRoles)
def give_role(request: Request, campaign: int) -> CampaignRole:
    """Researchers: give a person a role in a campaign."""
    campaign_row = access.campaign(campaign)
    data = api.data(request)
    return accounts.give_campaign_role(
        by=api.user(request), campaign=campaign_row, person=data["user"], role=data["role"]
    )


@api.delete()
def role(request: Request, campaign: int, pk: int) -> None:
    """Researchers: remove a role in a campaign."""
    accounts.take_campaign_role(by=api.user(request), campaign_role=access.campaign_role(campaign, pk))


# API of join links and participants, for whoever may manage the campaign.


class JoinLinkSerializer(serializers.ModelSerializer[JoinLink]):
    """A link by which people join a campaign; without a `code`, each person gets an own completion code."""

    address = serializers.SerializerMethodField()
    signing_key = serializers.SerializerMethodField()

    class Meta:
        model = JoinLink
        fields = (
            "id",
            "name",
            "address",
            "most",
            "expires_at",
            "code",
            "return_url",
            "revoked_at",
            "signing_key",
        )
        read_only_fields = ("revoked_at",)
        extra_kwargs: ClassVar[dict[str, Any]] = {"most": {"min_value": 1}}

    def get_address(self, link: JoinLink) -> str:
        """Address of the link."""
        address = reverse("join", args=[participants.key_of(link)])
        request = self.context.get("request")
        return str(request.build_absolute_uri(address)) if request else address

    def get_signing_key(self, link: JoinLink) -> str:
        """Key that signs ids (HMAC-SHA256), where the campaign's `join_proof` is `signed`; '' elsewhere."""
        signed = link.campaign.join_proof == Campaign.JoinProof.SIGNED
        return participants.signing_key(link) if signed else ""


class ParticipantSerializer(serializers.ModelSerializer[Participant]):
    """A person who joined by a link: `name` is the user name, `participant` the recruiting platform's id."""

    name = serializers.CharField(source="user.username")
    participant = serializers.CharField(source="external_id")
    link = serializers.IntegerField(source="link_id")
    joined_on = serializers.SerializerMethodField()
    finished_on = serializers.SerializerMethodField()

    class Meta:
        model = Participant
        fields = (
            *("name", "participant", "study_id", "session_id", "link"),
            *("joined_on", "finished_on", "code"),
        )

    def get_joined_on(self, row: Participant) -> date:
        """Day, in UTC, of joining."""
        return row.joined_at.date()

    def get_finished_on(self, row: Participant) -> date | None:
        """Day, in UTC, of finishing; null before."""
        return row.finished_at.date() if row.finished_at else None


class ParticipantBrowserSerializer(serializers.ModelSerializer[ParticipantBrowser]):
    """A browser that waits for confirmation, with the `code` that its participant sees and can tell you.

    `confirmed_at` and `confirmed_by` are the time and the author of the confirmation; null while it waits.
    """

    name = serializers.CharField(source="participant.user.username")
    participant = serializers.CharField(source="participant.external_id")
    confirmed_by = serializers.SlugRelatedField[User](
        slug_field="username", read_only=True, allow_null=True, help_text="null, too, where they are deleted"
    )

    class Meta:
        model = ParticipantBrowser
        fields = ("id", "name", "participant", "code", "asked_at", "confirmed_at", "confirmed_by")


@api.listing(JoinLinkSerializer, permission=IsCampaignResearcher)
def join_links(request: Request, campaign: int) -> QuerySet[JoinLink]:
    """List the links by which people join a campaign."""
    return access.campaign(campaign).join_links.all()


@api.post(JoinLinkSerializer, JoinLinkSerializer, status=201, permission=IsCampaignResearcher)
def make_join_link(request: Request, campaign: int) -> JoinLink:
    """Create a link by which people join a campaign."""
    campaign_row = access.campaign(campaign)
    return participants.make_link(by=api.user(request), campaign=campaign_row, **api.data(request))


@api.delete(permission=IsCampaignResearcher)
def join_link(request: Request, campaign: int, pk: int) -> None:
    """Revoke a link: nobody can join by it any more; participants who joined stay."""
    participants.revoke(by=api.user(request), link=access.join_link(campaign, pk))


@api.listing(ParticipantSerializer, permission=IsCampaignResearcher)
def participant_list(request: Request, campaign: int) -> QuerySet[Participant]:
    """List the participants who joined by links, with ids and completion codes; days are in UTC."""
    return participants.list_participants(access.campaign(campaign))


@api.listing(ParticipantBrowserSerializer, permission=IsCampaignResearcher)
def participant_browsers(request: Request, campaign: int) -> QuerySet[ParticipantBrowser]:
    """List the browsers in which participants ask to continue, waiting and confirmed."""
    return participants.browsers(access.campaign(campaign))


@api.post(status=204, permission=IsCampaignResearcher)
def confirm_browser(request: Request, campaign: int, pk: int) -> None:
    """Let a participant continue in another browser."""
    participants.confirm(by=api.user(request), browser=access.participant_browser(campaign, pk))


@api.delete(permission=IsCampaignResearcher)
def dismiss_browser(request: Request, campaign: int, pk: int) -> None:
    """Dismiss a waiting browser, or revoke a confirmation: the participant is signed out everywhere.

    They continue by the link in browsers that are still confirmed.
    """
    participants.dismiss(by=api.user(request), browser=access.participant_browser(campaign, pk))


CAMPAIGNS = Filters(
    {
        "state": one_of("state", Campaign.State.values),
        "corpus": with_name("corpus__name", "corpus"),
        "text": holds("name"),
        "since": since("created_at"),
    },
    order=("id", "name", "created_at"),
)
ARCHIVED = OpenApiParameter("archived", bool, description="true lists the archived campaigns instead")


@api.listing(CampaignSerializer, query=[ARCHIVED, *CAMPAIGNS.parameters], permission=IsResearcherSomewhere)
def campaign_list(request: Request) -> QuerySet[Campaign]:
    """Researchers: list all campaigns that are not archived.

    People who only manage single campaigns get those.
    """
    archived = request.query_params.get("archived", "false")
    if archived not in ("true", "false"):
        raise ValidationError({"archived": "Say true or false."})
    rows = access.managed(api.user(request)).filter(archived_at__isnull=archived == "false")
    ordered = rows.select_related("corpus", "scheme_version__scheme").order_by("-id")
    return CAMPAIGNS.of(request, ordered)


@api.post(CAMPAIGN_ACTS.input, BulkOutcomeSerializer, permission=IsResearcherSomewhere)
def change_campaigns(request: Request) -> Any:
    """Researchers: pause, close, archive or restore several campaigns, each by itself.

    People who only manage single campaigns change those.
    """
    return CAMPAIGN_ACTS.change(by=api.user(request), **api.data(request))


@api.post(CampaignSerializer, CampaignSerializer, status=201, permission=IsResearcherSomewhere)
def create(request: Request) -> Campaign:
    """Researchers: create a campaign as a draft."""
    if not is_researcher(request.user):
        raise PermissionDenied
    return campaigns.create(by=api.user(request), **_arguments(api.data(request)))


@api.get(permission=IsCampaignResearcher)
def campaign(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: read a campaign with its counts, its members, and the number of annotators it lacks.

    `left_out` are the tasks that nobody gets (number of `tasks`, `mode`, `reason`), null for none.
    `sample` is the number of `dialogues` drawn, by `strata`, or the sample that would be drawn now
    (`kept` false), and the number of `items` on which judge and people are `apart`; null where all
    dialogues are rated. For a review queue it has the drawn `items`, and of each of its `strata` the
    `items`, the number drawn (`sample`) and the `probability`, null where its items are left out;
    estimates speak of the `population`, and not of the items `left_out`. `comparing` is the number of
    `comparisons`, with their `baseline` if there is one; null without comparisons. `excluded` are the
    dialogues that its `exclude` leaves out, as under the corpus; null without one. `balanced` is the number
    of tasks of each stratum that each annotator has done or holds, without names: work by pseudonym is under
    `watch/`.
    """
    return _campaign_json(access.campaign(campaign))


@api.patch(CampaignSerializer, partial=True, permission=IsCampaignResearcher)
def change(request: Request, campaign: int) -> dict[str, Any]:
    """Researchers: change a campaign.

    Drafts may change in everything. Opened campaigns may change their name, lease, deadline, limits,
    annotators and guidelines; their raters may only increase, and tasks get the new places at once.
    """
    campaign_row = access.campaign(campaign)
    data = api.data(request, campaign_row)
    if "corpus" in data and not is_researcher(request.user):
        raise PermissionDenied("Only researchers move a campaign to another corpus.")
    editing.change(by=api.user(request), campaign=campaign_row, **_arguments(data))
    return _campaign_json(access.campaign(campaign))


def _arguments(data: dict[str, Any]) -> dict[str, Any]:
    """Return a request's data as arguments of `campaigns.create` and `editing.change`."""
    if "scheme_version" in data:
        data["scheme"] = data.pop("scheme_version")["scheme"]["key"]
    return data


def _campaign_json(campaign_row: Campaign) -> dict[str, Any]:
    members = [
        {
            "username": member["username"],
            "agreed_to": member["agreed_to"],
            "agreed_on": member["agreed_on"],
        }
        for member in campaign_progress.members(campaign_row)
    ]
    counts = asdict(campaign_progress.counts(campaign_row))
    lacking = campaign_progress.lacking([campaign_row]).get(campaign_row.pk, 0)
    left_out = campaign_tasks.left_out(campaign_row)
    payload = {"counts": counts, "members": members, "annotators_lacking": lacking}
    payload |= {"left_out": left_out and left_out._asdict(), "sample": sampling.describe(campaign_row)}
    is_training = campaign_row.part == splits.TRAINING
    excluded = exclusion.described(campaign_row.corpus, campaign_row.exclude, training=is_training)
    payload |= {"excluded": excluded}
    payload |= {"comparing": comparing.describe(campaign_row), "balanced": sampling.shares(campaign_row)}
    return CampaignSerializer(campaign_row).data | payload


@api.post(CopySerializer, CampaignSerializer, status=201)
def copy(request: Request, campaign: int) -> Campaign:
    """Researchers: copy a campaign to a draft with the same people and guidelines, without any work."""
    data = api.data(request)
    return editing.copy(by=api.user(request), campaign=access.campaign(campaign), **data)


@api.post(StateSerializer, CampaignSerializer, permission=IsCampaignResearcher)
def change_state(request: Request, campaign: int) -> Campaign | Response:
    """Researchers: open, pause, close, archive or restore a campaign.

    202 with the id of a job where opening takes a while.
    """
    verb = editing.VERBS[api.data(request)["verb"]]
    changed = verb(by=api.user(request), campaign=access.campaign(campaign))
    return accepted(changed) if isinstance(changed, Job) else access.campaign(campaign)


@api.post(ReorderSerializer, ReorderedSerializer, permission=IsCampaignResearcher)
def reorder(request: Request, campaign: int) -> dict[str, int]:
    """Researchers: reorder the tasks that nobody has begun, by the same or another rule."""
    data = api.data(request)
    return {"moved": editing.reorder(by=api.user(request), campaign=access.campaign(campaign), **data)}


@api.post(MembersSerializer, CampaignSerializer, permission=IsCampaignResearcher)
def change_members(request: Request, campaign: int) -> Campaign:
    """Researchers: add members to a campaign, or remove them."""
    campaign_row = access.campaign(campaign)
    campaigns.change_members(by=api.user(request), campaign=campaign_row, **api.data(request))
    return campaign_row


@api.put(GuidelinesSerializer, GuidelinesSerializer, permission=IsCampaignResearcher)
def set_guidelines(request: Request, campaign: int) -> Guidelines:
    """Researchers: change the guidelines; a version in use is kept and gets a successor."""
    data = api.data(request)
    return campaigns.set_guidelines(by=api.user(request), campaign=access.campaign(campaign), **data)


@api.put(ConsentSerializer, ConsentSerializer, permission=IsCampaignResearcher)
def set_consent(request: Request, campaign: int) -> Consent:
    """Researchers: change the consent text that annotators agree to before they work; empty for none."""
    data = api.data(request)
    return campaigns.set_consent(by=api.user(request), campaign=access.campaign(campaign), **data)
