"""A script's sessions by number: the positions of their turns, the people present, and the turns heard."""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal

from annotation.records import EVENTS, Dialogue, Participant
from annotation.script_records import Date, Script, Session
from annotation.text.views import hears
from annotation.text.words import fold

# Dates in words: `on May 3rd, 1995`, `in May 1995`, `in 1995`.

Order = Literal["before", "same", "after", "overlap"]
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def spoken(date: Date) -> str:
    """Return a date in words: `May 3rd, 1995`, `May 1995` or `1995`, at its own precision."""
    if date.month is None:
        return str(date.year)
    month = calendar.month_name[date.month]
    return f"{month} {date.year}" if date.day is None else f"{month} {ordinal(date.day)}, {date.year}"


def when(date: Date) -> str:
    """Return a date as an adverb: `on` a day, `in` a month or a year."""
    return f"{'in' if date.day is None else 'on'} {spoken(date)}"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, ..., 11th, ..., 21st for a number from 0."""
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"


def most_recent(dates: Iterable[Date]) -> Date:
    """Return the date with the latest last day, the most precise of several. Raise ValueError without any."""
    return max(dates, key=lambda date: (date.last, date.first))


class Calendar:
    """The dates of sessions numbered from 1, compared by number."""

    def __init__(self, dates: Sequence[Date]) -> None:
        self.dates = (None, *dates)
        self._first = (0, *(date.first.toordinal() for date in dates))
        self._last = (0, *(date.last.toordinal() for date in dates))

    def order(self, number: int, other: int) -> Order:
        """Return the order of a session's date relative to another's: `same` requires the same precision."""
        if self._last[number] < self._first[other]:
            return "before"
        if self._last[other] < self._first[number]:
            return "after"
        return "same" if self.dates[number] == self.dates[other] else "overlap"


# People of a script, looked up by every name they have.


def called(person: Participant) -> str:
    """Return the name of a participant in facts: the name, else the id."""
    return person.name.strip() or person.id


class People:
    """The participants of a script, found by id, name or alias in any case."""

    def __init__(self, participants: Iterable[Participant]) -> None:
        names: dict[str, set[str]] = defaultdict(set)
        for person in participants:
            for name in (person.id, person.name, *person.aliases):
                if name.strip():
                    names[fold(name)].add(called(person))
        self._names = {name: next(iter(those)) for name, those in names.items() if len(those) == 1}

    def name(self, text: str) -> str | None:
        """Return the name in facts of the person with this name; None for nobody, or for several people."""
        return self._names.get(fold(text))


def script_of(dialogue: Dialogue) -> Script:
    """Return a dialogue's script; raise ValueError without one."""
    if dialogue.script is None:
        raise ValueError(f"The dialogue {dialogue.id!r} is no script.")
    return dialogue.script


class Sessions:
    """The sessions of a script, numbered from 1, with the positions of the dialogue's own turns in each."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.script = script_of(dialogue)
        self.main = self.script.main
        self.numbers: Mapping[str, int] = {
            session.id: number for number, session in enumerate(self.script.sessions, start=1)
        }

    def __len__(self) -> int:
        return len(self.script.sessions)

    def __getitem__(self, number: int) -> Session:
        """Return the session with a number, from 1."""
        if not 1 <= number <= len(self):
            raise IndexError(f"there is no session {number}; there are {len(self)}")
        return self.script.sessions[number - 1]

    def names_like(self, name: str) -> frozenset[str]:
        """Return the folded names of the participant with a folded name, including that name itself."""
        return self._names.get(name, frozenset((name,)))

    @cached_property
    def _names(self) -> Mapping[str, frozenset[str]]:
        by_name: dict[str, frozenset[str]] = {}
        for person in self.dialogue.participants:
            names = frozenset(filter(None, map(fold, (person.id, person.name, *person.aliases))))
            by_name |= {name: names | by_name.get(name, frozenset()) for name in names}
        return by_name

    @cached_property
    def positions(self) -> Mapping[int, tuple[int, ...]]:
        """Positions of each session's own turns, in order; turns without a session are in none."""
        by_session: dict[int, list[int]] = {number: [] for number in range(1, len(self) + 1)}
        for place, turn in enumerate(self.dialogue.turns):
            if (number := self.numbers.get(turn.session)) is not None:
                by_session[number].append(place)
        return {number: tuple(places) for number, places in by_session.items()}

    @cached_property
    def of_turn(self) -> tuple[int, ...]:
        """Number of the session of each own turn; 0 without a session."""
        return tuple(self.numbers.get(turn.session, 0) for turn in self.dialogue.turns)

    @cached_property
    def present(self) -> Mapping[int, frozenset[str]]:
        """People present, by session: those who speak or act in it, and those it lists as present."""
        turns = self.dialogue.turns
        return {
            number: frozenset(self[number].present)
            | {turns[place].speaker for place in places if turns[place].act not in EVENTS}
            for number, places in self.positions.items()
        }

    @cached_property
    def heard(self) -> frozenset[int]:
        """Numbers of the sessions in which the main character is present: P(s)."""
        return frozenset(number for number, people in self.present.items() if self.main in people)

    def hears(self, place: int) -> bool:
        """Whether the main character hears an own turn: it is present and not excluded from the turn."""
        turn = self.dialogue.turns[place]
        return self.of_turn[place] in self.heard and hears(turn, self.main)

    def heard_turns(self, number: int, until: int | None = None) -> tuple[int, ...]:
        """Return positions of a session's turns heard by the main character, up to and including `until`."""
        if number not in self.heard:
            return ()
        return tuple(
            place
            for place in self.positions[number]
            if (until is None or place <= until) and hears(self.dialogue.turns[place], self.main)
        )

    def cluster(self, number: int) -> str:
        """Return the unit of resampling of a session: its season, or itself, within its dialogue."""
        session = self[number]
        return f"{self.dialogue.id}/{session.season or session.id}"


def backwards(sessions: Sequence[Session]) -> Iterator[tuple[Session, Session]]:
    """Yield each pair of consecutive sessions whose later one has an earlier date."""
    return ((earlier, later) for earlier, later in pairwise(sessions) if later.date.before(earlier.date))
