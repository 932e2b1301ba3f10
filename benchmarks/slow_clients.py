"""Annotating beside 200 slow connections: half never finish their headers, half never finish a body.

A slow connection that the server closes is reopened, so that there are always 200. Then signing in beside
slow readers: 75 that each pipeline eight requests for a public static file, and 120 that download an export.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import selectors
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import _home, annotate
from benchmarks._slow_readers import DOWNLOADS, PIPELINED, STATIC, STATIC_READERS, sign_in, slow_reader

# With the cookie, Django would read the body before it refuses the form.
HEAD = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nCookie: concord_csrf=" + b"a" * 32 + b"\r\n"
UNFINISHED = (HEAD, HEAD + b"Content-Length: 1000\r\n\r\nusername=")
GOAL = 1.5
SIGN_IN_GOAL = 3.0
NAME, PASSWORD = "slow-reader", "long enough 1"
LABELS = 800


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks slow_clients", description=__doc__)
    parser.add_argument("--connections", type=int, default=200, help="slow connections (200)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each measurement lasts (20)")
    parser.add_argument("--tasks", type=int, default=10_000, help="tasks in the campaign (10,000)")
    options = parser.parse_args(list(argv))
    with _home.home() as folder:
        campaign = annotate._campaign(options.tasks, annotate.TURNS)
        sessions = annotate._people(campaign, 20)
        with _home.web() as port:
            people = [annotate.Annotator(port, campaign, *session) for session in sessions]
            annotate._measure(people, 2.0)
            without = _measure(people, port, options.seconds)
            with _slow(port, options.connections) as opened:
                beside = _measure(people, port, options.seconds)
            signing_in = _sign_in_beside_readers(port, folder, options.seconds)
        checked = annotate._check(campaign)
    return {
        "headline": {
            "name": f"p95 of next plus submit beside {options.connections} slow connections, as a multiple",
            "value": round(beside["p95_ms"] / without["p95_ms"], 2),
            "goal": GOAL,
            "better": "lower",
        },
        "without": without,
        "beside": beside,
        "slow_connections_opened": opened[0],
        "beside_slow_readers": signing_in,
        **checked,
    }


def _measure(people: list[annotate.Annotator], port: int, seconds: float) -> dict[str, float]:
    """Annotate for a while, and request the health check continuously."""
    health: list[float] = []
    over = threading.Event()
    asking = threading.Thread(target=_ask_health, args=(port, over, health))
    asking.start()
    figures = annotate._measure(people, seconds)
    over.set()
    asking.join()
    return {**figures, "healthz_worst_ms": round(max(health), 1)}


def _ask_health(port: int, over: threading.Event, seconds: list[float]) -> None:
    while not over.wait(0.2):
        began = time.perf_counter()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
            answer.read()
        seconds.append((time.perf_counter() - began) * 1000)


def _sign_in_beside_readers(port: int, folder: Path, seconds: float) -> dict[str, Any]:
    """Sign in repeatedly beside slow readers; the slowest sign-in counts."""
    path, token = _export(folder)
    alone = [sign_in(port, NAME, PASSWORD) for _ in range(3)]
    headers = f"Authorization: Token {token}\r\n"
    with contextlib.ExitStack() as held:
        readers = [
            held.enter_context(slow_reader(port, STATIC, requests=PIPELINED)) for _ in range(STATIC_READERS)
        ]
        readers += [held.enter_context(slow_reader(port, path, headers=headers)) for _ in range(DOWNLOADS)]
        beside, until = list[float](), time.perf_counter() + seconds
        while time.perf_counter() < until:
            beside.append(sign_in(port, NAME, PASSWORD))
        served = sum(reader.recv(12) == b"HTTP/1.1 200" for reader in readers)
    return {
        "sign_in_alone_s": round(max(alone), 2),
        "sign_in_worst_s": round(max(beside), 2),
        "goal_s": SIGN_IN_GOAL,
        "sign_ins": len(beside),
        "readers": len(readers),
        "readers_that_were_answered": served,
    }


def _export(folder: Path) -> tuple[str, str]:
    """Import 4 MB of labels; return the address of their export and a token for it."""
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from annotation.models import Corpus
    from annotation.people import accounts

    label = {"rater": "ann", "question": "note", "value": 1, "explanation": "long " * 1_000}
    line = {
        "id": "d",
        "turns": [{"speaker": "A", "text": "said"}] * LABELS,
        "labels": [{**label, "turn": turn} for turn in range(LABELS)],
    }
    file = folder / "read-slowly.jsonl"
    file.write_text(json.dumps(line) + "\n")
    call_command("import_corpus", str(file), name="read slowly", scheme="own", verbosity=0)
    person = User.objects.create_superuser(NAME, password=PASSWORD)
    made = accounts.make(person=person, name="benchmark", scope="read", days=1)
    corpus = Corpus.objects.get(name="read slowly")
    return f"/api/v1/exports/labels.csv?corpus={corpus.pk}", made.key


@contextlib.contextmanager
def _slow(port: int, count: int) -> Iterator[list[int]]:
    """Keep `count` unfinished requests open; yield a list with the number opened so far."""
    opened, over = [0], threading.Event()
    worker = threading.Thread(target=_keep_open, args=(port, count, opened, over))
    worker.start()
    while opened[0] < count:
        time.sleep(0.05)
    try:
        yield opened
    finally:
        over.set()
        worker.join()


def _keep_open(port: int, count: int, opened: list[int], over: threading.Event) -> None:
    watched = selectors.DefaultSelector()
    while not over.is_set():
        while len(watched.get_map()) < count:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(UNFINISHED[opened[0] % 2])
            watched.register(connection, selectors.EVENT_READ)
            opened[0] += 1
        for key, _ in watched.select(0.2):  # answered or closed by the server
            watched.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]
    for key in list(watched.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
