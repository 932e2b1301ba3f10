"""A generator that reads a whole script: it is bound to it, so that no state holds it."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from annotation.records import Dialogue
from annotation.scripts.records import Session
from annotation.scripts.sessions import Sessions, called
from annotation.scripts.sessions import spoken as in_words
from annotation.text.context import happening
from annotation.text.views import clean, one_line
from systems.benchmarks.showing import MORE, by_name, spoken
from systems.generators.base import Generator, Settings
from systems.long_dialogue.material import Material

# A whole script as those who make facts and questions of it read it: people, and sessions in lines.

NO_SCRIPT = "it is no script of dated sessions"
NOTHING_SAID = "nothing is said in its sessions"


class Reading:
    """A script in lines to be quoted: all of it, whoever could hear it; private turns are marked."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.sessions = Sessions(dialogue)
        self.names = by_name(dialogue)

    @cached_property
    def told(self) -> tuple[int, ...]:
        """The numbers of the sessions in which something is said, in order."""
        return tuple(number for number in self.sessions.positions if self.places(number))

    def places(self, number: int) -> tuple[int, ...]:
        """Return the positions of a session's turns that say something."""
        turns = self.dialogue.turns
        return tuple(place for place in self.sessions.positions[number] if spoken(turns[place]))

    def numbered(self, number: int) -> list[str]:
        """Return a session as lines: its heading, then its turns, numbered from 1 as in `places`."""
        return [
            self.heading(self.sessions[number]),
            *(f"[{place}] {line}" for place, line in enumerate(self._lines(number), start=1)),
        ]

    def lines(self, number: int) -> list[str]:
        """Return a session as lines: its heading, then its turns."""
        return [self.heading(self.sessions[number]), *self._lines(number)]

    def people(self) -> list[str]:
        """Return the characters as lines, each with the other names it goes by."""
        return [
            one_line(called(person))
            + (f", also called {', '.join(map(one_line, person.aliases))}" if person.aliases else "")
            for person in self.dialogue.participants
        ]

    @staticmethod
    def heading(session: Session) -> str:
        """Return when and where a session is, such as `== September 22nd, 1994 · kitchen ==`."""
        place = one_line(session.place)
        return f"== {in_words(session.date)}{' · ' + place if place else ''} =="

    def _lines(self, number: int) -> list[str]:
        return [self._line(place) for place in self.places(number)]

    def _line(self, place: int) -> str:
        turn = self.dialogue.turns[place]
        first, *rest = happening(turn, self.names, clean(turn.text)).line().split("\n")
        return "\n".join([first, *(MORE + line for line in rest)])


def why_not(dialogue: Dialogue) -> str:
    """Return why nothing can be made of a dialogue, '' for a script in which something is said."""
    if dialogue.script is None:
        return NO_SCRIPT
    numbers = {session.id for session in dialogue.script.sessions}
    return "" if any(spoken(turn) and turn.session in numbers for turn in dialogue.turns) else NOTHING_SAID


class OfScript(Generator):
    """Works once it is bound to the material of a script."""

    needs = "records"

    def __init__(self, material: Material | None = None) -> None:
        self._material = material
        self._reading = Reading(material.dialogue) if material else None

    def bound(self, material: Material) -> Self:
        """Return the generator at work on a script."""
        return type(self)(material)

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """A script is needed in which something is said."""
        return why_not(dialogue)

    @property
    def material(self) -> Material:
        """What it is bound to. Raises ValueError where it is not."""
        if self._material is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._material

    @property
    def reading(self) -> Reading:
        """The script in lines. Raises ValueError where there is none."""
        if self._reading is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._reading
