"""Results of reviews are applied: accepted, rejected, corrected, or left open with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.errors import QuestionsRefused
from annotation.models import Campaign, Corpus, Item, Label, Question, QuestionSet, Rater, Record
from config.models import Event
from suites.long_dialogue.editing import question_editing, question_sets
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.reviews import answer, brought, opened, record

pytestmark = pytest.mark.django_db

DRAFTS = [
    {"id": "d1", "head": "Ana", "relation": "boss", "tail": "Ben", "session": "s1", "turns": [0]},
    {"id": "d2", "head": "Ben", "relation": "boss", "tail": "Cara", "session": "s2", "turns": [2]},
    {"id": "d3", "head": "Cara", "relation": "roommate", "tail": "Ana", "session": "s4", "turns": [7]},
    {"id": "d4", "head": "Ana", "relation": "job", "tail": "baker", "session": "s4", "turns": [6]},
]
RIGHT, WRONG = {"right": 1}, {"right": 0}
MENDED = {"right": 0, "tail": "ben"}


@pytest.fixture
def people() -> tuple[User, User]:
    return factories.user("ana"), factories.user("ben")


@pytest.fixture
def researcher() -> User:
    return factories.user("ruth", researcher=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return brought(tmp_path, script(facts=DRAFTS))


@pytest.fixture
def campaign(corpus: Corpus, people: tuple[User, User]) -> Campaign:
    """One fact accepted, one rejected, one put right, one on which the two differ."""
    made = opened(corpus, "fact_review", *people)
    told: dict[str, dict[str, Any]] = {"d1": RIGHT, "d2": WRONG, "d3": MENDED}
    answer(made, people[0], **told, d4=RIGHT)
    answer(made, people[1], **told, d4=WRONG)
    return made


def test_a_preview_says_what_would_happen_and_changes_nothing(corpus: Corpus, campaign: Campaign) -> None:
    told = question_editing.preview_reviews(corpus, "fact")
    assert told.counts == {"accepted": 1, "corrected": 1, "rejected": 1, "undecided": 1}
    assert told.undecided == [("the reviewers differ: some reject it, others do not", 1)]
    assert set(Record.objects.filter(kind="fact").values_list("status", flat=True)) == {"draft"}


def test_reviews_are_taken_over(corpus: Corpus, campaign: Campaign, researcher: User) -> None:
    question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    statuses = dict(Record.objects.filter(kind="fact").values_list("key", "status"))
    assert statuses == {
        "d1": "accepted", "d2": "rejected", "d3": "corrected", "d3.2": "accepted", "d4": "draft",
    }  # fmt: skip
    made = record("d3.2")
    assert record("d3").superseded_by == made
    assert (made.content["tail"], made.created_by) == ("Ben", researcher)
    assert made.provenance["by"] == "review"
    assert (made.provenance["of"], made.provenance["reviewers"]) == ("d3", 2)
    assert made.item.cluster == "loaf/s4"
    assert record("d3").content["tail"] == "Ana"


@pytest.mark.exhaustive
def test_taken_over_again_nothing_changes(corpus: Corpus, campaign: Campaign, researcher: User) -> None:
    question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    before = list(Record.objects.order_by("pk").values())
    again = question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    assert again.counts == {"accepted": 0, "corrected": 0, "rejected": 0, "undecided": 1}
    assert list(Record.objects.order_by("pk").values()) == before
    assert Event.objects.filter(verb="apply reviews").count() == 1


def test_what_one_person_reviewed_stays_a_draft(
    corpus: Corpus, people: tuple[User, User], researcher: User
) -> None:
    made = opened(corpus, "fact_review", *people)
    answer(made, people[0], d1=RIGHT, d2=RIGHT, d3=RIGHT, d4=RIGHT)
    told = question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    assert told.undecided == [("one person has reviewed it, and two are needed", 4)]


def adjudicate(key: str, question: str, value: float) -> None:
    asked = Question.objects.get(version__scheme__key="fact_review", key=question)
    judge, _ = Rater.objects.get_or_create(kind="human", name="adjudicator")
    Label.objects.create(
        item=Item.objects.get(record__key=key), question=asked, rater=judge, occasion="adjudication",
        number=value,
    )  # fmt: skip


def test_an_adjudicated_review_stands_over_all(corpus: Corpus, campaign: Campaign, researcher: User) -> None:
    adjudicate("d4", "right", 1)
    told = question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    assert told.counts["undecided"] == 0
    assert record("d4").status == "accepted"


def test_an_adjudication_keeps_what_those_said_who_were_right(
    corpus: Corpus, people: tuple[User, User], researcher: User
) -> None:
    made = opened(corpus, "fact_review", *people)
    answer(made, people[0], d1=RIGHT, d2=RIGHT, d3=RIGHT, d4=RIGHT)
    answer(made, people[1], d1=RIGHT, d2=RIGHT, d3=MENDED, d4=RIGHT)
    adjudicate("d3", "right", 0)
    question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    assert record("d3.2").content["tail"] == "Ben"
    assert record("d3.2").provenance["adjudicated"]


def test_quiz_reviews_set_the_evidence(tmp_path: Path, people: tuple[User, User], researcher: User) -> None:
    asked = script()["questions"][0] | {"status": "draft"}
    corpus = brought(tmp_path, script(questions=[asked], question_sets=None), name="quiz")
    made = opened(corpus, "quiz_review", *people)
    told = {"answerable": 1, "evidence_sessions": "s4; s2", "all_needed": 1, "answer_right": 1}
    for person in people:
        answer(made, person, q1=told)
    question_editing.apply_reviews(corpus=corpus, kind="question", by=researcher)
    made_right = Record.objects.get(corpus=corpus, key="q1.2")
    assert (made_right.content["evidence"], made_right.content["evidence_all"]) == (["s2", "s4"], True)
    assert made_right.content["text"] == "What did Cara buy?"


@pytest.mark.exhaustive
def test_taking_over_makes_sets_stale(corpus: Corpus, campaign: Campaign, researcher: User) -> None:
    question_sets.make(corpus=corpus, name="second", by=researcher)
    question_editing.apply_reviews(corpus=corpus, kind="fact", by=researcher)
    assert "reviews of facts were taken over" in QuestionSet.objects.get(name="second").stale.lower()


def test_a_fact_is_written_by_hand_with_names_and_turns_checked(corpus: Corpus, researcher: User) -> None:
    dialogue = corpus.dialogues.get()
    told = {"head": "ANA", "relation": "Boss", "tail": "ben", "session": "1", "turns": ["1"]}
    made = question_editing.add(dialogue=dialogue, kind="fact", content=told, accepted=True, by=researcher)
    assert made.key == "f-hand-1"
    assert made.content == {"head": "Ana", "relation": "boss", "tail": "Ben", "session": "s1", "turns": [0]}
    assert (made.status, made.provenance) == ("accepted", {"by": "hand"})
    assert Event.objects.filter(verb="add fact").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"head": " "}, "head"),
        ({"relation": "nemesis"}, "relation"),
        ({"tail": "Ana"}, "tail"),
        ({"session": "s9"}, "session"),
        ({"turns": ["3"]}, "turns"),
        ({"turns": ["one"]}, "turns"),
    ],
)
def test_a_fact_that_cannot_be_is_refused_at_its_field(
    corpus: Corpus, researcher: User, changes: dict[str, Any], field: str
) -> None:
    told = {"head": "Ana", "relation": "boss", "tail": "Ben", "session": "s1", "turns": ["1"]} | changes
    with pytest.raises(QuestionsRefused) as refused:
        question_editing.add(dialogue=corpus.dialogues.get(), kind="fact", content=told, by=researcher)
    assert refused.value.field == field


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": "What did Cara buy"}, "text"),
        ({"choices": ["a", "b", "c"]}, "choices"),
        ({"choices": ["a hat", "A hat", "red boots", "gloves"]}, "choices"),
        ({"answer": "a car"}, "answer"),
        ({"evidence": []}, "evidence"),
    ],
)
def test_a_question_that_cannot_be_is_refused_at_its_field(
    corpus: Corpus, researcher: User, changes: dict[str, Any], field: str
) -> None:
    told = record("q1").content | changes
    with pytest.raises(QuestionsRefused) as refused:
        question_editing.add(dialogue=corpus.dialogues.get(), kind="question", content=told, by=researcher)
    assert refused.value.field == field


@pytest.mark.exhaustive
def test_a_draft_nobody_reviewed_is_rewritten_and_a_reviewed_one_superseded(
    corpus: Corpus, campaign: Campaign, researcher: User
) -> None:
    first = record("d1")
    told = first.content | {"tail": "Cara", "turns": [1]}
    labelled = question_editing.change(record=first, content=told, by=researcher)
    assert (labelled.key, labelled.content["turns"]) == ("d1.2", [0])
    told = record("d4").content | {"turns": [7]}
    fresh = question_editing.add(dialogue=corpus.dialogues.get(), kind="fact", content=told, by=researcher)
    again = question_editing.change(record=fresh, content=told | {"tail": "cook"}, by=researcher)
    assert (again.pk, again.content["tail"]) == (fresh.pk, "cook")
    with pytest.raises(QuestionsRefused, match="superseded"):
        question_editing.change(record=record("d1"), content=told, by=researcher)


def test_drafts_nobody_reviewed_can_be_accepted_without_review_and_that_is_logged(
    corpus: Corpus, researcher: User
) -> None:
    assert question_editing.accept_drafts(corpus=corpus, kind="fact", by=researcher) == 4
    assert question_editing.accept_drafts(corpus=corpus, kind="fact", by=researcher) == 0
    event = Event.objects.get(verb="decide without review")
    assert (event.detail["records"], event.by) == (4, researcher)


def test_questions_of_a_set_are_not_decided_by_hand(corpus: Corpus, researcher: User) -> None:
    question_editing.accept_drafts(corpus=corpus, kind="fact", by=researcher)
    made = question_sets.make(corpus=corpus, name="second", by=researcher).set
    derived = list(Record.objects.filter(set=made).values_list("pk", flat=True))
    assert question_editing.decide(corpus=corpus, records=derived, status="rejected", by=researcher) == 0
