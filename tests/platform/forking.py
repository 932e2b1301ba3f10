"""`python -m tests.platform.forking`: runs `manage.py` commands without loading everything for each.

For every line of its input, a JSON list of arguments, two files and perhaps a number of seconds, it forks a
process that runs the command, with its output in the files, and prints the status. After that many seconds
the process is killed.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.platform.running import PROJECT, environment


class Commands:
    """Runs commands in one home, with `more` in their environment."""

    def __init__(self, home: Path, **more: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.platform.forking"], cwd=PROJECT, env=environment(home, **more),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *arguments: str, kill_after: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, or kill it after some seconds."""
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
            self._process.stdin.write(json.dumps([arguments, out.name, err.name, kill_after]) + "\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, status, out.read(), err.read())

    def close(self) -> None:
        """End the forking process."""
        self._process.communicate()


@contextmanager
def commands(home: Path, **more: str) -> Iterator[Commands]:
    """Run commands in `home` until the context ends."""
    made = Commands(home, **more)
    try:
        yield made
    finally:
        made.close()


def main() -> int:
    """Fork for every line; the child exits as `manage.py` does, with its status."""
    import django

    import manage

    django.setup()
    for line in sys.stdin:
        arguments, out, err, kill_after = json.loads(line)
        child = os.fork()
        if not child:
            for number, path in ((0, os.devnull), (1, out), (2, err)):
                os.dup2(os.open(path, os.O_RDWR), number)
            sys.argv = ["manage.py", *arguments]
            return manage.main()
        print(_status(child, kill_after), flush=True)
    return 0


def _status(child: int, kill_after: float | None) -> int:
    """Return the status with which a process ends, by itself or by SIGKILL."""
    deadline = math.inf if kill_after is None else time.monotonic() + kill_after
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() >= deadline:
            os.kill(child, signal.SIGKILL)
            deadline = math.inf
        time.sleep(0.002)
    return os.waitstatus_to_exitcode(ended[1])


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.exit(main())
