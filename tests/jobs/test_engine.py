"""Jobs: one at a time per subject, done once, and never lost, whatever happens to a worker."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from config.trouble import BUSY, FULL
from jobs import job_actions
from jobs.errors import JobError
from jobs.kinds import EVERY, Progress
from jobs.models import Job, Worker
from jobs.queue import jobs, timing
from jobs.queue import worker as heartbeat
from jobs.queue.worker import Heartbeat

pytestmark = pytest.mark.django_db(transaction=True)


def begin(subject: str = "a", **params: Any) -> Job:
    return job_actions.start(kind="count", subject=subject, by=None, params=params)


def work_off(**options: Any) -> int:
    """Do what waits, as a worker does."""
    with Heartbeat("jobs") as heartbeat:
        return jobs.work("jobs", seconds=20, heartbeat=heartbeat, **options)


def now(job: Job) -> Job:
    job.refresh_from_db()
    return job


def test_a_job_is_done_and_keeps_its_result() -> None:
    job = begin(total=3)
    assert work_off() == 1
    assert (now(job).state, job.result, job.done, job.total) == ("done", {"counted": 3}, 3, 3)
    assert (job.worker, job.lease_expires, job.attempts) == ("", None, 1)
    assert job.finished_at is not None


def test_there_is_one_active_job_of_a_kind_and_subject() -> None:
    first = begin()
    assert begin() == first
    assert begin("another") != first
    work_off()
    assert begin() not in (first, None)


def test_two_hundred_requests_at_once_start_one_job() -> None:
    found: list[int] = []

    def ask() -> None:
        found.append(begin("raced").pk)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert Job.objects.filter(subject="raced").count() == len(set(found)) == 1


def test_a_refusal_fails_the_job_with_its_line_and_detail() -> None:
    job = begin(refuse="line 3: no id")
    work_off()
    assert (now(job).state, job.error, job.result) == ("failed", "line 3: no id", {"line": 3})


def test_an_unexpected_error_fails_its_job_alone_and_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    broken, sound = begin("a", divide=0), begin("b")
    assert work_off() == 2
    assert (now(broken).state, now(sound).state) == ("failed", "done")
    assert broken.error == "unexpected ZeroDivisionError: the server's log says more"
    assert "ZeroDivisionError: division by zero" in caplog.text


def test_a_job_waits_while_the_disk_is_full_and_is_done_once_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(timing, "TROUBLE_PAUSE", 0.01)
    full = tmp_path / "trouble"
    full.write_text("53100")
    job = begin(trouble=str(full))
    for _ in range(5):  # more often than a job is tried otherwise
        claimed = jobs.claim(worker="w")
        assert claimed is not None
        with pytest.raises(OperationalError) as error:
            jobs.do(claimed, worker="w")
        assert jobs.settle(claimed, "w", error.value), "a pause follows"
        assert (now(job).state, job.attempts, job.error) == ("queued", 0, "")
        assert job.note == FULL[:200]
    full.unlink()
    work_off()
    assert (now(job).state, job.error, job.note) == ("done", "", "step 1")


def test_other_trouble_that_passes_is_waited_for_so_often_as_a_job_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(timing, "TROUBLE_PAUSE", 0.01)
    locked = tmp_path / "trouble"
    locked.write_text("55P03")
    job = begin(trouble=str(locked))
    assert work_off() == job.max_attempts
    assert (now(job).state, job.error) == ("failed", BUSY)


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_at_its_next_step(tmp_path: Path) -> None:
    waiting = begin("a")
    assert job_actions.cancel(job=waiting, by=None).state == "cancelled"
    log = tmp_path / "log"
    running = begin("b", total=200, seconds=0.05, log=str(log))
    worker = threading.Thread(target=_work_and_close)
    worker.start()
    while not log.exists():
        time.sleep(0.01)
    job_actions.cancel(job=running, by=None)
    worker.join(20)
    assert now(running).state == "cancelled"
    assert len(log.read_text().splitlines()) < 200


def _work_and_close() -> None:
    try:
        work_off()
    finally:
        connection.close()


def test_a_worker_that_is_told_to_stop_gives_its_job_back(tmp_path: Path) -> None:
    log = tmp_path / "log"
    job = begin(total=200, seconds=0.05, log=str(log))
    assert work_off(stopping=log.exists) == 0 or now(job).state == "queued"
    assert (now(job).state, job.attempts) == ("queued", 0)


def test_a_worker_that_works_until_the_queue_is_empty_does_all_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.nice", lambda _: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    waiting = [begin(str(number)) for number in range(3)]
    call_command("work", "jobs", "--until-empty")
    assert [now(job).state for job in waiting] == ["done"] * 3
    assert not Worker.objects.exists()


def test_a_job_whose_lease_expired_waits_again_and_fails_after_its_last_try() -> None:
    job = begin()
    for attempt in (1, 2, 3):
        claimed = jobs.claim(worker="gone")
        assert claimed is not None
        assert claimed.attempts == attempt
        Job.objects.update(lease_expires=timezone.now() - timedelta(seconds=1))
        assert jobs.sweep() == 1
    assert (now(job).state, job.error) == ("failed", jobs.LOST)
    assert jobs.claim(worker="next") is None


def test_what_a_dead_process_of_this_machine_held_is_taken_back_at_once() -> None:
    job = begin()
    jobs.claim(worker="dead")
    seen = {"queue": "jobs", "last_seen": timezone.now(), "machine": heartbeat.machine()}
    Worker.objects.create(name="dead", pid=2**22, birth="1", **seen)
    Worker.objects.create(name="elsewhere", pid=2**22, birth="1", **seen | {"machine": "another"})
    assert heartbeat.sweep() == 1
    assert now(job).state == "queued"
    assert [worker.name for worker in Worker.objects.all()] == ["elsewhere"]


def test_a_process_is_gone_when_its_number_is_free_or_belongs_to_a_later_one() -> None:
    import os

    here, born = heartbeat.machine(), heartbeat.birth(os.getpid())
    assert born
    assert not heartbeat.is_gone(on=here, pid=os.getpid(), born=born)
    assert heartbeat.is_gone(on=here, pid=os.getpid(), born="1")
    assert heartbeat.is_gone(on=here, pid=2**22, born=born)
    assert not heartbeat.is_gone(on="another machine", pid=2**22, born=born)
    assert not heartbeat.is_gone(on="", pid=None, born="")


def test_a_result_that_comes_after_the_lease_went_to_another_does_not_count() -> None:
    job = begin()
    mine = jobs.claim(worker="slow")
    assert mine is not None
    Job.objects.update(worker="quick")
    jobs.close(mine, "slow", Job.State.DONE, result={"late": True})
    assert (now(job).state, job.result) == ("running", {})


def test_the_heartbeat_extends_the_lease_of_what_is_held() -> None:
    job = begin()
    jobs.claim(worker="w")
    before = now(job).lease_expires
    jobs.renew(worker="another", ids=[job.pk])
    assert now(job).lease_expires == before
    jobs.renew(worker="w", ids=[job.pk])
    assert before is not None
    assert (now(job).lease_expires or before) > before
    assert timing.beat() * 6 <= timing.lease()


def test_progress_is_seen_outside_the_transaction_of_the_work() -> None:
    from django.db import transaction

    job = begin()
    jobs.claim(worker="w")
    with transaction.atomic(), Progress(job.pk, "w") as progress:
        time.sleep(EVERY)
        progress(1, 4, "half a line")
        seen: list[tuple[int, int, str]] = []
        reader = threading.Thread(target=_look, args=[job.pk, seen])
        reader.start()
        reader.join()
    assert seen == [(1, 4, "half a line")]


def _look(pk: int, seen: list[tuple[int, int, str]]) -> None:
    job = Job.objects.get(pk=pk)
    seen.append((job.done, job.total, job.note))
    connection.close()


def test_only_what_failed_or_was_cancelled_is_done_again() -> None:
    job = begin(refuse="no")
    with pytest.raises(JobError, match="queued"):
        job_actions.retry(job=job, by=None)
    work_off()
    again = job_actions.retry(job=now(job), by=None)
    assert (again.pk, again.state, again.error, again.attempts) == (job.pk, "queued", "", 0)


def test_a_kind_that_is_not_in_the_table_is_not_started() -> None:
    with pytest.raises(KeyError):
        job_actions.start(kind="unknown", subject="a", by=None)
