"""What the API of people and accounts sends and takes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.models import ApiToken, Comfort, OneTimeLink
from annotation.people import comfort, invitations
from annotation.people.roles import ROLES
from config.models import Event


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
        child=serializers.CharField(max_length=300), min_length=1, max_length=invitations.MOST
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
            for command, (_, does) in comfort.COMMANDS.items()
        }


class ComfortSerializer(serializers.Serializer[Any]):
    """One's own settings of the annotation page."""

    auto_advance = serializers.BooleanField(required=False)
    text_size = serializers.ChoiceField(choices=Comfort.Size.choices, required=False)
    more_contrast = serializers.BooleanField(required=False)
    break_after = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=comfort.SHORTEST_BREAK,
        max_value=comfort.LONGEST_BREAK,
        help_text="minutes of attention; null proposes no break",
    )
    keys = KeysSerializer(required=False)
