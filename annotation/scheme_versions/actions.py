"""Schemes of one's own: made, saved as the next version, archived. Built-in ones stay as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.errors import SchemeRefused
from annotation.models import Corpus, Question, Scheme, SchemeVersion
from annotation.scheme_versions import store
from annotation.scheme_versions.imported import imported_definition
from annotation.scheme_versions.listing import is_used
from annotation.schemes import SCHEMES
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.problems import Problem, named, place
from annotation.schemes.rules import problems
from config.models import Event


@transaction.atomic
def create(*, by: User | None, definition: SchemeDefinition) -> SchemeVersion:
    """Store a new scheme as its version 1. Raises SchemeRefused with every problem."""
    _check(definition)
    if definition.key in SCHEMES:
        told = f"{named(definition.key)} is a built-in scheme: choose another key (copy and edit)."
        raise _refused("key", told)
    scheme, made = _scheme(definition)
    if not made:
        raise _refused("key", f"There is a scheme {named(definition.key)} already: choose another key.")
    version = store.add(scheme=scheme, number=1, definition=replace(definition, version=1))
    _log(by, "create", version)
    return version


@transaction.atomic
def save(*, by: User | None, definition: SchemeDefinition, seen: int | None) -> SchemeVersion:
    """Save a definition as the newest version of its scheme, and return that version.

    `seen` is the id of the newest version that whoever saves has seen; where another one is the newest by
    now, SchemeRefused says so and nothing is saved (None: whatever is the newest). The same definition again
    changes nothing. A version that nothing uses is replaced by one of the same number, a used one is kept and
    gets a successor. Either way what was saved has a new id: what an id names never changes.
    """
    _check(definition)
    scheme, newest = _newest(definition.key)
    if seen is not None and newest.pk != seen:
        told = f"Somebody saved version {newest.version} meanwhile: look at it, then save again."
        raise SchemeRefused([Problem((), told)])
    if _same(store.definition_of(newest), definition):
        return newest
    number = newest.version
    list(Question.objects.select_for_update().filter(version=newest).values_list("pk"))
    if is_used(newest):
        number += 1
    else:
        newest.delete()
    if scheme.title != definition.title:
        scheme.title = definition.title
        scheme.save(update_fields=["title"])
    version = store.add(scheme=scheme, number=number, definition=replace(definition, version=number))
    _log(by, "save", version)
    return version


@transaction.atomic
def archive(*, by: User | None, scheme: Scheme, archived: bool = True) -> Scheme:
    """Take a scheme off the lists of what can be asked, or put it back; what uses it goes on."""
    if not scheme.own:
        raise _refused("key", f"{named(scheme.key)} was not made here and cannot be archived.")
    scheme = Scheme.objects.select_for_update().get(pk=scheme.pk)
    if archived != (scheme.archived_at is not None):
        scheme.archived_at = timezone.now() if archived else None
        scheme.save(update_fields=["archived_at"])
        verb = "archive" if archived else "restore"
        _event(by, verb, scheme.key)
    return scheme


@transaction.atomic
def create_from_corpus(
    *, by: User | None, corpus: Corpus, kind: str, key: str, title: str = ""
) -> SchemeVersion:
    """Make a scheme of the questions about items of a kind that a corpus's files brought.

    Raises SchemeRefused where it has none, or they cannot be asked like that.
    """
    return create(by=by, definition=imported_definition(corpus, kind, key=key, title=title))


def _check(definition: SchemeDefinition) -> None:
    if found := problems(definition):
        raise SchemeRefused(found)


def _scheme(definition: SchemeDefinition) -> tuple[Scheme, bool]:
    try:
        with transaction.atomic():
            return Scheme.objects.get_or_create(
                key=definition.key, defaults={"title": definition.title, "own": True}
            )
    except IntegrityError:  # somebody made it at the same moment
        return Scheme.objects.get(key=definition.key), False


def _newest(key: str) -> tuple[Scheme, SchemeVersion]:
    """Return a scheme of one's own with its newest version, both locked until the transaction ends.

    FOR UPDATE, so that nothing can begin to use the version meanwhile: a foreign key to it would wait.
    """
    if key in SCHEMES:
        raise _refused(
            "key", f"{named(key)} comes with Concord and stays as it is: copy it under another key."
        )
    scheme = Scheme.objects.select_for_update().filter(key=key).first()
    versions = SchemeVersion.objects.select_for_update(of=("self",)).filter(scheme=scheme)
    newest = versions.order_by("-version").first() if scheme else None
    if scheme is None or newest is None:
        raise _refused("key", f"There is no scheme {named(key)}: create it first.")
    if not scheme.own:
        told = f"{named(key)} was not made here and stays as it is: copy it under another key."
        raise _refused("key", told)
    newest.scheme = scheme
    return scheme, newest


def _same(kept: SchemeDefinition, given: SchemeDefinition) -> bool:
    """Whether two definitions say the same: hashes tell 1 from 1.0 apart, and know no flags."""
    return replace(kept, version=1) == replace(given, version=1)


def _refused(field: str, sentence: str) -> SchemeRefused:
    return SchemeRefused([Problem((field,), sentence, place((field,)))])


def _log(by: User | None, verb: str, version: SchemeVersion) -> None:
    _event(by, verb, version.ref, content_hash=version.content_hash)


def _event(by: User | None, verb: str, subject: str, **detail: Any) -> None:
    Event.objects.create(by=by, verb=f"scheme: {verb}", subject=subject[:300], detail=detail)
