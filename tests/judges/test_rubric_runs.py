"""Rubrics at work: any scheme in the database gets a judge, from a page, a command and the API."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation import scheme_store
from annotation.models import Label, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from jobs.models import Endpoint, Run
from judges.errors import JudgeError
from judges.prompts import prompt_actions
from judges.protocols import Wording
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.test_rubric import MIXED

pytestmark = pytest.mark.django_db(transaction=True)
CLARITY = SchemeDefinition(
    key="corpus:of@mine:turn",
    version=1,
    title="Clarity",
    item_kind="turn",
    unit="item",
    introduction="How clear is it?",
    guidelines="Judge the wording alone.",
    questions=(
        QuestionDefinition("quality", "How clear?", "ordinal", (1, 2, 3, 4, 5), {1: "not", 5: "very"}),
        QuestionDefinition("tone", "Which tone?", "nominal", ("friendly", "cold"), required=False),
    ),
)


@pytest.fixture
def endpoint(fake: FakeLLM) -> Endpoint:
    return endpoint_of(fake, model="m1")


@pytest.mark.parametrize("scheme", [*SCHEMES.values(), CLARITY, MIXED], ids=lambda scheme: scheme.key)
def test_a_stored_scheme_is_read_back_as_it_was_defined(scheme: SchemeDefinition) -> None:
    version = scheme_store.store(definition=scheme)
    made = scheme_store.definition_of(version)
    assert made == scheme
    assert made.content_hash() == version.content_hash
    assert scheme_store.store(definition=made) == version


def test_a_later_version_is_read_back_although_it_was_numbered_anew() -> None:
    scheme_store.store(definition=CLARITY)
    changed = SchemeDefinition(**{**_plain(CLARITY), "introduction": "Is it clear?"})
    version = scheme_store.store(definition=changed)
    assert version.version == 2
    assert scheme_store.definition_of(version) == changed
    assert scheme_store.find(CLARITY.key) == version
    first = scheme_store.find(f"{CLARITY.key}@1")
    assert first is not None
    assert scheme_store.definition_of(first) == CLARITY
    assert scheme_store.find(f"{CLARITY.key}@3") is None
    built_in = scheme_store.find("fed_turn@1")
    assert built_in is not None
    assert scheme_store.definition_of(built_in) == SCHEMES["fed_turn"]


def _plain(scheme: SchemeDefinition) -> dict[str, Any]:
    return {name: getattr(scheme, name) for name in scheme.__slots__}


def test_a_scheme_of_ones_own_is_answered_by_a_judge(fake: FakeLLM, endpoint: Endpoint) -> None:
    version = scheme_store.store(definition=CLARITY)
    run = begin(small_corpus(dialogues=1, turns=4), Judge("rubric", endpoint=endpoint, scheme=CLARITY.key))
    finish()
    labels = Label.objects.filter(rater=run.rater)
    assert set(labels.values_list("question__version", flat=True)) == {version.pk}
    scores = labels.filter(question__key="quality").order_by("item__turn__position")
    assert list(scores.values_list("number", flat=True)) == [4.0, 3.0, 4.0, 3.0]
    assert set(labels.filter(question__key="tone").values_list("text", flat=True)) == {"friendly"}
    assert run.rater.name == f"m1 rubric {CLARITY.key}@1 json"
    assert (run.rater.spec["scheme"], run.rater.spec["scheme_hash"]) == (
        f"{CLARITY.key}@1",
        version.content_hash,
    )
    assert SchemeVersion.objects.get().frozen_at is not None


def test_another_version_of_the_scheme_is_another_judge(endpoint: Endpoint) -> None:
    scheme_store.store(definition=CLARITY)
    scheme_store.store(definition=SchemeDefinition(**{**_plain(CLARITY), "guidelines": "Be strict."}))
    one, two, newest = (
        Judge("rubric", endpoint=endpoint, scheme=f"{CLARITY.key}{which}").plan()
        for which in ("@1", "@2", "")
    )
    assert one.rater != two.rater
    assert newest.rater == two.rater
    assert newest.scheme_version.version == 2


def test_expected_scores_are_asked_with_probabilities_and_answer_a_question_of_their_own(
    fake: FakeLLM, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "say", lambda prompt: "4")
    judge = Judge("rubric", "expected", endpoint=endpoint, scheme="comperdial_turn")
    run = begin(small_corpus(dialogues=1, turns=2), judge)
    finish()
    assert {(body["logprobs"], body["top_logprobs"]) for body in fake.bodies} == {(True, 20)}
    (question,) = {label.question for label in Label.objects.filter(rater=run.rater)}
    assert (question.version.scheme.key, question.level) == ("rubric_expected:comperdial_turn", "interval")
    assert [call.part for call in run.calls.all()] == ["overall", "overall"]
    assert all(call.flags[0].startswith("no_logprobs") for call in run.calls.all())


def test_where_the_endpoint_gives_probabilities_the_label_is_the_expected_score(
    fake: FakeLLM, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = [{"token": text, "logprob": math.log(chance)} for text, chance in (("3", 0.6), ("4", 0.3))]
    choice = {"index": 0, "message": {"role": "assistant", "content": "3"}, "finish_reason": "stop"}
    choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    answer = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
    monkeypatch.setattr(fake, "answer", lambda body: (200, answer))
    judge = Judge("rubric", "expected", endpoint=endpoint, scheme="comperdial_turn")
    run = begin(small_corpus(dialogues=1, turns=1), judge)
    finish()
    label = Label.objects.get(rater=run.rater)
    assert label.number == pytest.approx(3 + 1 / 3)
    assert label.explanation == "probabilities 3: 0.667, 4: 0.333"
    assert run.calls.get().flags == ["outside_scale: 10% of the probability is on no value of the scale"]


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ({"protocol": "rubric"}, "rubric asks the questions of a scheme: name one"),
        ({"protocol": "rubric", "scheme": "nothing"}, "There is no scheme 'nothing'"),
        ({"protocol": "cpdscore_simple", "scheme": "fed_turn"}, "has questions of its own: name no scheme"),
        (
            {"protocol": "rubric", "variant": "expected", "scheme": "cocoeval_behaviours"},
            "no ordinal or interval question with a list of values",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(
    endpoint: Endpoint, judge: dict[str, str], why: str
) -> None:
    with pytest.raises(JudgeError, match=why):
        Judge(endpoint=endpoint, **judge).plan()


@pytest.mark.exhaustive
def test_the_page_the_command_and_the_api_take_a_scheme(
    client: Client, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme_store.store(definition=CLARITY)
    corpus = small_corpus(dialogues=1, turns=2)
    options = ["--protocol", "rubric", "--endpoint", endpoint.name, "--corpus", corpus.name, "--quiet"]
    call_command("run_judge", *options, "--scheme", CLARITY.key)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["labels"] == 4
    with pytest.raises(CommandError, match="asks the questions of a scheme"):
        call_command("run_judge", *options)
    client.force_login(factories.user(researcher=True))
    body = {"corpus": corpus.name, "protocol": "rubric", "endpoint": endpoint.name, "scheme": "fed_turn"}
    made = client.post(reverse("api-runs"), body, content_type="application/json")
    assert made.json()["spec"]["scheme"] == "fed_turn@1"
    listed = {row["key"]: row["takes_scheme"] for row in client.get(reverse("api-protocols")).json()}
    assert {key for key, takes in listed.items() if takes} == {"rubric", "g_eval", "pairwise"}
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    page = client.get(address).content.decode()
    assert f"Clarity ({CLARITY.key}@1)" in page
    form = {"judge-judge": "rubric:line", "judge-endpoint": str(endpoint.pk)}
    form |= {"judge-samples": "1", "confirmed": "1"}
    refused = client.post(address, form)
    assert "Choose the questions that Rubric" in refused.content.decode()
    client.post(address, form | {"judge-judge": "cocoeval_overall:", "judge-scheme": "fed_turn"})
    assert "scheme" not in Run.objects.latest("pk").rater.spec, "it has questions of its own"
    client.post(address, form | {"judge-scheme": f"{CLARITY.key}@1"})
    run = Run.objects.latest("pk")
    assert (run.rater.spec["scheme"], run.rater.spec["variant"]) == (f"{CLARITY.key}@1", "line")
    assert f"{CLARITY.key}@1" in client.get(reverse("run", args=[run.pk])).content.decode()


def test_a_prompt_for_a_scheme_asks_that_scheme(endpoint: Endpoint) -> None:
    version = scheme_store.store(definition=CLARITY)
    mine = Wording("$notice", "$questions\n$rated\n$fields")
    made = {"by": None, "protocol": "rubric", "wording": mine, "scheme_version": version}
    prompt_actions.create(name="short", variant="json", **made)
    plan = Judge(prompt="short@1", endpoint=endpoint).plan()
    assert (plan.scheme_version, plan.rater.name) == (version, f"m1 short@1 {CLARITY.key}@1")
    with pytest.raises(JudgeError, match="The prompt short@1 is for corpus:of@mine:turn@1: name that"):
        Judge(prompt="short@1", endpoint=endpoint, scheme="fed_turn").plan()
    with pytest.raises(JudgeError, match="rubric line reads no reply of the form 'json'; it reads line"):
        prompt_actions.check(protocol="rubric", variant="line", wording=replace(mine, form="json"))
    with pytest.raises(JudgeError, match=r"\$rated is missing"):
        prompt_actions.check(
            protocol="rubric", variant="json", wording=replace(mine, user="$questions $fields")
        )


def test_over_a_campaign_a_rubric_asks_what_its_people_are_asked(endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    campaign = factories.campaign(corpus)
    plan = Judge("rubric", endpoint=endpoint).plan(campaign)
    assert plan.scheme_version == campaign.scheme_version
