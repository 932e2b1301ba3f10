"""Metric values of one continuation, with the turns that caused them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Continuation, Label, Rater
from annotation.models.turn_numbers import of_continuations
from annotation.records import SELF, Dialogue
from annotation.text import context
from annotation.text.display import language_tag
from annotation.text.display import number as written
from annotation.text.views import Blind
from judges.metrics import METRICS
from judges.metrics.kit.metric import PAPER, Cause
from judges.runs.material import Material, load

# Causes of a metric's value, in the metric's own words, with turns, speakers and agenda items named.

MOST = 8


@dataclass(frozen=True, slots=True)
class Names:
    """Display names of a dialogue's speakers and agenda items, by id, and turn numbers, by place.

    A place counts from 1 over history and continuation; a turn without another number is called by its place.
    """

    speakers: Mapping[str, str]
    agenda: Mapping[str, str]
    turns: Mapping[int, int] = field(default_factory=dict)


def phrases(details: Mapping[str, Any], names: Names, causes: Mapping[str, Cause]) -> tuple[str, ...]:
    """Return one phrase per detail, in a fixed order, without empty phrases."""
    all_phrases = (_phrase(_cause(key, causes), detail, names) for key, detail in sorted(details.items()))
    return tuple(filter(None, all_phrases))


def turns(details: Mapping[str, Any], causes: Mapping[str, Cause]) -> tuple[int, ...]:
    """Return the places (from 1, over history and continuation) of the turns that details refer to."""
    about = [detail for key, detail in details.items() if _cause(key, causes).about == "turn"]
    positions = {position for detail in about for position in _as_list(detail)}
    return tuple(sorted(position + 1 for position in positions if isinstance(position, int)))


def _cause(key: str, causes: Mapping[str, Cause]) -> Cause:
    """Return the cause that describes a detail; an undeclared detail is called by its own name."""
    return causes.get(key) or Cause(key.replace("_", " "))


def _phrase(cause: Cause, detail: Any, names: Names) -> str:
    """Describe a detail; positions become turn numbers, ids become names, long lists are cut."""
    if detail is None or detail == [] or detail == {}:
        return ""
    if cause.about == "turn":
        return f"{cause.words} {_numbers(_as_list(detail), names)}"
    texts = names.agenda if cause.about == "agenda" else {}
    if isinstance(detail, dict):
        parts = [f"{_called(cause, names, key)} {_short(n)}" for key, n in detail.items()]
        return f"{cause.words}: {_cut(parts)}"
    return f"{cause.words} {_cut([_entry_text(entry, texts) for entry in _as_list(detail)])}"


def _called(cause: Cause, names: Names, key: str) -> str:
    return _entry_text(key, names.agenda) if cause.about == "agenda" else _name(names, key)


def _name(names: Names, speaker: str) -> str:
    """Return a speaker's name, isolated so that right-to-left text does not reorder the rest."""
    name = names.speakers.get(speaker, speaker)
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _entry_text(entry: Any, texts: Mapping[str, str]) -> str:
    """Format one value; an agenda item by its text, a jump as `a to b`."""
    if isinstance(entry, list):
        return " to ".join(_entry_text(part, texts) for part in entry)
    return f"“{texts[entry]}”" if isinstance(entry, str) and entry in texts else _short(entry)


def _short(entry: Any) -> str:
    return f"{entry:.3g}" if isinstance(entry, float) else str(entry)


def _cut(parts: list[str]) -> str:
    return ", ".join(parts[:MOST]) + (" …" if len(parts) > MOST else "")


def _as_list(detail: Any) -> list[Any]:
    return detail if isinstance(detail, list) else [detail]


def _numbers(positions: list[Any], names: Names) -> str:
    places = [position + 1 for position in positions if isinstance(position, int)]
    numbers = [str(names.turns.get(place, place)) for place in places]
    listing = f"{', '.join(numbers[:MOST])} …" if len(numbers) > MOST else " and ".join(numbers)
    return f"turn{'s' if len(numbers) > 1 else ''} {listing}"


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as the page shows it: its number for annotators, speaker with colour, and events.

    `place` counts from 1 over history and continuation, as metrics do. In a static continuation several turns
    may have one number, each shown after another part of the history, so an `anchor` may include the turn's
    index, too.
    """

    number: int
    place: int
    anchor: str
    speaker: str
    colour: int
    how: str
    text: str
    history: bool
    language: str


@dataclass(frozen=True, slots=True)
class Value:
    """A metric's value on one item, or the reason why it is missing, with its causes.

    `turn` is its number and `place` its position. `causes` are phrases, `turns` the numbers of the turns that
    they refer to, and `leads` those numbers with their anchors.
    """

    rater: int
    metric: str
    title: str
    turn: int | None
    place: int | None
    value: float | str | None
    missing: str
    causes: tuple[str, ...]
    turns: tuple[int, ...]
    leads: tuple[tuple[int, str], ...]

    @property
    def display(self) -> str:
        """Value for display; a category by its name."""
        return self.value if isinstance(self.value, str) else written(self.value, 3)


class Telling:
    """A continuation's turns as pages show them, and conversion of metrics' labels to values."""

    def __init__(self, material: Material, numbers: Sequence[int]) -> None:
        """Take a continuation with its dialogue, and the numbers of its turns in order."""
        self.lines = lines(material, numbers)
        self.offset = len(self.lines) - len(numbers)
        agenda = material.dialogue.agenda
        self._by_place = {line.place: line for line in self.lines}
        places = {place: line.number for place, line in self._by_place.items()}
        self._names = Names(_speakers(material.dialogue), agenda.items if agenda else {}, places)

    def value(self, label: Label) -> Value:
        """Convert a metric's label to a value; its rater and its item's turn must be selected."""
        details = json.loads(label.explanation) if label.explanation else {}
        metric = METRICS[label.rater.spec["metric"]]
        place = None if label.item.turn is None else self.offset + label.item.turn.position + 1
        spoken_of = [self._by_place[at] for at in turns(details, metric.causes) if at in self._by_place]
        return Value(
            label.rater_id,
            " ".join(filter(None, (label.rater.name, _part(label)[1]))),
            metric.titled(label.rater.spec.get("variant", PAPER)),
            None if place is None else self._by_place[place].number,
            place,
            label.number if label.text is None else label.text,
            label.missing,
            phrases(details, self._names, metric.causes),
            tuple(line.number for line in spoken_of),
            tuple((line.number, line.anchor) for line in spoken_of),
        )


def lines(material: Material, numbers: Sequence[int]) -> list[Line]:
    """Return the lines of the history and of the continuation's turns, which have these numbers."""
    own = material.continuation.id == SELF
    history = () if own else material.dialogue.turns
    counted = [*range(1, len(history) + 1), *numbers]
    static = material.continuation.mode == "static" and not own
    names = context.Names(material.dialogue.participants, Blind())
    language = language_tag(material.dialogue.language)
    page_lines = []
    for at, turn in enumerate([*history, *material.continuation.turns]):
        speaker, how, private, text = context.happening(turn, names, turn.text)
        how = " ".join(part for part in (private, how) if part)
        is_history, number = at < len(history), counted[at]
        anchor = f"turn-{number}" if is_history or not static else f"turn-{number}-{at - len(history)}"
        place = number, at + 1, anchor
        page_lines.append(Line(*place, speaker, names.colour(turn.speaker), how, text, is_history, language))
    return page_lines


def metric_labels(continuations: Iterable[int]) -> list[Label]:
    """Return the current labels of metrics on continuations and their turns, in the order of the table."""
    labels = Label.objects.filter(
        item__continuation__in=continuations,
        item__compared=None,
        rater__kind=Rater.Kind.METRIC,
        superseded_at__isnull=True,
    ).select_related("rater", "item__turn", "question")
    order = {key: place for place, key in enumerate(METRICS)}
    catalogued = [label for label in labels if label.rater.spec.get("metric") in order]
    return sorted(
        catalogued,
        key=lambda label: (order[label.rater.spec["metric"]], label.rater.name, *_part(label), label.pk),
    )


def values(continuation: Continuation) -> tuple[list[Line], list[Value]]:
    """Return a continuation's turns and every metric value on its items, in the order of the table."""
    material = load([continuation.pk])[continuation.pk]
    telling = Telling(material, of_continuations([continuation.pk])[continuation.pk])
    return telling.lines, [telling.value(label) for label in metric_labels([continuation.pk])]


def _speakers(dialogue: Dialogue) -> dict[str, str]:
    return {person.id: person.name or person.id for person in dialogue.participants}


def _part(label: Label) -> tuple[int, str]:
    """Sort key among the labels of one rater: the metric's own question comes first."""
    metric = METRICS[label.rater.spec["metric"]]
    key = label.question.key
    return (metric.answers.index(key) + 1, key) if key in metric.answers else (0, "")
