"""A table of counts as LaTeX (booktabs), to be read into a paper."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.text.display import number
from calibration.counts.computing import Counts, facts
from calibration.counts.renderings.common import Kind, distances, kinds, rows_of
from calibration.counts.wording import DISTANCES, interval, row_name
from calibration.reports.latex import NEEDS, escaped, fitted
from calibration.statistics.counts import Cell, Row

MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""


def write(made: Counts) -> str:
    """Return a table for each kind of figure: values over their intervals, people's row first and apart."""
    lines = [f"% {' '.join(text.split())}" for text in (made.query.scope.name, *facts(made))]
    lines.append(f"{NEEDS}; under each value its interval")
    head = [made.titles[column.key] for column in made.columns]
    for kind in kinds(made):
        lines += [
            f"% {kind.title}",
            *_table(head, [(row, _lines(made, kind, row)) for row in rows_of(made, kind)]),
        ]
    if found := distances(made):
        body = [_line([escaped(name), *map(escaped, texts)]) for name, texts in found]
        columns = _heads(list(DISTANCES.values()), turned=False)
        lines += ["% Distance from people", *_tabular(columns, body)]
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], rows: Sequence[tuple[Row, list[str]]]) -> list[str]:
    body: list[str] = []
    for at, (row, lines) in enumerate(rows):
        body += lines
        if row.human and at + 1 < len(rows):
            body.append(r"\midrule")
    return _tabular(_heads(head, turned=len(head) > MOST_LEVEL), body)


def _heads(names: Sequence[str], *, turned: bool) -> list[str]:
    texts = map(escaped, names)
    return [rf"\rotatebox{{60}}{{{text}}}" for text in texts] if turned else list(texts)


def _tabular(head: Sequence[str], body: Sequence[str]) -> list[str]:
    return fitted(
        [
            rf"\begin{{tabular}}{{l{'r' * len(head)}}}",
            r"\toprule",
            _line(["", *head]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _lines(made: Counts, kind: Kind, row: Row) -> list[str]:
    """Return the values of a row, and under them their intervals."""
    values = [_value(kind, cell) for cell in row.cells]
    under = [_under(kind, cell) for cell in row.cells]
    return [_line([escaped(row_name(made, row)), *values]), _line(["", *under])]


def _value(kind: Kind, cell: Cell) -> str:
    result = kind.of(cell)
    return "---" if result is None or result.value is None else escaped(number(result.value))


def _under(kind: Kind, cell: Cell) -> str:
    text = ", ".join(part for part in (interval(kind.of(cell)), kind.more(cell)) if part)
    return rf"{{\scriptsize {escaped(text)}}}" if text else ""


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
