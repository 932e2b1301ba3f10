"""Body size limits of requests, by URL and sender; which requests are for files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, MutableMapping
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import IO, Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.urls import Resolver404, resolve
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.settings import api_settings

from config.permissions import is_researcher

# Reading a request's body within limits of time and size, before a thread is taken for the request.

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

GRACE_SECONDS = 20.0
SLOWEST_RATE = 4096
"""Minimum average bytes per second of a body after the grace period."""
IN_MEMORY = 2**20
LINGER_SECONDS = 2.0


class Refused(Exception):
    """A request answered with `status` and the message, whether or not its body was read.

    `retry`: seconds after which to try again.
    """

    def __init__(self, status: int, sentence: str, *, retry: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.retry = retry


class Gone(Exception):
    """The client closed the connection."""


class Body:
    """A body as it arrives: in memory while small, then in an unnamed file."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.size = 0
        self.more = True
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by `close`)
        self._excess = b""
        self._began = asyncio.get_running_loop().time()

    async def read(self, limit: int) -> bool:
        """Read until the body ends (True) or has more than `limit` bytes (False).

        Raises Refused (408) if it arrives too slowly and Gone if the client has left.
        """
        while self.more and self.size <= limit:
            try:
                async with asyncio.timeout_at(self._began + GRACE_SECONDS + self.size / SLOWEST_RATE):
                    message = await self.receive()
            except TimeoutError:
                raise Refused(408, "The request came too slowly. Try again.") from None
            if message["type"] != "http.request":
                raise Gone
            part = message.get("body", b"")
            self.size += len(part)
            self.more = bool(message.get("more_body"))
            if self.size <= limit:
                self.file.write(part)
            else:
                self._excess = part
        return self.size <= limit

    def accept_held(self) -> None:
        """Store the part beyond the last limit, after a larger one was granted."""
        self.file.write(self._excess)

    def close(self) -> None:
        """Release memory and file."""
        self.file.close()


async def wait_for_leaving(receive: Receive) -> None:
    """Return once the client has closed the connection of a request whose body was read."""
    while (await receive())["type"] == "http.request":
        pass


async def linger(receive: Receive) -> None:
    """Read and discard the rest of a refused request, briefly: a reset would destroy the response."""
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
    except TimeoutError:
        return


ANYBODY = 64 * 2**10
"""Bytes read from any sender."""
FORM_OVERHEAD = 2**20
UPLOADS = frozenset({"import-corpus", "api-imports", "api-import-preview"})
"""Names of URLs that accept files, from researchers only."""


def largest(path: str) -> int:
    """Return the largest body, in bytes, that any sender may send to `path`."""
    if _name(path) in UPLOADS:
        return int(settings.UPLOAD_LIMIT_BYTES) + FORM_OVERHEAD
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def check(environ: dict[str, Any]) -> None:
    """Refuse a body over the general limit unless its sender may send it. Queries the database."""
    user = _sender(environ)
    if not user.is_authenticated:
        raise Refused(413, "Too large for a request without an account. Sign in first.")
    if _name(environ["PATH_INFO"]) in UPLOADS and not is_researcher(user):
        raise Refused(403, "Only researchers may send files.")


def client_of(environ: dict[str, Any]) -> str:
    """Return the client's address. X-Forwarded-For counts only from a proxy in `CONCORD_PROXIES`.

    It is read from its end, past the addresses of further such proxies: entries written by the client itself
    come before those and are never reached.
    """
    client = str(environ.get("REMOTE_ADDR", ""))
    hops = [hop.strip() for hop in str(environ.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    while hops and _is_proxy(client) and _address(hops[-1]) is not None:
        client = hops.pop()
    return client


def is_file(path: str) -> bool:
    """Whether a URL is for files that are written on request, such as exports."""
    if path.startswith(settings.STATIC_URL):
        return False
    return "." in path.rpartition("/")[2] or path.endswith("/file/") or "/exports/files/" in path


def too_large(limit: int) -> Refused:
    """Return the refusal of a body of more than `limit` bytes."""
    size = f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit >> 10} KiB"
    return Refused(413, f"Too large: at most {size} may be sent here.")


def _is_proxy(client: str) -> bool:
    address = _address(client)
    return address is not None and any(address in network for network in settings.PROXIES)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _name(path: str) -> str | None:
    try:
        return resolve(path).url_name
    except Resolver404:
        return None


def _sender(environ: dict[str, Any]) -> AbstractBaseUser | AnonymousUser:
    """Return the sender of a request, by session or token, without reading its body."""
    request = WSGIRequest(environ | {"wsgi.input": BytesIO(), "CONTENT_LENGTH": "0"})
    SessionMiddleware(lambda _request: HttpResponse()).process_request(request)
    user = auth.get_user(request)
    if user.is_authenticated:
        return user
    request.user = user
    kinds: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    try:
        return Request(request, authenticators=[kind() for kind in kinds]).user
    except APIException:
        return AnonymousUser()
