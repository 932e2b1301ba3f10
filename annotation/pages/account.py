"""One's own account: its password, and the tokens that programs use in one's name. Everyone signed in."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.pages.people_forms import ChangePasswordForm, TokenForm, refused
from annotation.people import accounts, tokens
from annotation.people.errors import PasswordRefused, PeopleError


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {"tokens": _user(request).api_tokens.all(), "form": TokenForm()} | more
    return render(request, "accounts/account.html", context, status=status)


@require_GET
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: their own account and its tokens."""
    return _page(request)


@require_POST
@never_cache
def make_token(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: make a token; its key is shown in this answer and never again."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            made = tokens.make(person=_user(request), **form.cleaned_data)
        except PeopleError as error:
            refused(form, error)
        else:
            return _page(request, made=made)
    return _page(request, status=422, form=form)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Everyone signed in: make one of their tokens useless."""
    found = access.own_token(_user(request), pk)
    tokens.revoke(by=_user(request), token=found)
    messages.success(request, f"The token {found.name} was revoked.")
    return redirect("account")


@never_cache
def password(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: change their password; their other sessions end."""
    form = ChangePasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            accounts.change_password(
                person=_user(request), old=form.cleaned_data["old"], new=form.cleaned_data["password"]
            )
        except PasswordRefused as error:
            form.add_error("old" if str(error) == accounts.WRONG else "password", str(error))
        else:
            update_session_auth_hash(request, _user(request))
            messages.success(request, "The password was changed. All other sessions have ended.")
            return redirect("account")
    return render(request, "accounts/password.html", {"form": form}, status=422 if form.errors else 200)
