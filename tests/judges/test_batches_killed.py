"""Real worker processes killed at random moments: no batch is submitted twice, and each call ends once."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest
from django.db import connection

from annotation.models import Label
from demo.fake_model.errors import Misbehaviour
from jobs.calls.queue import work_slice as work
from jobs.models import Batch, Run
from jobs.queue import timing
from jobs.queue import worker as heartbeat
from jobs.queue.worker import Heartbeat
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import RunSettings, Selection
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.exhaustive,
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
KILLS, SEED = 10, 20


def killed_after(fake: FakeLLM, requests: int, seconds: float) -> None:
    """Let a process of its own work on the queue, and kill it so many seconds after so many requests."""
    reached = len(fake.arrivals) + requests
    connection.close()
    worker = os.fork()
    if not worker:
        try:
            with Heartbeat("calls") as heartbeat:
                while True:
                    work("calls", seconds=1, heartbeat=heartbeat)
                    time.sleep(0.01)
        finally:
            os._exit(1)
    end = time.monotonic() + 30
    while len(fake.arrivals) < reached and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)


def test_workers_killed_ten_times_submit_every_call_once_and_each_has_one_result(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("LOOK_FIRST", 0.1), ("LOOK_MOST", 0.2), ("SURE_AFTER", 3.0)):
        monkeypatch.setattr(timing, name, seconds)
    fake.batches.misbehaviours = [Misbehaviour("batch_slow:200", rate=1.0)]
    fake.delay = 0.02
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake, batch_share="0.5", batch_most=15))
    run = run_actions.start(
        by=None,
        plan=judge.plan(),
        selection=Selection(small_corpus(dialogues=34)),
        settings=RunSettings(mode="batch"),
    )
    chance = random.Random(SEED)
    at_kills = set()
    for _ in range(KILLS):
        killed_after(fake, chance.randint(1, 8), chance.uniform(0.0, 0.06))
        at_kills |= set(run.batches.values_list("state", flat=True))
    for _ in range(100):
        heartbeat.sweep()
        Batch.objects.filter(next_look__isnull=False).exclude(state="sending").update(
            next_look="2020-01-01T00:00Z"
        )
        finish()
        run.refresh_from_db()
        if run.state == Run.State.DONE:
            break
        time.sleep(0.1)
    assert run.state == Run.State.DONE
    assert fake.batches.submitted.total() == fake.batches.paid.total() == 204
    assert set(fake.batches.submitted.values()) == {1}
    assert set(run.calls.values_list("state", "asked")) == {("done", 1)}
    assert Label.objects.values("item", "question", "sample").distinct().count() == 204
    assert Label.objects.count() == 204
    assert len(fake.batches.by_id) == run.batches.exclude(provider_id="").count()
    assert len(at_kills) > 1, "the kills came at different moments"
