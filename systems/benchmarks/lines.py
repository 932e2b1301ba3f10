"""Dialogues in the native format, one a line: the same dialogues are always the same bytes."""

from __future__ import annotations

import json
from typing import Any

from annotation.records import Continuation, Dialogue, Participant, Turn


def line(dialogue: Dialogue) -> str:
    """Return a dialogue with its continuations as one line of JSON, keys sorted, without the line's end."""
    told: dict[str, Any] = {
        "id": dialogue.id,
        "cluster": dialogue.cluster,
        "language": dialogue.language,
        "summary": dialogue.summary,
        "metadata": dict(dialogue.metadata),
        "participants": [_person(one) for one in dialogue.participants],
        "turns": [_turn(one) for one in dialogue.turns],
        "continuations": [_continuation(one) for one in dialogue.continuations],
    }
    return json.dumps(_without_nothing(told), ensure_ascii=False, sort_keys=True)


def _person(person: Participant) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": person.id,
            "name": person.name,
            "role": person.role,
            "profile": list(person.profile),
            "aliases": list(person.aliases),
            "extra": dict(person.extra),
        }
    )


def _turn(turn: Turn) -> dict[str, Any]:
    told = _without_nothing(
        {
            "given": turn.given,
            "at": turn.at,
            "time": turn.time,
            "session": turn.session,
            "addressees": list(turn.addressees),
            "act": "" if turn.act == "message" else turn.act,
            "sees_history": turn.sees_history,
            "extra": dict(turn.extra),
        }
    )
    audience = {} if turn.audience is None else {"audience": list(turn.audience)}
    return {"speaker": turn.speaker, "text": turn.text, **told, **audience}


def _continuation(one: Continuation) -> dict[str, Any]:
    told = _without_nothing({"trial": one.trial, "condition": dict(one.condition)})
    return {
        "id": one.id,
        "system": one.system,
        "mode": one.mode,
        "turns": [_turn(turn) for turn in one.turns],
        **told,
    }


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}
