"""One dialogue as researchers see it: its turns, how systems continued it, and the answers about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation import marks
from annotation.models import Continuation, Dialogue, Label, Rater, Turn, turn_numbers

COLOURS = 6
KINDS = {"human": "people", "judge": "judges", "key": "answer keys"}


class Line(NamedTuple):
    """A turn as shown: `pieces` are its text's parts with whether each is a transcription mark.

    `number` is the one that annotators see; `position` counts from 0 within the continuation.
    """

    position: int
    number: int
    who: str
    colour: int
    pieces: list[tuple[str, bool]]
    given: bool
    at: int | None
    aside: str


@dataclass(slots=True)
class Answers:
    """The answers to one question about one item, by kind of rater and rater; a missing one shows why.

    `turn` counts from 1 within the continuation; None is the whole. Of a set of tags, one that nobody set
    `is_unset`.
    """

    turn: int | None
    question: str
    scheme: str
    is_unset: bool
    by_kind: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def speakers(dialogue: Dialogue, turns: Iterable[Turn]) -> dict[str, tuple[str, int]]:
    """Return the name and the colour (1 to 6) of each speaker, participants first."""
    names = {person["id"]: person.get("name") or person["id"] for person in dialogue.participants}
    for turn in turns:
        names.setdefault(turn.speaker, turn.speaker)
    return {key: (name, index % COLOURS + 1) for index, (key, name) in enumerate(names.items())}


def lines(turns: Sequence[Turn], who: dict[str, tuple[str, int]]) -> list[Line]:
    """Return turns as lines."""
    turn_numbers.number(turns)
    return [
        Line(
            turn.position,
            turn.number,
            *who.get(turn.speaker, (turn.speaker, 1)),
            marks.parts(turn.text),
            turn.given,
            turn.at,
            _aside(turn),
        )
        for turn in turns
    ]


def _aside(turn: Turn) -> str:
    """Return what else is known of a turn, in a few words."""
    extra = turn.extra or {}
    known = [extra[name] for name in ("act", "time", "session") if extra.get(name)]
    if extra.get("addressees"):
        known.append("to " + ", ".join(extra["addressees"]))
    if "audience" in extra:
        known.append("heard by " + (", ".join(extra["audience"]) or "nobody"))
    return " · ".join(known)


def has_metrics(continuation: Continuation) -> bool:
    """Whether a metric scored a continuation or its turns."""
    return Label.objects.filter(item__continuation=continuation, rater__kind=Rater.Kind.METRIC).exists()


def answers(continuation: Continuation) -> list[Answers]:
    """Return what people, judges and keys answered about a continuation and its turns, whole first.

    Metrics have a page of their own, where each value stands with what caused it.
    """
    labels = (
        Label.objects.filter(item__continuation=continuation, superseded_at__isnull=True)
        .exclude(rater__kind=Rater.Kind.METRIC)
        .select_related("rater", "item__turn", "question__version__scheme")
        .order_by("item_id", "question__version", "question__position", "rater__name", "sample")
    )
    found: dict[tuple[int, int], Answers] = {}
    for label in labels:
        question = label.question
        is_tag = question.level == "binary" and bool(question.group)
        entry = found.setdefault(
            (label.item_id, label.question_id),
            Answers(
                label.item.turn.position + 1 if label.item.turn else None,
                question.key.replace("_", " "),
                question.version.scheme.title,
                is_tag,
            ),
        )
        entry.is_unset &= label.number in (None, 0)
        of_kind = entry.by_kind.setdefault(KINDS[label.rater.kind], {})
        of_kind.setdefault(label.rater.name, []).append(_shown(label))
    return list(found.values())


def unset(found: Iterable[Answers]) -> dict[int | None, list[str]]:
    """Return the tags that were asked about and that nobody set, by turn."""
    by_turn: dict[int | None, list[str]] = {}
    for entry in found:
        if entry.is_unset:
            by_turn.setdefault(entry.turn, []).append(entry.question)
    return by_turn


def _shown(label: Label) -> str:
    if label.number is not None:
        return f"{label.number:g}"
    return label.text if label.text is not None else f"missing ({label.missing})"
