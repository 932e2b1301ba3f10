"""What a continuation is written from: who may speak, metadata as JSON, and the window of numbered turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from annotation.schemes.cocoeval_behaviours import BEHAVIOURS, SCHEME
from annotation.text.blinding import Blind
from annotation.text.cleaning import clean, one_line
from annotation.text.happenings import Names, happening, heading
from annotation.text.tokens import fold
from annotation.text.views import View

FIRST_TURN = "first_turn"
BOOKKEEPING = (FIRST_TURN, "part", "source")
"""Entries of the metadata that say where a dialogue comes from, and nothing about the conversation."""
PEOPLE = "participants"
_MORE = "      "
_NOBODY = Blind()
"""Ids of participants are no names of systems."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who may speak: the participant's id, as it is shown, and what else he or she is called."""

    id: str
    shown: str
    also: tuple[str, ...] = ()

    def as_json(self) -> list[Any]:
        """Return it as plain JSON."""
        return [self.id, self.shown, list(self.also)]


def people_of(dialogue: Dialogue) -> tuple[Person, ...]:
    """Return who may speak: the participants, or, where none is declared, the speakers of the turns."""
    declared = dialogue.participants or tuple(
        Participant(speaker) for speaker in dict.fromkeys(turn.speaker for turn in dialogue.turns)
    )
    found: list[Person] = []
    for number, person in enumerate(declared, start=1):
        shown = one_line(person.id) or f"Speaker {number}"
        while any(shown == other.shown for other in found):
            shown = f"{shown} ({number})"
        names = (person.name, *person.aliases)
        found.append(Person(person.id, shown, tuple(name for name in names if name.strip())))
    return tuple(found)


class Cast:
    """Everybody who may speak, found by id, name or alias."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = tuple(people)
        self.names = Names([Participant(one.id, one.shown) for one in self.people], _NOBODY)

    @classmethod
    def from_json(cls, told: Sequence[Sequence[Any]]) -> Cast:
        """Return those that `Person.as_json` wrote."""
        return cls(Person(pk, shown, tuple(also)) for pk, shown, also in told)

    def find(self, speaker: str) -> tuple[Person | None, bool]:
        """Return who is meant, None where nobody or several may be, and whether by a name or an alias."""
        for one in self.people:
            if speaker in (one.shown, one.id):
                return one, False
        wanted = fold(one_line(speaker))
        by_id = [one for one in self.people if wanted in (fold(one.shown), fold(one.id))]
        if by_id:
            return (by_id[0] if len(by_id) == 1 else None), False
        by_name = [one for one in self.people if wanted in map(fold, one.also)]
        return (by_name[0] if len(by_name) == 1 else None), True


def metadata_json(dialogue: Dialogue, people: Sequence[Person]) -> str:
    """Return what is known of a conversation and its people as indented JSON, systems' names left out.

    The order of keys in what is stored does not count.
    """
    view = View(systems=(dialogue.system,))
    known = {str(key): value for key, value in dialogue.metadata.items()}
    told = {key: known[key] for key in known if key not in (*BOOKKEEPING, PEOPLE)}
    declared = {person.id: person for person in dialogue.participants}
    listed = [_person(one, declared.get(one.id), view) for one in people]
    return json.dumps({**_plain(told, view), PEOPLE: listed}, indent=1, ensure_ascii=False)


def _person(one: Person, declared: Participant | None, view: View) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.shown}
    if declared is None:
        return found
    own = {
        "name": declared.name,
        "role": declared.role,
        "profile": list(declared.profile),
        "aliases": list(declared.aliases),
    }
    extra = _plain(dict(declared.extra), view)
    return found | {k: _plain(v, view) for k, v in own.items() if v} | {
        key: value for key, value in extra.items() if key not in {"id", *own}
    }  # fmt: skip


def _plain(value: Any, view: View) -> Any:
    """Return a value with clean texts and sorted keys, without entries that would name a system."""
    if isinstance(value, Mapping):
        kept = sorted((str(key), part) for key, part in value.items() if not view.withholds(str(key)))
        return {view.line(key): _plain(part, view) for key, part in kept}
    if isinstance(value, list | tuple):
        return [_plain(part, view) for part in value]
    return view.about(value) if isinstance(value, str) else value


def window_lines(turns: Sequence[Turn], first: int, names: Names) -> list[str]:
    """Return turns as lines, `[293] Ana: So it stays round?`, further lines of a text indented.

    `first` is the first turn's number. A heading stands where session or date change.
    """
    lines: list[str] = []
    before: Turn | None = None
    for number, turn in enumerate(turns, start=first):
        above = heading(turn, before, one_line)
        head, *rest = happening(turn, names, clean(turn.text)).line().split("\n")
        lines += [f"== {above} =="] if above else []
        lines += [f"[{number}] {head}", *(f"{_MORE}{line}" for line in rest)]
        before = turn
    return lines


def first_number(dialogue: Dialogue) -> int:
    """Return the number of a dialogue's first turn in the conversation that it was cut from, else 1."""
    told = dialogue.metadata.get(FIRST_TURN)
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else 1


@cache
def behaviours_text() -> str:
    """Return the ten behaviours with definition and example, as the scheme has them."""
    return "\n".join(_described(key) for key, *_ in BEHAVIOURS)


def _described(key: str) -> str:
    question = SCHEME.question(key)
    text = question.help
    return f"- {key} ({question.group.lower()}): {text['definition']} For example: {text['example']}"
