"""The sessions of a script: read by windows, and changed, each change with its reason."""

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

# A script read by windows: its sessions in numbers, the turns of one of them, and turns that are looked for.
#
# A script has some 25,000 turns and 800 sessions, so that nothing here reads all of its texts.

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
    """A session in numbers: `people` are the ids of those who speak in it or are listed, in that order.

    `first` and `last` are the positions of its own turns, None where it has none.
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
    """Return how many facts are said in each of some sessions, and how many questions each answers.

    Of kinds that are not asked for there are none; counting questions reads all of the script's.
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


def find_turns(
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
        speaker_ids = [key for key, name in overview.names.items() if name.casefold() == speaker.casefold()]
        turns = turns.filter(Q(speaker__iexact=speaker) | Q(speaker__in=speaker_ids))
    return turns


# Changing what is said of a script's sessions: dates, places, and who is there, each with its reason.
#
# The script holds what is said now; `SessionVersion` keeps all that was said, by whom and why. Which
# questions can be answered depends on it, so that question sets are marked: those that no simulation used
# are to be computed anew, the others were made with what was said before.

REASONS = {
    key: label for key, label in SessionVersion.Reason.choices if key != SessionVersion.Reason.IMPORTED
}
"""Why a session may be changed."""
NOTE_LIMIT = 2000
STALE = "was changed after these uses were made"


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed session: its version, what to beware of, and the question sets that are marked."""

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
    """Change the date, place or list of those present of a session (by its id); None leaves a thing as it is.

    `kind` is one of REASONS, `reason` says it in words and is needed for `other`. `present` are ids or names
    of participants who are there beside those who speak. `seen` is the version that whoever changes it has
    seen, None for any.

    Raises ScriptRefused, and changes nothing, for no date, nobody of that name, no such session or reason,
    where nothing would change, or where somebody else changed it meanwhile.
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
    """Return the session as it shall be; raise ScriptRefused where it cannot, or where it is so already."""
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
    """Return the ids of participants who are meant by ids or names, each once, in the order told."""
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
    """Keep what is said now as the next version, and what was imported as the first."""
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
    """Mark the question sets that ask about the script, where more than the place is another."""
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
    """Return where dates run backwards: next to a session, or anywhere."""
    return tuple(
        f"Dates run backwards: {later.id} is of {later.date}, but {earlier.id} before it of {earlier.date}."
        for earlier, later in backwards(script.sessions)
        if not session or session in (earlier.id, later.id)
    )


def versions_of(dialogue: Dialogue, session: Session) -> list[dict[str, Any]]:
    """Return all that was said of a session, the last first; before any change what was imported."""
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
