"""Tables of any kind as rows of cells: CSV, Excel, Parquet, Feather, JSON lines, a JSON list of objects."""

from __future__ import annotations

import codecs
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from charset_normalizer import from_bytes

from annotation.formats.fields import decode_python, kind_of, require
from annotation.formats.source import BINARY_TABLES, BLOCK, START, ImportProblem, Source, utf_16_of

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


def open_table(source: Source) -> TableFile:
    """Open the table in a file; raises ImportProblem where it is none, or cannot be read."""
    from annotation.formats import crowd_tables  # which reads tables itself

    table = _open(source)
    if not table.columns:
        raise ImportProblem("names no columns")
    if len(table.columns) > MAX_COLUMNS:
        raise ImportProblem(f"has {len(table.columns):,} columns; at most {MAX_COLUMNS:,} are read")
    table.left_out = source.left_out.setdefault("", {})
    if source.first_rows is not None:
        table.read_rows = partial(_first_rows, source, table.read_rows, source.first_rows)
    return crowd_tables.prepared(table)


def _first_rows(
    source: Source, read_rows: Callable[[], Iterator[tuple[int, Row]]], most: int
) -> Iterator[tuple[int, Row]]:
    """Yield the first rows of a table that is previewed."""
    for number, row in enumerate(read_rows()):
        if number == most:
            source.is_cut = True
            return
        yield row


def _open(source: Source) -> TableFile:
    if source.is_workbook:
        from annotation.formats.workbooks import open_workbook  # only where there is one

        return open_workbook(source)
    start = source.binary_start()
    if start.startswith(tuple(BINARY_TABLES)):
        from annotation.formats.arrow_tables import open_arrow_table

        return open_arrow_table(source, start)
    text = source.start().lstrip()
    if text.startswith(b"["):
        return _json_list(source)
    if text.startswith(b"{"):
        return _json_lines(source) if is_json_lines(source) else _json_document(source)
    return _csv(source)


def own_columns(
    source: Source, table: TableFile, names: Collection[str], needed: Iterable[str]
) -> dict[str, str]:
    """Return the columns of a table by the names that a format has for them; the others are passed over.

    Refuses missing columns, and two with the same name but for case.
    """
    columns: dict[str, str] = {}
    for column in table.columns:
        name = column.removesuffix("[]").strip().lower()
        if name in names and columns.setdefault(name, column) != column:
            raise ImportProblem("is there twice", line=1, field=name)
    for name in needed:
        if name not in columns:
            reason = f"has no column {name!r}: the first line names the columns"
            raise ImportProblem(reason, line=1, field=name)
    source.is_table = True
    source.pass_over(column for column in table.columns if column not in columns.values())
    return columns


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


# Text: the encoding of the file, the separator between its cells, its rows.

LONGEST_CELL = 131_072
"""Maximum characters of one cell."""
SEPARATORS = ",\t;|"
ONE_COLUMN = "\x1f"
"""A separator that no text has: each line is one cell."""
SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?,*\r?\n', re.IGNORECASE)
"""Excel's own first line, which names the separator."""
ENCODINGS = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "koi8_r": "KOI8-R",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "Korean (cp949)",
    "latin_1": "Latin-1",
}
"""Encodings that a file without valid UTF-8 may have, with their names."""
SINGLE_BYTE = "cp1252"
MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


@dataclass(frozen=True, slots=True)
class _Form:
    """How a text's rows are written: its encoding ('' for UTF-8), separator, and lines before the header."""

    encoding: str
    separator: str
    is_quoted: bool
    skipped: int


def _csv(source: Source) -> TableFile:
    notes: list[str] = []
    form = _form(source, notes)
    rows = _csv_rows(source, form)
    line, names = _first(rows)
    header = read_header(names, [cells for _, cells in _sample(rows)], line, notes)

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        yield from rows_by_column(source, header, islice(_csv_rows(source, form), 1, None))

    return TableFile(CSV, header.columns, read_rows, header.wordings, notes)


def raw_rows(source: Source) -> Iterator[Cells]:
    """Yield the rows of a text as they are, header first, whatever their length."""
    return _csv_rows(source, _form(source, []))


def _first(rows: Iterator[Cells]) -> Cells:
    for row in rows:
        return row
    raise ImportProblem("the file is empty")


def _sample(rows: Iterator[Cells]) -> Iterator[Cells]:
    """Yield the first rows, up to one that is not valid: it is reported when it is read."""
    try:
        yield from islice(rows, SAMPLE_LINES)
    except ImportProblem:
        return


def _csv_rows(source: Source, form: _Form) -> Iterator[Cells]:
    """Yield the rows with text, header first."""
    lines = islice(_text_lines(source, form.encoding), form.skipped, None)
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: another reader may have raised it
    reader = _reader(lines, form)
    while True:
        line = reader.line_num + 1 + form.skipped
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ImportProblem(f"is not valid CSV: {error}", line=line) from None
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield line, cells


def _reader(lines: Iterable[str], form: _Form) -> Any:
    if form.is_quoted:
        return csv.reader(lines, strict=True, delimiter=form.separator)
    return csv.reader(lines, strict=True, delimiter=form.separator, quoting=csv.QUOTE_NONE)


def _text_lines(source: Source, encoding: str) -> Iterator[str]:
    for number, line in source.raw_lines(encoding=encoding):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise ImportProblem(f"is not UTF-8 at byte {error.start}", line=number) from None
        if "\0" in text:
            raise ImportProblem("holds a NUL character, which cannot be stored", line=number)
        yield text


def _form(source: Source, notes: list[str]) -> _Form:
    """Recognise how a text is written: with the right separator, rows are as long as the first."""
    encoding = encoding_of(source, notes)
    with source.open(encoding=encoding) as content:
        start = content.read(START)
    text = start.decode(errors="ignore")
    if mark := SEPARATOR_LINE.match(text):
        return _Form(encoding, mark[1], True, 1)
    if len(start) == START:
        text = text[: text.rfind("\n") + 1] or text
    forms = [_Form(encoding, separator, True, 0) for separator in SEPARATORS]
    forms.append(_Form(encoding, "\t", False, 0))
    fits = {form: _fit(text, form) for form in forms}
    form = max(fits, key=lambda form: fits[form])
    if fits[form][1] < 2:
        quoted = _Form(encoding, ONE_COLUMN, True, 0)
        form = quoted if _fit(text, quoted)[0] == 1 else _Form(encoding, ONE_COLUMN, False, 0)
    if not form.is_quoted and '"' in text:
        notes.append("Quotation marks were read as part of the text.")
    return form


def _fit(text: str, form: _Form) -> tuple[float, int]:
    """Return the share of rows as long as the first one, and its length; (0, 0) for a single column."""
    rows = []
    try:
        for cells in _reader(text.splitlines(keepends=True), form):
            if any(map(str.strip, cells)):
                rows.append(cells)
    except csv.Error as error:
        if "unexpected end of data" not in str(error):
            return (0.0, len(rows[0])) if rows and len(rows[0]) > 1 else (0.0, 0)
    if not rows or (len(rows[0]) < 2 and form.separator != ONE_COLUMN):
        return 0.0, 0
    width = len(rows[0])
    alike = sum(len(row) == width or (len(row) > width and not any(row[width:])) for row in rows)
    return alike / len(rows), width


def encoding_of(source: Source, notes: list[str]) -> str:
    """Return the encoding of a text that is not UTF-8, '' for UTF-8 and UTF-16; a guess is noted.

    A text whose other characters are valid UTF-8 is damaged, and read as UTF-8, which refuses the damage
    with its line.
    """
    if chosen := str(source.settings.get(ENCODING, "")).strip():
        try:
            return "" if codecs.lookup(chosen).name in ("utf-8", "utf-16") else codecs.lookup(chosen).name
        except LookupError:
            raise ImportProblem("is no encoding: write one such as cp1252", field=ENCODING) from None
    if utf_16_of(source.binary_start()):
        notes.append("Read as UTF-16.")
        return ""
    sample, is_valid = _not_ascii(source)
    if is_valid:
        return ""
    damaged = sample.decode(errors="replace").count("\ufffd")
    if len(MULTIBYTE.findall(sample)) > damaged:
        return ""
    matches = from_bytes(sample, cp_isolation=list(ENCODINGS))
    names = [name for match in matches for name in (match.encoding, *match.could_be_from_charset)]
    encoding = SINGLE_BYTE if SINGLE_BYTE in names or not names else names[0]
    notes.append(f"Read as {ENCODINGS.get(encoding, encoding)}; another encoding can be set.")
    return encoding


def _not_ascii(source: Source) -> tuple[bytes, bool]:
    """Return the first lines with other than ASCII characters, and whether all of the text is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_valid = True
    with source.open() as content:
        while block := content.read(BLOCK):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                is_valid = False
                break
        else:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                is_valid = False
    if is_valid:
        return b"", True
    sample = b""
    with source.open() as content:
        while len(sample) < START and (line := content.readline(START)):
            sample += b"" if line.isascii() else line
    return sample, False


# JSON: lines of objects, a list of objects, and an object with one such list.

TURN_LISTS = frozenset(
    [
        "messages",
        "turns",
        "conversation",
        "conversations",
        "dialogue",
        "dialog",
        "utterances",
        "history",
        "log",
    ]
)
"""Keys of lists whose objects are usually the turns of one dialogue."""


def is_json_lines(source: Source, path: Path | None = None) -> bool:
    """Whether a text that begins with `{` has an object on each of its lines, and more than one line."""
    with source.open(path) as content:
        lines = (line for line in iter(lambda: content.readline(source.max_line), b"") if line.strip())
        first, second = next(lines, b""), next(lines, b"")
    return first.rstrip().endswith(b"}") and second.lstrip().startswith(b"{")


def _json_lines(source: Source) -> TableFile:
    columns: dict[str, None] = {}
    for line, content in islice(source.lines(), SAMPLE_LINES):
        try:
            columns |= dict.fromkeys(flatten(_object(content)))
        except ImportProblem as problem:
            if not columns:
                raise problem.placed(line=line) from None
    notes: list[str] = []

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        later: dict[str, None] = {}
        left_out = source.left_out.setdefault("", {})
        for line, content in source.lines():
            try:
                row = flatten(_object(content))
            except ImportProblem as problem:
                if line in left_out:
                    yield line, {}
                else:
                    source.report(problem.placed(line=line))
                continue
            if not row.keys() <= columns.keys():
                later |= dict.fromkeys(name for name in row if name not in columns)
            if row:
                yield line, row
        if later:
            names = ", ".join(name[:80] for name in islice(later, 20))
            notes.append(f"Fields that only occur after line {SAMPLE_LINES:,} were passed over: {names}.")

    return TableFile(JSON_LINES, tuple(columns), read_rows, notes=notes)


def _object(content: bytes) -> dict[str, Any]:
    return require(decode_python(content), dict)


def _json_list(source: Source) -> TableFile:
    return table_of_objects(source, decode_python(source.document(source.path)))


def _json_document(source: Source) -> TableFile:
    records, note = records_of(require(decode_python(source.document(source.path)), dict))
    table = table_of_objects(source, records)
    table.notes += [note] if note else []
    return table


def records_of(document: dict[str, Any]) -> tuple[list[Any], str]:
    """Return the objects of a document, and how they were found: '' where the document itself is the object.

    They are the only list of objects in it, unless that is one of turns; or its values, where all are alike.
    """
    lists = {key: value for key, value in document.items() if _is_list_of_objects(value)}
    if len(lists) == 1:
        ((key, records),) = lists.items()
        if key.lower() not in TURN_LISTS or any(map(_has_objects, records)):
            return records, f"The rows are the objects of `{key}`."
    values = list(document.values())
    if len(values) > 1 and all(isinstance(value, dict) and value for value in values):
        shared = set(values[0]).intersection(*values[1:50])
        if 2 * len(shared) >= len(values[0]):
            records = [{"key": key} | value for key, value in document.items()]
            return records, "The rows are the objects of the document, with their keys as `key`."
    return [document], ""


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _has_objects(record: dict[str, Any]) -> bool:
    return any(isinstance(value, list) and value and isinstance(value[0], dict) for value in record.values())


def table_of_objects(source: Source, records: Any) -> TableFile:
    """Return the table of a list of JSON objects."""
    if not isinstance(records, list) or not records:
        raise ImportProblem("is a JSON document, and no list of objects")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ImportProblem(f"object {number} of the list must be an object, not {kind_of(record)}")
    rows = [flatten(record) for record in records[:SAMPLE_LINES]]
    columns = dict.fromkeys(chain.from_iterable(rows))
    rest = records[SAMPLE_LINES:]

    def read_rows() -> Iterator[tuple[int, Row]]:
        for number, row in enumerate(chain(rows, map(flatten, rest)), start=1):
            if row:
                yield number, row

    return TableFile(JSON_LIST, tuple(columns), read_rows)


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
