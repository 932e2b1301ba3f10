"""Signatures of what is sent, in the form of Standard Webhooks (standardwebhooks.com): HMAC-SHA256.

The secret of a webhook is kept nowhere. It is derived from a random salt, which is in its row, and the
server's secret key, which is in the environment or in Concord's own folder: neither alone gives it away.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime

from django.utils import timezone
from django.utils.crypto import salted_hmac

from jobs.models import Webhook

PREFIX = "whsec_"


def secret_of(webhook: Webhook) -> str:
    """Return the secret as its receiver keeps it: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(webhook.salt)).decode()


def headers(webhook: Webhook, *, message: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the three headers with which a body is sent at a time under its message's id.

    While a rotation is under way both secrets sign, the new one first.
    """
    stamp = str(int(at.timestamp()))
    keys = [_key(webhook.salt)]
    if webhook.old_salt and webhook.old_until and webhook.old_until > timezone.now():
        keys.append(_key(webhook.old_salt))
    signed = b".".join([message.encode(), stamp.encode(), body])
    signatures = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    return {
        "webhook-id": message,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(salt: str) -> bytes:
    return salted_hmac("concord.webhooks", salt, algorithm="sha256").digest()
