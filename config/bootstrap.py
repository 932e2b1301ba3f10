"""Setup behind `make`: from a checkout and Python to a running program. Standard library only.

`python3 config/bootstrap.py TARGET` (demo, up, seed, test, test-all, check, bench, client) installs missing
parts and then runs the target.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from config.setup.common import PROJECT, PYTHON, VENV, SetupError, install_test_programs, keep_bytecode, say
from config.setup.packages import OLDEST, formatter, install, right_python

PR_SET_PDEATHSIG = 1
EXHAUSTIVE = "exhaustive"
CHECKS = (
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy", "."]),
    ("layers", [str(VENV / "bin" / "lint-imports")]),
    ("template format", ["-m", "djlint", "templates", "--check"]),
    ("template lint", ["-m", "djlint", "templates", "--lint", "--quiet"]),
    ("migrations", [str(PROJECT / "manage.py"), "makemigrations", "--check", "--dry-run"]),
)


def serve(*options: str) -> None:
    """Become the supervisor. Started by make, it ends when make is killed."""
    if os.environ.get("MAKELEVEL") and sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    become([str(PROJECT / "manage.py"), "serve", *options])


def become(arguments: list[str]) -> None:
    """Replace this process by a Python process of the virtual environment."""
    sys.stdout.flush()
    os.chdir(PROJECT)
    os.execv(PYTHON, [str(PYTHON), *arguments])


def test(which: str) -> None:
    """Run the tests matching a pytest marker expression, with two processes per core, four at most.

    Tests spend about half of their time waiting: for a server, a worker or the database. Core tests that
    belong to every run run without the suites, which the core must not need; all others with them.
    """
    install_test_programs()
    processes = min(2 * (os.cpu_count() or 1), 4)
    spread = ["-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
    run = [str(PYTHON), "-m", "pytest", "-m", which, *spread, *os.environ.get("ARGS", "").split()]
    if which == EXHAUSTIVE or os.environ.get("ARGS"):
        say("Running the tests...")
        become(run[1:])
    say("Running the core's tests, without the suites...")
    core = subprocess.run(
        [*run, "--part", "core"], cwd=PROJECT, env=os.environ | {"CONCORD_SUITES": ""}, check=False
    )
    say("Running the other tests...")
    rest = subprocess.run([*run, "--part", "rest"], cwd=PROJECT, check=False)
    if core.returncode or rest.returncode:
        raise SetupError("Tests failed: they are named above.")


def check() -> None:
    """Run every check, then say which failed."""
    failed = []
    commands = [(name, [str(PYTHON), *arguments]) for name, arguments in CHECKS]
    prettier = formatter()
    if prettier:
        commands.append(("style and script format", [*prettier, "--check", "static", "!static/vendor"]))
    for name, command in commands:
        started = time.monotonic()
        done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)
        say(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {name} ({time.monotonic() - started:.1f} s)")
        if done.returncode:
            failed.append(name)
            say((done.stdout + done.stderr).rstrip())
    if failed:
        raise SetupError(f"Checks that failed: {', '.join(failed)}.")


def bench() -> None:
    """Run the benchmark NAME, or all of them one after the other."""
    every = sorted(path.stem for path in (PROJECT / "benchmarks").glob("[!_]*.py"))
    for name in [os.environ["NAME"]] if os.environ.get("NAME") else every:
        say(f"Benchmark {name}...")
        if subprocess.run([str(PYTHON), "-m", "benchmarks", name], cwd=PROJECT, check=False).returncode:
            raise SetupError(f"The benchmark {name} failed.")


def client() -> None:
    """Write the generated modules of the Python client from the API schema."""
    command = [str(PYTHON), str(PROJECT / "manage.py"), "spectacular", "--format", "openapi-json"]
    document = subprocess.run(command, cwd=PROJECT, check=False, stdout=subprocess.PIPE)
    generate = [str(PYTHON), str(PROJECT / "clients" / "python" / "generate.py")]
    if document.returncode or subprocess.run(generate, input=document.stdout, check=False).returncode:
        raise SetupError("The client could not be written.")
    say("Written: clients/python/concord_client. Install it with `pip install ./clients/python`.")


def main(target: str) -> None:
    """Set up and run `target`."""
    if sys.version_info < OLDEST:
        os.execv(right_python(), [right_python(), *sys.argv])
    manage = str(PROJECT / "manage.py")
    actions = {
        "demo": lambda: serve("--demo"),
        "up": serve,
        "test": lambda: test("not exhaustive"),
        "test-all": lambda: test(EXHAUSTIVE),
        "check": check,
        "seed": lambda: become([manage, "load_demo"]),
        "bench": bench,
        "client": client,
    }
    if target not in actions:
        raise SetupError(f"Unknown target {target}: choose one of {', '.join(actions)}.")
    install()
    keep_bytecode()
    actions[target]()


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except SetupError as error:
        say(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
