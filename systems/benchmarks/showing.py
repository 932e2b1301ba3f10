"""How the turns of a source conversation stand in prompts: in lines that are then quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.records import Dialogue, Participant, Turn
from annotation.text.context import Names, happening, heading
from annotation.text.views import Blind, clean

MORE = "      "
"""What further lines of a turn begin with."""


def spoken(turn: Turn) -> bool:
    """Whether somebody said something in a turn: what counts as a turn of a benchmark."""
    return turn.act in ("message", "reaction") and bool(turn.text.strip())


def speakers(turns: Iterable[Turn]) -> list[str]:
    """Return the ids of those who say something, in the order in which they first do."""
    return list(dict.fromkeys(turn.speaker for turn in turns if spoken(turn)))


def by_id(dialogue: Dialogue) -> Names:
    """Return what each person is called in prompts that ask for ids: the id, on one line."""
    known = [Participant(person.id) for person in dialogue.participants]
    return _met(Names(known, Blind()), dialogue)


def by_name(dialogue: Dialogue) -> Names:
    """Return what each person is called elsewhere: the name, else the id."""
    return _met(Names(dialogue.participants, Blind()), dialogue)


def _met(names: Names, dialogue: Dialogue) -> Names:
    names.meet(turn.speaker for turn in dialogue.turns)
    return names


def transcript(turns: Sequence[Turn], names: Names) -> list[str]:
    """Return turns as lines, one entry a turn: a heading where session or date change, then who says what."""
    found: list[str] = []
    for turn, before in zip(turns, (None, *turns), strict=False):
        above = heading(turn, before)
        first, *rest = happening(turn, names, clean(turn.text)).line().split("\n")
        lines = [*([f"== {above} =="] if above else []), first, *(MORE + line for line in rest)]
        found.append("\n".join(lines))
    return found


def numbered(number: int, text: str) -> str:
    """Return an utterance with its number, further lines indented."""
    first, *rest = clean(text).split("\n")
    return "\n".join([f"[{number}] {first}", *(MORE + line for line in rest)])
