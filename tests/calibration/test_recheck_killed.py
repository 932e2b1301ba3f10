"""A worker is killed in the middle of a recheck: it resumes, pays nothing twice, and gives one verdict."""

from __future__ import annotations

import signal

import pytest

from annotation.models import Label, Occasion
from calibration.drift import anchor_actions
from calibration.models import Recheck
from config.models import Event
from jobs.models import Call, Job, Run, WebhookEvent
from jobs.webhooks import add
from tests import factories
from tests.calibration.test_drift import CARELESS, ORDINARY, judged_corpus
from tests.fake_llm import FakeLLM
from tests.jobs.work import work_off
from tests.judges.test_killed_worker import Start, start, until

__all__ = ["start"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_killed_worker_leaves_a_recheck_that_resumes_to_one_verdict(fake: FakeLLM, start: Start) -> None:
    fake.model = ORDINARY
    corpus, rater = judged_corpus(fake, 40)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    add(by=factories.user("root", administrator=True), url="https://hooks.example/", events=["judge.moved"])
    first = set(Label.objects.filter(rater=rater).values_list("pk", "number"))
    fake.model, fake.delay = CARELESS, 0.1
    fake.requests.clear()
    recheck = anchor_actions.recheck(by=None, anchors=anchors, rater=rater)
    calls = recheck.run.calls
    total = calls.count()

    worker = start()
    until(lambda: calls.filter(state=Call.State.DONE).count() >= 20)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    done = dict(calls.filter(state=Call.State.DONE).values_list("pk", "finished_at"))
    in_flight = calls.filter(state=Call.State.LEASED).count()
    assert 20 <= len(done) < total
    assert in_flight > 0
    assert anchor_actions.recheck(by=None, anchors=anchors, rater=rater) == recheck, "it is still running"
    recheck.refresh_from_db()
    assert (recheck.state, Job.objects.filter(kind="drift").count()) == ("", 0), "no verdict on a part"

    fake.delay = 0
    start()
    until(lambda: Run.objects.get(pk=recheck.run_id).state == Run.State.DONE)
    assert set(done.items()) <= set(calls.values_list("pk", "finished_at")), "what was answered stays"
    assert total <= fake.requests.total() <= total + in_flight
    work_off()

    recheck = Recheck.objects.get()
    assert recheck.state == "moved"
    assert (recheck.result["calls"], recheck.result["failed"]) == (total, 0)
    assert Event.objects.filter(verb="compare recheck").count() == 1
    assert WebhookEvent.objects.filter(kind="judge.moved").count() == 1
    repeats = Label.objects.filter(rater=rater, occasion=Occasion.REPEAT)
    assert repeats.count() == repeats.values("item", "question", "sample").distinct().count() == len(first)
    main = Label.objects.filter(rater=rater, occasion=Occasion.MAIN)
    assert set(main.values_list("pk", "number")) == first
