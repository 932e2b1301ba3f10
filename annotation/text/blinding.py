"""Keeping from raters which system they rate.

The names of all systems of a corpus are hidden, not only that of the system in view: whoever reads all names
but one knows the one. Screens and prompts never carry systems, continuation ids or conditions; a name that
turns up in what surrounds the turns, or as a distinctive word in what was said, is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from annotation.records import HUMAN

HIDDEN = "[name hidden]"
WITHHELD = "[hidden]"
TELLTALE_KEYS = frozenset(
    [
        "agent",
        "bot",
        "condition",
        "engine",
        "generator",
        "model",
        "model name",
        "models",
        "prompting",
        "source model",
        "system",
        "system name",
        "systems",
    ]
)
SHORTEST = 3
_JOINTS = re.compile(r"[-_\s\u2010-\u2015]+")
_JOINT = r"[-_\s\u2010-\u2015]*"


class Blind:
    """Hides the names of systems.

    In names, profiles, summaries and metadata every mention goes, in any case, with any hyphens or spaces. In
    the turns' own text only a distinctive name goes, in its own case and as a whole word: at least four
    characters with a capital, a digit or a joining mark, so that a system called `baseline` costs no dialogue
    the word. A name of one or two characters goes only where it is all there is.
    """

    def __init__(self, *systems: str) -> None:
        names = {name.strip() for name in systems if name.strip() and name.strip().casefold() != HUMAN}
        long = [name for name in names if len(name) >= SHORTEST]
        distinctive = [name for name in long if len(name) >= 4 and re.search(r"[^a-z\s]", name)]
        self._alone = frozenset(_folded(name) for name in names)
        self._anywhere = _Names(long, re.IGNORECASE)
        self._in_text = _Names(distinctive)

    def about(self, text: str) -> str:
        """Return text from around the turns (a profile, a summary) without the names."""
        return HIDDEN if self._is_alone(text) else self._anywhere.hidden(text)

    def spoken(self, text: str) -> str:
        """Return a turn's text without distinctive names."""
        return self._in_text.hidden(text)

    def names(self, text: str) -> bool:
        """Whether text from around the turns mentions a system."""
        return self._is_alone(text) or self._anywhere.hidden(text) != text

    def _is_alone(self, text: str) -> bool:
        return bool(self._alone) and _folded(text) in self._alone


class _Names:
    """A pattern for many names, tried only on texts that hold the beginning of one."""

    def __init__(self, names: Iterable[str], flags: int = 0) -> None:
        parts = {name: [part for part in _JOINTS.split(name) if part] or [name] for name in names}
        self._beginnings = tuple({split[0].casefold() for split in parts.values()})
        forms = [
            _JOINT.join(re.escape(part) for part in parts[name])
            for name in sorted(parts, key=lambda name: (-len(name), name))
        ]
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", flags)

    def hidden(self, text: str) -> str:
        folded = text.casefold()
        if any(beginning in folded for beginning in self._beginnings):
            return self._pattern.sub(HIDDEN, text)
        return text


@lru_cache(maxsize=64)
def blind(systems: tuple[str, ...]) -> Blind:
    """Return the blind for a corpus's systems, kept for its next task or call."""
    return Blind(*systems)


def is_telltale(key: str) -> bool:
    """Whether an entry of this name would say which system spoke."""
    return _folded(key) in TELLTALE_KEYS


def _folded(text: str) -> str:
    return _JOINTS.sub(" ", text.strip()).casefold()
