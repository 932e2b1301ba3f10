"""Roles and permissions: administrators, researchers, annotators.

An administrator is a superuser; a researcher is in the group `researchers`; everyone else with an account is
an annotator and sees only the campaigns of which they are a member.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

RESEARCHERS = "researchers"

Viewer = AbstractBaseUser | AnonymousUser


def user_of(request: HttpRequest | Request) -> User:
    """Return the account that sends a request; only for views that require sign-in."""
    assert isinstance(request.user, User)
    return request.user


def is_administrator(user: Viewer) -> bool:
    """Whether the user manages accounts, endpoints and deletions."""
    return bool(getattr(user, "is_active", False) and getattr(user, "is_superuser", False))


def is_researcher(user: Viewer) -> bool:
    """Whether the user sets up campaigns, judges and studies. One query per request, cached."""
    if is_administrator(user):
        return True
    if not isinstance(user, User) or not user.is_active:
        return False
    remembered = user.__dict__.get("_is_researcher")
    if remembered is None:
        remembered = user.__dict__["_is_researcher"] = user.groups.filter(name=RESEARCHERS).exists()
    return bool(remembered)


def _only(test: Callable[[Viewer], bool]) -> Callable[..., Any]:
    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not test(request.user):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return guarded

    return decorate


researcher_only = _only(is_researcher)
"""Decorator of page views for researchers and administrators (other signed-in users: 403)."""

administrator_only = _only(is_administrator)
"""Decorator of page views for administrators."""


class IsResearcher(BasePermission):
    """API permission: researchers and administrators. The default of every API route."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return is_researcher(request.user)


class IsAdministrator(BasePermission):
    """API permission: administrators."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return is_administrator(request.user)


class IsSignedIn(BasePermission):
    """API permission: any account; the view restricts the result to what the account may see."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user and request.user.is_authenticated)
