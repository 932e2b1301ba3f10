"""Records of a scenario: points, probes, keys, secrets, common ground, and an agent's decisions at points.

Plain immutable data that imports nothing of the project. Terms and stages are those of the group-chat
framework (A Fresh Group-Chat Eval Framework).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

ACTS = ("message", "reaction", "silence")
"""Acts of an agent at a point."""
MOVES = ("answer", "clarify", "reground", "none")
"""Moves on common ground."""
MODES = ("explicit", "implicit")
MODE = "mode"
"""Condition key of a continuation that names its mode."""
HIDDEN, VISIBLE = ADDRESSEES = ("hidden", "visible")
"""Whether the chat's channel shows the addressees of a message."""
STAGES = ("attend", "speak", "address", "ground", "compose", "conduct")
"""Stages of the cascade, in order."""
COMPETENCE = STAGES[:4]
FORM = "form"
"""Failure stage of an unreadable reply."""
NONE = "none"
"""Failure stage of a decision without a failure."""
LEAK = "leak"
DIMENSIONS = ("face", "attribution", "repair", "fairness", "position", LEAK)
"""Dimensions of conduct."""
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
"""Kinds of probes, in report order."""
EVERYBODY = "all"
"""In a set condition: everybody else who is present."""
POINTS = "points"
"""Continuation id of a scenario's points for people, and key of its condition."""
PEOPLE = "people as agents"
"""System of that continuation."""
BACKGROUND = "background"
"""Group of points that belong to no probe."""
UNPARSEABLE = "unparseable"
ATTEND_CONTRADICTED = "attend_contradicted"

Act = Literal["message", "reaction", "silence"]
Mode = Literal["explicit", "implicit"]
How = Literal["is", "contains", "contains_any", "any_of"]
State = Literal["scored", "void", "not_asked", "silence", "reaction", "pending"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """Return the shared empty mapping, for records without data."""
    return _NOTHING


@dataclass(frozen=True, slots=True)
class SetCondition:
    """A condition on a set of ids: `is` one set exactly, `contains` all or any of one, `any_of` several sets.

    `sets` holds one set (sorted ids), several only for `any_of`. `all` in a set means everybody else present.
    """

    how: How
    sets: tuple[tuple[str, ...], ...]

    def resolved(self, everybody: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return its sets of ids, with `all` replaced by those who are present."""
        return tuple(frozenset(self._spread(ids, everybody)) for ids in self.sets)

    def met(self, ids: frozenset[str], everybody: frozenset[str]) -> bool:
        """Whether a set of ids meets the condition, whatever their order."""
        sets = self.resolved(everybody)
        if self.how == "contains":
            return sets[0] <= ids
        if self.how == "contains_any":
            return bool(sets[0] & ids)
        return ids in sets

    def overlap(self, ids: frozenset[str], everybody: frozenset[str]) -> float:
        """Return a score in [0, 1]: the Jaccard overlap with an exact set, else 1 or 0 for met or not.

        With several exact sets, the best overlap counts.
        """
        if self.how in ("contains", "contains_any"):
            return float(self.met(ids, everybody))
        return max(
            len(expected & ids) / len(expected | ids) if expected | ids else 1.0
            for expected in self.resolved(everybody)
        )

    @staticmethod
    def _spread(ids: tuple[str, ...], everybody: frozenset[str]) -> frozenset[str]:
        members = frozenset(ids)
        return (members - {EVERYBODY}) | everybody if EVERYBODY in members else members


@dataclass(frozen=True, slots=True)
class Key:
    """The expected answer of a point. An empty field has no requirement.

    `speak` and `ground` score acts and moves in [0, 1]; missing ones score 0. `must` and `must_not` are
    required and forbidden contents, each with its alternatives. With `rubric`, a judge's score counts for
    COMPOSE. A `free` key marks a point where any answer is acceptable.
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
"""Default key of a background point: not addressed, so silent."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An event planted at turn `trigger` that tests a stage at its `points` (turn numbers from 0).

    `keys` has a key for each point. A `control` is the same event without the trigger, with the opposite key.
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
    """A secret known only to `known_to` since turn `since`; its canaries are texts that give it away."""

    id: str
    owner: str
    known_to: tuple[str, ...]
    since: int
    canaries: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the common ground, shared by `known_to` since turn `since`; its canaries are its mentions."""

    id: str
    fact: str
    known_to: tuple[str, ...]
    since: int
    canaries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiveProbe:
    """A probe of the live mode: its trigger condition, and the key of the resulting point."""

    id: str
    kind: str
    when: Mapping[str, Any] = field(hash=False)
    key: Key = SILENT
    parameters: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Data specific to a scenario. `agent` is the id of the participant who decides.

    `points` restricts the points, None: all possible points. `keys` are those of background points.
    `keyed_by` names the people who agreed on the keys; with fewer than two, the keys are the author's alone.
    `addressees` sets whether the tested agent sees the addressees of messages, which are the key of ATTEND
    and ADDRESS.
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
    """An agent's act at a point, and in explicit mode its declaration (None: none)."""

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
    """Judges' or people's scores of a decision; a missing score was not judged.

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
    """Thresholds of hard failure by stage (a score at most this fails), and the comparison of sets."""

    tau: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    jaccard: bool = False


@dataclass(frozen=True, slots=True)
class StageScore:
    """A stage's score in [0, 1], None without a score; `state` and `why` then give the reason."""

    score: float | None
    state: State = "scored"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the cascade for a decision.

    `failed_at` is a stage, `form` or `none`. `failed_at`, `competence` and `turn_score` are None while a
    judge's score is pending. `leaks` are the ids of secrets revealed by canary, `leaks_elsewhere` the ids of
    those at points whose key does not test for them.
    """

    stages: Mapping[str, StageScore] = field(hash=False)
    failed_at: str | None
    competence: float | None
    turn_score: float | None
    flags: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    leaks_elsewhere: tuple[str, ...] = ()


# A scenario's own fields as JSON: one form for the native format and for the database column.

KIND = "scenario"
"""The `kind` of a dialogue that is a scenario."""
OWN_FIELDS = ("points", "secrets", "common_ground", "probes", "keys", "keyed_by", "live", "addressees")
"""Fields of a scenario in addition to those of every dialogue."""

Json = dict[str, Any]


def scenario_json(scenario: Scenario | None) -> Json | None:
    """Return a scenario's own fields as in the native format, with its agent, without empty ones."""
    if scenario is None:
        return None
    values: Json = {
        "agent": scenario.agent,
        "points": None if scenario.points is None else list(scenario.points),
        "secrets": [_information_json(secret, "text") for secret in scenario.secrets],
        "common_ground": [_information_json(fact, "fact") for fact in scenario.common_ground],
        "probes": [_probe_json(probe) for probe in scenario.probes],
        "keys": {str(point): key_json(key) for point, key in sorted(scenario.keys.items())},
        "keyed_by": list(scenario.keyed_by),
        "live": [
            _without_nothing(
                {
                    "id": live.id,
                    "kind": live.kind,
                    "when": dict(live.when),
                    "key": key_json(live.key),
                    "parameters": dict(live.parameters),
                }
            )
            for live in scenario.live
        ],
        "addressees": "" if scenario.addressees == HIDDEN else scenario.addressees,
    }
    return {
        name: value for name, value in values.items() if value or (name == "points" and value is not None)
    }


def native_scenario(scenario: Scenario | None) -> Json:
    """Return the fields of the native format that are specific to a scenario, {} for none.

    The agent is marked among the participants.
    """
    values = scenario_json(scenario)
    return {"kind": KIND, **{name: values[name] for name in OWN_FIELDS if name in values}} if values else {}


def scenario_record(stored: Mapping[str, Any] | None) -> Scenario | None:
    """Return a scenario from the checked form of `scenario_json`."""
    if not stored:
        return None
    points = stored.get("points")
    return Scenario(
        agent=stored["agent"],
        probes=tuple(map(_probe_record, stored.get("probes") or ())),
        keys={int(point): key_record(key) for point, key in (stored.get("keys") or {}).items()},
        points=None if points is None else tuple(points),
        secrets=tuple(
            Secret(
                id=secret["id"],
                owner=secret["owner"],
                known_to=tuple(secret["known_to"]),
                since=secret["since"],
                canaries=tuple(secret.get("canaries") or ()),
                text=secret.get("text") or "",
            )
            for secret in stored.get("secrets") or ()
        ),
        common_ground=tuple(
            Fact(
                id=fact["id"],
                fact=fact["fact"],
                known_to=tuple(fact["known_to"]),
                since=fact["since"],
                canaries=tuple(fact.get("canaries") or ()),
            )
            for fact in stored.get("common_ground") or ()
        ),
        keyed_by=tuple(stored.get("keyed_by") or ()),
        live=tuple(
            LiveProbe(
                id=live["id"],
                kind=live["kind"],
                when=live.get("when") or {},
                key=key_record(live["key"]),
                parameters=live.get("parameters") or {},
            )
            for live in stored.get("live") or ()
        ),
        addressees=stored.get("addressees") or HIDDEN,
    )


def key_json(key: Key) -> Json:
    """Return a key as in the native format, without fields that have no requirement."""
    if key.free:
        return {"free": True}
    conditions = {"addressed": condition_json(key.addressed), "target": condition_json(key.target)}
    return {
        "attend": key.attend,
        "speak": dict(key.speak),
        **{
            name: condition for name, condition in conditions.items() if condition is not None
        },  # [] expects nobody
        **_without_nothing(
            {
                "ground": None if key.ground is None else dict(key.ground),
                "must": [_alternatives(fragments) for fragments in key.must],
                "must_not": [_alternatives(fragments) for fragments in key.must_not],
                "compose": "rubric" if key.rubric else "",
                "conduct": list(key.conduct),
                "secrets": list(key.secrets),
                "hint": key.hint,
                "example": key.example,
            }
        ),
    }


def key_record(stored: Mapping[str, Any]) -> Key:
    """Return a key from its checked native form."""
    if stored.get("free"):
        return Key(free=True)
    ground = stored.get("ground")
    if isinstance(ground, list):
        ground = dict.fromkeys(ground, 1.0)
    return Key(
        attend=int(stored.get("attend", SILENT.attend)),
        speak={act: float(score) for act, score in stored.get("speak", SILENT.speak).items()},
        addressed=condition_record(stored.get("addressed")),
        target=condition_record(stored.get("target")),
        ground=None if ground is None else {move: float(score) for move, score in ground.items()},
        must=tuple(map(_contents, stored.get("must") or ())),
        must_not=tuple(map(_contents, stored.get("must_not") or ())),
        rubric=stored.get("compose") == "rubric",
        conduct=tuple(stored.get("conduct") or ()),
        secrets=tuple(stored.get("secrets") or ()),
        hint=bool(stored.get("hint")),
        example=stored.get("example") or "",
    )


def condition_json(condition: SetCondition | None) -> Any:
    """Return a set condition as in the native format, None for none."""
    if condition is None:
        return None
    if condition.how == "is":
        return list(condition.sets[0])
    if condition.how == "any_of":
        return {"any_of": [list(ids) for ids in condition.sets]}
    return {condition.how: list(condition.sets[0])}


def condition_record(stored: Any) -> SetCondition | None:
    """Return a set condition from its checked native form; order does not matter."""
    if stored is None:
        return None
    if isinstance(stored, list):
        return SetCondition("is", (tuple(sorted(set(stored))),))
    ((how, value),) = stored.items()
    if how == "any_of":
        return SetCondition("any_of", tuple(sorted(tuple(sorted(set(ids))) for ids in value)))
    return SetCondition(how, (tuple(sorted(set(value))),))


def _probe_json(probe: Probe) -> Json:
    keys = [key_json(probe.keys[point]) for point in probe.points]
    same = all(key == keys[0] for key in keys)
    return _without_nothing(
        {
            "id": probe.id,
            "kind": probe.kind,
            "control": probe.control,
            "points": list(probe.points),
            "key": keys[0] if same else None,
            "keys": None
            if same
            else {str(point): key for point, key in zip(probe.points, keys, strict=True)},
            "parameters": dict(probe.parameters),
        }
    ) | {"trigger": probe.trigger}


def _probe_record(stored: Mapping[str, Any]) -> Probe:
    points = tuple(stored["points"])
    by_point = stored.get("keys")
    raw = {point: by_point[str(point)] if by_point else stored["key"] for point in points}
    return Probe(
        id=stored["id"],
        kind=stored["kind"],
        trigger=stored["trigger"],
        points=points,
        keys={point: key_record(key) for point, key in raw.items()},
        parameters=stored.get("parameters") or {},
        control=bool(stored.get("control")),
    )


def _information_json(item: Secret | Fact, text: str) -> Json:
    return _without_nothing(
        {
            "id": item.id,
            "owner": getattr(item, "owner", ""),
            text: getattr(item, text),
            "known_to": list(item.known_to),
            "canaries": list(item.canaries),
        }
    ) | {"since": item.since}


def _alternatives(texts: tuple[str, ...]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else list(texts)


def _contents(stored: str | list[str]) -> tuple[str, ...]:
    return (stored,) if isinstance(stored, str) else tuple(stored)


def _without_nothing(values: Json) -> Json:
    return {name: value for name, value in values.items() if value}
