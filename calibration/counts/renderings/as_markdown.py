"""A table of counts as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.counts.computing import Counts, facts
from calibration.counts.renderings.common import cell_text, distances, kinds, rows_of
from calibration.counts.wording import DISTANCES, bounds, flags, row_name


def write(made: Counts) -> str:
    """Return what the table rests on, its tables, and what the flags warn of."""
    lines = [f"# {_plain(f'Counts of {made.query.scope.name}')}", ""]
    lines += [_plain(sentence) for sentence in facts(made)]
    head = ["Row", "Continuations", "Clusters", "Missing"]
    titles = [made.titles[column.key] for column in made.columns]
    for kind in kinds(made):
        body = [
            [
                row_name(made, row),
                f"{row.n_continuations:,}",
                f"{row.n_clusters:,}",
                f"{row.n_missing:,}",
                *(cell_text(kind, cell) for cell in row.cells),
            ]
            for row in rows_of(made, kind)
        ]
        lines += ["", f"## {kind.title}", "", *_table([*head, *titles], body)]
    if found := distances(made):
        rows = [[name, *texts] for name, texts in found]
        lines += ["", "## Distance from people", "", *_table(["Row", *DISTANCES.values()], rows)]
    missing = [
        [row_name(made, row), made.titles[cell.column.key], bounds(cell)]
        for row in made.table.rows
        for cell in row.cells
        if bounds(cell)
    ]
    if missing:
        lines += ["", "## With all missing at the lowest and at the highest", ""]
        lines += _table(["Row", "Column", "Between"], missing)
    if noted := flags(made):
        lines += ["", *(f"- {_plain(flag)}: {_plain(text)}" for flag, text in noted)]
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *(["---:"] * (len(head) - 1))]
    return [_line(head), f"| {' | '.join(marks)} |", *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped.split())
