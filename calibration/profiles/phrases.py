"""What caused a metric's value, in the metric's own words, with turns, speakers and agenda items named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.metrics.kit.base import Cause

MOST = 8


@dataclass(frozen=True, slots=True)
class Names:
    """How people call the speakers and the agenda items of a dialogue, by id, and its turns, by place.

    A place counts from 1 over history and continuation; a turn without another number is called by it.
    """

    speakers: Mapping[str, str]
    agenda: Mapping[str, str]
    turns: Mapping[int, int] = field(default_factory=dict)


def phrases(details: Mapping[str, Any], names: Names, causes: Mapping[str, Cause]) -> tuple[str, ...]:
    """Return a phrase per detail, in a fixed order; empty ones are left out."""
    told = (_phrase(_cause(key, causes), detail, names) for key, detail in sorted(details.items()))
    return tuple(filter(None, told))


def turns(details: Mapping[str, Any], causes: Mapping[str, Cause]) -> tuple[int, ...]:
    """Return the places (from 1, over history and continuation) of the turns that details speak of."""
    about = [detail for key, detail in details.items() if _cause(key, causes).about == "turn"]
    positions = {position for detail in about for position in _listed(detail)}
    return tuple(sorted(position + 1 for position in positions if isinstance(position, int)))


def _cause(key: str, causes: Mapping[str, Cause]) -> Cause:
    """Return how a detail is told; what a metric says nothing about is called by its own name."""
    return causes.get(key) or Cause(key.replace("_", " "))


def _phrase(cause: Cause, detail: Any, names: Names) -> str:
    """Say what a detail is; positions become turn numbers, ids become names, long lists are cut."""
    if detail is None or detail == [] or detail == {}:
        return ""
    if cause.about == "turn":
        return f"{cause.words} {_numbers(_listed(detail), names)}"
    known = names.agenda if cause.about == "agenda" else {}
    if isinstance(detail, dict):
        parts = [f"{_called(cause, names, who)} {_short(n)}" for who, n in detail.items()]
        return f"{cause.words}: {_cut(parts)}"
    return f"{cause.words} {_cut([_one(one, known) for one in _listed(detail)])}"


def _called(cause: Cause, names: Names, key: str) -> str:
    return _one(key, names.agenda) if cause.about == "agenda" else _name(names, key)


def _name(names: Names, who: str) -> str:
    """Return a speaker's name, set apart so that a name written from right to left moves nothing else."""
    name = names.speakers.get(who, who)
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _one(found: Any, known: Mapping[str, str]) -> str:
    """Return one value; an agenda item by its text, a jump as from one to another."""
    if isinstance(found, list):
        return " to ".join(_one(one, known) for one in found)
    return f"“{known[found]}”" if isinstance(found, str) and found in known else _short(found)


def _short(found: Any) -> str:
    return f"{found:.3g}" if isinstance(found, float) else str(found)


def _cut(parts: list[str]) -> str:
    return ", ".join(parts[:MOST]) + (" …" if len(parts) > MOST else "")


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def _numbers(positions: list[Any], names: Names) -> str:
    places = [position + 1 for position in positions if isinstance(position, int)]
    numbers = [str(names.turns.get(place, place)) for place in places]
    shown = f"{', '.join(numbers[:MOST])} …" if len(numbers) > MOST else " and ".join(numbers)
    return f"turn{'s' if len(numbers) > 1 else ''} {shown}"
