"""Signing in: each wrong password delays the next attempt, ten lock name and address for half an hour.

django-axes counts the attempts in the database and locks; the delays are computed from its counts. Both
are logged, with the account where there is one and never with the typed password.
"""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Any

from axes.backends import AxesStandaloneBackend
from axes.models import AccessAttempt
from axes.signals import user_locked_out
from axes.utils import reset as reset_tries
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db.models import Max, Sum
from django.db.models.signals import post_save
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from annotation.models import UserName
from annotation.people import names
from config.models import Event
from config.web.limits import client_of

FREE_TRIES = 3
LONGEST_WAIT = 60


class Lock(AxesStandaloneBackend):
    """Refuses a locked name before its password is checked. Calls inside the program have no request."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Raise PermissionDenied where the name is locked for the request's address."""
        if request is not None:
            super().authenticate(request, **credentials)


def address_of(request: HttpRequest) -> str:
    """Return the client's address, behind the declared proxies."""
    return client_of(request.META)


def seconds_to_wait(request: HttpRequest, username: str) -> int:
    """Return the seconds until a further attempt for a name from the request's address, 0 for none."""
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    tries = AccessAttempt.objects.filter(
        username=username, ip_address=address_of(request) or None, attempt_time__gte=since
    ).aggregate(n=Sum("failures_since_start"), last=Max("attempt_time"))
    wrong = tries["n"] or 0
    if not FREE_TRIES <= wrong < settings.AXES_FAILURE_LIMIT:
        return 0
    pause = timedelta(seconds=min(2 ** (wrong - FREE_TRIES + 1), LONGEST_WAIT))
    return max(0, ceil((tries["last"] + pause - timezone.now()).total_seconds()))


def notice(request: HttpRequest, status: int, title: str, text: str, action: str = "") -> HttpResponse:
    """Answer with a page that only says why nothing else is shown; action: of its link to signing in."""
    context = {"title": title, "text": text, "href": reverse("login") if action else "", "action": action}
    return render(request, "errors/notice.html", context, status=status)


def too_early(request: HttpRequest, seconds: int) -> HttpResponse:
    """Answer an attempt that has to wait: 429, with the remaining time."""
    minutes = ceil(seconds / 60)
    wait = f"{seconds} second{'s' * (seconds != 1)}" if seconds <= LONGEST_WAIT else f"{minutes} minutes"
    advice = f"Try again in {wait}, or ask an administrator for a new password."
    text = f"There were too many wrong passwords. {advice}"
    response = notice(request, 429, "Wait a moment", text, "Back to signing in")
    response["Retry-After"] = str(seconds)
    return response


def locked(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Answer an attempt for a locked name."""
    return too_early(request, int(settings.AXES_COOLOFF_TIME.total_seconds()))


def unlock(*, by: User | None, person: User) -> None:
    """Forget the wrong passwords for an account's name, from wherever they came."""
    if reset_tries(username=person.get_username()):
        Event.objects.create(by=by, verb="unlock account", subject=f"account {person.pk}")


def is_locked(person: User) -> bool:
    """Whether some address is locked out of an account at the moment."""
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    tries = AccessAttempt.objects.filter(username=person.get_username(), attempt_time__gte=since)
    by_address = tries.values("ip_address").annotate(n=Sum("failures_since_start"))
    return by_address.filter(n__gte=settings.AXES_FAILURE_LIMIT).exists()


def log_failure(*, request: HttpRequest | None, credentials: dict[str, Any], **_: Any) -> None:
    """Log a failed attempt to sign in (a signal's receiver)."""
    if request is not None:
        _log("failed sign-in", request, str(credentials.get("username", "")))


def log_lock(*, request: HttpRequest, username: str, **_: Any) -> None:
    """Log that a name is locked for an address (a signal's receiver)."""
    _log("lock sign-in", request, username)


def _log(verb: str, request: HttpRequest, username: str) -> None:
    """Log an action about an account. A name that nobody has may be a mistyped password: it is not stored."""
    account = User.objects.filter(username=username).values_list("pk", flat=True).first()
    subject = f"account {account}" if account else "no such account"
    Event.objects.create(verb=verb, subject=subject, detail={"address": address_of(request)[:45]})


# Signal receivers: each user name is kept distinct from all others, failed sign-ins are logged.


def connect() -> None:
    """Connect the receivers; called once, when the application is ready."""
    post_save.connect(keep_name, sender=User, dispatch_uid="keep user name")
    user_login_failed.connect(log_failure, dispatch_uid="log failed sign-in")
    user_locked_out.connect(log_lock, dispatch_uid="log locked sign-in")


def keep_name(*, instance: User, raw: bool = False, update_fields: Any = None, **_: Any) -> None:
    """Store a name's comparison keys for any new account; the table refuses twins (IntegrityError)."""
    if raw or (update_fields is not None and "username" not in update_fields):
        return
    name = instance.get_username()
    stored = UserName.objects.filter(user=instance).first()
    if stored is None or stored.name != name:
        keys = {"name": name, "folded": names.folded(name), "look": names.look(name)}
        UserName.objects.update_or_create(user=instance, defaults=keys)
