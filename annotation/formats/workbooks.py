"""Excel workbooks as tables: one sheet, measured before it is parsed.

A workbook is an archive of XML from an untrusted source: each part of it is measured before it is parsed into
objects, rows and columns are bounded whatever size the sheet declares, entities are refused (defusedxml), and
formulas are not evaluated: the spreadsheet's last displayed value is read. Only the necessary parts are read:
the list of contents, the workbook, its texts, its styles (they mark dates) and the sheet.
"""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any
from xml.etree.ElementTree import ParseError

from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import (
    EXCEL,
    SAMPLE_LINES,
    SHEET,
    Cells,
    Row,
    TableFile,
    as_text,
)
from annotation.formats.table_headers import read_header, rows_by_column, title_rows, titles_note

MAX_ROWS = 1_048_576
MAX_COLUMNS = 1_000
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
SHARED_STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods of a workbook's parts."""
RECORD = re.compile(rb"<(?:[\w.-]+:)?(?:row|si)[\s/>]")
CODE = re.compile("_x([0-9A-Fa-f]{4})_")
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


MERGED = re.compile(rb'<(?:[\w.-]+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')


def open_workbook(source: Source) -> TableFile:
    """Open the sheet named by the setting, else the first sheet that is a table."""
    notes: list[str] = []
    with source.open_binary() as file:
        sheets = _guarded(lambda: _Book(file).sheets)
        name, sample = _sheet_and_rows(file, sheets, str(source.settings.get(SHEET, "")).strip())
    if len(sheets) > 1:
        others = ", ".join(other[:60] for other in sheets if other != name)
        notes.append(f"Read the sheet {name!r}, and not {others[:300]}.")
    titles = title_rows([cells for _, cells in sample])
    if titles:
        notes.append(titles_note(row[0] for row in sample[:titles]))
    line, names = sample[titles]
    below = [cells for _, cells in sample[titles + 1 :]]
    width = max(len(row) for row in (names, *below))
    header = read_header(_padded(names, width), below, line, notes)

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        with source.open_binary() as file:
            rows = _rows(file, name, line)
            padded = ((number, _padded(cells, width)) for number, cells in rows)
            yield from rows_by_column(source, header, islice(padded, titles + 1, None))
        source.done = source.total

    return TableFile(EXCEL, header.columns, read_rows, header.wordings, notes, tuple(sheets))


def _sheet_and_rows(file: IO[bytes], sheets: Sequence[str], setting: str) -> tuple[str, list[Cells]]:
    """Return the name of the sheet to read, and its first rows: of the first with two rows of two cells."""
    if setting and setting not in sheets:
        raise ImportProblem(
            f"there is no sheet {setting!r}; there are {', '.join(sheets)[:300]}", field=SHEET
        )
    first: tuple[str, list[Cells]] | None = None
    for name in [setting] if setting else sheets:
        sample = list(islice(_rows(file, name), SAMPLE_LINES))
        if sum(len(cells) > 1 for _, cells in sample) > 1:
            return name, sample
        first = first or ((name, sample) if sample else None)
    if first is None:
        raise ImportProblem(f"the sheet {setting!r} is empty" if setting else "has no sheet with cells")
    return first


def _padded(cells: Sequence[str | None], width: int) -> list[str | None]:
    return [*cells, *[None] * (width - len(cells))]


def _rows(file: IO[bytes], sheet: str, header: int = 0) -> Iterator[Cells]:
    """Yield the rows of a sheet that have text; merged cells below the header have the text of the first."""
    rows = _guarded(lambda: _Book(file).rows(sheet))
    merged = _guarded(lambda: _Book(file).merged(sheet)) if header else {}
    texts: dict[int, str | None] = {}
    while (row := _guarded(lambda: next(rows, None))) is not None:
        number, values = row
        if number > MAX_ROWS:
            raise ImportProblem(f"has over {MAX_ROWS:,} rows", line=number)
        cells = [_text(value) for value in values]
        for column, is_first in merged.get(number, {}).items() if number > header else ():
            if is_first:
                texts[column] = cells[column] if column < len(cells) else None
            else:
                cells = _padded(cells, column + 1)
                cells[column] = texts.get(column)
        if any(cell and cell.strip() for cell in cells):
            yield number, cells


def _guarded(read: Any) -> Any:
    """Call a reader of the workbook; whatever goes wrong in it is one line."""
    try:
        return read()
    except BROKEN as error:
        reason = f"is not an Excel workbook (.xlsx) that can be read ({type(error).__name__})"
        raise ImportProblem(reason) from None


class _Archive(zipfile.ZipFile):
    """An archive whose parts are measured before they are read; ImportProblem for one that is too large."""

    def __init__(self, file: IO[bytes]) -> None:
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


@dataclass(slots=True)
class _Book:
    """A workbook's sheets, read row by row."""

    file: IO[bytes]

    @property
    def sheets(self) -> list[str]:
        """Names of the sheets with cells, in order."""
        return list(self._targets(self._reader()))

    def rows(self, name: str) -> Iterator[tuple[int, list[Any]]]:
        """Yield the numbered rows of a sheet that have cells, no wider than is read."""
        from openpyxl.styles.stylesheet import apply_stylesheet
        from openpyxl.worksheet._reader import WorkSheetParser

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = self._reader()
            if texts := reader.package.find(SHARED_STRINGS):
                reader.archive.measure(texts.PartName[1:], most=MAX_TEXTS, tags=MAX_TEXT_TAGS)
            reader.read_strings()
            apply_stylesheet(reader.archive, book := reader.wb)
            with reader.archive.open(self._targets(reader)[name]) as sheet:
                dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
                parser = WorkSheetParser(
                    sheet, reader.shared_strings, data_only=True, epoch=book.epoch, **dates
                )
                for number, cells in parser.parse():
                    parser.row_dimensions.clear()  # it accumulates row heights
                    if cells or number > MAX_ROWS:
                        yield number, _placed(cells)

    def merged(self, name: str) -> dict[int, dict[int, bool]]:
        """Return the columns of merged cells by row, with whether it is the first row of its range."""
        reader = self._reader()
        merged: dict[int, dict[int, bool]] = {}
        count, tail = 0, b""
        with reader.archive.open(self._targets(reader)[name]) as sheet:
            while block := sheet.read(BLOCK):
                for match in MERGED.finditer(tail + block):
                    first, last = int(match[2]), min(int(match[3]), MAX_ROWS)
                    count += last - first + 1
                    if count > MAX_ROWS:
                        raise _too_large(f"more than {MAX_ROWS:,} merged cells")
                    for row in range(first, last + 1):
                        merged.setdefault(row, {})[_column(match[1])] = row == first
                tail = block[-LONGEST_START:]
        return merged

    def _reader(self) -> Any:
        from openpyxl.reader import excel  # only where a workbook is read

        reader = excel.ExcelReader(self.file, read_only=True, data_only=True, keep_links=False)
        reader.archive = _Archive(self.file)
        reader.read_manifest()
        reader.read_workbook()
        return reader

    def _targets(self, reader: Any) -> dict[str, str]:
        entries = reader.parser.find_sheets()
        return {sheet.name: entry.target for sheet, entry in entries if "chartsheet" not in entry.Type}


def _column(letters: bytes) -> int:
    """Return the index of a column from its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _placed(cells: list[dict[str, Any]]) -> list[Any]:
    """Return the values of a row's cells by column."""
    if any(cell["column"] > MAX_COLUMNS and cell["value"] is not None for cell in cells):
        raise _too_large(f"more than {MAX_COLUMNS:,} columns")
    cells = [cell for cell in cells if 1 <= cell["column"] <= MAX_COLUMNS]
    row = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = cell["value"]
    return row


def _too_large(excess: str) -> ImportProblem:
    return ImportProblem(f"holds {excess}: save it as CSV")


def _text(value: Any) -> str | None:
    """Return a cell's text: dates without a time as dates."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    text = as_text(value)
    return text and CODE.sub(_character, text).replace("\0", "")


def _character(match: re.Match[str]) -> str:
    """Return the character of a code such as `_x000D_`, which Excel writes where XML lacks it."""
    return chr(int(match[1], 16))
