"""What an annotator sees of a task: the context that is theirs to know, the item in view, and no more.

Which system spoke, its continuation's id and its condition never enter a screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation import records
from annotation.importing.rows import agenda_record, participant_record, turn_record
from annotation.kinds import KINDS
from annotation.text import transcription_marks as marks
from annotation.text.blinding import told_by
from annotation.text.context import Context, NamedText, Person, context
from annotation.text.happenings import Names, happening, heading
from annotation.text.language import language_tag
from annotation.text.views import View
from annotation.work.transcripts import Line, Part, Place, Row, one_turn, whole
from config import prepared


@dataclass(frozen=True, slots=True)
class Screen:
    """Everything that is shown of one task. `language` is a value for `lang`, '' where it is not known.

    `turns` are the ids of the turns, line by line: they never leave the server.
    """

    task: int
    items: tuple[int, ...]
    parts: tuple[Part, ...]
    about: Context
    language: str = ""
    turns: tuple[int, ...] = ()

    @property
    def people(self) -> tuple[Person, ...]:
        """The speakers."""
        return self.about.people

    @property
    def metadata(self) -> tuple[NamedText, ...]:
        """What else is known of the dialogue."""
        return self.about.metadata

    @property
    def summary(self) -> str:
        """What the dialogue was about."""
        return self.about.summary

    @property
    def agenda(self) -> tuple[str, ...]:
        """The points of the agenda."""
        return self.about.agenda

    @property
    def has_marks(self) -> bool:
        """Whether any text carries transcription marks, so that a toggle makes sense."""
        return any(is_mark for part in self.parts for line in part.lines for _, is_mark in line.pieces)


class Head(NamedTuple):
    """A task's continuation and dialogue; participants, metadata, agenda and what is shown as JSON texts.

    `systems` are all of the corpus, `conditions` (JSON) those of the dialogue's continuations.
    """

    item: int | None
    turn: int | None
    continuation: int
    mode: str
    dialogue: int
    participants: str
    metadata: str
    summary: str
    agenda: str | None
    language: str
    shows: str
    systems: list[str]
    conditions: str
    whole: bool


WHOLE = ", ".join(f"'{key}'" for key, kind in KINDS.items() if kind.shows == "whole")

HEAD_OF = f"""
SELECT i.public, u.position, c.id, c.mode, d.id, d.participants, d.metadata, d.summary, d.agenda, d.language,
       k.shows, ARRAY(SELECT s.name FROM annotation_system s WHERE s.corpus_id = d.corpus_id ORDER BY s.name),
       (SELECT coalesce(jsonb_agg(DISTINCT o.condition), '[]')
          FROM annotation_continuation o WHERE o.dialogue_id = d.id),
       coalesce(i.kind IN ({WHOLE}), false)
  FROM <source>
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
"""  # noqa: S608  (keys of ours)

TASK = "annotation_task t JOIN annotation_campaign k ON k.id = t.campaign_id"
HEAD = HEAD_OF.replace("<source>", TASK) + " WHERE t.id = %s"

PLACE = """(SELECT %s::bigint AS continuation_id, %s::bigint AS item_id) t
 CROSS JOIN (SELECT %s::jsonb AS shows) k"""
HEAD_OF_PLACE = HEAD_OF.replace("<source>", PLACE)

TURNS = """
SELECT u.continuation_id <> %(continuation)s, u.position, u.speaker, u.text, u.given, u.at, i.public, u.extra,
       u.id
  FROM annotation_turn u LEFT JOIN annotation_item i ON i.turn_id = u.id
 WHERE (u.continuation_id = %(continuation)s AND u.position <= %(last)s)
    OR u.continuation_id = (SELECT o.id FROM annotation_continuation o WHERE o.dialogue_id = %(dialogue)s
                             AND o.key = 'self' AND o.id <> %(continuation)s)
 ORDER BY u.position
"""

NO_LAST = 2**31 - 1


def load(task: int, tagged: bool = True) -> Screen:
    """Return a task's screen, in two queries; `tagged` says what is done to the turns of a whole.

    Raises LookupError for a task that does not exist.
    """
    return _read(task, HEAD, (task,), tagged)


def load_place(continuation: int, item: int | None, shows: Sequence[str], tagged: bool = True) -> Screen:
    """Return the screen that a task about a continuation, or one item of it, would have: nothing is made.

    Raises LookupError for a continuation that does not exist.
    """
    return _read(0, HEAD_OF_PLACE, (continuation, item, json.dumps(list(shows))), tagged)


def _read(task: int, query: str, values: tuple[Any, ...], tagged: bool) -> Screen:
    with prepared.cursor() as cursor:
        cursor.execute(query, values)
        row = cursor.fetchone()
        if row is None:
            raise LookupError(values[0])
        head = Head(*row)
        last = NO_LAST if head.turn is None else head.turn
        cursor.execute(TURNS, {"continuation": head.continuation, "dialogue": head.dialogue, "last": last})
        rows = [_row(*row) for row in cursor.fetchall()]
    return compose(task, head, rows, tagged)


def _row(*columns: Any) -> Row:
    row = Row(*columns)
    return row._replace(extra=json.loads(row.extra)) if isinstance(row.extra, str) else row


class _Writer:
    """Writes the lines of a transcript in their order, with a heading wherever session or date change."""

    def __init__(self, names: Names, view: View) -> None:
        self._names = names
        self._view = view
        self._last: records.Turn | None = None
        self.turns: list[int] = []

    def __call__(self, number: int, row: Row, place: Place) -> Line:
        turn = turn_record(row.speaker, row.text, row.given, row.at, row.extra)
        happened = happening(turn, self._names, self._view.spoken(turn.text))
        above = heading(turn, self._last, self._view.line)
        self._last = turn
        self.turns.append(row.turn)
        return Line(
            no=number,
            who=happened.who,
            colour=self._names.colour(row.speaker),
            text=happened.text,
            place=place,
            item=row.item if place == "item" else None,
            pieces=tuple(marks.parts(happened.text)) if "{" in happened.text else (),
            how=happened.how,
            private=happened.private,
            heading=above,
            line=len(self.turns),
        )


def compose(task: int, head: Head, rows: Sequence[Row], tagged: bool = True) -> Screen:
    """Return what is shown of a task, from its head and the turns that its rater may see."""
    told = told_by(json.loads(head.conditions))
    view = View(tuple(head.systems), tuple(json.loads(head.shows)), told=told)
    dialogue = records.Dialogue(
        id="",
        participants=tuple(map(participant_record, json.loads(head.participants))),
        summary=head.summary,
        metadata=json.loads(head.metadata),
        agenda=agenda_record(json.loads(head.agenda or "null")),
    )
    names = Names(dialogue.participants, view.hide)
    own = [row for row in rows if row.own]
    turns = [row for row in rows if not row.own]
    names.meet(row.speaker for row in (*own, *turns))
    write = _Writer(names, view)
    if head.turn is not None:
        parts = one_turn(own, turns, head.mode, write)
    else:
        parts = whole(own, turns, head.mode, "rated" if head.whole else "item", write, tagged)
    return Screen(
        task=task,
        items=(head.item,) if head.item else tuple(row.item for row in turns if row.item),
        parts=tuple(part for part in parts if part.lines),
        about=context(dialogue, names, view),
        language="" if view.hide.names(head.language) else language_tag(head.language),
        turns=tuple(write.turns),
    )
