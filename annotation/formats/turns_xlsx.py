"""Dialogues from an Excel workbook: the first sheet, one row a turn, as `turn_table` has it.

A workbook is an archive of XML that anybody may have made: how much is in it is checked before any of it is
read, rows and columns are bounded whatever the sheet says of its size, entities are refused (defusedxml), and
formulas are not evaluated: what the spreadsheet last showed is read.
"""

from __future__ import annotations

import datetime
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
        _check_archive(file)
        yield from _filled(_sheet(file))
    source.done = source.total


def _filled(rows: Iterator[tuple[Any, ...]]) -> Iterator[Cells]:
    width = 0
    for number in range(1, MAX_ROWS + 2):
        try:
            row = next(rows, None)
        except BROKEN as error:
            raise _unreadable(error) from None
        if row is None:
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


def _check_archive(file: BinaryIO) -> None:
    """Refuse what is not a workbook, or holds more than is read, before any of it is unpacked."""
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
    except BROKEN as error:
        raise _unreadable(error) from None
    texts = sum(part.file_size for part in parts if part.filename.lower().endswith("sharedstrings.xml"))
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED or texts > MAX_TEXTS:
        raise ImportProblem(
            f"holds more than {MAX_UNPACKED >> 20} MiB unpacked, or {MAX_TEXTS >> 20} MiB of texts: "
            "save it as CSV"
        )


def _sheet(file: BinaryIO) -> Iterator[tuple[Any, ...]]:
    """Return the rows of the first sheet, bounded whatever the sheet says of its size."""
    import openpyxl  # only where a workbook is read

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()
        return iter(sheet.iter_rows(max_row=MAX_ROWS + 1, max_col=MAX_COLUMNS, values_only=True))
    except BROKEN as error:
        raise _unreadable(error) from None


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
