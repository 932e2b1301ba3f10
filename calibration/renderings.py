"""Download formats of tables: their declaration, CSV, Markdown, LaTeX, and columns for a terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from unicodedata import east_asian_width

from annotation.text.table_cells import guarded
from calibration.statistics.core.engine import Result

# Declaration of a download format; the tables of formats of reports and counts consist of these.

Source = TypeVar("Source")
Output = TypeVar("Output", bound=str | bytes)


@dataclass(frozen=True, slots=True)
class Rendering(Generic[Source, Output]):
    """A format: its key in commands and URLs, its name, file suffix and media type, and its writer."""

    key: str
    name: str
    suffix: str
    media_type: str
    write: Callable[[Source], Output]


# CSV, and escaped Markdown.


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV; a text that a spreadsheet would evaluate gets a leading apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def records_csv(columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as CSV under these columns; a missing value is an empty cell."""
    return csv_text([columns, *([record.get(column) for column in columns] for record in records)])


def json_text(content: Mapping[str, Any], indent: int = 2) -> str:
    """Return plain data as JSON."""
    return json.dumps(content, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"


def interval_text(result: Result, write: Callable[[float], str], absent: str) -> str:
    """Return `0.19 to 0.31` with ends formatted by `write`, or `absent` without an interval."""
    if result.low is None or result.high is None:
        return absent
    return f"{write(result.low)} to {write(result.high)}"


class Markdown(str):
    """Markdown, not to be escaped."""


def markdown(text: str) -> str:
    """Escape text for Markdown, on one line."""
    if isinstance(text, Markdown):
        return text
    return " ".join("".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text).split())


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = (0,)
) -> list[str]:
    """Return a Markdown table with right-aligned columns, except those numbered ``left``."""
    at_left = frozenset(left)
    ruler = ["---" if at in at_left else "---:" for at in range(len(head))]
    return [_line(head), f"| {' | '.join(ruler)} |", *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown, cells))} |"


# LaTeX: escaped text, and tables that fit the line.

NEEDS = r"% needs \usepackage{booktabs,graphicx}"

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an argument of the preceding line break
    "*": "{*}",
    "α": r"$\alpha$",
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "ω": r"$\omega$",
    "†": r"$\dagger$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "’": "'",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Escape text for a LaTeX table cell, on one line.

    Letters of other scripts are kept; they need XeLaTeX or LuaLaTeX with a font that has them.
    """
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))


def fitted(tabular: Sequence[str], note: str = "") -> list[str]:
    """Return a tabular in small type, scaled down if the line is too short, with a note below."""
    return [
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        *tabular[:-1],
        f"{tabular[-1]}}}",
        *([rf"\par\smallskip\noindent {note}"] if note else []),
        r"\par\medskip\endgroup",
    ]


def latex_comment(text: str) -> str:
    """Return a text as a one-line LaTeX comment."""
    return f"% {' '.join(text.split())}"


def latex_line(cells: Iterable[str]) -> str:
    """Join cells of LaTeX to one line of a table."""
    return rf"{' & '.join(cells)} \\"


MOST_HORIZONTAL = 4
"""Maximum number of columns with horizontal headings; above it, headings are rotated."""


def latex_headings(names: Sequence[str]) -> list[str]:
    """Return LaTeX headings of columns of figures, rotated if there are many."""
    return [rf"\rotatebox{{60}}{{{name}}}" if len(names) > MOST_HORIZONTAL else name for name in names]


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


# Tables for a terminal: aligned columns, without control characters.

GAP = "  "


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of equal length as lines: the first column left-aligned, the others right-aligned."""
    cells = [[printable(text) for text in row] for row in rows]
    widths = [max(_width(row[at]) for row in cells) for at in range(len(cells[0]))]
    lines = []
    for row in cells:
        gaps = [" " * (width - _width(text)) for text, width in zip(row, widths, strict=True)]
        rest = [gap + text for gap, text in zip(gaps[1:], row[1:], strict=True)]
        lines.append(GAP.join([row[0] + gaps[0], *rest]).rstrip())
    return lines


def _width(text: str) -> int:
    """Return the display width of a text: a wide character, such as a Chinese one, takes two places."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def printable(text: str) -> str:
    """Replace characters that a terminal would interpret by spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


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
