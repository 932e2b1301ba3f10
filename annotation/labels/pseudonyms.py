"""What people with an account are called in reports and exports: in each corpus another name, which stays.

A pseudonym is drawn from a secret of the rater's own that never leaves the database, so it says nothing of
the person's name, follows no order of accounts, and does not tell that two corpora were rated by the same
person. Raters that a file names keep the names of the file: whoever has the file knows them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User

from annotation.labels import raters
from annotation.models import Campaign, Corpus, Rater
from config.models import Event

LENGTH = 8
SHAPE = re.compile(r"person-[0-9a-f]{8}")


def pseudonym(rater: Rater, corpus: int) -> str:
    """Return what a rater is called in reports and exports of a corpus: `person-` and eight hex digits."""
    digest = hashlib.sha256(f"{rater.secret}:{corpus}".encode()).hexdigest()
    return f"person-{digest[:LENGTH]}"


def name_of(rater: Rater, corpus: int) -> str:
    """Return a rater's name in a corpus: the pseudonym of a person with an account, others as they are."""
    return rater.name if rater.user_id is None else pseudonym(rater, corpus)


def of_people(people: Iterable[int], corpus: int) -> dict[int, str]:
    """Return the pseudonyms of accounts in a corpus, by account; who has no label yet gets theirs now."""
    wanted = set(people)
    found = {rater.user_id: rater for rater in Rater.objects.filter(user__in=wanted)}
    lacking = wanted - found.keys()
    if lacking:
        found |= {user.pk: raters.person(user=user) for user in User.objects.filter(pk__in=lacking)}
    return {pk: pseudonym(rater, corpus) for pk, rater in found.items() if pk is not None}


def called(person: int, corpus: int) -> str:
    """Return the pseudonym of one account in a corpus."""
    return of_people([person], corpus)[person]


def person_called(name: str, campaign: Campaign) -> User | None:
    """Return who has worked or takes part in a campaign under a pseudonym; None for any other name."""
    if not SHAPE.fullmatch(name):
        return None
    worked = campaign.assignments.order_by().values_list("user", flat=True).distinct()
    there = {*worked, *campaign.members.values_list("user", flat=True)}
    called = of_people(there, campaign.corpus_id)
    pk = next((pk for pk, known in called.items() if known == name), None)
    return None if pk is None else User.objects.get(pk=pk)


def known(names: Iterable[str], corpus: int) -> dict[str, Rater]:
    """Return the people with accounts whose pseudonyms in a corpus are among these names, by pseudonym."""
    wanted = {name for name in names if SHAPE.fullmatch(name)}
    if not wanted:
        return {}
    people = Rater.objects.filter(user__isnull=False)
    return {name: rater for rater in people if (name := pseudonym(rater, corpus)) in wanted}


def reveal(*, by: User, corpus: Corpus) -> list[dict[str, Any]]:
    """Return who is behind the pseudonyms of a corpus, by pseudonym; that somebody asked is logged.

    Each row has the `pseudonym` and the `username`.
    """
    people = Rater.objects.filter(user__isnull=False, labels__item__corpus=corpus).distinct()
    rows = [
        {"pseudonym": pseudonym(rater, corpus.pk), "username": rater.user.get_username()}
        for rater in people.select_related("user")
        if rater.user is not None
    ]
    detail = {"corpus": corpus.pk, "people": len(rows)}
    Event.objects.create(by=by, verb="reveal pseudonyms", subject=corpus.name, detail=detail)
    return sorted(rows, key=lambda row: row["pseudonym"])
