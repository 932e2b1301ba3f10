"""Doing judges' calls: many requests at once in one event loop, with the database in two threads beside.

Calls are claimed ahead, so that a request begins the moment another one ends; results are written in batches.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from django.db import connection

from judges.models import Endpoint
from judges.protocols.base import Asking, Unparseable
from judges.work import claiming, costs
from judges.work.client import Again, Clients, Refused, Reply, Shut
from judges.work.heart import Heart
from judges.work.jobs import Job, Jobs
from judges.work.outcomes import DEFECTS, Counts, Outcome, write
from judges.work.verdicts import answers_of

logger = logging.getLogger(__name__)
T = TypeVar("T")
QUEUE = "calls"
LOCAL_BATCH = 32
GRACE = 5.0
"""Seconds that requests under way may take to end once the worker is told to stop."""
_GATHER = 0.01
_TICK = 0.1
_SWITCH = 0.001
"""Seconds after which a thread hands on the interpreter: at the usual 5 ms a busy loop of requests holds up
the many short waits of the database's threads."""


class Desk:
    """One slice of work on the queue `calls`; `stopping` says when to end early."""

    def __init__(
        self, heart: Heart, until: float, stopping: Callable[[], bool], only: Sequence[int] | None
    ) -> None:
        self.heart, self.until, self.stopping, self.only = heart, until, stopping, only
        self.jobs, self.clients, self.counts = Jobs(), Clients(), Counts()
        self.tasks: dict[asyncio.Task[Outcome], int] = {}
        self.finished: list[Outcome] = []
        self.gates: dict[int, asyncio.Semaphore] = {}
        self.held: dict[int | None, int] = {}
        self.begun: set[int] = set()
        self.paused: dict[int, float] = {}
        self.claimer = ThreadPoolExecutor(1, thread_name_prefix="claimer")
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="writer")

    async def work(self) -> Counts:
        """Claim, ask and write until nothing is ready, the time is over or the worker is to stop."""
        try:
            while True:
                _, wrote = await asyncio.gather(self._claim(), self._write())
                if not self.tasks and not wrote:
                    return self.counts
                await self._collect()
                if self.stopping() and self.tasks:
                    await self._leave()
        finally:
            await self._end()

    def _may_claim(self) -> bool:
        return not self.stopping() and time.monotonic() < self.until

    async def _claim(self) -> None:
        if not self._may_claim():
            return
        for lane, jobs in await _in(self.claimer, self._claim_now):
            for job in jobs:
                task = asyncio.create_task(self._do(job))
                self.tasks[task] = job.call.pk
                self.held[lane] = self.held.get(lane, 0) + 1
                task.add_done_callback(partial(self._released, lane))

    def _released(self, lane: int | None, _task: asyncio.Task[Outcome]) -> None:
        self.held[lane] -= 1

    def _claim_now(self) -> list[tuple[int | None, list[Job]]]:
        """Claim for every lane as much as is free; in the database's thread."""
        claimed = []
        endpoints = Endpoint.objects.in_bulk()
        for lane in claiming.lanes(QUEUE, self.only):
            width = claiming.share(endpoints[lane].concurrency, QUEUE) if lane is not None else LOCAL_BATCH
            if lane is not None:
                self.gates.setdefault(lane, asyncio.Semaphore(width))
                if self.paused.get(lane, 0) > time.monotonic():
                    continue
                width *= 2
            free = width - self.held.get(lane, 0)
            if free < width // 8:
                continue
            ids = claiming.claim(queue=QUEUE, worker=self.heart.name, limit=free, lane=lane, only=self.only)
            self.heart.hold(ids)
            claimed.append((lane, self.jobs.make(ids)))
        return claimed

    async def _do(self, job: Job) -> Outcome:
        if job.reading is not None:
            return Outcome(job.call.pk, "done", answers_of(job, job.reading), job.reading.flags)
        if job.trouble:
            return Outcome(job.call.pk, "failed", error=job.trouble)
        assert job.endpoint is not None
        assert job.prompt is not None
        async with self.gates[job.endpoint.pk]:
            pause = self.paused.get(job.endpoint.pk, 0) - time.monotonic()
            if pause > 0:
                return Outcome(job.call.pk, "again", delay=pause, unbegun=True)
            self.begun.add(job.call.pk)
            outcome = await self._ask(job)
        return replace(outcome, prompt_hash=job.prompt.digest())

    async def _ask(self, job: Job) -> Outcome:
        assert job.endpoint is not None
        assert job.prompt is not None
        spec = job.call.run.rater.spec
        try:
            reply = await self.clients.ask(
                job.endpoint, spec["model"], job.prompt, spec.get("parameters", {})
            )
        except Again as error:
            return self._once_more(job, error)
        except Shut as error:
            return Outcome(job.call.pk, "again", error=str(error), stop=True, unbegun=True)
        except Refused as error:
            return Outcome(job.call.pk, "failed", error=str(error))
        return _read(job, reply)

    def _once_more(self, job: Job, error: Again) -> Outcome:
        """Wait and ask again: as long as the server says, else 1, 2, 4 ... s and some chance, at most 60."""
        if job.call.attempts >= job.call.run.max_attempts:
            return Outcome(job.call.pk, "failed", error=f"{error} (tried {job.call.attempts} times)")
        backoff = min(60.0, 2.0 ** (job.call.attempts - 1)) * random.uniform(0.75, 1.25)
        delay = backoff if error.delay is None else error.delay + random.uniform(0, 0.25)
        if error.delay is not None and job.endpoint is not None:
            self.paused[job.endpoint.pk] = time.monotonic() + error.delay
        return Outcome(job.call.pk, "again", error=str(error), delay=delay, pause=error.delay or 0.0)

    async def _collect(self) -> None:
        if self.tasks and not self.finished:
            await asyncio.wait(self.tasks, timeout=_TICK, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(_GATHER)
        for task in [task for task in self.tasks if task.done()]:
            del self.tasks[task]
            self.finished.append(task.result())

    async def _write(self) -> bool:
        """Write what has ended; return whether there was anything (a call to ask again may be ready now)."""
        outcomes, self.finished = self.finished, []
        if not outcomes:
            return False
        self.counts.add(await _in(self.writer, partial(write, outcomes)))
        self.heart.let_go([outcome.call for outcome in outcomes])
        self.begun -= {outcome.call for outcome in outcomes}
        return True

    async def _leave(self) -> None:
        """Give back what was not begun, let the rest end within the grace, and give back what did not."""
        for task, call in list(self.tasks.items()):
            if call not in self.begun:
                task.cancel()
        await asyncio.wait(self.tasks, timeout=GRACE)
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)
        lost = [call for task, call in self.tasks.items() if task.cancelled()]
        self.tasks = {task: call for task, call in self.tasks.items() if not task.cancelled()}
        await _in(self.writer, partial(claiming.give_back, worker=self.heart.name, calls=lost))
        self.heart.let_go(lost)

    async def _end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.clients.close()
        for thread in (self.claimer, self.writer):
            await _in(thread, _disconnect)
            thread.shutdown()


async def _in(thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Do something with the database in its thread, while requests go on in the loop."""
    return await asyncio.get_running_loop().run_in_executor(thread, work)


def _disconnect() -> None:
    connection.close()  # each thread has its own


def _read(job: Job, reply: Reply) -> Outcome:
    """Read a reply; one that cannot be read is asked for once more where the run allows it, else fails."""
    assert isinstance(job.protocol, Asking)
    assert job.endpoint is not None
    paid = Outcome(
        job.call.pk,
        "done",
        reply=reply.text,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=costs.cost(job.endpoint, reply.tokens_in, reply.tokens_out),
        latency_ms=reply.latency_ms,
    )
    try:
        reading = job.protocol.parse(reply.text, job.case)
    except Unparseable as error:
        again = job.call.reasked < job.call.run.reasks and job.call.attempts < job.call.run.max_attempts
        return replace(
            paid, kind="again" if again else "failed", reasked=again, error=f"unparseable: {error}"
        )
    except DEFECTS as error:
        logger.exception("%s failed on a reply", job.protocol.key)
        return replace(paid, kind="failed", error=f"defect in the protocol: {type(error).__name__}: {error}")
    return replace(paid, answers=answers_of(job, reading), flags=(*job.flags, *reading.flags))


def ask_all(
    heart: Heart, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Work on the queue until nothing is ready, `until` (monotonic) is past or `stopping` says so."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        return asyncio.run(_desk(heart, until, stopping, only))
    finally:
        sys.setswitchinterval(usual)


async def _desk(
    heart: Heart, until: float, stopping: Callable[[], bool], only: Sequence[int] | None
) -> Counts:
    return await Desk(heart, until, stopping, only).work()
