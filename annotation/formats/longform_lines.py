"""The lines of a long dialogue in plain text: headings of sessions, what somebody says, and directions.

`docs/scripts.md` describes the form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.formats.fields import NAME_LIMIT
from annotation.formats.problems import ImportProblem
from annotation.scripts.records import Date, Session

HEADING = re.compile(r"={2,}(?P<parts>[^=].*?)={2,}")
BEGINS = re.compile(r"={2,}")
BAR = re.compile(r"\s*[|｜]\s*")
PART = re.compile(r"(?P<name>place|episode|scene|season|present)\s*[:：]\s*(?P<value>.*)", re.IGNORECASE)
SAID = re.compile(r"(?P<name>[^:：]*)[:：](?P<text>.*)", re.DOTALL)
CLOCK = re.compile(r"\d[:：]\d")
DIRECTION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）|【[^【】]*】")
SPACE = re.compile(r"\s+")
BEFORE_SIGN = re.compile(r"\s+([,.;:!?…，。；：！？])")
LISTED = re.compile(r"\s*[,;、，；]\s*")
NAME = 60
"""The characters that the name of a speaker may have."""
FORM = "a session begins with a line such as “== s01 | 1994-09-22 | kitchen ==”"
NEITHER = "is neither a heading of a session, nor “Name: text”, nor a direction in brackets"


@dataclass(frozen=True, slots=True)
class Said:
    """What a line has somebody say: the speaker, the text without directions, and these in their order.

    `marked` is the text with its directions, each in its place.
    """

    speaker: str
    text: str
    marked: str
    directions: tuple[str, ...]


def is_heading(line: str) -> bool:
    """Whether a line means to be the heading of a session."""
    return BEGINS.match(line) is not None


def read_heading(line: str) -> Session:
    """Return the session that `== id | date | place | episode: ... ==` begins; raise ImportProblem."""
    match = HEADING.fullmatch(line)
    if match is None:
        raise ImportProblem(f"the heading does not end with ==: {FORM}")
    key, *rest = BAR.split(match["parts"].strip())
    if not key or len(key) > NAME_LIMIT:
        raise ImportProblem(f"the id of a session has 1 to {NAME_LIMIT} characters: {FORM}")
    if not rest or not rest[0]:
        raise ImportProblem(f"the session {key!r} has no date: {FORM}")
    try:
        date = Date.read(rest[0])
    except ValueError as error:
        raise ImportProblem(f"the session {key!r} has no date: {error}") from None
    parts = _parts(key, rest[1:])
    present = parts.pop("present", "")
    listed = dict.fromkeys(name for name in LISTED.split(present) if name)
    return Session(id=key, date=date, present=tuple(listed), **parts)


def _parts(key: str, rest: list[str]) -> dict[str, str]:
    """Return what the further parts of a heading say, by name; the one without a name is the place."""
    told: dict[str, str] = {}
    for part in filter(None, rest):
        named = PART.fullmatch(part)
        name, value = (named["name"].lower(), named["value"].strip()) if named else ("place", part)
        if name in told:
            raise ImportProblem(
                f"the session {key!r} has {name} twice: after id, date and place, parts are named "
                "episode: ..., scene: ..., season: ... or present: Ana, Ben"
            )
        if name != "present" and len(value) > NAME_LIMIT:
            raise ImportProblem(f"{name} is longer than {NAME_LIMIT} characters")
        told[name] = value
    return told


def is_direction(line: str) -> bool:
    """Whether a line is a direction in brackets and nothing else."""
    return not bare(line)


def bare(text: str) -> str:
    """Return a text without its directions in brackets, also those within others."""
    before = ""
    while before != text:
        before, text = text, DIRECTION.sub(" ", text)
    return BEFORE_SIGN.sub(r"\1", SPACE.sub(" ", text)).strip()


def directions(text: str) -> tuple[str, ...]:
    """Return the outermost directions of a text, with their brackets, in order."""
    places: list[tuple[int, int]] = []
    hidden, before = text, ""
    while before != hidden:
        before = hidden
        places.extend(match.span() for match in DIRECTION.finditer(hidden))
        hidden = DIRECTION.sub(lambda match: " " * len(match[0]), hidden)
    outer = [one for one in places if not any(a < one[0] and one[1] < b for a, b in places)]
    return tuple(text[first:last] for first, last in sorted(outer))


def read_line(line: str) -> Said:
    """Return what `Name: text` has somebody say; raise ImportProblem for any other line.

    Brackets about the name, as in `Ben (laughs): Again?`, are directions too.
    """
    head = _name(line)
    if head is None:
        raise ImportProblem(NEITHER)
    name, text = line[: head - 1], line[head:]
    speaker, before = bare(name), directions(name)
    if not speaker or len(speaker) > NAME or not any(letter.isalnum() for letter in speaker):
        raise ImportProblem(f"{NEITHER}: a name has 1 to {NAME} characters")
    marked = SPACE.sub(" ", " ".join([*before, text.strip()])).strip()
    return Said(speaker, bare(text), marked, (*before, *directions(text)))


def _name(line: str) -> int | None:
    """Return where the text after the name begins: behind the first colon that no bracket holds."""
    hidden, before = line, ""
    while before != hidden:
        before, hidden = hidden, DIRECTION.sub(lambda match: "_" * len(match[0]), hidden)
    match = SAID.fullmatch(hidden)
    if match is None:
        return None
    colon = match.end("name")
    return None if CLOCK.match(hidden, max(colon - 1, 0)) else colon + 1
