"""The script of a scene of LongDialQA, line by line, and its date as it is written there."""

from __future__ import annotations

import re

from annotation.formats.problems import ImportProblem
from annotation.records import Turn
from annotation.scripts.records import Date

WRITERS = ("Teleplay: ", "Story: ")
"""Lines with these are about who wrote the episode, and nobody says them."""
NAME = 60
"""What stands before the first colon of a line is a speaker if it has so many characters at most."""
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
FORM = "write September 22, 1994, or 1994-09-22; the day, or day and month, may be left out"
WORDS = re.compile(r"(?:(?P<month>[a-z]{3,9})\.?\s+)?(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+)?(?P<year>\d{4})")
DAY_FIRST = re.compile(r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\s+(?P<month>[a-z]{3,9})\.?\s+(?P<year>\d{4})")


class Script:
    """The turns of a scene, and how many lines were left out. Raises ImportProblem."""

    def __init__(self, text: str, path: str, session: str) -> None:
        self.turns: list[Turn] = []
        self.left_out = 0
        for number, line in enumerate(text.split("\n"), start=1):
            if not (line := line.strip()):
                continue
            if any(sign in line for sign in WRITERS):
                self.left_out += 1
                continue
            self._take(line, f"{path}, its line {number}", session)

    def _take(self, line: str, path: str, session: str) -> None:
        """Take a line as a turn; one without a speaker goes on with what the one before says."""
        speaker, colon, text = line.partition(":")
        speaker = speaker.strip()
        if colon and 0 < len(speaker) <= NAME:
            self.turns.append(Turn(speaker, text.strip(), session=session))
        elif self.turns:
            last = self.turns[-1]
            self.turns[-1] = Turn(last.speaker, f"{last.text}\n{line}".strip(), session=session)
        else:
            raise ImportProblem("nobody says it: the first line of a scene is “Name: text”", field=path)


def read_date(text: str) -> Date:
    """Return the date that `September 22, 1994`, `22 September 1994` or `1994-09-22` writes.

    The day, or day and month, may be left out. Raises ValueError where it is no date.
    """
    plain = " ".join(text.replace(",", " ").split()).lower()
    match = WORDS.fullmatch(plain) or DAY_FIRST.fullmatch(plain)
    if match is None:
        try:
            return Date.read(text)
        except ValueError as error:
            raise ValueError(f"{error} ({FORM})") from None
    month = None
    if match["month"] is not None:
        month = _month(match["month"], text)
    elif match["day"] is not None:
        raise ValueError(f"{text[:40]!r} is not a date: {FORM}")
    return Date(int(match["year"]), month, int(match["day"]) if match["day"] else None)


def _month(name: str, text: str) -> int:
    for number, month in enumerate(MONTHS, start=1):
        if month.startswith(name):
            return number
    raise ValueError(f"{text[:40]!r} is not a date: {FORM}")
