"""Information about a dialogue beside its turns, rendered once for people, judges and generators.

Nested values are printed to any depth as indented lines; a list goes on one line where its elements are
short. Nothing is left out silently: an entry that would name a system reads `[hidden]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Script
from annotation.text.views import WITHHELD, Blind, View, one_line

# Events of a turn, in words: the only place where acts, addressees and audiences are worded.

COLOURS = 6
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
NO_DATES: Mapping[str, str] = MappingProxyType({})
_ACTS = {"reaction": "reacts", "join": "joins", "leave": "leaves"}


class Happening(NamedTuple):
    """A turn as shown: `how` is `(to Ben)` or `(says nothing)`, `private` is `(private: Ana to Kit)`.

    Both are '' for a plain message to all.
    """

    who: str
    how: str
    private: str
    text: str

    def line(self) -> str:
        """Return the form `(private: Ana to Kit) Ana (to Kit): text`."""
        head = " ".join(part for part in (self.private, self.who, self.how) if part)
        return f"{head}: {self.text}" if self.text else head


class Names:
    """Displayed names of a dialogue's speakers; a name that gives away a system becomes `Speaker N`.

    Participants count first, then other speakers in order of appearance.
    """

    def __init__(self, participants: Sequence[Participant], hide: Blind) -> None:
        self._hide = hide
        self._visible_names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        for person in participants:
            self._add(person.id, person.name or person.id)
        self._declared = frozenset(self._visible_names)

    def of(self, speaker: str) -> str:
        """Return a speaker's name; a speaker without an introduction is named by id."""
        return self._visible_names.get(speaker) or self._add(speaker, speaker)

    def colour(self, speaker: str) -> int:
        """Return the number, from 1 to COLOURS, of a speaker's colour."""
        self.of(speaker)
        return self._numbers[speaker] % COLOURS + 1

    def meet(self, speakers: Iterable[str]) -> None:
        """Register speakers in order of appearance."""
        for speaker in speakers:
            self.of(speaker)

    def others(self, speaker: str) -> frozenset[str]:
        """Return the ids of everybody but a speaker."""
        return (self._declared or frozenset(self._visible_names)) - {speaker}

    def _add(self, speaker: str, name: str) -> str:
        visible_name = one_line(name)
        number = self._numbers.setdefault(speaker, len(self._numbers))
        if not visible_name or self._hide.names(visible_name):
            visible_name = f"Speaker {number + 1}"
        self._visible_names[speaker] = visible_name
        return visible_name


def happening(turn: Turn, names: Names, text: str) -> Happening:
    """Describe the event of a turn; `text` is its text as raters see it."""
    text = text if text.strip() else ""
    return Happening(names.of(turn.speaker), _how(turn, names, text), private(turn, names), text)


def private(turn: Turn, names: Names) -> str:
    """Return `(private: Ana to Kit)` for a turn that not everybody could hear, else ''."""
    if turn.audience is None or names.others(turn.speaker) <= set(turn.audience):
        return ""
    hearers = [names.of(listener) for listener in turn.audience if listener != turn.speaker]
    return f"(private: {names.of(turn.speaker)} to {_join_with_and(hearers) or 'nobody'})"


def session_dates(script: Script | None) -> Mapping[str, str]:
    """Return the dates of a script's sessions by session id; empty for other dialogues."""
    return {session.id: str(session.date) for session in script.sessions} if script else NO_DATES


def dated(turns: Iterable[Turn], script: Script | None) -> Iterator[Turn]:
    """Yield turns with the date of their session as their time, where they have none of their own."""
    dates = session_dates(script)
    for turn in turns:
        date = "" if turn.time else dates.get(turn.session, "")
        yield replace(turn, time=date) if date else turn


def heading(
    turn: Turn,
    before: Turn | None,
    visible_session: Callable[[str], str] = str,
    dates: Mapping[str, str] = NO_DATES,
) -> str:
    """Return session and date where either differs from the turn before, else ''.

    `visible_session` converts a session's name to the form raters see. `dates` are those of sessions
    (`session_dates`), for turns without a date of their own.
    """
    if not turn.session and not turn.time:
        return ""
    current, previous = _when(turn, dates), _when(before, dates) if before else ("", "")
    if current == previous or not any(current):
        return ""
    session, date = current
    if session == previous[0] and not date:
        return ""
    return " · ".join(
        part for part in (f"session {visible_session(session)}" if session else "", date) if part
    )


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
    return "to " + _join_with_and([names.of(addressee) for addressee in turn.addressees])


def _join_with_and(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _when(turn: Turn, dates: Mapping[str, str]) -> tuple[str, str]:
    date = _DATE.match(turn.time)
    return one_line(turn.session), date[0] if date else dates.get(turn.session, "")


SHORT = 40
INDENT = "  "

NamedText = tuple[str, str]
"""A name and a value; the lines of a value are indented relative to each other."""


class Person(NamedTuple):
    """A speaker as introduced to raters; `colour` tells speakers apart."""

    name: str
    colour: int
    role: str = ""
    profile: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extra: tuple[NamedText, ...] = ()


class Context(NamedTuple):
    """Information about a dialogue, as shown."""

    people: tuple[Person, ...]
    metadata: tuple[NamedText, ...]
    agenda: tuple[str, ...]
    summary: str


def context(dialogue: Dialogue, names: Names, view: View) -> Context:
    """Return the information that a view shows of a dialogue beside its turns."""
    visible_entries = {key: value for key, value in dialogue.metadata.items() if view.shows_entry(str(key))}
    agenda = dialogue.agenda.items.values() if dialogue.agenda and view.shows_part("agenda") else ()
    return Context(
        people=tuple(_person(person, names, view) for person in dialogue.participants),
        metadata=entries(visible_entries, view),
        agenda=tuple(view.about(str(text)) for text in agenda),
        summary=view.about(dialogue.summary) if view.shows_part("summary") else "",
    )


def entries(values: Mapping[str, Any], view: View) -> tuple[NamedText, ...]:
    """Return named values as (name, value) texts; empty ones are left out."""
    named_lines = ((_name(key, view), _lines(value, view, str(key))) for key, value in values.items())
    return tuple((name, "\n".join(lines)) for name, lines in named_lines if lines)


def entry_lines(texts: Sequence[NamedText]) -> list[str]:
    """Return named values as lines: `name: value`, or the name with its value indented below."""
    return [line for name, value in texts for line in _under(name, value.split("\n"))]


def person_lines(person: Person) -> list[str]:
    """Return a speaker's profile as lines."""
    lines = [f"{person.name} ({person.role})" if person.role else person.name]
    if person.aliases:
        lines += _under("also called", [", ".join(person.aliases)])
    for text in person.profile:
        lines += [INDENT + line for line in text.split("\n")]
    lines += [INDENT + line for line in entry_lines(person.extra)]
    return lines


def fact_lines(facts: Context) -> list[str]:
    """Return metadata, agenda and summary as lines."""
    lines = entry_lines(facts.metadata)
    if facts.agenda:
        lines.append("agenda:")
        lines += [INDENT + line for text in facts.agenda for line in _element(text.split("\n"))]
    if facts.summary:
        lines += _under("summary", facts.summary.split("\n"))
    return lines


def _person(person: Participant, names: Names, view: View) -> Person:
    return Person(
        name=names.of(person.id),
        colour=names.colour(person.id),
        role=view.line(person.role) if view.shows_part("participants.role") else "",
        profile=tuple(map(view.about, person.profile)) if view.shows_part("participants.profile") else (),
        aliases=tuple(map(view.line, person.aliases)) if view.shows_part("participants.aliases") else (),
        extra=entries(person.extra, view) if view.shows_part("participants.extra") else (),
    )


def _name(key: Any, view: View) -> str:
    return view.line(str(key)).replace("_", " ")


def _lines(value: Any, view: View, key: str = "") -> list[str]:
    """Return a value as lines; none for an empty value."""
    if value in (None, "", [], {}):
        return []
    if key and view.withholds(key):
        return [WITHHELD]
    if isinstance(value, Mapping):
        return entry_lines(entries(value, view))
    if isinstance(value, list | tuple):
        return _list_lines([lines for lines in (_lines(part, view) for part in value) if lines], value)
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return view.about(str(value)).split("\n")


def _list_lines(elements: list[list[str]], value: Sequence[Any]) -> list[str]:
    is_plain = not any(isinstance(part, Mapping | list | tuple) for part in value)
    if is_plain and all(len(lines) == 1 and len(lines[0]) <= SHORT for lines in elements):
        texts = [lines[0] for lines in elements]
        mark = "; " if any("," in text for text in texts) else ", "
        return [mark.join(texts)] if texts else []
    return [line for lines in elements for line in _element(lines)]


def _element(lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield ("- " if number == 0 else INDENT) + line


def _under(name: str, lines: Sequence[str]) -> list[str]:
    if len(lines) == 1 and not lines[0].startswith("- "):
        first = lines[0]
        return [f"{name}: {first}"]
    return [f"{name}:", *(INDENT + line for line in lines)]
