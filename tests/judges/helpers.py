"""A corpus with planted behaviours, and a run over it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection

from annotation.models import Corpus
from jobs import runs
from jobs.calls import dispatcher
from jobs.calls.outcomes import Counts
from jobs.calls.queue import work_slice as work
from jobs.models import Call, Endpoint, Run
from jobs.queue.worker import Heartbeat
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM


def endpoint_of(fake: FakeLLM, **fields: Any) -> Endpoint:
    fields = {
        "name": "fake",
        "model": "fake-1",
        "price_in": 1,
        "price_out": 10,
        "timeout_s": 5,
        "allow_private": True,
    } | fields
    return Endpoint.objects.create(base_url=fake.url, **fields)


def small_corpus(dialogues: int = 2, turns: int = 6) -> Corpus:
    """Create dialogues with one continuation by `secret-model`; every second turn is a planted repetition."""
    corpus = factories.corpus()
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        lines = [
            {"text": f"line {number}.{i} {'{repetition}' if i % 2 else '{quality 4}'}"} for i in range(turns)
        ]
        factories.continuation(dialogue, "c", system="secret-model", turns=lines)
    return corpus


def begin(corpus: Corpus, judge: Judge, **scope: Any) -> Run:
    return run_actions.start(by=None, plan=judge.plan(), selection=Selection(corpus, **scope))


def finish(queue: str = "calls", seconds: float = 20) -> Counts:
    """Work on the queue until no call is ready, as a worker does."""
    with Heartbeat(queue) as heartbeat:
        return work(queue, seconds=seconds, heartbeat=heartbeat)


_FREE: list[ThreadPoolExecutor] = []
"""Threads of finished dispatchers, each with its database connection for the next dispatcher."""


class Kept:
    """Executor that reuses a dispatcher's thread: connecting takes the database longer than responding."""

    def __init__(self, _workers: int, **_name: str) -> None:
        self._thread = _FREE.pop() if _FREE else ThreadPoolExecutor(1)
        self._thread.submit(_usable).result()

    def submit(self, work: Callable[..., Any], *told: Any) -> Future[Any]:
        """Run work in the thread."""
        return self._thread.submit(work, *told)

    def shutdown(self) -> None:
        """Leave the thread to the next dispatcher."""
        _FREE.append(self._thread)


def let_go() -> None:
    """End the kept threads and close their connections, because the database will be removed."""
    while _FREE:
        thread = _FREE.pop()
        thread.submit(lambda: connection.close()).result()  # looked up there: each thread has its own
        thread.shutdown()


def _usable() -> None:
    if connection.connection is not None and not connection.is_usable():
        connection.close()


def _disconnect_where_broken() -> None:
    if connection.errors_occurred or connection.in_atomic_block:
        connection.close()


vars(dispatcher).update(ThreadPoolExecutor=Kept, _disconnect=_disconnect_where_broken)
os.register_at_fork(after_in_child=_FREE.clear)  # a child has none of its parent's threads


def finish_all() -> None:
    """Work until no call is ready, ignoring the delays of calls that wait for others."""
    for _ in range(20):
        Call.objects.update(not_before=None)
        if not finish().runs and not Run.objects.filter(state__in=runs.ACTIVE).exists():
            return
    raise AssertionError("the run goes on and on")
