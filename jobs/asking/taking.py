"""What the desk does with the database before anything is asked: limits, claims, the cache, the caps.

Everything here happens in one thread beside the event loop.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from jobs import errors
from jobs.asking import budgets, cache, refusals
from jobs.asking.asked import Asked, Preparer
from jobs.asking.outcomes import Outcome
from jobs.endpoints import limits
from jobs.endpoints.keys import has_key
from jobs.endpoints.limits import Grant, Wish
from jobs.kinds import run_kind
from jobs.models import Call, Endpoint, Run
from jobs.queue import calls as claiming
from jobs.queue.heartbeat import Heart

QUEUE = "calls"
LOCAL_BATCH = 32
AHEAD_SECONDS = 2.0
"""Of a paced endpoint's calls no more are claimed ahead than begin in so many seconds."""


@dataclass(frozen=True, slots=True)
class View:
    """What the event loop knows of a lane: its share, the calls it holds, whether it is paused, what it asks
    for (None: nothing for now)."""

    limit: int = 0
    held: int = 0
    paused: bool = False
    wish: Wish | None = None


NEW = View(wish=Wish())


@dataclass(slots=True)
class Taking:
    """What was taken for a lane (an endpoint's id, None for work without one)."""

    lane: int | None
    paced: bool = False
    grant: Grant | None = None
    asked: list[Asked] = field(default_factory=list)
    starved: bool = False
    """Whether something is ready and other workers have all shares."""


class Taker:
    """Claims for one worker; kept for a slice of work."""

    def __init__(self, heart: Heart, only: Sequence[int] | None) -> None:
        self.heart, self.only = heart, only
        self.preparers: dict[str, Preparer] = {}
        self.answered: set[int] = set()

    def take(self, views: Mapping[int | None, View], *, claim: bool) -> list[Taking]:
        """Ask for shares and begins, and claim for every lane as much as is free where `claim`."""
        endpoints = Endpoint.objects.in_bulk()
        lacking = {pk for pk, endpoint in endpoints.items() if not has_key(endpoint)}
        ready = [lane for lane in claiming.lanes(QUEUE, self.only) if lane not in lacking] if claim else []
        taken = []
        for lane in dict.fromkeys([*ready, *views]):
            view = views.get(lane, NEW)
            endpoint = endpoints.get(lane) if lane is not None else None
            taking = Taking(lane, endpoint is not None and limits.is_paced(endpoint))
            if endpoint is not None and view.wish is not None:
                wanted = endpoint.concurrency if lane in ready else view.held
                wish = replace(view.wish, wanted=max(wanted, view.wish.under_way))
                taking.grant = limits.take(endpoint=endpoint, worker=self.heart.name, wish=wish)
            if lane in ready and not view.paused:
                slots = taking.grant.slots if taking.grant else view.limit
                taking.starved = endpoint is not None and not slots
                taking.asked = self._claim(lane, self._free(endpoint, slots, view.held))
            if taking.grant or taking.asked or taking.starved:
                taken.append(taking)
        return taken

    def _free(self, endpoint: Endpoint | None, slots: int, held: int) -> int:
        """Return how many calls may be claimed now: twice what is asked at once, fewer where it is paced."""
        width = 2 * slots if endpoint is not None else LOCAL_BATCH
        if endpoint is not None and endpoint.requests_per_minute:
            width = min(
                width, max(1, math.ceil(endpoint.requests_per_minute * AHEAD_SECONDS / limits.MINUTE))
            )
        if endpoint is not None and endpoint.tokens_per_minute:
            width = min(width, slots)
        free = width - held
        return free if free >= max(1, width // 8) else 0

    def _claim(self, lane: int | None, free: int) -> list[Asked]:
        ids = claiming.claim(queue=QUEUE, worker=self.heart.name, limit=free, lane=lane, only=self.only)
        self.heart.hold(ids)
        if not ids:
            return []
        prepared = self.prepared(ids)
        self._note_answered({job.call.run_id for job in prepared})
        found = cache.looked_up(cache.hashed([_in_its_place(job) for job in prepared]))
        kept, given_back = budgets.within_caps(found, self.heart.name)
        self.heart.let_go(given_back)
        return kept

    def _note_answered(self, runs: set[int]) -> None:
        if unknown := runs - self.answered:
            self.answered |= refusals.answered(unknown)

    def prepared(self, ids: Sequence[int]) -> list[Asked]:
        """Let each kind of run make its calls ready."""
        rows = list(Call.objects.filter(pk__in=ids).order_by("pk"))
        runs = Run.objects.select_related("rater", "endpoint").in_bulk({row.run_id for row in rows})
        for row in rows:
            row.run = runs[row.run_id]
        asked = []
        for kind in dict.fromkeys(row.run.kind for row in rows):
            preparer = self.preparers.setdefault(kind, run_kind(kind).preparer())
            asked += preparer.make([row for row in rows if row.run.kind == kind])
        return asked


def _in_its_place(job: Asked) -> Asked:
    """Return a job; where its endpoint is another server by now, one that stops its run unasked."""
    if job.prompt is None or not (moved := job.call.run.moved):
        return job
    stop = Outcome(job.call.pk, "again", error=moved, error_kind=errors.ACCESS, stop=True, unbegun=True)
    return replace(job, prompt=None, known=stop)


def is_due(asked_at: float, urgent: bool) -> bool:
    """Whether a lane's share is asked for anew: a few times a second, at once where something waits for
    it."""
    return urgent or time.monotonic() - asked_at > 0.25
