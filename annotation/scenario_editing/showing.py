"""A scenario turn by turn: who sees it, what is marked there, and what the oracle would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation import records
from annotation.formats.script_writing import flow
from annotation.records import Participant
from annotation.scenarios.agents import ORACLE, decide
from annotation.scenarios.points import key_at, points_of, positions_seen, probes_at, scenario_of
from annotation.scenarios.probes import oracle_problems
from annotation.scenarios.records import Decision, Probe
from annotation.scenarios.stored import key_json
from annotation.text.blinding import Blind
from annotation.text.happenings import Happening, Names, happening

AT_ONCE, LATER, NEVER = "yes", "later", "no"
"""Whether somebody sees a turn: when it happens, by joining later with sight of the history, or never."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn of a script. `seen` has AT_ONCE, LATER or NEVER for each participant, in their order.

    At a point there is a `key` (of the native format) with the probes that set it, empty for background, and
    `oracle`: what whoever plays the key does.
    """

    position: int
    happening: Happening
    colour: int
    seen: tuple[tuple[Participant, str], ...]
    triggers: tuple[Probe, ...]
    is_point: bool
    probes: tuple[Probe, ...]
    key: dict[str, Any] | None
    oracle: Decision | None
    problem: str

    @property
    def sight(self) -> str:
        """Who sees it, in words: at once, later or never."""
        told = []
        for words, kind in (("seen by", AT_ONCE), ("read later by", LATER), ("not by", NEVER)):
            names = [person.name or person.id for person, seen in self.seen if seen == kind]
            if kind == AT_ONCE and len(names) == len(self.seen):
                return "seen by all"
            if names:
                told.append(f"{words} {', '.join(names)}")
        return "; ".join(told)

    @property
    def key_text(self) -> str:
        """Its key as a script has it, '' where there is none."""
        return "" if self.key is None else flow(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Return it for a program to read."""
        found: dict[str, Any] = {
            "turn": self.position,
            "line": self.happening.line(),
            "seen_by": [person.id for person, seen in self.seen if seen == AT_ONCE],
            "seen_later_by": [person.id for person, seen in self.seen if seen == LATER],
            "triggers": [probe.id for probe in self.triggers],
            "is_point": self.is_point,
            "probes": [probe.id for probe in self.probes],
            "key": self.key,
            "problem": self.problem,
        }
        played = self.oracle
        found["oracle"] = None if played is None else {"act": played.act, "text": played.text}
        return found


def shown(dialogue: records.Dialogue) -> tuple[Shown, ...]:
    """Return the turns of a scenario in order; raise ValueError for what is no scenario."""
    scenario = scenario_of(dialogue)
    names = Names(dialogue.participants, Blind())
    points = set(points_of(dialogue))
    played = {decision.point: decision for decision in decide(ORACLE, dialogue)}
    problems = {problem.point: problem.reason for problem in oracle_problems(dialogue)}
    sight = {person: _sight(dialogue, person.id) for person in dialogue.participants}
    return tuple(
        Shown(
            position=at,
            happening=happening(turn, names, turn.text),
            colour=names.colour(turn.speaker),
            seen=tuple((person, sight[person][at]) for person in dialogue.participants),
            triggers=tuple(probe for probe in scenario.probes if probe.trigger == at),
            is_point=at in points,
            probes=probes_at(scenario, at),
            key=key_json(key_at(scenario, at)) if at in points else None,
            oracle=played.get(at),
            problem=problems.get(at, ""),
        )
        for at, turn in enumerate(dialogue.turns)
    )


def seen_until(dialogue: records.Dialogue, viewer: str, point: int) -> frozenset[int]:
    """Return the numbers of the turns that a participant has seen right after a turn."""
    return frozenset(positions_seen(dialogue, viewer, point + 1))


def _sight(dialogue: records.Dialogue, viewer: str) -> tuple[str, ...]:
    whole = frozenset(positions_seen(dialogue, viewer))
    return tuple(
        AT_ONCE if at in seen_until(dialogue, viewer, at) else LATER if at in whole else NEVER
        for at in range(len(dialogue.turns))
    )
