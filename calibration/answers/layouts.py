"""Layouts of the paper's tables 3 and 4: models by memory and retriever, and by names (`dialsim.md`, 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from annotation.scripts.records import ANONYMISED, ORIGINAL, SWAPPED
from calibration.answers.figures import CHANCE, Answers
from calibration.answers.groups import ORACLE, Group, groups, varying
from calibration.answers.names import difference, parts_of
from calibration.answers.rows import MEMORY, MODEL, NAMES, RETRIEVER, AnswerRow, Rule
from calibration.answers.sheet import Figure
from calibration.answers.tables import Cell, Line, Table, Versus
from calibration.statistics.core.types import Ints

MEMORIES = ("base", "utterance", "session", "summary")
MEMORY_WORDS = {"base": "Base", "utterance": "utterance", "session": "session", "summary": "summary"}
RETRIEVERS = {"bm25": "BM25", "embedding": "embedding"}
NO_MEMORY = "No memory setting"
Column = tuple[str, str]
"""A retriever ('' for none) and a memory."""
PRINTED = "Per cent right: mean over trials, in brackets their standard deviation."
SHIFTED = "Per cent right; in brackets the difference from anonymised names, paired by question."
NAME_ORDER = (ANONYMISED, ORIGINAL, SWAPPED)
AVERAGE = "Average"


def column_of(row: AnswerRow) -> Column:
    """Return the column that an answer belongs in."""
    memory = row.condition(MEMORY)
    return (row.condition(RETRIEVER) if memory not in ("", "base", ORACLE) else "", memory)


def column_order(column: Column) -> tuple[object, ...]:
    """Order columns as the paper does: base, then each retriever with its memories, the oracle last."""
    retriever, memory = column
    places = [*MEMORIES, memory]
    return (memory == ORACLE, memory == "", retriever != "", retriever, places.index(memory), memory)


def column_head(column: Column) -> str:
    """Return how a column is called."""
    retriever, memory = column
    told = MEMORY_WORDS.get(memory, memory.capitalize() if not retriever else memory) or NO_MEMORY
    return f"{RETRIEVERS.get(retriever, retriever)}, {told}" if retriever else told


def columns(rows: Sequence[AnswerRow]) -> list[Column]:
    """Return the columns that answers belong in, in order."""
    return sorted({column_of(row) for row in rows}, key=column_order)


def row_keys(rows: Sequence[AnswerRow], without: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what lines are by: the model, and what else varies within a column of the table."""
    apart = {MODEL, MEMORY, RETRIEVER, *without}
    kept = []
    for key in varying(rows):
        values: dict[Column, set[str]] = defaultdict(set)
        for row in rows:
            values[column_of(row)].add(row.condition(key))
        if key not in apart and any(len(seen) > 1 for seen in values.values()):
            kept.append(key)
    return (MODEL, *kept)


def table3(answers: Answers, rule: Rule) -> Table:
    """Models by memory and retriever: per cent right, with the standard deviation over trials."""
    rows = answers.sheet.rows
    heads = columns(rows)
    lines = []
    for group in groups(rows, row_keys(rows)):
        own = parts(rows, group, heads)
        cells: list[Cell] = [right_of(answers, own[head], rule) if head in own else "–" for head in heads]
        lines.append(Line(label(group), tuple(cells)))
    chance = f"{100 * CHANCE:.2f}"
    lines.append(Line("Random guessing, expected", tuple(chance for _ in heads), is_baseline=True))
    notes = (PRINTED, *(["The oracle is not in the paper's table."] if ("", ORACLE) in heads else []))
    title = "Accuracy by model, retriever and memory"
    return Table("table3", title, tuple(map(column_head, heads)), tuple(lines), notes, printed=True)


def table4(answers: Answers, rule: Rule) -> Table:
    """Models by names under each memory and retriever, with differences from anonymised names."""
    rows = answers.sheet.rows
    everything = Group("", {}, np.arange(len(rows)))
    heads = [
        (column, kind)
        for column, own in parts(rows, everything, columns(rows)).items()
        for kinds in [parts_of(answers, Group("", {}, own))]
        if len(kinds) > 1
        for kind in NAME_ORDER
        if kind in kinds
    ]
    held = groups(rows, row_keys(rows, (NAMES,))) if heads else []
    lines = [Line(label(group), _by_names(answers, group, heads, rule)) for group in held]
    if len(held) > 1:
        lines.append(Line(AVERAGE, _by_names(answers, everything, heads, rule)))
    titles = tuple(f"{column_head(column)}: {kind}" for column, kind in heads)
    notes = (SHIFTED, "The average is over all answers of the models.")
    return Table("table4", "Accuracy by names", titles, tuple(lines), notes, printed=True)


def _by_names(
    answers: Answers, group: Group, heads: Sequence[tuple[Column, str]], rule: Rule
) -> tuple[Cell, ...]:
    rows = answers.sheet.rows
    own = parts(rows, group, list(dict.fromkeys(column for column, _ in heads)))
    cells: list[Cell] = []
    for column, kind in heads:
        kinds = parts_of(answers, Group("", {}, own[column])) if column in own else {}
        if kind not in kinds:
            cells.append("–")
            continue
        figure = right_of(answers, kinds[kind], rule)
        if kind == ANONYMISED or ANONYMISED not in kinds:
            cells.append(figure)
        else:
            cells.append(Versus(figure, difference(answers, kinds[kind], kinds[ANONYMISED], rule)))
    return tuple(cells)


def parts(rows: Sequence[AnswerRow], group: Group, heads: Sequence[Column]) -> dict[Column, Ints]:
    """Return the positions of a group's answers by their columns, in the order of these."""
    own: dict[Column, list[int]] = {head: [] for head in heads}
    for at in group.rows.tolist():
        own.setdefault(column_of(rows[at]), []).append(at)
    return {head: np.array(own[head], dtype=np.int64) for head in heads if own[head]}


def right_of(answers: Answers, own: Ints, rule: Rule) -> Figure:
    """Return the accuracy of some answers."""
    return answers.sheet.figure("accuracy", own, answers.right[rule][own])


def label(group: Group) -> str:
    """Return how a group is called, with a word where a fake model is behind it."""
    return f"{group.name} (fake model)" if group.fake_model else group.name
