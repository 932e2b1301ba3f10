"""`constraints`: whether a generated conversation meets the constraints requested of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from annotation.records import EVENTS, Turn
from annotation.schemes.ratings import CONSTRAINTS as SCHEME
from annotation.schemes.ratings import COUNTED
from judges.metrics.agendas import EMPTY, STATIC
from judges.metrics.kit.metric import (
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

Requirements = dict[str, int]
Violations = list[str]


class _Malformed(ValueError):
    """A constraint cannot be read; the message names it."""


def constraints(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Share of the requested constraints that a generated conversation meets, with an answer for each.

    Constraints come from the continuation's condition (`turns`, `min_turns`, `max_turns`, `min_each`,
    `max_in_a_row`, `addressees`), or from the parameters of these names if set. Only turns written by the
    system count, numbered from 1. Range 0 to 1. Each constraint is also a question of its own (1 kept, 0
    violated), missing if it was not requested.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    turns = [
        message for message in scene.continuation.turns if not message.given and message.act not in EVENTS
    ]
    if not turns:
        return unscored(EMPTY)
    try:
        requirements = _read_requirements(scene.continuation.condition, settings)
    except _Malformed as problem:
        return unscored(str(problem))
    listed_ids = [person.id for person in scene.dialogue.participants]
    answers = {key: _answer(key, turns, requirements, listed_ids) for key in COUNTED}
    values = {key: answer.value for key, answer in answers.items() if isinstance(answer.value, float)}
    if not values:
        return replace(unscored(NOT_ASKED["listed_speakers"]), answers=answers)
    violated = [key for key, value in values.items() if not value]
    return replace(scored(sum(values.values()) / len(values), violated=violated), answers=answers)


def _read_requirements(condition: Mapping[str, Any], settings: Settings) -> Requirements:
    """Read the requirements of a condition and the settings; a number of 0 requires nothing."""
    requirements = {name: settings.integer(name) or _number(condition, name) for name in NUMBERS}
    requirements["addressees"] = int(settings.flag("addressees") or condition.get("addressees") in YES)
    requirements = {name: value for name, value in requirements.items() if value}
    if requirements or settings.flag("listed_speakers"):
        requirements["listed_speakers"] = 1
    return requirements


def _number(condition: Mapping[str, Any], name: str) -> int:
    value = condition.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Malformed(f"the condition's {name} is not a whole number")
    return value


def _answer(key: str, turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]) -> Score:
    """Return 1, or 0 with the number and places of violations, or the reason why there is no answer."""
    if not _is_asked(key, requirements):
        return unscored(NOT_ASKED[key])
    if key in ("listed_speakers", "everyone_speaks") and not listed_ids:
        return unscored(NOBODY_LISTED)
    violations = CHECKS[key](turns, requirements, listed_ids)
    if not violations:
        return scored(1.0)
    places = "; ".join(violations[:MOST_PLACES]) + (" ..." if len(violations) > MOST_PLACES else "")
    return scored(0.0, violations=len(violations), places=places)


def _is_asked(key: str, requirements: Requirements) -> bool:
    names = {
        "turn_count": ("turns", "min_turns", "max_turns"),
        "everyone_speaks": ("min_each",),
        "addressee_named": ("addressees",),
    }
    return any(name in requirements for name in names.get(key, (key,)))


def _unlisted(turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]) -> Violations:
    """Return the turns by speakers who are not listed."""
    speakers = set(listed_ids)
    return [f"turn {at} ({turn.speaker})" for at, turn in enumerate(turns, 1) if turn.speaker not in speakers]


def _wrong_count(turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]) -> Violations:
    """Report a number of turns outside the limits, or, without limits, other than the requested number."""
    n, least, most = len(turns), requirements.get("min_turns", 0), requirements.get("max_turns", 0)
    if n < least:
        return [f"{n} turns, fewer than {least}"]
    if most and n > most:
        return [f"{n} turns, more than {most}"]
    return [] if least or most or n == requirements["turns"] else [f"{n} turns, not {requirements['turns']}"]


def _silent(turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]) -> Violations:
    """Return the listed speakers with too few turns."""
    counts = {speaker: sum(turn.speaker == speaker for turn in turns) for speaker in listed_ids}
    return [f"{speaker}: {n}" for speaker, n in counts.items() if n < requirements["min_each"]]


def _too_many_in_a_row(
    turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]
) -> Violations:
    """Return the runs of turns by one speaker that are too long."""
    violations, at = [], 1
    for _, run in groupby(turns, key=lambda turn: turn.speaker):
        length = len(list(run))
        if length > requirements["max_in_a_row"]:
            last = at + length - 1
            violations.append(f"turns {at} {'and' if length == 2 else 'to'} {last}")
        at += length
    return violations


def _unaddressed(turns: Sequence[Turn], requirements: Requirements, listed_ids: Sequence[str]) -> Violations:
    """Return the turns without an addressee."""
    return [f"turn {at}" for at, turn in enumerate(turns, 1) if not any(map(str.strip, turn.addressees))]


CHECKS: dict[str, Callable[[Sequence[Turn], Requirements, Sequence[str]], Violations]] = {
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
            **{name: Parameter(0, help_text, low=0) for name, help_text in _HELP.items()},
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
