"""Claiming deliveries that are due, sending them beside the judges' calls, and writing what came of it.

A thread of a worker of the queue `calls`, which reaches the network: a silent receiver holds no judge up, and
a webhook has at most AT_ONCE deliveries under way, so that none holds another up. What a worker held when it
was lost is due again once its lease has passed, under the same id.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import aiohttp
from django.db import Error, connection, transaction
from django.db.models import Q
from django.utils import timezone
from yarl import URL

from config.models import Event
from jobs.endpoints.wire import AddressRefused, Guard, proxy_for
from jobs.errors import WebhookRefused
from jobs.kinds import CALLS
from jobs.models import WebhookEvent
from jobs.models.webhook import Delivery, Webhook
from jobs.webhooks import timing
from jobs.webhooks.actions import check
from jobs.webhooks.signing import headers
from jobs.webhooks.timing import TIMEOUT

# One attempt at a delivery: a signed POST, and what came of it.
#
# Only to addresses that the webhook may be at, checked where the socket is opened, on the address that it
# is connected to (as for endpoints: `jobs.endpoints.wire`). Redirects are not followed, no cookie is kept,
# and no more than MOST_BYTES of a response are read.

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


logger = logging.getLogger(__name__)
AT_ONCE = 4
"""Deliveries of one webhook at a time."""
MOST = 32
"""Deliveries of all of them."""
CLEARED = 5_000
_busy = threading.Lock()
_IS_DUE = """
SELECT 1 FROM jobs_webhook w JOIN jobs_delivery d ON d.webhook_id = w.id
 WHERE (w.active OR d.asked) AND ((d.state = 'pending' AND d.not_before <= now())
    OR (d.state = 'leased' AND d.lease_expires < now())) LIMIT 1
"""
_CLAIM = """
WITH ready AS (
  SELECT d.id FROM jobs_webhook w CROSS JOIN LATERAL (
    SELECT d.id FROM jobs_delivery d
     WHERE d.webhook_id = w.id AND (w.active OR d.asked) AND ((d.state = 'pending' AND d.not_before <= now())
        OR (d.state = 'leased' AND d.lease_expires < now()))
     ORDER BY d.id LIMIT %s FOR UPDATE SKIP LOCKED) d
   LIMIT %s)
UPDATE jobs_delivery d SET state = 'leased', attempts = d.attempts + 1,
       lease_expires = now() + make_interval(secs => %s), tried_at = now()
  FROM ready WHERE d.id = ready.id RETURNING d.id
"""


def begin(queue: str) -> None:
    """Send what is due, in a thread; nothing happens while one is under way."""
    if queue == CALLS and not _busy.locked() and is_due():
        threading.Thread(target=_send_all, name="webhooks", daemon=True).start()


def is_due() -> bool:
    """Whether a delivery can be claimed now."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_DUE)
        return cursor.fetchone() is not None


def deliver() -> int:
    """Claim what is due and send it, until nothing is; return how many attempts were made."""
    count = 0
    while claimed := claim():
        count += len(claimed)
        for delivery, answer in zip(claimed, asyncio.run(_sent(claimed)), strict=True):
            settle(delivery, answer)
    return count


def claim() -> list[Delivery]:
    """Lease what is due, a few of each webhook."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [AT_ONCE, MOST, timing.LEASE])
        claimed = [pk for (pk,) in cursor.fetchall()]
    return list(Delivery.objects.select_related("webhook", "event").filter(pk__in=claimed).order_by("pk"))


@transaction.atomic
def settle(delivery: Delivery, answer: Answer) -> None:
    """Write what came of an attempt, unless its lease went to another; switch off what fails for long."""
    now = timezone.now()
    webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=delivery.webhook_id).first()
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.LEASED, attempts=delivery.attempts)
    again = not answer.is_good and answer.code != GONE and delivery.attempts < delivery.max_attempts
    state = Delivery.State.DELIVERED if answer.is_good else Delivery.State.FAILED
    kept = mine.update(
        state=Delivery.State.PENDING if again else state,
        not_before=now + timing.wait(delivery.attempts) if again else now,
        lease_expires=None,
        asked=False,
        code=answer.code,
        said=answer.said,
        error=answer.error,
        ms=answer.ms,
    )
    if kept and webhook is not None:
        _note(webhook, answer)


def _note(webhook: Webhook, answer: Answer) -> None:
    """Remember since when an address fails; switch it off after long, or where it wants no more."""
    now = timezone.now()
    since = None if answer.is_good else webhook.failing_since or now
    reason = ""
    if answer.code == GONE:
        reason = "Its receiver answered 410 Gone: it wants no more."
    elif since is not None and now - since >= timing.OFF_AFTER:
        days = timing.OFF_AFTER.days
        reason = f"Nothing reached it for {days} days. The last attempt: {answer.error}"[:300]
    if reason and webhook.active:
        webhook.active, webhook.off_reason = False, reason
        detail = {"reason": reason, "campaign": webhook.campaign_id}
        Event.objects.create(verb="webhook switched off", subject=f"webhook {webhook.pk}", detail=detail)
    webhook.failing_since = since
    webhook.save(update_fields=["active", "off_reason", "failing_since"])


def clear() -> int:
    """Forget events that are old, some at a time; return how many. What still waits is kept."""
    old = WebhookEvent.objects.filter(at__lt=timezone.now() - timing.KEPT)
    open_still = Q(deliveries__state__in=[Delivery.State.PENDING, Delivery.State.LEASED])
    ids = list(
        old.exclude(open_still & Q(deliveries__webhook__active=True)).values_list("pk", flat=True)[:CLEARED]
    )
    if ids:
        WebhookEvent.objects.filter(pk__in=ids).delete()
    return len(ids)


async def _sent(deliveries: Sequence[Delivery]) -> list[Answer]:
    return list(await asyncio.gather(*(send(delivery) for delivery in deliveries)))


def _send_all() -> None:
    with _busy:
        try:
            deliver()
        except Error as error:
            logger.warning("webhooks wait: %s", error)
        finally:
            connection.close()
