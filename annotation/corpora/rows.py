"""Conversion of records to table rows, and to lines of the native format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.records import EVENTS, HUMAN, Agenda, Continuation, Dialogue, Participant, Turn

# Conversion of records to table rows: the only place that knows both forms.


class TurnRow(NamedTuple):
    """A turn's columns in table order; `extra` is None for a plain turn."""

    speaker: str
    text: str
    given: bool
    at: int | None
    extra: dict[str, Any] | None


def turn_row(turn: Turn) -> TurnRow:
    """Return a turn's columns."""
    return TurnRow(turn.speaker, turn.text, turn.given, turn.at, _extra(turn))


def _extra(turn: Turn) -> dict[str, Any] | None:
    """Return a turn's fields beyond its columns, None for a plain turn."""
    if (
        not (turn.time or turn.session or turn.addressees or turn.extra or turn.audience is not None)
        and turn.act == "message"
    ):
        return None
    fields: dict[str, Any] = {
        "time": turn.time,
        "session": turn.session,
        "addressees": list(turn.addressees),
        "act": "" if turn.act == "message" else turn.act,
        "sees_history": turn.sees_history,
        "extra": dict(turn.extra),
    }
    extra = {key: value for key, value in fields.items() if value}
    if turn.audience is not None:
        extra["audience"] = list(turn.audience)
    return extra


def turn_record(
    speaker: str, text: str, given: bool, at: int | None, extra: Mapping[str, Any] | None
) -> Turn:
    """Return a turn's record from its columns."""
    if not extra:
        return Turn(speaker, text, given, at)
    audience = extra.get("audience")
    return Turn(
        speaker=speaker,
        text=text,
        given=given,
        at=at,
        time=str(extra.get("time", "")),
        session=str(extra.get("session", "")),
        addressees=tuple(extra.get("addressees", ())),
        audience=None if audience is None else tuple(audience),
        act=extra.get("act", "message"),
        sees_history=bool(extra.get("sees_history")),
        extra=extra.get("extra", {}),
    )


def participant_record(person: Mapping[str, Any]) -> Participant:
    """Return a participant's record from the column."""
    return Participant(
        id=person["id"],
        name=person.get("name") or "",
        role=person.get("role") or "",
        profile=tuple(person.get("profile") or ()),
        aliases=tuple(person.get("aliases") or ()),
        extra=person.get("extra") or {},
        agent=bool(person.get("agent")),
    )


def agenda_record(agenda: Mapping[str, Any] | None) -> Agenda | None:
    """Return an agenda's record from the column."""
    if not agenda:
        return None
    return Agenda(
        items={item["id"]: item["text"] for item in agenda.get("items", ())},
        edges=tuple((item, other) for item, other in agenda.get("edges", ())),
        start=agenda.get("start"),
        terminal=agenda.get("terminal"),
        success=tuple(agenda.get("success", ())),
    )


def participants_json(participants: tuple[Participant, ...]) -> list[dict[str, Any]]:
    """Return participants as stored in the `participants` column."""
    return [
        {
            "id": participant.id,
            "name": participant.name,
            "role": participant.role,
            "profile": list(participant.profile),
            "aliases": list(participant.aliases),
            **({"extra": dict(participant.extra)} if participant.extra else {}),
            **({"agent": True} if participant.agent else {}),
        }
        for participant in participants
    ]


def agenda_json(agenda: Agenda | None) -> dict[str, Any] | None:
    """Return an agenda as stored in the `agenda` column: as in the native format."""
    if agenda is None:
        return None
    return {
        "items": [{"id": key, "text": text} for key, text in agenda.items.items()],
        "edges": [list(edge) for edge in agenda.edges],
        "start": agenda.start,
        "terminal": agenda.terminal,
        "success": [dict(criterion) for criterion in agenda.success],
    }


# Dialogues and turns in the native format: an import reads them back as the same.


def head_json(dialogue: Dialogue) -> dict[str, Any]:
    """Return a dialogue's data beside its turns, without empty fields."""
    fields = {
        "id": dialogue.id,
        "cluster": dialogue.cluster,
        "language": dialogue.language,
        "summary": dialogue.summary,
        "system": "" if dialogue.system == HUMAN else dialogue.system,
        "metadata": dict(dialogue.metadata),
        "agenda": agenda_json(dialogue.agenda),
        "participants": [
            {name: value for name, value in person.items() if value}
            for person in participants_json(dialogue.participants)
        ],
    }
    return {name: value for name, value in fields.items() if value}


def continuation_json(continuation: Continuation) -> dict[str, Any]:
    """Return a continuation's data beside its turns."""
    payload: dict[str, Any] = {
        "id": continuation.id,
        "system": continuation.system,
        "mode": continuation.mode,
    }
    payload |= {"trial": continuation.trial} if continuation.trial else {}
    return payload | ({"condition": dict(continuation.condition)} if continuation.condition else {})


def turn_json(turn: Turn) -> dict[str, Any]:
    """Return a turn, without default values."""
    payload: dict[str, Any] = {"speaker": turn.speaker, "text": turn.text}
    if turn.at is not None:
        payload["at"] = turn.at
    if turn.act != "message":
        payload["act"] = turn.act
    if turn.given and turn.act not in EVENTS:
        payload["given"] = True
    if turn.audience is not None:
        payload["audience"] = list(turn.audience)
    more = {
        "addressees": list(turn.addressees),
        "time": turn.time,
        "session": turn.session,
        "sees_history": turn.sees_history,
        "extra": dict(turn.extra),
    }
    return payload | {name: value for name, value in more.items() if value}
