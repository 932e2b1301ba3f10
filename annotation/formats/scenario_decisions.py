"""The decisions that a file brings for a scenario, read strictly: what its agent could not do is refused."""

from __future__ import annotations

from typing import Any

from annotation.formats.fields import Fields
from annotation.formats.problems import ImportProblem
from annotation.records import Continuation, Dialogue, Turn
from annotation.scenarios.decisions import DECLARED
from annotation.scenarios.points import candidates, scenario_of
from annotation.scenarios.records import ACTS, MODE, MODES, MOVES

FIELDS = frozenset(["mode", "attend", "addressed", "targets", "ground", "flags"])


def check_decisions(record: Dialogue) -> None:
    """Refuse static turns of a scenario that are no decisions of its agent; raise ImportProblem.

    `group_chat.md`, section 1: each is a message, a reaction or silence of the agent at a point, one at most.
    """
    known = frozenset(person.id for person in record.participants)
    may_be = candidates(record)
    for index, continuation in enumerate(record.continuations):
        if continuation.mode != "static":
            continue
        path = f"continuations[{index}]"
        _check_mode(continuation, path)
        points: set[int] = set()
        for place, turn in enumerate(continuation.turns):
            where = f"{path}.turns[{place}]"
            _check_turn(turn, where, scenario_of(record).agent)
            point = (turn.at or 0) - 1
            if point not in may_be:
                told = f"is {turn.at}, but the agent decides after a message or join that it sees: turn + 1"
                raise ImportProblem(told, field=f"{where}.at")
            if point in points:
                raise ImportProblem(f"is {turn.at}: a second decision there", field=f"{where}.at")
            points.add(point)
            _check_declared(turn.extra.get(DECLARED), f"{where}.extra.{DECLARED}", known)


def _check_mode(continuation: Continuation, path: str) -> None:
    mode = continuation.condition.get(MODE)
    if mode is not None and mode not in MODES:
        raise ImportProblem(f"must be one of {', '.join(MODES)}", field=f"{path}.condition.{MODE}")


def _check_turn(turn: Turn, path: str, agent: str) -> None:
    if turn.speaker != agent:
        raise ImportProblem(f"must be {agent!r}: only the agent decides", field=f"{path}.speaker")
    if turn.act not in ACTS:
        raise ImportProblem(f"must be one of {', '.join(ACTS)}", field=f"{path}.act")
    if turn.act == "silence" and turn.text.strip():
        raise ImportProblem("must be empty where the act is silence", field=f"{path}.text")
    if turn.act == "message" and not turn.text.strip():
        raise ImportProblem("is empty: who says nothing has the act silence", field=f"{path}.text")


def _check_declared(raw: Any, path: str, known: frozenset[str]) -> None:
    if raw is None:
        return
    fields = Fields(raw, path, FIELDS)
    if fields.has("mode"):
        fields.choice("mode", MODES, "")
    if fields.has("ground"):
        fields.choice("ground", MOVES, "")
    if fields.has("attend"):
        fields.flag("attend")
    fields.texts("flags")
    for name in ("addressed", "targets"):
        for one in fields.texts(name):
            if one not in known:
                raise fields.problem(name, f"{one!r} is not the id of a participant")
