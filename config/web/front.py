"""The ASGI application: reads a request whole, within its limits, and has a thread answer it."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from contextlib import ExitStack
from io import BytesIO
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.urls import get_resolver

from config.web import limits
from config.web.answers import Answer, short, wants_json
from config.web.bodies import Body, Gone, Receive, Refused, linger
from config.web.calling import Answered, Application, Places, call, environ_of
from config.web.downloads import Downloads, Send, until_gone
from config.web.protocol import most_downloads

THREADS = 2
HEALTH = Answer(200, [("Content-Type", "application/json"), ("Content-Length", "16")], b'{"status": "ok"}')
Scope = MutableMapping[str, Any]
logger = logging.getLogger(__name__)


class Front:
    """One process's web application.

    Threads of one process take turns, so more of them would only lengthen the slowest answers.
    """

    def __init__(self, application: Application, *, threads: int = THREADS) -> None:
        self.application = application
        self.threads = threads
        self._places: Places | None = None
        self._downloads: Downloads | None = None

    @classmethod
    def of_django(cls) -> Front:
        """The front of Django, with all routes and views imported now and not with the first visitor."""
        front = cls(get_wsgi_application())
        _ = get_resolver().url_patterns
        return front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["path"] == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            await _answer(send, HEALTH, [("Cache-Control", "no-store")])
            return
        body = Body(receive)
        try:
            await self._serve(scope, body, send)
        except Refused as refusal:
            await _answer(send, _page(scope, refusal), [("Connection", "close")], receive=receive)
        except Gone:
            return
        finally:
            body.close()

    async def _serve(self, scope: Scope, body: Body, send: Send) -> None:
        send = until_gone(send)
        if self._places is None or self._downloads is None:
            self._places, self._downloads = Places(self.threads), Downloads(most_downloads())
        await self._read(scope, body)
        body.file.seek(0)
        environ = environ_of(scope, body.file, body.size)
        client, is_file = limits.client_of(environ), limits.is_file(environ["PATH_INFO"])
        with ExitStack() as counted:
            if is_file:
                counted.enter_context(self._downloads.of(client))
            answered: Answered = await self._places.run(call, self.application, environ, is_file=is_file)
            if answered.rest is None:
                await send(answered.start)
                await send({"type": "http.response.body", "body": answered.body, "more_body": False})
                return
            counted.callback(self._downloads.drop, answered.rest)
            if not is_file:
                counted.enter_context(self._downloads.of(client))
            await self._downloads.send(answered, answered.rest, body.receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _read(self, scope: Scope, body: Body) -> None:
        """Read the body. What is larger than anybody may send is looked at before it is read or stored."""
        length = _length(scope)
        if length <= limits.ANYBODY and await self._within(body, limits.ANYBODY):
            return
        environ = environ_of(scope, BytesIO(), 0)
        limit = limits.largest(environ["PATH_INFO"])
        if length > limit:
            raise limits.too_large(limit)
        assert self._places is not None
        await self._places.run(_check, environ)
        body.accept_held()
        if not await self._within(body, limit):
            raise limits.too_large(limit)

    async def _within(self, body: Body, limit: int) -> bool:
        try:
            return await body.read(limit)
        except OSError as problem:
            logger.error("A request was refused, because it could not be stored: %s", problem)
            raise Refused(507, "There is no room to store the request. Try again later.") from None


def _check(environ: dict[str, Any]) -> None:
    try:
        limits.check(environ)
    finally:
        close_old_connections()


def _length(scope: Scope) -> int:
    """The length that a request declares; 0 where it declares none."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return 0


def _page(scope: Scope, refusal: Refused) -> Answer:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    kind, accept = headers.get(b"content-type", ""), headers.get(b"accept", "")
    scripted = wants_json(scope["path"], accept, kind)
    return short(refusal.status, str(refusal), for_scripts=scripted, retry=refusal.retry)


async def _answer(
    send: Send, answer: Answer, more: list[tuple[str, str]], *, receive: Receive | None = None
) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in (*answer.headers, *more)]
    await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
    await send({"type": "http.response.body", "body": answer.body, "more_body": receive is not None})
    if receive is not None:
        await linger(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
