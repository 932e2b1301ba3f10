"""Tables as files: CSV and JSON unrounded, Markdown and LaTeX in which text is nothing but text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from annotation.text.table_cells import guarded
from calibration.renderings import Rendering, escaped, fitted
from calibration.statistics.core.engine import Result

MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""


def interval_text(result: Result, write: Callable[[float], str], absent: str) -> str:
    """Return `0.19 to 0.31`, its ends as they are to be written, or what stands where there is none."""
    if result.low is None or result.high is None:
        return absent
    return f"{write(result.low)} to {write(result.high)}"


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


# The forms of a report that has tables and a chart.

Report = TypeVar("Report")


def report_renderings(
    write_csv: Callable[[Report], str],
    write_markdown: Callable[[Report], str],
    write_latex: Callable[[Report], str],
    write_json: Callable[[Report], str],
    svg: Callable[[Report], str],
    png: Callable[[Report], bytes],
) -> dict[str, Rendering[Report, Any]]:
    """Return the forms that a report is downloaded in, by key."""
    forms: tuple[Rendering[Report, Any], ...] = (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Chart as PNG", "png", "image/png", png),
    )
    return {form.key: form for form in forms}
