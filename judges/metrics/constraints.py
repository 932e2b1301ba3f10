"""`constraints`: whether a generated conversation keeps to what was asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from annotation.records import EVENTS, Turn
from annotation.schemes.ratings import CONSTRAINTS as SCHEME
from annotation.schemes.ratings import COUNTED
from judges.metrics.agendas import EMPTY, STATIC
from judges.metrics.kit.base import (
    HIGHER,
    Aspect,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.tools import Scene, Tools

CONSTRAINTS = Aspect("constraints", "Constraints")
NUMBERS = ("turns", "min_turns", "max_turns", "min_each", "max_in_a_row")
YES = (True, "yes")
NOT_ASKED = {
    "listed_speakers": "no constraint was asked for",
    "turn_count": "no number of turns was asked for",
    "everyone_speaks": "no number of turns a speaker was asked for",
    "max_in_a_row": "no limit of turns in a row was asked for",
    "addressee_named": "addressees were not asked for",
}
NOBODY_LISTED = "no speakers are listed"
MOST_PLACES = 20

Wanted = dict[str, int]
Violations = list[str]


class _Malformed(ValueError):
    """A constraint that cannot be read; the message says which."""


def constraints(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Share of the constraints asked for that a generated conversation keeps, with an answer to each.

    Constraints are those of the continuation's condition (`turns`, `min_turns`, `max_turns`, `min_each`,
    `max_in_a_row`, `addressees`), or the parameters of these names where they are set. Turns are counted from
    1 among those that the system wrote. Range 0 to 1. Each is also a question of its own (1 kept, 0
    violated), missing where it was not asked for.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    said = [one for one in scene.continuation.turns if not one.given and one.act not in EVENTS]
    if not said:
        return unscored(EMPTY)
    try:
        wanted = _wanted(scene.continuation.condition, settings)
    except _Malformed as problem:
        return unscored(str(problem))
    listed = [person.id for person in scene.dialogue.participants]
    answers = {key: _answer(key, said, wanted, listed) for key in COUNTED}
    values = {key: one.value for key, one in answers.items() if isinstance(one.value, float)}
    if not values:
        return replace(unscored(NOT_ASKED["listed_speakers"]), answers=answers)
    violated = [key for key, value in values.items() if not value]
    return replace(scored(sum(values.values()) / len(values), violated=violated), answers=answers)


def _wanted(condition: Mapping[str, Any], settings: Settings) -> Wanted:
    """Return what was asked for; a number of 0 asks for nothing."""
    found = {name: settings.integer(name) or _number(condition, name) for name in NUMBERS}
    found["addressees"] = int(settings.flag("addressees") or condition.get("addressees") in YES)
    found = {name: value for name, value in found.items() if value}
    if found or settings.flag("listed_speakers"):
        found["listed_speakers"] = 1
    return found


def _number(condition: Mapping[str, Any], name: str) -> int:
    value = condition.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Malformed(f"the condition's {name} is not a whole number")
    return value


def _answer(key: str, said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Score:
    """Return 1 or 0 with the number and the places of violations, or why there is no answer."""
    if not _is_asked(key, wanted):
        return unscored(NOT_ASKED[key])
    if key in ("listed_speakers", "everyone_speaks") and not listed:
        return unscored(NOBODY_LISTED)
    found = CHECKS[key](said, wanted, listed)
    if not found:
        return scored(1.0)
    places = "; ".join(found[:MOST_PLACES]) + (" ..." if len(found) > MOST_PLACES else "")
    return scored(0.0, violations=len(found), places=places)


def _is_asked(key: str, wanted: Wanted) -> bool:
    names = {
        "turn_count": ("turns", "min_turns", "max_turns"),
        "everyone_speaks": ("min_each",),
        "addressee_named": ("addressees",),
    }
    return any(name in wanted for name in names.get(key, (key,)))


def _unlisted(said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Violations:
    """Turns by somebody who is not listed."""
    known = set(listed)
    return [f"turn {at} ({one.speaker})" for at, one in enumerate(said, 1) if one.speaker not in known]


def _wrong_count(said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Violations:
    """A number of turns outside the limits, or, where there are none, other than the one wanted."""
    n, least, most = len(said), wanted.get("min_turns", 0), wanted.get("max_turns", 0)
    if n < least:
        return [f"{n} turns, fewer than {least}"]
    if most and n > most:
        return [f"{n} turns, more than {most}"]
    return [] if least or most or n == wanted["turns"] else [f"{n} turns, not {wanted['turns']}"]


def _silent(said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Violations:
    """Listed speakers with too few turns."""
    counts = {who: sum(one.speaker == who for one in said) for who in listed}
    return [f"{who}: {n}" for who, n in counts.items() if n < wanted["min_each"]]


def _too_many_in_a_row(said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Violations:
    """Runs of one speaker that are too long."""
    found, at = [], 1
    for _, run in groupby(said, key=lambda one: one.speaker):
        length = len(list(run))
        if length > wanted["max_in_a_row"]:
            last = at + length - 1
            found.append(f"turns {at} {'and' if length == 2 else 'to'} {last}")
        at += length
    return found


def _unaddressed(said: Sequence[Turn], wanted: Wanted, listed: Sequence[str]) -> Violations:
    """Turns that name nobody whom they are addressed to."""
    return [f"turn {at}" for at, one in enumerate(said, 1) if not any(map(str.strip, one.addressees))]


CHECKS: dict[str, Callable[[Sequence[Turn], Wanted, Sequence[str]], Violations]] = {
    "listed_speakers": _unlisted,
    "turn_count": _wrong_count,
    "everyone_speaks": _silent,
    "max_in_a_row": _too_many_in_a_row,
    "addressee_named": _unaddressed,
}

_HELP = {
    "turns": "number of turns wanted; 0 takes the condition's",
    "min_turns": "least number of turns; 0 takes the condition's",
    "max_turns": "greatest number of turns; 0 takes the condition's",
    "min_each": "turns that every listed speaker must have; 0 takes the condition's",
    "max_in_a_row": "turns that a speaker may have in a row; 0 takes the condition's",
}

FAMILY = (
    Metric(
        key="constraints",
        title="Constraints kept",
        kind="dialogue",
        aspect=CONSTRAINTS,
        compute=constraints,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        parameters={
            **{name: Parameter(0, told, low=0) for name, told in _HELP.items()},
            "addressees": Parameter(False, "whether every turn must name its addressee"),
            "listed_speakers": Parameter(
                False, "whether only listed speakers may speak, if nothing else is asked"
            ),
        },
        variants={"counted": {}},
        causes={
            "violated": Cause("violated:"),
            "violations": Cause("violations:"),
            "places": Cause("at"),
        },
        group="constraints",
        scheme=SCHEME,
        answers=tuple(COUNTED),
    ),
)
