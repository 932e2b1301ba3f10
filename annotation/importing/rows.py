"""Records as rows of the tables: the one place where both sides' shapes meet."""

from __future__ import annotations

from typing import Any

from annotation.records import Agenda, Participant, Turn

TurnRow = tuple[str, str, bool, int | None, dict[str, Any] | None]
"""(speaker, text, given, at, extra)."""


def turn_row(turn: Turn) -> TurnRow:
    """Return a turn's columns."""
    return turn.speaker, turn.text, turn.given, turn.at, _extra(turn)


def _extra(turn: Turn) -> dict[str, Any] | None:
    """Return what is known of a turn beyond its columns, None for a plain one."""
    if (
        not (turn.time or turn.session or turn.addressees or turn.audience is not None)
        and turn.act == "message"
    ):
        return None
    known: dict[str, Any] = {
        "time": turn.time,
        "session": turn.session,
        "addressees": list(turn.addressees),
        "act": "" if turn.act == "message" else turn.act,
    }
    extra = {key: value for key, value in known.items() if value}
    if turn.audience is not None:
        extra["audience"] = list(turn.audience)
    return extra


def participants_json(participants: tuple[Participant, ...]) -> list[dict[str, Any]]:
    """Return participants as the `participants` column holds them."""
    return [
        {
            "id": participant.id,
            "name": participant.name,
            "role": participant.role,
            "profile": list(participant.profile),
            "aliases": list(participant.aliases),
        }
        for participant in participants
    ]


def agenda_json(agenda: Agenda | None) -> dict[str, Any] | None:
    """Return an agenda as the `agenda` column holds it: as in the native format."""
    if agenda is None:
        return None
    return {
        "items": [{"id": key, "text": text} for key, text in agenda.items.items()],
        "edges": [list(edge) for edge in agenda.edges],
        "start": agenda.start,
        "terminal": agenda.terminal,
        "success": [dict(criterion) for criterion in agenda.success],
    }
