"""The little language in which the demo dialogues are written: `speaker: text  [tag, tag]`, a turn a line.

The tags in brackets at a line's end are what the authors planted: behaviours of a meeting's turn, or the
quality of a reply as a number from 1 to 5. They never become part of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE = re.compile(r"^(?P<speaker>[^:\s]+): (?P<text>.+?)(?:  \[(?P<tags>[^\[\]]*)\])?$")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as written, with its planted tags."""

    speaker: str
    text: str
    tags: tuple[str, ...] = ()


def parse(script: str) -> list[Line]:
    """Return the lines of a script; raise ValueError naming the first line that is not one."""
    return [_line(number, text) for number, text in enumerate(script.splitlines(), 1) if text.strip()]


def _line(number: int, text: str) -> Line:
    found = LINE.match(text.strip())
    if found is None:
        raise ValueError(f"line {number} is not 'speaker: text  [tags]': {text!r}")
    tags = tuple(tag.strip() for tag in (found["tags"] or "").split(",") if tag.strip())
    return Line(found["speaker"], found["text"], tags)
