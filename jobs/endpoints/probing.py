"""Testing an endpoint: one short question, asked where the judges' questions are asked from.

The web process may not have the endpoint's key, nor reach its network; the workers of the queue `calls` do.
A thread of its own, so that a silent endpoint holds no judge up.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from urllib.parse import urlsplit

from django.db import Error, connection
from django.utils import timezone

from jobs import errors
from jobs.endpoints import keys
from jobs.endpoints.keys import remember
from jobs.endpoints.receiving import CallError, Reply, Withheld
from jobs.fake_models import aliased
from jobs.models import Endpoint, Run
from jobs.prompt import Prompt

logger = logging.getLogger(__name__)
LONGEST = 20
"""Seconds that a test waits for the reply."""
AT_ONCE = 8
"""Endpoints that are tested at the same time."""
PATH = "/chat/completions"
DEFECTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a defect in the client may raise on what a server sends: it fails the test of that endpoint alone."""
QUESTION = Prompt("You are asked whether you can be reached.", "Answer with the one word: yes")
_busy = threading.Lock()


def begin(queue: str) -> None:
    """Test what waits to be tested, in a thread; nothing happens while one is under way."""
    if queue == Run.Queue.CALLS and not _busy.locked() and _mine():
        threading.Thread(target=_test_waiting, name="probing", daemon=True).start()


def waiting() -> list[Endpoint]:
    """Return the endpoints whose test is asked for and not done."""
    return list(Endpoint.objects.filter(test_asked__isnull=False, test_done=None))


def _mine() -> list[Endpoint]:
    """Return what waits that this process can ask, or nobody can."""
    return [one for one in waiting() if keys.has_key(one) or not keys.others_have(one)]


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
    fakes: set[int] = set()
    try:
        reply = asyncio.run(_ask(hurried, fakes))
    except Withheld as error:
        # Cut off at its most tokens it answers all the same: that is what was asked.
        if error.kind == errors.TRUNCATED:
            return "", error.reply.latency_ms
        return _told(endpoint, error), None
    except CallError as error:
        return _told(endpoint, error), None
    except DEFECTS as error:
        logger.exception("a test of the endpoint %s failed", endpoint.name)
        return f"a defect in Concord: {type(error).__name__}", None
    finally:
        remember({}, fakes)
    return ("" if reply.text.strip() else "the reply is empty"), reply.latency_ms


def _told(endpoint: Endpoint, error: CallError) -> str:
    """Return why there is no reply, with the address that was asked and what is often wrong with it."""
    address = f"{endpoint.base_url.rstrip('/')}{PATH}"
    told = f"{address}: {error!s}"[:900].replace("\x00", "\ufffd")
    if error.status in (404, 405) and not urlsplit(endpoint.base_url).path.strip("/"):
        told += f". Most servers answer under /v1: try {endpoint.base_url.rstrip('/')}/v1 as its base URL."
    return told


async def _ask(endpoint: Endpoint, fakes: set[int]) -> Reply:
    from jobs.endpoints.client import Clients  # the openai client, only where something is asked

    clients = Clients()
    try:
        # Whoever answers, it is a test: a fake model behind another name is marked, and not refused.
        return await clients.ask(endpoint, aliased(endpoint.model), QUESTION, {})
    finally:
        await clients.close()
        fakes.update(clients.fakes)


def _test_waiting() -> None:
    """Test what waits, each endpoint by itself: none waits for another that is silent or odd."""
    with _busy:
        try:
            endpoints = _mine()
        except Error as error:
            logger.warning("no test of an endpoint: %s", error)
            return
        finally:
            connection.close()
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="probe") as pool:
            for endpoint in endpoints:
                pool.submit(_test_alone, endpoint)


def _test_alone(endpoint: Endpoint) -> None:
    try:
        test(endpoint)
    except Error as error:
        logger.warning("no test of the endpoint %s: %s", endpoint.name, error)
    finally:
        connection.close()
