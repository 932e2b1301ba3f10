"""Layout of charts with a row per figure: wrapped labels, row heights, and the place of every text.

All lengths are pixels of the drawing. Text is wrapped, never cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

TOTAL = 760
"""Width of a drawing, the same for all charts, so that a page shows their texts in one size."""
LABEL_SIZE, NOTE_SIZE = 12.5, 11.0
LINE = 15
"""Distance between two lines of a wrapped label."""
ROW = 24
"""Least height of a row."""
LEAST_LABELS, MOST_LABELS = 90, 250
"""Bounds of the width of the column of labels, which is as wide as its longest line otherwise."""
GAP, MARGIN = 12, 4
"""Distances between a label and the plot, and of all texts from the edge of the drawing."""
VALUES, COUNTS = 48, 52
"""Room at the right of the plot: for a value beyond its end, and for the column of item counts."""

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_CLOSING = "、。，．：；？！）】」』》〉”’…"
_WORD = re.compile(rf"[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+\s*|\s+")
_JOINTED = re.compile(r"[^/_@|-]*[/_@|-]+|[^/_@|-]+")
_WIDTHS = {
    **dict.fromkeys("ijl|'’", 0.32),
    **dict.fromkeys("tfrI.,:;!()[]/- ", 0.42),
    **dict.fromkeys("mMwW@%—", 1.0),
}
"""Widths of letters that differ much from others, in em: those of DejaVu Sans, a wide typeface."""


def text_width(text: str, size: float = LABEL_SIZE) -> float:
    """Estimate the width of a text in a wide typeface, because that of the reader is not known."""
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return _WIDTHS.get(character, 0.75 if character.isupper() else 0.64)


def wrap(text: str, width: float, size: float = LABEL_SIZE) -> list[str]:
    """Break a text into lines of at most `width`: at spaces and joints of names, else inside a word."""
    lines, line = [], ""
    for piece in _pieces(" ".join(text.split()), width, size):
        if line and text_width((line + piece).rstrip(), size) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def wrapped(text: str, width: float, size: float = LABEL_SIZE) -> str:
    """Return a text with line breaks, for the labels of `charts.names_axis`."""
    return "\n".join(wrap(text, width, size))


def _pieces(text: str, width: float, size: float) -> Iterator[str]:
    """Yield words, and of a word wider than a line its parts between joints, or its characters."""
    for word in _WORD.findall(text):
        if text_width(word.rstrip(), size) <= width:
            yield word
            continue
        for part in _JOINTED.findall(word):
            yield from [part] if text_width(part.rstrip(), size) <= width else part


@dataclass(slots=True)
class Rows:
    """Places of everything in a chart of rows; `y` counts from the top, `x` from the plot's left edge.

    `labels` and `plot` are the widths of the column of labels and of the plot. `points` are the points in
    reading order, each with the `y` of its row's middle. A text is {x, y, text}; one of the `key` of series
    has the `mark` of its series beside it, -1 for none.
    """

    labels: float
    plot: float
    height: float = 0.0
    points: list[dict[str, Any]] = field(default_factory=list)
    headings: list[dict[str, Any]] = field(default_factory=list)
    names: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[dict[str, Any]] = field(default_factory=list)
    key: list[dict[str, Any]] = field(default_factory=list)
    counts: list[dict[str, Any]] = field(default_factory=list)


def place_rows(points: Sequence[dict[str, Any]], title: str, unnamed: Collection[str] = ()) -> Rows:
    """Place the rows of points: one per question, or one per series under the heading of its question.

    Rows of questions have a key of their series above them, except for a single series that the chart's
    `title` names or that is among the `unnamed`. The heading of a single question is left out if the title
    has it.
    """
    questions = list(dict.fromkeys(point["question"] for point in points))
    series = list(dict.fromkeys(point["series"] for point in points))
    is_flat = len(questions) == len(points) and not (len(points) == 1 and questions[0] in title)
    label_field = "question" if is_flat else "series"
    has_counts = len({point["n_items"] for point in points if point["value"] is not None}) > 1
    longest = max((text_width(point[label_field]) for point in points), default=0.0)
    labels = min(max(longest, LEAST_LABELS), MOST_LABELS)
    rows = Rows(labels, TOTAL - 2 * MARGIN - labels - GAP - VALUES - (COUNTS if has_counts else 0))
    if is_flat and (len(series) > 1 or not all(name in title or name in unnamed for name in series)):
        rows.key, rows.height = place_key(series, -labels - GAP)
    if has_counts:
        rows.counts.append(_text(rows.plot + VALUES + COUNTS, rows.height + 8, "items"))
        rows.height += 14
    for question in questions:
        if not is_flat and (len(questions) > 1 or question not in title):
            _place_heading(rows, question)
        for point in points:
            if point["question"] == question:
                _place_row(rows, point, point[label_field], has_counts=has_counts)
    return rows


def place_key(series: Sequence[str], left: float) -> tuple[list[dict[str, Any]], float]:
    """Place one mark and name per series, side by side as far as they fit; return them and their height."""
    entries: list[dict[str, Any]] = []
    x, y = left, 8.0
    for number, name in enumerate(series):
        lines = wrap(name, TOTAL - 20)
        width = 18 + max(map(text_width, lines))
        if x > left and x + width > left + TOTAL:
            x, y = left, y + LINE + 4
        for place, line in enumerate(lines):
            entries.append(_text(x + 14, y + place * LINE, line) | {"mark": -1 if place else number})
        y += LINE * (len(lines) - 1)
        x += width + 14
    return entries, y + LINE


def _place_heading(rows: Rows, question: str) -> None:
    rows.height += 6 if rows.points else 0
    for line in wrap(question, TOTAL - 20, LABEL_SIZE * 1.08):
        rows.headings.append(_text(-rows.labels - GAP, rows.height + 10, line))
        rows.height += LINE + 1
    rows.height += 3


def _place_row(rows: Rows, point: dict[str, Any], name: str, *, has_counts: bool) -> None:
    lines = wrap(name, rows.labels)
    reasons = [] if point["value"] is not None else wrap(point["reason"], rows.plot - 8, NOTE_SIZE)
    height = max(ROW, max(len(lines), len(reasons)) * LINE + 8)
    middle = rows.height + height / 2
    rows.points.append(point | {"y": middle})
    rows.names += _centred(-GAP, middle, lines)
    rows.reasons += _centred(4, middle, reasons)
    if has_counts and point["value"] is not None:
        rows.counts.append(_text(rows.plot + VALUES + COUNTS, middle, f"{point['n_items']:,}"))
    rows.height += height


def _centred(x: float, middle: float, lines: Sequence[str]) -> list[dict[str, Any]]:
    first = middle - (len(lines) - 1) / 2 * LINE
    return [_text(x, first + place * LINE, line) for place, line in enumerate(lines)]


def _text(x: float, y: float, text: str) -> dict[str, Any]:
    return {"x": x, "y": y, "text": text}
