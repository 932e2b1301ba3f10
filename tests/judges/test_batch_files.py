"""Files of a batch at the provider are deleted once it is collected; no run fails because of it."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.calls import batch_actions, batch_provider
from jobs.endpoints.client import Again
from jobs.endpoints.endpoint_actions import sync_environment
from jobs.errors import JobError
from jobs.models import Batch, Run
from tests.fake_llm import FakeLLM
from tests.judges.test_batches import _hurried, batched, trouble, work

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["_hurried"]


def files_of(run: Run) -> set[tuple[str, bool]]:
    """What became of the files of a run's batches, and whether a note says why."""
    return {(batch.files, bool(batch.files_note)) for batch in run.batches.all()}


def test_files_of_collected_and_refused_batches_are_deleted(fake: FakeLLM) -> None:
    run = batched(fake)
    trouble(fake, "batch_expires", first=1)
    work()
    assert (Run.objects.get().state, files_of(run)) == (Run.State.DONE, {("deleted", False)})
    other = batched(fake, name="other", protocol="cpdscore_simple")
    trouble(fake, "batch_refused", rate=1.0)
    work()
    other.refresh_from_db()
    assert (other.state, files_of(other), fake.batches.files) == (Run.State.FAILED, {("deleted", False)}, {})


def test_an_endpoint_may_keep_them_and_they_are_deleted_when_somebody_says_so(fake: FakeLLM) -> None:
    run = batched(fake, dialogues=1, batch_most=50, keep_batch_files=True)
    work()
    assert (files_of(run), len(fake.batches.files)) == ({("kept", False)}, 2)
    assert batch_actions.look_now(by=None, batch=run.batches.get()).files == "there"
    work()
    assert (files_of(run), fake.batches.files) == ({("deleted", False)}, {})
    with pytest.raises(JobError, match="there is nothing to look at"):
        batch_actions.look_now(by=None, batch=run.batches.get())


def test_a_provider_that_deletes_nothing_fails_no_run_and_the_batch_says_why(fake: FakeLLM) -> None:
    trouble(fake, "batch_undeletable", rate=1.0)
    run = batched(fake, dialogues=1, batch_most=50)
    work()
    batch = run.batches.get()
    assert (Run.objects.get().state, batch.state, batch.files) == (Run.State.DONE, "collected", "left")
    assert "HTTP 403: files are not deleted here" in batch.files_note
    assert batch.error == ""


def test_a_worker_that_is_lost_while_files_are_deleted_leaves_the_rest_to_the_next(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = batched(fake, dialogues=1, batch_most=50)
    delete, calls = batch_provider.delete, 0

    def lost(*told: Any) -> None:
        nonlocal calls
        calls += 1
        delete(*told)
        if calls == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(batch_provider, "delete", lost)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert (Run.objects.get().state, files_of(run)) == (Run.State.DONE, {("there", False)})
    work()
    assert (files_of(run), fake.batches.files, calls) == ({("deleted", False)}, {}, 3)


@pytest.mark.exhaustive
def test_trouble_that_may_pass_is_waited_out_and_then_noted(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_told: Any) -> None:
        raise Again("no reply within 60 s")

    monkeypatch.setattr(batch_provider, "delete", silent)
    run = batched(fake, dialogues=1, batch_most=50)
    work()
    batch = run.batches.get()
    assert (batch.files, batch.files_note, batch.next_look) == ("left", "no reply within 60 s", None)


def test_an_endpoint_that_knows_no_deletion_is_told_from_a_file_that_is_gone(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = batched(fake, dialogues=1, batch_most=50, keep_batch_files=True)
    work()
    batch = run.batches.get()
    respond = fake.batches.respond
    monkeypatch.setattr(
        fake.batches, "respond", lambda method, *told: respond(method, *told) if method != "DELETE" else None
    )
    with pytest.raises(batch_provider.NotOffered, match="the endpoint deletes no files"):
        batch_provider.delete(batch.endpoint, batch.input_file)
    fake.batches.files.clear()
    batch_provider.delete(batch.endpoint, batch.input_file)


def test_an_endpoint_of_the_environment_says_whether_files_are_kept() -> None:
    told = {"CONCORD_ENDPOINT_A": "https://a.example/v1|m|||||||||0.5|100|keep"}
    with pytest.raises(JobError):
        sync_environment(told)
    told = {"CONCORD_ENDPOINT_A": "https://a.example/v1|m||||||||0.5|100|keep"}
    assert sync_environment(told)[0].keep_batch_files
    with pytest.raises(JobError, match="'no' says nothing of a batch's files: keep, or nothing"):
        sync_environment({"CONCORD_ENDPOINT_A": "https://a.example/v1|m||||||||0.5|100|no"})


def test_batches_of_before_are_left_alone() -> None:
    assert Batch().files == ""
