"""Prompt texts: files `judges/prompts/<name>_v<version>.txt` with a system and a user part.

The parts are separated by a line `=== user ===`; `$words` are filled in. A released file is never edited: a
change is a new version, because labels refer to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from jobs.prompt import Prompt

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
_SEPARATOR = "\n=== user ===\n"


@cache
def template(name: str, version: int) -> tuple[Template, Template]:
    """Return the system and the user template of a prompt."""
    text = (FOLDER / f"{name}_v{version}.txt").read_text(encoding="utf-8")
    system, user = text.split(_SEPARATOR)
    return Template(system.strip()), Template(user.strip())


def render(
    name: str, version: int, values: Mapping[str, str], schema: Mapping[str, Any] | None = None
) -> Prompt:
    """Return the prompt with its words filled in; raise KeyError for a word without a value.

    Values are put in once and not read again, so a `$word` inside a transcript stays as it is.
    """
    system, user = template(name, version)
    return Prompt(system.substitute(values), user.substitute(values), schema)
