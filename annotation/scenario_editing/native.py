"""A scenario as the native format writes it: its script with its own fields, without what systems wrote."""

from __future__ import annotations

from typing import Any

from annotation.importing.rows import agenda_json, participants_json
from annotation.records import HUMAN, Dialogue, Turn
from annotation.scenarios.stored import native_scenario


def native(dialogue: Dialogue) -> dict[str, Any]:
    """Return a scenario as a line of the native format, which an import reads as the same scenario."""
    known = {
        "id": dialogue.id,
        "cluster": dialogue.cluster,
        "language": dialogue.language,
        "summary": dialogue.summary,
        "system": "" if dialogue.system == HUMAN else dialogue.system,
        "metadata": dict(dialogue.metadata),
        "agenda": agenda_json(dialogue.agenda),
        "participants": [
            {name: value for name, value in one.items() if value}
            for one in participants_json(dialogue.participants)
        ],
        "turns": [_turn(turn) for turn in dialogue.turns],
        **native_scenario(dialogue.scenario),
    }
    return {name: value for name, value in known.items() if value or name == "points"}


def _turn(turn: Turn) -> dict[str, Any]:
    told: dict[str, Any] = {"speaker": turn.speaker, "text": turn.text}
    if turn.act != "message":
        told["act"] = turn.act
    if turn.given and turn.act not in ("join", "leave"):
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
