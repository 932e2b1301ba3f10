"""The fake model as a program: options, output, and shutdown."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

from demo.fake_model.errors import (
    BY_QUESTION,
    CHANCES,
    OTHERS,
    PLAIN,
    Amounts,
    ErrorFileProblem,
    ErrorModel,
    Phrase,
    RoleErrors,
    check_keys,
    misbehaviour,
    number,
    texts,
)
from demo.fake_model.roles import ROLES
from demo.fake_model.serving import MODEL, FakeModel, Response, failure

# HTTP server of the fake model, on 127.0.0.1 only.

# Uploaded forms with a file (multipart/form-data); pure.

_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.I)
_NAME = re.compile(rb'\bname="([^"]*)"', re.I)


def fields(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the fields of a form by name: texts, and the bytes of `file`; None if the body is not a form."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        return None
    values: dict[str, Any] = {}
    for part in body.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is not None:
            value = content.removesuffix(b"\r\n")
            values[name[1].decode("utf-8", "replace")] = (
                value if name[1] == b"file" else value.decode("utf-8", "replace")
            )
    return values


HOST = "127.0.0.1"
MARK = "X-Concord-Fake-Model"
"""Response header by which Concord recognises the fake model behind a proxy that renames it."""
MARKED = {MARK: "1"}
MOST_BYTES = 16_000_000
"""Maximum bytes of a request's body."""
MOST_FILE = 256_000_000
"""Maximum bytes of a form with a file."""
SILENT_SECONDS = 75.0
"""Idle seconds after which a connection is closed."""

Respond = Callable[[str, str, Any, dict[str, str]], Response]
"""From method, path, JSON body and headers (names in lower case) to the response."""


class LocalServer(ThreadingHTTPServer):
    """Answers each connection in a thread of its own; serves while its context is open.

    `listening` is a socket that already listens, such as a supervisor's; otherwise `port` is bound (0: any
    free port), and OSError means that it is not available. `headers` are added to every response.
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
        """Ignore disconnected clients."""


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
            body = fields(sent, kind) if most == MOST_FILE else json.loads(sent or b"null")
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
        """Send nothing until the client gives up or the server ends."""
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


# Error models from JSON: built-in ones by name, a researcher's own from a file.

FOLDER = Path(__file__).parent / "models"


def built_in() -> list[str]:
    """Return the names of the built-in error models."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> ErrorModel:
    """Return a built-in error model by name, or an error model from a file.

    Raises ErrorFileProblem with one line: the key and the problem, or the available names.
    """
    path = FOLDER / f"{name}.json" if name in built_in() else Path(name)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ErrorFileProblem(
            f"{name}: there is no such file and no such error model; there are {', '.join(built_in())}"
        ) from None
    except OSError as error:
        raise ErrorFileProblem(f"{name}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ErrorFileProblem(f"{name}: not valid JSON ({str(error)[:200]})") from None
    try:
        return parse(data)
    except ErrorFileProblem as problem:
        raise ErrorFileProblem(f"{name}: {problem}") from None


def parse(data: Any) -> ErrorModel:
    """Return the error model of a JSON value; raise ErrorFileProblem that names the key."""
    check_keys(data, "", ("about", "roles", "phrases", "proposals", "misbehaviours"))
    roles = data.get("roles", {})
    check_keys(roles, "roles", (*ROLES, OTHERS))
    lists = {name: data.get(name, []) for name in ("phrases", "misbehaviours")}
    for name, value in lists.items():
        if not isinstance(value, list):
            raise ErrorFileProblem(f"{name}: a list is needed")
    return ErrorModel(
        {role: _errors(value, f"roles.{role}", role) for role, value in roles.items()},
        tuple(_phrase(value, f"phrases[{i}]", tuple(ROLES)) for i, value in enumerate(lists["phrases"])),
        texts(data.get("proposals", []), "proposals"),
        tuple(
            misbehaviour(value, f"misbehaviours[{i}]", tuple(ROLES))
            for i, value in enumerate(lists["misbehaviours"])
        ),
    )


def _errors(value: Any, where: str, role: str) -> RoleErrors:
    own = ROLES[role].own_keys if role in ROLES else {}
    check_keys(value, where, (*BY_QUESTION, *PLAIN, *own))
    fields: dict[str, Any] = {
        name: _amounts(value[name], f"{where}.{name}", chance=name in CHANCES)
        for name in BY_QUESTION
        if name in value
    }
    for name in PLAIN:
        if name in value:
            fields[name] = number(value[name], f"{where}.{name}", *_limits(name in CHANCES))
    own_errors = {name: read(value[name], f"{where}.{name}") for name, read in own.items() if name in value}
    return RoleErrors(**fields, own=own_errors)


def _phrase(value: Any, where: str, valid_roles: tuple[str, ...]) -> Phrase:
    check_keys(value, where, ("text", "roles", *BY_QUESTION))
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ErrorFileProblem(f"{where}.text: the sentence is needed")
    roles = texts(value.get("roles", []), f"{where}.roles", valid_roles)
    amounts = {
        name: _amounts(value[name], f"{where}.{name}", chance=False) for name in BY_QUESTION if name in value
    }
    return Phrase(text, roles, amounts)


def _amounts(value: Any, where: str, *, chance: bool) -> Amounts:
    limits = _limits(chance)
    if not isinstance(value, dict):
        return {OTHERS: number(value, where, *limits)}
    return {str(key): number(amount, f"{where}.{key}", *limits) for key, amount in value.items()}


def _limits(chance: bool) -> tuple[float, float]:
    return (0.0, 1.0) if chance else (-100.0, 100.0)


PORT = 8899
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Trouble(Exception):
    """The fake model cannot run; the message is one line."""


def arguments(parser: ArgumentParser | None = None) -> ArgumentParser:
    """Add the options to a parser and return it."""
    parser = parser or ArgumentParser(prog="fake_model", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST} ({PORT}; 0: any free one)")
    parser.add_argument(
        "--errors",
        default="ordinary",
        metavar="FILE|NAME",
        help=f"error model: {', '.join(built_in())}, or a file",
    )
    parser.add_argument("--seed", type=int, default=0, help="what all chances are drawn from (0)")
    parser.add_argument("--fd", type=int, help="a socket that listens already, in place of a port")
    return parser


def run(options: Namespace, say: Callable[[str], object]) -> None:
    """Serve until a stop signal; raise Trouble for a port in use or an invalid error model."""
    try:
        model = FakeModel(load(options.errors), seed=options.seed)
    except ErrorFileProblem as problem:
        raise Trouble(str(problem)) from None
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in ENDS}
    try:
        with _server(model, options) as server:
            say(greeting(server.url, options.errors, options.seed) + "\n")
            ended.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    say("Stopped.\n")


def _server(model: FakeModel, options: Namespace) -> LocalServer:
    def respond(method: str, path: str, body: Any, _headers: Mapping[str, str]) -> Response:
        return model.respond(method, path, body)

    if options.fd is not None:
        return LocalServer(respond, listening=socket.socket(fileno=options.fd), headers=MARKED)
    if not 0 <= options.port <= 65535:
        raise Trouble(
            f"port {options.port} is no port: choose one between 1 and 65535, or 0 for any free one"
        )
    try:
        return LocalServer(respond, port=options.port, headers=MARKED)
    except OSError as error:
        raise Trouble(
            f"cannot listen on {HOST} port {options.port} ({error.strerror}): choose another --port"
        ) from None


def greeting(url: str, errors: str, seed: int) -> str:
    """Return the startup message: the answers are simulated, and how to declare the endpoint in Concord."""
    return "\n".join(
        [
            "THIS IS A FAKE MODEL. IT UNDERSTANDS NOTHING: IT READS WHAT STANDS IN BRACES IN THE TEXTS",
            f"AND ERRS AS ITS ERROR MODEL SAYS ({errors}, seed {seed}). NOTHING THAT IT ANSWERS IS A RESULT.",
            "Declare it as an endpoint in the environment of the web process and the workers:",
            f'CONCORD_ENDPOINT_FAKE="{declaration(url)}"',
        ]
    )


def declaration(url: str) -> str:
    """Return the value of the endpoint's environment variable."""
    return f"{url}|{MODEL}"
