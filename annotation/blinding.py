"""Keeping from raters which system they rate.

Screens never carry systems, continuation ids or conditions. A system's name can still turn up in what
surrounds the turns (a speaker called like the system, a metadata entry) or in its own words ("I am X-4");
it is replaced there too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from annotation.records import HUMAN

HIDDEN = "[name hidden]"
TELLTALE_KEYS = frozenset({"system", "systems", "model", "models", "condition", "generator", "engine"})


class Blind:
    """Hides one system's name.

    In names and metadata every mention goes, in any case. In the turns' own text only a distinctive name
    goes, as written and as a whole word: at least four characters with a capital, a digit or a joining
    mark, so that a system called `baseline` costs no dialogue the word.
    """

    def __init__(self, system: str) -> None:
        self._anywhere = self._in_text = None
        if system.casefold() != HUMAN and system.strip():
            word = rf"(?<!\w){re.escape(system)}(?!\w)"
            self._anywhere = re.compile(word, re.IGNORECASE)
            if len(system) >= 4 and re.search(r"[^a-z\s]", system):
                self._in_text = re.compile(word)

    def about(self, text: str) -> str:
        """Return text from around the turns (a profile, a summary) without the name."""
        return self._anywhere.sub(HIDDEN, text) if self._anywhere else text

    def spoken(self, text: str) -> str:
        """Return a turn's text without a distinctive name."""
        return self._in_text.sub(HIDDEN, text) if self._in_text else text

    def names(self, text: str) -> bool:
        """Whether text from around the turns mentions the system."""
        return bool(self._anywhere and self._anywhere.search(text))

    def metadata(self, metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the metadata that may be shown, as (name, value) texts."""
        return tuple(
            (self.about(str(key)).replace("_", " "), self.about(_text(value)))
            for key, value in metadata.items()
            if str(key).casefold() not in TELLTALE_KEYS and value not in (None, "", [], {})
        )


@lru_cache(maxsize=1024)
def blind(system: str) -> Blind:
    """Return the blind for a system, kept for the next task of the same system."""
    return Blind(system)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_text(part) for part in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(part)}" for key, part in value.items())
    return str(value)
