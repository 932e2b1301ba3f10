"""A bench's targets as cards: what was said there, what people answered and what a draft did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotation.corpora.dialogue_view import Line
from annotation.labels.pseudonyms import name_of
from annotation.labels.recording import Pointed, pointed
from annotation.models import Item, Label, turn_numbers
from annotation.models.labels import live_labels
from calibration.disagreements.showing import lines_of, named_value
from calibration.workbench.sheets import Judged, Sheet, sheets
from jobs.models import Call
from judges.models import Bench, BenchTarget, DraftAnswer


@dataclass(frozen=True, slots=True)
class Answers:
    """One question on one item: who of the people said what (after an arrow the numbers of the turns that the
    answer points at, with the words), and what the judge said (its samples' mean
    last, where it has several)."""

    item: Item
    title: str
    people: tuple[tuple[str, str], ...]
    judge: tuple[str, ...]
    why: str
    differs: bool


@dataclass(slots=True)
class Card:
    """One target: its lines, the answers about it, and the calls that were made."""

    target: BenchTarget
    items: list[Item]
    lines: list[Line] = field(default_factory=list)
    answers: list[Answers] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    left_out: int = 0

    @property
    def shown(self) -> Item:
        """The item whose turn, or of a whole continuation whose first turns, are shown."""
        return self.items[-1] if self.target.item_id is None else self.items[0]

    @property
    def rated(self) -> int | None:
        """The position of the turn that it is about, None for a whole continuation or dialogue."""
        turn = self.items[0].turn if self.target.item_id is not None else None
        return turn.position if turn else None


def cards(bench: Bench, judged: Judged, targets: Sequence[BenchTarget]) -> list[Card]:
    """Return targets as cards, in their order. Questions that all deny are left out and counted."""
    found = _empty(targets)
    wanted = [item.pk for card in found for item in card.items]
    read = sheets(bench, [judged], wanted)
    why, points = _explanations(judged, wanted), _points(wanted)
    whole = {item.pk: item for card in found for item in card.items}
    answers: dict[int, list[Answers | None]] = {}
    for sheet in read:
        for row, pk in enumerate(sheet.items):
            answers.setdefault(pk, []).append(_answers(sheet, judged, row, whole[pk], why, points))
    calls = _calls(judged, targets)
    turn_numbers.number(item.turn for card in found for item in card.items)
    lines = lines_of([card.shown for card in found])
    for card in found:
        listed = [one for item in card.items for one in answers.get(item.pk, [])]
        card.answers = [one for one in listed if one is not None]
        card.left_out = len(listed) - len(card.answers)
        card.calls = calls.get((card.target.continuation_id, card.target.item_id), [])
        card.lines = lines[card.shown.pk]
    return found


def _empty(targets: Sequence[BenchTarget]) -> list[Card]:
    related = ("turn", "continuation__dialogue", "continuation__system")
    rows = Item.objects.select_related(*related)
    single = rows.in_bulk([target.item_id for target in targets if target.item_id is not None])
    continuations = [target.continuation_id for target in targets if target.item_id is None]
    of: dict[int, list[Item]] = {}
    for item in rows.filter(continuation__in=continuations).order_by("turn__position"):
        of.setdefault(item.continuation_id, []).append(item)
    return [
        Card(
            target,
            of.get(target.continuation_id, []) if target.item_id is None else [single[target.item_id]],
        )
        for target in targets
    ]


def _answers(
    sheet: Sheet,
    judged: Judged,
    row: int,
    item: Item,
    why: Mapping[tuple[int, str], str],
    points: Mapping[tuple[int, str, str], tuple[Pointed, ...]],
) -> Answers | None:
    """Return the answers to a question on an item; None where nobody answered, or all deny."""
    ratings, question = sheet.ratings, sheet.question
    people = [
        (ratings.raters[j], float(ratings.values[row, j]))
        for j in (*ratings.of_kind("human"), *ratings.of_kind("key"))
        if not np.isnan(ratings.values[row, j])
    ]
    own = [float(one.values[row]) for one in sheet.of(judged) if not np.isnan(one.values[row])]
    said = [value for _, value in people] + own
    if not said or (ratings.level == "binary" and all(value != ratings.positive for value in said)):
        return None

    def told(name: str, value: float) -> str:
        pointed = ", ".join(map(str, points.get((item.pk, question.key, name), ())))
        return " → ".join(filter(None, [named_value(question, ratings, value), pointed]))

    return Answers(
        item,
        question.title,
        tuple((name, told(name, value)) for name, value in people),
        tuple(named_value(question, ratings, value) for value in own),
        why.get((item.pk, question.key), ""),
        bool(own and people and any(value != own[0] for _, value in people)),
    )


def _points(items: Sequence[int]) -> dict[tuple[int, str, str], tuple[Pointed, ...]]:
    """Return what people's answers point at, by item, question and name."""
    labels = live_labels().filter(item__in=items, evidence__isnull=False, rater__kind="human")
    related = ("question", "rater", "item__continuation")
    return pointed(
        {
            (label.item_id, label.question.key, name_of(label.rater, label.item.corpus_id)): (
                label.item.continuation.dialogue_id,
                label.evidence or (),
            )
            for label in labels.select_related(*related)
        }
    )


def _explanations(judged: Judged, items: Iterable[int]) -> dict[tuple[int, str], str]:
    """Return what a judge wrote down, by item and question: of the first sample that has any."""
    if judged.draft is not None and not judged.draft.kept:
        drafted = DraftAnswer.objects.filter(draft=judged.draft, item__in=items).order_by("pk")
        rows = list(drafted.values_list("item_id", "question__key", "explanation"))
    else:
        labels = Label.objects.filter(rater=judged.rater, item__in=items, superseded_at=None).order_by("pk")
        rows = list(labels.values_list("item_id", "question__key", "explanation"))
    told: dict[tuple[int, str], str] = {}
    for item, key, explanation in rows:
        if explanation:
            told.setdefault((item, key), explanation)
    return told


def _calls(judged: Judged, targets: Sequence[BenchTarget]) -> dict[tuple[int, int | None], list[Call]]:
    rows = Call.objects.filter(
        rater=judged.rater, continuation__in={target.continuation_id for target in targets}
    )
    found: dict[tuple[int, int | None], list[Call]] = {}
    for call in rows.order_by("sample", "part"):
        found.setdefault((call.rated, call.item_id), []).append(call)
    return found
