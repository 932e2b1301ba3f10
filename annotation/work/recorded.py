"""What a rater sees of a fact or a question of a script: the record itself, and the sessions it is about.

Of a script's thousands of turns only those of these sessions are read. Lines count as the script's own turns
do, so that an answer may name one by its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.kinds.fact import FACT
from annotation.scripts.records import DEFAULT_STYLE, LETTERS
from annotation.scripts.relations import DEFAULT as RELATIONS
from annotation.scripts.stored import date_record
from annotation.text.happenings import Names
from annotation.text.views import View
from annotation.work.transcripts import Part, Place, Row, Writer

LONG = 60
"""Sessions after the first are folded where there are more lines than this in all."""
NO_SESSIONS = "No session is named as its evidence."
Offered = tuple[str, tuple[str, ...]]
"""The name of a list that answers may be chosen from, and what is in it."""


class Choice(NamedTuple):
    """A choice of a question, with its letter, and whether it is the answer."""

    letter: str
    text: str
    is_answer: bool


class Card(NamedTuple):
    """A record as shown: what it says by name, a question's choices, and its wordings by who asks."""

    title: str
    rows: tuple[tuple[str, str], ...]
    choices: tuple[Choice, ...] = ()
    wordings: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        """All of it on one line, for lists."""
        return " · ".join(text for _, text in self.rows if text)


class Told(NamedTuple):
    """A record's kind and content, and the sessions of its script as they are stored."""

    kind: str
    content: Mapping[str, Any]
    sessions: Sequence[Mapping[str, Any]]
    relations: Sequence[str] | None = None


def sessions_of(kind: str, content: Mapping[str, Any]) -> list[str]:
    """Return the ids of the sessions that a record is about."""
    return [content["session"]] if kind == FACT.key else list(content.get("evidence") or ())


def card(told: Told, names: Names, view: View) -> Card:
    """Return what is shown of a record."""
    content = told.content
    if told.kind == FACT.key:
        rows = [(name.capitalize(), view.line(content[name])) for name in ("head", "relation", "tail")]
        return Card("Is this said here?", tuple(rows))
    answer = content["answer"]
    choices = tuple(
        Choice(letter, view.line(text), text == answer)
        for letter, text in zip(LETTERS, content.get("choices") or (), strict=False)
    )
    numbers = {session["id"]: number for number, session in enumerate(told.sessions, start=1)}
    evidence = [f"{name} (session {numbers.get(name, '?')})" for name in content.get("evidence") or ()]
    joined = (" and " if content.get("evidence_all") else ", or ").join(evidence)
    rows = [("Question", view.about(content["text"])), ("Answer", view.line(answer))]
    rows.append(("Evidence", joined or NO_SESSIONS))
    return Card("The question", tuple(rows), choices, _wordings(content.get("styles") or {}, names, view))


def _wordings(styles: Mapping[str, str], names: Names, view: View) -> tuple[tuple[str, str], ...]:
    """Return the wordings by who asks so, that for everybody else last."""
    order = sorted(styles.items(), key=lambda style: style[0] == DEFAULT_STYLE)
    return tuple(
        ("everybody else" if who == DEFAULT_STYLE else names.of(who), view.about(text)) for who, text in order
    )


def lay_out(
    rows: Sequence[Row], wanted: Sequence[str], marked: Sequence[int], script: Script, write: Writer
) -> list[Part]:
    """Return the sessions `wanted`, each a part of its own under its heading, with the marked turns."""
    there = set(marked)
    parts: list[Part] = []
    for name in sorted(wanted, key=script.place):
        place: Callable[[Row], Place] = lambda row: "marked" if row.position in there else "history"  # noqa: E731
        own = [row for row in rows if (row.extra or {}).get("session") == name]
        lines = tuple(write(row.position + 1, row, place(row))._replace(heading="") for row in own)
        parts.append(Part(script.heading(name), lines))
    if sum(len(part.lines) for part in parts) <= LONG:
        return parts
    return [part._replace(folded=number > 0) for number, part in enumerate(parts)]


class Script:
    """The sessions of a script as a screen speaks of them."""

    def __init__(self, sessions: Sequence[Mapping[str, Any]], view: View) -> None:
        self._sessions = {session["id"]: (number, session) for number, session in enumerate(sessions, start=1)}
        self._view = view

    def place(self, name: str) -> int:
        """Return the number of a session, from 1; 0 for one that is not there."""
        return self._sessions.get(name, (0, {}))[0]

    def name(self, number: int) -> str:
        """Return the id of the session of a number; '' where there is none."""
        return next((name for name, (place, _) in self._sessions.items() if place == number), "")

    def short(self, name: str) -> str:
        """Return number and date, for a control."""
        number, session = self._sessions.get(name, (0, None))
        return f"{self._view.line(name)} · {date_record(session['date'])}" if session else name

    def heading(self, name: str) -> str:
        """Return what stands above a session: its number, id, date and place."""
        number, session = self._sessions.get(name, (0, None))
        if session is None:
            return f"session {self._view.line(name)}"
        told = [f"session {number}", self._view.line(name), str(date_record(session["date"]))]
        return " · ".join([*told, self._view.line(session.get("place") or "")]).removesuffix(" · ")

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of all sessions, in order."""
        return tuple(self._sessions)


def named(told: Told, script: Script) -> tuple[tuple[str, str], ...]:
    """Return the sessions that a question's evidence may be chosen from, by id, with what they are called."""
    if told.kind == FACT.key:
        return ()
    return tuple((name, script.short(name)) for name in sorted(sessions_of(told.kind, told.content), key=script.place))


def offered(told: Told, script: Script, people: Sequence[str]) -> tuple[Offered, ...]:
    """Return what the answers in words may be chosen from."""
    if told.kind == FACT.key:
        relations = tuple(RELATIONS) if told.relations is None else tuple(told.relations)
        return ("people", tuple(people)), ("relations", relations)
    return (("sessions", script.names),)
