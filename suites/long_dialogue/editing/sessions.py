"""Sessions of a script: windowed reading, and changes, each with a reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.errors import ScriptRefused
from annotation.formats.fields import NAME_LIMIT
from annotation.models import QuestionSet, SessionVersion, Turn, Use
from annotation.models.corpora import Dialogue
from annotation.models.records import Record
from annotation.records import EVENTS, SELF
from annotation.script_records import (
    FACT,
    QUESTION,
    Date,
    Script,
    Session,
    script_json,
    script_record,
    session_json,
)
from config.models import Event
from suites.long_dialogue.scripts.sessions import backwards

# Windowed reading of a script: figures of its sessions, the turns of one session, and a search for turns.
#
# A script has some 25,000 turns and 800 sessions, so nothing here reads all of its texts.

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
    """Figures of a session: `people` are the ids of its speakers and listed participants, in that order.

    `first` and `last` are the positions of its own turns, None without any.
    """

    number: int
    session: Session
    people: tuple[str, ...]
    speakers: int
    heard: bool
    turns: int
    first: int | None
    last: int | None


@dataclass(slots=True)
class Overview:
    """A script and its sessions in order; `names` maps ids of participants to names."""

    dialogue: Dialogue
    script: Script
    rows: list[Row]
    names: dict[str, str]

    def row(self, number: int) -> Row | None:
        """Return the session with a number, None for an unknown number."""
        return self.rows[number - 1] if 1 <= number <= len(self.rows) else None

    def at(self, position: int) -> Row | None:
        """Return the session that contains an own turn, None without one."""
        return next(
            (row for row in self.rows if row.first is not None and row.first <= position <= (row.last or 0)),
            None,
        )

    def called(self, person: str) -> str:
        """Return the name of a participant."""
        return self.names.get(person) or person


@dataclass(slots=True)
class _Spoken:
    """Speakers and turns of one session."""

    speakers: list[str] = field(default_factory=list)
    turns: int = 0
    places: list[int] = field(default_factory=list)


def overview(dialogue: Dialogue) -> Overview:
    """Return a script's sessions with their figures, in one query; raise ValueError for no script."""
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
    by_session: dict[str, _Spoken] = defaultdict(_Spoken)
    with connection.cursor() as cursor:
        cursor.execute(WHO_SPEAKS, {"dialogue": dialogue.pk, "own": SELF, "events": list(EVENTS)})
        for session, speaker, count, first, last, does in cursor.fetchall():
            totals = by_session[session]
            totals.turns += count
            totals.places += [first, last]
            if does:
                totals.speakers.append(speaker)
    return by_session


def _row(number: int, session: Session, spoken: _Spoken, main: str) -> Row:
    people = tuple(dict.fromkeys((*spoken.speakers, *session.present)))
    places = spoken.places
    return Row(
        number=number,
        session=session,
        people=people,
        speakers=len(spoken.speakers),
        heard=main in people,
        turns=spoken.turns,
        first=min(places) if places else None,
        last=max(places) if places else None,
    )


def records_of(
    dialogue: Dialogue, sessions: Sequence[str], kinds: Sequence[str] = (FACT, QUESTION)
) -> dict[str, dict[str, int]]:
    """Count the facts stated in each session, and the questions that each answers.

    Kinds that are not requested count as 0; counting questions reads all questions of the script.
    """
    counts: dict[str, dict[str, int]] = {key: {FACT: 0, QUESTION: 0} for key in sessions}
    parameters: dict[str, Any] = {
        "dialogue": dialogue.pk,
        "sessions": list(sessions),
        "fact": FACT,
        "question": QUESTION,
        "kinds": list(kinds),
    }
    with connection.cursor() as cursor:
        cursor.execute(RECORDS, parameters)
        for session, kind, count in cursor.fetchall():
            counts[session][kind] = count
    return counts


def counts_of(dialogue: Dialogue) -> dict[str, int]:
    """Return the number of current facts and questions of a script."""
    rows = Record.objects.filter(dialogue=dialogue, superseded_by=None)
    return {kind: rows.filter(kind=kind).count() for kind in (FACT, QUESTION)}


def facts_in(dialogue: Dialogue, session: str) -> QuerySet[Record]:
    """Return the facts stated in a session, in order of creation."""
    rows = Record.objects.filter(dialogue=dialogue, kind=FACT, superseded_by=None)
    return rows.filter(content__session=session).order_by("id")


def questions_on(dialogue: Dialogue, session: str) -> QuerySet[Record]:
    """Return the questions that a session answers, alone or together with others."""
    rows = Record.objects.filter(dialogue=dialogue, kind=QUESTION, superseded_by=None)
    return rows.filter(content__evidence__contains=[session]).order_by("id")


def own_turns(dialogue: Dialogue) -> QuerySet[Turn]:
    """Return a lazy query of a script's own turns, in order."""
    own = Turn.objects.filter(continuation__dialogue=dialogue, continuation__key=SELF)
    return own.order_by("position")


def turns_of(overview: Overview, row: Row) -> QuerySet[Turn]:
    """Return the own turns of a session in order."""
    if row.first is None:
        return Turn.objects.none()
    return own_turns(overview.dialogue).filter(position__range=(row.first, row.last))


def find_turns(
    overview: Overview,
    *,
    words: str = "",
    speaker: str = "",
    row: Row | None = None,
    continuation: str = SELF,
) -> QuerySet[Turn]:
    """Return the turns that contain `words`, by a speaker's name or id, in one session.

    '' and None match all. The turns are the script's own, or those of another continuation.
    """
    if continuation != SELF:
        part = Turn.objects.filter(continuation__dialogue=overview.dialogue, continuation__key=continuation)
        turns = part.filter(**({"extra__session": row.session.id} if row else {})).order_by("position")
    else:
        turns = own_turns(overview.dialogue) if row is None else turns_of(overview, row)
    if words:
        turns = turns.filter(text__icontains=words)
    if speaker:
        speaker_ids = [key for key, name in overview.names.items() if name.casefold() == speaker.casefold()]
        turns = turns.filter(Q(speaker__iexact=speaker) | Q(speaker__in=speaker_ids))
    return turns


# Changes to a script's sessions: dates, places and people present, each with a reason.
#
# The script stores the current state; `SessionVersion` keeps every version, with its author and reason. Since
# answerability depends on these data, question sets are marked: sets that no simulation used are to be
# rebuilt, others were made with the earlier data.

REASONS = {
    key: label for key, label in SessionVersion.Reason.choices if key != SessionVersion.Reason.IMPORTED
}
"""Reasons for a change to a session."""
NOTE_LIMIT = 2000
DATE_LIMIT = 20
STALE = "was changed after these uses were made"


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed session: its version, warnings, and the question sets that are marked."""

    version: SessionVersion
    warnings: tuple[str, ...]
    stale: tuple[QuestionSet, ...]


@transaction.atomic
def change_session(
    *,
    dialogue: Dialogue,
    session: str,
    kind: str,
    by: User | None,
    reason: str = "",
    date: str | None = None,
    place: str | None = None,
    present: Sequence[str] | None = None,
    seen: int | None = None,
) -> Changed:
    """Change the date, place or people present of a session (by its id); None leaves a field unchanged.

    `kind` is one of REASONS; `reason` explains it in words and is required for `other`. `present` are ids or
    names of participants who are present in addition to the speakers. `seen` is the version that the user
    saw, None to skip this check.

    Raises ScriptRefused, and changes nothing, for an invalid date, an unknown person, session or reason, if
    nothing would change, or if somebody else changed the session meanwhile.
    """
    row = Dialogue.objects.select_for_update().select_related("corpus").get(pk=dialogue.pk)
    script = script_record(row.script)
    if script is None:
        raise ScriptRefused(f"The dialogue {row.key!r} is no script.")
    place_of = next((n for n, candidate in enumerate(script.sessions) if candidate.id == session), None)
    if place_of is None:
        raise ScriptRefused(f"There is no session {session[:80]!r}.", field="session")
    _check_reason(kind, reason)
    before = script.sessions[place_of]
    after = _changed(row, before, date, place, present)
    version = _keep_versions(row, before, after, kind, reason.strip(), by, seen)
    sessions = (*script.sessions[:place_of], after, *script.sessions[place_of + 1 :])
    row.script = script_json(replace(script, sessions=sessions))
    row.save(update_fields=["script"])
    dialogue.script = row.script
    stale = _mark(row, before, after)
    detail = {"session": session, "from": session_json(before), "to": session_json(after), "reason": kind}
    subject = f"session {session} of {row.key} in {row.corpus.name}"[:300]
    Event.objects.create(by=by, verb="change session", subject=subject, detail=detail)
    return Changed(version, warnings_of(replace(script, sessions=sessions), session), stale)


def _check_reason(kind: str, reason: str) -> None:
    if kind not in REASONS:
        raise ScriptRefused(f"A reason is needed, one of {', '.join(REASONS)}.", field="kind")
    if len(reason) > NOTE_LIMIT or "\0" in reason:
        raise ScriptRefused(f"The reason has {NOTE_LIMIT} characters at most.", field="reason")
    if kind == SessionVersion.Reason.OTHER and not reason.strip():
        raise ScriptRefused("Describe the other reason.", field="reason")


def _changed(
    row: Dialogue, before: Session, date: str | None, place: str | None, present: Sequence[str] | None
) -> Session:
    """Return the changed session; raise ScriptRefused for invalid values, or if nothing would change."""
    after = before
    if date is not None:
        try:
            after = replace(after, date=Date.read(date))
        except ValueError as error:
            raise ScriptRefused(f"{str(error)[0].upper()}{str(error)[1:]}.", field="date") from None
    if place is not None:
        cleaned_place = " ".join(place.split())
        if len(cleaned_place) > NAME_LIMIT or not cleaned_place.isprintable():
            raise ScriptRefused(f"A place has {NAME_LIMIT} characters at most.", field="place")
        after = replace(after, place=cleaned_place)
    if present is not None:
        after = replace(after, present=_people(row, present))
    if after == before:
        raise ScriptRefused("Nothing would change: date, place and people are so already.", field="date")
    return after


def _people(row: Dialogue, present: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of participants, given by id or name, without duplicates, in the given order."""
    ids = {person["id"]: person["id"] for person in reversed(row.participants)}
    for person in reversed(row.participants):
        ids.setdefault((person.get("name") or person["id"]).casefold(), person["id"])
    person_ids = []
    for name in filter(None, (name.strip() for name in present)):
        person = ids.get(name) or ids.get(name.casefold())
        if person is None:
            raise ScriptRefused(f"Nobody of this dialogue is called {name[:80]!r}.", field="present")
        person_ids.append(person)
    return tuple(dict.fromkeys(person_ids))


def _keep_versions(
    row: Dialogue,
    before: Session,
    after: Session,
    kind: str,
    reason: str,
    by: User | None,
    seen: int | None,
) -> SessionVersion:
    """Save the current content as the next version, and the imported content as the first."""
    versions = SessionVersion.objects.filter(dialogue=row, session=before.id)
    last = versions.order_by("-version").first()
    if seen is not None and seen != (last.version if last else 1):
        raise ScriptRefused("Somebody else changed this session meanwhile: look at it again.", field="date")
    if last is None:
        imported = {"reason": SessionVersion.Reason.IMPORTED, "content": session_json(before)}
        last = SessionVersion.objects.create(dialogue=row, session=before.id, version=1, **imported)
    return SessionVersion.objects.create(
        dialogue=row,
        session=before.id,
        version=last.version + 1,
        content=session_json(after),
        reason=kind,
        note=reason,
        by=by,
    )


def _mark(row: Dialogue, before: Session, after: Session) -> tuple[QuestionSet, ...]:
    """Mark the question sets with uses in the script, unless only the place changed."""
    if replace(after, place=before.place) == before:
        return ()
    sets = list(
        row.corpus.question_sets.filter(
            Exists(Use.objects.filter(set=OuterRef("pk"), question__dialogue=row))
            | Exists(Record.objects.filter(set=OuterRef("pk"), dialogue=row))
        ).order_by("name", "version")
    )
    for question_set in sets:
        question_set.stale = _why(question_set, before, after)
        question_set.save(update_fields=["stale"])
    return tuple(sets)


def _why(question_set: QuestionSet, before: Session, after: Session) -> str:
    changes = [f"its date was {before.date}, and is {after.date}"] if before.date != after.date else []
    if before.present != after.present:
        changes.append("who is listed as present is another")
    sentence = f"Session {before.id} {STALE}: {' and '.join(changes)}."
    if question_set.used_at is not None:
        return f"{sentence} A simulation used them, so they stay as they are."
    if question_set.imported:
        return f"{sentence} Their keys came with a file, and stand."
    return f"{sentence} They are to be computed anew."


def warnings_of(script: Script, session: str = "") -> tuple[str, ...]:
    """Return warnings about dates that run backwards: next to a session, or anywhere for ''."""
    return tuple(
        f"Dates run backwards: {later.id} is of {later.date}, but {earlier.id} before it of {earlier.date}."
        for earlier, later in backwards(script.sessions)
        if not session or session in (earlier.id, later.id)
    )


def versions_of(dialogue: Dialogue, session: Session) -> list[dict[str, Any]]:
    """Return all versions of a session, newest first; none before its first change."""
    rows = SessionVersion.objects.filter(dialogue=dialogue, session=session.id).select_related("by")
    versions = [
        {
            "version": row.version,
            "content": row.content,
            "date": _date(row.content),
            "place": row.content.get("place", ""),
            "present": row.content.get("present", []),
            "kind": row.reason,
            "reason": row.note,
            "told": row.get_reason_display(),
            "at": row.at,
            "by": row.by.get_username() if row.by else "",
        }
        for row in rows.order_by("-version")
    ]
    return versions


def _date(content: dict[str, Any]) -> str:
    date = content["date"]
    return str(Date(date["year"], date.get("month"), date.get("day")))
