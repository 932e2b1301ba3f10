"""One continuation's metric values, with the turns that caused them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.models import Continuation, Label, Rater
from annotation.models.turn_numbers import of_continuations
from annotation.records import SELF, Dialogue
from annotation.text import happenings
from annotation.text.blinding import Blind
from annotation.text.language import language_tag
from annotation.text.numbers import number as written
from calibration.profiles.phrases import Names, phrases, turns
from judges.material.loading import Material, load
from judges.metrics import METRICS
from judges.metrics.kit.base import PAPER


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as the page shows it: its number as annotators count it, speaker with colour, and what happened.

    `place` counts from 1 over history and continuation, as metrics do. In a static continuation several turns
    may have one number, each shown after another part of the history, so an `anchor` may name its index, too.
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
    """A metric's value on one item, or why it has none, and what caused it.

    `turn` is its number and `place` where it stands. `causes` are phrases, `turns` the numbers of the turns
    they speak of, and `leads` those with their anchors.
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
    def shown(self) -> str:
        """The value as it is read: a category as it is called."""
        return self.value if isinstance(self.value, str) else written(self.value, 3)


class Telling:
    """A continuation's turns as pages show them, and metrics' labels told in their words."""

    def __init__(self, material: Material, numbers: Sequence[int]) -> None:
        """Take a continuation with its dialogue, and the numbers of its turns in their order."""
        self.lines = lines(material, numbers)
        self.offset = len(self.lines) - len(numbers)
        agenda = material.dialogue.agenda
        self._by_place = {line.place: line for line in self.lines}
        places = {place: line.number for place, line in self._by_place.items()}
        self._names = Names(_speakers(material.dialogue), agenda.items if agenda else {}, places)

    def value(self, label: Label) -> Value:
        """Return what a metric's label says, with its rater and its item's turn selected."""
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
    """Return the history and the continuation's turns, which have these numbers, as metrics see them."""
    own = material.continuation.id == SELF
    history = () if own else material.dialogue.turns
    counted = [*range(1, len(history) + 1), *numbers]
    static = material.continuation.mode == "static" and not own
    names = happenings.Names(material.dialogue.participants, Blind())
    language = language_tag(material.dialogue.language)
    found = []
    for at, turn in enumerate([*history, *material.continuation.turns]):
        who, how, private, text = happenings.happening(turn, names, turn.text)
        how = " ".join(part for part in (private, how) if part)
        is_history, number = at < len(history), counted[at]
        anchor = f"turn-{number}" if is_history or not static else f"turn-{number}-{at - len(history)}"
        place = number, at + 1, anchor
        found.append(Line(*place, who, names.colour(turn.speaker), how, text, is_history, language))
    return found


def metric_labels(continuations: Iterable[int]) -> list[Label]:
    """Return the live labels of metrics on continuations and their turns, in the order of the table."""
    labels = Label.objects.filter(
        item__continuation__in=continuations,
        item__compared=None,
        rater__kind=Rater.Kind.METRIC,
        superseded_at__isnull=True,
    ).select_related("rater", "item__turn", "question")
    order = {key: place for place, key in enumerate(METRICS)}
    known = [label for label in labels if label.rater.spec.get("metric") in order]
    return sorted(
        known, key=lambda one: (order[one.rater.spec["metric"]], one.rater.name, *_part(one), one.pk)
    )


def values(continuation: Continuation) -> tuple[list[Line], list[Value]]:
    """Return a continuation's turns and every metric value on its items, in the order of the table."""
    material = load([continuation.pk])[continuation.pk]
    telling = Telling(material, of_continuations([continuation.pk])[continuation.pk])
    return telling.lines, [telling.value(label) for label in metric_labels([continuation.pk])]


def _speakers(dialogue: Dialogue) -> dict[str, str]:
    return {person.id: person.name or person.id for person in dialogue.participants}


def _part(label: Label) -> tuple[int, str]:
    """Return where a label stands among those of its rater: the metric's own question comes first."""
    metric = METRICS[label.rater.spec["metric"]]
    key = label.question.key
    return (metric.answers.index(key) + 1, key) if key in metric.answers else (0, "")
