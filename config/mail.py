"""Sending mail: what the environment says of the server. Off where it says nothing.

| variable | meaning | default |
|---|---|---|
| CONCORD_EMAIL_URL | `smtp://user:password@host:587` (encrypted from STARTTLS on), `smtps://…:465` (from the start), `smtp+plain://…:25` (not at all), or `console:` for a look | none: no mail |
| CONCORD_EMAIL_FROM | who mail is from, as `Concord <concord@example.org>` | `concord@` the server |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Any
from urllib.parse import unquote, urlsplit

TIMEOUT = 20
"""Seconds that the server is waited for."""
PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
BACKENDS = "django.core.mail.backends."


@dataclass(frozen=True)
class Mail:
    """How mail is sent: Django's settings for it, none where it is not, and what is wrong with them."""

    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fault: str = ""


def from_environment(environment: Mapping[str, str]) -> Mail:
    """Return how mail is sent by an environment."""
    url, sender = (environment.get(f"CONCORD_EMAIL_{name}", "").strip() for name in ("URL", "FROM"))
    if not url:
        return Mail()
    if url.startswith("console:"):
        return Mail(_with_sender(f"{BACKENDS}console.EmailBackend", sender or "concord@localhost"))
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return Mail(fault="CONCORD_EMAIL_URL is not an address.")
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/"):
        return Mail(
            fault=f"CONCORD_EMAIL_URL begins with {', '.join(PORTS)} and names a host, or is console:."
        )
    sender = sender or f"concord@{parts.hostname}"
    if "@" not in parseaddr(sender)[1] or "\n" in sender or "\r" in sender:
        return Mail(fault="CONCORD_EMAIL_FROM holds no e-mail address.")
    found = _with_sender(f"{BACKENDS}smtp.EmailBackend", sender) | {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": TIMEOUT,
    }
    return Mail(found)


def _with_sender(backend: str, sender: str) -> dict[str, Any]:
    return {"EMAIL_BACKEND": backend, "DEFAULT_FROM_EMAIL": sender}
