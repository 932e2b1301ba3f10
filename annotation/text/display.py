"""Texts for display: languages, numbers, guidelines in Markdown, differences between two texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# Language tags for browsers and screen readers.

# Text direction, by the majority of letters: a greeting in another script does not flip a whole turn.

RIGHT_TO_LEFT = frozenset({"R", "AL"})


def direction(text: str) -> str:
    """Return `ltr` or `rtl`, whichever has more letters; `auto` (the browser's rule) where neither has."""
    if text.isascii():
        return "ltr"
    kinds = [unicodedata.bidirectional(character) for character in text]
    n_rtl, n_ltr = sum(kind in RIGHT_TO_LEFT for kind in kinds), kinds.count("L")
    if n_rtl == n_ltr:
        return "auto"
    return "rtl" if n_rtl > n_ltr else "ltr"


_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}")


def language_tag(language: str) -> str:
    """Return a value for `lang`: the tag (BCP 47), or '' (unknown) where a dialogue's language is none."""
    return language.replace("_", "-") if _TAG.fullmatch(language) else ""


NAMES = {
    "ar": "Arabic",
    "bn": "Bengali",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""Languages displayed by name; all others are displayed by tag."""


def language_name(language: str) -> str:
    """Return the English name of a language by the first part of its tag, or the tag without one here."""
    return NAMES.get(language, f"“{language}”")


# Guidelines are written in Markdown (CommonMark with tables); the resulting HTML is safe in a page.
#
# Markup in the text stays text, images are not loaded, and links lead to web and mail addresses only.

HEADINGS_BELOW = 2
"""A text is below a page's own headings, so its first level is the third."""


class _Renderer(RendererHTML):
    def heading_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].tag = _lower(tokens[index].tag)
        return str(self.renderToken(tokens, index, options, env))

    heading_close = heading_open

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].attrSet("rel", "noopener noreferrer nofollow")
        tokens[index].attrSet("target", "_blank")
        return str(self.renderToken(tokens, index, options, env))


def html_of(text: str) -> str:
    """Convert a text to HTML. Raw HTML in it is escaped; line breaks are kept."""
    return str(_markdown.render(text))


def _lower(tag: str) -> str:
    return f"h{min(6, int(tag[1]) + HEADINGS_BELOW)}"


_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
_markdown.enable("table").disable("image")


# Number formats for people, the same on pages, in reports, in files and in the terminal.

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
SMALL, LEAST_SHOWN = 0.01, 0.000001
"""Amounts of money below SMALL get six decimals; those below LEAST_SHOWN read `less than`."""


def number(value: float | None, digits: int = 2) -> str:
    """Format a number with `digits` decimals and a true minus, never minus zero; a dash for None."""
    if value is None:
        return MISSING
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.lstrip("-")).replace("-", MINUS)


def percent(share: float | None, digits: int = 0) -> str:
    """Format a share from 0 to 1 as a percentage; a dash for None."""
    return MISSING if share is None else f"{number(100 * share, digits)}%"


def p_value(p: float) -> str:
    """Format the p-value of a test with four decimals; one that would read 0.0000 as `<0.0001`."""
    return "<0.0001" if p < 0.00005 else number(p, 4)


def day(value: date) -> str:
    """Format a date, or that of a moment in its own time zone, as pages do."""
    return f"{value.day} {value:%b %Y}"


def moment(value: datetime) -> str:
    """Format a moment as pages do, in its own time zone, which is named only where it is UTC."""
    zone = " UTC" if value.tzname() == "UTC" else ""
    return f"{day(value)}, {value:%H:%M}{zone}"


def many(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 task", "1,200 tasks"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def money(amount: Decimal | float, currency: str) -> str:
    """Format an amount with its currency: zero as 0, small amounts with six decimals, never as if 0."""
    amount = float(amount)
    if not amount:
        return f"0 {currency}"
    if 0 < amount < LEAST_SHOWN:
        return f"less than {LEAST_SHOWN:.6f} {currency}"
    return f"{amount:,.{6 if abs(amount) < SMALL else 4}f} {currency}".replace("-", MINUS)


def duration(seconds: float) -> str:
    """Format a duration in seconds, in minutes from two minutes on, and in hours from two hours on."""
    if seconds < 120:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60):,} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


# Differences between two texts: line by line, and word by word inside changed lines (pure).

Pieces = tuple[tuple[str, bool], ...]
"""A line as pieces of text, each with whether the other version lacks it."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
AROUND = 3
"""Unchanged lines shown around a change."""
ALIKE = 0.3
"""Minimum similarity of two lines for a comparison of their words."""


LONG = 1000
"""Number of lines, or words of a line, from which the comparison is no longer exhaustive."""


@dataclass(frozen=True, slots=True)
class Side:
    """A line of one version, with its number from 1."""

    number: int
    pieces: Pieces

    @property
    def text(self) -> str:
        """Text of the line."""
        return "".join(piece for piece, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class Row:
    """Two lines side by side, one of them None where the other was added or removed.

    A row of neither represents `skipped` unchanged lines.
    """

    left: Side | None = None
    right: Side | None = None
    skipped: int = 0

    @property
    def same(self) -> bool:
        """Whether both lines are equal."""
        return bool(self.left and self.right and self.left.text == self.right.text)

    def as_json(self) -> dict[str, Any]:
        """Return JSON data: `op` is same, skipped, removed, added or changed."""
        if self.skipped:
            return {"op": "skipped", "lines": self.skipped}
        op = "same" if self.same else "changed" if self.left and self.right else ""
        op = op or ("removed" if self.left else "added")
        sides = {"left": self.left, "right": self.right}
        contents = {name: {"line": side.number, "text": side.text} for name, side in sides.items() if side}
        return {"op": op, **contents}


def difference_rows(first: str, second: str) -> tuple[Row, ...]:
    """Compare two texts line by line; long unchanged stretches are left out and counted."""
    old_lines, new_lines = first.split("\n"), second.split("\n")
    rows: list[Row] = []
    matcher = _matcher(old_lines, new_lines)
    for tag, i, j, k, l in matcher.get_opcodes():  # noqa: E741
        if tag == "equal":
            pairs = zip(range(i, j), range(k, l), strict=True)
            rows += [Row(_line_side(a, old_lines[a]), _line_side(b, new_lines[b])) for a, b in pairs]
        else:
            rows += _changed(old_lines, range(i, j), new_lines, range(k, l))
    return tuple(_folded(rows))


def _matcher(first: Sequence[str], second: Sequence[str]) -> SequenceMatcher[str]:
    """Return the matcher; in long texts it ignores frequent lines, or it would take minutes."""
    return SequenceMatcher(None, first, second, autojunk=max(len(first), len(second)) > LONG)


def _line_side(index: int, line: str, *, changed: bool = False) -> Side:
    return Side(index + 1, ((line, changed),))


def _changed(old_lines: Sequence[str], old: range, new_lines: Sequence[str], new: range) -> Iterator[Row]:
    """Yield changed lines side by side, in order."""
    for a, b in zip_longest(old, new):
        if a is None or b is None:
            yield Row(
                _line_side(a, old_lines[a], changed=True) if a is not None else None,
                _line_side(b, new_lines[b], changed=True) if b is not None else None,
            )
            continue
        pieces = different_words(old_lines[a], new_lines[b])
        if pieces is None:
            yield Row(_line_side(a, old_lines[a], changed=True), _line_side(b, new_lines[b], changed=True))
        else:
            yield Row(Side(a + 1, pieces[0]), Side(b + 1, pieces[1]))


def different_words(first: str, second: str) -> tuple[Pieces, Pieces] | None:
    """Return two lines in pieces, with differences marked; None where they have too little in common."""
    old_words, new_words = _WORD.findall(first), _WORD.findall(second)
    matcher = _matcher(old_words, new_words)
    if matcher.ratio() < ALIKE:
        return None
    sides: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, i, j, k, l in matcher.get_opcodes():  # noqa: E741
        for side, piece in zip(sides, ("".join(old_words[i:j]), "".join(new_words[k:l])), strict=True):
            if piece:
                side.append((piece, tag != "equal"))
    return tuple(sides[0]), tuple(sides[1])


def _folded(rows: Sequence[Row]) -> Iterator[Row]:
    near = {
        place
        for index, row in enumerate(rows)
        if not row.same
        for place in range(index - AROUND, index + AROUND + 1)
    }
    skipped = 0
    for index, row in enumerate(rows):
        if index not in near:
            skipped += 1
            continue
        if skipped:
            yield Row(skipped=skipped)
            skipped = 0
        yield row
    if skipped:
        yield Row(skipped=skipped)
