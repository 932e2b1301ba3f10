"""What a label points at, as files say it: [{"continuation", "turn", "start", "end"}]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.formats.fields import Fields
from annotation.formats.problems import ImportProblem
from annotation.records import SELF, Passage
from annotation.text import passages

KNOWN = frozenset(passages.FIELDS)


def evidence(entries: Iterable[tuple[str, Any]], own: str, path: str) -> tuple[Passage, ...]:
    """Return the passages of (path, element) entries, in order and each once.

    `own` is the continuation of the label: an entry that names none is about it. Whether there are such turns
    is seen once the label is placed. Raises ImportProblem.
    """
    found = passages.in_order(_passage(Fields(element, place, KNOWN), own) for place, element in entries)
    if len(found) > passages.MOST:
        raise ImportProblem(f"has {len(found)} places; at most {passages.MOST} are taken", field=path)
    return found


def _passage(fields: Fields, own: str) -> Passage:
    continuation, turn = fields.id("continuation", own), fields.count("turn", None)
    if continuation not in (own, SELF):
        raise fields.problem("continuation", f"must be {own!r}, or {SELF!r} for the dialogue's own turns")
    if turn is None:
        raise fields.problem("turn", "is missing")
    start, end = fields.count("start", None), fields.count("end", None)
    if (start is None) != (end is None):
        raise fields.problem("end" if end is None else "start", "is missing: name both, or neither")
    if start is not None and end is not None and start >= end:
        raise fields.problem("end", f"must be after the start, {start}, not {end}")
    return Passage(continuation, turn, start, end)
