"""The audit log: who did what, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from config.models import Event

ACCOUNT = re.compile(r"account (\d{1,18})")


def events(*, verb: str = "", person: str = "", text: str = "") -> QuerySet[Event]:
    """Return logged acts, newest first: of one verb, by or about a person, with a text in the subject."""
    found = Event.objects.select_related("by").order_by("-pk")
    if verb:
        found = found.filter(verb=verb)
    if text:
        found = found.filter(subject__icontains=text)
    if person:
        account = User.objects.filter(username=person).values_list("pk", flat=True).first()
        found = found.filter(Q(by=account) | Q(subject=f"account {account}")) if account else found.none()
    return found


def verbs() -> list[str]:
    """Return the verbs that the log holds, in order."""
    return list(Event.objects.order_by("verb").values_list("verb", flat=True).distinct())


def named(subjects: Iterable[str]) -> dict[str, str]:
    """Return, for subjects like `account 5`, the user name where the account is still there."""
    numbers = {subject: int(found[1]) for subject in subjects if (found := ACCOUNT.fullmatch(subject))}
    names = dict(User.objects.filter(pk__in=numbers.values()).values_list("pk", "username"))
    return {subject: names[number] for subject, number in numbers.items() if number in names}


def detail_in_words(event: Event) -> str:
    """Return the detail of an act as one line of words."""
    return _worded(event.detail)


def _worded(value: Any) -> str:
    """Return a JSON value in words: `part dev, include self yes`; inner objects in brackets."""
    if isinstance(value, dict):
        told = ((key.replace("_", " "), _inner(inner)) for key, inner in sorted(value.items()))
        return ", ".join(f"{name} {words}" for name, words in told)
    if isinstance(value, list):
        return ", ".join(map(_inner, value)) or "none"
    if value is None or value == "":
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _inner(value: Any) -> str:
    words = _worded(value)
    return f"({words})" if isinstance(value, dict) and words else words or "none"
