"""The rows that an import left out, as a file with the reasons: of a table as CSV, of JSON as lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.formats.fields import decode_python
from annotation.formats.several_files import open_tables
from annotation.formats.source import LINES, ImportProblem, Source
from annotation.formats.table_file import Row, text_of
from annotation.formats.table_reader import is_json_lines, raw_rows, records_of, rows_of

REASON = "why_left_out"
MOST_LEFT_OUT = 100_000
"""Rows that one import may leave out."""


def write_left_out(source: Source, place: Path) -> Path:
    """Write the rows that an import left out, and return the file: `place` with the suffix of its form.

    Rows of JSON keep their objects, with the reason as a further field; rows of other tables their cells,
    behind a column with the reason.
    """
    if _holds_objects(source):
        path = place.with_name(f"{place.name}.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for record in _objects(source):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        return path
    path = place.with_name(f"{place.name}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(_cells(source))
    return path


def _holds_objects(source: Source) -> bool:
    """Whether the rows are JSON objects: of a file, or of the first file of a folder."""
    first = Source(source.files()[0])
    return first.is_text and first.begins_with((b"{", b"["))


def _objects(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the objects that were left out; a line that is none is a text."""
    of_table = source.left_out.get("", {}) if source.path.is_dir() else {}
    for file_number, path in enumerate(source.files()):
        start = source.line_of(file_number, 0)
        reasons = source.left_out.get(source.name_in_folder(path), {}) | {
            line - start: reason for line, reason in of_table.items() if 0 <= line - start < LINES
        }
        if not reasons:
            continue
        for number, value in _numbered(source, path):
            if number in reasons:
                fields = value if isinstance(value, dict) else {"content": value}
                yield {REASON: reasons[number]} | fields


def _numbered(source: Source, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the objects of a file with their numbers as rows: those of a document, else its lines."""
    if not is_json_lines(source, path):
        try:
            document = decode_python(source.document(path))
            if source.is_table:
                records = rows_of(document)[0]
            else:
                records = records_of(document)[0] if isinstance(document, dict) else document
            yield from enumerate(records, start=1)
            return
        except ImportProblem:
            pass  # the first line may be one of those left out
    for number, line in source.raw_lines(path):
        yield number, _value(line)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode(errors="replace").rstrip("\r\n")


def _cells(source: Source) -> Iterator[list[str]]:
    """Yield the header and the rows that were left out."""
    reasons = source.left_out.get("", {})
    if not source.path.is_dir() and source.is_text:
        try:
            for number, (line, cells) in enumerate(raw_rows(source)):
                if not number or line in reasons:
                    yield [REASON if not number else reasons[line], *(cell or "" for cell in cells)]
        except ImportProblem:
            return
        return
    table = open_tables(source)
    yield [REASON, *table.columns]
    for line, row in table.read_rows():
        if line in reasons:
            yield [reasons[line], *_texts(row, table.columns)]


def _texts(row: Row, columns: tuple[str, ...]) -> Iterator[str]:
    return (text_of(row.get(column)) for column in columns)
