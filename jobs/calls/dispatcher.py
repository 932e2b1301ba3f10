"""Runs LLM calls concurrently on one event loop; database work happens in separate threads."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from django.db import Error as DatabaseError
from django.db import connection

from jobs import errors
from jobs.calls import budgets, claims, outcomes, prepared
from jobs.calls import prepared as cache
from jobs.calls.outcomes import Counts, Outcome, Probation, write
from jobs.calls.prepared import PreparedCall, Preparer
from jobs.endpoints import limits
from jobs.endpoints.client import Again, Clients, Malformed, NoLogprobs, Refused, Shut, Withheld
from jobs.endpoints.endpoint_actions import has_key, remember
from jobs.endpoints.limits import Grant, Wish
from jobs.endpoints.model_prices import load_model_prices
from jobs.kinds import run_kind
from jobs.models import Call, Endpoint, Run
from jobs.queue.worker import Heartbeat

# Database work of the dispatcher before requests are sent: limits, claims, the cache, the caps.
#
# All of it runs in one thread next to the event loop.

QUEUE = "calls"
LOCAL_BATCH = 32
AHEAD_SECONDS = 2.0
"""For a paced endpoint, claim at most the calls that begin within this many seconds."""


@dataclass(frozen=True, slots=True)
class View:
    """State of a pool in the event loop: its share, its claimed calls, whether it is paused, and its wish
    (None: nothing to request now).
    """

    limit: int = 0
    claimed: int = 0
    paused: bool = False
    wish: Wish | None = None


NEW = View(wish=Wish())


@dataclass(slots=True)
class Taking:
    """Calls and shares taken for an endpoint (None: for work without an endpoint)."""

    endpoint_id: int | None
    paced: bool = False
    grant: Grant | None = None
    calls: list[PreparedCall] = field(default_factory=list)
    starved: bool = False
    """Whether calls are ready but other workers have all shares."""


class Taker:
    """Claims calls for one worker; kept for a slice of work."""

    def __init__(self, heartbeat: Heartbeat, only: Sequence[int] | None) -> None:
        self.heartbeat, self.only = heartbeat, only
        self.preparers: dict[str, Preparer] = {}
        self.answered: set[int] = set()

    def take(self, views: Mapping[int | None, View], *, claim: bool) -> list[Taking]:
        """Request shares and start times; if `claim`, also claim as many calls as fit for every endpoint."""
        endpoints = Endpoint.objects.in_bulk()
        lacking = {pk for pk, endpoint in endpoints.items() if not has_key(endpoint)}
        ready = (
            [
                endpoint_id
                for endpoint_id in claims.ready_endpoints(QUEUE, self.only)
                if endpoint_id not in lacking
            ]
            if claim
            else []
        )
        takings = []
        for endpoint_id in dict.fromkeys([*ready, *views]):
            view = views.get(endpoint_id, NEW)
            endpoint = endpoints.get(endpoint_id) if endpoint_id is not None else None
            taking = Taking(endpoint_id, endpoint is not None and limits.is_paced(endpoint))
            if endpoint is not None and view.wish is not None:
                target_slots = endpoint.concurrency if endpoint_id in ready else view.claimed
                wish = replace(view.wish, wanted=max(target_slots, view.wish.under_way))
                taking.grant = limits.take(endpoint=endpoint, worker=self.heartbeat.name, wish=wish)
            if endpoint_id in ready and not view.paused:
                slots = taking.grant.slots if taking.grant else view.limit
                taking.starved = endpoint is not None and not slots
                taking.calls = self._claim(endpoint_id, self._free(endpoint, slots, view.claimed))
            if taking.grant or taking.calls or taking.starved:
                takings.append(taking)
        return takings

    def _free(self, endpoint: Endpoint | None, slots: int, n_claimed: int) -> int:
        """Return how many calls may be claimed now: up to twice the concurrent requests, fewer for a paced
        endpoint.
        """
        width = 2 * slots if endpoint is not None else LOCAL_BATCH
        if endpoint is not None and endpoint.requests_per_minute:
            width = min(
                width, max(1, math.ceil(endpoint.requests_per_minute * AHEAD_SECONDS / limits.MINUTE))
            )
        if endpoint is not None and endpoint.tokens_per_minute:
            width = min(width, slots)
        free = width - n_claimed
        return free if free >= max(1, width // 8) else 0

    def _claim(self, endpoint_id: int | None, free: int) -> list[PreparedCall]:
        ids = claims.claim(
            queue=QUEUE, worker=self.heartbeat.name, limit=free, endpoint_id=endpoint_id, only=self.only
        )
        self.heartbeat.hold(ids)
        if not ids:
            return []
        prepared = self.prepared(ids)
        self._note_answered({job.call.run_id for job in prepared})
        looked_up = cache.looked_up(cache.hashed([_in_its_place(job) for job in prepared]))
        affordable, given_back = budgets.within_caps(looked_up, self.heartbeat.name)
        self.heartbeat.let_go(given_back)
        return affordable

    def _note_answered(self, runs: set[int]) -> None:
        if unknown := runs - self.answered:
            self.answered |= outcomes.answered(unknown)

    def prepared(self, ids: Sequence[int]) -> list[PreparedCall]:
        """Prepare calls, each by its kind of run."""
        rows = list(Call.objects.filter(pk__in=ids).order_by("pk"))
        runs = Run.objects.select_related("rater", "endpoint").in_bulk({row.run_id for row in rows})
        load_model_prices(run.endpoint for run in runs.values() if run.endpoint is not None)
        for row in rows:
            row.run = runs[row.run_id]
        prepared_calls = []
        for kind in dict.fromkeys(row.run.kind for row in rows):
            preparer = self.preparers.setdefault(kind, run_kind(kind).preparer())
            prepared_calls += preparer.make([row for row in rows if row.run.kind == kind])
        return prepared_calls


def _in_its_place(job: PreparedCall) -> PreparedCall:
    """Return a job; if its endpoint is another server now, an outcome that stops its run without a
    request.
    """
    if job.prompt is None or not (moved := job.call.run.moved):
        return job
    stop = Outcome(job.call.pk, "again", error=moved, error_kind=errors.ACCESS, stop=True, unbegun=True)
    return replace(job, prompt=None, ready_outcome=stop)


def is_due(asked_at: float, urgent: bool) -> bool:
    """Whether to renew a pool's share: a few times a second, at once if requests wait for it."""
    return urgent or time.monotonic() - asked_at > 0.25


# Runs LLM calls concurrently on one event loop, with database work in three threads.
#
# Calls are claimed ahead, so that a request begins the moment another one ends; results are written in
# batches.

# One worker's share of an endpoint: a gate for concurrent requests, and start times for a paced endpoint.
#
# All of it runs in the event loop; the dispatcher passes in values from the database.


@dataclass(slots=True)
class Turn:
    """A request that waits for its start time; `tokens` is its estimated usage."""

    tokens: int
    begin: asyncio.Future[float]


class Pool:
    """Limits concurrent requests: as a context manager, it waits until fewer than `limit` are in flight.

    `claimed` counts calls that are claimed and not finished; `paused` is the time (monotonic) until which the
    endpoint accepts no requests.
    """

    def __init__(self) -> None:
        self.limit = self.under_way = self.claimed = 0
        self.paced = False
        self.paused = 0.0
        self.asked_at = float("-inf")
        self.answered = self.refused = self.settled = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._turns: deque[Turn] = deque()

    async def __aenter__(self) -> Pool:
        if self.under_way < self.limit and not self._queue:
            self.under_way += 1
            return self
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(waiting)
        try:
            await waiting  # the task that ends the wait has counted this one
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self._leave()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    async def turn(self, tokens: int) -> None:
        """Wait for the start time of a request of about this many tokens.

        A start time that was missed because this process was blocked is lost: late starts would crowd others,
        and a minute could exceed its limit.
        """
        loop = asyncio.get_running_loop()
        late = True
        while late:
            mine = Turn(tokens, loop.create_future())
            self._turns.append(mine)
            begin = await mine.begin
            await asyncio.sleep(max(0.0, begin - loop.time()))
            late = loop.time() - begin > limits.SLACK / 2

    def settle(self, expected: int, tokens: int | None) -> None:
        """Record the actual tokens of a request against its estimate."""
        if tokens is not None:
            self.settled += tokens - expected

    def wish(self, target_slots: int) -> Wish:
        """Return the wish to send to the database, and reset the counts in it."""
        self._turns = deque(turn for turn in self._turns if not turn.begin.done())
        wish = Wish(
            slots=self.limit,
            under_way=self.under_way,
            wanted=target_slots,
            turns=[turn.tokens for turn in self._turns],
            settled=self.settled,
            answered=self.answered,
            refused=self.refused,
        )
        self.answered = self.refused = self.settled = 0
        return wish

    def granted(self, grant: Grant, age: float = 0.0) -> None:
        """Apply a grant; its start times count from `age` seconds ago."""
        self.limit = grant.slots
        now = asyncio.get_running_loop().time()
        for begin in grant.begins:
            turn = self._turns.popleft()
            if not turn.begin.done():
                turn.begin.set_result(now - age + begin)
        self._admit()

    @property
    def urgent(self) -> bool:
        """Whether a refusal or waiting request needs the database soon."""
        return bool(self.refused or self._turns)

    def _leave(self) -> None:
        self.under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self.under_way < self.limit:
            waiting = self._queue.popleft()
            if not waiting.done():
                self.under_way += 1
                waiting.set_result(None)


logger = logging.getLogger(__name__)
T = TypeVar("T")
GRACE = 5.0
"""Seconds that requests in flight get to end once the worker is stopping."""
_GATHER = 0.02
"""Seconds during which results are gathered into one write."""
_TICK = 0.1
_SWITCH = 0.001
"""Seconds between thread switches: at the usual 5 ms, a busy event loop delays the many short waits of the
database threads.
"""


class Dispatcher:
    """One slice of work on the queue `calls`; `stopping` tells when to end early."""

    def __init__(
        self, heartbeat: Heartbeat, until: float, stopping: Callable[[], bool], only: Sequence[int] | None
    ) -> None:
        self.heartbeat, self.until, self.stopping = heartbeat, until, stopping
        self.taker = Taker(heartbeat, only)
        self.clients, self.counts = Clients(), Counts()
        self.tasks: dict[asyncio.Task[Outcome], int] = {}
        self.finished: list[Outcome] = []
        self.pools: dict[int | None, Pool] = {}
        self.means: dict[int, Means] = {}
        self.begun: Counter[int] = Counter()
        self.probations: dict[int, Probation] = {}
        self.noted = Notes()
        self.marked: set[int] = set()
        self.starved = False
        self.claimer = ThreadPoolExecutor(1, thread_name_prefix="claimer")
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="writer")

    async def work(self) -> Counts:
        """Claim, send and write until no call is ready, time is up or the worker is stopping."""
        try:
            while True:
                _, wrote = await asyncio.gather(self._take(), self._write())
                # Only now: calls claimed during the write may belong to a run that the write stopped.
                self.probations = {run: p for run, p in self.probations.items() if not p.is_settled}
                if not self.tasks and not wrote:
                    if not self.starved:
                        return self.counts
                    await asyncio.sleep(_TICK)  # until another worker gives up part of its share
                await self._collect()
                if self.tasks and self.stopping():
                    await self._leave()
                elif self.tasks and time.monotonic() >= self.until:
                    await self._give_back_paced()
        finally:
            await self._end()

    async def _take(self) -> None:
        """Request shares and claim calls, if there is reason to."""
        claim = not self.stopping() and time.monotonic() < self.until
        views = {number: self._view(number, pool) for number, pool in self.pools.items()}
        self.starved = False
        if not claim and not any(view.wish for view in views.values()):
            return
        for taking in await _in(self.claimer, partial(self.taker.take, views, claim=claim)):
            self._begin(taking)
            self.starved |= taking.starved

    def _view(self, number: int | None, pool: Pool) -> View:
        now = time.monotonic()
        wish = None
        if number is not None and is_due(pool.asked_at, pool.urgent or not pool.limit):
            wish, pool.asked_at = pool.wish(pool.claimed), now
        return View(pool.limit, pool.claimed, pool.paused > now, wish)

    def _begin(self, taking: Taking) -> None:
        """Apply the grant, and start the claimed calls."""
        pool = self.pools.setdefault(taking.endpoint_id, Pool())
        pool.paced = taking.paced
        if taking.grant is not None:
            pool.granted(taking.grant)
        for job in taking.calls:
            task = asyncio.create_task(self._do(job, pool, self._probation(job.call.run_id)))
            self.tasks[task] = job.call.pk
            pool.claimed += 1
            task.add_done_callback(partial(_released, pool))

    def _probation(self, run: int) -> Probation:
        if run not in self.probations:
            self.probations[run] = Probation(passed=run in self.taker.answered)
        return self.probations[run]

    async def _do(self, job: PreparedCall, pool: Pool, probation: Probation) -> Outcome:
        if job.ready_outcome is not None:
            return job.ready_outcome
        assert job.prompt is not None
        outcome = prepared.from_cache(job) if job.cached is not None else None
        if outcome is None:
            outcome = await self._ask_on_probation(job, pool, probation)
        return replace(outcome, prompt_hash=job.prompt_hash, request_hash=job.request_hash)

    async def _ask_on_probation(self, job: PreparedCall, pool: Pool, probation: Probation) -> Outcome:
        """Send; before a run's first answer only a few at once, and none after too many refusals."""
        call = job.call.pk
        if not await probation.enter():
            return Outcome(call, "again", unbegun=True)
        outcome = None
        try:
            async with pool:
                pause = pool.paused - time.monotonic()
                if pause > 0:
                    outcome = Outcome(call, "again", delay=pause, unbegun=True)
                else:
                    result = await self._ask(job, pool)
                    outcome = replace(result, sent=self.begun[call])
        finally:
            probation.leave(outcome)
        return outcome

    async def _ask(self, job: PreparedCall, pool: Pool) -> Outcome:
        assert job.endpoint is not None
        assert job.prompt is not None
        means = self.means.setdefault(job.call.run_id, Means())
        expected = sum(budgets.expected(job, *means.both)) if pool.paced else 0

        async def turn() -> None:
            if pool.paced:
                await pool.turn(expected)
            self.begun[job.call.pk] += 1
            await self.noted.add((job.call.pk, *budgets.likely(job, *means.both)))

        try:
            reply = await self.clients.ask(job.endpoint, job.model, job.prompt, job.parameters, turn)
        except DatabaseError as error:
            self.begun[job.call.pk] -= 1
            why = f"the request could not be noted, and was not sent: {type(error).__name__}"
            return Outcome(job.call.pk, "again", error=why, error_kind=errors.DEFECT, unbegun=True, delay=1.0)
        except Again as error:
            self.begun[job.call.pk] -= error.unsent
            return self._once_more(job, error, pool)
        except Malformed as error:
            return prepared.unread(job, error.reply, str(error), error.kind)
        except Withheld as error:
            outcome = prepared.failed(job, error.reply, str(error), error.kind)
        except NoLogprobs as error:
            paid = prepared.paid(job, error.reply)
            return replace(paid, kind="again", error=str(error), error_kind=error.kind, stop=True)
        except Shut as error:
            return Outcome(
                job.call.pk, "again", error=str(error), error_kind=error.kind, stop=True, unbegun=True
            )
        except Refused as error:
            return Outcome(job.call.pk, "failed", error=str(error), error_kind=error.kind)
        else:
            outcome = prepared.read(job, reply)
        pool.answered += 1
        means.add(outcome.tokens_in, outcome.tokens_out)
        pool.settle(expected, means.latest)
        return outcome

    def _once_more(self, job: PreparedCall, error: Again, pool: Pool) -> Outcome:
        """Back off and retry: as long as the server says, else 1, 2, 4 ... s with jitter, at most 60 s."""
        pool.refused += error.kind == errors.RATE_LIMIT
        if job.call.attempts >= job.call.run.max_attempts:
            why = f"{error} (tried {job.call.attempts} times)"
            return Outcome(job.call.pk, "failed", error=why, error_kind=error.kind)
        backoff = min(60.0, 2.0 ** (job.call.attempts - 1)) * random.uniform(0.75, 1.25)
        delay = backoff if error.delay is None else error.delay + random.uniform(0, 0.25)
        if error.delay is not None:
            pool.paused = time.monotonic() + error.delay
        pause = error.delay or 0.0
        return Outcome(
            job.call.pk, "again", error=str(error), error_kind=error.kind, delay=delay, pause=pause
        )

    async def _collect(self) -> None:
        if self.tasks and not self.finished:
            await asyncio.wait(self.tasks, timeout=_TICK, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(_GATHER)
        for task in [task for task in self.tasks if task.done()]:
            call = self.tasks.pop(task)
            self.finished.append(_outcome(call, task, self.begun[call]))

    async def _write(self) -> bool:
        """Write finished calls; return whether there were any (a call to retry may be ready now)."""
        outcomes, self.finished = self.finished, []
        if not outcomes:
            return False
        learned, self.clients.learned = self.clients.learned, {}
        fakes = set(self.clients.fakes) - self.marked
        self.counts.add(await _in(self.writer, partial(_write_results, outcomes, learned, fakes)))
        self.marked |= fakes
        calls = [outcome.call for outcome in outcomes]
        self.heartbeat.let_go(calls)
        for probation in self.probations.values():
            probation.note_written(calls)
        for outcome in outcomes:
            self.begun.pop(outcome.call, None)
        return True

    async def _leave(self) -> None:
        """Give back calls that have not begun, let the others end within the grace period, give back the
        rest.
        """
        for task, call in list(self.tasks.items()):
            if call not in self.begun:
                task.cancel()
        await asyncio.wait(self.tasks, timeout=GRACE)
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)
        await self._give_back_cancelled()

    async def _give_back_paced(self) -> None:
        """Give back calls that still wait for their start time when time is up: that may take minutes."""
        if any(pool.paced for pool in self.pools.values()):
            waiting = [task for task, call in self.tasks.items() if call not in self.begun]
            for task in waiting:
                task.cancel()
            if waiting:
                await asyncio.wait(waiting)
                await self._give_back_cancelled()

    async def _give_back_cancelled(self) -> None:
        lost = [call for task, call in self.tasks.items() if task.done() and task.cancelled()]
        self.tasks = {task: call for task, call in self.tasks.items() if call not in set(lost)}
        await _in(self.writer, partial(claims.give_back, worker=self.heartbeat.name, calls=lost))
        self.heartbeat.let_go(lost)

    async def _end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.clients.close()
        await _in(self.writer, partial(limits.leave, worker=self.heartbeat.name))
        for thread in (self.claimer, self.writer, self.noted.thread):
            await _in(thread, _disconnect)
            thread.shutdown()


class Notes:
    """Notes requests in the database before they are sent; requests that arrive during a write share the next
    one.
    """

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="notes")
        self._waiting: list[tuple[tuple[int, int, int], asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, request: tuple[int, int, int]) -> None:
        """Return once a request is noted: call id, estimated input and output tokens."""
        noted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, noted))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await noted

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            trouble = None
            try:
                await _in(self.thread, partial(claims.note, [request for request, _ in group]))
            except DatabaseError as error:
                trouble = error
                await _in(self.thread, _disconnect)
            for _, noted in group:
                if noted.done():
                    continue  # its call was cancelled in the meantime
                if trouble is None:
                    noted.set_result(None)
                else:
                    noted.set_exception(trouble)
        self._writing = None


class Means:
    """Mean usage of a run's calls so far, as seen by this worker."""

    def __init__(self) -> None:
        self.n = self.tokens_in = self.tokens_out = 0
        self.latest: int | None = None

    def add(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count a reply; `latest` is its token usage, None if the server does not report it."""
        self.latest = None if tokens_in is None or tokens_out is None else tokens_in + tokens_out
        if tokens_in is not None and tokens_out is not None:
            self.n += 1
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out

    @property
    def both(self) -> tuple[float, float]:
        """Mean input and output tokens; 0 before the first reply."""
        return (self.tokens_in / self.n, self.tokens_out / self.n) if self.n else (0.0, 0.0)


async def _in(thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Do database work in its thread while requests continue in the event loop."""
    return await asyncio.get_running_loop().run_in_executor(thread, work)


def _released(pool: Pool, _task: asyncio.Task[Outcome]) -> None:
    pool.claimed -= 1


def _disconnect() -> None:
    connection.close()  # each thread has its own


def _write_results(outcomes: Sequence[Outcome], learned: dict[int, str], fakes: Collection[int]) -> Counts:
    if learned or fakes:
        remember(learned, fakes)
    return write(outcomes)


def _outcome(call: int, task: asyncio.Task[Outcome], sent: int) -> Outcome:
    """Return the outcome of a finished call; an exception fails only that call."""
    error = task.exception()
    if error is None:
        return task.result()
    logger.error("call %s failed", call, exc_info=error)
    why = f"defect: {type(error).__name__}: {str(error)[:300]}"
    return Outcome(call, "failed", error=why, error_kind=errors.DEFECT, sent=sent)


def ask_all(
    heartbeat: Heartbeat, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Work on the queue until no call is ready, `until` (monotonic) is past or `stopping` returns True."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        return asyncio.run(_dispatch(heartbeat, until, stopping, only))
    finally:
        sys.setswitchinterval(usual)


async def _dispatch(
    heartbeat: Heartbeat, until: float, stopping: Callable[[], bool], only: Sequence[int] | None
) -> Counts:
    return await Dispatcher(heartbeat, until, stopping, only).work()
