"""Batches of the provider: each call once, whatever fails on the way."""

from __future__ import annotations

import html
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Label
from demo.fake_model.errors import Misbehaviour
from demo.fake_model.serving import Response, failure
from jobs import runs
from jobs.calls import batch_actions, batch_results
from jobs.errors import JobError
from jobs.models import Batch, Call, Endpoint, Run
from jobs.progress import progress
from jobs.queue import timing
from judges.runs import run_actions
from judges.runs.lookup import Drive
from judges.runs.plans import Judge
from judges.runs.selection import RunSettings, Selection
from tests import factories
from tests.fake_llm import TOKENS_IN, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
COST = Decimal(100 * 1 + 20 * 10) / 1_000_000
"""Of one call that is asked at once, at the prices of `endpoint_of`."""


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is looked at when a test says so, and never waited for."""
    monkeypatch.setattr(timing, "LOOK_FIRST", 3600.0)
    monkeypatch.setattr(timing, "SURE_AFTER", 0.0)


def batched(fake: FakeLLM, *, dialogues: int = 2, protocol: str = "cpdscore_detail", **fields: Any) -> Run:
    """Start a run of `6 * dialogues` calls in batches of at most 5."""
    caps = {name: fields.pop(name) for name in list(fields) if name.startswith("cap_")}
    told = {"batch_share": "0.5", "batch_most": 5} | fields
    judge = Judge(protocol, endpoint=endpoint_of(fake, **told))
    return run_actions.start(
        by=None,
        plan=judge.plan(),
        selection=Selection(small_corpus(dialogues=dialogues)),
        settings=RunSettings(mode="batch", caps=caps),
    )


def work(rounds: int = 30) -> None:
    """Work until nothing is due, however long things were to be waited for."""
    for _ in range(rounds):
        Batch.objects.filter(next_look__isnull=False).update(next_look="2020-01-01T00:00Z")
        Call.objects.update(not_before=None)
        finish()
        waiting = Call.objects.filter(state="pending", run__state__in=runs.ACTIVE)
        if not Batch.objects.filter(next_look__isnull=False).exists() and not waiting.exists():
            return
    raise AssertionError("the batches go on and on")


def test_a_run_in_batches_gives_the_labels_of_one_at_once(fake: FakeLLM) -> None:
    run = batched(fake)
    work()
    run.refresh_from_db()
    assert (run.state, run.error) == (Run.State.DONE, "")
    assert fake.batches.counts() | {"looked": 0} == {
        "batches": 3,
        "submitted": 12,
        "paid": 12,
        "paid_twice": 0,
        "looked": 0,
        "files": 0,
    }
    assert Label.objects.count() == 12


def counted(fake: FakeLLM) -> tuple[int, int, int]:
    """Batches that the provider has, lines in them, and lines that were paid for."""
    told = fake.batches.counts()
    return told["batches"], told["submitted"], told["paid"]


def trouble(fake: FakeLLM, kind: str, **how: Any) -> None:
    fake.batches.misbehaviours = [*fake.batches.misbehaviours, Misbehaviour(kind, **how)]


def knows_no_files(fake: FakeLLM) -> None:
    """Let the server answer as one that has no batches and calls that a fault of its own."""
    usual = fake.batches.respond

    def respond(method: str, path: str, body: Any) -> Response | None:
        if path.endswith("/files"):
            return failure(500, "files_settings is not set")
        return usual(method, path, body)

    fake.batches.respond = respond  # type: ignore[method-assign]


def states(run: Run) -> list[str]:
    return list(run.batches.values_list("state", flat=True))


@pytest.mark.exhaustive
def test_a_batched_call_is_recorded_as_one_at_its_share_of_the_price(fake: FakeLLM) -> None:
    run = batched(fake)
    work()
    state = progress(Run.objects.get())
    assert (state.mode, state.batched, state.asked, state.tokens_in) == ("batch", 0, 12, 12 * TOKENS_IN)
    assert state.cost == 12 * COST / 2
    for call in run.calls.select_related("batch"):
        assert call.batch is not None
        assert (call.state, call.latency_ms, call.reply_form, call.attempts) == ("done", None, "text", 1)
        assert (call.reserved_tokens, call.batch.run) == (None, run)
    assert [(batch.state, batch.size, batch.answered, batch.returned) for batch in run.batches.all()] == [
        ("collected", 5, 5, 0),
        ("collected", 5, 5, 0),
        ("collected", 2, 2, 0),
    ]


@pytest.mark.exhaustive
def test_at_once_and_in_batches_it_is_the_same_judge_with_the_same_labels(fake: FakeLLM) -> None:
    run = batched(fake)
    work()
    in_batches = sorted(Label.objects.values_list("item__turn__text", "number", "explanation"))
    other = endpoint_of(fake, name="other")
    at_once = begin(small_corpus(), Judge("cpdscore_detail", endpoint=other))
    assert at_once.rater == run.rater
    assert at_once.mode == Run.Mode.AT_ONCE
    Run.objects.filter(pk=at_once.pk).update(use_cache=False)
    finish()
    labels = Label.objects.filter(item__continuation__dialogue__corpus=at_once.corpus)
    assert sorted(labels.values_list("item__turn__text", "number", "explanation")) == in_batches
    assert not at_once.calls.filter(batch__isnull=False).exists()


@pytest.mark.exhaustive
def test_lines_that_fail_or_expire_go_into_the_next_batch_until_they_were_tried_too_often(
    fake: FakeLLM,
) -> None:
    run = batched(fake)
    trouble(fake, "batch_fails", first=3)
    trouble(fake, "batch_expires", first=5)
    work()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert counted(fake)[2] == 12
    assert fake.batches.counts()["paid_twice"] == 0
    assert run.batches.filter(returned__gt=0).exists()
    trouble(fake, "batch_expires", rate=1.0)
    again = begin(small_corpus(dialogues=1), Judge("cpdscore_simple", endpoint=run.endpoint))
    Run.objects.filter(pk=again.pk).update(mode="batch", max_attempts=2)
    work()
    again.refresh_from_db()
    assert (again.state, again.calls.filter(state="failed", attempts=2).count()) == (Run.State.FAILED, 6)
    error = again.calls.values_list("error", "error_kind").first()
    assert error is not None
    assert "batch_expired" in error[0]
    assert error[1] == "transport"


@pytest.mark.parametrize(
    ("mode", "kind", "asked"),
    [
        pytest.param("malformed", "unparseable", 24, marks=pytest.mark.exhaustive),
        ("400", "request", 12),
        pytest.param("500", "server", 12, marks=pytest.mark.exhaustive),
    ],
)
def test_kinds_of_failures_are_those_of_calls_at_once(
    fake: FakeLLM, mode: str, kind: str, asked: int
) -> None:
    run = batched(fake)
    Run.objects.filter(pk=run.pk).update(max_attempts=1 if mode == "500" else 6)
    fake.mode = mode
    work()
    assert set(run.calls.values_list("state", "error_kind")) == {("failed", kind)}
    assert fake.requests.total() == asked


@pytest.mark.exhaustive
def test_a_refused_key_in_a_line_stops_the_run_and_keeps_its_calls_waiting(fake: FakeLLM) -> None:
    run = batched(fake)
    fake.mode = "401"
    finish()
    work()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert "401" in run.error
    assert run.calls.filter(state="pending").count() == 12
    fake.mode = "good"
    runs.retry_failed(by=None, run=run)
    work()
    assert Run.objects.get().state == Run.State.DONE


@pytest.mark.exhaustive
def test_calls_that_are_asked_again_are_in_no_batch_and_have_not_ended(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1)
    fake.mode = "400"
    work()
    assert run.calls.filter(state="failed", batch__isnull=False, finished_at__isnull=False).count() == 6
    runs.retry_failed(by=None, run=run)
    assert run.calls.filter(state="pending", batch=None, finished_at=None, error="").count() == 6


@pytest.mark.exhaustive
def test_a_batch_whose_submission_got_no_answer_is_adopted_and_not_submitted_again(fake: FakeLLM) -> None:
    run = batched(fake)
    trouble(fake, "batch_reset", first=2)
    work()
    run.refresh_from_db()
    assert (run.state, counted(fake)) == (Run.State.DONE, (3, 12, 12))


@pytest.mark.exhaustive
def test_where_batches_are_not_listed_a_person_adopts_or_gives_up(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1)
    trouble(fake, "batch_reset", first=2)
    trouble(fake, "batch_unlisted", first=1)
    work()
    run.refresh_from_db()
    assert (run.state, states(run), counted(fake)) == (Run.State.PAUSED, ["unclear"], (1, 5, 0))
    assert "does not list its batches" in run.pause_reason
    runs.resume(by=None, run=run)
    finish()
    assert states(run) == ["unclear"], "nothing more is submitted before somebody decides"
    with pytest.raises(JobError, match="is not the id of a batch"):
        batch_actions.adopt(by=None, batch=run.batches.get(), provider_id="../files")
    batch_actions.adopt(by=None, batch=run.batches.get(), provider_id="batch_1")
    work()
    assert states(run) == ["collected", "unclear"]
    batch_actions.give_up(by=None, batch=run.batches.get(state="unclear"))
    fake.batches.misbehaviours = []
    work()
    run.refresh_from_db()
    assert (run.state, states(run)) == (Run.State.DONE, ["collected", "given_up", "collected"])
    assert Label.objects.count() == 6
    assert fake.batches.submitted.total() == 7, "what was given up was submitted once more"


def test_adopting_another_runs_batch_collects_nothing(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1, batch_most=50)
    trouble(fake, "batch_reset", first=1)
    trouble(fake, "batch_unlisted", first=1)
    work()
    fake.batches.by_id["batch_1"].metadata = {"concord_batch": "another"}
    batch_actions.adopt(by=None, batch=run.batches.get(), provider_id="batch_1")
    work()
    batch = run.batches.get()
    assert (batch.state, Label.objects.count()) == (Batch.State.UNCLEAR, 0)
    assert "its key is not this one's" in batch.error


@pytest.mark.exhaustive
def test_429_at_the_submission_is_waited_out_and_a_refused_batch_stops_the_run(fake: FakeLLM) -> None:
    run = batched(fake)
    trouble(fake, "batch_429", first=3)
    work()
    assert (Run.objects.get().state, counted(fake)) == (Run.State.DONE, (3, 12, 12))
    trouble(fake, "batch_refused", rate=1.0)
    other = begin(small_corpus(), Judge("cpdscore_simple", endpoint=run.endpoint))
    Run.objects.filter(pk=other.pk).update(mode="batch")
    work()
    other.refresh_from_db()
    assert (other.state, other.calls.filter(state="pending", attempts=0).count()) == (Run.State.FAILED, 12)
    assert "refused, as the error model says" in other.error


def test_a_batch_for_a_fake_model_under_another_name_is_never_submitted(fake: FakeLLM) -> None:
    fake.say_that_it_is_fake()
    run = batched(fake, model="gpt-4")
    work()
    run.refresh_from_db()
    assert (run.state, counted(fake)) == (Run.State.FAILED, (0, 0, 0))
    assert "a fake model answers under the name gpt-4" in run.error
    assert Endpoint.objects.get().fake_model


@pytest.mark.exhaustive
def test_a_cap_limits_a_batch_before_it_is_submitted(fake: FakeLLM) -> None:
    run = batched(fake, cap_calls=7)
    work()
    run.refresh_from_db()
    assert (run.state, counted(fake)) == (Run.State.PAUSED, (2, 7, 7))
    assert "cap of 7 calls (7 made)" in run.pause_reason
    runs.set_caps(by=None, run=run, caps={"cap_calls": None, "cap_cost": 9 * COST / 2})
    work()
    state = progress(Run.objects.get())
    assert state.state == "paused"
    assert state.cost is not None
    assert state.cost <= 9 * COST / 2


@pytest.mark.exhaustive
def test_a_pause_submits_nothing_more_and_collects_what_was_submitted(fake: FakeLLM) -> None:
    run = batched(fake, cap_calls=5)
    trouble(fake, "batch_slow:3600000", first=1)
    finish()
    assert (states(run), run.calls.filter(state="pending").count()) == (["under_way"], 7)
    runs.pause(by=factories.user("rei", researcher=True), run=run)
    runs.set_caps(by=None, run=run, caps={"cap_calls": 12})
    fake.batches.by_id["batch_1"].seconds = 0
    work()
    run.refresh_from_db()
    assert (run.state, states(run)) == (Run.State.PAUSED, ["collected"])
    runs.resume(by=None, run=run)
    work()
    assert (Run.objects.get().state, counted(fake)) == (Run.State.DONE, (3, 12, 12))


@pytest.mark.parametrize("change", ["address", pytest.param("revision", marks=pytest.mark.exhaustive)])
def test_a_batch_under_way_is_asked_for_at_its_own_server_alone(fake: FakeLLM, change: str) -> None:
    run = batched(fake, batch_most=50)
    trouble(fake, "batch_slow:3600000", first=1)
    finish()
    assert states(run) == ["under_way"]
    fake.batches.by_id["batch_1"].seconds = 0
    with FakeLLM() as other:
        to = {"base_url": other.url} if change == "address" else {"revision": "new weights"}
        Endpoint.objects.update(**to)
        Batch.objects.update(next_look="2020-01-01T00:00Z")
        finish()
        assert not other.arrivals
    batch = run.batches.get()
    assert (batch.state, run.calls.filter(state="batched").count()) == ("under_way", 12)
    assert "a run never changes its server" in batch.error
    assert f"this run asked {fake.url}" in progress(run).batch_note
    Endpoint.objects.update(base_url=fake.url, revision="")
    work()
    assert (Run.objects.get().state, counted(fake)) == (Run.State.DONE, (1, 12, 12))


@pytest.mark.exhaustive
def test_cancelling_a_run_cancels_its_batch_and_keeps_what_was_answered(fake: FakeLLM) -> None:
    run = batched(fake, batch_most=50)
    trouble(fake, "batch_slow:3600000", rate=1.0)
    finish()
    assert run.calls.filter(state="batched").count() == 12
    runs.cancel(by=None, run=run)
    work()
    run.refresh_from_db()
    batch = run.batches.get()
    done, cancelled = (run.calls.filter(state=state).count() for state in ("done", "cancelled"))
    assert (run.state, batch.state, batch.provider_state) == ("cancelled", "collected", "cancelled")
    assert (done, done + cancelled) == (counted(fake)[2], 12)
    assert 0 < done < 12
    fake.batches.misbehaviours = []
    runs.retry_failed(by=None, run=run)
    work()
    assert (Run.objects.get().state, counted(fake)[2]) == (Run.State.DONE, 12)


@pytest.mark.exhaustive
def test_what_the_cache_holds_is_not_asked_and_samples_have_lines_of_their_own(fake: FakeLLM) -> None:
    first = batched(fake, dialogues=1)
    work()
    judge = Judge("cpdscore_detail", endpoint=first.endpoint)
    second = run_actions.start(
        by=None,
        plan=judge.plan(),
        selection=Selection(small_corpus(dialogues=1), samples=2),
        settings=RunSettings(mode="batch"),
    )
    work()
    assert second.calls.filter(cached=True, batch=None).count() == 6
    assert second.calls.filter(cached=False, sample=1, state="done").count() == 6
    assert counted(fake)[1:] == (12, 12)


@pytest.mark.exhaustive
def test_the_form_of_replies_is_found_out_before_the_first_batch(fake: FakeLLM) -> None:
    fake.knows_schema = False
    run = batched(fake, protocol="cocoeval_overall", dialogues=1)
    work()
    run.refresh_from_db()
    assert (run.state, run.endpoint.reply_form) == (Run.State.DONE, "text")
    assert set(run.calls.values_list("reply_form", "asked", "attempts")) == {("text", 1, 1)}


@pytest.mark.exhaustive
def test_a_collection_that_broke_off_goes_on_and_lines_of_other_calls_change_nothing(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_results, "STEP", 2)
    run = batched(fake, dialogues=1, batch_most=50, keep_batch_files=True)
    work()
    assert Label.objects.count() == 6
    labels = list(Label.objects.values_list("pk", "number"))
    batch = run.batches.get()
    half = list(run.calls.order_by("pk").values_list("pk", flat=True)[:3])
    run.calls.filter(pk__in=half).update(state="batched", asked=0)
    Batch.objects.update(state="collecting", next_look="2020-01-01T00:00Z")
    fake.batches.files[batch.output_file] += b'{"custom_id": "call-99999"}\nnot JSON\n'
    work()
    assert list(Label.objects.values_list("pk", "number")) == labels
    assert set(run.calls.values_list("asked", "state")) == {(1, "done")}


@pytest.mark.exhaustive
def test_results_that_are_not_all_there_are_not_paid_for_again(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1, batch_most=50)
    trouble(fake, "batch_slow:3600000", first=1)
    finish()
    fake.batches.by_id["batch_1"].seconds = 0
    fake.batches._done(fake.batches.by_id["batch_1"])
    name = fake.batches.by_id["batch_1"].output
    whole = fake.batches.files[name]
    fake.batches.files[name] = b"".join(whole.splitlines(keepends=True)[:4])
    work()
    assert (Run.objects.get().state, states(run), Label.objects.count()) == ("paused", ["unclear"], 4)
    assert "hold 4 answers, and the endpoint says that it gave 6" in run.batches.get().error
    fake.batches.files[name] = whole
    batch_actions.adopt(by=None, batch=run.batches.get(), provider_id="batch_1")
    work()
    assert (Run.objects.get().state, Label.objects.count(), counted(fake)) == ("done", 6, (1, 6, 6))


@pytest.mark.exhaustive
def test_a_prompt_that_changed_meanwhile_is_asked_anew(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1, batch_most=50)
    trouble(fake, "batch_slow:3600000", first=1)
    finish()
    Call.objects.filter(pk=run.calls.order_by("pk")[0].pk).update(prompt_hash="of another prompt")
    fake.batches.by_id["batch_1"].seconds = 0
    work()
    run.refresh_from_db()
    assert (run.state, counted(fake)[2]) == (Run.State.DONE, 7)
    assert sorted(run.calls.values_list("asked", flat=True)) == [1, 1, 1, 1, 1, 2]


def test_a_batch_is_only_for_an_endpoint_that_takes_them(fake: FakeLLM) -> None:
    with pytest.raises(JobError, match="takes no batches"):
        batched(fake, batch_share=None)
    rules = Judge("rules_baseline").plan()
    with pytest.raises(JobError, match="asks nobody"):
        run_actions.start(
            by=None, plan=rules, selection=Selection(small_corpus()), settings=RunSettings(mode="batch")
        )


@pytest.mark.exhaustive
def test_the_first_refusal_is_said_with_what_happens_next(fake: FakeLLM, client: Client) -> None:
    """Such as by a server that knows no batches and answers 500 to their files."""
    run = batched(fake, batch_most=20)
    knows_no_files(fake)
    finish()
    batch = run.batches.get()
    assert batch.ended_at is not None
    note = progress(Run.objects.get()).batch_note
    assert note.startswith(f"The endpoint {batch.endpoint.name} did not take batch {batch.pk}: HTTP 500")
    again = f"{batch.ended_at + timedelta(seconds=10):%H:%M:%S} UTC"
    assert f"Its 12 calls wait and go into another batch at {again}" in note
    assert "after 6 refusals in a row (1 so far) the run pauses" in note
    client.force_login(factories.user(researcher=True))
    page = html.unescape(client.get(reverse("run", args=[run.pk])).content.decode())
    assert note in page
    assert client.get(reverse("api-run", args=[run.pk])).json()["progress"]["batch_note"] == note
    work()
    paused = progress(Run.objects.get())
    assert (paused.state, paused.batch_note) == ("paused", "")
    assert "6th in a row" in paused.pause_reason


def test_a_command_says_on_stderr_what_holds_its_run_up(
    fake: FakeLLM, capfd: pytest.CaptureFixture[str]
) -> None:
    run = batched(fake, batch_most=20)
    knows_no_files(fake)
    finish()
    drive = Drive([run])
    for _ in range(3):
        drive._tell_what_holds_up()
    assert capfd.readouterr().err.count("did not take batch") == 1
