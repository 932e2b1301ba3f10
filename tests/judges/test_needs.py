"""Judges that read another rater: bound when the run starts, and never called without its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Item, Label, Occasion, Rater
from jobs.models import Call, Endpoint, Run
from judges.errors import JudgeError
from judges.models import CallLabel
from judges.protocols import PROTOCOLS, Need, NeedAnswer
from judges.protocols.protocol import UNMET
from judges.runs.estimates import estimate
from judges.runs.lookup import summary
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.stand_ins import say, stand_ins

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _protocols(monkeypatch: pytest.MonkeyPatch, fake: FakeLLM) -> None:
    for protocol in stand_ins():
        monkeypatch.setitem(PROTOCOLS, protocol.key, protocol)
    monkeypatch.setattr(fake, "say", say(fake))


@pytest.fixture
def endpoint(fake: FakeLLM) -> Endpoint:
    return endpoint_of(fake)


def scored(corpus: Corpus, endpoint: Endpoint, **how: Any) -> Rater:
    """Let a judge of turns score a corpus."""
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint), **how)
    finish()
    return run.rater


def on_top(rater: Rater, endpoint: Endpoint) -> Judge:
    return Judge("on_top", endpoint=endpoint, needs={"turn_scores": rater.name})


def asked(fake: FakeLLM) -> list[str]:
    return [prompt for prompt in fake.requests if prompt.startswith("WHOLE")]


def test_the_case_has_the_mean_over_the_samples_of_every_turn(fake: FakeLLM, endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    rater = scored(corpus, endpoint)
    label = Label.objects.filter(item__turn__position=1).get()
    Label.objects.create(
        item=label.item,
        question=label.question,
        rater=rater,
        occasion=Occasion.MAIN,
        sample=1,
        number=label.number + 1,
    )
    begin(corpus, on_top(rater, endpoint))
    finish()
    assert asked(fake) == ["WHOLE 0: 4.0, 1: 3.5"]
    assert Label.objects.filter(item__kind="dialogue", number=7).count() == 2


def test_a_turn_without_a_score_leaves_the_answer_missing_and_nothing_is_asked(
    fake: FakeLLM, endpoint: Endpoint
) -> None:
    corpus = small_corpus(dialogues=1, turns=3)
    rater = scored(corpus, endpoint)
    factories.continuation(corpus.dialogues.get(), "later", system="y", turns=[{"text": "a"}, {"text": "b"}])
    run = begin(corpus, on_top(rater, endpoint))
    finish()
    run.refresh_from_db()
    assert len(asked(fake)) == 1, "the continuation that is scored"
    missing = Label.objects.filter(item__continuation__key="later")
    assert set(missing.values_list("missing", flat=True)) == {f"turn 1 has no score by {rater.name}"}
    assert (run.state, run.values, run.missing) == (Run.State.DONE, 2, 2)
    assert Call.objects.get(flags=[UNMET]).reply == ""


@pytest.mark.exhaustive
def test_a_missing_answer_of_the_other_rater_is_no_score(fake: FakeLLM, endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    judge = Judge("cpdscore_simple", "with_reference", endpoint=endpoint)
    run = begin(corpus, judge)
    finish()
    begin(corpus, on_top(run.rater, endpoint))
    finish()
    assert asked(fake) == []
    told = Label.objects.filter(item__kind="dialogue").values_list("missing", flat=True)
    assert set(told) == {f"turn 1 has no score by {run.rater.name}"}


@pytest.mark.exhaustive
def test_resuming_tries_again_what_a_need_kept_back(fake: FakeLLM, endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    rater = scored(corpus, endpoint)
    factories.continuation(corpus.dialogues.get(), "later", system="y", turns=[{"text": "a"}])
    judge = on_top(rater, endpoint)
    first = begin(corpus, judge)
    finish()
    scored(corpus, endpoint)
    again = begin(corpus, judge)
    finish()
    again.refresh_from_db()
    assert (again.pk, again.values, again.missing) == (first.pk, 4, 0)
    assert summary(again)["labels"] == 4
    live = Label.objects.filter(item__kind="dialogue", superseded_at=None)
    assert set(live.values_list("number", flat=True)) == {7.0}
    assert CallLabel.objects.filter(label__in=live).count() == 4
    begin(corpus, judge)
    finish()
    assert sum(count for prompt, count in fake.requests.items() if prompt.startswith("WHOLE")) == 2


@pytest.mark.exhaustive
def test_another_bound_rater_makes_another_judge(fake: FakeLLM, endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1, turns=2)
    one = scored(corpus, endpoint)
    two = scored(corpus, endpoint_of(fake, name="two", model="fake-2"))
    first, second = (on_top(rater, endpoint).plan().rater for rater in (one, two))
    assert first.pk != second.pk
    assert first.fingerprint != second.fingerprint
    assert first.spec["needs"] == {
        "turn_scores": {"rater": one.fingerprint, "question": "comperdial_turn@1/overall"}
    }
    assert first.name == f"fake-1 (fake model) on_top on {one.name}"
    assert on_top(one, endpoint).plan().rater.pk == first.pk


def test_what_cannot_be_bound_is_refused_in_one_line(endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1)
    rater = scored(corpus, endpoint)
    for needs, why in (
        ({}, "on_top reads the answers of another rater to comperdial_turn/overall"),
        ({"turn_scores": "nobody"}, "There is no judge or metric 'nobody'"),
        ({"turns": rater.name}, "on_top has no need 'turns'; it has turn_scores"),
    ):
        with pytest.raises(JudgeError, match=why):
            Judge("on_top", endpoint=endpoint, needs=needs).plan()
    with pytest.raises(JudgeError, match="whole has no need 'turn_scores'; it has none at all"):
        Judge("whole", endpoint=endpoint, needs={"turn_scores": rater.name}).plan()


def test_a_rater_that_never_answered_the_question_is_refused(endpoint: Endpoint) -> None:
    run = begin(small_corpus(dialogues=1), Judge("rules_baseline"))
    with pytest.raises(JudgeError, match="has not answered comperdial_turn/overall: run it first"):
        on_top(run.rater, endpoint).plan()


@pytest.mark.exhaustive
def test_an_estimate_counts_only_what_will_be_asked(endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=2)
    rater = scored(corpus, endpoint)
    met = estimate(on_top(rater, endpoint), Selection(corpus))
    factories.continuation(corpus.dialogues.first(), "later", system="y", turns=[{"text": "a"}])
    partly = estimate(on_top(rater, endpoint), Selection(corpus))
    assert met is not None
    assert partly is not None
    assert (met.calls, partly.calls) == (2, 3)
    assert met.tokens_in == partly.tokens_in > 0


@pytest.mark.exhaustive
def test_the_command_and_the_api_bind_a_need(
    client: Client, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = small_corpus(dialogues=1)
    rater = scored(corpus, endpoint)
    options = ["--protocol", "on_top", "--endpoint", endpoint.name, "--corpus", corpus.name, "--quiet"]
    call_command("run_judge", *options, "--need", f"turn_scores={rater.name}")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["labels"] == 2
    with pytest.raises(CommandError, match="--need turn_scores: say ROLE=RATER"):
        call_command("run_judge", *options, "--need", "turn_scores")
    client.force_login(factories.user(researcher=True))
    body = {"corpus": corpus.name, "protocol": "on_top", "endpoint": endpoint.name}
    address, kind = reverse("api-runs"), "application/json"
    refused = client.post(address, body, content_type=kind)
    assert (refused.status_code, "say whose" in refused.content.decode()) == (400, True)
    made = client.post(address, body | {"needs": {"turn_scores": rater.fingerprint}}, content_type=kind)
    assert made.json()["spec"]["needs"]["turn_scores"]["rater"] == rater.fingerprint
    listed = {row["key"]: row["needs"] for row in client.get(reverse("api-protocols")).json()}
    assert listed["whole"] == []
    assert listed["on_top"] == [
        {
            "role": "turn_scores",
            "question": "comperdial_turn/overall",
            "aggregate": "mean",
            "missing": "whole",
            "optional": False,
            "also": [],
        }
    ]


@pytest.mark.exhaustive
def test_the_page_asks_whose_answers_are_read(client: Client, endpoint: Endpoint) -> None:
    corpus = small_corpus(dialogues=1)
    rater = scored(corpus, endpoint)
    client.force_login(factories.user(researcher=True))
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    assert "Whose turn scores" in client.get(address).content.decode()
    form = {"judge-judge": "on_top:", "judge-endpoint": str(endpoint.pk)}
    form |= {"judge-samples": "1", "confirmed": "1"}
    assert "say whose" in client.post(address, form).content.decode()
    client.post(address, form | {"judge-need_turn_scores": rater.fingerprint})
    assert Run.objects.latest("pk").rater.spec["needs"]["turn_scores"]["rater"] == rater.fingerprint


@pytest.mark.exhaustive
def test_a_protocol_of_turns_needs_only_what_is_known_of_its_turn(
    fake: FakeLLM, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        type(PROTOCOLS["stage"]), "needs", (Need("turn_scores", "comperdial_turn/overall", "median"),)
    )
    corpus = small_corpus(dialogues=1, turns=3)
    rater = scored(corpus, endpoint)
    item = Item.objects.create(
        corpus=corpus,
        kind="turn",
        continuation=(late := corpus.dialogues.get().continuations.get(key="c")),
        turn=late.turns.create(position=3, speaker="A", text="later {stage attend}"),
    )
    begin(corpus, Judge("stage", endpoint=endpoint, needs={"turn_scores": rater.name}))
    finish()
    stages = Label.objects.filter(question__key="failed_at")
    assert stages.filter(text="speak").count() == 3
    assert [label.item_id for label in stages.exclude(missing="")] == [item.pk]


@pytest.mark.parametrize(
    ("aggregate", "values", "known"),
    [
        ("mean", [3.0, None, 4.0], NeedAnswer(3.5)),
        ("median", [1.0, 5.0, 5.0], NeedAnswer(5.0)),
        ("majority", ["a", "b", "a"], NeedAnswer("a")),
        ("majority", ["a", "b"], NeedAnswer(missing="turn 1 has no majority among the answers by m")),
        ("majority", [None], NeedAnswer(missing="turn 1 has no answer by m")),
        ("mean", [], NeedAnswer(missing="turn 1 has no score by m")),
    ],
)
def test_samples_become_one_value_or_a_reason(aggregate: Any, values: list[Any], known: NeedAnswer) -> None:
    assert Need("r", "s/q", aggregate).combine_samples(values, "turn 1", "m") == known


def test_a_place_may_be_left_out_but_not_all_of_them() -> None:
    none, some = NeedAnswer(missing="why"), NeedAnswer(3.0)
    whole, lenient = Need("r", "s/q"), Need("r", "s/q", missing="leave_out")
    assert (whole.unmet({0: some, 1: none}), lenient.unmet({0: some, 1: none})) == ("why", "")
    assert lenient.unmet({0: none, 1: none}) == "why"
    assert whole.unmet({}) == "nothing here could have an answer to s/q"
