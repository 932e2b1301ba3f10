"""Servers of other makers, installed from packages into folders of their own and started as programs."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from demo.fake_model.running import HOST

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parents[2] / ".concord" / "servers"
START_SECONDS = 180


def installed(name: str) -> Path:
    """Install the packages of `NAME.txt` once per version of that file; return their folder.

    Skips the test where they cannot be installed, but not in CI.
    """
    requirements = HERE / f"{name}.txt"
    folder = INSTALLED / f"{name}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    if not folder.exists():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        target = tempfile.mkdtemp(dir=INSTALLED)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps"]
        completed = subprocess.run([*pip, "--target", target, "-r", str(requirements)], check=False)
        if completed.returncode and not os.environ.get("CI"):
            pytest.skip(f"the packages of {requirements.name} cannot be installed here")
        completed.check_returncode()
        Path(target).rename(folder)
    return folder


def free_port() -> int:
    """Return a port that no server listens at."""
    with socket.create_server((HOST, 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def serving(packages: Path, program: Sequence[str], port: int, log: Path) -> Iterator[str]:
    """Run a Python program that serves at a port until the context ends; yield its base URL."""
    environment = os.environ | {
        "PYTHONPATH": str(packages),
        "HF_HUB_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *program], env=environment, cwd=log.parent, stdout=output, stderr=output
        )
        try:
            _wait(process, port, log)
            yield f"http://{HOST}:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return once the program accepts connections."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the server did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
