"""Cells of a table that hold JSON, or lists as Python and numpy write them, as columns of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from annotation.formats.nested_values import parse_nested
from annotation.formats.several_files import open_tables
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import Row, TableFile, flatten

SAMPLE_ROWS = 200
"""Rows that decide whether a column holds nested values."""
WORDS_OF_TEXT = 3
"""Mean number of words from which a list of texts has what people say, and no tags."""


def open_nested(source: Source, entries: Mapping[str, Any] | None = None) -> TableFile:
    """Open a table whose nested cells are columns named by path, as those of JSON records are.

    A column that a mapping's entries name stays as it is.
    """
    table = open_tables(source)
    texts = [text for value in (entries or {}).values() for text in _texts(value)]
    mapped = {*texts, *chain.from_iterable(text.split(",") for text in texts)}
    sample = _read_ahead(source, table)
    nested = _nested_columns(table, sample, mapped)
    if not nested:
        return table
    columns: dict[str, None] = {}
    for row in sample:
        columns |= dict.fromkeys(_unnested(row, nested))
    ordered = chain.from_iterable(
        [path for path in columns if path.startswith((f"{name}.", f"{name}["))] if name in nested else [name]
        for name in table.columns
    )

    def read_rows() -> Iterator[tuple[int, Row]]:
        for line, row in table.read_rows():
            if line in table.left_out:
                yield line, row
                continue
            try:
                yield line, _unnested(row, nested)
            except ImportProblem as problem:
                source.report(problem.placed(line=line))

    first_rows = table.first_rows and (
        [_unnested(row, nested) for row in table.first_rows[0]],
        table.first_rows[1],
    )
    return replace(table, columns=tuple(ordered), read_rows=read_rows, first_rows=first_rows)


def _texts(value: Any) -> list[str]:
    return [text for text in (value if isinstance(value, list | tuple) else [value]) if isinstance(text, str)]


def _read_ahead(source: Source, table: TableFile) -> list[Row]:
    """Return the first rows; their problems are reported when the table is read."""
    with source.reading_ahead():
        try:
            return [row for _, row in islice(table.rows(), SAMPLE_ROWS)]
        except ImportProblem:
            return []


def _nested_columns(table: TableFile, sample: Sequence[Row], mapped: Collection[str]) -> frozenset[str]:
    names = {name for name in table.columns if name not in mapped}
    holds: dict[str, bool] = {}
    for row in sample:
        for name in list(names):
            cell = row.get(name)
            text = cell.strip() if isinstance(cell, str) else ""
            if text in ("", "[]", "{}") and not isinstance(cell, list):
                continue
            if text[:1] not in ("[", "{") or not _holds_records(value := parse_nested(text)):
                names.discard(name)
            else:
                holds[name] = holds.get(name, False) or bool(value)
    nested = {name for name in names if holds.get(name)}
    lists = [name for name in table.columns if name not in mapped and name not in nested] if nested else []
    return frozenset(nested | {name for name in lists if _is_parallel(sample, name, nested)})


def _is_parallel(sample: Sequence[Row], name: str, nested: Collection[str]) -> bool:
    """Whether the cells of a column are lists as long as those of a nested column, such as a label a turn."""
    n = 0
    for row in sample:
        values = parse_nested(cell.strip()) if isinstance(cell := row.get(name), str) else None
        if not cell and n:
            continue
        if not isinstance(values, list):
            return False
        others = (parse_nested(text.strip()) for other in nested if isinstance(text := row.get(other), str))
        n += 1
        if not any(isinstance(other, list) and len(other) == len(values) for other in others):
            return False
    return n > 0


def _holds_records(value: Any) -> bool:
    """Whether a value is an object, or a list of objects or of texts that somebody may have said."""
    if isinstance(value, dict):
        return bool(value)
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(part, dict) for part in value):
        return True
    is_texts = all(isinstance(part, str) for part in value)
    return is_texts and sum(len(part.split()) for part in value) >= WORDS_OF_TEXT * len(value)


def _unnested(row: Row, nested: Collection[str]) -> Row:
    cells: Row = {}
    for name, cell in row.items():
        if name not in nested:
            cells[name] = cell
        elif isinstance(cell, str) and cell.strip():
            value = parse_nested(cell.strip())
            if not isinstance(value, dict | list):
                raise ImportProblem("is no list or object, as the rows before it have there", field=name)
            cells |= flatten({name: value}) if value else {}
    return cells
