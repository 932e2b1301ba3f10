"""Changing what is said of a script's sessions: dates, places, and who is there, each with its reason.

The script holds what is said now; `SessionVersion` keeps all that was said, by whom and why. Which questions
can be answered depends on it, so that question sets are marked: those that no simulation used are to be
computed anew, the others were made with what was said before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.errors import ScriptRefused
from annotation.formats.fields import NAME_LIMIT
from annotation.models import Dialogue, QuestionSet, Record, SessionVersion, Use
from annotation.scripts.records import Date, Script, Session
from annotation.scripts.sessions import backwards
from annotation.scripts.stored import script_json, script_record, session_json
from config.models import Event

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
    place_of = next((n for n, one in enumerate(script.sessions) if one.id == session), None)
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
        raise ScriptRefused("Another reason has to be told in words.", field="reason")


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
        told = " ".join(place.split())
        if len(told) > NAME_LIMIT or not told.isprintable():
            raise ScriptRefused(f"A place has {NAME_LIMIT} characters at most.", field="place")
        after = replace(after, place=told)
    if present is not None:
        after = replace(after, present=_people(row, present))
    if after == before:
        raise ScriptRefused("Nothing would change: date, place and people are so already.", field="date")
    return after


def _people(row: Dialogue, present: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of participants who are meant by ids or names, each once, in the order told."""
    known = {person["id"]: person["id"] for person in reversed(row.participants)}
    for person in reversed(row.participants):
        known.setdefault((person.get("name") or person["id"]).casefold(), person["id"])
    meant = []
    for name in filter(None, (name.strip() for name in present)):
        person = known.get(name) or known.get(name.casefold())
        if person is None:
            raise ScriptRefused(f"Nobody of this dialogue is called {name[:80]!r}.", field="present")
        meant.append(person)
    return tuple(dict.fromkeys(meant))


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
        told = {"reason": SessionVersion.Reason.IMPORTED, "content": session_json(before)}
        last = SessionVersion.objects.create(dialogue=row, session=before.id, version=1, **told)
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
    for one in sets:
        one.stale = _why(one, before, after)
        one.save(update_fields=["stale"])
    return tuple(sets)


def _why(one: QuestionSet, before: Session, after: Session) -> str:
    what = [f"its date was {before.date}, and is {after.date}"] if before.date != after.date else []
    if before.present != after.present:
        what.append("who is listed as present is another")
    told = f"Session {before.id} {STALE}: {' and '.join(what)}."
    if one.used_at is not None:
        return f"{told} A simulation used them, so they stay as they are."
    if one.imported:
        return f"{told} Their keys came with a file, and stand."
    return f"{told} They are to be computed anew."


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
    told = [
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
    return told


def _date(content: dict[str, Any]) -> str:
    date = content["date"]
    return str(Date(date["year"], date.get("month"), date.get("day")))
