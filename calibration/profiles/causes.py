"""One continuation's metric values, with the turns that caused them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from annotation.models import Continuation, Label, Rater
from annotation.records import SELF, Dialogue
from annotation.text import happenings
from annotation.text.blinding import Blind
from annotation.text.language import language_tag
from calibration.profiles.phrases import Names, phrases, turns
from judges.material.loading import Material, load
from judges.metrics import METRICS


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as the page shows it: number from 1, speaker with colour, and what happened."""

    number: int
    speaker: str
    colour: int
    how: str
    text: str
    history: bool
    language: str


@dataclass(frozen=True, slots=True)
class Value:
    """A metric's value on one item, or why it has none, and what caused it.

    `causes` are phrases; `turns` the numbers (from 1) of the turns they speak of.
    """

    rater: int
    metric: str
    title: str
    turn: int | None
    value: float | None
    missing: str
    causes: tuple[str, ...]
    turns: tuple[int, ...]


def lines(material: Material) -> list[Line]:
    """Return the history and the continuation's turns in one row, as metrics count them."""
    history = () if material.continuation.id == SELF else material.dialogue.turns
    names = happenings.Names(material.dialogue.participants, Blind())
    language = language_tag(material.dialogue.language)
    found = []
    for at, turn in enumerate([*history, *material.continuation.turns]):
        who, how, private, text = happenings.happening(turn, names, turn.text)
        how = " ".join(part for part in (private, how) if part)
        found.append(Line(at + 1, who, names.colour(turn.speaker), how, text, at < len(history), language))
    return found


def values(continuation: Continuation) -> tuple[list[Line], list[Value]]:
    """Return a continuation's turns and every metric value on its items, in the order of the table."""
    material = load([continuation.pk])[continuation.pk]
    shown = lines(material)
    offset = sum(line.history for line in shown)
    agenda = material.dialogue.agenda
    names = Names(_speakers(material.dialogue), agenda.items if agenda else {})
    labels = Label.objects.filter(
        item__continuation=continuation, rater__kind=Rater.Kind.METRIC, superseded_at__isnull=True
    ).select_related("rater", "item__turn")
    order = {key: place for place, key in enumerate(METRICS)}
    known = [label for label in labels if label.rater.spec.get("metric") in order]
    known.sort(key=lambda one: (order[one.rater.spec["metric"]], one.rater.name))
    return shown, [_value(label, offset, names) for label in known]


def _speakers(dialogue: Dialogue) -> dict[str, str]:
    return {person.id: person.name or person.id for person in dialogue.participants}


def _value(label: Label, offset: int, names: Names) -> Value:
    details = json.loads(label.explanation) if label.explanation else {}
    metric = METRICS[label.rater.spec["metric"]]
    return Value(
        label.rater_id,
        label.rater.name,
        metric.title,
        None if label.item.turn is None else offset + label.item.turn.position + 1,
        label.number,
        label.missing,
        phrases(details, names, metric.causes),
        turns(details, metric.causes),
    )
