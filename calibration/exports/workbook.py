"""Excel workbooks as streams: one sheet, whose texts are texts and never formulas.

Libraries stamp a workbook with the time at which it was written; here the same rows give the same bytes.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any
from xml.sax.saxutils import escape

from calibration.errors import ExportRefused

Value = str | float | int | bool | None
MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""Excel's limits: rows with the header, columns, and UTF-16 units of a cell's text."""
DATE = (1980, 1, 1, 0, 0, 0)
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
            sheet.write((XML + HEAD + _row([_cell(column, column) for column in columns])).encode())
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
    entry = zipfile.ZipInfo(path, DATE)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _blocks(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[list[str]]:
    block: list[str] = []
    for row in rows:
        block.append(_row([_cell(value, column) for value, column in zip(row, columns, strict=True)]))
        if len(block) == ROWS_A_BLOCK:
            yield block
            block = []
    if block:
        yield block


def _row(cells: Sequence[str]) -> str:
    return f"<row>{''.join(cells)}</row>"


def _cell(value: Value, column: str) -> str:
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
