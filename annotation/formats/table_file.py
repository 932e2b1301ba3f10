"""A table as rows of cells by column, its header, and JSON objects as such rows."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any

from annotation.formats.source import ImportProblem, Source

Cell = str | None | list["Cell"]
"""A text, nothing, or the texts of a list: `messages[].content` has a text for each message."""
Row = dict[str, Cell]
Cells = tuple[int, Sequence[str | None]]
"""The line on which a row begins, and its cells."""

SAMPLE_LINES = 1_000
"""Rows that are read ahead to learn the columns of a table."""
MAX_COLUMNS = 5_000


@dataclass(slots=True)
class TableFile:
    """A table: its columns, and its rows, each with the line (in Excel the row) on which it begins.

    In a JSON list the line is the number of the object. `wordings` are longer names of columns, from further
    rows of headers. `notes` say how the file was read: its encoding, its sheet, rows above the header; more
    may come while the rows are read. `sheets` are those of a workbook. `left_out` are the lines of rows that
    the import leaves out.
    """

    medium: str
    columns: tuple[str, ...]
    read_rows: Callable[[], Iterator[tuple[int, Row]]]
    wordings: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sheets: tuple[str, ...] = ()
    left_out: Container[int] = ()

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


# Headers: which columns have a name, for CSV and Excel.

INDEX = re.compile(r"|Unnamed: \d+(?:_level_\d+)?|__index_level_\d+__")
"""Names of columns that have none, as pandas writes them."""
WHOLE = re.compile(r"\d+(?:\.0)?")
IMPORT_ID = '{"ImportId"'
"""Beginning of the cells of Qualtrics' third row of headers."""


Line = Sequence[str | None]


@dataclass(slots=True)
class Header:
    """A name for each cell of a row, None for cells that are not read; those at `empty` have no text."""

    names: list[str | None]
    empty: list[int] = field(default_factory=list)
    wordings: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(name for name in self.names if name is not None)


def read_header(names: Line, rows: Sequence[Line], line: int, notes: list[str]) -> Header:
    """Return the columns of a header, by the first `rows` below it.

    Columns without a name are passed over where they are empty or number the rows, as pandas' index does, and
    else called by their place. A name that is there twice is refused, unless all of its columns but one are
    empty.
    """
    header = Header([])
    indexes, nameless = [], []
    for place, cell in enumerate(names):
        name = _text(cell)
        if not INDEX.fullmatch(name):
            header.names.append(name)
            continue
        texts = [text for row in rows if (text := _text_at(row, place))]
        shown = name or f"column {place + 1}"
        if not texts:
            header.empty.append(place)
        elif all(map(WHOLE.fullmatch, texts)):
            indexes.append(shown)
        else:
            nameless.append(shown)
        header.names.append(shown if texts and not all(map(WHOLE.fullmatch, texts)) else None)
    _number_repeated(header, rows)
    for name in dict.fromkeys(header.columns):
        if header.names.count(name) > 1:
            _leave_out_empty(name, header, rows, line)
    if indexes:
        notes.append(f"Columns that only number the rows were passed over: {', '.join(indexes)}.")
    if nameless:
        notes.append(f"Columns without a name are called by their place: {', '.join(nameless)}.")
    if wordings := _wordings(header.names, rows):
        header.wordings = wordings
    return header


def _text(cell: str | None) -> str:
    return cell.strip() if cell else ""


def _text_at(row: Line, place: int) -> str:
    return _text(row[place]) if place < len(row) else ""


def _number_repeated(header: Header, rows: Sequence[Line]) -> None:
    """Number the questions that a survey asks again, as pandas does: `Polite?`, `Polite?.1`, `Polite?.2`."""
    from annotation.formats import crowd_tables  # which reads tables itself

    form = crowd_tables.form_of(header.columns)
    if form is None or not form.is_survey:
        return
    counts: Counter[str] = Counter()
    for place, name in enumerate(header.names):
        if name is not None:
            header.names[place] = f"{name}.{counts[name]}" if counts[name] else name
            counts[name] += 1


def _leave_out_empty(name: str, header: Header, rows: Sequence[Line], line: int) -> None:
    """Pass over the empty ones of columns with the same name; refuse more than one with text."""
    places = [place for place, other in enumerate(header.names) if other == name]
    filled = [place for place in places if any(_text_at(row, place) for row in rows)] or places[:1]
    if len(filled) > 1:
        raise ImportProblem("is the name of two columns: give each its own", line=line, field=name)
    for place in places:
        if place not in filled:
            header.names[place] = None
            header.empty.append(place)


def _wordings(names: Line, rows: Sequence[Line]) -> dict[str, str]:
    """Return the wordings in the second of Qualtrics' three rows of headers, {} for other tables."""
    marks = [text for cell in rows[1] if (text := _text(cell))] if len(rows) > 1 else []
    if not marks or not all(text.startswith(IMPORT_ID) for text in marks):
        return {}
    return {name: _text(cell) for name, cell in zip(names, rows[0], strict=False) if name}


def rows_by_column(source: Source, header: Header, rows: Iterable[Cells]) -> Iterator[tuple[int, Row]]:
    """Yield the rows below the header by column; a row with more or fewer cells is reported."""
    width = len(header.names)
    places = [(name, place) for place, name in enumerate(header.names) if name is not None]
    columns = header.columns
    is_plain = len(columns) == width
    left_out = source.left_out.setdefault("", {})
    for line, cells in islice(rows, 2 if header.wordings else 0, None):
        if line in left_out:
            yield line, {name: cells[place] for name, place in places if place < len(cells)}
        elif len(cells) < width or any(map(_text, cells[width:])):
            source.report(ImportProblem(f"has {len(cells)} columns, the first line {width}", line=line))
        elif is_plain:
            yield line, dict(zip(columns, cells, strict=False))
        elif any(_text(cells[place]) for place in header.empty):
            place = next(place for place in header.empty if _text(cells[place]))
            reason = f"has text in column {place + 1}, which has no name of its own and was empty before"
            source.report(ImportProblem(reason, line=line))
        elif any(_text(cells[place]) for _, place in places):
            yield line, {name: cells[place] for name, place in places}


# JSON objects as rows.


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
