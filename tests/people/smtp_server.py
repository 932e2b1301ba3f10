"""Local mail server that accepts all messages, except for addresses that it is told to refuse."""

from __future__ import annotations

import email
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from email.policy import default


class Server(socketserver.ThreadingTCPServer):
    """The server: messages with their recipients, and the refused addresses."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.letters: list[tuple[list[str], Message]] = []
        self.refused: set[str] = set()

    @property
    def port(self) -> int:
        """Port that it listens on."""
        return int(self.server_address[1])


class _Session(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        self._say("220 here")
        to: list[str] = []
        while line := self.rfile.readline().decode().strip():
            verb, _, rest = line.partition(" ")
            if verb.upper() in ("EHLO", "HELO"):
                self._say("250 here")
            elif verb.upper() == "RCPT":
                address = rest.partition("<")[2].rstrip("> ")
                refused = address in self.server.refused
                self._say("550 5.1.1 nobody here\tof that name" if refused else "250 ok")
                to += [] if refused else [address]
            elif verb.upper() == "DATA":
                self._say("354 go on")
                self._keep(to)
                to = []
            elif verb.upper() == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _keep(self, to: list[str]) -> None:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.server.letters.append((to, email.message_from_bytes(b"".join(lines), policy=default)))
        self._say("250 taken")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def running() -> Iterator[Server]:
    """Run a server until the context ends."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
