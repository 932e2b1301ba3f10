"""Streams rows as CSV, Excel, JSONL or Parquet, as they come from the database.

PostgreSQL formats the rows itself (`COPY ... TO STDOUT`), so memory stays small however many there are and
numbers are written as the shortest text that reads back equal. Text cells of CSV are guarded as
`annotation.text.table_cells` describes.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import IO, Any, Literal
from xml.sax.saxutils import escape

import orjson
from django.db import connection, transaction

from annotation.text import table_cells
from annotation.text.views import one_line
from calibration.errors import ExportRefused

Value = str | float | int | bool | None
MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""Excel's limits: rows with the header, columns, and UTF-16 units of a cell's text."""
WORKBOOK_DATE = (1980, 1, 1, 0, 0, 0)
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
"""Characters that XML lacks or changes, and a text that would read like their code `_x000D_`."""
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PACKAGE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{PACKAGE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{PACKAGE}.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{TYPE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": "<Relationships "
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{TYPE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{TYPE}"><sheets>'
    '<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>',
}
HEAD = (
    f'<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
    "<sheetData>"
)
ROWS_A_BLOCK = 500


def write_workbook(
    file: IO[bytes], columns: Sequence[str], rows: Iterable[Sequence[Value]], *, name: str
) -> int:
    """Write a workbook with a header and rows below it; return their number.

    Raises ExportRefused for what a sheet cannot hold: nothing is cut.
    """
    if len(columns) > MOST_COLUMNS:
        raise ExportRefused(
            f"a sheet of Excel holds {MOST_COLUMNS:,} columns, not {len(columns):,}: take CSV or Parquet"
        )
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in PARTS.items():
            archive.writestr(_entry(path), XML + content.replace("{name}", escape(name)))
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            sheet.write((XML + HEAD + _row([_workbook_cell(column, column) for column in columns])).encode())
            count = 0
            for block in _blocks(columns, rows):
                count += len(block)
                if count >= MOST_ROWS:
                    raise ExportRefused(
                        f"a sheet of Excel holds {MOST_ROWS - 1:,} rows, and there are more: "
                        "take CSV or Parquet"
                    )
                sheet.write("".join(block).encode())
            sheet.write(b"</sheetData></worksheet>")
    return count


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, WORKBOOK_DATE)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _blocks(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[list[str]]:
    block: list[str] = []
    for row in rows:
        block.append(
            _row([_workbook_cell(value, column) for value, column in zip(row, columns, strict=True)])
        )
        if len(block) == ROWS_A_BLOCK:
            yield block
            block = []
    if block:
        yield block


def _row(cells: Sequence[str]) -> str:
    return f"<row>{''.join(cells)}</row>"


def _workbook_cell(value: Value, column: str) -> str:
    """Return a cell; a number of more than 15 digits is a text, as Excel would round it."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        if float(f"{value:.15g}") == value:
            return f"<c><v>{value!r}</v></c>"
        value = repr(value)
    if len(value) > LONGEST_TEXT // 2 and (units := len(value.encode("utf-16-le")) // 2) > LONGEST_TEXT:
        raise ExportRefused(
            f"a cell of Excel holds {LONGEST_TEXT:,} characters, and {column!r} has one with {units:,} "
            f"(“{value[:30]}…”): take CSV or Parquet"
        )
    if value == "":
        return "<c/>"
    return (
        f'<c t="inlineStr"><is><t xml:space="preserve">{escape(UNPRINTABLE.sub(_code, value))}</t></is></c>'
    )


def _code(match: re.Match[Any]) -> str:
    return f"_x{ord(match[0]):04X}_"


# Several files in one: a zip, with a manifest that describes each of them.
#
# The same files give the same zip, byte for byte: all entries have the same date, in the order added.

MANIFEST = "manifest.json"
DATE = (1980, 1, 1, 0, 0, 0)
PACKED = (".parquet",)
"""Endings of files that are compressed already."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a bundle: its name, its number of labels (or rows), its bytes and their SHA-256."""

    name: str
    rows: int
    bytes: int
    sha256: str


class Bundle:
    """A zip to which files are added one by one; it is written as a stream."""

    def __init__(self, file: IO[bytes]) -> None:
        self.parts: list[Part] = []
        self._zip = zipfile.ZipFile(file, "w")

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a new file of the bundle for writing; names have `/` between folders."""
        entry = zipfile.ZipInfo(name, DATE)
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
        return self._zip.open(entry, "w", force_zip64=True)

    def add(self, name: str, blocks: Iterable[bytes], rows: int = 0) -> Part:
        """Write a file and record its facts; a generator's return value is its number of rows."""
        digest, size, source = hashlib.sha256(), 0, iter(blocks)
        with self.open(name) as file:
            while True:
                try:
                    block = next(source)
                except StopIteration as end:
                    rows = end.value if isinstance(end.value, int) else rows
                    break
                digest.update(block)
                size += len(block)
                file.write(block)
        part = Part(name, rows, size, digest.hexdigest())
        self.parts.append(part)
        return part

    def add_json(self, name: str, content: Any, rows: int = 0) -> Part:
        """Write a JSON file, indented by two spaces."""
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        return self.add(name, [text.encode(errors="backslashreplace")], rows)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the manifest: facts about the bundle, and each of its files."""
        self.add_json(MANIFEST, {**facts, "files": [asdict(part) for part in self.parts]})

    def close(self) -> None:
        """Write the zip's central directory."""
        self._zip.close()

    def abandon(self) -> None:
        """Stop writing after a failure."""
        self._zip.fp = None


class Hashed:
    """A file that counts and hashes the bytes written to it; it cannot be rewound."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.size, self._digest = file, 0, hashlib.sha256()

    def write(self, block: bytes) -> int:
        """Write a block."""
        self._digest.update(block)
        self.size += len(block)
        self.file.write(block)
        return len(block)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes written."""
        return self._digest.hexdigest()


# Text that Markdown prints verbatim.

MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def plain(text: str) -> str:
    """Return a text on one line without Markdown markup, also safe in a table's cell."""
    return MARKUP.sub(r"\\\1", one_line(text))


Blocks = Generator[bytes, None, int]
"""The blocks of a file; the generator's return value is the number of rows."""

Kind = Literal["text", "plain", "number", "integer", "boolean", "value", "json"]
ARROW = {"number": "float64", "integer": "int64", "boolean": "bool"}
"""Types of Parquet columns by content; all others are texts."""
BLOCK = 1 << 18
ROWS_A_BATCH = 10_000
RISKY = ", ".join(str(ord(character)) for character in table_cells.RISKY)
LAST_RISKY = max(ord(character) for character in table_cells.RISKY)
APOSTROPHE = "''''"
WORK_MEM = "64MB"
"""Memory for sorting the rows before PostgreSQL uses temporary files."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its SQL expression, and its kind of content.

    `text` is free text and guarded in CSV; `plain` is text of fixed words; `value` is a pair of expressions
    (a number's, a text's) of which at least one is null. `cell_sql` is the guarded text, where the query has
    it ready: guarding a text that many rows share only once is faster.
    """

    name: str
    sql: str
    kind: Kind = "text"
    text_sql: str = "NULL::text"
    cell_sql: str = ""


@dataclass(frozen=True)
class ExportQuery:
    """Query of an export: columns, the rest of the query from FROM on, and its parameters."""

    columns: tuple[Column, ...]
    rest: str
    params: tuple[Any, ...] = ()

    def count(self) -> int:
        """Return the number of rows."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) {_without_order(self.rest)}", self.params)
            return int(cursor.fetchone()[0])


def _without_order(sql: str) -> str:
    """Return a query without its own ORDER BY, the one outside all parentheses and texts."""
    depth, is_text = 0, False
    for at, sign in enumerate(sql):
        if sign == "'":
            is_text = not is_text
        elif not is_text:
            depth += (sign == "(") - (sign == ")")
            if depth == 0 and sql.startswith("ORDER BY", at):
                return sql[:at]
    return sql


def csv_blocks(query: ExportQuery) -> Blocks:
    """Yield the rows as CSV with a header; text cells are guarded."""
    selected = ", ".join(_cell(column) for column in query.columns)
    type_flags = [
        f'({c.text_sql}) IS NOT NULL AS "{c.name}_is_text"' for c in query.columns if c.kind == "value"
    ]
    sql = f"SELECT {selected} FROM ({_rows(query, *type_flags, cells=True)}) AS line"  # noqa: S608  (own SQL)
    return (yield from _copied(sql, query.params, "FORMAT csv, HEADER true"))


def jsonl_blocks(query: ExportQuery) -> Blocks:
    """Yield the rows as one JSON object per line."""
    selected = ", ".join(f'{_json(column)} AS "{column.name}"' for column in query.columns)
    sql = f"SELECT row_to_json(line)::text FROM (SELECT {selected} {query.rest}) AS line"  # noqa: S608  (own SQL)
    rows = Counting(_copied(sql, query.params, "FORMAT text"))
    for block in rows:
        yield block.replace(b"\\\\", b"\\")  # JSON escapes everything else that COPY would
    return rows.count


def parquet_blocks(query: ExportQuery) -> Blocks:
    """Yield the rows as a Parquet file, whose types do not depend on the rows.

    A value is a text as in CSV, with an additional number column where it is numeric.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    query = replace(query, columns=tuple(typed_columns(query.columns)))
    types = {column.name: pa.type_for_alias(ARROW.get(column.kind, "string")) for column in query.columns}
    with tempfile.TemporaryFile() as rows, tempfile.TemporaryFile() as file:
        copied = Counting(_copied(_rows(query), query.params, "FORMAT csv, HEADER true"))
        for block in copied:
            rows.write(block)
        rows.seek(0)
        convert = pa_csv.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        options = pa_csv.ParseOptions(newlines_in_values=True)
        reader = pa_csv.open_csv(rows, parse_options=options, convert_options=convert)
        with pq.ParquetWriter(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        file.seek(0)
        yield from iter(lambda: file.read(BLOCK), b"")
    return copied.count


def typed_columns(columns: Iterable[Column]) -> Iterator[Column]:
    """Yield columns of one type each: after every value column its numbers, null where a value is a text."""
    for column in columns:
        yield column
        if column.kind == "value":
            yield Column(f"{column.name}_number", column.sql, "number")


class Counting:
    """Passes blocks through and keeps the number of rows once they have ended."""

    count = 0

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[bytes]:
        self.count = yield from self.blocks


# Rows that Python has put together, for which there is no query of their own.


@dataclass(frozen=True)
class RowTable:
    """A table whose rows are objects by column; a value column holds numbers and texts."""

    columns: tuple[Column, ...]
    rows: Iterable[Mapping[str, Any]]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]


def row_table(query: ExportQuery) -> RowTable:
    """Return the rows of a query; all are read before the first is yielded."""
    return RowTable(query.columns, rows_of(query))


def rows_of(query: ExportQuery) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as in its JSONL; all are read before the first is yielded."""
    with tempfile.TemporaryFile() as file:
        for block in jsonl_blocks(query):
            file.write(block)
        file.seek(0)
        for line in file:
            yield orjson.loads(line)


def text_of(value: Any) -> str:
    """Return a value as the text of a cell: numbers as the shortest text that reads back equal."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value) if isinstance(value, int) else orjson.dumps(value).decode()


def _csv_table(table: RowTable) -> Blocks:
    """Yield a table as CSV with a header; text cells are guarded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names, count = table.names, 0
    writer.writerow([table_cells.guarded(name) for name in names])
    for row in table.rows:
        values = [row.get(name) for name in names]
        cells = [table_cells.guarded(v) if isinstance(v, str) else text_of(v) for v in values]
        writer.writerow(cells)
        count += 1
        if text.tell() >= BLOCK:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()
    return count


def _jsonl_table(table: RowTable) -> Blocks:
    """Yield a table as one JSON object per line."""
    names, count = table.names, 0
    for row in table.rows:
        count += 1
        yield orjson.dumps({name: row.get(name) for name in names}) + b"\n"
    return count


def _parquet_table(table: RowTable) -> Blocks:
    """Yield a table as Parquet; columns of values are texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [(column.name, pa.type_for_alias(ARROW.get(column.kind, "string"))) for column in table.columns]
    )
    texts = [column.name for column in table.columns if column.kind not in ARROW]
    count = 0
    with tempfile.TemporaryFile() as file:
        with pq.ParquetWriter(file, schema) as writer:
            rows = iter(table.rows)
            while batch := list(islice(rows, ROWS_A_BATCH)):
                count += len(batch)
                plain = [
                    {**row, **{name: text_of(row[name]) for name in texts if row.get(name) is not None}}
                    for row in batch
                ]
                writer.write_table(pa.Table.from_pylist(plain, schema=schema))
        file.seek(0)
        yield from iter(lambda: file.read(BLOCK), b"")
    return count


def _excel_table(table: RowTable) -> Blocks:
    """Yield a table as an Excel workbook."""
    names = table.names
    rows = ([_excel_value(row.get(name)) for name in names] for row in table.rows)
    with tempfile.TemporaryFile() as file:
        count = write_workbook(file, [str(_excel_value(name)) for name in names], rows, name="labels")
        file.seek(0)
        yield from iter(lambda: file.read(BLOCK), b"")
    return count


def _excel_value(value: Any) -> str | int | float:
    """Return a value for a cell; a text that reads as if it were guarded gets a guard, as in CSV."""
    if isinstance(value, str):
        return value if table_cells.unguarded(value) == value else table_cells.guarded(value)
    return value if isinstance(value, int | float) else text_of(value)


def _with_mark(content: Blocks) -> Blocks:
    """Yield a CSV with the mark by which Excel recognises UTF-8."""
    yield codecs.BOM_UTF8
    return (yield from content)


@dataclass(frozen=True, slots=True)
class FileForm:
    """A form of files: its name on pages, its extension and media type, and its writers.

    `query_blocks` writes a query as PostgreSQL yields it, `table_blocks` rows from Python.
    """

    title: str
    extension: str
    media: str
    query_blocks: Callable[[ExportQuery], Blocks]
    table_blocks: Callable[[RowTable], Blocks]

    def blocks(self, content: ExportQuery | RowTable) -> Blocks:
        """Return the blocks of a file."""
        return self.table_blocks(content) if isinstance(content, RowTable) else self.query_blocks(content)


CSV_MEDIA = "text/csv; charset=utf-8"
EXCEL_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS: dict[str, FileForm] = {
    "csv": FileForm("CSV", "csv", CSV_MEDIA, csv_blocks, _csv_table),
    "csv-excel": FileForm(
        "CSV for Excel",
        "csv",
        CSV_MEDIA,
        lambda query: _with_mark(csv_blocks(query)),
        lambda table: _with_mark(_csv_table(table)),
    ),
    "xlsx": FileForm(
        "Excel", "xlsx", EXCEL_MEDIA, lambda query: _excel_table(row_table(query)), _excel_table
    ),
    "jsonl": FileForm("JSONL", "jsonl", "application/x-ndjson", jsonl_blocks, _jsonl_table),
    "parquet": FileForm(
        "Parquet", "parquet", "application/vnd.apache.parquet", parquet_blocks, _parquet_table
    ),
}
"""Forms of files, by key."""


@dataclass(frozen=True, slots=True)
class FileSummary:
    """Facts about a written file: rows, bytes, and the SHA-256 of the bytes."""

    rows: int
    size: int
    sha256: str


def write(content: ExportQuery | RowTable, form: str, file: IO[bytes]) -> FileSummary:
    """Write rows into a file; those of a query are counted on the way, in the same snapshot."""
    return write_blocks(FORMATS[form].blocks(content), file)


def write_blocks(content: Blocks, file: IO[bytes]) -> FileSummary:
    """Write the blocks of a file, counting and hashing them."""
    digest, size = hashlib.sha256(), 0
    blocks = Counting(content)
    for block in blocks:
        digest.update(block)
        size += len(block)
        file.write(block)
    return FileSummary(blocks.count, size, digest.hexdigest())


def _copied(query: str, params: Sequence[Any], options: str) -> Blocks:
    """Yield the output of COPY, gathered into larger blocks."""
    with transaction.atomic(), connection.cursor() as cursor, connection.wrap_database_errors:
        cursor.execute(f"SET LOCAL work_mem = '{WORK_MEM}'")
        gathered = bytearray()
        with cursor.cursor.copy(f"COPY ({query}) TO STDOUT ({options})", params) as copy:
            for row in copy:
                gathered += row
                if len(gathered) >= BLOCK:
                    yield bytes(gathered)
                    gathered.clear()
        if gathered:
            yield bytes(gathered)
        return int(cursor.rowcount)


def _rows(query: ExportQuery, *more: str, cells: bool = False) -> str:
    """Return the query of the rows as texts, in order, with more expressions at the end.

    With `cells` texts use the guarded version where the query has one.

    A sorted query is an optimisation fence for the planner: outer expressions compute nothing twice.
    """
    texts = [(column.cell_sql if cells else "") or _raw(column) for column in query.columns]
    selected = [f'{text} AS "{column.name}"' for text, column in zip(texts, query.columns, strict=True)]
    return f"SELECT {', '.join([*selected, *more])} {query.rest}"


def _cell(column: Column) -> str:
    """Return a column of the rows as a cell; of values only those that are texts are guarded."""
    name = f'"{column.name}"'
    if column.kind == "text" and not column.cell_sql:
        return f"{guarded_sql(name)} AS {name}"
    if column.kind == "value":
        return f'CASE WHEN "{column.name}_is_text" THEN {guarded_sql(name)} ELSE {name} END AS {name}'
    return name


def guarded_sql(sql: str) -> str:
    """Return a guarded text; most begin with a letter, which is past all characters that need it."""
    plain = f"CASE WHEN ascii({sql}) > {LAST_RISKY} THEN {sql}"
    return f"{plain} WHEN ascii({sql}) IN ({RISKY}) THEN {APOSTROPHE} || {sql} ELSE {sql} END"


def _json(column: Column) -> str:
    if column.kind == "value":
        number, text = f"to_jsonb({column.sql})", f"to_jsonb({column.text_sql})"
        return f"CASE WHEN {column.text_sql} IS NULL THEN {number} ELSE {text} END"
    return column.sql


def _raw(column: Column) -> str:
    if column.kind == "value":
        return f"coalesce({column.text_sql}, ({column.sql})::text)"
    return column.sql if column.kind in ("text", "plain") else f"({column.sql})::text"
