"""Reads rows of CSV, TSV, JSONL and Parquet files, one at a time, with the line each came from."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

Row = dict[str, str | None]
FORMATS = {".csv": ",", ".tsv": "\t"}


class RatingsFileError(Exception):
    """A ratings file that cannot be used; the message is one line that says where and why."""

    def __init__(self, path: Path, message: str, line: int | None = None, column: str | None = None) -> None:
        place = path.name
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {message}")


class Table:
    """A file's named columns, and its rows with their line numbers.

    Only the columns in `used` need cells that are texts or numbers; where it is None, all do. `unnamed`
    counts columns without a name, and `late` are columns that the first line of JSONL lacks: both are passed
    over.
    """

    def __init__(
        self,
        columns: tuple[str, ...],
        rows: Callable[[Table], Iterator[tuple[int, Row]]],
        size: int | None = None,
        unnamed: int = 0,
    ) -> None:
        self.columns = columns
        self.size = size
        self.unnamed = unnamed
        self.used: frozenset[str] | None = None
        self.late: dict[str, None] = {}
        self._rows = rows

    @property
    def rows(self) -> Iterator[tuple[int, Row]]:
        """The rows, from the first."""
        return self._rows(self)

    def uses(self, column: str) -> bool:
        """Whether a column is read."""
        return self.used is None or column in self.used


def read_table(path: Path) -> Table:
    """Open a file by its ending; RatingsFileError if it is missing, empty or of another format."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise RatingsFileError(path, "no such file")
    if path.stat().st_size == 0:
        raise RatingsFileError(
            path, "the file is empty; a ratings file has the columns item, rater and value"
        )
    if suffix in FORMATS:
        return _delimited(path, FORMATS[suffix])
    if suffix in (".jsonl", ".ndjson"):
        return _json_lines(path)
    if suffix == ".parquet":
        return _parquet(path)
    raise RatingsFileError(path, f"unknown ending {suffix or '(none)'}: use .csv, .tsv, .jsonl or .parquet")


def _delimited(path: Path, delimiter: str) -> Table:
    csv.field_size_limit(2**31 - 1)
    _, header = next(_cells(path, delimiter), (0, []))
    columns = tuple(name.strip() for name in header)
    if not any(columns):
        raise RatingsFileError(path, "no header; a ratings file has the columns item, rater and value", 1)
    _check_separator(path, columns, delimiter)
    twice = [c for c in columns if c and columns.count(c) > 1]
    if twice:
        raise RatingsFileError(path, f"column {twice[0]!r} appears twice", 1)
    named = tuple(filter(None, columns))
    return Table(named, lambda _: _csv_rows(path, delimiter, columns), unnamed=len(columns) - len(named))


def _check_separator(path: Path, columns: tuple[str, ...], delimiter: str) -> None:
    """Refuse a header in one cell that another separator would part, as spreadsheets write them."""
    names = {";": "semicolons", "\t": "tabs", ",": "commas"}
    found = next(
        (mark for mark in names if mark != delimiter and len(columns) == 1 and mark in columns[0]), None
    )
    if found is not None:
        advice = "name the file .tsv" if found == "\t" else f"save it with {names[delimiter]}"
        raise RatingsFileError(path, f"the cells are separated by {names[found]}: {advice}", 1)


def _csv_rows(path: Path, delimiter: str, columns: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    rows = _cells(path, delimiter)
    next(rows)
    for line, cells in rows:
        if len(cells) != len(columns):
            raise RatingsFileError(path, f"{len(cells)} cells where the header has {len(columns)}", line)
        yield line, dict(zip(columns, cells, strict=True))


def _cells(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of every row that holds any text, with the line it starts on."""
    with path.open(encoding="utf-8-sig", newline="") as opened:
        reader = csv.reader(opened, delimiter=delimiter, strict=True)
        line = 0
        try:
            for cells in reader:
                start, line = line + 1, reader.line_num
                if any(cells) and not all(map(str.isspace, filter(None, cells))):
                    yield start, cells
        except UnicodeDecodeError as error:
            raise _not_utf8(path, error, _undecodable_line(path)) from None
        except csv.Error as error:
            raise RatingsFileError(path, str(error), line + 1) from None


def _not_utf8(path: Path, error: UnicodeDecodeError, line: int) -> RatingsFileError:
    return RatingsFileError(path, f"not UTF-8 ({error.reason}); save the file as UTF-8", line)


def _undecodable_line(path: Path) -> int:
    """Return the first line that is not UTF-8; text is decoded in blocks, so the reader cannot tell."""
    with path.open("rb") as opened:
        for line, raw in enumerate(opened, start=1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                return line
    return 1


def _json_lines(path: Path) -> Table:
    first = next(_json_objects(path), None)
    if first is None:
        raise RatingsFileError(path, "the file has no rows")
    columns = tuple(first[1])

    def rows(table: Table) -> Iterator[tuple[int, Row]]:
        for line, row in _json_objects(path):
            if not row.keys() <= first[1].keys():
                _meet_late(path, line, row, table)
            yield (
                line,
                {key: _cell(path, line, key, value) for key, value in row.items() if table.uses(key)},
            )

    return Table(columns, rows)


def _meet_late(path: Path, line: int, row: dict[str, object], table: Table) -> None:
    """Note keys that the first line lacks; refuse those of columns that are read."""
    for key in row:
        if key in table.columns:
            continue
        if table.uses(key):
            message = f"the first line has no key {key!r}: give every line the same keys (null where empty)"
            raise RatingsFileError(path, message, line)
        table.late[key] = None


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    with path.open("rb") as opened:
        for line, raw in enumerate(opened, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw)
            except UnicodeDecodeError as error:
                raise _not_utf8(path, error, line) from None
            except json.JSONDecodeError as error:
                raise RatingsFileError(
                    path, f"not JSON: {error.msg} at character {error.pos + 1}", line
                ) from None
            if not isinstance(row, dict):
                raise RatingsFileError(path, "expected a JSON object", line)
            yield line, row


def _cell(path: Path, line: int, key: str, value: object) -> str | None:
    if value is None or value != value:  # not a number, which is how some programs write nothing
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, list) and key in ("values", "members", "order"):  # as exports write them
        return json.dumps(value)
    raise RatingsFileError(path, f"a {type(value).__name__} where a text or a number was expected", line, key)


def _parquet(path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        opened = parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise RatingsFileError(path, f"not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = tuple(opened.schema_arrow.names)

    def rows(table: Table) -> Iterator[tuple[int, Row]]:
        line = 0
        used = [name for name in columns if table.uses(name)]
        for batch in opened.iter_batches(batch_size=20_000, columns=used):
            lists = [batch.column(name).to_pylist() for name in used]
            for cells in zip(*lists, strict=True):
                line += 1
                yield line, {k: _cell(path, line, k, v) for k, v in zip(used, cells, strict=True)}

    return Table(columns, rows, opened.metadata.num_rows)
