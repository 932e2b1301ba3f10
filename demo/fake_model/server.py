"""The fake model over HTTP, on 127.0.0.1 and nowhere else."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from demo.fake_model import multipart
from demo.fake_model.responses import Response, failure

HOST = "127.0.0.1"
MARK = "X-Concord-Fake-Model"
"""A header of the fake model's responses, by which Concord knows it behind a proxy that renames it."""
MARKED = {MARK: "1"}
MOST_BYTES = 16_000_000
"""Of a request's body."""
MOST_FILE = 256_000_000
"""Of a form with a file."""
SILENT_SECONDS = 75.0
"""A connection that says nothing for so long is closed."""

Respond = Callable[[str, str, Any, dict[str, str]], Response]
"""From method, path, JSON body and headers (names in lower case) to the response."""


class LocalServer(ThreadingHTTPServer):
    """Answers each connection in a thread of its own. Use as a context: it serves while that lasts.

    `listening` is a socket that listens already, such as one that a supervisor handed on; else `port` is
    taken (0: any free one), and OSError says that it cannot be. `headers` go with every response.
    """

    daemon_threads = True
    request_queue_size = 256
    allow_reuse_address = True

    def __init__(
        self,
        respond: Respond,
        *,
        port: int = 0,
        listening: socket.socket | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.respond = respond
        self.headers = dict(headers or {})
        self.ended = threading.Event()
        super().__init__((HOST, port), _Handler, bind_and_activate=listening is None)
        if listening is not None:
            self.socket.close()
            self.socket = listening
            self.server_address = listening.getsockname()

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://{HOST}:{self.server_address[1]}/v1"

    def __enter__(self) -> LocalServer:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENT_SECONDS
    server: LocalServer

    def do_GET(self) -> None:
        self._answer("GET", None)

    def do_DELETE(self) -> None:
        self._answer("DELETE", None)

    def do_POST(self) -> None:
        length, kind = self.headers.get("Content-Length", ""), self.headers.get("Content-Type", "")
        most = MOST_FILE if kind.startswith("multipart/form-data") else MOST_BYTES
        if not length and "Transfer-Encoding" not in self.headers:
            length = "0"
        if not length.isdecimal() or int(length) > most:
            self.close_connection = True
            self._send(failure(413, f"a body of at most {most:,} bytes with its length is needed"))
            return
        sent = self.rfile.read(int(length))
        try:
            body = multipart.fields(sent, kind) if most == MOST_FILE else json.loads(sent or b"null")
        except (ValueError, RecursionError):
            self._send(failure(400, "the body is not valid JSON"))
            return
        self._answer("POST", body)

    def _answer(self, method: str, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.respond(method, self.path, body, headers)
        self.server.ended.wait(response.delay) if response.delay else None
        if response.instead == "hang":
            self._wait_for_the_client()
        if response.instead:
            self.close_connection = True
            return
        self._send(response)

    def _wait_for_the_client(self) -> None:
        """Say nothing until the client gives up or the server ends."""
        self.connection.settimeout(0.2)
        while not self.server.ended.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def _send(self, response: Response) -> None:
        try:
            self.send_response(response.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(response.body)))
            for name, value in {**self.server.headers, **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client gave up

    def log_message(self, format: str, *args: object) -> None:
        """Write no log: requests hold transcripts."""
