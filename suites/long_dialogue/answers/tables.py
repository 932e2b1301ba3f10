"""Tables of an Answers report, shared by all output formats: figures, counts and words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.script_records import ANONYMISED, ORIGINAL, SWAPPED
from annotation.text.display import number
from calibration.statistics import Result
from calibration.statistics.core.ratings import Ints
from jobs.fake_models import EMBEDDING_MODEL
from suites.long_dialogue.answers.figures import CHANCE, Answers, Figure, difference, gap, parts_of, undefined
from suites.long_dialogue.answers.rows import (
    MEMORY,
    MODEL,
    NAMES,
    ORACLE,
    RETRIEVER,
    AnswerRow,
    Group,
    K,
    groups,
    shared,
    varying,
)
from suites.long_dialogue.scripts.answers import Rule
from suites.reports import PERCENT, Cell, Line, OwnCell, Table


@dataclass(frozen=True)
class Versus(OwnCell):
    """A figure, with its difference from a reference figure."""

    figure: Figure
    difference: Figure

    @property
    def statistic(self) -> Result:
        """Statistic of the figure itself."""
        return self.figure.result

    def value_text(self, printed: bool) -> str:
        """Return the figure in per cent, with the difference in brackets."""
        moved = self.difference.value
        change = "" if moved is None else f" ({_signed(PERCENT * moved)})"
        return f"{self.figure.percent}{change}"

    def as_dict(self) -> dict[str, Any]:
        """Return the figure as plain data, with the difference."""
        return self.figure.as_dict() | {"difference": self.difference.as_dict()}

    def as_csv(self) -> dict[str, Any]:
        """Return the difference in addition to the columns of every figure."""
        moved = self.difference.result
        difference = {"difference": moved.value, "difference_low": moved.low, "difference_high": moved.high}
        return self.figure.as_csv() | difference


@dataclass(frozen=True)
class Range(OwnCell):
    """Bounds of a value, whatever the missing answers are."""

    low: float | None
    high: float | None

    def value_text(self, printed: bool) -> str:
        """Return both bounds, or a single value where they are equal."""
        if self.low == self.high:
            return number(self.low)
        return f"{number(self.low)} to {number(self.high)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the bounds as plain data."""
        return {"low": self.low, "high": self.high}

    as_csv = as_dict


def _signed(value: float) -> str:
    text = number(value)
    return text if value < 0 or float(f"{value:.2f}") == 0 else f"+{text}"


# Layouts of the paper's tables 3 and 4: models by memory and retriever, and by names.

MEMORIES = ("base", "utterance", "session", "summary")
MEMORY_WORDS = {"base": "Base", "utterance": "utterance", "session": "session", "summary": "summary"}
RETRIEVERS = {"bm25": "BM25", "embedding": "embedding"}
NO_MEMORY = "No memory setting"
Column = tuple[str, str, str]
"""A retriever ('' for none), a memory, and the settings that distinguish it within its kind ('' for none)."""
OF_MEMORY = (K, "embedder", EMBEDDING_MODEL, "order")
"""Settings that belong to a memory: if they vary within one, they create columns, never rows."""
PRINTED = "Per cent right: mean over trials, in brackets their standard deviation."
SHIFTED = "Per cent right; in brackets the difference from anonymised names, paired by question."
NAME_ORDER = (ANONYMISED, ORIGINAL, SWAPPED)
AVERAGE = "Average"


class Columns:
    """The columns of a table's answers, in the order of the paper."""

    def __init__(self, rows: Sequence[AnswerRow]) -> None:
        seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for row in rows:
            for key in OF_MEMORY:
                seen[(*_kind(row), key)].add(row.condition(key))
        self._apart = {place for place, values in seen.items() if len(values) > 1}
        self.heads: list[Column] = sorted({self.of(row) for row in rows}, key=column_order)

    def of(self, row: AnswerRow) -> Column:
        """Return the column of an answer."""
        kind = _kind(row)
        own = [key for key in OF_MEMORY if (*kind, key) in self._apart]
        return (*kind, ", ".join(f"{key} {row.condition(key) or 'not told'}" for key in own))

    def parts(self, rows: Sequence[AnswerRow], own: Ints) -> dict[Column, Ints]:
        """Return the positions of answers by column, in order."""
        positions: dict[Column, list[int]] = {head: [] for head in self.heads}
        for at in own.tolist():
            positions[self.of(rows[at])].append(at)
        return {head: np.array(those, dtype=np.int64) for head, those in positions.items() if those}


def _kind(row: AnswerRow) -> tuple[str, str]:
    """Return the retriever and the memory of an answer."""
    memory = row.condition(MEMORY)
    return (row.condition(RETRIEVER) if memory not in ("", "base", ORACLE) else "", memory)


def column_order(column: Column) -> tuple[object, ...]:
    """Sort key of columns, as in the paper: base, then each retriever with its memories, the oracle last."""
    retriever, memory, own = column
    places = [*MEMORIES, memory]
    return (memory == ORACLE, memory == "", retriever != "", retriever, places.index(memory), memory, own)


def column_head(column: Column) -> str:
    """Return the heading of a column."""
    retriever, memory, own = column
    memory_name = MEMORY_WORDS.get(memory, memory.capitalize() if not retriever else memory) or NO_MEMORY
    return ", ".join(part for part in (RETRIEVERS.get(retriever, retriever), memory_name, own) if part)


def row_keys(rows: Sequence[AnswerRow], heads: Columns, without: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the keys of lines: the model, and other settings that vary within a column of the table."""
    apart = {MODEL, MEMORY, RETRIEVER, *OF_MEMORY, *without}
    extra_keys = []
    for key in varying(rows):
        values: dict[Column, set[str]] = defaultdict(set)
        for row in rows:
            values[heads.of(row)].add(row.condition(key))
        if key not in apart and any(len(seen) > 1 for seen in values.values()):
            extra_keys.append(key)
    return (MODEL, *extra_keys)


def fair(
    rows: Sequence[AnswerRow], lines: Mapping[Group, Mapping[Any, Ints]]
) -> tuple[dict[Group, dict[Any, Ints]], str]:
    """Restrict a table's cells to the questions that all of them share, with a note on what that leaves out.

    Without such questions, each cell keeps the questions shared by all cells of its line; without those
    either, a line has no cells.
    """
    flat = {(line, head): own for line, cells in lines.items() for head, own in cells.items()}
    common, where = shared(rows, flat), "every cell of the table"
    if flat and not any(len(own) for own in common.values()):
        where = "every cell of a row, since nothing was asked in all of them: rows are not to be compared"
        common = {
            (line, head): own for line, cells in lines.items() for head, own in shared(rows, cells).items()
        }
    line_cells = {line: {head: common[line, head] for head in cells} for line, cells in lines.items()}
    filled = {
        line: {head: own for head, own in cells.items() if len(own)} for line, cells in line_cells.items()
    }
    n, n_kept = (sum(map(len, cells.values())) for cells in (flat, common))
    note = f"; {n - n_kept:,} of {n:,} answers are left out" if n_kept < n else ""
    return filled, f"Compared on the questions and trials of {where}{note}."


def table3(answers: Answers, rule: Rule) -> Table:
    """Models by memory and retriever: per cent right, with the standard deviation over trials."""
    rows = answers.sheet.rows
    columns = Columns(rows)
    heads = columns.heads
    own = {group: columns.parts(rows, group.rows) for group in groups(rows, row_keys(rows, columns))}
    cells_by_group, comparison_note = fair(rows, own)
    lines = [
        Line(
            label(group),
            tuple(right_of(answers, cells[head], rule) if head in cells else "–" for head in heads),
        )
        for group, cells in cells_by_group.items()
    ]
    chance = f"{100 * CHANCE:.2f}"
    lines.append(Line("Random guessing, expected", tuple(chance for _ in heads), is_baseline=True))
    has_oracle = any(memory == ORACLE for _, memory, _ in heads)
    notes = (PRINTED, comparison_note, *(["The oracle is not in the paper's table."] if has_oracle else []))
    title = "Accuracy by model, retriever and memory"
    return Table("table3", title, tuple(map(column_head, heads)), tuple(lines), notes, printed=True)


NamedColumn = tuple[Column, str]
"""A column of table 4: a column of table 3, and a kind of names."""


def table4(answers: Answers, rule: Rule) -> Table:
    """Models by names under each memory and retriever, with differences from anonymised names."""
    rows = answers.sheet.rows
    columns = Columns(rows)
    own = {
        group: _by_names(answers, columns, group.rows)
        for group in groups(rows, row_keys(rows, columns, (NAMES,)))
    }
    available = {head for cells in own.values() for head in cells}
    kinds = Counter(column for column, _ in available)
    heads = [
        (column, kind)
        for column in columns.heads
        if kinds[column] > 1
        for kind in NAME_ORDER
        if (column, kind) in available
    ]
    own = {group: {head: cells[head] for head in heads if head in cells} for group, cells in own.items()}
    cells_by_group, comparison_note = fair(rows, {group: cells for group, cells in own.items() if cells})
    lines = [
        Line(label(group), _cells(answers, cells, heads, rule)) for group, cells in cells_by_group.items()
    ]
    complete = {group: cells for group, cells in cells_by_group.items() if len(cells) == len(heads)}
    notes = [SHIFTED, comparison_note]
    if len(complete) > 1:
        pooled = {head: np.concatenate([cells[head] for cells in complete.values()]) for head in heads}
        lines.append(Line(AVERAGE, _cells(answers, pooled, heads, rule)))
        incomplete = [label(group) for group in cells_by_group if group not in complete]
        notes.append(
            f"The average is over the {len(complete)} rows that have every column{_without(incomplete)}."
        )
    elif len(cells_by_group) > 1:
        notes.append("There is no average: fewer than two rows have every column.")
    titles = tuple(f"{column_head(column)}: {kind}" for column, kind in heads)
    return Table("table4", "Accuracy by names", titles, tuple(lines), tuple(notes), printed=True)


def _without(row_names: Sequence[str]) -> str:
    return f", without {'; '.join(row_names)}" if row_names else ""


def _by_names(answers: Answers, columns: Columns, own: Ints) -> dict[NamedColumn, Ints]:
    """Return the positions of a line's answers by column and kind of names."""
    return {
        (column, kind): positions
        for column, those in columns.parts(answers.sheet.rows, own).items()
        for kind, positions in parts_of(answers, Group("", {}, those)).items()
    }


def _cells(
    answers: Answers, cells: Mapping[NamedColumn, Ints], heads: Sequence[NamedColumn], rule: Rule
) -> tuple[Cell, ...]:
    table_cells: list[Cell] = []
    for column, kind in heads:
        own, plain = cells.get((column, kind)), cells.get((column, ANONYMISED))
        if own is None:
            table_cells.append("–")
            continue
        figure = right_of(answers, own, rule)
        if kind == ANONYMISED or plain is None:
            table_cells.append(figure)
        else:
            table_cells.append(Versus(figure, difference(answers, own, plain, rule)))
    return tuple(table_cells)


def right_of(answers: Answers, own: Ints, rule: Rule) -> Figure:
    """Return the accuracy of the answers at these positions."""
    return answers.sheet.figure("accuracy", own, answers.right[rule][own])


def label(group: Group) -> str:
    """Return the name of a group, with a note for a fake model."""
    return f"{group.name} (fake model)" if group.fake_model else group.name


# Best memory of each model compared with the oracle, as in the paper's figures 4 and 7.

FIGURE7: Column = ("bm25", "session", "")
"""Memory in the paper's figure 7: whole sessions retrieved by BM25."""
NOT_RUN = "it was not run"
NOTHING_SHARED = "not known: nothing was asked of all of them"


@dataclass(frozen=True, eq=False)
class BesideOracle:
    """A model's best memory, the memory of figure 7 if it was run once, and the oracle, with paired gaps.

    All figures use the questions shared by all memories and the oracle in the same trials; `left_out` counts
    the other answers. `best` is None without shared questions.
    """

    group: Group
    best: Column | None
    accuracy: Figure
    oracle: Figure
    gap: Figure
    figure7: Figure | None = None
    left_out: int = 0

    @property
    def label(self) -> str:
        """Name of the row."""
        return label(self.group)

    @property
    def best_label(self) -> str:
        """Name of the best memory."""
        return NOTHING_SHARED if self.best is None else column_head(self.best)


def beside_oracle(answers: Answers, rule: Rule) -> list[BesideOracle]:
    """Return a row for each model that ran with both the oracle and a memory; the first of equals is best."""
    rows = answers.sheet.rows
    columns = Columns(rows)
    oracle_rows = []
    for group in groups(rows, row_keys(rows, columns)):
        by_column = columns.parts(rows, group.rows)
        memories = [head for head in by_column if head[1] not in ("", ORACLE)]
        oracle = next((head for head in by_column if head[1] == ORACLE), None)
        if oracle is None or not memories:
            continue
        own = shared(rows, {head: by_column[head] for head in (*memories, oracle)})
        scored = {head: right_of(answers, own[head], rule) for head in memories}
        best = max(scored, key=lambda head: -1.0 if scored[head].value is None else scored[head].value or 0.0)
        figure7_heads = [head for head in memories if head[:2] == FIGURE7[:2]]
        oracle_rows.append(
            BesideOracle(
                group,
                best if len(own[oracle]) else None,
                scored[best],
                right_of(answers, own[oracle], rule),
                gap(answers, own[oracle], own[best], rule),
                scored[figure7_heads[0]] if len(figure7_heads) == 1 else None,
                sum(map(len, by_column.values())) - sum(map(len, own.values())),
            )
        )
    return oracle_rows


def oracle_table(rows: Sequence[BesideOracle]) -> Table:
    """The best memory of each model, and the accuracy with the evidence itself."""
    left_out = sum(row.left_out for row in rows)
    has_figure7 = any(row.figure7 is not None for row in rows)
    lines = []
    for row in rows:
        more: tuple[Cell, ...] = (row.figure7 or undefined("accuracy", NOT_RUN),) if has_figure7 else ()
        cells = (row.best_label, row.accuracy, row.oracle, row.gap, *more)
        lines.append(Line(row.label, cells))
    heads = (
        "Best memory",
        "Its accuracy",
        "Oracle",
        "Oracle less best",
        *([column_head(FIGURE7)] * has_figure7),
    )
    notes = (
        "The best of several memories is chosen on the same answers, so its accuracy is a little too high. "
        "The difference is paired by question and trial.",
        "The memories and the oracle of a row are compared on what all of them were asked in the same trials"
        + (f"; {left_out:,} other answers are left out." if left_out else "."),
    )
    return Table("oracle", "Best memory and oracle", heads, tuple(lines), notes)
