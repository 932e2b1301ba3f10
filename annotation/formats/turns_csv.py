"""Dialogues from CSV or TSV: one row a turn, as `turn_table` has it."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.source import Source
from annotation.formats.tables import csv_cells
from annotation.formats.turn_table import COLUMNS, NEEDED, read_table


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the table."""
    return read_table(source, csv_cells(source))


FORMAT = Format(
    key="turns-csv",
    title="Dialogues as a table, CSV or TSV",
    hint="One row a turn: dialogue, speaker, text; continuation, system, at, given where they apply.",
    read=read,
    looks_like=lambda head: set(NEEDED) <= head.header,
    columns=COLUMNS,
)
