"""What happened in a turn, in words: the one place where acts, addressees and audiences are worded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from annotation.records import Participant, Turn
from annotation.scripts.records import Script
from annotation.text.blinding import Blind
from annotation.text.cleaning import one_line

COLOURS = 6
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
NO_DATES: Mapping[str, str] = MappingProxyType({})
_ACTS = {"reaction": "reacts", "join": "joins", "leave": "leaves"}


class Happening(NamedTuple):
    """A turn as shown: `how` is `(to Ben)` or `(says nothing)`, `private` is `(private: Ana to Kit)`, both ''
    for a plain message to all."""

    who: str
    how: str
    private: str
    text: str

    def line(self) -> str:
        """Return it in the form `(private: Ana to Kit) Ana (to Kit): text`."""
        head = " ".join(part for part in (self.private, self.who, self.how) if part)
        return f"{head}: {self.text}" if self.text else head


class Names:
    """What each speaker of a dialogue is called; one whose name tells of a system is `Speaker N`.

    Participants count first, then other speakers in the order in which they come up.
    """

    def __init__(self, participants: Sequence[Participant], hide: Blind) -> None:
        self._hide = hide
        self._shown: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        for person in participants:
            self._add(person.id, person.name or person.id)
        self._declared = frozenset(self._shown)

    def of(self, speaker: str) -> str:
        """Return a speaker's name; one that nobody introduced is known by their id."""
        return self._shown.get(speaker) or self._add(speaker, speaker)

    def colour(self, speaker: str) -> int:
        """Return the number, from 1 to COLOURS, of the colour that a speaker is shown in."""
        self.of(speaker)
        return self._numbers[speaker] % COLOURS + 1

    def meet(self, speakers: Iterable[str]) -> None:
        """Take note of speakers in the order in which they come up."""
        for speaker in speakers:
            self.of(speaker)

    def others(self, speaker: str) -> frozenset[str]:
        """Return the ids of everybody but a speaker."""
        return (self._declared or frozenset(self._shown)) - {speaker}

    def _add(self, speaker: str, name: str) -> str:
        shown = one_line(name)
        number = self._numbers.setdefault(speaker, len(self._numbers))
        if not shown or self._hide.names(shown):
            shown = f"Speaker {number + 1}"
        self._shown[speaker] = shown
        return shown


def happening(turn: Turn, names: Names, text: str) -> Happening:
    """Return what happened in a turn; `text` is its text as raters see it."""
    text = text if text.strip() else ""
    return Happening(names.of(turn.speaker), _how(turn, names, text), private(turn, names), text)


def private(turn: Turn, names: Names) -> str:
    """Return `(private: Ana to Kit)` for a turn that not everybody could hear, else ''."""
    if turn.audience is None or names.others(turn.speaker) <= set(turn.audience):
        return ""
    hearers = [names.of(listener) for listener in turn.audience if listener != turn.speaker]
    return f"(private: {names.of(turn.speaker)} to {_listed(hearers) or 'nobody'})"


def session_dates(script: Script | None) -> Mapping[str, str]:
    """Return the dates of a script's sessions by their ids; none where a dialogue is no script."""
    return {session.id: str(session.date) for session in script.sessions} if script else NO_DATES


def dated(turns: Iterable[Turn], script: Script | None) -> Iterator[Turn]:
    """Yield turns with the date of their session as their time, where they do not tell their own."""
    dates = session_dates(script)
    for turn in turns:
        date = "" if turn.time else dates.get(turn.session, "")
        yield replace(turn, time=date) if date else turn


def heading(
    turn: Turn,
    before: Turn | None,
    shown: Callable[[str], str] = str,
    dates: Mapping[str, str] = NO_DATES,
) -> str:
    """Return the session and the date where either is another than that of the turn before, else ''.

    `shown` makes of a session's name what raters see of it. `dates` are those of sessions (`session_dates`),
    for turns that do not tell their own.
    """
    if not turn.session and not turn.time:
        return ""
    here, there = _when(turn, dates), _when(before, dates) if before else ("", "")
    if here == there or not any(here):
        return ""
    session, date = here
    if session == there[0] and not date:
        return ""
    return " · ".join(part for part in (f"session {shown(session)}" if session else "", date) if part)


def _how(turn: Turn, names: Names, text: str) -> str:
    to = _addressed(turn, names)
    if turn.act == "silence" or (turn.act == "message" and not text):
        return f"(says nothing{' ' + to if to else ''})"
    parts = " ".join(part for part in (_ACTS.get(turn.act, ""), to) if part)
    return f"({parts})" if parts else ""


def _addressed(turn: Turn, names: Names) -> str:
    if not turn.addressees:
        return ""
    if len(turn.addressees) > 1 and names.others(turn.speaker) <= set(turn.addressees):
        return "to all"
    return "to " + _listed([names.of(addressee) for addressee in turn.addressees])


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _when(turn: Turn, dates: Mapping[str, str]) -> tuple[str, str]:
    date = _DATE.match(turn.time)
    return one_line(turn.session), date[0] if date else dates.get(turn.session, "")
