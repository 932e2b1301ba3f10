"""A script read by windows: its sessions in numbers, the turns of one of them, and turns that are looked for.

A script has some 25,000 turns and 800 sessions, so that nothing here reads all of its texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from annotation.models import Dialogue, Record, Turn
from annotation.records import EVENTS, SELF
from annotation.scripts.records import FACT, QUESTION, Script, Session
from annotation.scripts.stored import script_record

WHO_SPEAKS = """
SELECT coalesce(t.extra->>'session', ''), t.speaker, count(*), min(t.position), max(t.position),
       bool_or(coalesce(t.extra->>'act', '') <> ALL(%(events)s))
  FROM annotation_turn t JOIN annotation_continuation c ON c.id = t.continuation_id
 WHERE c.dialogue_id = %(dialogue)s AND c.key = %(own)s GROUP BY 1, 2 ORDER BY 4
"""
RECORDS = """
SELECT s.session, r.kind, count(*)
  FROM annotation_record r
 CROSS JOIN LATERAL (
   SELECT r.content->>'session' AS session WHERE r.kind = %(fact)s
   UNION ALL
   SELECT jsonb_array_elements_text(coalesce(r.content->'evidence', '[]')) WHERE r.kind = %(question)s
 ) s
 WHERE r.dialogue_id = %(dialogue)s AND r.kind = ANY(%(kinds)s) AND r.superseded_by_id IS NULL
   AND s.session = ANY(%(sessions)s)
 GROUP BY 1, 2
"""


class Row(NamedTuple):
    """A session in numbers: `there` are the ids of those who speak in it or are listed, in that order.

    `first` and `last` are the positions of its own turns, None where it has none.
    """

    number: int
    session: Session
    there: tuple[str, ...]
    speakers: int
    heard: bool
    turns: int
    first: int | None
    last: int | None


@dataclass(slots=True)
class Overview:
    """A script and its sessions in order; `names` are what participants are called, by id."""

    dialogue: Dialogue
    script: Script
    rows: list[Row]
    names: dict[str, str]

    def row(self, number: int) -> Row | None:
        """Return the session of a number, None where there is none."""
        return self.rows[number - 1] if 1 <= number <= len(self.rows) else None

    def at(self, position: int) -> Row | None:
        """Return the session that holds an own turn, None where none does."""
        return next(
            (row for row in self.rows if row.first is not None and row.first <= position <= (row.last or 0)),
            None,
        )

    def called(self, person: str) -> str:
        """Return what a participant is called."""
        return self.names.get(person) or person


@dataclass(slots=True)
class _Spoken:
    """Who says how much in one session."""

    speakers: list[str] = field(default_factory=list)
    turns: int = 0
    places: list[int] = field(default_factory=list)


def overview(dialogue: Dialogue) -> Overview:
    """Return the sessions of a script in numbers, by one query; raise ValueError where it is none."""
    script = script_record(dialogue.script)
    if script is None:
        raise ValueError(f"The dialogue {dialogue.key!r} is no script.")
    spoken = _spoken(dialogue)
    rows = [
        _row(number, session, spoken.get(session.id) or _Spoken(), script.main)
        for number, session in enumerate(script.sessions, start=1)
    ]
    names = {person["id"]: person.get("name") or person["id"] for person in dialogue.participants}
    return Overview(dialogue, script, rows, names)


def _spoken(dialogue: Dialogue) -> dict[str, _Spoken]:
    found: dict[str, _Spoken] = defaultdict(_Spoken)
    with connection.cursor() as cursor:
        cursor.execute(WHO_SPEAKS, {"dialogue": dialogue.pk, "own": SELF, "events": list(EVENTS)})
        for session, speaker, count, first, last, does in cursor.fetchall():
            told = found[session]
            told.turns += count
            told.places += [first, last]
            if does:
                told.speakers.append(speaker)
    return found


def _row(number: int, session: Session, spoken: _Spoken, main: str) -> Row:
    there = tuple(dict.fromkeys((*spoken.speakers, *session.present)))
    places = spoken.places
    return Row(
        number=number,
        session=session,
        there=there,
        speakers=len(spoken.speakers),
        heard=main in there,
        turns=spoken.turns,
        first=min(places) if places else None,
        last=max(places) if places else None,
    )


def records_of(
    dialogue: Dialogue, sessions: Sequence[str], kinds: Sequence[str] = (FACT, QUESTION)
) -> dict[str, dict[str, int]]:
    """Return how many facts are said in each of some sessions, and how many questions each answers.

    Of kinds that are not asked for there are none; counting questions reads all of the script's.
    """
    found: dict[str, dict[str, int]] = {key: {FACT: 0, QUESTION: 0} for key in sessions}
    told: dict[str, Any] = {
        "dialogue": dialogue.pk,
        "sessions": list(sessions),
        "fact": FACT,
        "question": QUESTION,
        "kinds": list(kinds),
    }
    with connection.cursor() as cursor:
        cursor.execute(RECORDS, told)
        for session, kind, count in cursor.fetchall():
            found[session][kind] = count
    return found


def counts_of(dialogue: Dialogue) -> dict[str, int]:
    """Return how many facts and questions a script has that nothing supersedes."""
    rows = Record.objects.filter(dialogue=dialogue, superseded_by=None)
    return {kind: rows.filter(kind=kind).count() for kind in (FACT, QUESTION)}


def facts_in(dialogue: Dialogue, session: str) -> QuerySet[Record]:
    """Return the facts that are said in a session, those first that stand first."""
    rows = Record.objects.filter(dialogue=dialogue, kind=FACT, superseded_by=None)
    return rows.filter(content__session=session).order_by("id")


def questions_on(dialogue: Dialogue, session: str) -> QuerySet[Record]:
    """Return the questions that a session answers, alone or with others."""
    rows = Record.objects.filter(dialogue=dialogue, kind=QUESTION, superseded_by=None)
    return rows.filter(content__evidence__contains=[session]).order_by("id")


def own_turns(dialogue: Dialogue) -> QuerySet[Turn]:
    """Return a script's own turns in order, unread."""
    own = Turn.objects.filter(continuation__dialogue=dialogue, continuation__key=SELF)
    return own.order_by("position")


def turns_of(overview: Overview, row: Row) -> QuerySet[Turn]:
    """Return the own turns of a session in order."""
    if row.first is None:
        return Turn.objects.none()
    return own_turns(overview.dialogue).filter(position__range=(row.first, row.last))


def looked_for(
    overview: Overview,
    *,
    words: str = "",
    speaker: str = "",
    row: Row | None = None,
    continuation: str = SELF,
) -> QuerySet[Turn]:
    """Return the turns that hold some words, by a speaker's name or id, of one session; '', None: any.

    They are the own ones, or those of another continuation.
    """
    if continuation != SELF:
        part = Turn.objects.filter(continuation__dialogue=overview.dialogue, continuation__key=continuation)
        turns = part.filter(**({"extra__session": row.session.id} if row else {})).order_by("position")
    else:
        turns = own_turns(overview.dialogue) if row is None else turns_of(overview, row)
    if words:
        turns = turns.filter(text__icontains=words)
    if speaker:
        meant = [key for key, name in overview.names.items() if name.casefold() == speaker.casefold()]
        turns = turns.filter(Q(speaker__iexact=speaker) | Q(speaker__in=meant))
    return turns


def as_dict(row: Row, records: dict[str, int]) -> dict[str, Any]:
    """Return a session for a program to read."""
    session = row.session
    return {
        "number": row.number,
        "id": session.id,
        "date": str(session.date),
        "place": session.place,
        "episode": session.episode,
        "scene": session.scene,
        "season": session.season,
        "present": list(row.there),
        "listed": list(session.present),
        "heard": row.heard,
        "turns": row.turns,
        "first": row.first,
        "last": row.last,
        "facts": records[FACT],
        "questions": records[QUESTION],
    }
