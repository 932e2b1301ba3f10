"""The best memory of each model beside the oracle: what the paper's figures 4 and 7 show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.answers.figures import Answers
from calibration.answers.groups import ORACLE, Group, groups
from calibration.answers.layouts import Column, column_head, columns, label, parts, right_of, row_keys
from calibration.answers.names import gap
from calibration.answers.rows import Rule
from calibration.answers.sheet import Figure, undefined
from calibration.answers.tables import Cell, Line, Table

ORACLE_COLUMN: Column = ("", ORACLE)
NAMED: Column = ("bm25", "session")
"""The memory of the paper's figure 7, whole sessions found by BM25."""
NOT_RUN = "it was not run"


@dataclass(frozen=True, eq=False)
class BesideOracle:
    """A model's best memory, the memory of figure 7 where it was run, and the oracle, with paired gaps."""

    group: Group
    best: Column
    accuracy: Figure
    oracle: Figure
    gap: Figure
    named: Figure | None = None

    @property
    def label(self) -> str:
        """How the row is called."""
        return label(self.group)


def beside_oracle(answers: Answers, rule: Rule) -> list[BesideOracle]:
    """Return a row for each model that ran with the oracle and with a memory; of equals the first is best."""
    rows = answers.sheet.rows
    heads = columns(rows)
    made = []
    for group in groups(rows, row_keys(rows)):
        own = parts(rows, group, heads)
        memories = {head: at for head, at in own.items() if head[1] not in ("", ORACLE)}
        if ORACLE_COLUMN not in own or not memories:
            continue
        scored = {head: right_of(answers, at, rule) for head, at in memories.items()}
        best = max(scored, key=lambda head: -1.0 if scored[head].value is None else scored[head].value or 0.0)
        made.append(
            BesideOracle(
                group,
                best,
                scored[best],
                right_of(answers, own[ORACLE_COLUMN], rule),
                gap(answers, own[ORACLE_COLUMN], memories[best], rule),
                scored.get(NAMED),
            )
        )
    return made


def oracle_table(rows: Sequence[BesideOracle]) -> Table:
    """The best memory of each model, and what the evidence itself would be worth."""
    named = any(row.named is not None for row in rows)
    lines = []
    for row in rows:
        more: tuple[Cell, ...] = (row.named or undefined("accuracy", NOT_RUN),) if named else ()
        cells = (column_head(row.best), row.accuracy, row.oracle, row.gap, *more)
        lines.append(Line(row.label, cells))
    heads = ("Best memory", "Its accuracy", "Oracle", "Oracle less best", *([column_head(NAMED)] * named))
    notes = (
        "The best of several memories is chosen on the same answers, so its accuracy is a little too high. "
        "The difference is paired by question and trial.",
    )
    return Table("oracle", "Best memory and oracle", heads, tuple(lines), notes)
