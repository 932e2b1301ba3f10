"""Who may use, see and change an endpoint: the installation's, one's own, or a shared one."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from config.permissions import is_administrator, is_researcher
from jobs.errors import JobRefused
from jobs.models.endpoint import Endpoint


def usable_by(person: User | None) -> QuerySet[Endpoint]:
    """Return the active endpoints that a person may use: the installation's, their own, and shared ones.

    Administrators, and commands without an account, use all. Where researchers add none
    (CONCORD_RESEARCHER_ENDPOINTS), nobody uses theirs.
    """
    active = Endpoint.objects.filter(active=True)
    if not settings.RESEARCHER_ENDPOINTS:
        return active.filter(owner=None)
    return active.filter(_visible(person))


def visible_to(person: User) -> QuerySet[Endpoint]:
    """Return the endpoints that a person sees, inactive ones too."""
    return Endpoint.objects.filter(_visible(person))


def _visible(person: User | None) -> Q:
    if person is None or is_administrator(person):
        return Q()
    return Q(owner=None) | Q(shared=True) | Q(owner=person)


def may_add(person: User) -> bool:
    """Whether a person may add an endpoint."""
    return is_administrator(person) or (settings.RESEARCHER_ENDPOINTS and is_researcher(person))


def may_change(person: User, endpoint: Endpoint) -> bool:
    """Whether a person may change an endpoint and its key: an administrator, or its owner."""
    return is_administrator(person) or (endpoint.owner_id == person.pk and may_add(person))


def require_use(person: User | None, *endpoints: Endpoint | None) -> None:
    """Raise JobRefused, which also ends a job of theirs, for an endpoint that a person may not use."""
    ids = {endpoint.pk for endpoint in endpoints if endpoint is not None and endpoint.owner_id is not None}
    for endpoint in Endpoint.objects.filter(pk__in=ids).exclude(pk__in=usable_by(person).values("pk")):
        raise JobRefused(
            f"The endpoint {endpoint.name} belongs to {endpoint.owner} and is not shared: "
            "choose another, or ask them to share it."
            if settings.RESEARCHER_ENDPOINTS and endpoint.active
            else f"The endpoint {endpoint.name} may not be used any more: ask {administrators()}."
        )


def administrators() -> str:
    """Return the administrators' names, for a sentence that sends somebody to them."""
    people = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")[:3]
    return " or ".join(person.get_username() for person in people) or "an administrator"
