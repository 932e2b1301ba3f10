"""Claims, leases and results in the database: once each, regardless of workers and attempts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Label
from annotation.work.labels import Answer
from jobs import runs
from jobs.calls import claims
from jobs.calls.outcomes import Outcome, write
from jobs.models import Call, Run
from judges.models import CallLabel
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(fake: FakeLLM) -> Run:
    return begin(small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))


def claim(run: Run, worker: str = "w", limit: int = 100) -> list[int]:
    return claims.claim(queue="calls", worker=worker, limit=limit, endpoint_id=run.endpoint_id)


def outcome(call: Call, value: float = 4, reply: str = "4") -> Outcome:
    question = call.run.questions["overall"]
    return Outcome(call.pk, "done", (Answer(call.item_id, question, value),), reply=reply, tokens_in=1)


def test_what_one_worker_holds_another_does_not_get(run: Run) -> None:
    first, second = claim(run, "one", 5), claim(run, "two")
    assert len(first) == 5
    assert not set(first) & set(second)
    assert len(second) == 7
    assert claim(run, "three") == []


def test_what_somebody_waits_for_comes_before_an_older_run_at_the_same_endpoint(run: Run) -> None:
    urgent = begin(small_corpus(), Judge("cpdscore_simple", endpoint=run.endpoint))
    Run.objects.filter(pk=urgent.pk).update(urgent=True)
    waited_for = set(urgent.calls.values_list("pk", flat=True))
    assert set(claim(run, limit=5)) <= waited_for
    assert len(waited_for) == 12
    later = set(claim(run, limit=10))
    assert len(later & waited_for) == 7
    assert later - waited_for == set(run.calls.order_by("pk").values_list("pk", flat=True)[:3])


def test_a_result_that_arrives_twice_counts_once(run: Run) -> None:
    call = Call.objects.get(pk=claim(run)[0])
    assert write([outcome(call)]).labels == 1
    again = write([outcome(call, 2)])
    assert (again.done, again.labels) == (0, 0)
    assert Label.objects.get().number == 4
    call.refresh_from_db()
    assert (call.state, call.tokens_in, call.reply) == (Call.State.DONE, 1, "4")


def test_a_late_result_of_a_lost_lease_is_used_and_not_paid_for_again(run: Run) -> None:
    call = Call.objects.get(pk=claim(run)[0])
    Call.objects.filter(pk=call.pk).update(lease_expires=timezone.now() - timedelta(seconds=1))
    assert claims.sweep() == 1
    assert write([outcome(call)]).done == 1
    assert call.pk not in claim(run, "two")


def test_an_answer_off_the_scale_fails_its_call_and_no_other(run: Run) -> None:
    calls = list(Call.objects.filter(pk__in=claim(run)).order_by("pk"))
    counts = write([outcome(calls[0]), outcome(calls[1], 9), outcome(calls[2])])
    assert (counts.done, counts.failed, counts.labels) == (2, 1, 2)
    calls[1].refresh_from_db()
    assert calls[1].state == Call.State.FAILED
    assert "not on the scale" in calls[1].error


def test_a_call_that_loses_its_worker_again_and_again_fails(run: Run) -> None:
    Call.objects.exclude(pk=run.calls.earliest("pk").pk).delete()
    for _ in range(run.max_attempts):
        assert len(claim(run)) == 1
        Call.objects.update(lease_expires=timezone.now() - timedelta(seconds=1))
        claims.sweep()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.calls.get().error == "Its worker was lost each time it was tried."


def test_what_was_not_begun_is_given_back_uncounted(run: Run) -> None:
    held = claim(run)
    claims.give_back(worker="w", calls=held)
    assert set(run.calls.values_list("state", "attempts")) == {("pending", 0)}


def test_a_beating_heart_keeps_its_calls_and_only_its_own(run: Run) -> None:
    held = claim(run, "w", 3)
    Call.objects.update(lease_expires=timezone.now() - timedelta(seconds=1))
    claims.renew(worker="another", calls=held)
    assert run.calls.filter(lease_expires__gt=timezone.now()).count() == 0
    claims.renew(worker="w", calls=held)
    assert claims.sweep() == 0


def test_results_of_a_cancelled_run_are_kept_and_the_rest_is_not_asked(run: Run) -> None:
    call = Call.objects.get(pk=claim(run, limit=1)[0])
    runs.cancel(by=None, run=run)
    assert claim(run) == []
    assert write([outcome(call)]).labels == 1
    assert runs.settle(run.pk) == Run.State.CANCELLED


def test_the_database_refuses_a_second_call_about_the_same(run: Run) -> None:
    call = run.calls.first()
    assert call is not None
    other = begin(run.corpus, Judge("cpdscore_detail", endpoint=run.endpoint), samples=2)
    assert other.pk != run.pk
    with pytest.raises(IntegrityError, match="call_once"), transaction.atomic():
        Call.objects.create(
            run=other, rater=run.rater, continuation_id=call.continuation_id, item_id=call.item_id
        )


def test_the_database_refuses_a_label_from_two_calls(run: Run) -> None:
    calls = list(run.calls.all()[:2])
    write([outcome(calls[0])])
    with pytest.raises(IntegrityError), transaction.atomic():
        CallLabel.objects.create(call=calls[1], label=Label.objects.get())


def test_the_database_refuses_a_lease_without_an_end(run: Run) -> None:
    with pytest.raises(IntegrityError, match="call_lease_has_end"), transaction.atomic():
        run.calls.update(state=Call.State.LEASED)


def test_the_same_rater_and_scope_is_one_run_in_the_database_too(run: Run) -> None:
    with pytest.raises(IntegrityError, match="run_scope_once"), transaction.atomic():
        Run.objects.create(
            rater=run.rater,
            corpus=run.corpus,
            endpoint=run.endpoint,
            queue="calls",
            scope_hash=run.scope_hash,
        )


def test_unfinished_calls_move_to_the_run_that_wants_them(run: Run, fake: FakeLLM) -> None:
    wider = begin(run.corpus, Judge("cpdscore_detail", endpoint=run.endpoint), include_self=True)
    assert (run.calls.count(), wider.calls.count()) == (0, 16)
    finish()
    assert {found.state for found in Run.objects.all()} == {Run.State.DONE}
    assert fake.requests.total() == 16
