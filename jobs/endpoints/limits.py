"""Rate limits of an endpoint, shared by all workers: concurrent requests, requests and tokens per minute.

One row per endpoint (`Pace`) is changed under its lock, a few times a second per worker, never once per call.
A worker gets a share of the concurrent requests, and start times for its next requests.

Concurrency: the shares of all workers sum to at most the limit. When an endpoint refuses requests with 429,
its limit is halved; it grows by one each time as many requests as the limit were answered (additive increase,
multiplicative decrease).

Per minute: start times are spaced evenly, so that no minute exceeds the limit, wherever it begins. A second
is added to each minute for network latency, which differs from request to request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection, transaction

from jobs.models import Endpoint, Pace, Share
from jobs.queue import timing

MINUTE = 60.0
SLACK = 1.0
"""Maximum difference in network latency between requests, in seconds."""
COOL = 1.0
"""Seconds after a halving in which further refusals are attributed to earlier requests."""
HORIZON = 1.0
"""Seconds ahead for which start times are granted: more would delay other workers, and be lost at a stop."""
_LOCK = """
SELECT width, shrunk_at, next_request, next_tokens, clock_timestamp() FROM jobs_pace
 WHERE endpoint_id = %s FOR UPDATE
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """Request of a worker for its share, with its report.

    `slots` is its current share, `under_way` its requests in flight, `wanted` the number it could use.
    `turns` are requests waiting to start, each with its estimated tokens; `settled` is the difference of
    actual and estimated tokens of finished requests. `answered` and `refused` count replies and 429s.
    """

    slots: int = 0
    under_way: int = 0
    wanted: int = 0
    turns: Sequence[int] = ()
    settled: int = 0
    answered: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """Share of a worker from now on, and the seconds until the first of its turns may start."""

    slots: int
    begins: list[float] = field(default_factory=list)


def is_paced(endpoint: Endpoint) -> bool:
    """Whether an endpoint has a per-minute limit."""
    return bool(endpoint.requests_per_minute or endpoint.tokens_per_minute)


@transaction.atomic
def take(*, endpoint: Endpoint, worker: str, wish: Wish) -> Grant:
    """Grant a worker its share of an endpoint until its next request for one."""
    Pace.objects.get_or_create(endpoint=endpoint)
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [endpoint.pk])
        width, shrunk_at, next_request, next_tokens, now = cursor.fetchone()
    pace = Pace(
        endpoint=endpoint,
        width=width,
        shrunk_at=shrunk_at,
        next_request=next_request,
        next_tokens=next_tokens,
    )
    _breathe(pace, endpoint, wish, now)
    begins = _begins(pace, endpoint, wish, now)
    if (pace.width, pace.next_request, pace.next_tokens) != (width, next_request, next_tokens):
        pace.save(force_update=True)
    return Grant(_share(endpoint, worker, wish, width_of(endpoint, pace), now), begins)


def leave(*, worker: str) -> None:
    """Return a worker's shares, once none of its requests is in flight."""
    Share.objects.filter(worker=worker).delete()


def width_of(endpoint: Endpoint, pace: Pace | None) -> int:
    """Return the current limit on an endpoint's concurrent requests."""
    if pace is None or pace.width is None:
        return max(endpoint.concurrency, 1)
    return max(1, min(int(pace.width), endpoint.concurrency))


def allotted(limit: int, requests: Mapping[str, int]) -> dict[str, int]:
    """Divide a limit evenly among requesters; unused parts go to the others.

    The sum is at most `limit`, and nobody gets more than requested. Remainders go to the first by name.
    """
    shares = dict.fromkeys(sorted(requests), 0)
    remaining = limit
    while hungry := [name for name in shares if shares[name] < requests[name]] if remaining else []:
        each = max(1, remaining // len(hungry))
        for name in hungry:
            more = min(each, requests[name] - shares[name], remaining)
            shares[name], remaining = shares[name] + more, remaining - more
    return shares


def _breathe(pace: Pace, endpoint: Endpoint, wish: Wish, now: datetime) -> None:
    """Shrink or grow the limit on concurrent requests."""
    cooled = pace.shrunk_at is None or now - pace.shrunk_at > timedelta(seconds=COOL)
    if not cooled:
        return
    if wish.refused:
        pace.width, pace.shrunk_at = max(1.0, width_of(endpoint, pace) / 2), now
    elif pace.width is not None and wish.answered:
        grown = pace.width + wish.answered / pace.width
        pace.width = None if grown >= endpoint.concurrency else grown


def _begins(pace: Pace, endpoint: Endpoint, wish: Wish, now: datetime) -> list[float]:
    """Return the seconds until the first of the turns may start, and advance the pace past them."""
    requests, tokens = endpoint.requests_per_minute, endpoint.tokens_per_minute
    request_at = max(pace.next_request or now, now)
    token_at = pace.next_tokens or now
    if tokens and wish.settled:
        token_at += timedelta(seconds=wish.settled * (MINUTE + SLACK) / tokens)
    token_at = max(token_at, now)
    begins: list[float] = []
    for expected in wish.turns:
        begin = max(request_at if requests else now, token_at if tokens else now)
        if (begin - now).total_seconds() > HORIZON:
            break
        begins.append((begin - now).total_seconds())
        if requests:
            request_at = begin + timedelta(seconds=(MINUTE + SLACK) / requests)
        if tokens:
            token_at = begin + timedelta(seconds=charge(expected, tokens))
    pace.next_request = request_at if requests else None
    pace.next_tokens = token_at if tokens else None
    return begins


def charge(expected: int, tokens_per_minute: int) -> float:
    """Return the seconds by which a request of this many tokens delays the next one.

    A minute that begins right before a request contains all of it, so only the rest of the limit is left for
    the others: with equal requests of e tokens, a limit T allows (T - e) / e + 1 starts in any minute.
    """
    minute = MINUTE + SLACK
    if expected * 2 >= tokens_per_minute:
        return minute * max(1.0, expected / tokens_per_minute)
    return minute * expected / (tokens_per_minute - expected)


def _share(endpoint: Endpoint, worker: str, wish: Wish, width: int, now: datetime) -> int:
    """Return a worker's share, and store the slots that it holds until its next request.

    The stored slots are never below what it may have started in the meantime; it gives up the rest next time.
    """
    Share.objects.filter(endpoint=endpoint, expires__lte=now).delete()
    others = dict(
        Share.objects.filter(endpoint=endpoint).exclude(worker=worker).values_list("worker", "wanted")
    )
    mine = allotted(width, others | {worker: wish.wanted})[worker]
    least = max(wish.slots, wish.under_way)
    if mine > wish.slots:
        taken_slots = (
            Share.objects.filter(endpoint=endpoint).exclude(worker=worker).values_list("slots", flat=True)
        )
        mine = max(min(mine, width - sum(taken_slots)), 0)
        least = max(mine, wish.under_way)
    expires = now + timedelta(seconds=timing.lease())
    values = {"slots": least, "wanted": wish.wanted, "expires": expires}
    Share.objects.update_or_create(endpoint=endpoint, worker=worker, defaults=values)
    return mine
