"""The limits of an endpoint, shared by all workers: requests at once, requests a minute, tokens a minute.

One row an endpoint (`Pace`) is changed under its lock, a few times a second and worker, never once a call. A
worker is given a share of the requests at once, and times at which its next requests may begin.

Requests at once: the shares of all workers are within the limit, so what they make together is, too. An
endpoint that refuses requests for their number (429) has its limit halved, and one more is allowed each time
as many as the limit were answered (additive increase, multiplicative decrease).

A minute: begins are spaced evenly, so that no minute holds more than the limit, wherever it begins. A second
is added to each minute for the way to the server, which differs from request to request.
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
"""Seconds by which requests may take longer or shorter on their way."""
COOL = 1.0
"""Seconds after a cut in which further refusals are of requests from before it."""
HORIZON = 1.0
"""Begins are given out for so many seconds ahead: more would hold up other workers, and be lost at a stop."""
_LOCK = """
SELECT width, shrunk_at, next_request, next_tokens, clock_timestamp() FROM jobs_pace
 WHERE endpoint_id = %s FOR UPDATE
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a worker asks for, and what it has to tell.

    `slots` is the share that it keeps to now, `under_way` its requests, `wanted` how many it has use for.
    `turns` are requests that wait to begin, each with about how many tokens it takes; `settled` is by how
    much those that ended took more than was thought. `answered` and `refused` count replies and 429s.
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
    """What it gets: its share from now on, and in how many seconds the first of its turns may begin."""

    slots: int
    begins: list[float] = field(default_factory=list)


def is_paced(endpoint: Endpoint) -> bool:
    """Whether an endpoint has a limit a minute."""
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
    """Give a worker's shares back, once none of its requests is under way."""
    Share.objects.filter(worker=worker).delete()


def width_of(endpoint: Endpoint, pace: Pace | None) -> int:
    """Return how many requests at once an endpoint takes now."""
    if pace is None or pace.width is None:
        return max(endpoint.concurrency, 1)
    return max(1, min(int(pace.width), endpoint.concurrency))


def allotted(limit: int, requests: Mapping[str, int]) -> dict[str, int]:
    """Divide a limit evenly among those who want some; what one has no use for goes to the others.

    The sum is at most `limit`, and no one gets more than is wanted. Who comes first by name gets the rest.
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
    """Shrink or grow what the endpoint takes at once."""
    cooled = pace.shrunk_at is None or now - pace.shrunk_at > timedelta(seconds=COOL)
    if not cooled:
        return
    if wish.refused:
        pace.width, pace.shrunk_at = max(1.0, width_of(endpoint, pace) / 2), now
    elif pace.width is not None and wish.answered:
        grown = pace.width + wish.answered / pace.width
        pace.width = None if grown >= endpoint.concurrency else grown


def _begins(pace: Pace, endpoint: Endpoint, wish: Wish, now: datetime) -> list[float]:
    """Return in how many seconds the first of the turns may begin, and move the pace on by them."""
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
    """Return for how many seconds a request of so many tokens holds up the next one.

    A minute that begins right before a request holds it whole, and so only the rest of the limit is for the
    others: of equal requests of e tokens a limit T then lets (T - e) / e + 1 begin in any minute.
    """
    minute = MINUTE + SLACK
    if expected * 2 >= tokens_per_minute:
        return minute * max(1.0, expected / tokens_per_minute)
    return minute * expected / (tokens_per_minute - expected)


def _share(endpoint: Endpoint, worker: str, wish: Wish, width: int, now: datetime) -> int:
    """Return a worker's share, and note what it holds until it asks again.

    It never holds less than what it may have begun meanwhile; it gives up the rest the next time.
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
