"""Tables of any kind as rows of cells: CSV, Excel, Parquet, Feather, JSON lines, a JSON list of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.source import Source

Cell = str | None | list["Cell"]
"""A text, nothing, or the texts of a list: `messages[].content` has a text for each message."""
Row = dict[str, Cell]


@dataclass(slots=True)
class TableFile:
    """A table: its columns, and its rows, each with the line (in Excel the row) on which it begins.

    `wordings` are longer names of columns, from further rows of headers. `notes` say how the file was read:
    its encoding, its sheet, rows above the header. `sheets` are those of a workbook.
    """

    medium: str
    columns: tuple[str, ...]
    read_rows: Callable[[], Iterator[tuple[int, Row]]]
    wordings: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sheets: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the rows from the first; rows without any text are passed over."""
        return self.read_rows()


def open_table(source: Source) -> TableFile:
    """Open the table in a file; raises ImportProblem where it is none, or cannot be read."""
    raise NotImplementedError


def flatten(record: Mapping[str, Any]) -> Row:
    """Return a JSON object as cells by path: `meta.model`, `messages[].content`, `tags[]`.

    The columns of a list of objects are lists of the same length, with None where an object lacks the key.
    Lists within lists are kept as JSON.
    """
    row: Row = {}
    for key, value in record.items():
        if isinstance(value, dict):
            row |= {f"{key}.{path}": cell for path, cell in flatten(value).items()}
        elif isinstance(value, list):
            row |= _columns_of_list(key, value)
        else:
            row[key] = as_text(value)
    return row


def _columns_of_list(key: str, values: list[Any]) -> Row:
    if not values or not all(isinstance(value, dict) for value in values):
        return {f"{key}[]": [as_text(value) for value in values]}
    rows = [flatten(value) for value in values]
    paths = dict.fromkeys(path for row in rows for path in row)
    return {f"{key}[].{path}": [_alone(row.get(path)) for row in rows] for path in paths}


def _alone(cell: Cell) -> Cell:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell


def as_text(value: Any) -> str | None:
    """Return a cell's text: whole numbers without a point, true and false, JSON for anything nested."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return json.dumps(value, ensure_ascii=False, default=str)
