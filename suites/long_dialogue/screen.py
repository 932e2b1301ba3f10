"""A rater's view of a script: a fact, a question or an answer, with its sessions.

Only the turns of these sessions are read, out of a script's thousands. Lines are numbered like the script's
own turns, so that an answer may refer to one by its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from annotation.kinds import ANSWER, FACT, QUESTION
from annotation.script_records import DEFAULT_STYLE, KIND, LETTERS, UNKNOWN, date_record
from annotation.text.context import Names
from annotation.text.views import View
from annotation.work.screens import BEFORE, Layout, Scene, Screen
from annotation.work.transcripts import Card, Choice, Head, Offered, Part, Place, Row, Writer
from suites.long_dialogue.scripts.graph import DEFAULT as RELATIONS

# Facts and questions as raters read them: named fields, choices, and wordings by asker.

NO_SESSIONS = "no session is named"
EVERYBODY_ELSE = "everybody else"
ELEMENTS = ("head", "relation", "tail")


def of_fact(content: Mapping[str, Any], view: View) -> Card:
    """Return the card of a fact: head, relation, tail."""
    rows = tuple((name.capitalize(), view.line(content[name])) for name in ELEMENTS)
    return Card("The fact", rows)


def of_question(content: Mapping[str, Any], evidence: Sequence[str], names: Names, view: View) -> Card:
    """Return the card of a question; its wordings, if any, are shown beside its text."""
    answer = content["answer"]
    joined = (" and " if content.get("evidence_all") else " or ").join(evidence)
    rows = (
        ("Question", view.about(content["text"])),
        ("Answer", view.line(answer)),
        ("Evidence", view.line(joined) or NO_SESSIONS),
    )
    choices = tuple(
        Choice(letter, view.line(text), text == answer)
        for letter, text in zip(LETTERS, content.get("choices") or (), strict=False)
    )
    return Card("The question", rows, choices, _wordings(content.get("styles") or {}, names, view))


def _wordings(styles: Mapping[str, str], names: Names, view: View) -> tuple[tuple[str, str], ...]:
    """Return the wordings by asker, the default wording last."""
    order = sorted(styles.items(), key=lambda style: style[0] == DEFAULT_STYLE)
    return tuple(
        (EVERYBODY_ELSE if asker == DEFAULT_STYLE else names.of(asker), view.about(text))
        for asker, text in order
    )


LONG = 60
"""Maximum total of lines before all sessions except the first are folded."""
QUESTION_HEADING, REPLY_HEADING = "what was asked", "the reply, to be rated"


class Session(NamedTuple):
    """A session on a rater's screen."""

    number: int
    id: str
    date: str
    place: str

    def heading(self, view: View) -> str:
        """Return the session's heading: its number, id, date and place."""
        parts = [f"session {self.number}", view.line(self.id), self.date, view.line(self.place)]
        return " · ".join(text for text in parts if text)


def sessions(head: Head, rows: Sequence[Row]) -> list[str]:
    """Return the ids of the sessions that a record, or an answered question, is about."""
    if head.record is None:
        answer = answered(rows)
        session_ids = list(_sessions(head))
        return [
            session_ids[number - 1]
            for number in answer.get("evidence") or ()
            if 0 < number <= len(session_ids)
        ]
    content = json.loads(head.record)
    return [content["session"]] if head.kind == FACT.key else list(content.get("evidence") or ())


def answered(rows: Sequence[Row]) -> Mapping[str, Any]:
    """Return an answer's record: the question's key, its answer, and the evidence."""
    extra = (rows[-1].extra or {}).get("extra") or {} if rows else {}
    return extra.get("answer") or {}


def _sessions(head: Head) -> dict[str, Session]:
    return {
        entry["id"]: Session(number, entry["id"], str(date_record(entry["date"])), entry.get("place") or "")
        for number, entry in enumerate(json.loads(head.script or "{}").get("sessions", ()), start=1)
    }


class About:
    """Content of a screen about a script, from its head and the turns read."""

    def __init__(self, head: Head, rows: Sequence[Row], names: Names, view: View) -> None:
        self._head, self._names, self._view = head, names, view
        self._own = [row for row in rows if row.own]
        self._answer_rows = [row for row in rows if not row.own]
        self._sessions = _sessions(head)
        self._content: Mapping[str, Any] = json.loads(head.record or "{}")
        ids = [name for name in dict.fromkeys(sessions(head, self._answer_rows)) if name in self._sessions]
        self._selected = sorted((self._sessions[name] for name in ids), key=lambda session: session.number)

    @property
    def card(self) -> Card:
        """Content of the record, or the right answer."""
        if self._head.record is None:
            return self._answer_card()
        if self._head.kind == FACT.key:
            return of_fact(self._content, self._view)
        evidence = [f"session {session.number} ({session.id})" for session in self._selected]
        return of_question(self._content, evidence, self._names, self._view)

    @property
    def evidence_choices(self) -> tuple[tuple[str, str], ...]:
        """Sessions that may be chosen as a question's evidence, by id."""
        if self._head.record is None or self._head.kind == FACT.key:
            return ()
        return tuple(
            (session.id, f"session {session.number} · {session.id} · {session.date}")
            for session in self._selected
        )

    @property
    def offered(self) -> tuple[Offered, ...]:
        """Suggestions for answers in words."""
        if self._head.record is None:
            return ()
        if self._head.kind != FACT.key:
            return (("sessions", tuple(self._sessions)),)
        people = json.loads(self._head.participants)
        names = tuple(dict.fromkeys(self._names.of(person["id"]) for person in people))
        relations = json.loads(self._head.relations) if self._head.relations else list(RELATIONS)
        return ("people", names), ("relations", tuple(relations))

    def parts(self, write: Writer) -> list[Part]:
        """Lay out the sessions, each under its heading, with the marked turns; an answer comes last."""
        marked = set(self._content.get("turns") or self._content.get("evidence_turns") or ())
        parts = [
            Part(session.heading(self._view), self._lines(session, marked, write))
            for session in self._selected
        ]
        if sum(len(part.lines) for part in parts) > LONG or self._content.get("styles"):
            parts = [
                part._replace(folded=number > 0 or bool(self._content.get("styles")))
                for number, part in enumerate(parts)
            ]
        return [*parts, *self._answer_parts(write)]

    def _lines(self, session: Session, marked: set[int], write: Writer) -> Any:
        lines = []
        for row in self._own:
            if (row.extra or {}).get("session") == session.id:
                place: Place = "marked" if row.position in marked else "history"
                lines.append(write(row.position + 1, row, place)._replace(heading=""))
        return tuple(lines)

    def _answer_parts(self, write: Writer) -> list[Part]:
        if not self._answer_rows:
            return []
        *before, reply = self._answer_rows
        at = reply.at or 0
        questions = [row for row in before if row.given and row.at == reply.at]
        question_lines = tuple(write(at + 1, row, "given")._replace(heading="") for row in questions)
        replied = write(at + 1 + len(questions), reply, "item")._replace(heading="")
        return [
            *([Part(QUESTION_HEADING, question_lines)] if question_lines else []),
            Part(REPLY_HEADING, (replied,)),
        ]

    def _answer_card(self) -> Card:
        answer = answered(self._answer_rows)
        unknown = answer.get("key") == UNKNOWN
        right = "I don't know: it cannot be known at this point" if unknown else answer.get("answer") or ""
        rows = [("Right answer", self._view.line(right))]
        also = [text for text in answer.get("answers") or () if text != answer.get("answer")]
        if also and not unknown:
            rows.append(("Right, too", self._view.line(", ".join(also))))
        if isinstance(number := answer.get("session"), int) and 0 < number <= len(self._sessions):
            rows.append(("Asked in", list(self._sessions.values())[number - 1].heading(self._view)))
        choices = tuple(
            Choice(letter, self._view.line(text), letter == answer.get("key"))
            for letter, text in zip(LETTERS, answer.get("choices") or (), strict=False)
        )
        return Card("What is right here", tuple(rows), choices)


def compose(task: int, head: Head, rows: Sequence[Row], scene: Scene) -> Screen:
    """Return the screen of a fact, a question or an answer, with its content and its sessions."""
    assert head.item is not None
    about = About(head, rows, scene.names, scene.view)
    screen = scene.screen(task, (head.item,), about.parts(scene.write))
    return replace(screen, card=about.card, named=about.evidence_choices, offered=about.offered)


def parts(head: Head, rows: Sequence[Row], names: Names, view: View, write: Writer) -> list[Part]:
    """Return the lines of the sessions that a screen shows."""
    return About(head, rows, names, view).parts(write)


SESSIONS = [{"id": "s1", "date": {"year": 2024, "month": 5, "day": 3}}]
RECORDS: dict[str, dict[str, Any]] = {
    FACT.key: {"head": "Ana", "relation": "hometown", "tail": "Hamburg", "session": "s1", "turns": [2]},
    QUESTION.key: {
        "text": "Where does Ana have to be on Friday?",
        "choices": ["Hamburg", "Vienna", "Berlin", "Prague"],
        "answer": "Vienna",
        "evidence": ["s1"],
        "evidence_turns": [0],
    },
}
"""Sample records for schemes about facts and questions: the first turns form a script's session."""


REPLY = {
    "key": "B",
    "answer": "Vienna",
    "choices": RECORDS[QUESTION.key]["choices"],
    "session": 1,
    "evidence": [1],
}
ANSWERED = (
    Row(False, 0, "ben", "Where do you have to be on Friday?", True, 3, None),
    Row(False, 1, "ana", "In Vienna, and not by plane.", False, 3, 1, {"extra": {"answer": REPLY}}),
)
"""A sample question and reply, for schemes about answers."""


def sample(head: Head, kind: str) -> tuple[Head, list[Row]] | None:
    """Return the sample for schemes about facts, questions and answers; None for other kinds."""
    if kind not in (*RECORDS, ANSWER.key):
        return None
    session = [
        Row(True, number, *turn, False, None, None, {"session": "s1"}) for number, turn in enumerate(BEFORE)
    ]
    record = json.dumps(RECORDS[kind]) if kind in RECORDS else None
    script = json.dumps({"main": "ana", "sessions": SESSIONS})
    rows = [*session, *ANSWERED] if kind == ANSWER.key else session
    return head._replace(item=1, kind=kind, script=script, record=record), rows


LAYOUTS = {KIND: Layout(compose, sessions, parts, sample)}
