"""What people answered about drafts of facts and quiz questions, and what that comes to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.labels.pseudonyms import name_of
from annotation.models import Corpus, Dialogue, Label, Record
from annotation.models.labels import Occasion
from annotation.question_sets import figures
from annotation.question_sets.relations import table_of
from annotation.schemes.script_review import FACT as FACT_REVIEW
from annotation.schemes.script_review import QUIZ as QUIZ_REVIEW
from annotation.scripts.records import FACT, QUESTION, Fact, Question
from annotation.scripts.reviewing import Outcome, Review, fact_outcome, quiz_outcome
from annotation.scripts.sessions import Sessions
from annotation.scripts.stored import fact_record, question_record
from annotation.text.tokens import fold

SCHEMES = {FACT: FACT_REVIEW.key, QUESTION: QUIZ_REVIEW.key}
"""The scheme by which each kind of record is reviewed."""
ADJUDICATOR = "adjudication"
Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A draft with what its reviews come to, and how many people reviewed it."""

    record: Record
    outcome: Outcome[Any]
    reviewers: int
    adjudicated: bool


def of_corpus(corpus: Corpus, kind: str) -> list[Reviewed]:
    """Return what the reviews of a corpus's drafts come to, in the order of the drafts.

    Drafts that nobody reviewed are not among them.
    """
    drafts = _drafts(corpus, kind)
    told = _answers(drafts, SCHEMES[kind])
    found: list[Reviewed] = []
    for dialogue in {record.dialogue_id: record.dialogue for record in drafts if record.pk in told}.values():
        own = [record for record in drafts if record.dialogue_id == dialogue.pk and record.pk in told]
        found += _of_script(corpus, dialogue, own, told)
    place = {record.pk: number for number, record in enumerate(drafts)}
    return sorted(found, key=lambda reviewed: place[reviewed.record.pk])


def unreviewed(corpus: Corpus, kind: str) -> int:
    """Return how many drafts nobody has reviewed."""
    drafts = _drafts(corpus, kind)
    return len(drafts) - len(_answers(drafts, SCHEMES[kind]))


def _drafts(corpus: Corpus, kind: str) -> list[Record]:
    rows = Record.objects.filter(corpus=corpus, kind=kind, status="draft", superseded_by=None, set=None)
    return list(rows.select_related("dialogue").order_by("dialogue__key", "pk"))


def _of_script(
    corpus: Corpus, dialogue: Dialogue, drafts: Iterable[Record], told: Mapping[int, _Given]
) -> Iterator[Reviewed]:
    sessions, table = Sessions(figures.without_texts(dialogue)), table_of(corpus)
    for record in drafts:
        given = told[record.pk]
        reviews = given.reviews()
        if given.contested:
            outcome: Outcome[Any] = Outcome("undecided", reason=given.contested)
        elif record.kind == FACT:
            fact: Fact = fact_record(record.key, record.content, record.status)
            outcome = fact_outcome(fact, reviews, sessions, table)
        else:
            question: Question = question_record(record.key, record.content, record.status)
            outcome = quiz_outcome(question, reviews, sessions)
        yield Reviewed(record, outcome, len(given.by_rater), bool(given.decided))


class _Given:
    """The answers about one draft: by rater, and those that were adjudicated."""

    def __init__(self) -> None:
        self.by_rater: dict[str, dict[str, Any]] = defaultdict(dict)
        self.decided: dict[str, Any] = {}

    def reviews(self) -> list[Review]:
        """Return a review for each person, and where something was adjudicated one that stands over all."""
        reviews = [Review(rater, answers) for rater, answers in sorted(self.by_rater.items())]
        if not self.decided:
            return reviews
        return [*reviews, Review(ADJUDICATOR, self._agreed() | self.decided, adjudicated=True)]

    @property
    def contested(self) -> str:
        """What was left open by an adjudication, as a reason; '' where nothing was."""
        if not self.decided:
            return ""
        for key, answers in self._left().items():
            if len(answers) > 1:
                return f"{key.replace('_', ' ')} is still to be adjudicated"
        return ""

    def _agreed(self) -> dict[str, Any]:
        return {key: next(iter(answers.values())) for key, answers in self._left().items()}

    def _left(self) -> dict[str, dict[Any, Any]]:
        """Return the answers to what was not adjudicated, of those who answered the rest as was decided."""
        found: dict[str, dict[Any, Any]] = defaultdict(dict)
        for answers in self.by_rater.values():
            if all(_plain(answers.get(key)) == _plain(value) for key, value in self.decided.items()):
                for key, value in answers.items():
                    if key not in self.decided and key not in UNCOMPARED:
                        found[key][_plain(value)] = value
        return found


UNCOMPARED = frozenset(["note"])


def _plain(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else value


def _answers(drafts: Iterable[Record], scheme: str) -> dict[int, _Given]:
    """Return people's answers by a scheme, by the id of the record that they are about."""
    labels = Label.objects.filter(
        item__record__in=[record.pk for record in drafts],
        question__version__scheme__key=scheme,
        superseded_at=None,
        missing="",
        rater__kind="human",
        occasion__in=[Occasion.MAIN, Occasion.IMPORTED, Occasion.ADJUDICATION],
    ).order_by("pk")
    names = {
        label.rater_id: name_of(label.rater, label.item.corpus_id)
        for label in labels.select_related("rater", "item").order_by("rater_id").distinct("rater_id")
    }
    found: dict[int, _Given] = defaultdict(_Given)
    for record, rater, occasion, key, number, text in labels.values_list(
        "item__record", "rater", "occasion", "question__key", "number", "text"
    ):
        value = text if number is None else number
        if occasion == Occasion.ADJUDICATION:
            found[record].decided[key] = value
        else:
            found[record].by_rater[names[rater]][key] = value
    return dict(found)
