"""Who is there at a point, who hears what is said there, and how much the agent has talked."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from annotation.records import Dialogue, Turn
from annotation.scenarios.points import scenario_of
from annotation.scenarios.records import Decision

WINDOW = 10
"""So many messages make the share of talk where a probe does not say `window` (Concord's choice)."""


def present_at(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return the ids of those who are there right after a turn of the script, the agent among them.

    Who joins is absent until then, who left is absent until joining again; all others are there throughout.
    """
    there = {person.id for person in dialogue.participants}
    comings = [(place, turn) for place, turn in enumerate(dialogue.turns) if turn.act in ("join", "leave")]
    first: dict[str, str] = {}
    for _, turn in comings:
        first.setdefault(turn.speaker, turn.act)
    there -= {speaker for speaker, act in first.items() if act == "join"}
    for place, turn in comings:
        if place > point:
            break
        if turn.act == "join":
            there.add(turn.speaker)
        else:
            there.discard(turn.speaker)
    return frozenset(there)


def listeners_at(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return who sees a decision at a point, the agent left out: those who saw the turn that it answers."""
    turn = dialogue.turns[point]
    there = present_at(dialogue, point)
    heard = there if turn.audience is None else there & {turn.speaker, *turn.audience}
    return heard - {scenario_of(dialogue).agent}


def others_at(dialogue: Dialogue, point: int, without: str) -> frozenset[str]:
    """Return everybody else who takes part at a point: the agent and its listeners but for one id."""
    return (listeners_at(dialogue, point) | {scenario_of(dialogue).agent}) - {without}


def share_of_talk(
    dialogue: Dialogue,
    decision: Decision,
    earlier: Mapping[int, Decision],
    *,
    window: int = WINDOW,
    in_words: bool = False,
) -> Fraction | None:
    """Return the agent's share, in [0, 1], of the last `window` messages with its decision as the last.

    Its scripted turns and its earlier decisions, by point, count at their places; `in_words` weighs messages
    by their words. None where nobody said anything.
    """
    agent = scenario_of(dialogue).agent
    said: list[tuple[bool, str]] = []
    for place, turn in enumerate(dialogue.turns[: decision.point + 1]):
        if turn.act == "message":
            said.append((turn.speaker == agent, turn.text))
        own = decision if place == decision.point else earlier.get(place)
        if own is not None and own.act == "message":
            said.append((True, own.text))
    last = said[-window:]
    weights = [(own, len(text.split()) if in_words else 1) for own, text in last]
    total = sum(weight for _, weight in weights)
    return Fraction(sum(weight for own, weight in weights if own), total) if total else None


def newcomers(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return who has joined up to a point without being shown what came before."""
    joined: dict[str, Turn] = {
        turn.speaker: turn for turn in dialogue.turns[: point + 1] if turn.act == "join"
    }
    return frozenset(speaker for speaker, turn in joined.items() if not turn.sees_history)
