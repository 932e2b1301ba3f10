"""Tables as files: CSV and JSON unrounded, Markdown and LaTeX as text that is nothing but text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.text.table_cells import guarded
from calibration.renderings import escaped, fitted

MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows under their columns; a text that a spreadsheet would evaluate gets an apostrophe."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(cell) if isinstance(cell, str) else cell for key, cell in row.items()})
    return out.getvalue()


def json_text(content: Mapping[str, Any], indent: int = 2) -> str:
    """Return plain data as JSON."""
    return json.dumps(content, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"


def latex_comment(text: str) -> str:
    """Return a text as a comment of one line."""
    return f"% {' '.join(text.split())}"


def latex_line(cells: Iterable[str]) -> str:
    """Return cells that are LaTeX as a line of a table."""
    return rf"{' & '.join(cells)} \\"


def latex_headings(names: Sequence[str]) -> list[str]:
    """Return headings of columns of figures as LaTeX, turned where they are many."""
    return [rf"\rotatebox{{60}}{{{name}}}" if len(names) > MOST_LEVEL else name for name in names]


def latex_table(alignment: str, head: Iterable[str], body: Iterable[str], note: str = "") -> list[str]:
    """Return a booktabs table of cells and lines that are LaTeX, with a note below."""
    return fitted(
        [
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            latex_line(head),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ],
        note,
    )


def latex_small(text: str) -> str:
    """Return a text for the line below a figure."""
    return rf"{{\scriptsize {escaped(text)}}}" if text else ""


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = (0,)
) -> list[str]:
    """Return a table of cells that are Markdown; its columns are at their right but those named ``left``."""
    at_left = frozenset(left)
    ruler = ["---" if at in at_left else "---:" for at in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, ruler, *rows)]


def markdown_escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    plain = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(plain.split())
