"""Generic names by apparent gender, and words in names that name nobody: an editable list."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from annotation.records import Participant
from annotation.scripts.replacing import plural_ending
from annotation.text.draws import in_drawn_order
from annotation.text.tokens import fold

Gender = Literal["female", "male", "neutral"]
Kind = Literal["female", "male", "neutral", "surname"]

SAID = {
    **dict.fromkeys(("female", "f", "woman", "girl", "she", "she/her"), "female"),
    **dict.fromkeys(("male", "m", "man", "boy", "he", "he/him"), "male"),
    **dict.fromkeys(("neutral", "n", "nonbinary", "non-binary", "they", "they/them"), "neutral"),
}
"""What a declared gender is called."""
_FIELDS = ("gender", "sex", "pronouns")
_FILE = Path(__file__).with_name("generic_names.toml")


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Return the list as it stands in its file."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@lru_cache
def words(name: Literal["titles", "particles", "roles", "ordinary"]) -> frozenset[str]:
    """Return one of the lists of words, in small letters."""
    return frozenset(table()["words"][name].split())


def generic(kind: Kind) -> list[str]:
    """Return all names of a kind: those listed, then those made of a start and an end."""
    listed = table()[kind].split()
    ends = table()["ends"][kind].split()
    made = [start + end for start in table()["starts"].split() for end in ends]
    return list(dict.fromkeys([*listed, *made]))


class Pool:
    """Generic names in an order that a seed draws, each given out once; listed ones before made ones."""

    def __init__(self, seed: int, taken: Collection[str]) -> None:
        """`taken` are names, folded, that are not given out."""
        self.seed = seed
        self.taken = set(taken)

    def take(self, kind: Kind) -> str:
        """Return the next name of a kind; raise ValueError where there is none left."""
        for name in self._order(kind):
            if self.taken.isdisjoint((fold(name), fold(name + plural_ending(name)))):
                self.taken.add(fold(name))
                return name
        raise ValueError(f"There are no more generic names ({kind}) that the script does not use.")

    def _order(self, kind: Kind) -> list[str]:
        return _drawn(self.seed, kind)


def gender_of(participant: Participant) -> Gender:
    """Return the gender that a participant's extra or profile declares; `neutral` where none does.

    A profile declares it as a line of its own (`female`), or as `gender: female`.
    """
    said = [str(participant.extra[field]) for field in _FIELDS if participant.extra.get(field)]
    for line in (*said, *_declared(participant.profile)):
        if (gender := SAID.get(fold(line))) is not None:
            return gender  # type: ignore[return-value]
    return "neutral"


def _declared(profile: Iterable[str]) -> Iterable[str]:
    for line in profile:
        field, colon, value = fold(line).rstrip(".").partition(":")
        if colon and field.strip() in _FIELDS:
            yield value.strip()
        elif not colon:
            yield field


@lru_cache(maxsize=32)
def _drawn(seed: int, kind: Kind) -> list[str]:
    listed = set(table()[kind].split())
    drawn = in_drawn_order(generic(kind), seed, f"names {kind}")
    return sorted(drawn, key=lambda name: name not in listed)
