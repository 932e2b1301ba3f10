"""Tables: rows of texts by column, from CSV or TSV in UTF-8, and dialogues built from them."""

from __future__ import annotations

import csv
import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

from annotation.formats.corpus_format import delimiter
from annotation.formats.source import ImportProblem, Source

Row = dict[str, str]
Cells = tuple[int, list[str]]
"""The line on which a row begins, and its cells."""

LONGEST_CELL = 131_072
"""Maximum characters of one cell."""


def csv_cells(source: Source) -> Iterator[Cells]:
    """Yield the non-empty rows, header first; the header line determines the delimiter."""
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


def header_of(source: Source, names: list[str], allowed: Collection[str], needed: Iterable[str]) -> list[str]:
    """Return the columns by Concord's names; the others are listed with the import.

    Refuses missing and duplicate columns.
    """
    header = [name.strip().lower() for name in names]
    for name in needed:
        if name not in header:
            raise ImportProblem(
                f"has no column {name!r}: the first line names the columns", line=1, field=name
            )
    if repeated := {name for name in header if name and header.count(name) > 1}:
        raise ImportProblem("is there twice", line=1, field=sorted(repeated)[0])
    source.is_table = True
    source.pass_over(name for name in header if name not in allowed)
    return header


def row_of(header: list[str], values: list[str]) -> Row:
    """Return the cells of a row by column; refuse a row that has more or fewer."""
    if len(values) != len(header):
        raise ImportProblem(f"has {len(values)} columns, the first line {len(header)}")
    return dict(zip(header, values, strict=True))


# Dialogues from an Excel workbook: the first sheet, one row a turn, as described above.
#
# A workbook is an archive of XML from an untrusted source: each part of it is measured before it is parsed
# into objects, rows and columns are bounded whatever size the sheet declares, entities are refused
# (defusedxml), and formulas are not evaluated: the spreadsheet's last displayed value is read. Only the
# necessary parts are read: the list of contents, the workbook, its texts, its styles (they mark dates) and
# the sheet.

MAX_ROWS = 1_048_576
MAX_COLUMNS = 100
MAX_PARTS = 1_000
MAX_UNPACKED = 128 * 2**20
"""Bytes of all parts together; zipfile reads no more of a part than its entry declares."""
MAX_TEXTS = 32 * 2**20
"""Bytes of the table of texts, which is held in memory."""
MAX_TEXT_TAGS = 1_500_000
MAX_PART = 2**20
"""Bytes of any other part that is read as a whole, such as the styles."""
MAX_PART_TAGS = 50_000
MAX_ROW = 16 * 2**20
"""Bytes of one row or one text, and of the content between two of them."""
MAX_ROW_TAGS = 200_000
COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods of a workbook's parts."""
RECORD = re.compile(rb"<(?:[\w.-]+:)?(?:row|si)[\s/>]")
LONGEST_START = 64
BLOCK = 2**18
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    EOFError,
    OSError,
    LookupError,
    ValueError,  # includes defusedxml's refusals
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # a part that is encrypted, compressed in an unknown way or nested without end
)


def _cells(source: Source) -> Iterator[Cells]:
    """Yield the non-empty rows, header first, all as long as the header."""
    if source.path.is_dir():
        raise ImportProblem("is a folder; this format is one file", file=source.name)
    if not source.path.stat().st_size:
        raise ImportProblem("the file is empty")
    with source.path.open("rb") as file:
        yield from _filled(_sheet(file))
    source.done = source.total


def _filled(rows: Iterator[tuple[int, list[Any]]]) -> Iterator[Cells]:
    width = 0
    while True:
        try:
            number, row = next(rows, (0, []))
        except BROKEN as error:
            raise _unreadable(error) from None
        if not number:
            break
        if number > MAX_ROWS:
            raise ImportProblem(f"has over {MAX_ROWS:,} rows", line=number)
        if row.count(None) == len(row):
            continue
        texts = _without_empty_end([_text(cell) for cell in row])
        width = width or len(texts)
        yield number, texts + [""] * (width - len(texts))
    if not width:
        raise ImportProblem("the first sheet is empty")


class _Archive(zipfile.ZipFile):
    """An archive whose parts are measured before they are read; ImportProblem for one that is too large."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        parts = self.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
            raise _too_large(f"more than {MAX_UNPACKED >> 20} MiB unpacked, or {MAX_PARTS:,} parts")
        if any(part.compress_type not in COMPRESSED for part in parts):
            raise zipfile.BadZipFile
        self.measured: set[str] = set()

    def read(self, name: Any, pwd: bytes | None = None) -> bytes:
        """Return a part that is read as a whole."""
        self.measure(name, most=MAX_PART, tags=MAX_PART_TAGS)
        return super().read(name, pwd)

    def open(self, name: Any, *arguments: Any, **options: Any) -> Any:
        """Open a part that is read row by row, or text by text."""
        self.measure(name, most=MAX_UNPACKED, tags=MAX_UNPACKED)
        return super().open(name, *arguments, **options)

    def measure(self, name: str, *, most: int, tags: int) -> None:
        """Refuse a part with too many bytes or tags, in all or in one row. The part is unpacked once for it.

        Tags are counted as `<`, whatever encoding the part has.
        """
        if name in self.measured:
            return
        size = all_tags = row_size = row_tags = 0
        tail = b""
        with super().open(name) as part:
            while block := part.read(BLOCK):
                size, all_tags = size + len(block), all_tags + block.count(b"<")
                starts = [match.start() for match in RECORD.finditer(tail + block)]
                row = (tail + block)[starts[-1] :] if starts else block
                row_size = len(row) + (0 if starts else row_size)
                row_tags = row.count(b"<") + (0 if starts else row_tags)
                tail = block[-LONGEST_START:]
                if size > most or all_tags > tags or row_size > MAX_ROW or row_tags > MAX_ROW_TAGS:
                    raise _too_large(f"too much in its part {name[:100]}")
        self.measured.add(name)


def _sheet(file: BinaryIO) -> Iterator[tuple[int, list[Any]]]:
    """Yield the numbered rows of the first sheet that have cells, no wider than is read."""
    from openpyxl.reader import excel  # only where a workbook is read
    from openpyxl.styles.stylesheet import apply_stylesheet
    from openpyxl.worksheet._reader import WorkSheetParser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = excel.ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.archive = archive = _Archive(file)
        reader.read_manifest()
        if texts := reader.package.find(excel.SHARED_STRINGS):
            archive.measure(texts.PartName[1:], most=MAX_TEXTS, tags=MAX_TEXT_TAGS)
        reader.read_strings()
        reader.read_workbook()
        book = reader.wb
        apply_stylesheet(archive, book)
        sheets = [entry.target for _, entry in reader.parser.find_sheets() if "chartsheet" not in entry.Type]
        with archive.open(sheets[0]) as sheet:
            dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
            parser = WorkSheetParser(sheet, reader.shared_strings, data_only=True, epoch=book.epoch, **dates)
            for number, cells in parser.parse():
                parser.row_dimensions.clear()  # it accumulates row heights
                if cells or number > MAX_ROWS:
                    yield number, _placed(cells)


def _placed(cells: list[dict[str, Any]]) -> list[Any]:
    """Return the values of a row's cells by column."""
    cells = [cell for cell in cells if 1 <= cell["column"] <= MAX_COLUMNS]
    row = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = cell["value"]
    return row


def _too_large(excess: str) -> ImportProblem:
    return ImportProblem(f"holds {excess}: save it as CSV")


def _unreadable(error: BaseException) -> ImportProblem:
    return ImportProblem(f"is not an Excel workbook (.xlsx) that can be read ({type(error).__name__})")


def _without_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts = texts[:-1]
    return texts


def _text(cell: Any) -> str:
    """Return a cell's text: whole numbers without a point, dates in ISO 8601."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).replace("\0", "")
