"""What a scenario is: points, probes, keys, secrets, common ground, and what an agent decided at a point.

Plain immutable data that imports nothing of the project (`group_chat.md`, sections 1 to 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

ACTS = ("message", "reaction", "silence")
"""What an agent may do at a point."""
MOVES = ("answer", "clarify", "reground", "none")
"""The moves on common ground."""
MODES = ("explicit", "implicit")
MODE = "mode"
"""The key of a continuation's condition that names its mode."""
HIDDEN, VISIBLE = ADDRESSEES = ("hidden", "visible")
"""Whether the chat's channel shows to whom a message is addressed."""
STAGES = ("attend", "speak", "address", "ground", "compose", "conduct")
"""The stages of the cascade, in their order."""
COMPETENCE = STAGES[:4]
FORM = "form"
"""Where a reply failed that could not be read."""
NONE = "none"
"""Where a decision failed that failed nowhere."""
LEAK = "leak"
DIMENSIONS = ("face", "attribution", "repair", "fairness", "position", LEAK)
"""The dimensions of conduct."""
PROBES = (
    "overheard",
    "buried_mention",
    "ambiguous_referent",
    "newcomer",
    "secret",
    "human_error",
    "own_error",
    "status_pressure",
    "quiet_participant",
)
"""The kinds of probes, in the order of reports."""
EVERYBODY = "all"
"""In a set condition: everybody else who is present."""
POINTS = "points"
"""The id of the continuation whose turns are a scenario's points for people, and the key of its condition."""
PEOPLE = "people as agents"
"""The system of that continuation."""
BACKGROUND = "background"
"""What a point belongs to that belongs to no probe."""
UNPARSEABLE = "unparseable"
ATTEND_CONTRADICTED = "attend_contradicted"

Act = Literal["message", "reaction", "silence"]
Mode = Literal["explicit", "implicit"]
How = Literal["is", "contains", "contains_any", "any_of"]
State = Literal["scored", "void", "not_asked", "silence", "reaction", "pending"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """Return one empty mapping for all records that have nothing."""
    return _NOTHING


@dataclass(frozen=True, slots=True)
class SetCondition:
    """A condition on a set of ids: `is` one set exactly, `contains` all or any of one, `any_of` several sets.

    `sets` holds one set (sorted ids) but for `any_of`. `all` in a set stands for everybody else present.
    """

    how: How
    sets: tuple[tuple[str, ...], ...]

    def resolved(self, everybody: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return its sets of ids, `all` replaced by those who are present."""
        return tuple(frozenset(self._spread(one, everybody)) for one in self.sets)

    def met(self, ids: frozenset[str], everybody: frozenset[str]) -> bool:
        """Whether a set of ids meets the condition, whatever their order."""
        sets = self.resolved(everybody)
        if self.how == "contains":
            return sets[0] <= ids
        if self.how == "contains_any":
            return bool(sets[0] & ids)
        return ids in sets

    def overlap(self, ids: frozenset[str], everybody: frozenset[str]) -> float:
        """Return a number in [0, 1]: the overlap (Jaccard) with an exact set, else 1 or 0 for met or not.

        Of several exact sets the best overlap counts.
        """
        if self.how in ("contains", "contains_any"):
            return float(self.met(ids, everybody))
        return max(len(one & ids) / len(one | ids) if one | ids else 1.0 for one in self.resolved(everybody))

    @staticmethod
    def _spread(one: tuple[str, ...], everybody: frozenset[str]) -> frozenset[str]:
        named = frozenset(one)
        return (named - {EVERYBODY}) | everybody if EVERYBODY in named else named


@dataclass(frozen=True, slots=True)
class Key:
    """The expected answer of a point. A field that says nothing asks nothing.

    `speak` and `ground` score acts and moves in [0, 1]; those not named score 0. `must` and `must_not` hold
    contents, each with its alternatives. `rubric` says that a judge's score counts for COMPOSE. A `free`
    key marks a point where anything goes.
    """

    attend: int = 0
    speak: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({"silence": 1.0}), hash=False)
    addressed: SetCondition | None = None
    target: SetCondition | None = None
    ground: Mapping[str, float] | None = field(default=None, hash=False)
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[tuple[str, ...], ...] = ()
    rubric: bool = False
    conduct: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    hint: bool = False
    example: str = ""
    free: bool = False


SILENT = Key()
"""The default key of a background point: not meant, so silent."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An event planted at turn `trigger` that tests a stage at its `points` (turn numbers from 0).

    `keys` has a key for each of its points. A `control` is the same without the trigger, with the
    opposite key.
    """

    id: str
    kind: str
    trigger: int
    points: tuple[int, ...]
    keys: Mapping[int, Key] = field(hash=False)
    parameters: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    control: bool = False


@dataclass(frozen=True, slots=True)
class Secret:
    """What only those of `known_to` know since turn `since`; its canaries are texts that give it away."""

    id: str
    owner: str
    known_to: tuple[str, ...]
    since: int
    canaries: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the common ground: who shares it since which turn, and the texts that mention it."""

    id: str
    fact: str
    known_to: tuple[str, ...]
    since: int
    canaries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveProbe:
    """A probe of the live mode: what must hold for it to fire, and the key of the point that it makes."""

    id: str
    kind: str
    when: Mapping[str, Any] = field(hash=False)
    key: Key = SILENT
    parameters: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What makes a dialogue a scenario. `agent` is the id of the participant who decides.

    `points` restricts the points, None: all that there may be. `keys` are those of background points.
    `keyed_by` names who agreed the keys; fewer than two: they are the author's alone. `addressees` says
    whether whoever is tested sees to whom messages are addressed, which is the key of ATTEND and ADDRESS.
    """

    agent: str
    probes: tuple[Probe, ...] = ()
    keys: Mapping[int, Key] = field(default_factory=dict, hash=False)
    points: tuple[int, ...] | None = None
    secrets: tuple[Secret, ...] = ()
    common_ground: tuple[Fact, ...] = ()
    keyed_by: tuple[str, ...] = ()
    live: tuple[LiveProbe, ...] = ()
    addressees: str = HIDDEN


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent did at a point, and in explicit mode what it declared (None: it declared nothing)."""

    point: int
    act: Act
    text: str = ""
    mode: Mode = "explicit"
    attend: bool | None = None
    addressed: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    ground: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What judges or people said of a decision; what is absent was not judged.

    `conduct` has a dimension's score from 1 to 5, None where it does not apply. `leak` is 0 or 1, `compose`
    from 1 to 5, `move` one of `MOVES`, `presupposes` the ids of facts that a message presupposes.
    """

    conduct: Mapping[str, float | None] = field(default_factory=_nothing, hash=False)
    leak: float | None = None
    compose: float | None = None
    move: str | None = None
    presupposes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class CascadeSettings:
    """The thresholds of hard failure by stage (a score at most this fails), and how sets are compared."""

    tau: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    jaccard: bool = False


@dataclass(frozen=True, slots=True)
class StageScore:
    """A stage's score in [0, 1], None where it has none; `state` and `why` then say why not."""

    score: float | None
    state: State = "scored"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the cascade makes of a decision.

    `failed_at` is a stage, `form` or `none`; it, `competence` and `turn_score` are None while a judge is
    waited for. `leaks` are the ids of secrets that came out by canary, `leaks_elsewhere` where the key did
    not ask.
    """

    stages: Mapping[str, StageScore] = field(hash=False)
    failed_at: str | None
    competence: float | None
    turn_score: float | None
    flags: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    leaks_elsewhere: tuple[str, ...] = ()
