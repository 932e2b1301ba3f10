"""Dates as they are spoken: `on May 3rd, 1995`, `in May 1995`, `in 1995`."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from typing import Literal

from annotation.scripts.records import Date

Order = Literal["before", "same", "after", "overlap"]
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def spoken(date: Date) -> str:
    """Return a date in words: `May 3rd, 1995`, `May 1995` or `1995`, as exact as it is."""
    if date.month is None:
        return str(date.year)
    month = calendar.month_name[date.month]
    return f"{month} {date.year}" if date.day is None else f"{month} {ordinal(date.day)}, {date.year}"


def when(date: Date) -> str:
    """Return a date as an adverb: `on` a day, `in` a month or a year."""
    return f"{'in' if date.day is None else 'on'} {spoken(date)}"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, ..., 11th, ..., 21st for a number from 0."""
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"


def most_recent(dates: Iterable[Date]) -> Date:
    """Return the date whose last day is latest, the most exact of several. Raise ValueError without any."""
    return max(dates, key=lambda date: (date.last, date.first))


class Calendar:
    """The dates of sessions numbered from 1, compared by number."""

    def __init__(self, dates: Sequence[Date]) -> None:
        self.dates = (None, *dates)
        self._first = (0, *(date.first.toordinal() for date in dates))
        self._last = (0, *(date.last.toordinal() for date in dates))

    def order(self, number: int, other: int) -> Order:
        """Say how a session's date lies to another's: `same` has the same precision too."""
        if self._last[number] < self._first[other]:
            return "before"
        if self._last[other] < self._first[number]:
            return "after"
        return "same" if self.dates[number] == self.dates[other] else "overlap"
