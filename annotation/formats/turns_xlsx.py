"""Dialogues from an Excel workbook: the first sheet, one row a turn, as `turn_table` has it.

A workbook is an archive of XML that anybody may have made: each part of it is measured before a parser makes
objects of it, rows and columns are bounded whatever the sheet says of its size, entities are refused
(defusedxml), and formulas are not evaluated: what the spreadsheet last showed is read. Only what this takes
is read: the list of contents, the workbook, its texts, its styles (they mark dates) and the sheet.
"""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.formats.tables import Cells
from annotation.formats.turn_table import COLUMNS, read_table

MAX_ROWS = 1_048_576
MAX_COLUMNS = 100
MAX_PARTS = 1_000
MAX_UNPACKED = 128 * 2**20
"""Bytes of all parts together; zipfile reads no more of a part than its entry says that it holds."""
MAX_TEXTS = 32 * 2**20
"""Bytes of the table of texts, which is held in memory."""
MAX_TEXT_TAGS = 1_500_000
MAX_PART = 2**20
"""Bytes of any other part that is read as a whole, such as the styles."""
MAX_PART_TAGS = 50_000
MAX_ROW = 16 * 2**20
"""Bytes of one row or one text, and of whatever stands between two of them."""
MAX_ROW_TAGS = 200_000
COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How the parts of a workbook may be packed."""
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
    ValueError,  # defusedxml's refusals are of this kind, too
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # a part that is encrypted, compressed in an unknown way or nested without end
)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the first sheet."""
    return read_table(source, _cells(source))


def _cells(source: Source) -> Iterator[Cells]:
    """Yield the rows that hold anything, the header first, all as long as the header."""
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
    """An archive whose parts are measured before they are read; ImportProblem for one that holds too much."""

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

    def open(self, name: Any, *arguments: Any, **named: Any) -> Any:
        """Open a part that is read row by row, or text by text."""
        self.measure(name, most=MAX_UNPACKED, tags=MAX_UNPACKED)
        return super().open(name, *arguments, **named)

    def measure(self, name: str, *, most: int, tags: int) -> None:
        """Refuse a part with too many bytes or tags, in all or in one row. A part is unpacked once for it.

        The number of tags is that of `<`, whatever encoding the part has.
        """
        if name in self.measured:
            return
        size = all_tags = row_size = row_tags = 0
        tail = b""
        with super().open(name) as part:
            while block := part.read(BLOCK):
                size, all_tags = size + len(block), all_tags + block.count(b"<")
                starts = [found.start() for found in RECORD.finditer(tail + block)]
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
        sheets = [found.target for _, found in reader.parser.find_sheets() if "chartsheet" not in found.Type]
        with archive.open(sheets[0]) as sheet:
            dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
            parser = WorkSheetParser(sheet, reader.shared_strings, data_only=True, epoch=book.epoch, **dates)
            for number, cells in parser.parse():
                parser.row_dimensions.clear()  # it keeps how high each row is
                if cells or number > MAX_ROWS:
                    yield number, _placed(cells)


def _placed(cells: list[dict[str, Any]]) -> list[Any]:
    """Return the values of a row's cells by their columns."""
    cells = [cell for cell in cells if 1 <= cell["column"] <= MAX_COLUMNS]
    row = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = cell["value"]
    return row


def _too_large(what: str) -> ImportProblem:
    return ImportProblem(f"holds {what}: save it as CSV")


def _unreadable(error: BaseException) -> ImportProblem:
    return ImportProblem(f"is not an Excel workbook (.xlsx) that can be read ({type(error).__name__})")


def _without_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts = texts[:-1]
    return texts


def _text(cell: Any) -> str:
    """Return a cell as it reads: whole numbers without a point, dates as ISO 8601 has them."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).replace("\0", "")


FORMAT = Format(
    key="turns-xlsx",
    title="Dialogues as a table, Excel",
    hint="An .xlsx file whose first sheet has one row a turn, with the columns of the CSV table.",
    read=read,
    looks_like=lambda head: head.is_zip,
    columns=COLUMNS,
    packed=True,
)
