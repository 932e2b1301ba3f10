"""Batches of the provider: each call once, whatever goes wrong on the way."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Label
from demo.fake_model.misbehaving import Misbehaviour
from jobs.models import Batch, Call, Run
from jobs.queue import timing
from judges.rating import actions as rating
from judges.rating.plans import Judge
from judges.rating.selection import Selection
from judges.rating.settings import RunSettings
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits in these tests."""
    for name in ("LOOK_FIRST", "LOOK_MOST", "SURE_AFTER"):
        monkeypatch.setattr(timing, name, 0.0)


def batched(fake: FakeLLM, *, dialogues: int = 2, protocol: str = "cpdscore_detail", **fields: Any) -> Run:
    """Start a run of `6 * dialogues` calls in batches of at most 5."""
    caps = {name: fields.pop(name) for name in list(fields) if name.startswith("cap_")}
    told = {"batch_share": "0.5", "batch_most": 5} | fields
    judge = Judge(protocol, endpoint=endpoint_of(fake, **told))
    return rating.start(
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
        if not Batch.objects.filter(next_look__isnull=False).exists():
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
    }
    assert Label.objects.count() == 12
