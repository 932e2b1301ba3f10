"""What raters are called in a round: letters that stay with them, in an order that tells nothing."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from annotation.models import Rater
from annotation.work.labels import name_of
from calibration.adjudication.material import draw_key, raters_scope
from calibration.models import AdjudicationRound

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WORDS = {Rater.Kind.HUMAN: "Rater", Rater.Kind.JUDGE: "Judge", Rater.Kind.KEY: "Answer key"}


def letters(number: int) -> str:
    """Return the number-th name, from 0: A, B, ..., Z, AA, AB, ..."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(LETTERS))
        name = LETTERS[rest] + name
    return name


def name_raters(found: AdjudicationRound) -> dict[str, str]:
    """Give every rater of a round's questions a letter who has none; those that were given stay."""
    scope = raters_scope(found.corpus, found.campaign)
    asked = found.scheme_version.questions.values("pk")
    ids = scope.labels().filter(question__in=asked).order_by().values_list("rater", flat=True).distinct()
    return _named(found, ids)


@transaction.atomic
def _named(found: AdjudicationRound, raters: Iterable[int]) -> dict[str, str]:
    locked = AdjudicationRound.objects.select_for_update().get(pk=found.pk)
    names: dict[str, str] = dict(locked.pseudonyms)
    new = [rater for rater in raters if str(rater) not in names]
    kinds = dict(Rater.objects.filter(pk__in=new).values_list("pk", "kind"))
    for rater in sorted(new, key=lambda one: draw_key(found.seed, "rater", str(found.pk), str(one))):
        word = WORDS.get(Rater.Kind(kinds[rater]), "Rater")
        n = sum(name.rpartition(" ")[0] == word for name in names.values())
        names[str(rater)] = f"{word} {letters(n)}"
    if new:
        locked.pseudonyms = names
        locked.save(update_fields=["pseudonyms"])
    found.pseudonyms = names
    return names


def names_of(found: AdjudicationRound, raters: Iterable[Rater]) -> dict[int, str]:
    """Return what raters are called on a round's screens: by letter, or as in reports if it shows names.

    The only judge there is is called “Judge”: a letter would suggest others.
    """
    known = list(raters)
    if found.shows_names:
        return {rater.pk: name_of(rater, found.corpus_id) for rater in known}
    names = found.pseudonyms
    if any(str(rater.pk) not in names for rater in known):
        names = _named(found, [rater.pk for rater in known])
    judges = [name for name in names.values() if name.startswith("Judge ")]
    return {
        rater.pk: "Judge" if rater.kind == Rater.Kind.JUDGE and len(judges) == 1 else names[str(rater.pk)]
        for rater in known
    }
