"""Paths and output of the setup."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
VENV = PROJECT / ".venv"
PYTHON = VENV / "bin" / "python"


FORBIDDEN = "PYTHONDONTWRITEBYTECODE"
ELSEWHERE = "PYTHONPYCACHEPREFIX"


class SetupError(Exception):
    """Setup cannot continue. The message is one line that says what to do."""


def say(line: str) -> None:
    """Print one line at once."""
    print(line, flush=True)


def keep_bytecode() -> None:
    """If no bytecode may be next to the sources, keep it in `.venv`, for this process and its children.

    The packages are installed without bytecode: a program that kept none would compile all of them at every
    start, which takes many times as long as the rest of it.
    """
    if ELSEWHERE not in os.environ and os.environ.pop(FORBIDDEN, ""):
        os.environ[ELSEWHERE] = sys.pycache_prefix = str(VENV / "bytecode")
        sys.dont_write_bytecode = False


# Programs that only the system's package manager has.


def apt_install(packages: list[str], description: str) -> bool:
    """Install Debian packages as root or through sudo; False if that is not possible."""
    apt = shutil.which("apt-get")
    root = [] if os.geteuid() == 0 else _sudo()
    if apt is None or root is None:
        return False
    say(f"Installing {description} ({', '.join(packages)})...")
    command = [*root, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq", "-y"]
    for arguments in (["update"], ["install", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [*command, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            say("  " + done.stdout.decode(errors="replace").strip().rpartition("\n")[2])
            if arguments != ["update"]:
                return False
    return True


def _sudo() -> list[str] | None:
    """Return the command prefix for root rights without a password, if there is one."""
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def install_test_programs() -> None:
    """Install Chromium, Redis and LaTeX for the tests; if that fails, say so, and the tests skip.

    With CI=true nothing may be skipped: SetupError instead.
    """
    needs = {
        "chromium": ("chromium", "chromium-browser", "google-chrome"),
        "redis-server": ("redis-server",),
        "texlive-latex-recommended": ("pdflatex",),
    }
    missing = [package for package, names in needs.items() if not any(map(shutil.which, names))]
    if missing and not apt_install(missing, "programs for the tests"):
        line = f"Missing for the tests: install {' and '.join(missing)} with your package manager"
        if os.environ.get("CI") == "true":
            raise SetupError(f"{line}; with CI=true none of them may be skipped.")
        say(f"{line}; the tests that need them are skipped.")
