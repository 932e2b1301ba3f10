"""Question sets in the database: created by rules, reused, replaced, kept, and marked when stale."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.errors import QuestionsRefused
from annotation.models import Corpus, Item, QuestionSet, Record, Use
from config.models import Event
from jobs.kinds import kind_of
from jobs.models import Job
from suites.long_dialogue.editing import question_editing, question_figures, question_relations, question_sets
from suites.long_dialogue.editing.import_records import uses_of
from suites.long_dialogue.editing.sessions import change_session
from suites.long_dialogue.scripts.making import make as make_one
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.reviews import answer, brought, opened

pytestmark = pytest.mark.django_db

SAID = (
    ("Ana", "boss", "Ben", "s1", 0),
    ("Cara", "boss", "Dora", "s2", 2),
    ("Ben", "boss", "Emil", "s3", 4),
    ("Ana", "boss", "Fritz", "s4", 6),
    ("Cara", "roommate", "Ben", "s4", 7),
    ("Dora", "boss", "Gus", "s4", 6),
)
FACTS = [
    dict(zip(("head", "relation", "tail", "session"), said, strict=False))
    | {"id": f"f{number}", "turns": [said[4]], "status": "accepted"}
    for number, said in enumerate(SAID, start=1)
]


@pytest.fixture
def researcher() -> User:
    return factories.user(researcher=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return brought(tmp_path, script(facts=FACTS, question_sets=None))


def made(corpus: Corpus, by: User, name: str = "first", **told: object) -> question_sets.MakeResult:
    return question_sets.make(corpus=corpus, name=name, by=by, **told)  # type: ignore[arg-type]


def test_what_is_stored_is_what_the_rules_say(corpus: Corpus, researcher: User) -> None:
    stored = made(corpus, researcher, seed=3).set
    dialogue = corpus.dialogues.get()
    told = make_one(question_figures.without_texts(dialogue), name="first", seed=3)
    assert set(uses_of(stored, dialogue.pk)) == set(told.set.uses)
    derived = Record.objects.filter(set=stored)
    assert set(derived.values_list("key", flat=True)) == {question.id for question in told.questions}
    assert Item.objects.filter(record__in=derived).count() == len(told.questions)
    assert stored.figures["uses"] == len(told.set.uses)
    assert stored.figures["answerable"] == sum(use.answerable for use in told.set.uses)
    lines = question_figures.table2(stored.figures)
    assert [line["title"] for line in lines] == ["Quiz", "Facts, one hop", "Facts, two hops", "All"]
    assert sum(line["uses"] for line in lines[:-1]) == lines[-1]["uses"] == stored.figures["uses"]
    assert lines[-1]["per_session"] == len(told.set.uses) / 4


def test_figures_of_a_set_that_came_with_a_file_are_counted_from_its_uses(tmp_path: Path) -> None:
    brought(tmp_path, script())
    told = question_figures.figures_of(QuestionSet.objects.get())
    assert (told["uses"], told["answerable"], told["asked"], told["sessions"]) == (2, 1, 2, 5)
    assert [row["type"] for row in told["rows"]] == ["ans_wo_time", "before_event_unans"]


def test_made_from_the_same_nothing_changes(corpus: Corpus, researcher: User) -> None:
    first = made(corpus, researcher)
    before = set(Use.objects.values_list("pk", flat=True))
    again = made(corpus, researcher)
    assert (first.created, again.created) == (True, False)
    assert again.set.pk == first.set.pk
    assert set(Use.objects.values_list("pk", flat=True)) == before
    assert Event.objects.filter(verb="make questions").count() == 1


def test_another_seed_replaces_a_set_that_nobody_used(corpus: Corpus, researcher: User) -> None:
    first = made(corpus, researcher, seed=0).set
    second = made(corpus, researcher, seed=1).set
    assert (second.pk, second.version, second.options["seed"]) == (first.pk, 1, 1)
    assert QuestionSet.objects.count() == 1


def test_a_set_that_a_simulation_used_gets_a_new_version(corpus: Corpus, researcher: User) -> None:
    first = made(corpus, researcher, seed=0).set
    QuestionSet.objects.filter(pk=first.pk).update(used_at=timezone.now())
    before = list(Use.objects.filter(set=first).order_by("pk").values())
    second = made(corpus, researcher, seed=1).set
    assert (second.version, str(second)) == (2, "first (version 2)")
    assert list(Use.objects.filter(set=first).order_by("pk").values()) == before
    assert all(
        key.startswith("first@2:") for key in Record.objects.filter(set=second).values_list("key", flat=True)
    )


def test_a_set_whose_questions_people_reviewed_gets_a_new_version(corpus: Corpus, researcher: User) -> None:
    first = made(corpus, researcher).set
    derived = Record.objects.filter(set=first).first()
    assert derived is not None
    Record.objects.filter(pk=derived.pk).update(content=derived.content | {"styles": {"default": "So, who?"}})
    Record.objects.filter(key="q1").update(status="rejected")
    ana = factories.user("ana")
    campaign = opened(corpus, "style_review", ana, record_status="accepted")
    told = {"same_meaning": 1, "in_character": 4}
    answer(campaign, ana, **{derived.key: told})
    assert made(corpus, researcher).set.version == 2
    assert Record.objects.filter(pk=derived.pk).exists()


def test_a_set_that_came_with_a_file_is_not_made_anew(tmp_path: Path, researcher: User) -> None:
    corpus = brought(tmp_path, script())
    corpus.question_sets.update(imported=True)
    with pytest.raises(QuestionsRefused, match="imported with a file"):
        made(corpus, researcher)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"name": "a:b"}, "without @"),
        ({"name": " "}, "name"),
        ({"policy": "mine"}, "policy"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_made_is_refused(
    corpus: Corpus, researcher: User, told: dict[str, object], why: str
) -> None:
    with pytest.raises(QuestionsRefused, match=why):
        made(corpus, researcher, **told)  # type: ignore[arg-type]
    assert not QuestionSet.objects.exists()


def test_a_corpus_without_scripts_has_no_questions(researcher: User) -> None:
    with pytest.raises(QuestionsRefused, match="no long dialogue"):
        made(factories.corpus(), researcher)


def test_a_changed_date_and_a_changed_fact_make_a_set_stale_until_it_is_made_anew(
    corpus: Corpus, researcher: User
) -> None:
    first = made(corpus, researcher).set
    dialogue = corpus.dialogues.get()
    change_session(dialogue=dialogue, session="s5", kind="talk", by=researcher, date="1997")
    first.refresh_from_db()
    assert "computed anew" in first.stale
    again = made(corpus, researcher)
    assert (again.created, again.set.stale) == (True, "")
    question_editing.decide(
        corpus=corpus, records=[Record.objects.get(key="f1").pk], status="rejected", by=researcher
    )
    again.set.refresh_from_db()
    assert again.set.stale == "1 fact was rejected without review: make the set anew."
    assert made(corpus, researcher).set.stale == ""


def test_back_to_what_it_was_made_from_a_set_is_no_longer_stale(corpus: Corpus, researcher: User) -> None:
    made(corpus, researcher)
    fact = Record.objects.get(key="f1").pk
    for status in ("rejected", "accepted"):
        question_editing.decide(corpus=corpus, records=[fact], status=status, by=researcher)
    again = made(corpus, researcher)
    assert (again.created, again.set.stale) == (False, "")


def test_superseded_facts_do_not_count(corpus: Corpus, researcher: User) -> None:
    fact = Record.objects.get(key="f1")
    question_editing.change(record=fact, content=fact.content | {"tail": "Cara", "turns": [1]}, by=researcher)
    left = {one.id for one in question_figures.facts(corpus.dialogues.get())}
    assert left == {"f1.2", "f2", "f3", "f4", "f5", "f6"}


def test_relations_of_a_corpus_are_versions_and_the_same_changes_nothing(
    corpus: Corpus, researcher: User
) -> None:
    made(corpus, researcher)
    rows = question_relations.table_of(corpus).as_rows()
    assert question_relations.replace_relations(corpus=corpus, rows=rows, by=researcher) is None
    fewer = [row for row in rows if row["key"] != "roommate"]
    first = question_relations.replace_relations(corpus=corpus, rows=fewer, by=researcher, seen=0)
    assert first is not None
    assert (first.version, len(question_relations.table_of(corpus))) == (1, 31)
    assert QuestionSet.objects.get().stale == "The relations were changed: make the set anew."
    with pytest.raises(QuestionsRefused, match="meanwhile"):
        question_relations.replace_relations(corpus=corpus, rows=rows, by=researcher, seen=0)
    told = made(corpus, researcher).set
    assert told.options["relations"] == 1
    assert told.figures["dropped"]["unknown relation"] == 1


def test_a_table_that_makes_no_sense_is_refused_with_row_and_field(corpus: Corpus, researcher: User) -> None:
    rows = question_relations.table_of(corpus).as_rows()
    rows[0]["tail"] = "star sign"
    with pytest.raises(QuestionsRefused, match=r"Relation 1 .*, tail"):
        question_relations.replace_relations(corpus=corpus, rows=rows, by=researcher)


def test_a_large_corpus_is_done_by_a_job(
    corpus: Corpus, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 3)
    started = question_sets.make_or_start(
        corpus=corpus, name="first", seed=0, policy="body", presence=True, by=researcher
    )
    assert isinstance(started, Job)
    told = kind_of(started.kind).run(started, lambda done, total, note="": None)  # type: ignore[arg-type]
    assert told["created"]
    assert told["uses"] == Use.objects.count()
    again = kind_of(started.kind).run(started, lambda done, total, note="": None)  # type: ignore[arg-type]
    assert not again["created"]


@pytest.mark.exhaustive
def test_wordings_are_taken_in_and_kept_when_a_set_is_made_anew(corpus: Corpus, researcher: User) -> None:
    first = made(corpus, researcher).set
    derived = Record.objects.get(key="first:f1:past")
    styles = {"q1": {"default": "What was it that Cara bought?"}, derived.key: {"ben": "So who was it?"}}
    dialogue = corpus.dialogues.get()
    told = question_sets.take_wordings(dialogue=dialogue, styles=styles, by=researcher)
    assert told == {"worded": 2, "superseded": 0, "used": 0}
    assert question_sets.take_wordings(dialogue=dialogue, styles=styles, by=researcher)["worded"] == 0
    assert not made(corpus, researcher).created
    assert made(corpus, researcher, seed=5).created
    assert Record.objects.get(key="first:f1:past").content["styles"] == {"ben": "So who was it?"}
    QuestionSet.objects.filter(pk=first.pk).update(used_at=timezone.now())
    other = {"first:f1:past": {"ben": "Otherwise?"}}
    assert question_sets.take_wordings(dialogue=dialogue, styles=other, by=researcher)["used"] == 1
    made(corpus, researcher, seed=6)
    assert Record.objects.get(key="first@2:f1:past").content["styles"] == {"ben": "So who was it?"}


@pytest.mark.exhaustive
def test_a_set_that_was_used_keeps_the_texts_of_the_quiz_questions_it_asks(
    corpus: Corpus, researcher: User
) -> None:
    first = made(corpus, researcher).set
    dialogue, quiz = corpus.dialogues.get(), Record.objects.get(key="q1")
    assert first.uses.filter(question=quiz).exists()
    QuestionSet.objects.filter(pk=first.pk).update(used_at=timezone.now())
    asked = {use.question.key: use.question.content for use in first.uses.select_related("question")}
    styles = {key: {"default": f"Well, {key}?"} for key in asked}
    told = question_sets.take_wordings(dialogue=dialogue, styles=styles, by=researcher)
    assert told == {"worded": 0, "superseded": 1, "used": len(asked) - 1}
    assert {use.question.key: use.question.content for use in first.uses.select_related("question")} == asked
    assert Record.objects.get(key="q1").superseded_by == Record.objects.get(key="q1.2")
    assert Record.objects.get(key="q1.2").content["styles"] == {"default": "Well, q1?"}
    second = made(corpus, researcher).set
    assert second.version == 2
    assert {use.question.key for use in second.uses.all()} & {"q1", "q1.2"} == {"q1.2"}


def test_a_draft_that_a_used_set_asks_is_superseded_when_it_is_changed_by_hand(
    tmp_path: Path, researcher: User
) -> None:
    corpus = brought(tmp_path, script())
    corpus.question_sets.update(used_at=timezone.now())
    Record.objects.filter(key="q1").update(status="draft")
    quiz = Record.objects.get(key="q1")
    changed = question_editing.change(
        record=quiz, content=quiz.content | {"text": "Cara bought what?"}, by=researcher
    )
    assert (changed.key, Record.objects.get(key="q1").content) == ("q1.2", quiz.content)


def test_the_database_refuses_to_change_a_question_that_a_used_set_asks(
    corpus: Corpus, researcher: User
) -> None:
    first = made(corpus, researcher).set
    quiz = Record.objects.get(key="q1")
    styled = quiz.content | {"styles": {"default": "Cara bought what?"}}
    Record.objects.filter(pk=quiz.pk).update(content=styled)
    QuestionSet.objects.filter(pk=first.pk).update(used_at=timezone.now())
    with pytest.raises(IntegrityError, match="a question set that was used asks it"), transaction.atomic():
        Record.objects.filter(pk=quiz.pk).update(content=quiz.content)
    Record.objects.filter(pk=quiz.pk).update(status="rejected")


@pytest.mark.exhaustive
def test_questions_of_a_set_that_people_answered_about_stay_as_they_are(
    corpus: Corpus, researcher: User
) -> None:
    stored, ana = made(corpus, researcher).set, factories.user("ana")
    one, other = Record.objects.filter(set=stored).order_by("pk")[:2]
    Record.objects.filter(pk=one.pk).update(content=one.content | {"styles": {"default": "So, who?"}})
    Record.objects.filter(key="q1").update(status="rejected")
    campaign = opened(corpus, "style_review", ana, record_status="accepted")
    answer(campaign, ana, **{one.key: {"same_meaning": 1, "in_character": 4}})
    styles = {row.key: {"default": "And who?"} for row in (one, other)}
    told = question_sets.take_wordings(dialogue=corpus.dialogues.get(), styles=styles, by=researcher)
    assert told == {"worded": 0, "superseded": 0, "used": 2}


@pytest.mark.exhaustive
def test_a_question_that_people_answered_about_is_superseded_by_one_with_wordings(
    corpus: Corpus, researcher: User
) -> None:
    people = factories.user("ana"), factories.user("ben")
    campaign = opened(corpus, "quiz_review", *people, record_status="accepted")
    for person in people:
        answer(campaign, person, q1={"answerable": 0})
    told = question_sets.take_wordings(
        dialogue=corpus.dialogues.get(), styles={"q1": {"default": "Cara bought what?"}}, by=researcher
    )
    assert told["superseded"] == 1
    assert Record.objects.get(key="q1.2").content["styles"] == {"default": "Cara bought what?"}
