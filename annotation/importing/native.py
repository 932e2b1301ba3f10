"""Dialogues and turns as the native format writes them: what an import reads as the same."""

from __future__ import annotations

from typing import Any

from annotation.importing.rows import agenda_json, participants_json
from annotation.records import EVENTS, HUMAN, Continuation, Dialogue, Turn


def head_json(dialogue: Dialogue) -> dict[str, Any]:
    """Return what is known of a dialogue beside its turns; what is empty is left out."""
    known = {
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
    return {name: value for name, value in known.items() if value}


def continuation_json(continuation: Continuation) -> dict[str, Any]:
    """Return what is known of a continuation beside its turns."""
    told: dict[str, Any] = {"id": continuation.id, "system": continuation.system, "mode": continuation.mode}
    told |= {"trial": continuation.trial} if continuation.trial else {}
    return told | ({"condition": dict(continuation.condition)} if continuation.condition else {})


def turn_json(turn: Turn) -> dict[str, Any]:
    """Return a turn; what is usual is left out."""
    told: dict[str, Any] = {"speaker": turn.speaker, "text": turn.text}
    if turn.at is not None:
        told["at"] = turn.at
    if turn.act != "message":
        told["act"] = turn.act
    if turn.given and turn.act not in EVENTS:
        told["given"] = True
    if turn.audience is not None:
        told["audience"] = list(turn.audience)
    more = {
        "addressees": list(turn.addressees),
        "time": turn.time,
        "session": turn.session,
        "sees_history": turn.sees_history,
        "extra": dict(turn.extra),
    }
    return told | {name: value for name, value in more.items() if value}
