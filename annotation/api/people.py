"""API of people: accounts, invitations, reset links, audit log (administrators only); groups and rules."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.campaigns import rules as campaign_rules
from annotation.campaigns.rules import Rules
from annotation.campaigns.settings import MOST_RATERS
from annotation.models import (
    ApiToken,
    Campaign,
    Comfort,
    OneTimeLink,
    PeopleGroup,
    PersonLanguage,
    WritingName,
)
from annotation.models.people import LONGEST_BREAK, SHORTEST_BREAK
from annotation.people import accounts, deletion, links, preferences, sign_in
from annotation.people import groups as people_groups
from annotation.people.accounts import PASSWORD_LIMIT, ROLES, USERNAME_LIMIT
from annotation.people.names import LONGEST_ADDRESS
from config import api
from config.models import Event
from config.permissions import IsAdministrator, IsSignedIn

# Request and response bodies of people and accounts.


class AccountSerializer(serializers.Serializer[Any]):
    """An account with the amount of its work."""

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
    """A new account."""

    username = serializers.CharField(max_length=USERNAME_LIMIT)
    role = serializers.ChoiceField(choices=list(ROLES), default="annotator")
    password = serializers.CharField(max_length=PASSWORD_LIMIT, trim_whitespace=False)


class AccountChange(serializers.Serializer[Any]):
    """Changes of an account: role, active state, e-mail address, lock after wrong passwords."""

    role = serializers.ChoiceField(choices=list(ROLES), required=False)
    active = serializers.BooleanField(required=False)
    email = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=LONGEST_ADDRESS,
        help_text="an address known to be the person's; empty takes it away",
    )
    locked = serializers.BooleanField(
        required=False, help_text="false unlocks; accounts cannot be locked manually"
    )


class PersonDeletion(serializers.Serializer[Any]):
    """A deletion, confirmed with the user name; `despite_use` where reports or gold use the answers."""

    confirmation = serializers.CharField()
    despite_use = serializers.BooleanField(default=False)


class InvitationOptions(serializers.Serializer[Any]):
    """Options of every invitation."""

    role = serializers.ChoiceField(choices=list(ROLES), default="annotator")
    days = serializers.IntegerField(min_value=1, max_value=links.MOST_DAYS, default=links.INVITATION_DAYS)


class NewInvitation(InvitationOptions):
    """A new invitation."""

    name = api.optional_text(max_length=USERNAME_LIMIT)


class NewInvitationsByMail(InvitationOptions):
    """New invitations, one for each e-mail address; they are sent where mail is set up."""

    emails = serializers.ListField(
        child=serializers.CharField(max_length=300), min_length=1, max_length=links.MOST
    )


class InvitationSerializer(serializers.ModelSerializer[OneTimeLink]):
    """An open invitation. Its address was shown once, at creation."""

    class Meta:
        model = OneTimeLink
        fields = (
            *("id", "role", "name", "created_at", "expires_at"),
            *("email", "mail", "mail_error", "mailed_at"),
        )


class InvitationByMailSerializer(InvitationSerializer):
    """An invitation to an e-mail address; `address` is its link, shown only once, if mail is not set up."""

    address = serializers.CharField(allow_null=True)

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "address")  # type: ignore[assignment]


class LinkSerializer(serializers.Serializer[Any]):
    """A new one-time link; `address` is shown only once."""

    id = serializers.IntegerField()
    address = serializers.CharField()
    expires_at = serializers.DateTimeField()


class NewPassword(serializers.Serializer[Any]):
    """The current password and the new one."""

    old = serializers.CharField(max_length=PASSWORD_LIMIT, trim_whitespace=False)
    new = serializers.CharField(max_length=PASSWORD_LIMIT, trim_whitespace=False)


class Text(serializers.CharField):
    """A text field that refuses numbers instead of converting them."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text; refuse any other type."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class NewToken(serializers.Serializer[Any]):
    """A new token."""

    name = Text(max_length=ApiToken.name.field.max_length)
    scope = serializers.ChoiceField(choices=ApiToken.Scope.values, default=ApiToken.Scope.READ)
    days = serializers.IntegerField(min_value=1, max_value=accounts.MOST_DAYS, default=accounts.USUAL_DAYS)


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its key."""

    class Meta:
        model = ApiToken
        fields = ("id", "name", "scope", "created_at", "expires_at", "last_used")


class MadeTokenSerializer(TokenSerializer):
    """A new token; `key` is shown only once."""

    key = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "key")  # type: ignore[assignment]


class EventSerializer(serializers.ModelSerializer[Event]):
    """An entry of the audit log."""

    by = serializers.CharField(source="by.username", default=None, allow_null=True)

    class Meta:
        model = Event
        fields = ("id", "at", "by", "verb", "subject", "detail")


class KeysSerializer(serializers.Serializer[Any]):
    """The key of each command of the annotation page; no two commands share a key."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return a field for each command."""
        return {
            command: serializers.CharField(min_length=1, max_length=1, required=False, help_text=does)
            for command, (_, does) in preferences.COMMANDS.items()
        }


class ComfortSerializer(serializers.ModelSerializer[Comfort]):
    """A person's settings of the annotation page."""

    keys = KeysSerializer(required=False)

    class Meta:
        model = Comfort
        fields = preferences.FIELDS
        extra_kwargs: ClassVar[dict[str, Any]] = {
            "break_after": {
                "min_value": SHORTEST_BREAK,
                "max_value": LONGEST_BREAK,
                "help_text": "minutes of attention; null proposes no break",
            }
        }


TEXTS = [OpenApiParameter(name, str) for name in ("verb", "person", "text")]


def _account(person: User) -> Any:
    return accounts.rows([User.objects.prefetch_related("groups").get(pk=person.pk)])[0]


@api.listing(
    AccountSerializer,
    query=[OpenApiParameter("text", str)],
    page=accounts.rows,
    permission=IsAdministrator,
)
def people(request: Request) -> QuerySet[User]:
    """List accounts, all or those whose name contains `text`."""
    return accounts.accounts(api.query_text(request, "text"))


@api.post(NewAccount, AccountSerializer, status=201, permission=IsAdministrator)
def create_account(request: Request) -> Any:
    """Create an account."""
    return _account(accounts.create(by=api.user(request), **api.data(request)))


@api.get(AccountSerializer, permission=IsAdministrator)
def person(request: Request, pk: int) -> Any:
    """Read an account."""
    return _account(access.account(pk))


@api.patch(AccountChange, AccountSerializer, permission=IsAdministrator)
def change_account(request: Request, pk: int) -> Any:
    """Change an account's role, state or e-mail address."""
    account = access.account(pk)
    _change(account, api.user(request), **api.data(request))
    return _account(account)


@api.delete(PersonDeletion, status=200, permission=IsAdministrator)
def delete_person(request: Request, pk: int) -> dict[str, Any]:
    """Delete an account with all its answers.

    `confirmation` is the person's user name, in the query or in a JSON body.
    """
    account = access.account(pk)
    return {"deleted": deletion.delete_person(person=account, by=api.user(request), **api.data(request))}


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


@api.post(gives=LinkSerializer, status=201, permission=IsAdministrator, secret=True)
def reset_link(request: Request, pk: int) -> Any:
    """Create a one-time link for a new password; only this response has its address."""
    return _link_json(request, links.reset(by=api.user(request), person=access.account(pk)))


def _link_json(request: Request, made_link: links.IssuedLink) -> Any:
    link, address = made_link.link, _address(request, made_link)
    return LinkSerializer({"id": link.pk, "address": address, "expires_at": link.expires_at}).data


def _address(request: Request, made_link: links.IssuedLink) -> str:
    return request.build_absolute_uri(reverse("use-link", args=[made_link.token]))


@api.listing(InvitationSerializer, permission=IsAdministrator)
def invitations(request: Request) -> QuerySet[OneTimeLink]:
    """List open invitations."""
    return links.open_invitations()


@api.post(NewInvitation, LinkSerializer, status=201, permission=IsAdministrator, secret=True)
def invite(request: Request) -> Any:
    """Create an invitation; only this response has its address."""
    return _link_json(request, links.invite(by=api.user(request), **api.data(request)))


@api.delete(permission=IsAdministrator)
def invitation(request: Request, pk: int) -> None:
    """Withdraw an invitation."""
    links.withdraw(by=api.user(request), link=access.invitation(pk))


@api.listing(EventSerializer, query=TEXTS, permission=IsAdministrator)
def events(request: Request) -> QuerySet[Event]:
    """List log entries, newest first; filter by `verb`, by author or subject (`person`), or by `text`."""
    return accounts.events(**{name: api.query_text(request, name) for name in ("verb", "person", "text")})


# The user's own account: password, tokens and settings. Everyone signed in.


@api.post(NewPassword, status=204, permission=IsSignedIn)
def password(request: Request) -> None:
    """Change your password; all other sessions end."""
    accounts.change_password(person=api.user(request), **api.data(request))
    if request.auth is None:  # a session, which continues with the new password
        update_session_auth_hash(request._request, api.user(request))


@api.get(TokenSerializer, many=True, permission=IsSignedIn)
def own_tokens(request: Request) -> QuerySet[ApiToken]:
    """List your tokens without their keys."""
    return api.user(request).api_tokens.all()


@api.post(NewToken, MadeTokenSerializer, status=201, permission=IsSignedIn, secret=True)
def make_token(request: Request) -> dict[str, Any]:
    """Create a token for yourself; only this response has its key."""
    made_token = accounts.make(person=api.user(request), **api.data(request))
    return TokenSerializer(made_token.token).data | {"key": made_token.key}


@api.delete(permission=IsSignedIn)
def own_token(request: Request, pk: int) -> None:
    """Revoke one of your tokens."""
    accounts.revoke(by=api.user(request), token=access.own_token(api.user(request), pk))


@api.get(ComfortSerializer, permission=IsSignedIn)
def own_comfort(request: Request) -> dict[str, Any]:
    """Read your settings of the annotation page, and the key of each command."""
    return preferences.as_json(preferences.comfort_of(api.user(request)))


@api.patch(ComfortSerializer, ComfortSerializer, partial=True, permission=IsSignedIn)
def change_comfort(request: Request) -> dict[str, Any]:
    """Change your settings of the annotation page."""
    return preferences.as_json(preferences.change(by=api.user(request), **api.data(request)))


# Invitations by e-mail. Administrators only.


@api.post(
    NewInvitationsByMail,
    InvitationByMailSerializer,
    many=True,
    status=201,
    permission=IsAdministrator,
    secret=True,
)
def invite_by_mail(request: Request) -> list[OneTimeLink]:
    """Invite e-mail addresses, all or none; a worker sends the links where mail is set up.

    Where mail is not set up, `address` is the link of each, in this response only. The response does not
    reveal whether an address has an account.
    """
    fields = api.data(request)
    emails = links.addresses_in("\n".join(fields.pop("emails")))
    made_links = links.invite_by_mail(
        by=api.user(request), emails=emails, base=request.build_absolute_uri("/"), **fields
    )
    for made_link in made_links:
        made_link.link.refresh_from_db()
        address = None if links.mail_is_set_up() else _address(request, made_link)
        made_link.link.address = address  # type: ignore[attr-defined]
    return [made_link.link for made_link in made_links]


@api.post(gives=InvitationSerializer, status=202, permission=IsAdministrator)
def send_invitation(request: Request, pk: int) -> OneTimeLink:
    """Send an invitation to its e-mail address again, with a new link."""
    link = access.invitation(pk)
    links.send_invitations(by=api.user(request), invitations=[link], base=request.build_absolute_uri("/"))
    link.refresh_from_db()
    return link


# API of groups of people, of people's languages and author names, and of a campaign's rules.


class GroupSerializer(serializers.ModelSerializer[PeopleGroup]):
    """A group with its people, by user name."""

    name = serializers.CharField(max_length=PeopleGroup.name.field.max_length)
    people = serializers.SlugRelatedField(
        slug_field="username", queryset=User.objects.all(), many=True, required=False
    )

    class Meta:
        model = PeopleGroup
        fields = ("id", "name", "people")


class AnnotatorSerializer(serializers.Serializer[Any]):
    """A person with groups, the languages that they read, and the names under which they write."""

    id = serializers.IntegerField(read_only=True, source="pk")
    username = serializers.CharField(read_only=True)
    groups = serializers.ListField(child=serializers.CharField(), read_only=True)
    languages = serializers.ListField(
        child=Text(max_length=PersonLanguage.language.field.max_length),
        required=False,
        max_length=people_groups.MOST_LANGUAGES,
    )
    writes_as = serializers.ListField(
        child=Text(max_length=WritingName.name.field.max_length),
        required=False,
        max_length=people_groups.MOST_NAMES,
    )

    def to_representation(self, instance: User) -> dict[str, Any]:
        """Return the person with groups, languages and author names as lists of strings."""
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


class GroupOfStratumSerializer(serializers.Serializer[Any]):
    """A stratum and the group that rates it."""

    stratum = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=1_000)
    group = GroupName()


class RequiredSerializer(serializers.Serializer[Any]):
    """Number of raters of a group that each task needs."""

    group = GroupName()
    raters = serializers.IntegerField(min_value=1, max_value=MOST_RATERS)


class RulesSerializer(serializers.Serializer[Any]):
    """Rules on who may and must rate which tasks. `unclaimable` are the tasks that no member can take."""

    by_language = serializers.BooleanField(default=False)
    not_own = api.optional_text(max_length=Campaign.not_own.field.max_length)
    groups_by = api.optional_text(max_length=Campaign.groups_by.field.max_length)
    strata = GroupOfStratumSerializer(many=True, required=False)
    required = RequiredSerializer(many=True, required=False)  # type: ignore[assignment]
    unclaimable = serializers.ListField(child=serializers.DictField(), read_only=True)


@api.listing(GroupSerializer)
def groups(request: Request) -> QuerySet[PeopleGroup]:
    """Researchers: list the groups of people."""
    return PeopleGroup.objects.prefetch_related("people").order_by("id")


@api.post(GroupSerializer, GroupSerializer, status=201)
def create_group(request: Request) -> PeopleGroup:
    """Researchers: create a group of people."""
    return people_groups.create(by=api.user(request), **api.data(request))


@api.get(GroupSerializer)
def group(request: Request, pk: int) -> PeopleGroup:
    """Researchers: read a group."""
    return access.people_group(pk)


@api.patch(GroupSerializer, GroupSerializer, partial=True)
def change_group(request: Request, pk: int) -> PeopleGroup:
    """Researchers: rename a group, or set its people."""
    people_group = access.people_group(pk)
    return people_groups.change(by=api.user(request), group=people_group, **api.data(request))


@api.delete()
def delete_group(request: Request, pk: int) -> None:
    """Researchers: delete a group."""
    people_groups.delete(by=api.user(request), group=access.people_group(pk))


@api.listing(AnnotatorSerializer)
def annotators(request: Request) -> QuerySet[User]:
    """Researchers: list active accounts with their groups, languages and author names."""
    return people_groups.people()


@api.get(AnnotatorSerializer)
def annotator(request: Request, pk: int) -> User:
    """Researchers: read a person's groups, languages and author names."""
    return access.account(pk)


@api.patch(AnnotatorSerializer, AnnotatorSerializer, partial=True)
def describe_annotator(request: Request, pk: int) -> User:
    """Researchers: set the languages that a person reads, and the names under which they write."""
    account = access.account(pk)
    people_groups.describe(by=api.user(request), person=account, **api.data(request))
    return account


@api.get(RulesSerializer, permission=IsCampaignResearcher)
def rules(request: Request, campaign: int) -> dict[str, Any]:
    """Read the rules on who rates which tasks in a campaign."""
    return _rules_json(access.campaign(campaign))


@api.put(RulesSerializer, RulesSerializer, permission=IsCampaignResearcher)
def set_rules(request: Request, campaign: int) -> dict[str, Any]:
    """Set the rules on who may and must rate which tasks; they apply from the next claimed task."""
    campaign_row = access.campaign(campaign)
    campaign_rules.set_rules(by=api.user(request), campaign=campaign_row, rules=_rules(api.data(request)))
    return _rules_json(access.campaign(campaign))


def _rules(values: dict[str, Any]) -> Rules:
    return Rules(
        by_language=values["by_language"],
        not_own=values["not_own"],
        groups_by=values["groups_by"],
        strata={row["stratum"]: row["group"] for row in values.get("strata", ())},
        required={row["group"]: row["raters"] for row in values.get("required", ())},
    )


def _rules_json(campaign: Campaign) -> dict[str, Any]:
    stored_rules = campaign_rules.rules_of(campaign)
    strata = [{"stratum": name, "group": group.name} for name, group in stored_rules.strata.items()]
    required = [{"group": group.name, "raters": raters} for group, raters in stored_rules.required.items()]
    return campaign_rules.as_json(stored_rules) | {
        "strata": strata,
        "required": required,
        "unclaimable": campaign_rules.unclaimable_tasks(campaign),
    }
