"""What is wrong with a scheme: where, in one sentence that says what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
LONGEST_SHOWN = 60
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """A field that is at fault, and why.

    `path` leads to it, as in ("questions", 1, "values") for the values of the second question; `place` says
    the same in words, with the line of the file where there is one.
    """

    path: Path
    sentence: str
    place: str = ""

    @property
    def field(self) -> str:
        """The path with dots, as forms name their fields: questions.1.values."""
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}" if self.place else self.sentence


def named(value: Any) -> str:
    """Return a value as a sentence shows it: quoted, and cut where it is long."""
    text = str(value).replace("\n", " ")
    return f"“{text if len(text) <= LONGEST_SHOWN else f'{text[:LONGEST_SHOWN]}…'}”"


def place(path: Path, key: str = "", line: int | None = None) -> str:
    """Return a path in words: `line 4, question 2 (fluent), values`; `key` is the question's."""
    parts = [f"line {line}"] if line else []
    rest = list(path)
    if rest[:1] == ["questions"] and len(rest) > 1:
        parts.append(f"question {int(rest[1]) + 1}{f' ({named(key)[1:-1]})' if key else ''}")
        rest = rest[2:]
    if rest:
        parts.append(".".join(map(str, rest)))
    return ", ".join(parts)


def text_problem(text: str, longest: int, lines: bool = True) -> str:
    """Return why a text cannot be stored or shown, '' where it can."""
    if _UNSTORABLE.search(text):
        return "It has a character that cannot be stored (NUL or half a surrogate pair): take it out."
    if not lines and ("\n" in text or "\r" in text):
        return "It must be one line."
    if len(text) > longest:
        return f"It has {len(text):,} characters; at most {longest:,} are taken."
    return ""
