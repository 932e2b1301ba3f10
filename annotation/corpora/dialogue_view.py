"""One dialogue for researchers: its turns, the systems' continuations, and the answers about them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.corpora.rows import participant_record, turn_record
from annotation.models import Continuation, Dialogue, Label, Occasion, Rater, Turn, turn_numbers
from annotation.records import Turn as TurnRecord
from annotation.script_records import script_record
from annotation.text import views
from annotation.text.context import Names, happening, heading, session_dates
from annotation.text.display import language_tag
from annotation.text.views import Blind
from annotation.work.labels import pointed, title_of

DECISIONS = "decisions"
KINDS = {"human": "people", "judge": "judges", "key": "answer keys", "": DECISIONS}
"""Columns of answers, by kind of rater; adjudicated answers have their own."""


class Line(NamedTuple):
    """A turn as shown: `pieces` are its text's parts with whether each is a transcription mark.

    `number` is the one that annotators see; `position` counts from 0 within the continuation. `anchor` is the
    link target: the number, with the position where another turn has the same number. `how`, `private` and
    `heading` describe the event beside its text; `aside` is for researchers only.
    """

    position: int
    number: int
    who: str
    colour: int
    pieces: list[tuple[str, bool]]
    given: bool
    at: int | None
    how: str
    private: str
    heading: str
    aside: str
    language: str
    anchor: str = ""
    turn: int = 0


@dataclass(slots=True)
class Answers:
    """Answers to one question about one item, by kind of rater and rater; a missing one shows its reason.

    `turn` counts from 1 within the continuation; None is the whole. A tag of a set that nobody set
    `is_unset`.
    """

    turn: int | None
    question: str
    scheme: str
    is_unset: bool
    by_kind: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def speakers(dialogue: Dialogue, turns: Iterable[Turn]) -> Names:
    """Return speakers' names and colours, participants first; nothing is hidden here."""
    names = Names(tuple(map(participant_record, dialogue.participants)), Blind())
    names.meet(turn.speaker for turn in turns)
    return names


def lines(
    dialogue: Dialogue, turns: Sequence[Turn], names: Names, *, requested: int | None = None
) -> list[Line]:
    """Return turns as lines, with a heading wherever the session or date changes.

    Of turns with the same number, the one at the position `requested` is the anchor, else the first.
    """
    turn_numbers.number(turns)
    dates = session_dates(script_record(dialogue.script))
    has_marks = dialogue.corpus.has_marks
    view_lines, before = [], None
    leads = {row.number: row for row in reversed(turns)}
    leads |= {row.number: row for row in turns if row.position == requested}
    for row in turns:
        turn = turn_record(row.speaker, row.text, row.given, row.at, row.extra)
        display = happening(turn, names, turn.text)
        view_lines.append(
            Line(
                position=row.position,
                number=row.number,
                who=display.who,
                colour=names.colour(turn.speaker),
                pieces=views.parts(display.text) if has_marks else [(display.text, False)],
                given=row.given,
                at=row.at,
                how=display.how,
                private=display.private,
                heading=heading(turn, before, dates=dates),
                aside=_aside(turn),
                language=language_tag(dialogue.language),
                anchor=f"turn-{row.number}" + ("" if leads[row.number] is row else f"-{row.position}"),
                turn=row.pk,
            )
        )
        before = turn
    return view_lines


def _aside(turn: TurnRecord) -> str:
    """Return the information about a turn that raters do not see."""
    extra = json.dumps(dict(turn.extra), ensure_ascii=False) if turn.extra else ""
    return " · ".join(part for part in (turn.time, extra) if part)


def has_metrics(continuation: Continuation) -> bool:
    """Whether a metric scored a continuation or its turns."""
    own = Label.objects.filter(item__continuation=continuation, item__compared=None)
    return own.filter(rater__kind=Rater.Kind.METRIC).exists()


def answers(continuation: Continuation) -> list[Answers]:
    """Return people's, judges' and keys' answers about a continuation and its turns, whole first.

    After an arrow come the turn numbers and words of an answer's evidence.

    Metrics have a page of their own, which shows each value with its cause. Comparisons with others are not
    included, as they are not about this continuation alone, and neither are rechecks of a judge for drift.
    """
    labels = (
        Label.objects.filter(item__continuation=continuation, item__compared=None, superseded_at__isnull=True)
        .exclude(rater__kind=Rater.Kind.METRIC)
        .exclude(rater__kind=Rater.Kind.JUDGE, occasion=Occasion.REPEAT)
        .select_related("rater", "item__turn", "question__version__scheme")
        .order_by("item_id", "question__version", "question__position", "rater__name", "sample")
    )
    by_question: dict[tuple[int, int], Answers] = {}
    dialogue = continuation.dialogue_id
    points = pointed({label.pk: (dialogue, label.evidence) for label in labels if label.evidence})
    for label in labels:
        question = label.question
        is_tag = question.level == "binary" and bool(question.group)
        entry = by_question.setdefault(
            (label.item_id, label.question_id),
            Answers(
                label.item.turn.position + 1 if label.item.turn else None,
                question.title,
                question.version.name,
                is_tag,
            ),
        )
        entry.is_unset &= label.number in (None, 0)
        is_decision = label.occasion == Occasion.ADJUDICATION
        parts = [_with_reason(label) if is_decision else _format_answer(label)]
        if of := points.get(label.pk):
            parts.append(", ".join(map(str, of)))
        of_kind = entry.by_kind.setdefault(KINDS["" if is_decision else label.rater.kind], {})
        of_kind.setdefault(title_of(label.rater, continuation.dialogue.corpus_id), []).append(
            " → ".join(parts)
        )
    for entry in by_question.values():  # by pseudonym: user-name order would reveal people
        entry.by_kind = {kind: dict(sorted(people.items())) for kind, people in entry.by_kind.items()}
    return list(by_question.values())


def unset(entries: Iterable[Answers]) -> dict[int | None, list[str]]:
    """Return the tags that were asked about and that nobody set, by turn."""
    by_turn: dict[int | None, list[str]] = {}
    for entry in entries:
        if entry.is_unset:
            by_turn.setdefault(entry.turn, []).append(entry.question)
    return by_turn


def _format_answer(label: Label) -> str:
    if label.number is not None:
        return f"{label.number:g}"
    return label.text if label.text is not None else f"missing ({label.missing})"


def _with_reason(label: Label) -> str:
    return f"{_format_answer(label)}: {label.explanation}" if label.explanation else _format_answer(label)
