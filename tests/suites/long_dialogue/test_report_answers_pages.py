"""The Answers report, its list and single answers, as pages and through the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Corpus, Item
from tests import factories
from tests.factories import user
from tests.suites.long_dialogue.answers_world import bring

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path: Any) -> Corpus:
    return bring(tmp_path)


def one(question: str, memory: str = "base", trial: int = 0) -> Item:
    return Item.objects.get(
        kind="answer",
        continuation__condition__memory=memory,
        continuation__trial=trial,
        turn__extra__extra__answer__question=question,
    )


def test_the_page_shows_accuracy_with_charts_and_tables(signed_in, corpus) -> None:
    page = signed_in.get(f"/corpora/{corpus.pk}/answers/?resamples=100")
    assert page.status_code == 200
    told = page.content.decode()
    for text in (
        "Best memory and oracle",
        "Saying that it cannot be known",
        "Evidence in the prompt",
        "Accuracy by: position in the script",
        "16 answers over 1 script and 4 sessions",
        f"/corpora/{corpus.pk}/answers.svg?resamples=100&amp;chart=figure4",
    ):
        assert text in told
    assert told.count("<svg") >= 2
    assert re.search(r'<svg role="img" aria-label="Accuracy: [^"]* [01]\.\d\d[.;]', told)
    results = signed_in.get(reverse("corpus-results", args=[corpus.name])).content.decode()
    assert f'href="/corpora/{corpus.pk}/answers/"' in results


def test_an_empty_corpus_says_what_to_do(signed_in) -> None:
    corpus = factories.corpus()
    told = signed_in.get(f"/corpora/{corpus.pk}/answers/").content.decode()
    assert "No answers here" in told


@pytest.mark.exhaustive
def test_every_file_can_be_downloaded(signed_in, corpus) -> None:
    for form in ("csv", "md", "latex", "html", "json", "svg", "png"):
        file = signed_in.get(f"/corpora/{corpus.pk}/answers.{form}?resamples=50")
        assert file.status_code == 200, form
        assert "attachment" in file["Content-Disposition"]
    figure = signed_in.get(f"/corpora/{corpus.pk}/answers.svg?resamples=50&chart=figure4")
    assert b"<svg" in figure.content
    for missing in ("svg?chart=figure7", "svg?chart=figure9", "exe"):
        assert signed_in.get(f"/corpora/{corpus.pk}/answers.{missing}").status_code == 404
    assert signed_in.get(f"/corpora/{corpus.pk}/answers.csv?level=9").status_code == 422


def test_what_cannot_be_asked_is_said_on_the_page(signed_in, corpus) -> None:
    page = signed_in.get(f"/corpora/{corpus.pk}/answers/?by=colour")
    assert page.status_code == 422
    assert "no answer has a setting" in page.content.decode()


def test_answers_are_listed_and_narrowed(signed_in, corpus) -> None:
    address = f"/corpora/{corpus.pk}/answers/list/"
    assert "16 answers." in signed_in.get(address).content.decode()
    told = signed_in.get(f"{address}?outcome=wrong&class=unanswerable").content.decode()
    assert "2 answers." in told
    assert f"/answers/{one('q1').pk}/" in told
    assert "No answer matches" in signed_in.get(f"{address}?outcome=failed").content.decode()
    assert signed_in.get(f"{address}?part=test").status_code == 422


def test_one_answer_shows_what_was_asked_and_why_the_key_is_what_it_is(signed_in, corpus) -> None:
    told = signed_in.get(f"/answers/{one('q2').pk}/").content.decode()
    for text in (
        "What did Cara buy, 2?",
        "red boots",
        "Why the key is (A)",
        "one heard before",
        "session 2 (1994-09)",
        "Evidence: sufficient; 1 of 20 entries asked for",
        "To the same question in the same session",
        f"/answers/{one('q2', 'oracle').pk}/",
        "right",
    ):
        assert text in told, text
    assert signed_in.get("/answers/999999/").status_code == 404
    turn = Item.objects.filter(kind="turn").first()
    assert turn is not None
    assert signed_in.get(f"/answers/{turn.pk}/").status_code == 404
    assert signed_in.get(f"/answers/{one('q2').pk}/?judge=ada").status_code == 422


@pytest.mark.exhaustive
def test_what_an_answer_of_the_closed_test_part_is_worth_is_withheld(signed_in, corpus) -> None:
    split = splits.draw(corpus=corpus, by=None, seed=0, test_share=0.5)
    closed = splits.clusters(split=split, part="test")
    items = {item.cluster in closed: item for item in Item.objects.filter(kind="answer")}
    assert "is withheld" in signed_in.get(f"/answers/{items[True].pk}/").content.decode()
    assert "is withheld" not in signed_in.get(f"/answers/{items[False].pk}/").content.decode()
    told = signed_in.get(f"/api/v1/answers/{items[True].pk}/").json()
    assert (told["right"], told["labels"]) == (None, None)
    listed = signed_in.get(f"/api/v1/corpora/{corpus.pk}/answers/list/?limit=1000").json()["results"]
    assert items[True].pk not in {row["id"] for row in listed}


@pytest.mark.exhaustive
def test_test_is_opened_with_a_purpose(signed_in, corpus) -> None:
    splits.draw(corpus=corpus, by=None, seed=0, test_share=0.5)
    address = f"/corpora/{corpus.pk}/answers/"
    assert signed_in.get(f"{address}?part=test").status_code == 422
    answered = signed_in.post(f"{address}test/?by=model", {"purpose": "the paper"})
    assert (answered.status_code, answered["Location"]) == (302, f"{address}?by=model&part=test")
    assert "the paper" in signed_in.get(answered["Location"]).content.decode()
    api = f"/api/v1/corpora/{corpus.pk}/answers/"
    made = signed_in.post(api, {"purpose": "again"}, content_type="application/json")
    assert made.status_code == 200
    assert [look["purpose"] for look in made.json()["looks_at_test"]] == ["the paper", "again"]


@pytest.mark.exhaustive
def test_programs_read_the_same(signed_in, corpus) -> None:
    api = f"/api/v1/corpora/{corpus.pk}/answers/"
    made = signed_in.get(f"{api}?by=model,memory&resamples=50").json()
    assert [row["accuracy"]["value"] for row in made["rows"]] == [0.375, 1]
    assert signed_in.get(f"{api}?by=colour").status_code == 400
    listed = signed_in.get(f"{api}list/?outcome=right&evidence=sufficient&limit=2").json()
    assert listed["count"] == 9
    assert [row["right"] for row in listed["results"]] == [True, True]
    assert signed_in.get(f"{api}list/?outcome=maybe").status_code == 400
    told = signed_in.get(f"/api/v1/answers/{one('q4').pk}/").json()
    assert (told["question"], told["right"], told["answer"]["key"]) == ("What did Cara buy, 4?", False, "A")
    said = {(one["rater"], one["question"]): one["value"] for one in told["labels"]}
    assert said["score:strict", "right"] == "0"


def test_others_may_not_see_answers(client, corpus) -> None:
    client.force_login(user(name="ada"))
    for address in (
        f"/corpora/{corpus.pk}/answers/",
        f"/corpora/{corpus.pk}/answers/list/",
        f"/answers/{one('q2').pk}/",
    ):
        assert client.get(address).status_code in (302, 403, 404)
    assert client.get(f"/api/v1/corpora/{corpus.pk}/answers/").status_code in (403, 404)
