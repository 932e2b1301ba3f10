"""Fake model as an endpoint with a batch API, run in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks._ports import free_port
from benchmarks._slow_llm import _wait

MOST = 20
"""Maximum requests per batch; a run has many more."""


@contextmanager
def running(delay: float) -> Iterator[str]:
    """Start the endpoint in another process and yield its base URL; a batch takes `delay` seconds."""
    port = free_port()
    slow = {"misbehaviours": [{"kind": f"batch_slow:{round(1000 * delay)}", "rate": 1.0}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as errors:
        json.dump(slow, errors)
        errors.flush()
        command = [sys.executable, "-m", "demo.fake_model", "--port", str(port), "--errors", errors.name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            _wait(port)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()


def declare() -> None:
    """Record on the benchmark's endpoint that it accepts batches."""
    from jobs.models import Endpoint

    Endpoint.objects.update(model="fake-1", batch_share="0.5", batch_most=MOST)


def requests(url: str) -> int:
    """Return the number of batches created plus the number of status checks."""
    counts = _counts(url)
    return counts["batches"] + counts["looked"]


def paid(url: str) -> int:
    """Return the number of batch lines answered."""
    return _counts(url)["paid"]


def _counts(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/counts") as answer:
        found: dict[str, int] = json.load(answer)
    return found
