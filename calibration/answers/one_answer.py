"""One answer as a page shows it: what was asked and replied, why the key is that, what was retrieved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Continuation, Item, Label, Rater, Turn
from annotation.scripts.answers import UNKNOWN_TEXT
from annotation.scripts.records import LETTERS, date_record
from annotation.work.labels import name_of
from calibration.answers.groups import FORMAT
from calibration.answers.listing import is_locked
from calibration.answers.reading import OCCASIONS, SCHEME, record_of, rows_of
from calibration.answers.rows import MEMORY, NAMES, RETRIEVER, AnswerRow
from calibration.errors import AnswersRefused

MOST_OTHERS = 100


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session of the script as it is told of: its number, id, date and place."""

    number: int
    id: str = ""
    date: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a rater said of an answer: the value, or why there is none, and the explanation."""

    rater: str
    kind: str
    question: str
    value: str
    explanation: str = ""


@dataclass(frozen=True)
class AnswerView:
    """An answer with all that it is scored by. ``opinions`` are None where test was not opened yet.

    ``options`` are the texts as shown, by letter; ``evidence`` and ``retrieved`` sessions of the script.
    """

    item: Item
    continuation: Continuation
    row: AnswerRow
    record: Mapping[str, Any]
    question: str
    reply: str
    options: tuple[tuple[str, str], ...]
    session: ShownSession
    evidence: tuple[ShownSession, ...]
    retrieved: tuple[ShownSession, ...]
    opinions: tuple[Opinion, ...] | None
    others: tuple[Item, ...]

    @property
    def asker(self) -> str:
        """The name of who asks, else the id."""
        names = {one["id"]: one.get("name") for one in self.continuation.dialogue.participants}
        return names.get(self.row.asker) or self.row.asker

    @property
    def by_others(self) -> list[tuple[Item, str]]:
        """The answers of others, each with what its condition says of it beside the model and the set."""
        return [(other, _briefly(other.continuation.condition)) for other in self.others]

    @property
    def rule(self) -> str:
        """The rule that says whether it can be answered, in words."""
        return str(self.record.get("rule") or "").replace("_", " ")


def view(item: Item, judge: Rater | str | None = None) -> AnswerView:
    """Return an answer with what it is scored by; raise AnswersRefused where nothing was recorded of it."""
    assert item.turn is not None
    record = record_of(item.turn.extra)
    if record is None:
        raise AnswersRefused("nothing was recorded of what was asked here")
    (row,) = rows_of(Item.objects.filter(pk=item.pk), judge)
    part = item.continuation
    sessions = (part.dialogue.script or {}).get("sessions", ())
    opinions = None if is_locked(item.corpus, item.pk) else tuple(_opinions(item))
    return AnswerView(
        item,
        part,
        row,
        record,
        _question(item.turn),
        item.turn.text,
        _options(record),
        _sessions([row.session], sessions)[0],
        _sessions(record.get("evidence") or (), sessions),
        _sessions((record.get("retrieval") or {}).get("sessions") or (), sessions),
        opinions,
        _others(item, record),
    )


def _briefly(condition: Mapping[str, Any]) -> str:
    told = (condition.get(name) for name in (MEMORY, RETRIEVER, NAMES, FORMAT))
    return ", ".join(str(value) for value in told if value and value != "none")


def _question(turn: Turn) -> str:
    """Return what was asked: the given turn right before."""
    rows = Turn.objects.filter(continuation=turn.continuation_id, position__lt=turn.position, given=True)
    asked = rows.filter(at=turn.at).order_by("-position").first()
    return asked.text if asked else ""


def _options(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    choices = list(record.get("choices") or ())
    return tuple(zip(LETTERS, [*choices, UNKNOWN_TEXT], strict=False)) if choices else ()


def _sessions(numbers: Iterable[int], stored: Any) -> tuple[ShownSession, ...]:
    made = []
    for number in numbers:
        told = stored[number - 1] if 0 < number <= len(stored) else {}
        when = str(date_record(told["date"])) if told.get("date") else ""
        made.append(ShownSession(number, told.get("id", ""), when, told.get("place", "")))
    return tuple(made)


def _opinions(item: Item) -> list[Opinion]:
    labels = Label.objects.filter(
        item=item, superseded_at=None, occasion__in=OCCASIONS, question__version__scheme__key=SCHEME
    ).select_related("rater", "question")
    opinions = [_opinion(label, item.corpus_id) for label in labels.order_by("sample")]
    return sorted(opinions, key=lambda opinion: (opinion.question, opinion.rater))


def _opinion(label: Label, corpus: int) -> Opinion:
    said = label.missing or (label.text if label.number is None else f"{label.number:g}")
    kind = label.rater.get_kind_display()
    return Opinion(name_of(label.rater, corpus), kind, label.question.key, said or "", label.explanation)


def _others(item: Item, record: Mapping[str, Any]) -> tuple[Item, ...]:
    """Return the answers of other systems and trials to the same question in the same session."""
    same = Item.objects.filter(
        kind=item.kind,
        continuation__dialogue=item.continuation.dialogue_id,
        turn__extra__extra__answer__question=record["question"],
        turn__extra__extra__answer__session=record["session"],
    )
    rows = same.exclude(pk=item.pk).select_related("continuation__system", "turn")
    return tuple(rows.order_by("continuation__system__name", "continuation__trial", "pk")[:MOST_OTHERS])


def content(shown: AnswerView) -> dict[str, Any]:
    """Return an answer as plain data; `right` and `labels` are null before test was opened."""
    is_open = shown.opinions is not None
    return {
        "id": shown.item.pk,
        "corpus": shown.item.corpus.name,
        "dialogue": shown.continuation.dialogue.key,
        "system": shown.continuation.system.name,
        "condition": shown.continuation.condition,
        "trial": shown.continuation.trial,
        "session": shown.row.session,
        "question": shown.question,
        "reply": shown.reply,
        "answer": dict(shown.record),
        "right": shown.row.strict if is_open else None,
        "right_lenient": shown.row.lenient if is_open else None,
        "labels": None
        if shown.opinions is None
        else [
            {
                "rater": one.rater,
                "kind": one.kind,
                "question": one.question,
                "value": one.value,
                "explanation": one.explanation,
            }
            for one in shown.opinions
        ],
    }
