"""The Cascade report and single decisions, as pages and through the API."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotation.corpora import splits
from annotation.models import Corpus, Item
from suites.group_chat.scenarios.agents import AGENTS, decide
from tests.suites.group_chat.scripts import launch
from tests.suites.group_chat.test_cascade_report import always, families, played

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path: Any) -> Corpus:
    made = families(tmp_path)
    played(made, "kit", decide(AGENTS["oracle"], launch()))
    played(made, "talker", always("speak"))
    return made


def decisions(system: str, point: int) -> Item:
    rows = Item.objects.filter(kind="decision", continuation__system__name=system, turn__at=point + 1)
    return rows.order_by("pk")[0]


def test_the_page_shows_three_scores_apart_with_the_funnel_and_the_limits(signed_in, corpus) -> None:
    page = signed_in.get(f"/corpora/{corpus.pk}/cascade/?resamples=100")
    assert page.status_code == 200
    told = page.content.decode()
    for text in (
        "Score 1: competence",
        "Score 3: reliability",
        "Oracle: competence 1",
        "baseline: ",
        "Synthetic talk",
    ):
        assert text in told
    assert re.search('<svg role="img" aria-label="Funnel: [^"]*: ATTEND [0-9]+, SPEAK', told)
    assert f"/decisions/{decisions('talker', 0).pk}/" in told


def test_what_cannot_be_asked_is_said_on_the_page(signed_in, corpus) -> None:
    page = signed_in.get(f"/corpora/{corpus.pk}/cascade/?k=0")
    assert page.status_code == 422
    assert "a whole number from 1 to 64" in page.content.decode()
    assert signed_in.get(f"/corpora/{corpus.pk}/cascade.csv?k=0").status_code == 422


def test_a_corpus_without_scenarios_says_what_to_do(signed_in) -> None:
    talk = Corpus.objects.create(name="Talk")
    assert "No scenarios here" in signed_in.get(f"/corpora/{talk.pk}/cascade/").content.decode()


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["csv", "md", "latex", "json", "svg", "png"])
def test_every_form_is_downloaded(form, signed_in, corpus) -> None:
    file = signed_in.get(f"/corpora/{corpus.pk}/cascade.{form}?resamples=50")
    assert file.status_code == 200
    assert file.content
    assert f"cascade-{corpus.pk}" in file["Content-Disposition"]


@pytest.mark.exhaustive
def test_a_look_at_test_is_logged_and_then_shown(signed_in, corpus) -> None:
    split = splits.draw(corpus=corpus, by=None, test_share=0.5)
    refused = signed_in.get(f"/corpora/{corpus.pk}/cascade/?part=test")
    assert "test was not opened" in refused.content.decode().lower()
    opened = signed_in.post(f"/corpora/{corpus.pk}/cascade/test/", {"purpose": "the paper"}, follow=True)
    assert opened.status_code == 200
    assert "the paper" in opened.content.decode()
    assert split.looks.get().purpose == "the paper"


@pytest.mark.exhaustive
def test_a_decision_shows_what_the_agent_saw_its_key_and_where_it_failed(signed_in, corpus) -> None:
    barged = signed_in.get(f"/decisions/{decisions('talker', 1).pk}/").content.decode()
    assert "It failed first at ATTEND" in barged
    assert "Mia, yes, I will pay it tonight." in barged
    assert "The deck is at version 3." not in barged
    right = signed_in.get(f"/decisions/{decisions('kit', 1).pk}/").content.decode()
    assert "It failed at no stage" in right
    assert signed_in.get("/decisions/999999/").status_code == 404


@pytest.mark.exhaustive
def test_scores_of_an_unopened_test_part_are_withheld(signed_in, corpus) -> None:
    split = splits.draw(corpus=corpus, by=None, test_share=0.5)
    cluster = split.clusters.filter(part="test").first()
    item = Item.objects.filter(kind="decision", continuation__dialogue__cluster=cluster.cluster)[0]
    assert "its scores are withheld" in signed_in.get(f"/decisions/{item.pk}/").content.decode()
    assert signed_in.get(f"/api/v1/decisions/{item.pk}/").json()["outcome"] is None


@pytest.mark.exhaustive
def test_the_report_over_http_is_that_of_the_command(signed_in, corpus) -> None:
    made = signed_in.get(f"/api/v1/corpora/{corpus.pk}/cascade/?resamples=100&k=1").json()
    assert made["oracle"]["value"] == 1
    assert [one["key"] for one in made["tables"]][:2] == ["verdicts", "competence"]
    refused = signed_in.get(f"/api/v1/corpora/{corpus.pk}/cascade/?by=colour")
    assert refused.status_code == 400
    assert "rows are by" in refused.content.decode()


@pytest.mark.exhaustive
def test_a_decision_over_http_has_its_stages(signed_in, corpus) -> None:
    made = signed_in.get(f"/api/v1/decisions/{decisions('talker', 1).pk}/").json()
    assert made["probes"] == ["overheard"]
    assert made["outcome"]["failed_at"] == "attend"
    assert made["outcome"]["competence"] == 0
    assert made["decision"]["act"] == "message"
    assert made["seen"] == [0, 1]
    assert signed_in.get(f"/api/v1/decisions/{made['id']}/?judge=nobody").status_code == 400
