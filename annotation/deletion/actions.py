"""Deleting a whole corpus: an administrator's explicit, confirmed and logged act.

Nothing but this and the deletion of a person (`annotation.people.deletion`) removes a label.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from annotation.deletion.purging import Progress, StillUsed, purge
from annotation.errors import DeletionRefused
from annotation.importing.engine import lock_corpus
from annotation.importing.own_scheme import own_key
from annotation.kinds import KINDS
from annotation.models import Corpus, Scheme
from config.models import Event
from config.permissions import is_administrator


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
    for kind in KINDS:
        _delete_own_scheme(own_key(corpus, kind))
    Event.objects.create(by=by, verb="delete corpus", subject=corpus.name, detail=gone)
    return gone


def _delete_own_scheme(key: str) -> None:
    """Delete a scheme that was the corpus's own, unless another corpus uses it."""
    try:
        purge([Scheme.objects.filter(key=key)])
    except StillUsed:
        return  # its questions were taken up elsewhere: they stay


def check(by: User, confirmation: str, name: str) -> None:
    """Raise PermissionDenied unless an administrator asks, DeletionRefused unless the name was typed."""
    if not is_administrator(by):
        raise PermissionDenied
    if confirmation != name:
        raise DeletionRefused(f"type the name exactly to confirm: {name}")
