"""One attempt at a delivery: a signed POST, and what came of it.

Only to addresses that the webhook may be at, checked where the socket is opened, on the address that it is
connected to (as for endpoints: `jobs.endpoints.wire`). Redirects are not followed, no cookie is kept, and no
more than MOST_BYTES of a response are read.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import aiohttp
from django.utils import timezone
from yarl import URL

from jobs.endpoints.wire import AddressRefused, Guard, proxy_for
from jobs.errors import WebhookRefused
from jobs.models import Delivery, Webhook
from jobs.webhooks.actions import check
from jobs.webhooks.signing import headers
from jobs.webhooks.timing import TIMEOUT

MOST_BYTES = 1_000
"""Of a response, to show people what a receiver said."""
GONE = 410
"""With this status a receiver says that it wants no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an attempt: a status with the first bytes of the response, or why there is none."""

    code: int | None
    said: str = ""
    error: str = ""
    ms: int = 0

    @property
    def is_good(self) -> bool:
        """Whether the receiver has it."""
        return self.code is not None and 200 <= self.code < 300


def payload(delivery: Delivery) -> bytes:
    """Return the body: what kind of event, when, and its data. The same at every attempt."""
    event = delivery.event
    body: dict[str, Any] = {
        "type": event.kind,
        "id": f"evt_{event.public.hex}",
        "timestamp": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": event.data,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def send(delivery: Delivery) -> Answer:
    """Send a delivery once; never raises for what the other side does."""
    webhook, body = delivery.webhook, payload(delivery)
    signed = headers(webhook, message=f"msg_{delivery.public.hex}", at=timezone.now(), body=body)
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(TIMEOUT):
            code, said = await _post(webhook, signed, body)
        return Answer(code, said, _meaning(code), _since(begun))
    except TimeoutError:
        error = f"no response within {TIMEOUT:.0f} s"
    except WebhookRefused as refused:
        error = str(refused)
    except (aiohttp.ClientError, OSError, ValueError) as trouble:
        error = _told(trouble)
    return Answer(None, "", error, _since(begun))


async def _post(webhook: Webhook, signed: dict[str, str], body: bytes) -> tuple[int, str]:
    check(webhook.url, allow_private=webhook.allow_private)
    proxy = proxy_for(webhook.url)
    guard = Guard(allow_private=webhook.allow_private or proxy is not None)
    connector = aiohttp.TCPConnector(socket_factory=guard.socket, force_close=True)
    sent = {
        "content-type": "application/json",
        "user-agent": "Concord-Webhooks/1",
        "accept-encoding": "identity",
        **signed,
    }
    async with (
        aiohttp.ClientSession(
            connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
        ) as session,
        session.post(
            URL(webhook.url), data=body, headers=sent, allow_redirects=False, proxy=proxy
        ) as response,
    ):
        start = await _first(response.content)
        return response.status, start.decode("utf-8", "replace").replace("\x00", "\ufffd")


async def _first(stream: aiohttp.StreamReader) -> bytes:
    """Return the first bytes of a response; the rest is never read."""
    start = b""
    while len(start) < MOST_BYTES and (chunk := await stream.read(MOST_BYTES - len(start))):
        start += chunk
    return start


def _meaning(code: int) -> str:
    if 200 <= code < 300:
        return ""
    if 300 <= code < 400:
        return f"HTTP {code}: it redirects, which is not followed; give the final address"
    return f"HTTP {code}"


def _told(error: BaseException) -> str:
    """Return why there is no response, in one line; what is refused by the guard is inside aiohttp's own."""
    cause: BaseException | None = error
    while cause is not None:
        inner = getattr(cause, "os_error", None)
        for one in (cause, inner):
            if isinstance(one, AddressRefused):
                return f"not sent: {one}"
        cause = cause.__cause__ or cause.__context__
    return f"no connection: {str(error) or type(error).__name__}"[:300].replace("\x00", "\ufffd")


def _since(begun: float) -> int:
    return round(1000 * (time.perf_counter() - begun))
