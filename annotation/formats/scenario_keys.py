"""The key of a point, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.formats.fields import Fields, is_number
from annotation.formats.problems import ImportProblem
from annotation.scenarios.records import ACTS, DIMENSIONS, EVERYBODY, LEAK, MOVES, Key, SetCondition
from annotation.scenarios.stored import condition_record

KEY = frozenset(
    [
        "attend",
        "speak",
        "addressed",
        "target",
        "ground",
        "must",
        "must_not",
        "compose",
        "conduct",
        "secrets",
        "hint",
        "example",
        "free",
    ]
)
CONDITIONS = ("contains", "contains_any", "any_of")


def key(raw: Any, path: str, known: frozenset[str], secrets: frozenset[str]) -> Key:
    """Return the key that an object describes; raise ImportProblem for what it must not say.

    `known` are the ids of the participants, `secrets` those of the scenario's secrets.
    """
    fields = Fields(raw, path, KEY)
    if fields.flag("free"):
        others = sorted(raw.keys() - {"free"})
        if others:
            raise fields.problem(others[0], "anything goes at a free point: nothing else may be said")
        return Key(free=True)
    asked = fields.texts("secrets")
    for one in asked:
        if one not in secrets:
            raise fields.problem("secrets", f"{one!r} is not the id of a secret")
    conduct = _choices(fields, "conduct", DIMENSIONS)
    if asked and LEAK not in conduct:
        raise fields.problem("secrets", f"are asked about where conduct names {LEAK!r}")
    return Key(
        attend=_attend(fields),
        speak=_speak(fields),
        addressed=_condition(fields, "addressed", known),
        target=_condition(fields, "target", known),
        ground=_ground(fields),
        must=_contents(fields, "must"),
        must_not=_contents(fields, "must_not"),
        rubric=fields.choice("compose", ("", "rubric"), "") == "rubric",
        conduct=conduct,
        secrets=asked,
        hint=fields.flag("hint"),
        example=fields.text("example", ""),
    )


def same(one: Key, other: Key) -> bool:
    """Whether two keys say the same: orders mean nothing, nor whether a score of 0 is written."""
    return _ordered(one) == _ordered(other)


def _ordered(key: Key) -> Key:
    return replace(
        key,
        speak=_accepted(key.speak),
        ground=None if key.ground is None else _accepted(key.ground),
        must=tuple(sorted(tuple(sorted(part)) for part in key.must)),
        must_not=tuple(sorted(tuple(sorted(part)) for part in key.must_not)),
        conduct=tuple(sorted(key.conduct)),
        secrets=tuple(sorted(set(key.secrets))),
    )


def _accepted(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if score}


def _attend(fields: Fields) -> int:
    value = fields.raw.get("attend")
    if value not in (0, 1) or isinstance(value, bool):
        raise fields.problem("attend", "must be 0 or 1")
    return int(value)


def _speak(fields: Fields) -> dict[str, float]:
    found = _scores(fields, "speak", ACTS)
    if 1 not in found.values():
        raise fields.problem("speak", "one act at least must score 1")
    return found


def _ground(fields: Fields) -> dict[str, float] | None:
    if not fields.has("ground"):
        return None
    if isinstance(fields.raw["ground"], list):
        found = dict.fromkeys(_choices(fields, "ground", MOVES), 1.0)
    else:
        found = _scores(fields, "ground", MOVES)
    if not any(found.values()):
        raise fields.problem("ground", "one move at least must be accepted")
    return found


def _scores(fields: Fields, name: str, known: tuple[str, ...]) -> dict[str, float]:
    found = fields.object(name)
    if not found:
        raise fields.problem(name, f"must be an object of scores, by {', '.join(known)}")
    for one, score in found.items():
        if one not in known:
            raise fields.problem(f"{name}.{one}", f"must be one of {', '.join(known)}")
        if not is_number(score) or not 0 <= score <= 1:
            raise fields.problem(f"{name}.{one}", "must be a score from 0 to 1")
    return {one: float(score) for one, score in found.items()}


def _choices(fields: Fields, name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    found = fields.texts(name)
    for index, one in enumerate(found):
        if one not in known:
            raise fields.problem(f"{name}[{index}]", f"must be one of {', '.join(known)}")
    return tuple(dict.fromkeys(found))


def _contents(fields: Fields, name: str) -> tuple[tuple[str, ...], ...]:
    found = []
    for path, part in fields.items(name):
        alternatives = part if isinstance(part, list) else [part]
        if not alternatives or not all(isinstance(one, str) and one.strip() for one in alternatives):
            raise ImportProblem("must be a text, or a list of texts of which one must occur", field=path)
        found.append(tuple(alternatives))
    return tuple(found)


def _condition(fields: Fields, name: str, known: frozenset[str]) -> SetCondition | None:
    """Return a condition on a set of participants; the order of ids means nothing."""
    if not fields.has(name):
        return None
    raw, path = fields.raw[name], fields.at(name)
    if isinstance(raw, dict):
        how = next(iter(raw), "")
        if len(raw) != 1 or how not in CONDITIONS:
            told = f"a condition has one of {', '.join(CONDITIONS)}"
            raise ImportProblem(told, field=path)
        sets = raw[how] if how == "any_of" else [raw[how]]
        path = f"{path}.{how}"
    else:
        how, sets = "is", [raw]
    if not isinstance(sets, list) or not sets or not all(isinstance(one, list) for one in sets):
        raise ImportProblem("must be a list of ids of participants", field=path)
    for one in (one for each in sets for one in each):
        if not isinstance(one, str) or (one != EVERYBODY and one not in known):
            raise ImportProblem(f"{str(one)[:60]!r} is not the id of a participant", field=path)
    if how.startswith("contains") and not sets[0]:
        raise ImportProblem("needs an id at least", field=path)
    return condition_record(raw)
