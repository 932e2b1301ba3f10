"""`python -m tests.platform.forking`: commands of `manage.py` without loading everything for each anew.

For every line of its input, a JSON list of arguments and two files, it forks a process that runs the command,
with its output in the files, and prints the status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
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

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
            self._process.stdin.write(json.dumps([arguments, out.name, err.name]) + "\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, status, out.read(), err.read())

    def close(self) -> None:
        """End the process that forks."""
        self._process.communicate()


@contextmanager
def commands(home: Path, **more: str) -> Iterator[Commands]:
    """Commands in `home`, for as long as the context lasts."""
    made = Commands(home, **more)
    try:
        yield made
    finally:
        made.close()


def main() -> int:
    """Fork for every line; what is forked ends as `manage.py` does, with its status."""
    import django

    import manage

    django.setup()
    for line in sys.stdin:
        arguments, out, err = json.loads(line)
        child = os.fork()
        if not child:
            for number, path in ((0, os.devnull), (1, out), (2, err)):
                os.dup2(os.open(path, os.O_RDWR), number)
            sys.argv = ["manage.py", *arguments]
            return manage.main()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return 0


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.exit(main())
