"""The pages around the rooms: home, the account, the people, and what goes wrong."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from rest_framework.authtoken.models import Token

from config.permissions import RESEARCHERS, administrator_only, is_researcher


def home(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: researchers land on corpora, annotators on their campaigns."""
    return redirect("corpora" if is_researcher(request.user) else "my-campaigns")


def account(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: their own account and its API token."""
    assert isinstance(request.user, User)
    token = Token.objects.filter(user=request.user).first()
    return render(request, "accounts/account.html", {"token": token})


@require_POST
def renew_token(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: replace their own API token."""
    assert isinstance(request.user, User)
    with transaction.atomic():
        Token.objects.filter(user=request.user).delete()
        Token.objects.create(user=request.user)
    messages.success(request, "A new token was made; the old one no longer works.")
    return redirect("account")


class PersonForm(forms.Form):
    """A new account."""

    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(choices=[("annotator", "Annotator"), ("researcher", "Researcher")])
    password = forms.CharField(widget=forms.PasswordInput, min_length=8)

    def clean_password(self) -> str:
        """Apply the password rules."""
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


@administrator_only
def people(request: HttpRequest) -> HttpResponse:
    """Administrators: every account with its role."""
    users = User.objects.prefetch_related("groups").order_by("username")
    return render(request, "accounts/people.html", {"people": users, "form": PersonForm()})


@require_POST
@administrator_only
def add_person(request: HttpRequest) -> HttpResponse:
    """Administrators: make an account."""
    form = PersonForm(request.POST)
    if form.is_valid():
        try:
            create_person(**form.cleaned_data)
        except (IntegrityError, ValidationError):
            form.add_error("username", "That name is taken. Choose another.")
        else:
            messages.success(request, f"The account {form.cleaned_data['username']} was made.")
            return redirect("people")
    users = User.objects.prefetch_related("groups").order_by("username")
    return render(request, "accounts/people.html", {"people": users, "form": form}, status=422)


@transaction.atomic
def create_person(*, username: str, role: str, password: str) -> User:
    """Make an account (annotator or researcher). Raises IntegrityError where the name is taken."""
    user = User.objects.create_user(username=username, password=password)
    if role == "researcher":
        group, _ = Group.objects.get_or_create(name=RESEARCHERS)
        user.groups.add(group)
    return user


@login_not_required
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The 403 page."""
    return _told(request, 403, "Not for this account.")


@login_not_required
def missing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The 404 page."""
    return _told(request, 404, "There is nothing here.")


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    """The 500 page: plain, with no database behind it."""
    return _told(request, 500, "Something broke.")


def _told(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    """Answer a program with JSON and a person with a page."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": detail}, status=status)
    return render(request, f"errors/{status}.html", status=status)
