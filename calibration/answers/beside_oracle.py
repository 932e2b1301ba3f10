"""The best memory of each model beside the oracle: what the paper's figures 4 and 7 show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.answers.figures import Answers, Figure, undefined
from calibration.answers.groups import ORACLE, Group, groups
from calibration.answers.names import gap
from calibration.answers.rows import Rule
from calibration.answers.tables import (
    Cell,
    Column,
    Columns,
    Line,
    Table,
    column_head,
    label,
    right_of,
    row_keys,
    shared,
)

NAMED: Column = ("bm25", "session", "")
"""The memory of the paper's figure 7, whole sessions found by BM25."""
NOT_RUN = "it was not run"
NOTHING_SHARED = "not known: nothing was asked of all of them"


@dataclass(frozen=True, eq=False)
class BesideOracle:
    """A model's best memory, the memory of figure 7 where it was run once, and the oracle, with paired gaps.

    All of it is over what all memories and the oracle were asked in the same trials; `left_out` counts the
    other answers. `best` is None where they were asked nothing in common.
    """

    group: Group
    best: Column | None
    accuracy: Figure
    oracle: Figure
    gap: Figure
    named: Figure | None = None
    left_out: int = 0

    @property
    def label(self) -> str:
        """How the row is called."""
        return label(self.group)

    @property
    def best_told(self) -> str:
        """How the best memory is called."""
        return NOTHING_SHARED if self.best is None else column_head(self.best)


def beside_oracle(answers: Answers, rule: Rule) -> list[BesideOracle]:
    """Return a row for each model that ran with the oracle and with a memory; of equals the first is best."""
    rows = answers.sheet.rows
    columns = Columns(rows)
    made = []
    for group in groups(rows, row_keys(rows, columns)):
        there = columns.parts(rows, group.rows)
        memories = [head for head in there if head[1] not in ("", ORACLE)]
        oracle = next((head for head in there if head[1] == ORACLE), None)
        if oracle is None or not memories:
            continue
        own = shared(rows, {head: there[head] for head in (*memories, oracle)})
        scored = {head: right_of(answers, own[head], rule) for head in memories}
        best = max(scored, key=lambda head: -1.0 if scored[head].value is None else scored[head].value or 0.0)
        named = [head for head in memories if head[:2] == NAMED[:2]]
        made.append(
            BesideOracle(
                group,
                best if len(own[oracle]) else None,
                scored[best],
                right_of(answers, own[oracle], rule),
                gap(answers, own[oracle], own[best], rule),
                scored[named[0]] if len(named) == 1 else None,
                sum(map(len, there.values())) - sum(map(len, own.values())),
            )
        )
    return made


def oracle_table(rows: Sequence[BesideOracle]) -> Table:
    """The best memory of each model, and what the evidence itself would be worth."""
    left = sum(row.left_out for row in rows)
    named = any(row.named is not None for row in rows)
    lines = []
    for row in rows:
        more: tuple[Cell, ...] = (row.named or undefined("accuracy", NOT_RUN),) if named else ()
        cells = (row.best_told, row.accuracy, row.oracle, row.gap, *more)
        lines.append(Line(row.label, cells))
    heads = ("Best memory", "Its accuracy", "Oracle", "Oracle less best", *([column_head(NAMED)] * named))
    notes = (
        "The best of several memories is chosen on the same answers, so its accuracy is a little too high. "
        "The difference is paired by question and trial.",
        "The memories and the oracle of a row are compared on what all of them were asked in the same trials"
        + (f"; {left:,} other answers are left out." if left else "."),
    )
    return Table("oracle", "Best memory and oracle", heads, tuple(lines), notes)
