"""What a set of scenarios holds: counts by kind of probe, and what the oracle says of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.records import Dialogue
from annotation.scenarios.checking import OracleProblem, oracle_problems
from annotation.scenarios.points import key_at, points_of, probes_at, scenario_of
from annotation.scenarios.records import PROBES

AGREED = 2
"""Keys that so many people agreed on are more than their author's own (`group_chat.md`, section 9)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One scenario in numbers; `problems` are what the oracle gets wrong, empty where the keys hold."""

    dialogue: Dialogue
    people: int
    points: int
    probed: int
    free: int
    kinds: tuple[str, ...]
    agreed: bool
    problems: tuple[OracleProblem, ...]


@dataclass(frozen=True, slots=True)
class ProbeCount:
    """How often a kind of probe is planted: probes and controls, their points, in how many scenarios and
    families."""

    kind: str
    probes: int
    controls: int
    points: int
    control_points: int
    scenarios: int
    families: int

    @property
    def lacks_control(self) -> bool:
        """Whether probes of this kind stand without any control, so that always acting might win."""
        return self.probes > 0 and self.controls == 0


@dataclass(frozen=True, slots=True)
class Overview:
    """A set of scenarios in numbers. `agreed` scenarios have keys of two people or more."""

    scenarios: int
    families: int
    points: int
    probed: int
    free: int
    agreed: int
    wrong: int
    kinds: tuple[ProbeCount, ...]

    @property
    def without_control(self) -> tuple[str, ...]:
        """The kinds of probes that have no control in the set."""
        return tuple(count.kind for count in self.kinds if count.lacks_control)

    def as_dict(self) -> dict[str, Any]:
        """Return it for a program to read."""
        return asdict(self) | {"without_control": list(self.without_control)}


def summary(dialogue: Dialogue) -> Summary:
    """Return a scenario in numbers, with the oracle's check; raise ValueError for what is no scenario."""
    scenario = scenario_of(dialogue)
    points = points_of(dialogue)
    return Summary(
        dialogue=dialogue,
        people=sum(not person.agent for person in dialogue.participants),
        points=len(points),
        probed=sum(bool(probes_at(scenario, point)) for point in points),
        free=sum(key_at(scenario, point).free for point in points),
        kinds=tuple(kind for kind in PROBES if any(probe.kind == kind for probe in scenario.probes)),
        agreed=len(set(scenario.keyed_by)) >= AGREED,
        problems=oracle_problems(dialogue),
    )


def overview(summaries: Sequence[Summary]) -> Overview:
    """Return a set of scenarios in numbers, with a row for each kind of probe that it has."""
    counts = (_count(kind, summaries) for kind in PROBES)
    return Overview(
        scenarios=len(summaries),
        families=_families(summaries),
        points=sum(one.points for one in summaries),
        probed=sum(one.probed for one in summaries),
        free=sum(one.free for one in summaries),
        agreed=sum(one.agreed for one in summaries),
        wrong=sum(bool(one.problems) for one in summaries),
        kinds=tuple(count for count in counts if count.probes or count.controls),
    )


def _count(kind: str, summaries: Sequence[Summary]) -> ProbeCount:
    having = [one for one in summaries if kind in one.kinds]
    probes = [probe for one in having for probe in scenario_of(one.dialogue).probes if probe.kind == kind]
    return ProbeCount(
        kind=kind,
        probes=sum(not probe.control for probe in probes),
        controls=sum(probe.control for probe in probes),
        points=sum(len(probe.points) for probe in probes if not probe.control),
        control_points=sum(len(probe.points) for probe in probes if probe.control),
        scenarios=len(having),
        families=_families(having),
    )


def _families(summaries: Iterable[Summary]) -> int:
    return len({one.dialogue.cluster or one.dialogue.id for one in summaries})
