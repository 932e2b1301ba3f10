"""Harmless rewordings of a text, by rule: the same questions in other words.

Variables stay untouched, and so do lines with the reply form (`fluency - x`). Each rewording lists the lines
that it changed.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judges.protocols.wording import Wording

BULLET = re.compile(r"^(\s*)[-*] ")
FORM = re.compile(r"^\s*\S+ - x\s*$|^\s*[{}\[\]\"]|:\s*(x|\.\.\.)\s*$")
"""A line with the reply form."""
WORDS: tuple[tuple[str, str], ...] = (
    ("Here is ", "Below is "),
    ("You see ", "You are shown "),
    ("Look for ", "Search for "),
    ("Answer with ", "Reply with "),
    ("Answer in ", "Reply in "),
    ("For each ", "For every "),
    ("Work in these steps", "Proceed in these steps"),
    ("Give the ", "Assign the "),
    ("You rate ", "You assess "),
    ("briefly", "in brief"),
    ("and with nothing else", "and nothing besides"),
    ("a whole number", "an integer"),
)
"""Framing phrases of a task, each with an equivalent."""
MOST_REWORDINGS = 3


@dataclass(frozen=True)
class Reworded:
    """A changed text: a description of the change, and the changed lines with their replacements."""

    key: str
    title: str
    wording: Wording
    lines: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the change as stored with a draft."""
        return {"title": self.title, "lines": [list(pair) for pair in self.lines]}


def rewordings(wording: Wording) -> list[Reworded]:
    """Return up to three rewordings of a text, deterministically; fewer if the rules find less to change."""
    candidates = (_reworded(key, title, change, wording) for key, (title, change) in CHANGES.items())
    return [candidate for candidate in candidates if candidate is not None][:MOST_REWORDINGS]


def reordered(wording: Wording, seed: int = 0) -> list[Reworded]:
    """Return a text with its worked examples reversed, and shuffled; none below two examples."""
    examples = list(wording.examples)
    if len(examples) < 2:
        return []
    shuffled = examples.copy()
    random.Random(seed).shuffle(shuffled)
    orders = {"reversed": ("Examples in reverse order", examples[::-1])}
    if shuffled not in (examples, examples[::-1]):
        orders["shuffled"] = ("Examples shuffled", shuffled)
    return [
        Reworded(key, title, replace(wording, examples=tuple(order)), _moved(examples, order))
        for key, (title, order) in orders.items()
    ]


def _moved(before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"example {place + 1}", f"is now example {after.index(example) + 1}")
        for place, example in enumerate(before)
    )


def _reworded(key: str, title: str, change: Callable[[str], str], wording: Wording) -> Reworded | None:
    changed = replace(wording, system=change(wording.system), user=change(wording.user))
    if changed == wording:
        return None
    pairs = [*_pairs(wording.system, changed.system), *_pairs(wording.user, changed.user)]
    return Reworded(key, title, changed, tuple(pairs))


def _pairs(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that differ, each with its replacement."""
    old_lines, new_lines = before.split("\n"), after.split("\n")
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield "\n".join(old_lines[a:b]), "\n".join(new_lines[c:d])


def _layout(text: str) -> str:
    """Indent lists, mark their items with asterisks, and add one blank line between paragraphs."""
    if not text.strip():
        return text
    lines = (BULLET.sub(r"\1  * ", line) for line in text.split("\n"))
    return "\n".join(line if line.strip() else "\n" for line in lines)


def _words(text: str) -> str:
    """Replace framing sentences by equivalents."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not FORM.search(line):
            for phrase, replacement in WORDS:
                line = line.replace(phrase, replacement)
            lines[place] = line
    return "\n".join(lines)


def _order(text: str) -> str:
    """Reverse every list of single-line items; a list with an item of several lines stays."""
    lines, ordered = text.split("\n"), []
    run: list[str] = []
    for line in [*lines, ""]:
        if BULLET.match(line) and not FORM.search(line):
            run.append(line)
            continue
        goes_on = line[:1].isspace() and line.strip() != ""
        ordered += [*(run if goes_on else run[::-1]), line]
        run = []
    return "\n".join(ordered[:-1])


def _frame(text: str) -> str:
    """Put a heading above a part."""
    return f"Your task\n\n{text}" if text.strip() else text


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "layout": ("Lists indented and starred, more space between paragraphs", _layout),
    "words": ("Framing sentences in other words", _words),
    "order": ("Lists in reverse order", _order),
    "frame": ("A heading above each part", _frame),
}
