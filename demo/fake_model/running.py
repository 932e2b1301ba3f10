"""Running the fake model as a program: its options, what it prints, and how it ends."""

from __future__ import annotations

import signal
import socket
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from demo.fake_model.error_files import built_in, load
from demo.fake_model.problems import ErrorFileProblem
from demo.fake_model.responses import Response
from demo.fake_model.server import HOST, MARKED, LocalServer
from demo.fake_model.serving import MODEL, FakeModel

PORT = 8899
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Trouble(Exception):
    """The fake model cannot run; the message is one line."""


def arguments(parser: ArgumentParser | None = None) -> ArgumentParser:
    """Return a parser with the options."""
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
    """Serve until a signal asks to stop; raise Trouble for a port that is taken or a wrong error model."""
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
    """Return what is printed at the start: that nothing here is real, and how Concord is told of it."""
    return "\n".join(
        [
            "THIS IS A FAKE MODEL. IT UNDERSTANDS NOTHING: IT READS WHAT STANDS IN BRACES IN THE TEXTS",
            f"AND ERRS AS ITS ERROR MODEL SAYS ({errors}, seed {seed}). NOTHING THAT IT ANSWERS IS A RESULT.",
            "Declare it as an endpoint in the environment of the web process and the workers:",
            f'CONCORD_ENDPOINT_FAKE="{declaration(url)}"',
        ]
    )


def declaration(url: str) -> str:
    """Return the value of the variable that declares it."""
    return f"{url}|{MODEL}"
