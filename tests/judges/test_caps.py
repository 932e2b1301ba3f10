"""Caps of a run, pausing, and existing replies: nothing is paid for needlessly or beyond a cap."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Label
from config.models import Event
from jobs import runs
from jobs.calls import prepared
from jobs.errors import JobError
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress, projection
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import RunSettings, Selection, settings_from
from tests import factories, fake_llm
from tests.fake_llm import TOKENS_IN, TOKENS_OUT, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, finish_all, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
COST = Decimal(TOKENS_IN * 1 + TOKENS_OUT * 10) / 1_000_000
"""Of one call, at the prices of `endpoint_of`."""


def capped(fake: FakeLLM, parameters: dict[str, Any] | None = None, **caps: Any) -> Run:
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake, concurrency=4), parameters=parameters or {})
    selection = Selection(small_corpus(dialogues=4))
    return run_actions.start(by=None, plan=judge.plan(), selection=selection, settings=RunSettings(caps=caps))


def test_a_cap_on_calls_is_kept_to_the_call_and_raising_it_goes_on(fake: FakeLLM) -> None:
    run = capped(fake, cap_calls=10)
    finish_all()
    run.refresh_from_db()
    assert (run.state, fake.requests.total(), Label.objects.count()) == (Run.State.PAUSED, 10, 10)
    assert run.pause_reason == (
        "The next call could pass its cap of 10 calls (10 made). Raise the cap to go on."
    )
    assert not run.calls.filter(state=Call.State.LEASED).exists()
    runs.set_caps(by=None, run=run, caps={"cap_calls": 24})
    finish_all()
    run.refresh_from_db()
    assert (run.state, run.pause_reason, fake.requests.total()) == (Run.State.DONE, "", 24)


def test_what_was_held_back_for_a_call_that_was_given_back_or_lost_counts_no_more(fake: FakeLLM) -> None:
    run = capped(fake, cap_calls=1)
    first = run.calls.order_by("pk").values_list("pk", flat=True)[:1]
    Call.objects.filter(pk__in=list(first)).update(reserved_tokens=140, reserved_cost=COST)
    finish_all()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.PAUSED, 1)


def test_resuming_at_a_cap_pauses_again_without_asking(fake: FakeLLM) -> None:
    run = capped(fake, cap_calls=0)
    finish_all()
    runs.resume(by=None, run=run)
    finish_all()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.PAUSED, 0)


@pytest.mark.parametrize("limit", [pytest.param({}, marks=pytest.mark.exhaustive), {"max_tokens": 40}])
def test_tokens_and_money_are_never_more_than_the_cap(fake: FakeLLM, limit: dict[str, int]) -> None:
    run = capped(fake, limit, cap_tokens=2000)
    finish_all()
    state = progress(Run.objects.get())
    assert state.state == "paused"
    used = state.tokens_in + state.tokens_out
    assert 0 < used <= 2000
    runs.set_caps(by=None, run=run, caps={"cap_tokens": None, "cap_cost": Decimal("0.005")})
    finish_all()
    state = progress(Run.objects.get())
    assert state.state == "paused"
    assert Decimal(used) / 1_000_000 < (state.cost or 0) <= Decimal("0.005")


@pytest.mark.parametrize(
    "caps", [{"cap_tokens": 100_000}, pytest.param({"cap_cost": Decimal(9)}, marks=pytest.mark.exhaustive)]
)
def test_where_tokens_are_not_counted_a_cap_on_them_pauses_the_run_and_says_so(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, caps: dict[str, Any]
) -> None:
    told = fake_llm.completion
    monkeypatch.setattr(fake_llm, "completion", lambda *parts: {**told(*parts), "usage": None})
    run = capped(fake, **caps)
    finish_all()
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert 0 < fake.requests.total() < 24
    assert "does not say how many tokens its replies take" in run.pause_reason
    runs.set_caps(by=None, run=run, caps={"cap_tokens": None, "cap_cost": None, "cap_calls": 24})
    finish_all()
    assert (Run.objects.get().state, fake.requests.total()) == (Run.State.DONE, 24)


def test_prices_that_are_taken_away_pause_a_run_whose_cost_is_capped(fake: FakeLLM) -> None:
    run = capped(fake, cap_cost=Decimal(9))
    Endpoint.objects.update(price_in=None)
    finish_all()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.PAUSED, 0)
    assert "has no prices any more" in run.pause_reason


def test_a_cap_on_money_needs_prices_and_one_on_a_judge_of_rules_is_refused(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    free = Judge("cpdscore_detail", endpoint=endpoint_of(fake, price_in=None))
    with pytest.raises(JobError, match="has no prices, so its cost cannot be capped"):
        run_actions.start(
            by=None,
            plan=free.plan(),
            selection=Selection(corpus),
            settings=RunSettings(caps={"cap_cost": Decimal(1)}),
        )
    rules = begin(corpus, Judge("rules_baseline"))
    with pytest.raises(JobError, match="asks nobody"):
        runs.set_caps(by=None, run=rules, caps={"cap_calls": 3})


def test_a_paused_run_asks_nothing_keeps_what_arrives_and_goes_on(fake: FakeLLM) -> None:
    run = begin(small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    by = factories.user("rei", researcher=True)
    runs.pause(by=by, run=run)
    finish()
    run.refresh_from_db()
    assert (run.state, run.pause_reason, run.paused_by, fake.requests.total()) == (
        Run.State.PAUSED,
        "Paused by rei.",
        by,
        0,
    )
    with pytest.raises(JobError, match="only one that waits or runs can be paused"):
        runs.pause(by=by, run=run)
    runs.set_caps(by=by, run=run, caps={"cap_calls": 100})
    assert Run.objects.get().state == Run.State.PAUSED, "who paused it by hand resumes it by hand"
    runs.resume(by=by, run=run)
    finish()
    assert (Run.objects.get().state, fake.requests.total()) == (Run.State.DONE, 12)
    verbs = Event.objects.filter(subject=f"run {run.pk}").values_list("verb", flat=True)
    assert {"pause run", "cap run", "resume run"} <= set(verbs)


def test_a_run_that_was_paused_by_a_program_waits_whatever_its_caps(fake: FakeLLM) -> None:
    run = begin(small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    runs.pause(by=None, run=run)
    runs.set_caps(by=None, run=run, caps={"cap_calls": 100})
    run.refresh_from_db()
    assert (run.state, run.pause_reason) == (Run.State.PAUSED, "Paused by a command.")
    runs.resume(by=None, run=run)
    assert Run.objects.get().state == Run.State.QUEUED


def test_a_paused_run_whose_last_calls_end_is_done_and_one_can_be_cancelled(fake: FakeLLM) -> None:
    run = begin(small_corpus(dialogues=1), Judge("rules_baseline"))
    Run.objects.update(state=Run.State.PAUSED)
    run.calls.update(state=Call.State.DONE)
    assert runs.settle(run.pk) == Run.State.DONE
    other = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    assert runs.cancel(by=None, run=runs.pause(by=None, run=other)).state == Run.State.CANCELLED


def twice(fake: FakeLLM, **how: Any) -> tuple[Run, Run]:
    """Run a judge over two corpora that hold the same texts: what it sends is the same."""
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    first = begin(small_corpus(), judge)
    finish()
    second = run_actions.start(
        by=None, plan=judge.plan(), selection=Selection(small_corpus()), settings=RunSettings(**how)
    )
    finish()
    return Run.objects.get(pk=first.pk), Run.objects.get(pk=second.pk)


@pytest.mark.exhaustive
def test_an_equal_request_of_another_run_is_answered_from_the_cache(fake: FakeLLM) -> None:
    first, second = twice(fake)
    assert (second.state, fake.requests.total()) == (Run.State.DONE, 12)
    assert set(second.calls.values_list("cached", "asked", "cost", "saved")) == {(True, 0, Decimal(0), COST)}
    assert set(second.calls.values_list("reply")) == set(first.calls.values_list("reply"))
    assert Label.objects.filter(item__continuation__dialogue__corpus=second.corpus).count() == 12
    state = progress(second)
    assert (state.cached, state.asked, state.tokens_in, state.cost, state.saved) == (12, 0, 0, 0, 12 * COST)


@pytest.mark.exhaustive
def test_the_cache_can_be_switched_off(fake: FakeLLM) -> None:
    _, second = twice(fake, use_cache=False)
    assert (second.use_cache, fake.requests.total()) == (False, 24)
    assert not Call.objects.filter(cached=True).exists()


def test_samples_items_of_one_run_and_other_parameters_never_share_a_reply(fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(dialogues=1, turns=1), endpoint_of(fake)
    begin(corpus, Judge("cpdscore_detail", endpoint=endpoint), samples=3)
    finish()
    begin(corpus, Judge("cpdscore_detail", endpoint=endpoint, parameters={"temperature": 0.5}))
    finish()
    assert fake.requests.total() == 4
    hashes = set(Call.objects.values_list("request_hash", flat=True))
    assert len(hashes) == 4


@pytest.mark.exhaustive
def test_a_failed_reply_is_not_taken_and_one_that_does_not_answer_is_asked_for(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.mode = "malformed"
    first, second = twice(fake)
    assert (first.state, second.state) == (Run.State.FAILED, Run.State.FAILED)
    assert fake.requests.total() == 48, "each of the 24 calls was asked twice"
    fake.mode = "good"
    found = prepared._reply("what?", "", None, "text", "", "", COST)
    monkeypatch.setattr(prepared, "_cached_replies", lambda wanted: {job.call.pk: found for job in wanted})
    runs.retry_failed(by=None, run=second)
    finish()
    second.refresh_from_db()
    assert (second.state, fake.requests.total()) == (Run.State.DONE, 60)
    assert not second.calls.filter(cached=True).exists()


@pytest.mark.exhaustive
def test_what_judges_cost_adds_up_by_judge_campaign_and_run(fake: FakeLLM) -> None:
    first, second = twice(fake)
    by_run = [runs.spending_row(row) for row in runs.spent("run")]
    assert [(row["key"], row["asked"], row["cached"], row["cost"], row["saved"]) for row in by_run] == [
        (first.pk, 12, 0, 12 * COST, 0),
        (second.pk, 0, 12, 0, 12 * COST),
    ]
    (judge,) = (runs.spending_row(row) for row in runs.spent("judge"))
    assert (judge["key"], judge["asked"], judge["cached"]) == (first.rater_id, 12, 12)
    (whole,) = (runs.spending_row(row) for row in runs.spent("campaign"))
    assert (whole["key"], whole["runs"], whole["cost"], whole["at_least"]) == (None, 2, 12 * COST, False)


@pytest.mark.exhaustive
def test_pages_and_api_pause_cap_and_resume(client: Client, fake: FakeLLM) -> None:
    client.force_login(factories.user(researcher=True))
    run = capped(fake, cap_calls=2)
    finish_all()
    shown = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "The next call could pass its cap of 2 calls (2 made). Raise the cap to go on." in shown
    wrong = client.post(reverse("cap-run", args=[run.pk]), {"cap_calls": "-1"})
    assert wrong.status_code == 422
    assert "greater than or equal to 0" in wrong.content.decode()
    client.post(reverse("cap-run", args=[run.pk]), {"cap_calls": "3"})
    finish_all()
    client.post(reverse("resume-run", args=[run.pk]))
    assert Run.objects.get().state == Run.State.QUEUED
    client.post(reverse("pause-run", args=[run.pk]))
    assert Run.objects.get().state == Run.State.PAUSED
    caps = reverse("api-cap-run", args=[run.pk])
    lifted = {"cap_calls": None, "cap_cost": "1.5"}
    progress = client.post(caps, lifted, content_type="application/json").json()["progress"]
    assert (progress["cap_calls"], progress["cap_cost"]) == (None, 1.5)
    assert client.post(caps, {"cap_calls": "x"}, content_type="application/json").json()["code"] == "invalid"
    assert client.post(reverse("api-pause-run", args=[run.pk])).status_code == 400
    assert client.post(reverse("api-resume-run", args=[run.pk])).json()["state"] == "queued"
    costs = client.get(reverse("api-run-costs"), {"by": "run"}).json()
    assert [(row["key"], row["asked"]) for row in costs["results"]] == [(run.pk, 3)]
    assert "3" in client.get(reverse("run-costs")).content.decode()


def test_settings_travel_through_a_job() -> None:
    told = RunSettings(False, {"cap_calls": 3, "cap_cost": Decimal("0.5")})
    assert settings_from(json.loads(json.dumps(told.as_json()))) == told
    assert settings_from({}) == RunSettings()


def test_the_cost_is_known_and_projected_while_a_run_is_under_way(fake: FakeLLM, client: Client) -> None:
    run = capped(fake, cap_calls=12, cap_cost=Decimal("1"))
    finish_all()
    state = progress(run_now(run))
    total = run.calls.count()
    assert (state.sent, state.cost) == (12, 12 * COST)
    assert state.projected_cost == total * COST, "each call of the fake model costs the same"
    assert (state.projected_low, state.projected_high) == (total * COST, total * COST)
    assert state.cap_left == 1 - 12 * COST
    client.force_login(factories.user(researcher=True))
    page = client.get(reverse("run-progress", args=[run.pk])).content.decode()
    assert "Projected cost" in page
    assert "95%, by the cost of the latest calls" in page
    told = client.get(reverse("api-run", args=[run.pk])).json()["progress"]
    assert told["projected_cost"] == pytest.approx(float(total * COST))


def test_a_projection_covers_the_total_of_calls_that_cost_differently() -> None:
    generator, covered = random.Random(7), 0
    for _ in range(1_000):
        costs = [Decimal(str(round(generator.lognormvariate(-6, 0.5), 8))) for _ in range(200)]
        projected = projection(costs[:50], sum(costs[:50], Decimal(0)), 150)
        assert projected is not None
        covered += projected.low <= sum(costs, Decimal(0)) <= projected.high
    assert covered == 932, "docs/judges.md says 93%"
    assert projection(costs[:9], Decimal(1), 5) is None
    assert projection(costs, Decimal(1), 0) is None


def test_replies_from_before_the_prices_are_priced_afterwards_and_said_to_be(
    fake: FakeLLM, client: Client
) -> None:
    endpoint = endpoint_of(fake, price_in=None, price_out=None)
    run = begin(small_corpus(dialogues=2), Judge("cpdscore_detail", endpoint=endpoint))
    finish_all()
    client.force_login(factories.user(researcher=True))
    assert progress(run_now(run)).priced_afterwards is None
    Endpoint.objects.update(price_in=1, price_out=10)
    state = progress(run_now(run))
    n = run.calls.count()
    assert (state.cost, state.unpriced, state.priced_afterwards) == (None, n, n * COST)
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert f"{n} replies came before the endpoint had prices" in page
    assert "priced afterwards" in page


def run_now(run: Run) -> Run:
    return Run.objects.select_related("endpoint", "rater").get(pk=run.pk)
