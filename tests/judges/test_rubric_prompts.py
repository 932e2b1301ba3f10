"""Prompts of rubrics: their exact request and worked examples are bound to a selected scheme."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation import scheme_store
from annotation.models import Corpus, Item
from annotation.work import labels
from annotation.work.labels import Answer
from judges.errors import JudgeError
from judges.prompts import prompt_actions, versions
from judges.prompts.examples import Pick
from judges.protocols import PROTOCOLS
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, small_corpus
from tests.judges.test_rubric_runs import CLARITY

pytestmark = pytest.mark.django_db
SENT: dict[str, Any] = {"content_type": "application/json"}


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(factories.user("rea", researcher=True))
    return client


def copied(name: str = "mine", built_in: str = "rubric@1", scheme: str = "") -> versions.Version:
    base = versions.find(built_in)
    over = scheme_store.find(scheme) if scheme else None
    prompt_actions.create(
        by=None,
        name=name,
        protocol=base.protocol,
        variant=base.variant,
        wording=base.wording,
        scheme_version=over,
    )
    return versions.find(f"{name}@1")


def rated() -> Corpus:
    corpus = small_corpus(3)
    quality = scheme_store.store(definition=CLARITY).questions.get(key="quality")
    turns = Item.objects.filter(corpus=corpus, kind="turn", continuation__key="c").select_related("turn")
    said = [Answer(item, quality, 1.0 + item.turn.position % 5) for item in turns if item.turn is not None]
    ana = labels.imported_rater(corpus=corpus, kind="human", name="Ana")
    labels.record(rater=ana, answers=said, occasion="imported")
    return corpus


def test_the_request_of_a_rubric_is_over_the_scheme_that_is_chosen(page: Client, fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(1), endpoint_of(fake)
    scheme_store.store(definition=CLARITY)
    asked = {"ref": "rubric@1", "corpus": corpus.pk, "item": "d0/c/2", "endpoint": endpoint.pk}
    without = page.get("/prompts/request/", asked)
    assert (without.status_code, b"This field is required" in without.content) == (422, True)
    shown = page.get("/prompts/request/", asked | {"scheme": f"{CLARITY.key}@1"}).content.decode()
    assert "How clear?" in shown
    assert "Cost, about" in shown
    assert "USD" in shown
    body = {"prompt": "rubric_line@1", "corpus": corpus.name, "item": "d0/c/2", "scheme": CLARITY.key}
    found = page.post("/api/v1/prompts/request/", json.dumps(body), **SENT).json()
    assert [one["part"] for one in found] == ["quality", "tone"]
    assert all(one["tokens_in"] > 50 for one in found)
    out = StringIO()
    words = ("request", "rubric@1", "--corpus", corpus.name, "--item", "d0/c/2", "--scheme", "fed_turn")
    call_command("prompts", *words, "--json", stdout=out, stderr=StringIO())
    assert "fluent_explanation" in json.loads(out.getvalue().splitlines()[-1])[0]["exact"]
    assert not fake.requests


def test_a_prompt_for_a_scheme_is_asked_over_that_alone(page: Client) -> None:
    corpus = small_corpus(1)
    scheme_store.store(definition=CLARITY)
    copied(scheme=CLARITY.key)
    asked = {"ref": "mine@1", "corpus": corpus.pk, "item": "d0/c/2"}
    assert b"How clear?" in page.get("/prompts/request/", asked | {"scheme": f"{CLARITY.key}@1"}).content
    other = page.get("/prompts/request/", asked | {"scheme": "fed_turn"})
    assert (other.status_code, b"Select a valid choice" in other.content) == (422, True)


def test_the_request_of_a_judge_in_steps_asks_whom_it_reads(page: Client) -> None:
    corpus = small_corpus(1)
    asked = {"ref": "cpdscore_dialogue_disregard@1", "corpus": corpus.pk, "item": "d0/c"}
    assert "Whose turn scores" in (shown := page.get("/prompts/request/", asked).content.decode())
    assert "say whose, a judge&#x27;s or a metric&#x27;s" in shown


@pytest.mark.parametrize("variant", ["rubric@1", "rubric_line@1", "rubric_expected@1"])
def test_examples_of_a_rubric_say_what_people_answered_to_its_scheme(variant: str) -> None:
    corpus, version = rated(), copied(built_in=variant)
    how = {"corpus": corpus, "rule": "by_hand", "keys": ("d0/c/2", "d1/c/4"), "whole_corpus": True}
    with pytest.raises(JudgeError, match="asks the questions of a scheme"):
        prompt_actions.add_examples(by=None, version=version, criteria=Pick(**how))
    told = Pick(**how, scheme=CLARITY.key)
    made = prompt_actions.add_examples(by=None, version=version, criteria=told)
    replies = [example["reply"] for example in versions.find(f"mine@{made.number}").wording.examples]
    quality = [json.loads(one)["quality"] if one.startswith("{") else float(one) for one in replies]
    assert quality == [3, 5]


def test_examples_of_a_rubric_are_picked_on_the_page(page: Client) -> None:
    corpus = rated()
    copied()
    how = {"corpus": corpus.pk, "rule": "balanced", "n": 2, "keys": "", "seed": 0, "whole": "on"}
    lacking = page.post("/prompts/mine/1/examples/", how)
    assert (lacking.status_code, b"This field is required" in lacking.content) == (422, True)
    page.post("/prompts/mine/1/examples/", how | {"scheme": f"{CLARITY.key}@1"})
    assert len(versions.find("mine@2").wording.examples) >= 2
    assert PROTOCOLS["rubric"].answers == {}
