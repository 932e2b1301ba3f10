"""What caused a metric's value, in words: a metric's details name turns, speakers and agenda items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WORDS = {
    "about": "about",
    "act": "act",
    "addressed_at": "addressed at",
    "after": "after",
    "centroids": "themes",
    "current": "agenda item before",
    "item": "agenda item",
    "jumps": "jumps",
    "longest_edge": "longest edge between",
    "nearest": "nearest to",
    "new": "new words",
    "path": "agenda items in order",
    "saturated": "fully covered",
    "speakers": "by speaker",
    "spoke_at": "spoke last at",
}
TURNS = ("about", "addressed_at", "first", "largest_step", "last", "longest_edge", "nearest", "smallest_step")
TURN_DETAILS = frozenset({*TURNS, "spoke_at"})
AGENDA_DETAILS = frozenset({"current", "failed", "item", "jumps", "path", "saturated"})
MOST = 8


@dataclass(frozen=True, slots=True)
class Names:
    """How people call the speakers and the agenda items of a dialogue, by id."""

    speakers: Mapping[str, str]
    agenda: Mapping[str, str]


def phrases(details: Mapping[str, Any], names: Names) -> tuple[str, ...]:
    """Return a phrase per detail, in a fixed order; empty ones are left out."""
    return tuple(text for key, found in sorted(details.items()) if (text := _phrase(key, found, names)))


def turns(details: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers (from 1) of the turns that details speak of."""
    found = [position for key in TURN_DETAILS & details.keys() for position in _listed(details[key])]
    return tuple(sorted({position + 1 for position in found if isinstance(position, int)}))


def _phrase(key: str, found: Any, names: Names) -> str:
    """Say what a detail is; positions become turn numbers, ids become names, long lists are cut."""
    if found is None or found == [] or found == {}:
        return ""
    word = WORDS.get(key, key.replace("_", " "))
    if key in TURN_DETAILS:
        return f"{word} {_numbers(_listed(found))}"
    if isinstance(found, dict):
        return f"{word}: {_cut([f'{_name(names, who)} {_short(n)}' for who, n in found.items()])}"
    known = names.agenda if key in AGENDA_DETAILS else {}
    return f"{word} {_cut([_one(one, known) for one in _listed(found)])}"


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


def _numbers(positions: list[Any]) -> str:
    numbers = [str(position + 1) for position in positions if isinstance(position, int)]
    shown = f"{', '.join(numbers[:MOST])} …" if len(numbers) > MOST else " and ".join(numbers)
    return f"turn{'s' if len(numbers) > 1 else ''} {shown}"
