"""Local endpoint that answers every prompt after a fixed delay, run in its own process."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from aiohttp import web

from benchmarks._ports import free_port

REPLY = "humanness - 4\nfluency - 5\ncoherency - 4\nconsistency - 4\nengagingness - 3\noverall - 4"
_START_SECONDS = 30.0


def application(delay: float) -> web.Application:
    """Return the server: any POST is answered after `delay` seconds; a GET returns the number of POSTs."""
    message = {"role": "assistant", "content": REPLY}
    answer = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "slow",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    body = json.dumps(answer).encode()

    total = 0

    async def complete(request: web.Request) -> web.Response:
        nonlocal total
        await request.read()
        total += 1
        await asyncio.sleep(delay)
        return web.Response(body=body, content_type="application/json")

    async def count(_request: web.Request) -> web.Response:
        return web.json_response(total)

    served = web.Application()
    served.router.add_get("/v1/requests", count)
    served.router.add_post("/v1/chat/completions", complete)
    return served


@contextmanager
def running(delay: float) -> Iterator[str]:
    """Start the endpoint in another process and yield its base URL."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", __name__, str(port), str(delay)])
    try:
        _wait(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def requests(url: str) -> int:
    """Return the number of requests sent to the endpoint at `url`."""
    with urllib.request.urlopen(f"{url}/requests") as answer:
        return int(json.load(answer))


paid = requests
"""Every request counts as paid."""


def _wait(port: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
            return
        time.sleep(0.05)
    raise TimeoutError("the local endpoint does not start")


if __name__ == "__main__":
    web.run_app(
        application(float(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None
    )
