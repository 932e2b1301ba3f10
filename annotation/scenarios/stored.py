"""A scenario's own fields as JSON: one form for the native format and for the column of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.scenarios.records import (
    HIDDEN,
    SILENT,
    Fact,
    Key,
    LiveProbe,
    Probe,
    Scenario,
    Secret,
    SetCondition,
)

KIND = "scenario"
"""The `kind` of a dialogue that is a scenario."""
OWN_FIELDS = ("points", "secrets", "common_ground", "probes", "keys", "keyed_by", "live", "addressees")
"""What a scenario says beside what every dialogue does."""

Json = dict[str, Any]


def scenario_json(scenario: Scenario | None) -> Json | None:
    """Return a scenario as the native format writes its own fields, with its agent; empty ones left out."""
    if scenario is None:
        return None
    found: Json = {
        "agent": scenario.agent,
        "points": None if scenario.points is None else list(scenario.points),
        "secrets": [_known(one, "text") for one in scenario.secrets],
        "common_ground": [_known(one, "fact") for one in scenario.common_ground],
        "probes": [_probe_json(probe) for probe in scenario.probes],
        "keys": {str(point): key_json(key) for point, key in sorted(scenario.keys.items())},
        "keyed_by": list(scenario.keyed_by),
        "live": [
            _without_nothing(
                {
                    "id": one.id,
                    "kind": one.kind,
                    "when": dict(one.when),
                    "key": key_json(one.key),
                    "parameters": dict(one.parameters),
                }
            )
            for one in scenario.live
        ],
        "addressees": "" if scenario.addressees == HIDDEN else scenario.addressees,
    }
    return {name: value for name, value in found.items() if value or (name == "points" and value is not None)}


def native_scenario(scenario: Scenario | None) -> Json:
    """Return the fields of the native format that make a dialogue a scenario, {} for none.

    Who is the agent stands at the participants.
    """
    told = scenario_json(scenario)
    return {"kind": KIND, **{name: told[name] for name in OWN_FIELDS if name in told}} if told else {}


def scenario_record(stored: Mapping[str, Any] | None) -> Scenario | None:
    """Return a scenario from the form of `scenario_json`, which has been checked before."""
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
                id=one["id"],
                owner=one["owner"],
                known_to=tuple(one["known_to"]),
                since=one["since"],
                canaries=tuple(one.get("canaries") or ()),
                text=one.get("text") or "",
            )
            for one in stored.get("secrets") or ()
        ),
        common_ground=tuple(
            Fact(
                id=one["id"],
                fact=one["fact"],
                known_to=tuple(one["known_to"]),
                since=one["since"],
                canaries=tuple(one.get("canaries") or ()),
            )
            for one in stored.get("common_ground") or ()
        ),
        keyed_by=tuple(stored.get("keyed_by") or ()),
        live=tuple(
            LiveProbe(
                id=one["id"],
                kind=one["kind"],
                when=one.get("when") or {},
                key=key_record(one["key"]),
                parameters=one.get("parameters") or {},
            )
            for one in stored.get("live") or ()
        ),
        addressees=stored.get("addressees") or HIDDEN,
    )


def key_json(key: Key) -> Json:
    """Return a key as the native format writes it; what it does not ask is left out."""
    if key.free:
        return {"free": True}
    conditions = {"addressed": condition_json(key.addressed), "target": condition_json(key.target)}
    return {
        "attend": key.attend,
        "speak": dict(key.speak),
        **{name: one for name, one in conditions.items() if one is not None},  # [] asks for nobody
        **_without_nothing(
            {
                "ground": None if key.ground is None else dict(key.ground),
                "must": [_alternatives(one) for one in key.must],
                "must_not": [_alternatives(one) for one in key.must_not],
                "compose": "rubric" if key.rubric else "",
                "conduct": list(key.conduct),
                "secrets": list(key.secrets),
                "hint": key.hint,
                "example": key.example,
            }
        ),
    }


def key_record(stored: Mapping[str, Any]) -> Key:
    """Return a key from the native format, which has been checked before."""
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
    """Return a set condition as the native format writes it, None for none."""
    if condition is None:
        return None
    if condition.how == "is":
        return list(condition.sets[0])
    if condition.how == "any_of":
        return {"any_of": [list(one) for one in condition.sets]}
    return {condition.how: list(condition.sets[0])}


def condition_record(stored: Any) -> SetCondition | None:
    """Return a set condition from the native format, which has been checked before; order does not matter."""
    if stored is None:
        return None
    if isinstance(stored, list):
        return SetCondition("is", (tuple(sorted(set(stored))),))
    ((how, value),) = stored.items()
    if how == "any_of":
        return SetCondition("any_of", tuple(sorted(tuple(sorted(set(one))) for one in value)))
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


def _known(one: Secret | Fact, text: str) -> Json:
    return _without_nothing(
        {
            "id": one.id,
            "owner": getattr(one, "owner", ""),
            text: getattr(one, text),
            "known_to": list(one.known_to),
            "canaries": list(one.canaries),
        }
    ) | {"since": one.since}


def _alternatives(one: tuple[str, ...]) -> str | list[str]:
    return one[0] if len(one) == 1 else list(one)


def _contents(stored: str | list[str]) -> tuple[str, ...]:
    return (stored,) if isinstance(stored, str) else tuple(stored)


def _without_nothing(values: Json) -> Json:
    return {name: value for name, value in values.items() if value}
