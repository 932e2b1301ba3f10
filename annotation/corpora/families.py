"""The families of models that a corpus's systems are of."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import FamilyRefused
from annotation.models import Corpus, System
from config.models import Event

# What is said of a corpus beside what its files say: the families of its systems.

LONGEST = 60


@transaction.atomic
def set_families(*, by: User | None, corpus: Corpus, families: Mapping[str, str]) -> list[System]:
    """Say of which family of models systems are, by their names; '' takes it back. Return those changed.

    A family is any name, such as gpt or llama; systems that are not named keep theirs. Raises FamilyRefused
    for a system that the corpus does not have, or a name of two lines or more than LONGEST characters.
    """
    wanted = {name: _checked(name, family) for name, family in families.items()}
    found = {one.name: one for one in corpus.systems.select_for_update().filter(name__in=wanted)}
    if unknown := [name for name in wanted if name not in found]:
        raise FamilyRefused(f"{corpus.name} has no system {unknown[0][:80]!r}.")
    changed = [one for name, one in found.items() if one.family != wanted[name]]
    for one in changed:
        one.family = wanted[one.name]
    System.objects.bulk_update(changed, ["family"])
    if changed:
        detail = {one.name: one.family for one in changed}
        Event.objects.create(by=by, verb="set families of systems", subject=corpus.name, detail=detail)
    return changed


def _checked(name: str, family: str) -> str:
    told = family.strip()
    if len(told) > LONGEST:
        raise FamilyRefused(f"{name[:80]}: a family's name has at most {LONGEST} characters.")
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in told):
        raise FamilyRefused(f"{name[:80]}: a family's name is one line without invisible characters.")
    return told
