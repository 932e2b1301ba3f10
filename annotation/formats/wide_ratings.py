"""Ratings with a column for each rater, as exports write them.

A row is an item and a question. The column `ann [human]` has the answers of ann, `gpt [judge]` those of a
judge, `slot 1 [slot]` those of a person who is not identified; `ann [human] missing` says why there is no
answer, and likewise explanation, evidence and order. An empty cell is no label, unless it says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from annotation.formats import ratings
from annotation.formats.corpus_format import JUDGES, MISSING, Format, Head, SourceRecord
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import TableFile
from annotation.formats.table_reader import open_table
from annotation.text.table_cells import unguarded

PARTS = ("missing", "explanation", "evidence", "order")
"""What else a label has: a column of its own where any label of the rater has it."""
SLOT = "slot"
RATER_COLUMN = re.compile(rf"(.+) \[(human|{SLOT}|judge|metric|key)\](?: ({'|'.join(PARTS)}))?", re.DOTALL)
ROW_COLUMNS = (
    *("item", "dialogue", "continuation", "turn", "question", "scheme", "level", "values", "group"),
    *("sample", "occasion"),
)
"""Columns whose cells belong to all labels of a row."""


def rater_column(name: str, kind: str, identified: bool, part: str = "") -> str:
    """Return the name of a rater's column: of its answers, or of another part of its labels."""
    column = f"{name} [{kind if identified else SLOT}]"
    return f"{column} {part}" if part else column


def looks_wide(head: Head) -> bool:
    """Whether a table begins like this form."""
    names = head.header or head.keys
    return {"item", "question"} <= names and any(map(RATER_COLUMN.fullmatch, names))


def read_wide_ratings(source: Source) -> Iterator[SourceRecord]:
    """Yield a rating for each answer of a row."""
    table = open_table(source)
    for line, row in wide_rows(source, table):
        with source.report_problems(line=line):
            yield SourceRecord(ratings.rating(row), line)
    source.notes += table.notes


def wide_rows(source: Source, table: TableFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the labels of a table in the columns of the long ratings file, each with the line of its row."""
    source.is_table = True
    names = {column: unguarded(column) if table.is_guarded else column for column in table.columns}
    raters = _raters(names)
    if "item" not in names or not raters:
        raise ImportProblem("has no column 'item', or none of a rater, such as 'ann [human]'", field="item")
    source.pass_over(
        column
        for column, name in names.items()
        if name not in ROW_COLUMNS and not RATER_COLUMN.fullmatch(name)
    )
    for line, cells in table.rows():
        row = {
            names[column]: unguarded(cell) if table.is_guarded else cell
            for column, cell in cells.items()
            if isinstance(cell, str)
        }
        shared = {name: row[name] for name in ROW_COLUMNS if name in row}
        for (name, kind), columns in raters.items():
            answer = {part: row[column] for part, column in columns.items() if row.get(column, "").strip()}
            if answer:
                yield (
                    line,
                    {
                        **shared,
                        "rater": name,
                        "kind": "human" if kind == SLOT else kind,
                        "identified": "false" if kind == SLOT else "true",
                        "value": "",
                        **answer,
                    },
                )


def _raters(names: Mapping[str, str]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the columns of each rater, by the part of the label that they hold."""
    raters: dict[tuple[str, str], dict[str, str]] = {}
    for name in names.values():
        if match := RATER_COLUMN.fullmatch(name):
            raters.setdefault((match[1].strip(), match[2]), {})[match[3] or "value"] = name
    return raters


WIDE_RATINGS = Format(
    key="ratings-wide",
    title="Ratings for a corpus, a column for each rater",
    hint="Columns item, question, and one for each rater, such as ann [human] or gpt [judge].",
    read=read_wide_ratings,
    looks_like=looks_wide,
    settings=(MISSING, JUDGES),
    labels_only=True,
)
