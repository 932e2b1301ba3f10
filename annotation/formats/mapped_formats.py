"""The formats of tables: with Concord's own columns, and with any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotation.formats import ratings
from annotation.formats.corpus_format import ANY_ROLES, JUDGES, MISSING, OF_TABLES, Format, SourceRecord
from annotation.formats.mapped import read_mapped, read_rows
from annotation.formats.several_files import open_tables
from annotation.formats.source import ImportProblem, Source
from annotation.formats.turn_rows import COLUMNS, NUMBER, RATER


def _own_columns(header: Iterable[str]) -> dict[str, str]:
    """Return the mapping of a table with Concord's own columns; a rater and a number show what repeats."""
    names = list(header)
    entries = {role: name for role in COLUMNS for name in names if name.strip().lower() == role}
    others = [name for name in names if name not in entries.values()]
    for role, pattern in (("rater", RATER), ("turn", NUMBER)):
        match = next((name for name in others if pattern.fullmatch(name.strip().lower())), None)
        if match:
            entries[role] = match
    return entries


NEEDED = ("dialogue", "speaker", "text")


def read_turn_table(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of a table with Concord's own columns."""
    table = open_tables(source)
    entries = _own_columns(table.columns)
    if table.files and table.files.are == "raters":
        entries.setdefault("rater", table.files.column)
    for name in NEEDED:
        if name not in entries:
            raise ImportProblem(
                f"has no column {name!r}: the first line names the columns", line=1, field=name
            )
    yield from read_rows(source, table, entries, is_contiguous=True)


TURN_TABLE = Format(
    key="turns-csv",
    title="Dialogues as a table, with Concord's columns",
    hint="One row a turn: dialogue, speaker, text; continuation, system, at, given where they apply.",
    read=read_turn_table,
    looks_like=lambda head: set(NEEDED) <= head.header,
    settings=OF_TABLES,
    folder=True,
)
TABLE = Format(
    key="table",
    title="Any table, by its columns",
    hint="CSV, Excel, Parquet, JSON lines: dialogues, dialogues with labels, or ratings.",
    read=read_mapped,
    looks_like=lambda head: False,
    roles=ANY_ROLES,
    own_questions=True,
    settings=(ratings.TURNS_FROM, MISSING, JUDGES, *OF_TABLES),
    folder=True,
)
