"""A client that disconnects during a response is no error, and does not fill the log."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from config.web.front import Front, until_gone
from config.web.limits import Gone


def answering(environ: dict[str, Any], start: Any) -> list[bytes]:
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]


async def receive() -> MutableMapping[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def failing(sentence: str) -> Any:
    async def send(message: MutableMapping[str, Any]) -> None:
        raise RuntimeError(sentence)

    return send


CLOSED = "unable to perform operation on <TCPTransport closed=True>; the handler is closed"


def test_a_write_to_a_closed_connection_is_a_client_that_left() -> None:
    with pytest.raises(Gone):
        asyncio.run(until_gone(failing(CLOSED))({}))


def test_any_other_trouble_of_a_write_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="Unexpected ASGI message"):
        asyncio.run(until_gone(failing("Unexpected ASGI message"))({}))


def test_an_answer_that_nobody_waits_for_ends_without_an_error() -> None:
    scope = {
        "type": "http", "method": "GET", "path": "/x", "raw_path": b"/x", "query_string": b"", "headers": [],
        "http_version": "1.1", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "root_path": "",
    }  # fmt: skip
    asyncio.run(Front(answering)(scope, receive, failing(CLOSED)))
