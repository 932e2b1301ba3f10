"""What two texts differ by: line beside line, and inside changed lines the words (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

Pieces = tuple[tuple[str, bool], ...]
"""A line as pieces of text, each with whether the other version lacks it."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
AROUND = 3
"""Lines of what is the same that are shown around a change."""
ALIKE = 0.3
"""How much of two lines must be the same for their words to be compared."""


LONG = 1000
"""Lines, or words of a line, from which on not all are compared with all."""


@dataclass(frozen=True, slots=True)
class Side:
    """A line of one version, with its number from 1."""

    number: int
    pieces: Pieces

    @property
    def text(self) -> str:
        """The line."""
        return "".join(piece for piece, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class Row:
    """Two lines that stand beside each other, one of them None where the other was added or removed. A row
    of neither stands for `skipped` lines that are the same."""

    left: Side | None = None
    right: Side | None = None
    skipped: int = 0

    @property
    def same(self) -> bool:
        """Whether both lines are alike."""
        return bool(self.left and self.right and self.left.text == self.right.text)

    def as_json(self) -> dict[str, Any]:
        """Return plain data: `op` is same, skipped, removed, added or changed."""
        if self.skipped:
            return {"op": "skipped", "lines": self.skipped}
        op = "same" if self.same else "changed" if self.left and self.right else ""
        op = op or ("removed" if self.left else "added")
        sides = {"left": self.left, "right": self.right}
        told = {name: {"line": side.number, "text": side.text} for name, side in sides.items() if side}
        return {"op": op, **told}


def rows(first: str, second: str) -> tuple[Row, ...]:
    """Return two texts line beside line; long stretches of what is the same are left out and counted."""
    left, right = first.split("\n"), second.split("\n")
    found: list[Row] = []
    matcher = _matcher(left, right)
    for tag, i, j, k, l in matcher.get_opcodes():  # noqa: E741
        if tag == "equal":
            pairs = zip(range(i, j), range(k, l), strict=True)
            found += [Row(_whole(a, left[a]), _whole(b, right[b])) for a, b in pairs]
        else:
            found += _changed(left, range(i, j), right, range(k, l))
    return tuple(_folded(found))


def _matcher(left: Sequence[str], right: Sequence[str]) -> SequenceMatcher[str]:
    """Return what compares; in long texts it passes over what is frequent, or it would take minutes."""
    return SequenceMatcher(None, left, right, autojunk=max(len(left), len(right)) > LONG)


def _whole(index: int, line: str, *, changed: bool = False) -> Side:
    return Side(index + 1, ((line, changed),))


def _changed(left: Sequence[str], old: range, right: Sequence[str], new: range) -> Iterator[Row]:
    """Yield changed lines beside each other, by their order."""
    for a, b in zip_longest(old, new):
        if a is None or b is None:
            yield Row(
                _whole(a, left[a], changed=True) if a is not None else None,
                _whole(b, right[b], changed=True) if b is not None else None,
            )
            continue
        pieces = words(left[a], right[b])
        if pieces is None:
            yield Row(_whole(a, left[a], changed=True), _whole(b, right[b], changed=True))
        else:
            yield Row(Side(a + 1, pieces[0]), Side(b + 1, pieces[1]))


def words(first: str, second: str) -> tuple[Pieces, Pieces] | None:
    """Return two lines in pieces, what the other lacks marked; None where they have too little in common."""
    left, right = _WORD.findall(first), _WORD.findall(second)
    matcher = _matcher(left, right)
    if matcher.ratio() < ALIKE:
        return None
    sides: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, i, j, k, l in matcher.get_opcodes():  # noqa: E741
        for side, piece in zip(sides, ("".join(left[i:j]), "".join(right[k:l])), strict=True):
            if piece:
                side.append((piece, tag != "equal"))
    return tuple(sides[0]), tuple(sides[1])


def _folded(found: Sequence[Row]) -> Iterator[Row]:
    near = {
        place
        for index, row in enumerate(found)
        if not row.same
        for place in range(index - AROUND, index + AROUND + 1)
    }
    skipped = 0
    for index, row in enumerate(found):
        if index not in near:
            skipped += 1
            continue
        if skipped:
            yield Row(skipped=skipped)
            skipped = 0
        yield row
    if skipped:
        yield Row(skipped=skipped)
