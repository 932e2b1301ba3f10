"""Places, and how set-up speaks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
VENV = PROJECT / ".venv"
PYTHON = VENV / "bin" / "python"


FORBIDDEN = "PYTHONDONTWRITEBYTECODE"
ELSEWHERE = "PYTHONPYCACHEPREFIX"


class SetupError(Exception):
    """Set-up cannot go on. The message is one line that says what to do."""


def say(line: str) -> None:
    """Show one line at once."""
    print(line, flush=True)


def keep_bytecode() -> None:
    """Where no bytecode may lie beside the sources, keep it in `.venv`, for this process and those it starts.

    The packages are installed without any: a program that kept none would compile all of them at every
    start, which takes many times as long as the rest of it.
    """
    if ELSEWHERE not in os.environ and os.environ.pop(FORBIDDEN, ""):
        os.environ[ELSEWHERE] = sys.pycache_prefix = str(VENV / "bytecode")
        sys.dont_write_bytecode = False
