"""Worked examples show no word of test: each dialogue's canary is looked for in every request."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.corpora import splits
from annotation.models import Corpus, Rater, Turn
from jobs import errors, runs
from jobs.models import Call, Endpoint, Run
from judges.drafts import draft_actions
from judges.errors import JudgeError
from judges.models import Bench, Draft
from judges.prompts import prompt_actions, versions
from judges.prompts.examples import Pick
from judges.protocols import Wording
from judges.protocols.examples import INTRODUCTION
from judges.runs.plans import Judge
from tests import factories
from tests.calibration.workbench_world import OWN, rated_bench
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish
from tests.judges.test_prompt_examples import rated

pytestmark = pytest.mark.django_db(transaction=True)
PROTOCOL, VARIANT = "cpdscore_simple", "without_reference"
MARKED: Wording = replace(OWN, user=f"{OWN.user}\n\nIn your own words.")
RULES = ("most_disagreed", "balanced")
IN_TEST = "is in the test part of"


def canary(cluster: str) -> str:
    return f"canary-of-{cluster}-"


def plant(corpus: Corpus) -> None:
    """Put a dialogue's canary into each of its turns, its history included."""
    for turn in Turn.objects.filter(continuation__dialogue__corpus=corpus).select_related(
        "continuation__dialogue"
    ):
        Turn.objects.filter(pk=turn.pk).update(
            text=f"{turn.text} {canary(turn.continuation.dialogue.cluster)}"
        )


@pytest.fixture
def bench() -> Bench:
    opened = rated_bench()
    plant(opened.corpus)
    return opened


@pytest.fixture
def endpoint(fake: FakeLLM) -> Endpoint:
    return endpoint_of(fake)


@pytest.fixture
def rea(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def part(bench: Bench, name: str) -> frozenset[str]:
    return splits.clusters(split=bench.split, part=name)


def messages(fake: FakeLLM) -> list[tuple[str, str]]:
    """Return the text of each request, and its part that shows worked examples."""
    texts = [[message["content"] for message in body["messages"]] for body in fake.bodies]
    return [("\n".join(text), text[0] if INTRODUCTION in text[0] else "") for text in texts]


def assert_dev_alone(fake: FakeLLM, bench: Bench) -> None:
    """Every request has worked examples, with canaries of dev; no text of any request is of test."""
    sent = messages(fake)
    assert sent
    for text, examples in sent:
        assert any(canary(cluster) in examples for cluster in part(bench, "dev"))
        assert not [cluster for cluster in part(bench, "test") if canary(cluster) in text]


def prompt_with_examples(corpus: Corpus, *, whole_corpus: bool = False) -> None:
    """Store a prompt whose second version has worked examples."""
    prompt_actions.create(by=None, name="shots", protocol=PROTOCOL, variant=VARIANT, wording=MARKED)
    criteria = Pick(corpus, "balanced", 3, whole_corpus=whole_corpus)
    prompt_actions.add_examples(by=None, version=versions.find("shots@1"), criteria=criteria)


def by_page(rea: Client, bench: Bench, endpoint: Endpoint, rule: str) -> None:
    data = {"system": MARKED.system, "user": MARKED.user, "variant": VARIANT, "samples": "1", "begin": ""}
    data |= {"endpoint": str(endpoint.pk), "items": "all", "confirmed": "yes"}
    rea.post(f"/workbench/{bench.pk}/", data | {"examples_rule": rule, "examples_n": "3"})


def by_api(rea: Client, bench: Bench, endpoint: Endpoint, rule: str) -> None:
    body: dict[str, Any] = {"endpoint": endpoint.name, "user": MARKED.user, "targets": None}
    body |= {"examples": {"rule": rule, "n": 3}}
    address = f"/api/v1/workbench/{bench.pk}/drafts/"
    assert rea.post(address, json.dumps(body), content_type="application/json").status_code == 201


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("way", [by_page, by_api])
def test_a_draft_shows_dev_alone_and_so_does_the_version_that_it_becomes(
    rea: Client, bench: Bench, endpoint: Endpoint, fake: FakeLLM, way: Callable[..., None], rule: str
) -> None:
    way(rea, bench, endpoint, rule)
    finish()
    draft = Draft.objects.get()
    assert len(fake.bodies) == draft.targets == 24
    assert_dev_alone(fake, bench)
    draft_actions.keep(by=None, draft=draft, name="kept")
    own = versions.find("kept@1").wording
    assert own.examples
    assert not {example["cluster"] for example in own.examples} & part(bench, "test")


def start_by_page(rea: Client, bench: Bench, endpoint: Endpoint) -> None:
    data = {"judge-judge": "shots@2", "judge-endpoint": endpoint.pk, "judge-samples": 1}
    data |= {"judge-open_test": "a canary", "confirmed": "1"}
    rea.post(f"/runs/new/?corpus={bench.corpus_id}", data)
    finish()


def start_by_api(rea: Client, bench: Bench, endpoint: Endpoint) -> None:
    body = {"prompt": "shots@2", "endpoint": endpoint.name, "corpus": bench.corpus.name}
    body |= {"open_test": "a canary"}
    answer = rea.post("/api/v1/runs/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 201, answer.content
    finish()


def start_by_command(rea: Client, bench: Bench, endpoint: Endpoint) -> None:
    arguments = ("--prompt", "shots@2", "--endpoint", endpoint.name, "--corpus", bench.corpus.name)
    call_command("run_judge", *arguments, "--open-test", "a canary", stdout=StringIO(), stderr=StringIO())


@pytest.mark.parametrize("start", [start_by_page, start_by_api, start_by_command])
def test_a_judge_shows_dev_alone_whatever_it_judges(
    rea: Client, bench: Bench, endpoint: Endpoint, fake: FakeLLM, start: Callable[..., None]
) -> None:
    prompt_with_examples(bench.corpus)
    start(rea, bench, endpoint)
    sent, tested = messages(fake), part(bench, "test")
    assert len(sent) == 48, "8 dialogues of 6 turns"
    over_test = 0
    for text, examples in sent:
        assert any(canary(cluster) in examples for cluster in part(bench, "dev"))
        assert not [cluster for cluster in tested if canary(cluster) in examples]
        own = [cluster for cluster in tested if canary(cluster) in text]
        assert len(own) <= 1, "a test dialogue is sent only where it is the one that is judged"
        over_test += len(own)
    assert over_test == 24, "4 dialogues of 6 turns"


@pytest.fixture
def unsplit() -> Corpus:
    """A corpus without a split, all of it for development so far."""
    corpus = rated(6)
    plant(corpus)
    return corpus


def draw_over(corpus: Corpus, examples: Wording) -> None:
    """Draw a split by a seed that puts the cluster of an example into test."""
    clusters = {example["cluster"] for example in examples.examples}
    seed = next(
        seed
        for seed in range(100)
        if any(
            splits.choose(splits.of_corpus(corpus), seed=seed, test_share=0.5)[cluster] == "test"
            for cluster in clusters
        )
    )
    splits.draw(corpus=corpus, by=None, seed=seed)


def test_a_draft_is_not_tried_further_once_its_examples_became_test(
    bench: Bench, unsplit: Corpus, endpoint: Endpoint, fake: FakeLLM
) -> None:
    """The examples come from another corpus than the bench's, which gets its split later."""
    prompt_with_examples(unsplit, whole_corpus=True)
    wording = versions.find("shots@2").wording
    draft = draft_actions.write(by=None, bench=bench, wording=wording, variant=VARIANT, endpoint=endpoint)
    draft_actions.run(by=None, draft=draft, targets=2)
    finish()
    assert ["canary" in examples for _, examples in messages(fake)] == [True, True]
    draw_over(unsplit, wording)
    for refused in (
        lambda: draft_actions.run(by=None, draft=draft, targets=5),
        lambda: draft_actions.estimate(draft, 5),
        lambda: draft_actions.keep(by=None, draft=draft, name="kept"),
        lambda: draft_actions.requests_of(
            bench, "", wording=wording, variant=VARIANT, endpoint=endpoint, options={}
        ),
    ):
        with pytest.raises(JudgeError, match=IN_TEST):
            refused()
    finish()
    assert len(fake.bodies) == 2


def test_waiting_calls_send_nothing_once_their_examples_became_test(
    bench: Bench, unsplit: Corpus, endpoint: Endpoint, fake: FakeLLM
) -> None:
    prompt_with_examples(unsplit, whole_corpus=True)
    run = begin(bench.corpus, Judge(prompt="shots@2", endpoint=endpoint), split=bench.split, part="dev")
    draw_over(unsplit, versions.find("shots@2").wording)
    finish()
    runs.retry_failed(by=None, run=run)
    finish()
    assert fake.bodies == []
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    failed = run.calls.filter(state=Call.State.FAILED)
    assert list(failed.values_list("error_kind", flat=True)) == [errors.TEST_EXAMPLES] * 24
    assert all(IN_TEST in call.error for call in failed)


def test_examples_of_test_start_no_judge_by_page_api_or_command(
    rea: Client, bench: Bench, unsplit: Corpus, endpoint: Endpoint, fake: FakeLLM
) -> None:
    prompt_with_examples(unsplit, whole_corpus=True)
    draw_over(unsplit, versions.find("shots@2").wording)
    start_by_page(rea, bench, endpoint)
    body = {"prompt": "shots@2", "endpoint": endpoint.name, "corpus": bench.corpus.name}
    answer = rea.post("/api/v1/runs/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 400
    assert IN_TEST in answer.json()["detail"]
    with pytest.raises(CommandError, match=IN_TEST):
        start_by_command(rea, bench, endpoint)
    finish()
    assert (Run.objects.count(), Rater.objects.filter(kind="judge").count(), fake.bodies) == (0, 0, [])
