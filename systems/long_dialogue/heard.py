"""What the main character of a script hears, as lines to be quoted, and nothing else of the script."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cached_property

from annotation.records import EVENTS, SELF, Continuation, Dialogue, Turn
from annotation.scripts.records import Date
from annotation.scripts.sessions import Sessions, spoken
from judges.protocols.base import Case
from judges.protocols.quoting import Seen

Lines = tuple[str, ...]


class Heard:
    """A script as its main character hears it. Places are positions of the dialogue's own turns."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.sessions = Sessions(dialogue)
        self._seen = Seen(Case(dialogue, Continuation(SELF, dialogue.system, dialogue.turns)))
        self._lines: dict[int, Lines] = {}

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the sessions that are heard, in order."""
        return tuple(sorted(self.sessions.heard))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """All that is heard and said, in order: joining and leaving is not said by anybody."""
        return tuple(place for number in self.numbers for place in self.of(number))

    def of(self, number: int, until: int | None = None) -> tuple[int, ...]:
        """Return the places of a session that are heard, up to and with the place `until`."""
        turns = self.dialogue.turns
        heard = self.sessions.heard_turns(number, until)
        return tuple(place for place in heard if turns[place].act not in EVENTS)

    def so_far(self, point: int) -> int:
        """Return how many of `places` are heard when the one at `point` has been said."""
        return bisect_right(self.places, point)

    def lines(self, place: int) -> Lines:
        """Return a turn as lines, without a heading: `Ana: text`, what follows a line break indented."""
        if place not in self._lines:
            self._lines[place] = self.said(self.dialogue.turns[place])
        return self._lines[place]

    def said(self, turn: Turn) -> Lines:
        """Return any turn as lines, without a heading."""
        return tuple(self._seen.turn(turn, turn))

    def text(self, number: int, until: int | None = None) -> str:
        """Return what is heard of a session as lines, without its heading."""
        return "\n".join(line for place in self.of(number, until) for line in self.lines(place))

    def name(self, speaker: str) -> str:
        """Return what a speaker is called."""
        return self._seen.names.of(speaker)

    @cached_property
    def headings(self) -> dict[int, str]:
        """The heading of each session that is heard: its date and which one of that day it is."""
        met: Counter[Date] = Counter()
        made = {}
        for number in self.numbers:
            date = self.sessions[number].date
            met[date] += 1
            made[number] = f"== {spoken(date)}, session {met[date]} =="
        return made
