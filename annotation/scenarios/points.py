"""Where an agent decides, what it sees there, and which key is its."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from annotation.records import SELF, Continuation, Dialogue, Turn
from annotation.scenarios.records import SILENT, VISIBLE, Key, Probe, Scenario
from annotation.text.views import visible

POINTED = ("message", "join")
"""The acts after which an agent decides."""


def scenario_of(dialogue: Dialogue) -> Scenario:
    """Return a dialogue's scenario; raise ValueError where it is none."""
    if dialogue.scenario is None:
        raise ValueError(f"The dialogue {dialogue.id!r} is no scenario.")
    return dialogue.scenario


def positions_seen(dialogue: Dialogue, viewer: str, until: int | None = None) -> tuple[int, ...]:
    """Return the positions of the script's turns before `until` (None: all) that a viewer may see."""
    whole = Continuation(SELF, dialogue.system, dialogue.turns)
    end = len(dialogue.turns) if until is None else until
    seen = {id(turn) for turn in visible(dialogue, whole, end, viewer)}
    return tuple(place for place, turn in enumerate(dialogue.turns[:end]) if id(turn) in seen)


def seen_by(dialogue: Dialogue, point: int, viewer: str) -> tuple[Turn, ...]:
    """Return the turns that a viewer has seen at a point: those up to and including the turn that made it."""
    return tuple(dialogue.turns[place] for place in positions_seen(dialogue, viewer, point + 1))


def as_delivered(scenario: Scenario, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return turns as the chat's channel shows them to whoever stands in the agent's place.

    To whom others address a message is the key of ATTEND and ADDRESS, so it is hidden unless the scenario
    says that its channel shows it. A reaction stands at the message that it reacts to in any channel.
    """

    def is_shown(turn: Turn) -> bool:
        return scenario.addressees == VISIBLE or turn.act == "reaction" or turn.speaker == scenario.agent

    return tuple(turn if is_shown(turn) else replace(turn, addressees=()) for turn in turns)


def candidates(dialogue: Dialogue) -> tuple[int, ...]:
    """Return where there may be points: messages and joins that the agent sees and did not write."""
    agent = scenario_of(dialogue).agent
    return tuple(
        place
        for place, turn in enumerate(dialogue.turns)
        if turn.act in POINTED
        and turn.speaker != agent
        and place in positions_seen(dialogue, agent, place + 1)
    )


def points_of(dialogue: Dialogue) -> tuple[int, ...]:
    """Return the points of a scenario, in order: turn numbers from 0."""
    scenario, found = scenario_of(dialogue), candidates(dialogue)
    return found if scenario.points is None else tuple(sorted(set(scenario.points) & set(found)))


def probes_at(scenario: Scenario, point: int) -> tuple[Probe, ...]:
    """Return the probes that a point belongs to; none: it is background."""
    return tuple(probe for probe in scenario.probes if point in probe.points)


def key_at(scenario: Scenario, point: int) -> Key:
    """Return the key of a point: its probe's, else the scenario's own, else attend 0 and silence."""
    for probe in probes_at(scenario, point):
        return probe.keys[point]
    return scenario.keys.get(point, SILENT)
