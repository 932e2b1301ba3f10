"""Pages of people: accounts, invitations, audit log (administrators only), groups, and one's own account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.errors import AnnotationError, GroupRefused, PasswordRefused, PeopleError
from annotation.models import ApiToken, OneTimeLink, PeopleGroup
from annotation.people import accounts, deletion, groups, links, sign_in
from annotation.people.accounts import PASSWORD_LIMIT, ROLES, USERNAME_LIMIT
from annotation.people.names import LONGEST_ADDRESS
from config.files import row_id
from config.listing import Column, Listing, natural
from config.middleware import ZONE_COOKIE, available_zones
from config.permissions import administrator_only, researcher_only, user_of

# Forms about people. `refused` shows an action's refusal beside the invalid field.

ROLE_CHOICES = list(ROLES.items())


def refused(form: forms.Form, error: PeopleError) -> None:
    """Add a refusal to the invalid field."""
    form.add_error(error.field if error.field in form.fields else None, str(error))


def password_field(label: str, autocomplete: str) -> forms.CharField:
    """Return a password field."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, widget=widget, strip=False, max_length=PASSWORD_LIMIT)


class SignInForm(AuthenticationForm):
    """User name and password, of bounded length."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["username"]
        assert isinstance(name, forms.CharField)
        self.fields["username"] = forms.CharField(
            label="User name", max_length=USERNAME_LIMIT, widget=name.widget, strip=False
        )
        self.fields["password"] = password_field("Password", "current-password")


class PersonForm(forms.Form):
    """A new account."""

    username = forms.CharField(max_length=USERNAME_LIMIT, label="User name")
    role = forms.ChoiceField(choices=ROLE_CHOICES)
    password = password_field("Password", "new-password")


class InviteForm(forms.Form):
    """An invitation. Its fields have special ids, since the page has another form with a role."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "invite_%s"} | kwargs)

    role = forms.ChoiceField(choices=ROLE_CHOICES)
    emails = forms.CharField(
        required=False,
        max_length=links.MOST_TEXT,
        label="E-mail addresses",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line, or a list with commas. Left empty, you get one link to send yourself.",
    )
    name = forms.CharField(
        max_length=USERNAME_LIMIT,
        required=False,
        label="User name",
        help_text="Left empty, the person chooses it.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=links.MOST_DAYS, initial=links.INVITATION_DAYS, label="Days it holds"
    )


class EnterForm(forms.Form):
    """A new person's user name, and the password twice."""

    username = forms.CharField(max_length=USERNAME_LIMIT, label="User name")
    password = password_field("Password", "new-password")
    again = password_field("Password again", "new-password")

    def clean(self) -> dict[str, Any]:
        """Refuse different passwords."""
        data = super().clean() or {}
        if data.get("password") and data.get("again") and data["password"] != data["again"]:
            self.add_error("again", "The two passwords differ.")
        return data


class NewPasswordForm(EnterForm):
    """A new password, twice, for an existing account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["username"]


class ChangePasswordForm(NewPasswordForm):
    """The current password, and a new password twice."""

    field_order = ["old", "password", "again"]
    old = password_field("Password of now", "current-password")


class TokenForm(forms.Form):
    """A token for a program."""

    name = forms.CharField(max_length=ApiToken.name.field.max_length, label="What it is for")
    scope = forms.ChoiceField(choices=ApiToken.Scope, initial=ApiToken.Scope.READ, label="It may")
    days = forms.IntegerField(
        min_value=1, max_value=accounts.MOST_DAYS, initial=accounts.USUAL_DAYS, label="Days it holds"
    )


class AuditForm(forms.Form):
    """Filters of the audit log."""

    verb = forms.ChoiceField(required=False, label="Act")
    person = forms.CharField(required=False, max_length=USERNAME_LIMIT, label="Person")
    text = forms.CharField(required=False, max_length=300, label="About")

    def __init__(self, *args: Any, verbs: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        verb = self.fields["verb"]
        assert isinstance(verb, forms.ChoiceField)
        verb.choices = [("", "All"), *((name, name) for name in verbs)]


# The viewer's own account: password, and tokens for programs. Everyone signed in.


ZONE_DAYS = 400
"""Days for which a browser keeps a chosen time zone, the most that browsers allow."""


def _page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "role": ROLES[accounts.role_of(user_of(request))],
        "tokens": user_of(request).api_tokens.all(),
        "form": TokenForm(),
        "zones": sorted(available_zones()),
        "zone_now": request.COOKIES.get(ZONE_COOKIE, ""),
        **more,
    }
    return render(request, "accounts/account.html", context, status=status)


@require_GET
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: show their own account and its tokens."""
    return _page(request)


@require_POST
def time_zone(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: choose the time zone of their pages in this browser; without one, the browser's."""
    zone = request.POST.get("zone", "")
    response = redirect("account")
    if zone in available_zones():
        response.set_cookie(ZONE_COOKIE, zone, max_age=ZONE_DAYS * 86_400, samesite="Lax")
    else:
        response.delete_cookie(ZONE_COOKIE)
    return response


@require_POST
@never_cache
def make_token(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: create a token; only this response shows its key."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            made_token = accounts.make(person=user_of(request), **form.cleaned_data)
        except PeopleError as error:
            refused(form, error)
        else:
            return _page(request, made=made_token)
    return _page(request, status=422, form=form)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Everyone signed in: revoke one of their tokens."""
    token = access.own_token(user_of(request), pk)
    accounts.revoke(by=user_of(request), token=token)
    messages.success(request, f"The token {token.name} was revoked.")
    return redirect("account")


@never_cache
def password(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: change their password; their other sessions end."""
    form = ChangePasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            accounts.change_password(
                person=user_of(request), old=form.cleaned_data["old"], new=form.cleaned_data["password"]
            )
        except PasswordRefused as error:
            form.add_error("old" if str(error) == accounts.WRONG else "password", str(error))
        else:
            update_session_auth_hash(request, user_of(request))
            messages.success(request, "The password was changed. All other sessions have ended.")
            return redirect("account")
    context = {
        "form": form,
        "title": "Change the password",
        "lead": "Your sessions in other browsers end. Tokens stay as they are.",
        "action": "Change",
        "back": reverse("account"),
    }
    return render(request, "accounts/form.html", context, status=422 if form.errors else 200)


# The audit log. Administrators only.

EVENTS = Listing(
    Column("When", "at"),
    Column("By", "by__username"),
    Column("Act", "verb"),
    Column("About", "subject"),
    Column("Details"),
    size=100,
)


@require_GET
@never_cache
@administrator_only
def log(request: HttpRequest) -> HttpResponse:
    """Administrators: list the log entries that match the filters, newest first."""
    form = AuditForm(request.GET, verbs=accounts.verbs())
    filters = {name: value for name, value in form.cleaned_data.items() if value} if form.is_valid() else {}
    page = EVENTS.page(request, accounts.events(**filters))
    names = accounts.usernames_of(event.subject for event in page)
    rows = [
        (event, names.get(event.subject, event.subject), accounts.detail_in_words(event)) for event in page
    ]
    context = {"form": form, "page": page, "rows": rows}
    return render(request, "accounts/log.html", context, status=200 if form.is_valid() else 422)


# Pages of groups of people, and of a person's languages and author names. Researchers only.

GROUPS_SHOWN = 100


def _selected_people(request: HttpRequest) -> list[User]:
    numbers = [number for text in request.POST.getlist("people") if (number := row_id(text)) is not None]
    return list(User.objects.filter(pk__in=numbers))


@require_GET
@researcher_only
def group_list(request: HttpRequest) -> HttpResponse:
    """Researchers: list all groups, and people with their groups, languages and author names."""
    context = {
        "groups": PeopleGroup.objects.prefetch_related("people"),
        "page": Paginator(groups.people(), GROUPS_SHOWN).get_page(request.GET.get("page")),
        "name_limit": groups.NAME_LIMIT,
    }
    return render(request, "people/groups.html", context)


@require_POST
@researcher_only
def add_group(request: HttpRequest) -> HttpResponse:
    """Researchers: create a group."""
    try:
        new_group = groups.create(by=user_of(request), name=request.POST.get("name", ""))
    except GroupRefused as error:
        messages.error(request, str(error))
        return redirect("groups")
    return redirect("group", new_group.pk)


@researcher_only
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: show a group; rename it, change its people, or delete it."""
    people_group = access.people_group(pk)
    if request.method == "POST":
        try:
            if request.POST.get("verb") == "delete":
                groups.delete(by=user_of(request), group=people_group)
                messages.success(request, f"The group {people_group.name} was deleted; its people stay.")
                return redirect("groups")
            name = request.POST.get("name", "")
            groups.change(
                by=user_of(request), group=people_group, name=name, people=_selected_people(request)
            )
        except GroupRefused as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "The group is changed.")
        return redirect("group", pk)
    inside = set(people_group.people.values_list("pk", flat=True))
    choices = User.objects.filter(is_active=True) | User.objects.filter(pk__in=inside)
    context = {
        "group": people_group,
        "name_limit": groups.NAME_LIMIT,
        "inside": inside,
        "everybody": choices.order_by("username"),
    }
    return render(request, "people/group.html", context)


@researcher_only
def described_person(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: set the languages that a person reads, and their author names in dialogues."""
    person, why = access.account(pk), ""
    description = groups.described(person)
    if request.method == "POST":
        sent = {name: request.POST.get(name, "") for name in ("languages", "writes_as")}
        description = {
            "languages": sent["languages"].replace(",", " ").split(),
            "writes_as": sent["writes_as"].splitlines(),
        }
        try:
            groups.describe(by=user_of(request), person=person, **description)
        except GroupRefused as error:
            why = str(error)
        else:
            messages.success(request, f"What {person.get_username()} reads and writes as is kept.")
            return redirect("groups")
    context = {
        "person": person,
        "languages": " ".join(description["languages"]),
        "writes_as": "\n".join(description["writes_as"]),
        "refused": why,
    }
    return render(request, "people/described.html", context, status=422 if why else 200)


PEOPLE = Listing(
    Column("Name", natural("username")),
    Column("Role", accounts.ROLE_ORDER),
    Column("Tasks submitted", accounts.TASKS_SUBMITTED, is_numeric=True),
    Column("Items answered", is_numeric=True),
    Column("Last signed in", "last_login"),
    search=("username",),
)
DEACTIVATES = (
    "Deactivating keeps a person out at once and frees the tasks they hold. Their answers stay as they are, "
    "and the account can be activated again."
)
AT_FAULT = {"username": "name", "email": "emails"}
"""Fields of the invitation form, by the field of a refusal."""


@require_GET
@never_cache
@administrator_only
def people(request: HttpRequest) -> HttpResponse:
    """Administrators: list all accounts with their roles and amount of work, and open invitations."""
    return _people(request, PersonForm(), InviteForm())


def _people(
    request: HttpRequest, form: PersonForm, invite: InviteForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    page = PEOPLE.page(request, accounts.accounts())
    context = {
        "page": page,
        "rows": accounts.rows(list(page)),
        "invitations": (open_ones := list(links.open_invitations())),
        "being_sent": any(invitation.mail == OneTimeLink.Mail.QUEUED for invitation in open_ones),
        "has_mail": links.mail_is_set_up(),
        "mail": _mail_sentence(),
        "form": form,
        "invite": invite,
    }
    return render(request, "accounts/people.html", context | more, status=status)


def _mail_sentence() -> str:
    """Return how invitations reach their people."""
    if links.mail_is_set_up():
        return "Concord sends it to the e-mail addresses that you give."
    fault = settings.MAIL.fault
    return f"No mail can be sent: {fault}" if fault else "No mail is set up, so you send it yourself."


@require_POST
@never_cache
@administrator_only
def add_person(request: HttpRequest) -> HttpResponse:
    """Administrators: create an account with a password that they choose."""
    form = PersonForm(request.POST)
    if form.is_valid():
        try:
            account_row = accounts.create(by=user_of(request), **form.cleaned_data)
        except PeopleError as error:
            refused(form, error)
        else:
            messages.success(request, f"The account {account_row.get_username()} was made.")
            return redirect("people")
    return _people(request, form, InviteForm(), status=422)


@require_POST
@never_cache
@administrator_only
def invite(request: HttpRequest) -> HttpResponse:
    """Administrators: create an invitation; only this response shows its link."""
    form = InviteForm(request.POST)
    if form.is_valid():
        try:
            return _invited(request, **form.cleaned_data)
        except PeopleError as error:
            form.add_error(AT_FAULT.get(error.field), str(error))
    return _people(request, PersonForm(), form, status=422)


def _invited(request: HttpRequest, *, emails: str, **options: Any) -> HttpResponse:
    """Create one link, or one for each address; links are sent where mail is set up, else shown."""
    by = user_of(request)
    if not emails.strip():
        return _links_page(request, [links.invite(by=by, **options)], "Invitation")
    addresses = links.addresses_in(emails)
    made_links = links.invite_by_mail(by=by, emails=addresses, base=_base(request), **options)
    if not links.mail_is_set_up():
        return _links_page(request, made_links, "Invitations")
    many = len(made_links)
    messages.success(request, f"{many} invitation{'s are' if many != 1 else ' is'} being sent: see below.")
    return redirect("people")


@require_POST
@administrator_only
def send_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: send an invitation again, with a new link."""
    try:
        links.send_invitations(by=user_of(request), invitations=[access.invitation(pk)], base=_base(request))
    except PeopleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The invitation is being sent. Links sent before open nothing any more.")
    return redirect("people")


def _base(request: HttpRequest) -> str:
    return request.build_absolute_uri("/")


def _address(request: HttpRequest, made_link: links.IssuedLink) -> str:
    return request.build_absolute_uri(reverse("use-link", args=[made_link.token]))


@require_POST
@never_cache
@administrator_only
def reset_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: create a link for a new password; only this response shows it."""
    try:
        made_link = links.reset(by=user_of(request), person=access.account(pk))
    except PeopleError as error:
        messages.error(request, str(error))
        return redirect("person", pk)
    return _links_page(request, [made_link], "Link for a new password")


def _links_page(request: HttpRequest, issued: Sequence[links.IssuedLink], title: str) -> HttpResponse:
    rows = [(each.link.addressee, _address(request, each), each.link.expires_at) for each in issued]
    return render(request, "accounts/links.html", {"title": title, "rows": rows})


@require_POST
@administrator_only
def withdraw_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: withdraw an invitation."""
    link = access.invitation(pk)
    links.withdraw(by=user_of(request), link=link)
    messages.success(request, "The invitation was withdrawn.")
    return redirect("people")


@require_GET
@never_cache
@administrator_only
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: show an account with its work, and the actions on it."""
    account_row = access.account(pk)
    (row,) = accounts.rows([account_row])
    context = {
        "person": account_row,
        "row": row,
        "work": accounts.work_of(account_row),
        "roles": ROLE_CHOICES,
        "email_limit": LONGEST_ADDRESS,
        "locked": sign_in.is_locked(account_row),
        "states": _state_acts(account_row),
        "tokens": account_row.api_tokens.count(),
    }
    return render(request, "accounts/person.html", context)


def _state_acts(person: User) -> list[tuple[str, str, str]]:
    """Return the acts on an account's state: what each does, its verb, its button."""
    lock = "Somebody gave ten wrong passwords. The lock ends after half an hour."
    acts = [(lock, "unlock", "Unlock now")] if sign_in.is_locked(person) else []
    change = (DEACTIVATES, "deactivate", "Deactivate") if person.is_active else ("", "activate", "Activate")
    return [*acts, change]


@require_POST
@administrator_only
def change_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: change the role of an account."""
    account_row, role = access.account(pk), request.POST.get("role", "")
    return _done(
        request,
        account_row,
        lambda by: accounts.set_role(by=by, person=account_row, role=role),
        "The role holds",
    )


@require_POST
@administrator_only
def change_email(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: set a person's e-mail address."""
    account_row, email = access.account(pk), request.POST.get("email", "")
    return _done(
        request,
        account_row,
        lambda by: accounts.set_email(by=by, person=account_row, email=email),
        "The address is kept",
    )


@require_POST
@administrator_only
def change_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: deactivate, activate or unlock an account."""
    account_row = access.account(pk)
    verbs: dict[str, tuple[Callable[[User], Any], str]] = {
        "deactivate": (
            lambda by: accounts.deactivate(by=by, person=account_row),
            "The account is deactivated",
        ),
        "activate": (lambda by: accounts.activate(by=by, person=account_row), "The account is active"),
        "unlock": (lambda by: sign_in.unlock(by=by, person=account_row), "The account can sign in again"),
    }
    act = verbs.get(request.POST.get("verb", ""))
    if act is None:
        messages.error(request, "Choose deactivate, activate or unlock.")
        return redirect("person", pk)
    return _done(request, account_row, *act)


def _done(request: HttpRequest, account_row: User, act: Callable[[User], Any], message: str) -> HttpResponse:
    try:
        act(user_of(request))
    except PeopleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{message}.")
    return redirect("person", account_row.pk)


@never_cache
@administrator_only
def delete_person(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: delete an account with its labels, confirmed with its name, and again where in use."""
    account_row, why = access.account(pk), ""
    if request.method == "POST":
        try:
            deletion.delete_person(
                person=account_row,
                by=user_of(request),
                confirmation=request.POST.get("confirmation", ""),
                despite_use=bool(request.POST.get("despite_use")),
            )
        except AnnotationError as error:
            why = str(error)
        else:
            messages.success(request, "The account and its data were deleted.")
            return redirect("people")
    context = {
        "person": account_row,
        "destroyed": deletion.destroyed_with(account_row),
        "problems": [why[:1].upper() + why[1:]] if why else [],
    }
    return render(request, "accounts/delete_person.html", context, status=422 if why else 200)
