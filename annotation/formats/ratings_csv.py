"""The long ratings CSV: one answer a row, for items that the corpus has.

`item` is the item's key, `dialogue/continuation/turn`; or the columns dialogue, continuation and turn say it.
Other columns: rater, kind, identified, question, value, sample, missing, explanation, occasion, scheme, and
for questions that are new level and values. An empty value is a missing answer. Columns of other names are
passed over.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from typing import Any

from annotation.formats.decoding import decode
from annotation.formats.entry import Entry, Format, Rating
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, LabelRecord
from annotation.text.csv_cells import unguarded
from annotation.text.item_keys import parse_item_key

KINDS = ("human", "judge", "metric", "key")
TRUTH = {"true": True, "1": True, "yes": True, "": True, "false": False, "0": False, "no": False}
QUESTION = "overall"
MISSING = "no answer given"
LIMITS = {"rater": NAME_LIMIT, "question": 120, "dialogue": ID_LIMIT, "continuation": ID_LIMIT}

Row = dict[str, str]


def read(source: Source) -> Iterator[Entry]:
    """Yield one rating for each row; the line of a row is the one that it begins on."""
    lines = _Lines(source)
    rows = csv.reader(lines, strict=True)
    header = _header(_next(rows, 1) or [])
    while True:
        line = rows.line_num + 1
        values = _next(rows, line)
        if values is None:
            return
        if values:
            try:
                yield Entry(rating(_row(header, values)), line)
            except ImportProblem as problem:
                raise problem.placed(line=line) from None


class _Lines:
    """The lines of a file as texts."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __iter__(self) -> Iterator[str]:
        for number, line in self.source.raw_lines():
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise ImportProblem(f"is not UTF-8 at byte {error.start}", line=number) from None
            if "\0" in text:
                raise ImportProblem("holds a NUL character, which cannot be stored", line=number)
            yield text


def _next(rows: Any, line: int) -> list[str] | None:
    try:
        row: list[str] | None = next(rows, None)
    except csv.Error as error:
        raise ImportProblem(f"is not valid CSV: {error}", line=line) from None
    return row


def _row(header: list[str], values: list[str]) -> Row:
    if len(values) != len(header):
        raise ImportProblem(f"has {len(values)} columns, the first line {len(header)}")
    return {name: unguarded(value) for name, value in zip(header, values, strict=True)}


def _header(names: list[str]) -> list[str]:
    header = [name.strip().lower() for name in names]
    for name in ("rater", "value"):
        if name not in header:
            raise ImportProblem(
                f"has no column {name!r}: the first line names the columns", line=1, field=name
            )
    if "item" not in header and "dialogue" not in header:
        raise ImportProblem("has no column 'item', and none named 'dialogue'", line=1, field="item")
    if repeated := {name for name in header if header.count(name) > 1}:
        raise ImportProblem("is there twice", line=1, field=sorted(repeated)[0])
    return header


def rating(row: Row) -> Rating:
    """Return the answer that a row gives."""
    for name, limit in LIMITS.items():
        if len(row.get(name, "")) > limit:
            raise ImportProblem(f"is longer than {limit} characters", field=name)
    dialogue, continuation, turn = _place(row)
    value, missing = _value(row)
    kind = row.get("kind", "").strip() or "human"
    if kind not in KINDS:
        raise ImportProblem(f"must be one of {', '.join(KINDS)}", field="kind")
    identified = _identified(row, kind)
    if not row["rater"]:
        raise ImportProblem("is empty", field="rater")
    label = LabelRecord(
        rater=row["rater"],
        kind=kind,  # type: ignore[arg-type]
        continuation=continuation,
        turn=turn,
        question=row.get("question", "") or QUESTION,
        value=value,
        missing=missing,
        sample=_whole(row, "sample"),
        identified=identified,
        explanation=row.get("explanation", ""),
        scheme=row.get("scheme", "").strip(),
        occasion=row.get("occasion", "").strip(),
    )
    raw = row["value"] if value is not None else None
    return Rating(dialogue, label, row.get("level", "").strip(), _values(row), raw)


def _place(row: Row) -> tuple[str, str, int | None]:
    """Return (dialogue, continuation, turn) from the item's key, else from the columns."""
    if key := row.get("item", ""):
        try:
            return parse_item_key(key)
        except ValueError as error:
            if not row.get("dialogue"):
                raise ImportProblem(str(error), field="item") from None
    if not row.get("dialogue"):
        raise ImportProblem("is empty", field="item")
    turn = _whole(row, "turn") if row.get("turn", "").strip() else None
    return row["dialogue"], row.get("continuation", "") or SELF, turn


def _whole(row: Row, name: str) -> int:
    text = row.get(name, "").strip() or "0"
    if not (text.isascii() and text.isdigit() and int(text[:12]) < 2**31):
        raise ImportProblem(f"{text[:20]!r} is no whole number from 0", field=name)
    return int(text)


def _identified(row: Row, kind: str) -> bool:
    text = row.get("identified", "").strip().lower()
    if text not in TRUTH:
        raise ImportProblem(f"{text[:20]!r} is neither true nor false", field="identified")
    if kind != "human" and not TRUTH[text]:
        raise ImportProblem("only people can be unidentified", field="identified")
    return TRUTH[text]


def _value(row: Row) -> tuple[float | str | None, str]:
    """Return an answer, as a number where it is one, and why it is missing where it is."""
    text, missing = row["value"], row.get("missing", "")
    if not text.strip():
        return None, missing or MISSING
    if missing:
        raise ImportProblem("says why there is no value, but there is one", field="missing")
    try:
        number = float(text)
    except ValueError:
        return text, ""
    if not math.isfinite(number):
        raise ImportProblem(
            f"{text[:20]!r} is no finite number; leave it empty where it is missing", field="value"
        )
    return number, ""


def _values(row: Row) -> tuple[float | str, ...]:
    """Return the scale's values, from a JSON list or from a list with commas."""
    text = row.get("values", "").strip()
    if not text:
        return ()
    try:
        values = decode((text if text.startswith("[") else f"[{text}]").encode())
    except ImportProblem:
        values = [part.strip() for part in text.split(",")]
    if not isinstance(values, list) or not all(type(value) in (int, float, str) for value in values):
        raise ImportProblem("must be a list of numbers or texts", field="values")
    return tuple(values)


FORMAT = Format(
    key="ratings-csv",
    title="Ratings for a corpus, as CSV",
    hint="Columns item, rater, value; question, sample, kind, scheme and more where they apply.",
    read=read,
    labels_only=True,
)
