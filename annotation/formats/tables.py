"""Tables: rows of texts by column, from CSV or TSV in UTF-8, whatever format is made of them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any

from annotation.formats.head import delimiter, renamed
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source

Row = dict[str, str]
Cells = tuple[int, list[str]]
"""The line that a row begins on, and its cells."""

LONGEST_CELL = 131_072
"""Characters of one cell."""


def csv_cells(source: Source) -> Iterator[Cells]:
    """Yield the rows that hold any text, the header first; its line tells what separates the columns."""
    lines = _lines(source)
    first = next(lines)
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: another reader may have raised it
    rows = csv.reader(chain((first,), lines), strict=True, delimiter=delimiter(first))
    while True:
        line = rows.line_num + 1
        values = _next(rows, line)
        if values is None:
            return
        if line == 1 or any(map(str.strip, values)):
            yield line, values


def _lines(source: Source) -> Iterator[str]:
    for number, line in source.raw_lines():
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


def header_of(source: Source, names: list[str], known: Collection[str], needed: Iterable[str]) -> list[str]:
    """Return the columns by Concord's names, and name the others with the import.

    Refuses what is missing, mapped wrongly or there twice.
    """
    plain = [name.strip().lower() for name in names]
    for ours, theirs in source.columns.items():
        if ours not in known:
            raise ImportProblem(f"is not a column of the format; use {', '.join(known)}", field=ours)
        if theirs.strip().lower() not in plain:
            raise ImportProblem(f"there is no column {theirs!r} to be taken for {ours}", line=1, field=ours)
    header = renamed(names, source.columns)
    for name in needed:
        if name not in header:
            raise ImportProblem(
                f"has no column {name!r}: the first line names the columns", line=1, field=name
            )
    if repeated := {name for name in header if name and header.count(name) > 1}:
        raise ImportProblem("is there twice", line=1, field=sorted(repeated)[0])
    source.is_table = True
    source.pass_over(name for name in header if name not in known)
    return header


def row_of(header: list[str], values: list[str]) -> Row:
    """Return the cells of a row by their columns; refuse a row that has more or fewer."""
    if len(values) != len(header):
        raise ImportProblem(f"has {len(values)} columns, the first line {len(header)}")
    return dict(zip(header, values, strict=True))


def whole(row: Row, name: str) -> int:
    """Return a whole number from 0; 0 for an empty cell."""
    text = row.get(name, "").strip() or "0"
    if not (text.isascii() and text.isdigit() and int(text[:12]) < 2**31):
        raise ImportProblem(f"{text[:20]!r} is not a whole number of 0 or more", field=name)
    return int(text)
