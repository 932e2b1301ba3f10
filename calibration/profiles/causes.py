"""One continuation's metric values, with the turns that caused them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from annotation.models import Continuation, Label, Rater
from annotation.records import SELF
from judges.material import Material, load
from judges.metrics import METRICS

WORDS = {
    "nearest": "nearest to",
    "longest_edge": "longest edge",
    "item": "agenda item",
    "current": "current agenda item",
    "saturated": "fully covered",
    "jumps": "jumps",
    "new": "new words",
    "act": "act",
    "after": "after",
}
TURN_DETAILS = frozenset(
    {
        "about",
        "addressed_at",
        "first",
        "largest_step",
        "last",
        "longest_edge",
        "nearest",
        "smallest_step",
        "spoke_at",
    }
)


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as the page shows it: its number from 1, speaker, text, and whether it is being scored."""

    number: int
    speaker: str
    text: str
    history: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A metric's value on one item, or why it has none, and what caused it.

    `causes` are phrases; `turns` the numbers (from 1) of the turns they speak of.
    """

    metric: str
    turn: int | None
    value: float | None
    missing: str
    causes: tuple[str, ...]
    turns: tuple[int, ...]


def lines(material: Material) -> list[Line]:
    """Return the history and the continuation's turns in one row, as metrics count them."""
    history = () if material.continuation.id == SELF else material.dialogue.turns
    names = {person.id: person.name or person.id for person in material.dialogue.participants}
    turns = [*history, *material.continuation.turns]
    return [
        Line(at + 1, names.get(turn.speaker, turn.speaker), turn.text, at < len(history))
        for at, turn in enumerate(turns)
    ]


def values(continuation: Continuation) -> tuple[list[Line], list[Value]]:
    """Return a continuation's turns and every metric value on its items."""
    material = load([continuation.pk])[continuation.pk]
    shown = lines(material)
    offset = sum(line.history for line in shown)
    labels = (
        Label.objects.filter(
            item__continuation=continuation, rater__kind=Rater.Kind.METRIC, superseded_at__isnull=True
        )
        .select_related("rater", "item__turn")
        .order_by("item__turn__position", "rater__name")
    )
    return shown, [_value(label, offset) for label in labels if label.rater.spec.get("metric") in METRICS]


def _value(label: Label, offset: int) -> Value:
    details = json.loads(label.explanation) if label.explanation else {}
    turn = None if label.item.turn is None else offset + label.item.turn.position + 1
    causes = tuple(phrase for key, found in sorted(details.items()) if (phrase := _phrase(key, found)))
    return Value(label.rater.name, turn, label.number, label.missing, causes, _turns(details))


def _phrase(key: str, found: Any) -> str:
    """Say what a detail is; positions become turn numbers, long lists are cut."""
    if found is None or found == [] or found == {}:
        return ""
    word = WORDS.get(key, key.replace("_", " "))
    if key in TURN_DETAILS:
        return f"{word} {_numbers(found)}"
    if isinstance(found, float):
        return f"{word} {found:.3g}"
    if isinstance(found, list):
        return f"{word} {', '.join(str(one) for one in found[:8])}{' …' if len(found) > 8 else ''}"
    if isinstance(found, dict):
        pairs = [f"{name} {_short(one)}" for name, one in list(found.items())[:8]]
        return f"{word}: {', '.join(pairs)}{' …' if len(found) > 8 else ''}"
    return f"{word} {found}"


def _short(found: Any) -> str:
    return f"{found:.3g}" if isinstance(found, float) else str(found)


def _numbers(found: Any) -> str:
    positions = found if isinstance(found, list) else [found]
    numbers = [str(position + 1) for position in positions[:8] if isinstance(position, int)]
    return f"turn{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"


def _turns(details: dict[str, Any]) -> tuple[int, ...]:
    found: list[int] = []
    for key in TURN_DETAILS & details.keys():
        positions = details[key] if isinstance(details[key], list) else [details[key]]
        found += [position + 1 for position in positions if isinstance(position, int)]
    return tuple(sorted(set(found)))
