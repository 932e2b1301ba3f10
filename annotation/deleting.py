"""Deleting a whole corpus or a person's data: an administrator's explicit, confirmed and logged act.

Nothing else removes a label.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from annotation.importing.engine import lock_corpus
from annotation.importing.own_scheme import own_key
from annotation.models import Assignment, Corpus, Event, Label, Rater, Scheme
from annotation.purging import Progress, StillUsed, purge
from config.permissions import is_administrator


class DeletionRefused(ValueError):
    """Why nothing was deleted."""


@transaction.atomic
def delete_corpus(
    *, corpus: Corpus, by: User, confirmation: str, progress: Progress | None = None
) -> dict[str, int]:
    """Delete a corpus with everything about it; return how many rows went, by table.

    `progress` is told (tables done, tables in all) as it goes.

    Raises PermissionDenied unless `by` is an administrator, and DeletionRefused unless `confirmation` is the
    corpus's name.
    """
    check(by, confirmation, corpus.name)
    lock_corpus(corpus.name)
    gone = purge([Corpus.objects.filter(pk=corpus.pk)], progress)
    for kind in ("turn", "dialogue"):
        _delete_own_scheme(own_key(corpus, kind))
    Event.objects.create(by=by, verb="delete corpus", subject=corpus.name, detail=gone)
    return gone


def _delete_own_scheme(key: str) -> None:
    """Delete a scheme that was the corpus's own, unless another corpus uses it."""
    try:
        purge([Scheme.objects.filter(key=key)])
    except StillUsed:
        return  # its questions were taken up elsewhere: they stay


@transaction.atomic
def delete_person(*, person: User, by: User, confirmation: str) -> dict[str, int]:
    """Delete an account with all its labels, drafts and assignments; their slots are free again.

    Raises PermissionDenied unless `by` is an administrator, and DeletionRefused unless `confirmation` is the
    account's name, or where one would delete oneself. What the person set up stays, by nobody.
    """
    check(by, confirmation, person.get_username())
    if person.pk == by.pk:
        raise DeletionRefused("nobody deletes their own account")
    number = person.pk
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
    """Return how many labels a person gave, superseded ones included."""
    return Label.objects.filter(rater__user=person).count()


def check(by: User, confirmation: str, name: str) -> None:
    """Raise PermissionDenied unless an administrator asks, DeletionRefused unless the name was typed."""
    if not is_administrator(by):
        raise PermissionDenied
    if confirmation != name:
        raise DeletionRefused(f"type the name exactly to confirm: {name}")
