"""A text as raters see it, with where each of its characters stands in the text that is stored.

Evidence is pointed at in what is shown and kept by places in what is stored, so that it stays true whatever
is hidden from whom. Places count Unicode code points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from annotation.text.blinding import HIDDEN, Blind
from annotation.text.cleaning import STEPS


class Traced(NamedTuple):
    """A shown text; the n-th of its characters stands for the stored ones from `starts[n]` to `ends[n]`."""

    text: str
    starts: list[int]
    ends: list[int]

    def replaced(self, spans: Iterable[tuple[int, int, str]]) -> Traced:
        """Return it with other texts in place of spans; each character of those stands for the whole span."""
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = 0
        for start, stop, written in spans:
            text += [self.text[last:start], written]
            starts += self.starts[last:start] + [self.starts[start]] * len(written)
            ends += self.ends[last:start] + [self.ends[stop - 1]] * len(written)
            last = stop
        if not last:
            return self
        return Traced(
            "".join([*text, self.text[last:]]), starts + self.starts[last:], ends + self.ends[last:]
        )

    def stored(self, start: int, end: int) -> tuple[int, int]:
        """Return the stored place of what is shown from `start` to `end` (not empty, within the text)."""
        return self.starts[start], self.ends[end - 1]

    def shown(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the shown place of what is stored from `start` to `end`, None where nothing of it shows."""
        inside = [
            n
            for n, (low, high) in enumerate(zip(self.starts, self.ends, strict=True))
            if low < end and high > start
        ]
        return (inside[0], inside[-1] + 1) if inside else None


def untouched(text: str) -> Traced:
    """Return a text that is shown as it is stored."""
    return Traced(text, list(range(len(text))), list(range(1, len(text) + 1)))


def spoken(text: str, hide: Blind) -> Traced:
    """Return what a turn says as raters see it (`View.spoken`), traced to what is stored."""
    traced = untouched(text)
    for pattern, written in STEPS:
        traced = traced.replaced(_matches(pattern, written, traced.text))
    for spans in hide.said:
        traced = traced.replaced([(start, stop, HIDDEN) for start, stop in spans(traced.text)])
    return traced


def _matches(
    pattern: re.Pattern[str], written: str | Callable[[re.Match[str]], str], text: str
) -> list[tuple[int, int, str]]:
    return [
        (*match.span(), written if isinstance(written, str) else written(match))
        for match in pattern.finditer(text)
    ]
