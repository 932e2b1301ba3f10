"""Tables as files: CSV and JSON unrounded, Markdown and LaTeX with text escaped."""

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
"""Maximum number of columns with level headings; beyond it headings are rotated, so that columns stay
narrow.
"""


def interval_text(result: Result, write: Callable[[float], str], absent: str) -> str:
    """Return `0.19 to 0.31` with ends formatted by `write`, or `absent` without an interval."""
    if result.low is None or result.high is None:
        return absent
    return f"{write(result.low)} to {write(result.high)}"


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows under their columns; text that a spreadsheet would evaluate gets an apostrophe."""
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
    """Return a text as a one-line LaTeX comment."""
    return f"% {' '.join(text.split())}"


def latex_line(cells: Iterable[str]) -> str:
    """Join cells of LaTeX to one line of a table."""
    return rf"{' & '.join(cells)} \\"


def latex_headings(names: Sequence[str]) -> list[str]:
    """Return LaTeX headings of columns of figures, rotated if there are many."""
    return [rf"\rotatebox{{60}}{{{name}}}" if len(names) > MOST_LEVEL else name for name in names]


def latex_table(alignment: str, head: Iterable[str], body: Iterable[str], note: str = "") -> list[str]:
    """Return a booktabs table of LaTeX cells and lines, with a note below."""
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
    """Format a text for the line below a figure."""
    return rf"{{\scriptsize {escaped(text)}}}" if text else ""


# Download formats of a report that has tables and a chart.

Report = TypeVar("Report")


def report_renderings(
    write_csv: Callable[[Report], str],
    write_markdown: Callable[[Report], str],
    write_latex: Callable[[Report], str],
    write_json: Callable[[Report], str],
    svg: Callable[[Report], str],
    png: Callable[[Report], bytes],
) -> dict[str, Rendering[Report, Any]]:
    """Return the download formats of a report, by key."""
    forms: tuple[Rendering[Report, Any], ...] = (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", svg),
        Rendering("png", "Chart as PNG", "png", "image/png", png),
    )
    return {form.key: form for form in forms}
