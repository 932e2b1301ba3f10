"""Properties of a corpus that are not in its files: model families of its systems, transcription marks."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import FamilyRefused
from annotation.models import Corpus, System
from config.models import Event

LONGEST = 60


@transaction.atomic
def set_families(*, by: User | None, corpus: Corpus, families: Mapping[str, str]) -> list[System]:
    """Set the model families of systems, by name; '' removes one. Return the changed systems.

    A family is any name, such as gpt or llama; systems not listed keep theirs. Raises FamilyRefused for a
    system that the corpus does not have, or a name of two lines or more than LONGEST characters.
    """
    new_families = {name: _checked(name, family) for name, family in families.items()}
    systems = {
        system.name: system for system in corpus.systems.select_for_update().filter(name__in=new_families)
    }
    if unknown := [name for name in new_families if name not in systems]:
        raise FamilyRefused(f"{corpus.name} has no system {unknown[0][:80]!r}.")
    changed = [system for name, system in systems.items() if system.family != new_families[name]]
    for system in changed:
        system.family = new_families[system.name]
    System.objects.bulk_update(changed, ["family"])
    if changed:
        detail = {system.name: system.family for system in changed}
        Event.objects.create(by=by, verb="set families of systems", subject=corpus.name, detail=detail)
    return changed


@transaction.atomic
def set_has_marks(*, by: User | None, corpus: Corpus, has_marks: bool) -> bool:
    """Set whether words in braces in a corpus's turns are transcription marks; return whether it changed."""
    changed = Corpus.objects.filter(pk=corpus.pk).exclude(has_marks=has_marks).update(has_marks=has_marks) > 0
    if changed:
        detail = {"has_marks": has_marks}
        Event.objects.create(by=by, verb="set transcription marks", subject=corpus.name, detail=detail)
    return changed


def _checked(name: str, family: str) -> str:
    cleaned = family.strip()
    if len(cleaned) > LONGEST:
        raise FamilyRefused(f"{name[:80]}: a family's name has at most {LONGEST} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in cleaned):
        raise FamilyRefused(f"{name[:80]}: a family's name is one line without invisible characters.")
    return cleaned
