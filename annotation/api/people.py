"""People over HTTP: accounts, invitations, reset links, the audit log. Administrators only."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api import refusals
from annotation.campaigns import rules as campaign_rules
from annotation.campaigns.rules import Rules
from annotation.errors import AnnotationError, EmailRefused
from annotation.models import ApiToken, Comfort, OneTimeLink, PeopleGroup
from annotation.people import accounts, deletion, links, preferences, sign_in
from annotation.people import groups as people_groups
from annotation.people.accounts import ROLES
from config.idempotency import told_once
from config.lists import Pages, paged
from config.models import Event
from config.permissions import IsAdministrator, IsResearcher, IsSignedIn

# What the API of people and accounts sends and takes.


class AccountSerializer(serializers.Serializer[Any]):
    """An account with what it has done."""

    id = serializers.IntegerField(source="person.pk")
    username = serializers.CharField(source="person.username")
    role = serializers.ChoiceField(choices=list(ROLES))
    active = serializers.BooleanField(source="person.is_active")
    last_login = serializers.DateTimeField(source="person.last_login", allow_null=True)
    email = serializers.CharField(source="person.email", help_text="empty where none is known")
    signs_in_with = serializers.ListField(
        source="ways",
        child=serializers.ChoiceField(choices=["password", "single sign-on"]),
        help_text="empty: nobody can sign in to it",
    )
    tasks = serializers.IntegerField()
    items = serializers.IntegerField()


class NewAccount(serializers.Serializer[Any]):
    """An account to be made."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=list(ROLES), default="annotator")
    password = serializers.CharField(max_length=1_000, trim_whitespace=False)


class AccountChange(serializers.Serializer[Any]):
    """What is to be another: the role, whether the account is active, or locked after wrong passwords."""

    role = serializers.ChoiceField(choices=list(ROLES), required=False)
    active = serializers.BooleanField(required=False)
    email = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=254,
        help_text="an address known to be the person's; empty takes it away",
    )
    locked = serializers.BooleanField(required=False, help_text="false unlocks; nothing is locked by hand")


class PersonDeletion(serializers.Serializer[Any]):
    """A deletion, confirmed by the user name, and a second time where reports or gold are in the way."""

    confirmation = serializers.CharField()
    despite_use = serializers.BooleanField(default=False)


class NewInvitation(serializers.Serializer[Any]):
    """An invitation to be made."""

    role = serializers.ChoiceField(choices=list(ROLES), default="annotator")
    name = serializers.CharField(max_length=150, default="", allow_blank=True)
    days = serializers.IntegerField(min_value=1, max_value=60, default=7)


class NewInvitationsByMail(serializers.Serializer[Any]):
    """Invitations to be made, one for each e-mail address; they are sent where mail is set up."""

    emails = serializers.ListField(
        child=serializers.CharField(max_length=300), min_length=1, max_length=links.MOST
    )
    role = serializers.ChoiceField(choices=list(ROLES), default="annotator")
    days = serializers.IntegerField(min_value=1, max_value=60, default=7)


class InvitationSerializer(serializers.ModelSerializer[OneTimeLink]):
    """An open invitation. Its address was shown when it was made."""

    class Meta:
        model = OneTimeLink
        fields = (
            *("id", "role", "name", "created_at", "expires_at"),
            *("email", "mail", "mail_error", "mailed_at"),
        )


class InvitationByMailSerializer(InvitationSerializer):
    """An invitation to an e-mail address; `address` is its link, told this once where no mail is set up."""

    address = serializers.CharField(allow_null=True)

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "address")  # type: ignore[assignment]


class LinkSerializer(serializers.Serializer[Any]):
    """A one-time link as it was made; `address` is told this once."""

    id = serializers.IntegerField()
    address = serializers.CharField()
    expires_at = serializers.DateTimeField()


class NewPassword(serializers.Serializer[Any]):
    """The password of now, and the new one."""

    old = serializers.CharField(max_length=1_000, trim_whitespace=False)
    new = serializers.CharField(max_length=1_000, trim_whitespace=False)


class Text(serializers.CharField):
    """A text; a number is refused, not made one."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class NewToken(serializers.Serializer[Any]):
    """A token to be made."""

    name = Text(max_length=80)
    scope = serializers.ChoiceField(choices=ApiToken.Scope.values, default="read")
    days = serializers.IntegerField(min_value=1, max_value=366, default=90)


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its key."""

    class Meta:
        model = ApiToken
        fields = ("id", "name", "scope", "created_at", "expires_at", "last_used")


class MadeTokenSerializer(TokenSerializer):
    """A token as it was made; `key` is told this once."""

    key = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "key")  # type: ignore[assignment]


class EventSerializer(serializers.ModelSerializer[Event]):
    """A logged act."""

    by = serializers.CharField(source="by.username", default=None, allow_null=True)

    class Meta:
        model = Event
        fields = ("id", "at", "by", "verb", "subject", "detail")


class KeysSerializer(serializers.Serializer[Any]):
    """The key of each command of the annotation page; two commands never share one."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return a field for each command."""
        return {
            command: serializers.CharField(min_length=1, max_length=1, required=False, help_text=does)
            for command, (_, does) in preferences.COMMANDS.items()
        }


class ComfortSerializer(serializers.Serializer[Any]):
    """One's own settings of the annotation page."""

    auto_advance = serializers.BooleanField(required=False)
    text_size = serializers.ChoiceField(choices=Comfort.Size.choices, required=False)
    more_contrast = serializers.BooleanField(required=False)
    break_after = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=preferences.SHORTEST_BREAK,
        max_value=preferences.LONGEST_BREAK,
        help_text="minutes of attention; null proposes no break",
    )
    keys = KeysSerializer(required=False)


TEXTS = [OpenApiParameter(name, str) for name in ("verb", "person", "text")]


def field_errors(view: Callable[..., Response]) -> Callable[..., Response]:
    """Decorator: a refusal becomes 400 with its line under the field at fault, one about e-mail 422."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> Response:
        try:
            return view(request, *args, **kwargs)
        except AnnotationError as error:
            code = 422 if isinstance(error, EmailRefused) else status.HTTP_400_BAD_REQUEST
            return Response({error.field or "detail": [str(error)]}, status=code)

    return guarded


def user_of(request: Request) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


def _text(request: Request, name: str) -> str:
    return request.query_params.get(name, "").replace("\0", "")


def _account(person: User) -> dict[str, Any]:
    (row,) = accounts.rows([User.objects.prefetch_related("groups").get(pk=person.pk)])
    return dict(AccountSerializer(row).data)


@extend_schema(
    methods=["GET"],
    parameters=[OpenApiParameter("text", str)],
    responses=AccountSerializer(many=True),
)
@extend_schema(methods=["POST"], request=NewAccount, responses={201: AccountSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsAdministrator])
@field_errors
def people(request: Request) -> Response:
    """List accounts, those whose name holds `text`, or make one."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(accounts.accounts(_text(request, "text")), request) or []
        return pager.get_paginated_response(AccountSerializer(accounts.rows(page), many=True).data)
    serializer = NewAccount(data=request.data)
    serializer.is_valid(raise_exception=True)
    account = accounts.create(by=user_of(request), **serializer.validated_data)
    return Response(_account(account), status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=AccountSerializer)
@extend_schema(methods=["PATCH"], request=AccountChange, responses=AccountSerializer)
@extend_schema(
    methods=["DELETE"],
    parameters=[PersonDeletion],
    responses={200: OpenApiTypes.OBJECT},
)
@api_view(["GET", "PATCH", "DELETE"])
@permission_classes([IsAdministrator])
@field_errors
def person(request: Request, pk: int) -> Response:
    """Read an account, change its role or state, or delete it with all its answers.

    To delete it, `confirmation` is the person's user name, in the query or in a JSON body.
    """
    account = access.account(pk)
    if request.method == "DELETE":
        serializer = PersonDeletion(data=request.data or request.query_params)
        serializer.is_valid(raise_exception=True)
        gone = deletion.delete_person(person=account, by=user_of(request), **serializer.validated_data)
        return Response({"deleted": gone})
    if request.method == "PATCH":
        change = AccountChange(data=request.data)
        change.is_valid(raise_exception=True)
        _change(account, user_of(request), **change.validated_data)
    return Response(_account(account))


@transaction.atomic
def _change(
    account: User,
    by: User,
    *,
    role: str = "",
    active: bool | None = None,
    locked: bool | None = None,
    email: str | None = None,
) -> None:
    if email is not None:
        accounts.set_email(by=by, person=account, email=email)
    if role:
        accounts.set_role(by=by, person=account, role=role)
    if active is not None:
        (accounts.activate if active else accounts.deactivate)(by=by, person=account)
    if locked is False:
        sign_in.unlock(by=by, person=account)


@extend_schema(request=None, responses={201: LinkSerializer})
@told_once
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def reset_link(request: Request, pk: int) -> Response:
    """Make a one-time link for a new password; its address is in this answer alone."""
    made_link = links.reset(by=user_of(request), person=access.account(pk))
    return _link_response(request, made_link)


def _link_response(request: Request, made_link: links.IssuedLink) -> Response:
    address = request.build_absolute_uri(reverse("use-link", args=[made_link.token]))
    payload = {"id": made_link.link.pk, "address": address, "expires_at": made_link.link.expires_at}
    return Response(LinkSerializer(payload).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=InvitationSerializer(many=True))
@extend_schema(methods=["POST"], request=NewInvitation, responses={201: LinkSerializer})
@told_once
@paged
@api_view(["GET", "POST"])
@permission_classes([IsAdministrator])
@field_errors
def invitations(request: Request) -> Response:
    """List open invitations, or make one; its address is in this answer alone."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(links.open_invitations(), request) or []
        return pager.get_paginated_response(InvitationSerializer(page, many=True).data)
    serializer = NewInvitation(data=request.data)
    serializer.is_valid(raise_exception=True)
    return _link_response(request, links.invite(by=user_of(request), **serializer.validated_data))


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsAdministrator])
def invitation(request: Request, pk: int) -> Response:
    """Withdraw an invitation."""
    link = access.invitation(pk)
    links.withdraw(by=user_of(request), link=link)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(parameters=TEXTS, responses=EventSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsAdministrator])
def events(request: Request) -> Response:
    """List logged acts, newest first: of one `verb`, by or about a `person`, with a `text` in the subject."""
    acts = accounts.events(**{name: _text(request, name) for name in ("verb", "person", "text")})
    pager = Pages()
    page = pager.paginate_queryset(acts, request) or []
    return pager.get_paginated_response(EventSerializer(page, many=True).data)


# One's own account over HTTP: its password and its tokens. Everyone signed in.


@extend_schema(request=NewPassword, responses={204: None})
@api_view(["POST"])
@permission_classes([IsSignedIn])
@field_errors
def password(request: Request) -> Response:
    """Change one's own password; all other sessions end."""
    serializer = NewPassword(data=request.data)
    serializer.is_valid(raise_exception=True)
    accounts.change_password(person=user_of(request), **serializer.validated_data)
    if request.auth is None:  # a session, which goes on with the new password
        update_session_auth_hash(request._request, user_of(request))
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(methods=["GET"], responses=TokenSerializer(many=True))
@extend_schema(methods=["POST"], request=NewToken, responses={201: MadeTokenSerializer})
@told_once
@api_view(["GET", "POST"])
@permission_classes([IsSignedIn])
@field_errors
def own_tokens(request: Request) -> Response:
    """List one's own tokens without their keys, or make one; its key is in this answer alone."""
    person = user_of(request)
    if request.method == "GET":
        return Response(TokenSerializer(person.api_tokens.all(), many=True).data)
    serializer = NewToken(data=request.data)
    serializer.is_valid(raise_exception=True)
    made_token = accounts.make(person=person, **serializer.validated_data)
    payload = TokenSerializer(made_token.token).data | {"key": made_token.key}
    return Response(payload, status=status.HTTP_201_CREATED)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsSignedIn])
def own_token(request: Request, pk: int) -> Response:
    """Revoke one of one's own tokens."""
    token = access.own_token(user_of(request), pk)
    accounts.revoke(by=user_of(request), token=token)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(methods=["GET"], responses=ComfortSerializer)
@extend_schema(
    methods=["PATCH"],
    request=ComfortSerializer(partial=True),
    responses=ComfortSerializer,
)
@api_view(["GET", "PATCH"])
@permission_classes([IsSignedIn])
@field_errors
def own_comfort(request: Request) -> Response:
    """One's own settings of the annotation page, and the key of each command."""
    mine = preferences.comfort_of(user_of(request))
    if request.method == "PATCH":
        serializer = ComfortSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        mine = preferences.change(by=user_of(request), **serializer.validated_data)
    return Response(preferences.as_json(mine))


# Invitations by e-mail over HTTP. Administrators only.


@extend_schema(
    request=NewInvitationsByMail,
    responses={201: InvitationByMailSerializer(many=True)},
)
@told_once
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def invite_by_mail(request: Request) -> Response:
    """Invite e-mail addresses, all or none of them; a worker sends the links where mail is set up.

    Where it is not, `address` of each is its link, told in this answer alone. Nothing here says whether an
    address has an account.
    """
    serializer = NewInvitationsByMail(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields, by = dict(serializer.validated_data), user_of(request)
    emails = links.addresses_in("\n".join(fields.pop("emails")))
    made_links = links.invite_by_mail(by=by, emails=emails, **fields)
    if links.mail_is_set_up():
        links.send_invitations(
            by=by,
            invitations=[made_link.link for made_link in made_links],
            base=request.build_absolute_uri("/"),
        )
    return Response(
        [_invitation_json(request, made_link) for made_link in made_links], status=status.HTTP_201_CREATED
    )


def _invitation_json(request: Request, made_link: links.IssuedLink) -> dict[str, Any]:
    made_link.link.refresh_from_db()
    address = request.build_absolute_uri(reverse("use-link", args=[made_link.token]))
    made_link.link.address = None if links.mail_is_set_up() else address  # type: ignore[attr-defined]
    return dict(InvitationByMailSerializer(made_link.link).data)


@extend_schema(request=None, responses={202: InvitationSerializer})
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def send_invitation(request: Request, pk: int) -> Response:
    """Send an invitation to its e-mail address once more, with a new link."""
    link = access.invitation(pk)
    links.send_invitations(by=user_of(request), invitations=[link], base=request.build_absolute_uri("/"))
    link.refresh_from_db()
    return Response(InvitationSerializer(link).data, status=status.HTTP_202_ACCEPTED)


# The API of groups of people, of what people read and write as, and of a campaign's rules.


class GroupSerializer(serializers.ModelSerializer[PeopleGroup]):
    """A group with its people by user name."""

    name = serializers.CharField(max_length=80)
    people = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.all(), many=True, required=False
    )

    class Meta:
        model = PeopleGroup
        fields = ("id", "name", "people")


class AnnotatorSerializer(serializers.Serializer[Any]):
    """A person: the `groups` they are in, the `languages` they read, the names they write as."""

    id = serializers.IntegerField(read_only=True, source="pk")
    username = serializers.CharField(read_only=True)
    groups = serializers.ListField(child=serializers.CharField(), read_only=True)
    languages = serializers.ListField(child=Text(max_length=40), required=False, max_length=50)
    writes_as = serializers.ListField(child=Text(max_length=200), required=False, max_length=50)

    def to_representation(self, instance: User) -> dict[str, Any]:
        """Return a person with plain lists."""
        return {
            "id": instance.pk,
            "username": instance.get_username(),
            "groups": [group.name for group in instance.people_groups.all()],
            "languages": [row.language for row in instance.languages.all()],
            "writes_as": [row.name for row in instance.writes_as.all()],
        }


class GroupName(serializers.SlugRelatedField[PeopleGroup]):
    """A group by its name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="name", queryset=PeopleGroup.objects.all(), **kwargs)


class StratumSerializer(serializers.Serializer[Any]):
    """A stratum and the group that rates it."""

    stratum = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=1_000)
    group = GroupName()


class RequiredSerializer(serializers.Serializer[Any]):
    """How many raters of a group each task needs."""

    group = GroupName()
    raters = serializers.IntegerField(min_value=1, max_value=100)


class RulesSerializer(serializers.Serializer[Any]):
    """Who may, and who must, rate what. `unclaimable` says which tasks nobody who takes part can take."""

    by_language = serializers.BooleanField(default=False)
    not_own = serializers.CharField(max_length=120, allow_blank=True, default="")
    groups_by = serializers.CharField(max_length=120, allow_blank=True, default="")
    strata = StratumSerializer(many=True, required=False)
    required = RequiredSerializer(many=True, required=False)  # type: ignore[assignment]
    unclaimable = serializers.ListField(child=serializers.DictField(), read_only=True)

    def rules(self) -> Rules:
        """Return what was written."""
        values = self.validated_data
        return Rules(
            by_language=values["by_language"],
            not_own=values["not_own"],
            groups_by=values["groups_by"],
            strata={row["stratum"]: row["group"] for row in values.get("strata", ())},
            required={row["group"]: row["raters"] for row in values.get("required", ())},
        )


@extend_schema(methods=["GET"], responses=GroupSerializer(many=True))
@extend_schema(methods=["POST"], request=GroupSerializer, responses={201: GroupSerializer})
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcher])
@field_errors
def groups(request: Request) -> Response:
    """Researchers: the groups of people, or make one."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(PeopleGroup.objects.prefetch_related("people").order_by("id"), request)
        return pager.get_paginated_response(GroupSerializer(page, many=True).data)
    serializer = GroupSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    people_group = people_groups.create(by=user_of(request), **serializer.validated_data)
    return Response(GroupSerializer(people_group).data, status=201)


@extend_schema(methods=["GET"], responses=GroupSerializer)
@extend_schema(methods=["PATCH"], request=GroupSerializer(partial=True), responses=GroupSerializer)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "PATCH", "DELETE"])
@permission_classes([IsResearcher])
@field_errors
def group(request: Request, pk: int) -> Response:
    """Researchers: one group; rename it, say who is in it, or delete it."""
    people_group = access.people_group(pk)
    if request.method == "DELETE":
        people_groups.delete(by=user_of(request), group=people_group)
        return Response(status=204)
    if request.method == "PATCH":
        serializer = GroupSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        people_group = people_groups.change(
            by=user_of(request), group=people_group, **serializer.validated_data
        )
    return Response(GroupSerializer(people_group).data)


@extend_schema(responses=AnnotatorSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsResearcher])
def annotators(request: Request) -> Response:
    """Researchers: the active accounts with their groups, languages and the names they write as."""
    pager = Pages()
    page = pager.paginate_queryset(people_groups.people(), request)
    return pager.get_paginated_response(AnnotatorSerializer(page, many=True).data)


@extend_schema(methods=["GET"], responses=AnnotatorSerializer)
@extend_schema(methods=["PATCH"], request=AnnotatorSerializer(partial=True), responses=AnnotatorSerializer)
@api_view(["GET", "PATCH"])
@permission_classes([IsResearcher])
@field_errors
def annotator(request: Request, pk: int) -> Response:
    """Researchers: one person; say which languages they read and under which names they write."""
    account = access.account(pk)
    if request.method == "PATCH":
        serializer = AnnotatorSerializer(data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        people_groups.describe(by=user_of(request), person=account, **serializer.validated_data)
    return Response(AnnotatorSerializer(account).data)


@extend_schema(methods=["GET"], responses=RulesSerializer)
@extend_schema(methods=["PUT"], request=RulesSerializer, responses=RulesSerializer)
@api_view(["GET", "PUT"])
@permission_classes([IsCampaignResearcher])
@refusals.answered
def rules(request: Request, campaign: int) -> Response:
    """Who may and must rate what in a campaign; written, it holds from the next task handed out."""
    campaign_row = access.campaign(campaign)
    if request.method == "PUT":
        serializer = RulesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        campaign_rules.set_rules(by=user_of(request), campaign=campaign_row, rules=serializer.rules())
        campaign_row = access.campaign(campaign)
    stored_rules = campaign_rules.rules_of(campaign_row)
    payload = campaign_rules.as_json(stored_rules) | {
        "strata": [{"stratum": name, "group": group.name} for name, group in stored_rules.strata.items()],
        "required": [
            {"group": group.name, "raters": raters} for group, raters in stored_rules.required.items()
        ],
        "unclaimable": campaign_rules.unclaimable_tasks(campaign_row),
    }
    return Response(payload)
