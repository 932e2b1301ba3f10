"""Tables for the terminal: columns aligned, and nothing in them that a terminal would act on."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

GAP = "  "


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of one length as lines: the first column at its left, the others at their right."""
    shown = [[printable(text) for text in row] for row in rows]
    widths = [max(_width(row[at]) for row in shown) for at in range(len(shown[0]))]
    lines = []
    for row in shown:
        gaps = [" " * (width - _width(text)) for text, width in zip(row, widths, strict=True)]
        rest = [gap + text for gap, text in zip(gaps[1:], row[1:], strict=True)]
        lines.append(GAP.join([row[0] + gaps[0], *rest]).rstrip())
    return lines


def _width(text: str) -> int:
    """Return how many places a text takes: a wide character, such as a Chinese one, takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def printable(text: str) -> str:
    """Return text without characters that a terminal would act on."""
    return "".join(character if character.isprintable() else " " for character in text)
