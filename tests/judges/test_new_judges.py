"""Judges at work: a real worker calls them, and the planted truth arrives as labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Label
from jobs.models import Call
from judges.protocols.cocoeval import BEHAVIOUR_KEYS as KEYS
from judges.runs.estimates import estimate
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
Say = Callable[[str], str]


def answering(monkeypatch: pytest.MonkeyPatch, fake: FakeLLM, mark: str, say: Say) -> None:
    """Let the fake answer prompts that hold a mark in one way, and all others as it would."""

    def answer(prompt: str) -> str:
        return say(prompt) if mark in prompt else type(fake).say(fake, prompt)

    monkeypatch.setattr(fake, "say", answer)


def test_planted_overall_scores_arrive_about_the_dialogue(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {"consistency": 4, "collaborativeness": 10}
    told: dict[str, Any] = {f"{key}_explanation": f"why {key}" for key in scores}
    answering(monkeypatch, fake, '"collaborativeness": ...', lambda _: json.dumps(scores | told))
    corpus = small_corpus(dialogues=2)
    begin(corpus, Judge("cocoeval_overall", endpoint=endpoint_of(fake, model="m1")))
    finish()
    labels = Label.objects.filter(item__kind="dialogue")
    assert labels.count() == 4
    assert set(labels.values_list("question__key", "number", "explanation")) == {
        ("consistency", 4.0, "why consistency"),
        ("collaborativeness", 10.0, "why collaborativeness"),
    }
    assert Call.objects.count() == len(fake.bodies) == 2


def test_one_behaviour_a_call_is_a_judge_of_its_own_with_the_same_labels(
    fake: FakeLLM, client: Client
) -> None:
    corpus, endpoint = small_corpus(dialogues=1), endpoint_of(fake, model="m1")
    whole = begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint))
    one = Judge("cocoeval_behaviours", "one_behaviour", endpoint=endpoint)
    asked = estimate(one, Selection(corpus))
    assert asked is not None
    assert asked.calls == 10
    apart = begin(corpus, one)
    finish()
    assert whole.rater != apart.rater
    assert (whole.rater.name, apart.rater.name) == (
        "m1 cocoeval_behaviours",
        "m1 cocoeval_behaviours one behaviour",
    )
    assert sorted(apart.calls.values_list("part", flat=True)) == sorted(KEYS)
    said = [
        set(Label.objects.filter(rater=run.rater).values_list("item", "question__key", "number"))
        for run in (whole, apart)
    ]
    assert said[0] == said[1]
    assert len(said[0]) == 6 * 10
    client.force_login(factories.user(researcher=True))
    page = client.get(reverse("run", args=[apart.pk]) + "?show=all").content.decode()
    assert all(f"</span> {key}" in page for key in KEYS)
    listed = client.get(reverse("api-calls", args=[apart.pk])).json()["results"]
    assert [row["part"] for row in listed] == list(KEYS)


def test_a_dialogue_is_scored_on_top_of_the_scores_of_its_turns(fake: FakeLLM) -> None:
    corpus, endpoint = factories.corpus(), endpoint_of(fake, model="m1")
    dialogue = factories.dialogue(corpus, "d", turns=4)
    texts = ["{quality 2} {interaction 2.5} a", "{quality 4} b", "{quality 3} c"]
    lines = [{"text": text, "at": at} for at, text in enumerate(texts, start=1)]
    factories.continuation(dialogue, "c", system="x", mode="static", turns=lines)
    below = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    judge = Judge("cpdscore_dialogue", endpoint=endpoint, needs={"turn_scores": below.rater.name})
    run = begin(corpus, judge)
    finish()
    assert set(
        Label.objects.filter(rater=run.rater).values_list("question__key", "number", "explanation")
    ) == {
        ("turn_score", 3.0, "mean of the turn scores given: 3"),
        ("interaction", 2.5, "words of the responses: 5, 3, 3"),
        ("final", 2.75, ""),
    }
    assert run.calls.get().flags == []
    assert run.rater.name == f"m1 cpdscore_dialogue disregard on {below.rater.name}"


def test_where_a_turn_has_no_score_the_dialogue_has_none_and_nothing_is_asked(fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(dialogues=1, turns=2), endpoint_of(fake, model="m1")
    below = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    factories.continuation(corpus.dialogues.get(), "later", system="y", turns=[{"text": "a"}])
    asked = len(fake.bodies)
    judge = Judge("cpdscore_dialogue", "both", endpoint=endpoint, needs={"turn_scores": below.rater.name})
    run = begin(corpus, judge)
    finish()
    assert len(fake.bodies) == asked + 1, "the continuation that is scored"
    missing = Label.objects.filter(rater=run.rater, item__continuation__key="later")
    assert missing.count() == 3
    assert set(missing.values_list("missing", flat=True)) == {f"turn 1 has no score by {below.rater.name}"}
