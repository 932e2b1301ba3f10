"""Testing an endpoint: one short question, asked where the judges' questions are asked from.

The web process may not have the endpoint's key, nor reach its network; the workers of the queue `calls` do.
A thread of its own, so that a silent endpoint holds no judge up.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from copy import copy

from django.db import Error, connection
from django.utils import timezone

from jobs.endpoints.receiving import CallError, Reply
from jobs.models import Endpoint, Run
from jobs.prompt import Prompt

logger = logging.getLogger(__name__)
LONGEST = 20
"""Seconds that a test waits for the reply."""
QUESTION = Prompt("You are asked whether you can be reached.", "Answer with the one word: yes")
_busy = threading.Lock()


def begin(queue: str) -> None:
    """Test what waits to be tested, in a thread; nothing happens while one is under way."""
    if queue == Run.Queue.CALLS and not _busy.locked() and waiting():
        threading.Thread(target=_test_waiting, name="probing", daemon=True).start()


def waiting() -> list[Endpoint]:
    """Return the endpoints whose test is asked for and not done."""
    return list(Endpoint.objects.filter(test_asked__isnull=False, test_done=None))


def test(endpoint: Endpoint) -> Endpoint:
    """Ask the endpoint one short question and keep what came of it: a time, or why there is no reply."""
    asked = endpoint.test_asked
    error, milliseconds = _answer(endpoint)
    fields = {"test_done": timezone.now(), "test_error": error, "test_ms": milliseconds}
    # Not where it was asked for again meanwhile, perhaps after a change.
    Endpoint.objects.filter(pk=endpoint.pk, test_asked=asked).update(**fields)
    endpoint.refresh_from_db()
    return endpoint


def _answer(endpoint: Endpoint) -> tuple[str, int | None]:
    hurried = copy(endpoint)
    hurried.timeout_s = min(endpoint.timeout_s, LONGEST)
    try:
        reply = asyncio.run(_ask(hurried))
    except CallError as error:
        return str(error)[:1000].replace("\x00", "\ufffd"), None
    return ("" if reply.text.strip() else "the reply is empty"), reply.latency_ms


async def _ask(endpoint: Endpoint) -> Reply:
    from jobs.endpoints.client import Clients  # the openai client, only where something is asked

    clients = Clients()
    try:
        return await clients.ask(endpoint, endpoint.model, QUESTION, {})
    finally:
        await clients.close()


def _test_waiting() -> None:
    with _busy:
        try:
            for endpoint in waiting():
                test(endpoint)
        except Error as error:
            logger.warning("no test of an endpoint: %s", error)
        finally:
            connection.close()
