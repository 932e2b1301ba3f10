"""What two versions of a scheme differ by, as sentences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from annotation.schemes.base import SchemeDefinition

Kind = Literal["added", "removed", "moved", "changed"]
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: a question that came, went or moved, or a field (without `question`, the scheme's)."""

    kind: Kind
    question: str
    field: str = ""
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        who = f"Question {self.question}" if self.question else "Scheme"
        if self.kind == "changed":
            return f"{who}, {self.field}: {self.before} → {self.after}"
        if self.kind == "moved":
            return f"{who} moved from place {self.before} to place {self.after}"
        return f"{who} {self.kind}: {self.after or self.before}"


def difference(before: SchemeDefinition, after: SchemeDefinition) -> list[Change]:
    """Return what changed: the scheme's own fields, then questions removed, added, moved and changed.

    Questions are the same where their keys are; keys and numbers of the versions are not compared.
    """
    old = {question.key: question for question in before.questions}
    new = {question.key: question for question in after.questions}
    return [
        *_fields(before, after, "", leave_out=("key", "version", "questions")),
        *(Change("removed", key, before=_told(one.wording)) for key, one in old.items() if key not in new),
        *(Change("added", key, after=_told(one.wording)) for key, one in new.items() if key not in old),
        *_moves(list(old), list(new)),
        *(change for key in new if key in old for change in _fields(old[key], new[key], key)),
    ]


def _fields(before: Any, after: Any, question: str, leave_out: Sequence[str] = ("key",)) -> Iterator[Change]:
    for one in fields(before):
        was, now = getattr(before, one.name), getattr(after, one.name)
        if one.name in leave_out or was == now:
            continue
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            for name in dict.fromkeys([*was, *now]):
                if was.get(name) != now.get(name):
                    yield _changed(question, f"{one.name} {name}", was.get(name), now.get(name))
        else:
            yield _changed(question, one.name, was, now)


def _changed(question: str, field: str, was: Any, now: Any) -> Change:
    return Change("changed", question, field, _told(was), _told(now))


def _moves(old: list[str], new: list[str]) -> Iterator[Change]:
    """Yield the fewest questions whose moving makes one order the other; places count from 1 in the whole."""
    shared = [key for key in new if key in old]
    places = [old.index(key) for key in shared]
    staying = _longest_rising(places)
    for key, place in zip(shared, places, strict=True):
        if place not in staying:
            yield Change("moved", key, before=str(place + 1), after=str(new.index(key) + 1))


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """Return the members of a longest rising subsequence of distinct numbers (patience sorting)."""
    ends: list[int] = []
    previous: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        previous[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = previous[last]
    return found


def _told(value: Any) -> str:
    """Return a field's value as a sentence shows it."""
    if value is None or value in ("", ()) or value == {}:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_told(one) for one in value)
    return f"“{value}”" if isinstance(value, str) else str(value)
