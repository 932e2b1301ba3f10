"""What an agent remembers of a long dialogue: entries in order of time, as they are at any moment.

A moment is the number of the running session and the place of the last turn that was heard. What is not
heard, and what comes after the moment, is in no entry (`dialsim.md`, section 7).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.scripts.answers import Moment
from systems.long_dialogue.heard import Heard, Lines

UTTERANCE, SESSION, SUMMARY, BASE, ORACLE = "utterance", "session", "summary", "base", "oracle"
NO_MEMORY, FULL = "no_memory", "full"
MEMORIES = (UTTERANCE, SESSION, SUMMARY, BASE, ORACLE, NO_MEMORY, FULL)
RETRIEVED = (UTTERANCE, SESSION, SUMMARY)
"""The memories of which a retriever chooses some entries."""
USUAL_K: Mapping[str, int] = {UTTERANCE: 20, SESSION: 10, SUMMARY: 15, ORACLE: 20}


class NoSummary(ValueError):
    """A session of which a summary is remembered has none; the message says which."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something remembered of a session: its heading, its lines, and the places that stand in it.

    `whole` says that all that was heard of the session stands in it, as its turns or as their summary. `time`
    is where it stands in time: the last place, and a half more for what was said beside the script. `sought`
    is what a vector of it is made of, '' for its whole text: an answer that is remembered is found by its
    question, whose vector can be made before anything is answered.
    """

    session: int
    heading: str
    lines: Lines
    time: float
    places: tuple[int, ...] = ()
    whole: bool = False
    sought: str = ""

    @property
    def text(self) -> str:
        """All of it, as it is searched and as it stands in a prompt."""
        return "\n".join((self.heading, *self.lines))


class Memory(Protocol):
    """Entries that never change, in order of time, and how many of them are there at a moment."""

    entries: Sequence[Entry]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return how many entries are there, and what there is beside them: a session that still goes on."""


class Utterances:
    """Each turn is an entry."""

    def __init__(self, heard: Heard) -> None:
        self._places = heard.places
        numbers = heard.sessions.of_turn
        self.entries: Sequence[Entry] = [
            Entry(number, heard.headings[number], heard.lines(place), place, (place,))
            for place in heard.places
            for number in (numbers[place],)
        ]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return how many turns were heard; there is nothing beside them."""
        return bisect_right(self._places, moment.point), ()


class WholeSessions:
    """Each session is an entry: its whole text, or its summary once it has ended."""

    def __init__(self, heard: Heard, summary_of: Callable[[int], str | None] | None = None) -> None:
        self._heard, self._summary_of = heard, summary_of
        self._numbers = tuple(number for number in heard.numbers if heard.of(number))
        self.entries: Sequence[Entry] = [self._ended(number) for number in self._numbers]

    def at(self, moment: Moment) -> tuple[int, tuple[Entry, ...]]:
        """Return how many sessions have ended, and the running one as far as it was heard."""
        ended = bisect_right(self._numbers, moment.session - 1)
        running = running_entry(self._heard, moment)
        return ended, () if running is None else (running,)

    def _ended(self, number: int) -> Entry:
        places = self._heard.of(number)
        if self._summary_of is None:
            return session_entry(self._heard, number, places)
        summary = self._summary_of(number)
        if summary is None:
            session = self._heard.sessions[number]
            raise NoSummary(f"session {number} ({session.id}) has no summary: make the summaries first")
        lines = summary_lines(summary)
        return Entry(number, self._heard.headings[number], lines, places[-1], whole=True)


def session_entry(heard: Heard, number: int, places: Sequence[int]) -> Entry:
    """Return what was heard of a session, at least one turn, as one entry."""
    lines = tuple(line for place in places for line in heard.lines(place))
    return Entry(number, heard.headings[number], lines, places[-1], tuple(places), whole=True)


def running_entry(heard: Heard, moment: Moment) -> Entry | None:
    """Return what was heard of the running session up to a moment, None where that is nothing."""
    places = heard.of(moment.session, moment.point)
    return session_entry(heard, moment.session, places) if places else None


def summary_lines(summary: str) -> Lines:
    """Return a summary as lines that can be taken for nobody's turn and for no heading."""
    first, *rest = summary.strip().split("\n")
    return (f"Summary: {first}", *(f"      {line}" for line in rest))
