"""Places, and how set-up speaks."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
VENV = PROJECT / ".venv"
PYTHON = VENV / "bin" / "python"


class SetupError(Exception):
    """Set-up cannot go on. The message is one line that says what to do."""


def say(line: str) -> None:
    """Show one line at once."""
    print(line, flush=True)
