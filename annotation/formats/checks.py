"""What must hold between the parts of a dialogue, whatever format it came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from annotation.formats.problems import ImportProblem
from annotation.records import Dialogue, Turn

Said = tuple[str, str]
"""Who said what."""
SHOWN = 60
"""So many characters of a turn are told."""


def check_speakers(dialogue: Dialogue) -> None:
    """Refuse a speaker, addressee or listener who is not one of the declared participants."""
    known = {participant.id for participant in dialogue.participants}
    if not known:
        return
    _check_turns(dialogue.turns, "turns", known)
    for index, continuation in enumerate(dialogue.continuations):
        _check_turns(continuation.turns, f"continuations[{index}].turns", known)


def _check_turns(turns: Iterable[Turn], path: str, known: set[str]) -> None:
    for index, turn in enumerate(turns):
        if turn.speaker not in known:
            raise _stranger(turn.speaker, f"{path}[{index}].speaker", known)
        for role in ("addressees", "audience"):
            for name in getattr(turn, role) or ():
                if name not in known:
                    raise _stranger(name, f"{path}[{index}].{role}", known)


def _stranger(name: str, path: str, known: set[str]) -> ImportProblem:
    listed = ", ".join(sorted(known)[:12])
    return ImportProblem(f"{name!r} is not the id of a participant (those are {listed})", field=path)


def refuse_other_turns(
    ours: Sequence[Said], theirs: Sequence[Said], whose: str, *, field: str = "turns"
) -> None:
    """Refuse turns, as (speaker, text), that are not those `whose` ones they should be, telling both."""
    for index, (mine, other) in enumerate(zip_longest(ours, theirs)):
        if mine != other:
            reason = f"turn {index} is {_quoted(mine)}, but that {whose} is {_quoted(other)}"
            raise ImportProblem(reason, field=f"{field}[{index}]")


def _quoted(turn: Said | None) -> str:
    if turn is None:
        return "not there"
    speaker, text = turn
    short = text if len(text) <= SHOWN else text[:SHOWN] + "..."
    return f"{speaker[:SHOWN]!r} saying {short!r}"


def check_static(dialogue: Dialogue, history: int) -> None:
    """Refuse a static turn without a point in a history of so many turns, and a rollout turn with one."""
    for index, continuation in enumerate(dialogue.continuations):
        for position, turn in enumerate(continuation.turns):
            path = f"continuations[{index}].turns[{position}].at"
            if continuation.mode == "rollout" and turn.at is not None:
                raise ImportProblem("only turns of a static continuation have a point `at`", field=path)
            if continuation.mode == "static" and turn.at is None:
                raise ImportProblem(
                    "is missing: how many turns of the history does this turn see?", field=path
                )
            if turn.at is not None and turn.at > history:
                raise ImportProblem(f"is {turn.at}, but the history has {history} turns", field=path)
