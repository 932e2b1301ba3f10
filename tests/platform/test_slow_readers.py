"""Clients that read almost nothing, known or unknown, delay nobody who signs in."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks._slow_readers import DOWNLOADS, PIPELINED, STATIC, STATIC_READERS, sign_in, slow_reader
from tests.platform import forking, ready
from tests.platform.running import running, status_of

pytestmark = pytest.mark.exhaustive
TOKEN = "0123456789abcdef0123456789abcdef01234567"
NAME, PASSWORD = "root", "long enough 1"
LABELS = 800
PREPARE = f"""
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from annotation.models import ApiToken
from annotation.people.accounts import hash_of
ApiToken.objects.create(
    user=User.objects.create_superuser("{NAME}", password="{PASSWORD}"), name="tests", scope="read",
    key_hash=hash_of("{TOKEN}"), expires_at=timezone.now() + timedelta(days=1),
)
"""


def trickle(readers: list[socket.socket], over: threading.Event) -> None:
    """Take a few bytes from every reader's connection, now and then."""
    while not over.wait(0.5):
        for reader in readers:
            reader.recv(100)


def test_slow_readers_hold_up_nobody_who_signs_in(new_home: Path) -> None:
    label = {"rater": "ann", "question": "note", "value": 1, "explanation": "long " * 1_000}
    labels = ",".join(f'{{"turn": {turn}, {str(label)[1:-1]}}}' for turn in range(LABELS)).replace("'", '"')
    turns = ",".join(['{"speaker": "A", "text": "said"}'] * LABELS)
    file = new_home / "labels.jsonl"
    file.write_text(f'{{"id": "d", "turns": [{turns}], "labels": [{labels}]}}\n')
    with running(ready.fill(new_home)) as server, forking.commands(new_home) as commands, ExitStack() as held:
        for command in (
            ["import_corpus", str(file), "--name", "talks", "--scheme", "own"],
            ["shell", "-c", PREPARE],
        ):
            done = commands.run(*command)
            assert done.returncode == 0, done.stderr
        port = int(server.port)
        sign_in(port, NAME, PASSWORD)
        alone = max(sign_in(port, NAME, PASSWORD) for _ in range(3))
        export = "/api/v1/exports/labels.csv?corpus=1"
        token = f"Authorization: Token {TOKEN}\r\n"
        readers = [
            held.enter_context(slow_reader(port, STATIC, requests=PIPELINED)) for _ in range(STATIC_READERS)
        ]
        readers += [held.enter_context(slow_reader(port, export, headers=token)) for _ in range(DOWNLOADS)]
        seconds = [sign_in(port, NAME, PASSWORD) for _ in range(5)]
        for reader in readers:
            assert reader.recv(12) == b"HTTP/1.1 200"
        over = threading.Event()
        reading = threading.Thread(target=trickle, args=(readers, over))
        reading.start()
        try:
            seconds += [sign_in(port, NAME, PASSWORD) for _ in range(10)]
            assert status_of(port, "readyz") is not None
        finally:
            over.set()
            reading.join()
        held.close()
        alone = max(alone, *(sign_in(port, NAME, PASSWORD) for _ in range(5)))
    # A machine that is busy with other things too may take longer for everything.
    assert max(seconds) < max(3, 6 * alone), (alone, seconds)
