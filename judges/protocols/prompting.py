"""The texts that come with Concord: files `judges/prompts/<name>_v<version>.txt`.

The system and the user part are separated by a line `=== user ===`. A released file is never edited: a change
is a new version, because labels refer to it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from judges.protocols.wording import Wording

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
SEPARATOR = "\n=== user ===\n"


@cache
def released(name: str, version: int) -> Wording:
    """Return a text that comes with Concord."""
    text = (FOLDER / f"{name}_v{version}.txt").read_text(encoding="utf-8")
    system, user = text.split(SEPARATOR)
    return Wording(system.strip(), user.strip())
