"""Tables by level as plain text, for a terminal: one table a level."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from calibration.agree.by_level.report import (
    BEST,
    BEST_OF_GROUP,
    SHORT,
    STAR,
    Shown,
    facts,
    groups,
    levels_of,
    meets,
    methods,
    notes,
    p_of,
)
from calibration.agree.text import WIDTH, columns
from calibration.agree.words import interval, number, plain
from calibration.statistics.by_level import Level, LevelEntry, LevelTable


def written(name: str, shown: Sequence[Shown]) -> str:
    """Return the whole report."""
    return "\n".join(line for one in shown for line in _section(name, one))


def _section(name: str, shown: Shown) -> list[str]:
    table = shown.table
    heading = plain(f"{name}: {shown.title}" if shown.title else f"{name}: correlations by level")
    lines = [heading, "=" * min(len(heading), WIDTH), "", *_wrapped(facts(shown)), ""]
    for level in levels_of(table):
        lines += [f"{level.capitalize()} level", *_level(table, level), ""]
    lines += _wrapped(notes(table, BEST, BEST_OF_GROUP))
    return [*lines, "", *_wrapped(methods(table)), ""]


def _wrapped(sentences: Sequence[str]) -> list[str]:
    return [line for said in sentences for line in textwrap.wrap(plain(said), WIDTH)]


def _level(table: LevelTable, level: Level) -> list[str]:
    head = ["scores of"]
    for name in table.coefficients:
        head += [SHORT[name], "interval", "p"]
    rows = [[*head, "n"]]
    for heading, every in groups(table):
        members = [row for row in every if meets(row, level)]
        if heading and members:
            rows.append([f"({heading})", *[""] * (len(head) - 1), ""])
        for row in members:
            entries = [row.entry(level, name) for name in table.coefficients]
            cells = [
                cell for entry in entries for cell in (_value(entry), interval(entry.result), p_of(entry))
            ]
            rows.append([plain(row.name), *cells, f"{entries[0].result.n_items:,}"])
    return columns(rows, right=set(rows[0][1:]))


def _value(entry: LevelEntry) -> str:
    if not entry.result.ok:
        return entry.result.status
    marks = (STAR * entry.starred, BEST * entry.best, BEST_OF_GROUP * entry.best_of_group)
    return f"{number(entry.result.value)}{''.join(marks)}"
