"""The pages of people: all accounts, one account, invitations. Administrators only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.errors import AnnotationError
from annotation.models import OneTimeLink
from annotation.pages.people_forms import ROLE_CHOICES, InviteForm, PersonForm, refused
from annotation.people import accounts, deletion, invitations, links, mailing, roles, sign_in
from annotation.people.errors import PeopleError
from config.permissions import administrator_only

SHOWN = 50
AT_FAULT = {"username": "name", "email": "emails"}
"""The fields of the form of invitations, by what a refusal is about."""


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@require_GET
@never_cache
@administrator_only
def people(request: HttpRequest) -> HttpResponse:
    """Administrators: every account with its role and what it has done, and open invitations."""
    return _people(request, PersonForm(), InviteForm())


def _people(
    request: HttpRequest, form: PersonForm, invite: InviteForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    text = request.GET.get("text", "").replace("\0", "").strip()
    page = Paginator(accounts.accounts(text), SHOWN).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": accounts.rows(list(page)),
        "text": text,
        "query": f"{urlencode({'text': text})}&" if text else "",
        "invitations": (open_ones := list(links.open_invitations())),
        "being_sent": any(one.mail == OneTimeLink.Mail.QUEUED for one in open_ones),
        "has_mail": mailing.is_set_up(),
        "mail_fault": settings.MAIL.fault,
        "form": form,
        "invite": invite,
    }
    return render(request, "accounts/people.html", context | more, status=status)


@require_POST
@never_cache
@administrator_only
def add_person(request: HttpRequest) -> HttpResponse:
    """Administrators: make an account with a password that they choose."""
    form = PersonForm(request.POST)
    if form.is_valid():
        try:
            made = accounts.create(by=_user(request), **form.cleaned_data)
        except PeopleError as error:
            refused(form, error)
        else:
            messages.success(request, f"The account {made.get_username()} was made.")
            return redirect("people")
    return _people(request, form, InviteForm(), status=422)


@require_POST
@never_cache
@administrator_only
def invite(request: HttpRequest) -> HttpResponse:
    """Administrators: make an invitation; its link is shown in this answer and never again."""
    form = InviteForm(request.POST)
    if form.is_valid():
        try:
            return _invited(request, **form.cleaned_data)
        except PeopleError as error:
            form.add_error(AT_FAULT.get(error.field), str(error))
    return _people(request, PersonForm(), form, status=422)


def _invited(request: HttpRequest, *, emails: str, **asked: Any) -> HttpResponse:
    """Make one link, or one for each address, which is sent where mail is set up and else shown."""
    by = _user(request)
    if not emails.strip():
        return _link_page(request, links.invite(by=by, **asked), "Invitation")
    made = invitations.invite(by=by, emails=invitations.listed(emails), **asked)
    if not mailing.is_set_up():
        shown = [(one.link, _address(request, one)) for one in made]
        return render(request, "accounts/links.html", {"made": shown})
    invitations.send(by=by, invitations=[one.link for one in made], base=_base(request))
    many = len(made)
    messages.success(request, f"{many} invitation{'s are' if many != 1 else ' is'} being sent: see below.")
    return redirect("people")


@require_POST
@administrator_only
def send_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: send an invitation once more, with a new link."""
    try:
        invitations.send(by=_user(request), invitations=[access.invitation(pk)], base=_base(request))
    except PeopleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The invitation is being sent. Links sent before open nothing any more.")
    return redirect("people")


def _base(request: HttpRequest) -> str:
    return request.build_absolute_uri("/")


def _address(request: HttpRequest, made: links.Made) -> str:
    return request.build_absolute_uri(reverse("use-link", args=[made.token]))


@require_POST
@never_cache
@administrator_only
def reset_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: make a link for a new password; it is shown in this answer and never again."""
    try:
        made = links.reset(by=_user(request), person=access.account(pk))
    except PeopleError as error:
        messages.error(request, str(error))
        return redirect("person", pk)
    return _link_page(request, made, "Link for a new password")


def _link_page(request: HttpRequest, made: links.Made, title: str) -> HttpResponse:
    context = {"address": _address(request, made), "link": made.link, "title": title}
    return render(request, "accounts/link.html", context)


@require_POST
@administrator_only
def withdraw_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: make an invitation useless."""
    found = access.invitation(pk)
    links.withdraw(by=_user(request), link=found)
    messages.success(request, "The invitation was withdrawn.")
    return redirect("people")


@require_GET
@never_cache
@administrator_only
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: one account, what it has done, and what can be done about it."""
    found = access.account(pk)
    (row,) = accounts.rows([found])
    context = {
        "person": found,
        "row": row,
        "work": accounts.work_of(found),
        "roles": ROLE_CHOICES,
        "locked": sign_in.is_locked(found),
        "tokens": found.api_tokens.count(),
    }
    return render(request, "accounts/person.html", context)


@require_POST
@administrator_only
def change_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: give an account another role."""
    found, role = access.account(pk), request.POST.get("role", "")
    return _done(request, found, lambda by: roles.set_role(by=by, person=found, role=role), "The role holds")


@require_POST
@administrator_only
def change_email(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: say what e-mail address is a person's."""
    found, email = access.account(pk), request.POST.get("email", "")
    return _done(
        request, found, lambda by: accounts.set_email(by=by, person=found, email=email), "The address is kept"
    )


@require_POST
@administrator_only
def change_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: deactivate, activate or unlock an account."""
    found = access.account(pk)
    verbs: dict[str, tuple[Callable[[User], Any], str]] = {
        "deactivate": (lambda by: accounts.deactivate(by=by, person=found), "The account is deactivated"),
        "activate": (lambda by: accounts.activate(by=by, person=found), "The account is active"),
        "unlock": (lambda by: sign_in.unlock(by=by, person=found), "The account can sign in again"),
    }
    act = verbs.get(request.POST.get("verb", ""))
    if act is None:
        messages.error(request, "Choose deactivate, activate or unlock.")
        return redirect("person", pk)
    return _done(request, found, *act)


def _done(request: HttpRequest, found: User, act: Callable[[User], Any], said: str) -> HttpResponse:
    try:
        act(_user(request))
    except PeopleError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{said}.")
    return redirect("person", found.pk)


@never_cache
@administrator_only
def delete_person(request: HttpRequest, pk: int) -> HttpResponse:
    """Administrators: delete an account with its labels, confirmed by its name, told twice where in use."""
    found, why = access.account(pk), ""
    if request.method == "POST":
        try:
            deletion.delete_person(
                person=found,
                by=_user(request),
                confirmation=request.POST.get("confirmation", ""),
                despite_use=bool(request.POST.get("despite_use")),
            )
        except AnnotationError as error:
            why = str(error)
        else:
            messages.success(request, "The account and its data were deleted.")
            return redirect("people")
    context = {"person": found, "destroyed": deletion.destroyed_with(found), "refused": why}
    return render(request, "accounts/delete_person.html", context, status=422 if why else 200)
