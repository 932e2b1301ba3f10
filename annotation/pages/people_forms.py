"""The forms about people. What the actions behind them refuse, `refused` puts beside its field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from annotation.people.errors import PeopleError
from annotation.people.roles import ROLES

ROLE_CHOICES = list(ROLES.items())
LONGEST_PASSWORD = 1_000


def refused(form: forms.Form, error: PeopleError) -> None:
    """Add a refusal to the field that is at fault."""
    form.add_error(error.field if error.field in form.fields else None, str(error))


def password_field(label: str, autocomplete: str) -> forms.CharField:
    """Return a field for a password."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, widget=widget, strip=False, max_length=LONGEST_PASSWORD)


class SignInForm(AuthenticationForm):
    """Name and password, of bounded length."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["username"]
        assert isinstance(name, forms.CharField)
        self.fields["username"] = forms.CharField(
            label="User name", max_length=150, widget=name.widget, strip=False
        )
        self.fields["password"] = password_field("Password", "current-password")


class PersonForm(forms.Form):
    """A new account."""

    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(choices=ROLE_CHOICES)
    password = password_field("Password", "new-password")


class InviteForm(forms.Form):
    """An invitation. Its fields have ids of their own: the page has another form with a role."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "invite_%s"} | kwargs)

    role = forms.ChoiceField(choices=ROLE_CHOICES)
    emails = forms.CharField(
        required=False,
        max_length=100_000,
        label="E-mail addresses",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line, or a list with commas. Left empty, you get one link to send yourself.",
    )
    name = forms.CharField(
        max_length=150,
        required=False,
        label="User name",
        help_text="Left empty, the person chooses it.",
    )
    days = forms.IntegerField(min_value=1, max_value=60, initial=7, label="Days it holds")


class EnterForm(forms.Form):
    """What a new person gives: a name and a password, twice."""

    username = forms.CharField(max_length=150, label="User name")
    password = password_field("Password", "new-password")
    again = password_field("Password again", "new-password")

    def clean(self) -> dict[str, Any]:
        """Refuse two passwords that differ."""
        data = super().clean() or {}
        if data.get("password") and data.get("again") and data["password"] != data["again"]:
            self.add_error("again", "The two passwords differ.")
        return data


class NewPasswordForm(EnterForm):
    """A new password, twice, for an account that is there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["username"]


class ChangePasswordForm(NewPasswordForm):
    """A new password, twice, after the one of now."""

    field_order = ["old", "password", "again"]
    old = password_field("Password of now", "current-password")


class TokenForm(forms.Form):
    """A token for a program."""

    name = forms.CharField(max_length=80, label="What it is for")
    scope = forms.ChoiceField(
        choices=[("read", "read"), ("write", "read and write")], initial="read", label="It may"
    )
    days = forms.IntegerField(min_value=1, max_value=366, initial=90, label="Days it holds")


class AuditForm(forms.Form):
    """What of the audit log is shown."""

    verb = forms.ChoiceField(required=False, label="Act")
    person = forms.CharField(required=False, max_length=150, label="Person")
    text = forms.CharField(required=False, max_length=300, label="About")

    def __init__(self, *args: Any, verbs: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verb = self.fields["verb"]
        assert isinstance(verb, forms.ChoiceField)
        verb.choices = [("", "All"), *((one, one) for one in verbs)]
