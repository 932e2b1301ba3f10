"""Tokens that programs sign in with: made for a time, to read or to write, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.models import ApiToken, Participant
from annotation.people.errors import TokenRefused
from config.models import Event

MOST_TOKENS, MOST_DAYS = 20, 366
NOTED_EVERY = timedelta(hours=1)


class Made(NamedTuple):
    """A token as it was made; `key` is its secret, told this once."""

    token: ApiToken
    key: str


@transaction.atomic
def make(*, person: User, name: str, scope: str, days: int, by: User | None = None) -> Made:
    """Make a token of a person's. Raises TokenRefused for an odd name, scope or number of days."""
    name = name.replace("\0", "").strip()[:80] or "token"
    if scope not in ApiToken.Scope.values:
        raise TokenRefused(f"A token may {' or '.join(ApiToken.Scope.values)}; there is no scope “{scope}”.")
    if Participant.objects.filter(user=person).exists():
        raise TokenRefused("Who joined a campaign by a link works on its pages alone.")
    if not 1 <= days <= MOST_DAYS:
        raise TokenRefused(f"A token holds for 1 to {MOST_DAYS} days.")
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    ApiToken.objects.filter(user=person, expires_at__lt=timezone.now()).delete()
    if ApiToken.objects.filter(user=person).count() >= MOST_TOKENS:
        raise TokenRefused(f"An account has at most {MOST_TOKENS} tokens. Revoke one first.")
    key = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=days)
    token = ApiToken.objects.create(
        user=person, name=name, key_hash=hash_of(key), scope=scope, expires_at=expires
    )
    _log(by or person, "make token", token)
    return Made(token, key)


@transaction.atomic
def revoke(*, by: User | None, token: ApiToken) -> None:
    """Make a token useless."""
    _log(by, "revoke token", token)
    ApiToken.objects.filter(pk=token.pk).delete()


def hash_of(key: str) -> str:
    """Return what is kept of a key. It is random and long, so one SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def _log(by: User | None, verb: str, token: ApiToken) -> None:
    detail = {"token": token.pk, "scope": token.scope}
    Event.objects.create(by=by, verb=verb, subject=f"account {token.user_id}", detail=detail)


class TokenAuthentication(authentication.TokenAuthentication):
    """`Authorization: Token KEY`. A token to read is refused for anything but GET, HEAD and OPTIONS."""

    model = ApiToken

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return who a request is by and its token; None where it carries none."""
        found = super().authenticate(request)
        if found is None:
            return None
        user, token = found
        if request.method not in SAFE_METHODS and token.scope != ApiToken.Scope.WRITE:
            raise PermissionDenied("This token may only read. Make one with the scope write.")
        return user, token

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """Return the account and the token of a key that holds."""
        token = ApiToken.objects.select_related("user").filter(key_hash=hash_of(key)).first()
        now = timezone.now()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("There is no such token.")
        if token.expires_at <= now:
            raise AuthenticationFailed("This token has expired. Make a new one on your account's page.")
        if token.last_used is None or token.last_used < now - NOTED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        return token.user, token
