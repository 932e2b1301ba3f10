"""The API of campaigns, for researchers."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.urls import reverse
from drf_spectacular.drainage import set_override
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher, IsResearcherSomewhere
from annotation.api.work import GuidelinesSerializer
from annotation.campaigns import actions, comparing, editing, sampling
from annotation.campaigns import actions as campaigns
from annotation.campaigns import progress as campaign_progress
from annotation.campaigns import tasks as campaign_tasks
from annotation.campaigns.settings import SETTINGS
from annotation.models import (
    CampaignRole,
    Corpus,
    JoinLink,
    Participant,
    ParticipantBrowser,
    PeopleGroup,
    System,
)
from annotation.models.campaigns import Campaign
from annotation.people import accounts, participants
from annotation.scheme_store import find
from config.lists import Filters, Pages, holds, one_of, paged, since, with_name
from config.permissions import IsResearcher, is_researcher
from jobs.models import Job

# What the API of campaigns takes and gives.

SETTING_OPTIONS = {
    name: {
        "help_text": f"{setting.description} May change {setting.when}.",
        "error_messages": setting.error_messages,
    }
    for name, setting in SETTINGS.items()
}


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
        help_text=f"A system of the corpus. {SETTING_OPTIONS['baseline']['help_text']}",
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
            *SETTINGS,
            "annotators",
            "guidelines",
            "consent",
            "shows",
            "archived_at",
        ]
        read_only_fields = ["state", "archived_at"]
        extra_kwargs: ClassVar[dict[str, Any]] = {"name": {"validators": []}, **SETTING_OPTIONS}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add bounds to the document; `annotation.campaigns.settings` checks them."""
        fields = super().get_fields()
        for name, setting in SETTINGS.items():
            if setting.bounds is not None:
                least, most = setting.bounds
                kind = {"type": "number", "format": "double"} if setting.is_share else {"type": "integer"}
                set_override(fields[name], "field", {**kind, "minimum": least, "maximum": most})
        return fields

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

    def arguments(self) -> dict[str, Any]:
        """Return what was written as `campaigns.create` and `editing.change` take it."""
        values = dict(self.validated_data)
        if "scheme_version" in values:
            values["scheme"] = values.pop("scheme_version")["scheme"]["key"]
        return values


class StateSerializer(serializers.Serializer[Any]):
    """What to do with a campaign."""

    verb = serializers.ChoiceField(choices=["open", "pause", "close", "archive", "bring-back"])


class ReorderSerializer(serializers.ModelSerializer[Campaign]):
    """The order that the tasks get which nobody has begun; what is left out stays as the campaign has it."""

    class Meta:
        model = Campaign
        fields = ("task_order", "order_by", "apart_judge")
        extra_kwargs: ClassVar[dict[str, Any]] = {
            name: SETTING_OPTIONS[name] | {"help_text": SETTINGS[name].description} for name in fields
        }


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


class ConsentSerializer(GuidelinesSerializer):
    """What annotators agree to before they work; `version` is given by Concord."""


# The API of a campaign's batches, for researchers: how far each is, and opening the next one.


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
def campaign_batches(request: Request, campaign: int) -> Response:
    """Researchers: the batches of a campaign; POST opens the next one."""
    campaign_row = access.campaign(campaign)
    if request.method == "POST":
        assert isinstance(request.user, User)
        actions.open_next(by=request.user, campaign=campaign_row)
        campaign_row = access.campaign(campaign)
    batches = actions.batches(campaign_row)
    if batches is None:
        nothing: dict[str, Any] = {
            "batch_size": None,
            "next_batch": campaign_row.next_batch,
            "total": 0,
            "opened": 0,
            "listed": [],
        }
        return Response(CampaignBatchesSerializer(nothing).data)
    return Response(CampaignBatchesSerializer(batches.as_json()).data)


# The API of roles in one campaign.


class CampaignRoleSerializer(serializers.ModelSerializer[CampaignRole]):
    """Who has a role in a campaign, by user name."""

    username = serializers.SlugRelatedField(
        source="user", slug_field="username", queryset=User.objects.filter(is_active=True)
    )

    class Meta:
        model = CampaignRole
        fields = ("id", "username", "role", "created_at")
        read_only_fields = ("created_at",)


class MayReadRoles(IsCampaignResearcher):
    """Who looks after a campaign reads its roles; researchers give and take them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        reading = request.method == "GET"
        return (
            super().has_permission(request, view) if reading else IsResearcher().has_permission(request, view)
        )


@extend_schema(methods=["GET"], responses=CampaignRoleSerializer(many=True))
@extend_schema(methods=["POST"], request=CampaignRoleSerializer, responses={201: CampaignRoleSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([MayReadRoles])
def roles(request: Request, campaign: int) -> Response:
    """List who adjudicates or looks after a campaign, or give somebody a role in it (researchers)."""
    campaign_row = access.campaign(campaign)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(campaign_row.roles.select_related("user").order_by("id"), request)
        return pager.get_paginated_response(CampaignRoleSerializer(page, many=True).data)
    serializer = CampaignRoleSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    assert isinstance(request.user, User)
    values = serializer.validated_data
    campaign_role = accounts.give_campaign_role(
        by=request.user, campaign=campaign_row, person=values["user"], role=values["role"]
    )
    return Response(CampaignRoleSerializer(campaign_role).data, status=201)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsResearcher])
def role(request: Request, campaign: int, pk: int) -> Response:
    """Researchers: take a role in a campaign away."""
    assert isinstance(request.user, User)
    accounts.take_campaign_role(by=request.user, campaign_role=access.campaign_role(campaign, pk))
    return Response(status=204)


# The API of links into a campaign and of those who came by them. For who may manage the campaign.


class JoinLinkSerializer(serializers.ModelSerializer[JoinLink]):
    """A link by which people join a campaign; without a `code`, each gets one of their own."""

    most = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2**31 - 1)
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
        extra_kwargs: ClassVar[dict[str, Any]] = {
            "code": {"required": False},
            "return_url": {"required": False},
            "expires_at": {"required": False},
        }

    def get_address(self, link: JoinLink) -> str:
        """Return what people are given."""
        address = reverse("join", args=[participants.key_of(link)])
        request = self.context.get("request")
        return str(request.build_absolute_uri(address)) if request else address

    def get_signing_key(self, link: JoinLink) -> str:
        """Key that signs ids (HMAC-SHA256), where the campaign's `join_proof` is `signed`; '' elsewhere."""
        signed = link.campaign.join_proof == Campaign.JoinProof.SIGNED
        return participants.signing_key(link) if signed else ""


class ParticipantSerializer(serializers.ModelSerializer[Participant]):
    """Somebody who came by a link: `name` is their account's, `participant` what they are elsewhere."""

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
        """Return the day, in UTC, on which they came."""
        return row.joined_at.date()

    def get_finished_on(self, row: Participant) -> date | None:
        """Return the day, in UTC, on which they were done; null before."""
        return row.finished_at.date() if row.finished_at else None


class ParticipantBrowserSerializer(serializers.ModelSerializer[ParticipantBrowser]):
    """A browser that waits for a confirmation, and the `code` that its participant can tell you.

    `confirmed_at` and `confirmed_by` say when and by whom it was confirmed; null while it waits.
    """

    name = serializers.CharField(source="participant.user.username")
    participant = serializers.CharField(source="participant.external_id")
    confirmed_by = serializers.SlugRelatedField[User](
        slug_field="username", read_only=True, allow_null=True, help_text="null, too, where they are deleted"
    )

    class Meta:
        model = ParticipantBrowser
        fields = ("id", "name", "participant", "code", "asked_at", "confirmed_at", "confirmed_by")


@extend_schema(methods=["GET"], responses=JoinLinkSerializer(many=True))
@extend_schema(methods=["POST"], request=JoinLinkSerializer, responses={201: JoinLinkSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsCampaignResearcher])
def join_links(request: Request, campaign: int) -> Response:
    """The links by which people join a campaign, or make one."""
    campaign_row = access.campaign(campaign)
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(campaign_row.join_links.all(), request)
        payload = JoinLinkSerializer(page, many=True, context={"request": request}).data
        return pager.get_paginated_response(payload)
    serializer = JoinLinkSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    link = participants.make_link(by=_user(request), campaign=campaign_row, **serializer.validated_data)
    return Response(JoinLinkSerializer(link, context={"request": request}).data, status=201)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsCampaignResearcher])
def join_link(request: Request, campaign: int, pk: int) -> Response:
    """Revoke a link: nobody joins by it any more; who joined stays."""
    participants.revoke(by=_user(request), link=access.join_link(campaign, pk))
    return Response(status=204)


@extend_schema(responses=ParticipantSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def participant_list(request: Request, campaign: int) -> Response:
    """Who came by links, with their ids and completion codes; days are of UTC."""
    pager = Pages()
    page = pager.paginate_queryset(participants.list_participants(access.campaign(campaign)), request)
    return pager.get_paginated_response(ParticipantSerializer(page, many=True).data)


@extend_schema(responses=ParticipantBrowserSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def participant_browsers(request: Request, campaign: int) -> Response:
    """The browsers in which participants ask to go on: those that wait, and those that were confirmed."""
    pager = Pages()
    page = pager.paginate_queryset(participants.browsers(access.campaign(campaign)), request)
    return pager.get_paginated_response(ParticipantBrowserSerializer(page, many=True).data)


@extend_schema(request=None, responses={204: None})
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def confirm_browser(request: Request, campaign: int, pk: int) -> Response:
    """Let a participant go on in another browser."""
    participants.confirm(by=_user(request), browser=access.participant_browser(campaign, pk))
    return Response(status=204)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsCampaignResearcher])
def dismiss_browser(request: Request, campaign: int, pk: int) -> Response:
    """Dismiss a browser that waits, or take a confirmation back: its participant is signed out everywhere.

    They go on by the link in the browsers that are confirmed still.
    """
    participants.dismiss(by=_user(request), browser=access.participant_browser(campaign, pk))
    return Response(status=204)


VERBS = {
    "open": campaigns.open_campaign,
    "pause": campaigns.pause,
    "close": campaigns.close,
    "archive": editing.archive,
    "bring-back": editing.bring_back,
}
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


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(
    methods=["GET"], parameters=[ARCHIVED, *CAMPAIGNS.parameters], responses=CampaignSerializer(many=True)
)
@extend_schema(methods=["POST"], request=CampaignSerializer, responses={201: CampaignSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcherSomewhere])
def campaign_list(request: Request) -> Response:
    """Researchers: all campaigns that are not archived, or set up a new one as a draft.

    Those who look after campaigns without being researchers list these.
    """
    if request.method == "GET":
        paginator = Pages()
        archived = request.query_params.get("archived", "false")
        if archived not in ("true", "false"):
            raise ValidationError({"archived": "Say true or false."})
        rows = access.managed(_user(request)).filter(archived_at__isnull=archived == "false")
        ordered = rows.select_related("corpus", "scheme_version__scheme").order_by("-id")
        page = paginator.paginate_queryset(CAMPAIGNS.of(request, ordered), request)
        return paginator.get_paginated_response(CampaignSerializer(page, many=True).data)
    if not is_researcher(request.user):
        raise PermissionDenied
    serializer = CampaignSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    draft = campaigns.create(by=_user(request), **serializer.arguments())
    return Response(CampaignSerializer(draft).data, status=201)


@extend_schema(methods=["GET"], responses=OpenApiTypes.OBJECT)
@extend_schema(methods=["PATCH"], request=CampaignSerializer(partial=True), responses=OpenApiTypes.OBJECT)
@api_view(["GET", "PATCH"])
@permission_classes([IsCampaignResearcher])
def campaign(request: Request, campaign: int) -> Response:
    """Researchers: one campaign with its counts, its members, and how many annotators it lacks.

    `left_out` is what nobody is asked about (`tasks`, of which `mode`, and the `reason`), null for
    nothing. `sample` says how many `dialogues` were drawn, and of which `strata`, or would be if it
    opened now (`kept` false), and on how many `items` judge and people are `apart`; null where all
    dialogues are asked about. `comparing` says how many `comparisons` it asks about, and with which
    `baseline` if with one; null where it asks about none. `balanced` says how many tasks of each stratum
    each annotator has done or holds, without names: work is told by pseudonym (`watch/`). With PATCH,
    change it: a draft in everything, one that was opened in its name, lease, deadline, limits, annotators,
    guidelines and, upwards, its raters, for which its tasks get new places at once.
    """
    campaign_row = access.campaign(campaign)
    if request.method == "PATCH":
        serializer = CampaignSerializer(campaign_row, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        if "corpus" in serializer.validated_data and not is_researcher(request.user):
            raise PermissionDenied("Only researchers move a campaign to another corpus.")
        editing.change(by=_user(request), campaign=campaign_row, **serializer.arguments())
        campaign_row = access.campaign(campaign)
    return Response(_campaign_json(campaign_row))


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
    payload |= {"comparing": comparing.describe(campaign_row), "balanced": sampling.shares(campaign_row)}
    return CampaignSerializer(campaign_row).data | payload


@extend_schema(request=CopySerializer, responses={201: CampaignSerializer})
@api_view(["POST"])
@permission_classes([IsResearcher])
def copy(request: Request, campaign: int) -> Response:
    """Researchers: set up a draft like this campaign, with its people and guidelines, none of their work."""
    serializer = CopySerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    campaign_row = access.campaign(campaign)
    draft = editing.copy(by=_user(request), campaign=campaign_row, name=serializer.validated_data["name"])
    return Response(CampaignSerializer(draft).data, status=201)


@extend_schema(request=StateSerializer, responses=CampaignSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def change_state(request: Request, campaign: int) -> Response:
    """Researchers: open, pause, close, archive or bring back a campaign.

    202 with the id of a job where opening takes a while.
    """
    serializer = StateSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    changed = VERBS[serializer.validated_data["verb"]](by=_user(request), campaign=access.campaign(campaign))
    if isinstance(changed, Job):
        return Response({"job": changed.pk}, status=202)
    return Response(CampaignSerializer(access.campaign(campaign)).data)


@extend_schema(request=ReorderSerializer, responses=ReorderedSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def reorder(request: Request, campaign: int) -> Response:
    """Researchers: put the tasks that nobody has begun in order anew, or in another order."""
    serializer = ReorderSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    campaign_row = access.campaign(campaign)
    return Response(
        {"moved": editing.reorder(by=_user(request), campaign=campaign_row, **serializer.validated_data)}
    )


@extend_schema(request=MembersSerializer, responses=CampaignSerializer)
@api_view(["POST"])
@permission_classes([IsCampaignResearcher])
def change_members(request: Request, campaign: int) -> Response:
    """Researchers: let people take part, or take them out."""
    serializer = MembersSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    campaign_row = access.campaign(campaign)
    groups = serializer.validated_data.get("groups", [])
    joining = [*serializer.validated_data.get("add", [])]
    joining += User.objects.filter(people_groups__in=groups, is_active=True).distinct()
    for person in joining:
        campaigns.add_member(by=_user(request), campaign=campaign_row, user=person)
    for person in serializer.validated_data.get("remove", []):
        campaigns.remove_member(by=_user(request), campaign=campaign_row, user=person)
    return Response(CampaignSerializer(campaign_row).data)


@extend_schema(request=GuidelinesSerializer, responses=GuidelinesSerializer)
@api_view(["PUT"])
@permission_classes([IsCampaignResearcher])
def set_guidelines(request: Request, campaign: int) -> Response:
    """Researchers: change the guidelines; a version in use is kept and gets a successor."""
    serializer = GuidelinesSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    text = serializer.validated_data["text"]
    version = campaigns.set_guidelines(by=_user(request), campaign=access.campaign(campaign), text=text)
    return Response(GuidelinesSerializer(version).data)


@extend_schema(request=ConsentSerializer, responses=ConsentSerializer)
@api_view(["PUT"])
@permission_classes([IsCampaignResearcher])
def set_consent(request: Request, campaign: int) -> Response:
    """Researchers: change what annotators agree to before they work; empty, they are asked for nothing."""
    serializer = ConsentSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    text = serializer.validated_data["text"]
    version = campaigns.set_consent(by=_user(request), campaign=access.campaign(campaign), text=text)
    return Response(ConsentSerializer(version).data)
