"""A table as rows of cells by column, and JSON objects as such rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

Cell = str | None | list["Cell"]
"""A text, nothing, or the texts of a list: `messages[].content` has a text for each message."""
Row = dict[str, Cell]
Cells = tuple[int, Sequence[str | None]]
"""The line on which a row begins, and its cells."""

SAMPLE_LINES = 1_000
"""Rows that are read ahead to learn the columns of a table."""
MAX_COLUMNS = 5_000
ENCODING, SHEET = "encoding", "sheet"
"""Settings: the encoding of a text, the name of a workbook's sheet."""
INDEX = re.compile(r"|Unnamed: \d+(?:_level_\d+)?|__index_level_\d+__")
"""Names of columns that have none, as pandas writes them."""


@dataclass(frozen=True, slots=True)
class SeveralFiles:
    """The files of a table that is several: `names` are those in its `column`, each row having its file's.

    They are of one rater each where the same items are in all of them; parts of one table where no item is in
    two; `unclear` where some are. `lacking` has a file without the column, and one with it, for columns that
    not all have.
    """

    column: str
    names: tuple[str, ...]
    are: Literal["raters", "parts", "unclear"]
    sentence: str
    lacking: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class TableFile:
    """A table: its columns, and its rows, each with the line (in Excel the row) on which it begins.

    In a JSON list the line is the number of the object. `wordings` are longer names of columns, from further
    rows of headers. `notes` say how the file was read: its encoding, its sheet, rows above the header; more
    may come while the rows are read. `sheets` are those of a workbook. `left_out` are the lines of rows that
    the import leaves out. A table in several `files` has one after the other; `first_rows` are then the first
    ones of each, and whether there are more.
    """

    medium: str
    columns: tuple[str, ...]
    read_rows: Callable[[], Iterator[tuple[int, Row]]]
    wordings: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sheets: tuple[str, ...] = ()
    left_out: Container[int] = ()
    files: SeveralFiles | None = None
    first_rows: tuple[list[Row], bool] | None = None

    def sample(self, most: int) -> tuple[list[Row], bool]:
        """Return the first rows, of each file where there are several, and whether there are more."""
        if self.first_rows:
            return self.first_rows
        rows = [row for _, row in islice(self.rows(), most + 1)]
        return rows[:most], len(rows) > most

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the rows from the first, without those left out; rows without any text are passed over.

        `read_rows` yields those left out, too: a dialogue that misses one of its rows is left out as a whole.
        """
        rows = self.read_rows()
        if not self.left_out:
            return rows
        return ((line, row) for line, row in rows if line not in self.left_out)

    @property
    def is_guarded(self) -> bool:
        """Whether texts may have an apostrophe in front, so that no spreadsheet reads them as formulas."""
        return self.medium in (CSV, EXCEL)

    @property
    def is_json(self) -> bool:
        """Whether the columns are paths of JSON objects."""
        return self.medium in (JSON_LINES, JSON_LIST)


CSV, JSON_LINES, JSON_LIST, EXCEL, PARQUET, FEATHER = "csv", "jsonl", "json", "xlsx", "parquet", "feather"
"""Media of tables."""


def text_of(cell: Cell) -> str:
    """Return a cell's text, empty for nothing; a list as JSON."""
    if isinstance(cell, list):
        return json.dumps(cell, ensure_ascii=False)
    return cell or ""


# JSON objects as rows.

LIST = re.compile(r'\[\s*+(?:[{\["\]]|(?:-?\d[\d.eE+-]*+|true|false|null)\s*+(?:,|\]?\s*+\Z)|\Z)')


def begins_list(text: str) -> bool:
    """Whether a text begins like a JSON list; `[id],[label]` and `[10:01] Ana: hello` do not."""
    return LIST.match(text) is not None


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
    """Return a cell's text: whole numbers without a point, true and false, ISO dates, JSON if nested.

    Bytes that are not UTF-8 are nothing.
    """
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        is_whole = math.isfinite(value) and value == int(value) and -(2**53) < value < 2**53
        return str(int(value)) if is_whole else str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
