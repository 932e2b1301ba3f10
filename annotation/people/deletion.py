"""Deleting a person with all their answers: previewed, confirmed, refused while they are in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from annotation.corpora.deletion import purge
from annotation.errors import DeletionRefused, PersonInUse
from annotation.models import Assignment, CampaignMember, Label, Rater
from annotation.people import accounts
from config.models import Event
from config.permissions import is_administrator
from jobs.endpoints import endpoint_actions

# Uses of a person's answers, as reported by the apps above this one.
#
# Reports and gold are in higher apps, which register their finders when the application starts.

Finder = Callable[[User], list[str]]
_finders: list[Finder] = []


def find_with(finder: Finder) -> None:
    """Register a finder of uses of a person; it returns one line for each use."""
    if finder not in _finders:
        _finders.append(finder)


def uses_of(person: User) -> list[str]:
    """Return the uses of a person's answers, one line each."""
    return [line for finder in _finders for line in finder(person)]


@dataclass(frozen=True)
class Destroyed:
    """Consequences of deleting a person: rows by kind, and their uses (which stay, unreproducible)."""

    labels: int
    items: int
    submitted: int
    drafts: int
    campaigns: int
    uses: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return JSON data."""
        return asdict(self)


def destroyed_with(person: User) -> Destroyed:
    """Return the counts of data that deleting a person would destroy. Labels include superseded ones."""
    labels = Label.objects.filter(rater__user=person)
    work = Assignment.objects.filter(user=person)
    return Destroyed(
        labels=labels.count(),
        items=labels.values("item").distinct().count(),
        submitted=work.filter(state=Assignment.State.SUBMITTED).count(),
        drafts=work.exclude(draft={}).exclude(state=Assignment.State.SUBMITTED).count(),
        campaigns=CampaignMember.objects.filter(user=person).count(),
        uses=tuple(uses_of(person)),
    )


@transaction.atomic
def delete_person(*, person: User, by: User, confirmation: str, despite_use: bool = False) -> dict[str, int]:
    """Delete an account with all its labels, drafts and assignments; their slots are free again.

    Raises PermissionDenied unless `by` is an administrator, DeletionRefused unless `confirmation` is the
    account's name, or for deleting oneself, RoleRefused for the only administrator, and PersonInUse where a
    report or gold uses their answers, unless `despite_use`. Objects created by the person stay, without a
    creator.
    """
    if not is_administrator(by):
        raise PermissionDenied
    if confirmation != person.get_username():
        raise DeletionRefused(f"type the name exactly to confirm: {person.get_username()}")
    if person.pk == by.pk:
        raise DeletionRefused("you cannot delete your own account")
    if person.is_superuser and person.is_active:
        accounts.must_not_be_last(person)
    uses = uses_of(person)
    if uses and not despite_use:
        listing = "; ".join(uses[:5]) + " and more" * (len(uses) > 5)
        raise PersonInUse(
            f"Answers of {person.get_username()} are in {listing}. "
            "Those could no longer be reproduced. Say that you want that, or deactivate the account instead."
        )
    number = person.pk
    endpoint_actions.disown(by=by, owner=person)
    gone = purge(
        [
            Label.objects.filter(rater__user=person),
            Rater.objects.filter(user=person),
            Assignment.objects.filter(user=person),
            User.objects.filter(pk=person.pk),
        ]
    )
    Event.objects.create(by=by, verb="delete person", subject=f"account {number}", detail=gone)
    return gone


def labels_of(person: User) -> int:
    """Count the labels of a person, superseded ones included."""
    return Label.objects.filter(rater__user=person).count()
