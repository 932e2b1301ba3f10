"""Readings of a table: what its rows can be, with the mapping for it, or what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.formats.answer_columns import Answers
from annotation.formats.columns import ColumnProfile
from annotation.formats.mapping import ROLES, Column
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.table_file import Cell, Row

DIALOGUE_READINGS = ("turns", "messages", "cells", "transcript", "responses", "pairs")
RATING_READINGS = ("long", "wide", "survey")
FILES = "files"
"""Meaning of the column that names the file of each row, in a table of several files."""
TITLES = {
    "turns": "Dialogues, one row a turn",
    "messages": "Dialogues, one row a dialogue with a list of its turns",
    "cells": "Dialogues, one row an exchange with its turns in columns",
    "transcript": "Dialogues, one row a dialogue with all turns in one cell",
    "responses": "Responses of several systems, one column a system",
    "pairs": "Comparisons of two responses",
    "long": "Ratings, one row an answer",
    "wide": "Ratings, answers in columns",
    "survey": "Ratings, one row a person and one column an item",
}
"""What a table can be, in words for people."""
SYSTEM_WORDS = frozenset(
    [
        "assistant",
        "bot",
        "chatbot",
        "agent",
        "ai",
        "system",
        "model",
        "gpt",
        "wizard",
        "machine",
        "robot",
        "virtual",
        "机器人",
        "助手",
    ]
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that a table can be, with its mapping, or with what is `missing` for it.

    `sentence` says it for people: `each row is one turn rated by one person`; `doubts` what is not clear from
    the file. A `certain` reading is the only plausible one: a command uses it without asking.
    """

    key: str
    sentence: str
    mapping: ColumnMapping = field(default_factory=ColumnMapping)
    missing: tuple[str, ...] = ()
    certain: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def is_possible(self) -> bool:
        """Whether the table has all that the reading needs."""
        return not self.missing


@dataclass(slots=True)
class Sample:
    """The first rows of a table and its columns."""

    rows: Sequence[Row]
    columns: Mapping[str, ColumnProfile]

    def meaning(self, meaning: str, *looks: str) -> list[ColumnProfile]:
        """Return the columns whose header has a meaning, of these looks, in the order of the file."""
        return [
            column
            for column in self.columns.values()
            if meaning in column.meanings and (not looks or column.looks_like in looks)
        ]

    def look(self, *looks: str) -> list[ColumnProfile]:
        return [column for column in self.columns.values() if column.looks_like in looks]

    def text(self, row: Row, name: str) -> str:
        return cell_text(row.get(name)) if name else ""

    def varying(self, rater: str, *names: str) -> set[str]:
        """Return the columns that differ between rows about the same thing, as answers do.

        Columns that tell something of the rater, the same in all of the rater's rows, are no answers.
        """
        return self._differing(*names) - self.facts_of_raters(rater, *names)

    def facts_of_raters(self, rater: str, *names: str) -> set[str]:
        """Return the columns that differ between raters of the same thing, never in a rater's rows."""
        if len(self.rows) < 3 * self.columns[rater].n_different:
            return set()
        return {name for name in self._differing(*names) if self._is_constant_within(rater, name)}

    def _differing(self, *names: str) -> set[str]:
        first: dict[tuple[str, ...], Row] = {}
        differing: set[str] = set()
        for key, row in zip(self.keys(*names), self.rows, strict=True):
            before = first.setdefault(key, row)
            differing.update(
                name
                for name in self.columns
                if name not in differing and cell_text(row.get(name)) != cell_text(before.get(name))
            )
        return differing

    def _is_constant_within(self, group: str, name: str) -> bool:
        values: dict[str, set[str]] = {}
        for key, value in self.keys(group, name):
            values.setdefault(key, set()).add(value)
        return all(len(others) == 1 for others in values.values())

    def keys(self, *names: str) -> list[tuple[str, ...]]:
        """Return the cells of some columns, row by row."""
        return [tuple(self.text(row, name) for name in names) for row in self.rows]


def cell_text(cell: Cell) -> str:
    """Return the text of a cell that is no list."""
    return cell.strip() if isinstance(cell, str) else ""


@dataclass(slots=True)
class Draft:
    """A reading in the making: the role of each column, what is doubtful and what is missing."""

    key: str
    columns: dict[str, Column] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, name: str, role: str, **names: str) -> None:
        if name and name not in self.columns:
            self.columns[name] = Column(name, role, **names)

    def pick(self, role: str, candidates: Sequence[ColumnProfile]) -> str:
        """Give a role to the first of the columns that may have it; more of them are a doubt."""
        free = [column.name for column in candidates if column.name not in self.columns]
        if not free:
            return ""
        if len(free) > 1:
            title = ROLES[role].title.lower()
            self.doubts.append(f"{' and '.join(free[:3])} may be the {title}")
        self.add(free[0], role)
        return free[0]

    def reading(self, sample: Sample, sentence: str) -> Reading:
        order = {name: number for number, name in enumerate(sample.columns)}
        columns = sorted(self.columns.values(), key=lambda column: order[column.name])
        doubts = tuple(dict.fromkeys(self.doubts))
        mapping = ColumnMapping() if self.missing else ColumnMapping(tuple(columns))
        return Reading(self.key, sentence, mapping, tuple(self.missing), doubts=doubts)


# Raters in rows.


def row_raters(sample: Sample) -> list[ColumnProfile]:
    """Return the columns that may name the rater of a row, the most usual first."""
    raters = [
        column
        for column in sample.columns.values()
        if column.looks_like in ("rater", "judge") and not column.is_list and column.coverage > 0.5
    ]
    ids = [column for column in raters if "email" not in column.name.casefold()]
    different: list[ColumnProfile] = []
    for column in ids or raters:
        if not any(_names_the_same(sample, column, other) for other in different):
            different.append(column)
    return different


def _names_the_same(sample: Sample, first: ColumnProfile, second: ColumnProfile) -> bool:
    """Whether two columns name the same raters in two ways, such as a name and an id."""
    n = first.n_different
    return 1 < n == second.n_different == len(set(sample.keys(first.name, second.name)))


def add_rater(draft: Draft, sample: Sample) -> str:
    free = [column for column in row_raters(sample) if column.name not in draft.columns]
    return draft.pick("rater", free[:2])


def rater_names(sample_rows: Iterable[Row], mapping: ColumnMapping) -> list[str]:
    """Return the raters that a mapping's columns and rows name, in their order."""
    names = dict.fromkeys(column.rater for column in mapping.answers if column.rater and column.role != "key")
    if rater := mapping.of("rater"):
        for row in sample_rows:
            name = cell_text(row.get(rater))
            if name and len(names) < 10_000:
                names[name] = None
    return list(names)


def add_answers(draft: Draft, answers: Answers, item: str = "") -> None:
    for column in answers.columns:
        about = column.item or item
        draft.add(column.name, column.role, question=column.question, rater=column.rater, item=about)
    for column in answers.explanations:
        draft.add(column.name, column.role, question=column.question, rater=column.rater)
    draft.doubts += answers.doubts
