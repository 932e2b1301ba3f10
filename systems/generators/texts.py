"""The prompts of generators: files `systems/prompts/<name>_v<version>.txt`, written as those of judges are.

The system and the user part are separated by a line `=== user ===`; `{{name}}` stands for what is filled in.
A released file is never edited: a change is a new version, because continuations refer to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jobs.prompt import Prompt

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
SEPARATOR = "\n=== user ===\n"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def released(name: str, version: int) -> tuple[str, str]:
    """Return the system and the user part of a text that comes with Concord; the first may be empty."""
    text = (FOLDER / f"{name}_v{version}.txt").read_text(encoding="utf-8")
    system, user = ("\n" + text).split(SEPARATOR)
    return system.strip(), user.strip()


def filled(
    name: str, version: int, values: Mapping[str, str], schema: Mapping[str, Any] | None = None
) -> Prompt:
    """Return a prompt with its places filled, in one pass: what is filled in is never read for places.

    KeyError for a place without a value.
    """
    system, user = (_PLACE.sub(lambda place: values[place[1]], part) for part in released(name, version))
    return Prompt(system, user, schema)
