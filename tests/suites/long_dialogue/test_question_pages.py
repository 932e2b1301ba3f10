"""The page Questions and its API: permissions, filters, errors, and the same results by both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, QuestionSet, Record
from suites.long_dialogue.editing import question_sets
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.reviews import answer, brought, opened
from tests.suites.long_dialogue.test_question_sets import FACTS

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def researcher(client: Client) -> User:
    made = factories.user(researcher=True)
    client.force_login(made)
    return made


@pytest.fixture
def corpus(tmp_path: Path, researcher: User) -> Corpus:
    return brought(tmp_path, script(facts=FACTS, question_sets=None))


@pytest.fixture
def one(corpus: Corpus, researcher: User) -> QuestionSet:
    return question_sets.make(corpus=corpus, name="first", by=researcher).set


def at(corpus: Corpus, name: str, *more: object) -> str:
    return reverse(name, args=[corpus.pk, *more])


def test_the_corpus_leads_to_its_questions(client: Client, corpus: Corpus) -> None:
    page = client.get(reverse("corpus", args=[corpus.name])).content.decode()
    assert at(corpus, "questions") in page


def test_a_set_is_made_on_the_page_and_shown_with_its_table(client: Client, corpus: Corpus) -> None:
    told = {"name": "first", "seed": 2, "policy": "appendix", "presence": "on"}
    page = client.post(at(corpus, "questions"), told, follow=True).content.decode()
    for piece in ("Candidates per session", "Facts, two hops", "policy appendix", "What did Cara buy?"):
        assert piece in page
    again = client.post(at(corpus, "questions"), told, follow=True).content.decode()
    assert "nothing changed" in again


def test_a_name_that_cannot_be_is_refused_at_its_field(client: Client, corpus: Corpus) -> None:
    answered = client.post(at(corpus, "questions"), {"name": "a/b", "seed": 0, "policy": "body"})
    assert answered.status_code == 422
    assert "without @" in answered.content.decode()


def test_a_large_corpus_shows_the_job(
    client: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 3)
    page = client.post(at(corpus, "questions"), {"name": "first", "seed": 0, "policy": "body"}, follow=True)
    assert "is being made" in page.content.decode()
    made = client.post(at(corpus, "api-question-sets"), {"name": "first"}, content_type=JSON)
    assert made.status_code == 202


def test_questions_of_a_set_are_narrowed(client: Client, corpus: Corpus, one: QuestionSet) -> None:
    def shown(**asked: str) -> set[str]:
        rows = client.get(at(corpus, "question-set", one.pk), asked).context["rows"]
        return {row["record"].key for row in rows}

    everything = shown()
    assert shown(source="quiz") == {"q1", "first:q1:dated"}
    assert shown(hops="2") < everything
    assert shown(relation="roommate") < shown(source="tkg")
    assert shown(type="future") < everything
    assert shown(text="Cara buy") == {"q1", "first:q1:dated"}
    assert shown(text="no such words") == set()


def test_every_use_of_a_question_says_its_key_its_type_and_why(
    client: Client, corpus: Corpus, one: QuestionSet
) -> None:
    asked = Record.objects.get(key="q1")
    page = client.get(at(corpus, "question-uses", one.pk, asked.pk)).content.decode()
    for piece in ("it was heard before", "these sessions come later", "I don&#x27;t know", "red boots"):
        assert piece in page
    fact = Record.objects.get(key="f1")
    assert client.get(at(corpus, "question-uses", one.pk, fact.pk)).status_code == 404


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["fact", "question"])
def test_records_are_listed_and_narrowed(client: Client, corpus: Corpus, kind: str) -> None:
    page = client.get(at(corpus, "question-records", kind), {"status": "accepted"}).content.decode()
    assert ("Fritz" if kind == "fact" else "What did Cara buy?") in page
    assert client.get(at(corpus, "question-records", kind), {"status": "rejected"}).context["rows"] == []
    assert client.get(at(corpus, "question-records", "turn")).status_code == 404


def test_a_fact_is_written_and_put_right_on_pages(client: Client, corpus: Corpus) -> None:
    told = {"head": "Ana", "relation": "boss", "tail": "Cara", "session": "2", "turns": "3, 4"}
    refused = client.post(at(corpus, "new-record", "fact"), told | {"turns": "1"})
    assert refused.status_code == 422
    assert "Turn 1 is not one of session s2" in refused.content.decode()
    client.post(at(corpus, "new-record", "fact"), told | {"accepted": "on"})
    made = Record.objects.get(key="f-hand-1")
    assert (made.status, made.content["turns"]) == ("accepted", [2, 3])
    page = client.get(at(corpus, "edit-record", made.pk)).content.decode()
    assert 'value="3, 4"' in page
    client.post(at(corpus, "edit-record", made.pk), told | {"tail": "Ben"})
    assert Record.objects.get(key="f-hand-1.2").content["tail"] == "Ben"


def test_a_question_is_written_on_a_page(client: Client, corpus: Corpus) -> None:
    told = {"text": "Who bakes?", "choices": "Ana\nBen\nCara\nDora", "answer": "Ana", "evidence": "s1; 4"}
    client.post(at(corpus, "new-record", "question"), told)
    made = Record.objects.get(key="q-hand-1")
    assert (made.status, made.content["evidence"]) == ("draft", ["s1", "s4"])


def test_records_are_decided_without_review_on_the_page(client: Client, corpus: Corpus) -> None:
    fact = Record.objects.get(key="f1")
    client.post(at(corpus, "decide-records", "fact"), {"record": [fact.pk, "x"], "status": "rejected"})
    fact.refresh_from_db()
    assert fact.status == "rejected"
    page = client.post(at(corpus, "decide-records", "fact"), {"status": "draft"}, follow=True)
    assert "Without review they are accepted or rejected" in page.content.decode()


@pytest.mark.exhaustive
def test_reviews_are_looked_at_and_taken_over_on_the_page(
    client: Client, tmp_path: Path, researcher: User
) -> None:
    corpus = brought(tmp_path)
    people = factories.user("ana"), factories.user("ben")
    campaign = opened(corpus, "fact_review", *people)
    for person in people:
        answer(campaign, person, f2={"right": 0})
    page = client.get(at(corpus, "record-reviews", "fact")).content.decode()
    assert "Take over 1" in page
    assert reverse("campaign-report", args=[campaign.pk]) in page
    report = client.get(reverse("campaign-report", args=[campaign.pk]), follow=True)
    assert "Who answered" in report.content.decode()
    client.post(at(corpus, "record-reviews", "fact"))
    assert Record.objects.get(key="f2").status == "rejected"


def test_relations_are_changed_on_the_page_with_what_is_wrong_named(client: Client, corpus: Corpus) -> None:
    assert "place of work" in client.get(at(corpus, "relations")).content.decode()
    for text, why in (("[", "no JSON"), ("[]", "one at least"), ('[{"key": "x"}]', "Relation 1 (x), tail")):
        refused = client.post(at(corpus, "relations"), {"rows": text, "seen": "0"})
        assert refused.status_code == 422
        assert why in refused.content.decode()
    assert not corpus.relation_tables.exists()


def test_the_api_does_what_the_pages_do(client: Client, corpus: Corpus) -> None:
    made = client.post(at(corpus, "api-question-sets"), {"name": "first", "seed": 1}, content_type=JSON)
    assert (made.status_code, made.json()["created"]) == (201, True)
    one = made.json()["set"]["id"]
    again = client.post(at(corpus, "api-question-sets"), {"name": "first", "seed": 1}, content_type=JSON)
    assert (again.status_code, again.json()["created"]) == (200, False)
    figures = client.get(at(corpus, "api-question-set", one)).json()["figures"]
    uses = client.get(at(corpus, "api-set-uses", one), {"question": "q1"}).json()["results"]
    assert [use["session"] for use in uses] == [1, 4, 5]
    assert {use["rule"] for use in uses} == {"before the evidence", "heard"}
    asked = client.get(at(corpus, "api-set-questions", one), {"source": "quiz"}).json()
    assert asked["count"] == 2
    assert figures["questions"] > 2


def test_facts_are_written_and_changed_by_programs(client: Client, corpus: Corpus) -> None:
    told: dict[str, Any] = {
        "dialogue": "loaf",
        "head": "ben",
        "relation": "job",
        "tail": "cook",
        "session": "s5",
    }
    made = client.post(at(corpus, "api-facts"), told | {"turns": [9]}, content_type=JSON)
    assert made.status_code == 201, made.content
    assert made.json()["content"]["head"] == "Ben"
    pk = made.json()["id"]
    changed = client.patch(
        at(corpus, "api-record", pk), {"content": told | {"tail": "baker"}, "status": "accepted"},
        content_type=JSON,
    )  # fmt: skip
    assert (changed.json()["status"], changed.json()["content"]["tail"]) == ("accepted", "baker")
    refused = client.post(at(corpus, "api-facts"), told | {"relation": "nemesis"}, content_type=JSON)
    assert (refused.status_code, refused.json()["field"]) == (400, "relation")
    listed = client.get(at(corpus, "api-facts"), {"relation": "job"}).json()
    assert [row["key"] for row in listed["results"]] == ["f-hand-1"]
    decided = client.post(
        at(corpus, "api-decide-records", "fact"), {"records": [pk], "status": "rejected"}, content_type=JSON
    )
    assert decided.json() == {"changed": 1}


def test_relations_are_replaced_by_programs(client: Client, corpus: Corpus) -> None:
    rows = client.get(at(corpus, "api-relations")).json()["rows"]
    stale = client.put(at(corpus, "api-relations"), {"rows": rows, "seen": 3}, content_type=JSON)
    assert (stale.status_code, stale.json()["code"]) == (400, "questions_refused")
    fewer = [row for row in rows if row["key"] != "roommate"]
    told = client.put(at(corpus, "api-relations"), {"rows": fewer}, content_type=JSON)
    assert (told.status_code, len(told.json()["rows"])) == (200, 31)


def test_a_corpus_without_long_dialogues_says_what_to_do(client: Client, researcher: User) -> None:
    page = client.get(at(factories.corpus(), "questions")).content.decode()
    assert "No long dialogue here" in page
