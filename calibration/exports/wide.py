"""Labels with a column for each rater: one row for each item and question.

Repeated answers, occasions and campaigns have rows of their own, so that every label is in one cell. The
import format `ratings-wide` reads the table back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import IO, Any

import orjson

from annotation.formats.wide_ratings import PARTS, rater_column
from calibration.exports.labels import labels
from calibration.exports.parts import ExportPart
from calibration.exports.writing import Column, RowTable, jsonl_blocks, text_of
from calibration.ratings.scope import Scope

ROW_COLUMNS = (
    Column("item", ""),
    Column("dialogue", ""),
    Column("continuation", ""),
    Column("system", ""),
    Column("turn", "", "integer"),
    Column("turn_number", "", "integer"),
    Column("text", ""),
    Column("question", ""),
    Column("scheme", ""),
    Column("level", ""),
    Column("values", ""),
    Column("group", ""),
    Column("sample", "", "integer"),
    Column("occasion", ""),
    Column("campaign", ""),
    Column("cluster", ""),
    Column("members", ""),
    Column("part", ""),
    Column("fake_model", "", "boolean"),
)
"""Columns that the labels of a row share."""
JSON = ("values", "members", "evidence", "order")
SHARED = [column.name for column in ROW_COLUMNS]

Row = dict[str, Any]


@dataclass(frozen=True)
class _Raters:
    """Columns of the raters in a table: for each name its kind, and the parts that any of its labels has."""

    kinds: dict[str, tuple[str, bool]] = field(default_factory=dict)
    parts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, label: Mapping[str, Any]) -> None:
        name = label["rater"]
        self.kinds[name] = label["kind"], label["identified"]
        self.parts.setdefault(name, set()).update(part for part in PARTS if label[part])

    def column(self, name: str, part: str = "") -> str:
        return rater_column(name, *self.kinds[name], part)

    def columns(self) -> Iterator[Column]:
        for name in sorted(self.kinds):
            yield Column(self.column(name), "", "value")
            for part in PARTS:
                if part in self.parts[name]:
                    yield Column(self.column(name, part), "")


def wide_labels(scope: Scope, export_part: ExportPart | None = None) -> RowTable:
    """Return the labels of a scope with a column for each rater; all are read before the first row."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the last row)
    for block in jsonl_blocks(labels(scope, export_part, with_text=True)):
        file.write(block)
    raters = _Raters()
    for label in _read(file):
        raters.add(label)
    return RowTable((*ROW_COLUMNS, *raters.columns()), _rows(file, raters))


def _read(file: IO[bytes]) -> Iterator[Row]:
    """Yield the labels; JSON is a text in this table, whatever the form of its file."""
    file.seek(0)
    for line in file:
        label = orjson.loads(line)
        yield label | {name: text_of(label[name]) for name in JSON if label[name] is not None}


def _rows(file: IO[bytes], raters: _Raters) -> Iterator[Row]:
    text, item = None, None
    with file:
        for place, group in groupby(_read(file), itemgetter("item", "scheme", "question")):
            members = list(group)
            if place[0] != item:
                item, text = place[0], members[0]["text"]
            yield from _rows_of_question(members, raters, text)


def _rows_of_question(labels: Iterable[Row], raters: _Raters, text: str | None) -> Iterator[Row]:
    """Yield the rows of an item and a question: a second answer of a rater is in another row."""
    rows: dict[tuple[Any, ...], Row] = {}
    for label in labels:
        column = raters.column(label["rater"])
        place, number = (label["occasion"], label["campaign"] or "", label["sample"]), 0
        while column in rows.get((*place, number), ()):
            number += 1
        shared = {name: label[name] for name in SHARED} | {"text": text}
        row = rows.setdefault((*place, number), shared)
        row[column] = label["value"]
        row |= {raters.column(label["rater"], part): label[part] for part in PARTS if label[part]}
    for _, row in sorted(rows.items()):
        yield row
