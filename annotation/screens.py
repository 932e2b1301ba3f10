"""What an annotator sees of a task: the context that is theirs to know, the item in view, and no more.

Which system spoke, its continuation's id and its condition never enter a screen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation import marks, prepared
from annotation.blinding import Blind, blind
from annotation.transcripts import Line, Part, Place, Row, one_turn, whole

COLOURS = 6


class Person(NamedTuple):
    """A speaker as introduced to raters."""

    name: str
    role: str
    profile: tuple[str, ...]
    colour: int


@dataclass(frozen=True, slots=True)
class Screen:
    """Everything that is shown of one task."""

    task: int
    items: tuple[int, ...]
    parts: tuple[Part, ...]
    people: tuple[Person, ...]
    metadata: tuple[tuple[str, str], ...]
    summary: str
    agenda: tuple[str, ...]

    @property
    def has_marks(self) -> bool:
        """Whether any text carries transcription marks, so that a toggle makes sense."""
        return any(is_mark for part in self.parts for line in part.lines for _, is_mark in line.pieces)


class Head(NamedTuple):
    """A task's continuation and dialogue; participants, metadata and agenda as JSON texts."""

    item: int | None
    turn: int | None
    continuation: int
    key: str
    mode: str
    dialogue: int
    participants: str
    metadata: str
    summary: str
    agenda: str | None
    system: str
    whole: bool


HEAD = """
SELECT t.item_id, u.position, c.id, c.key, c.mode, d.id, d.participants, d.metadata, d.summary, d.agenda,
       s.name, coalesce(i.kind = 'dialogue', false)
  FROM annotation_task t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  JOIN annotation_system s ON s.id = c.system_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
 WHERE t.id = %s
"""

TURNS = """
SELECT u.continuation_id <> %(continuation)s, u.position, u.speaker, u.text, u.given, u.at, i.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 WHERE (u.continuation_id = %(continuation)s AND u.position <= %(last)s)
    OR u.continuation_id = (SELECT o.id FROM annotation_continuation o WHERE o.dialogue_id = %(dialogue)s
                             AND o.key = 'self' AND o.id <> %(continuation)s)
 ORDER BY u.position
"""

NO_LAST = 2**31 - 1


def load(task: int) -> Screen:
    """Return a task's screen, in two queries. Raises LookupError for a task that does not exist."""
    with prepared.cursor() as cursor:
        cursor.execute(HEAD, (task,))
        row = cursor.fetchone()
        if row is None:
            raise LookupError(task)
        head = Head(*row)
        last = NO_LAST if head.turn is None else head.turn
        values = {"continuation": head.continuation, "dialogue": head.dialogue, "last": last}
        cursor.execute(TURNS, values)
        rows = [Row(*row) for row in cursor.fetchall()]
    return _screen(task, head, rows)


class Cast:
    """The speakers of a dialogue: what each is called and in which colour."""

    def __init__(self, participants: Sequence[Mapping[str, Any]], hide: Blind) -> None:
        self._hide = hide
        self._shown: dict[str, tuple[str, int]] = {}
        self.people = tuple(self._introduce(participant) for participant in participants)

    def of(self, speaker: str) -> tuple[str, int]:
        """Return a speaker's name and colour; one that nobody introduced is known by their id."""
        return self._shown.get(speaker) or self._add(speaker, speaker)

    def _add(self, speaker: str, name: str) -> tuple[str, int]:
        number = len(self._shown)
        shown = f"Speaker {number + 1}" if self._hide.names(name) else name
        self._shown[speaker] = (shown, number % COLOURS + 1)
        return self._shown[speaker]

    def _introduce(self, participant: Mapping[str, Any]) -> Person:
        speaker = str(participant["id"])
        name, colour = self._add(speaker, participant.get("name") or speaker)
        profile = tuple(self._hide.about(str(line)) for line in participant.get("profile") or ())
        return Person(name, self._hide.about(participant.get("role") or ""), profile, colour)


def _screen(task: int, head: Head, rows: list[Row]) -> Screen:
    hide = blind(head.system)
    cast = Cast(json.loads(head.participants), hide)

    def write(number: int, row: Row, place: Place) -> Line:
        who, colour = cast.of(row.speaker)
        item = row.item if place == "item" else None
        text = hide.spoken(row.text)
        return Line(number, who, colour, text, place, item, tuple(marks.parts(text)) if "{" in text else ())

    own = [row for row in rows if row.own]
    turns = [row for row in rows if not row.own]
    if head.turn is not None:
        parts = one_turn(own, turns, head.mode, write)
    else:
        parts = whole(own, turns, head.mode, "rated" if head.whole else "item", write)
    items = (head.item,) if head.item else tuple(row.item for row in turns if row.item)
    return Screen(
        task=task,
        items=items,
        parts=tuple(part for part in parts if part.lines),
        people=cast.people,
        metadata=hide.metadata(json.loads(head.metadata)),
        summary=hide.about(head.summary),
        agenda=tuple(
            hide.about(str(item.get("text", ""))) for item in json.loads(head.agenda or "{}").get("items", ())
        ),
    )
