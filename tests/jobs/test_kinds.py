"""Every kind of job and every queue in the tables meets the engine's requirements."""

from __future__ import annotations

import pytest

from config.embedded.supervisor import QUEUES as PROGRAMS
from jobs import kinds


@pytest.mark.parametrize("key", list(kinds.KINDS))
def test_a_kind_has_its_own_key_a_title_and_a_docstring(key: str) -> None:
    kind = kinds.kind_of(key)
    assert kind.key == key
    assert kind.title
    assert kind.run.__doc__


@pytest.mark.parametrize("key", list(kinds.QUEUES))
def test_a_queue_offers_all_that_workers_ask_for(key: str) -> None:
    queue = kinds.queue_of(key)
    for name in ("ready", "waiting", "work", "renew", "release", "beat", "sweep"):
        assert callable(getattr(queue, name)), name


def test_every_queue_has_a_worker_process() -> None:
    assert set(PROGRAMS) == set(kinds.QUEUES)


def test_what_is_swept_can_be_called() -> None:
    assert all(callable(function) for function in kinds.sweeps())
