"""A profile as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from annotation.cells import guarded
from calibration.profiles.summary import Cell, Panel, as_rows

TEXT = ("metric", "system")


def as_csv(panels: Sequence[Panel]) -> str:
    """Return one line per system and metric; text cells are guarded against spreadsheets."""
    rows = as_rows(panels)
    out = io.StringIO()
    names = list(rows[0]) if rows else ["items", "aspect", "metric", "system", "n", "missing", "mean", "sd"]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(value) if key in TEXT else value for key, value in row.items()})
    return out.getvalue()


def as_latex(panels: Sequence[Panel]) -> str:
    """Return a booktabs table per panel: mean and standard deviation, highest bold, lowest underlined."""
    return "\n\n".join(_table(panel) for panel in panels) + "\n"


def _table(panel: Panel) -> str:
    lines = [
        f"% {panel.title}: mean and standard deviation (dividing by n); bold highest, underlined lowest",
        rf"\begin{{tabular}}{{l{'r' * len(panel.columns)}}}",
        r"\toprule",
        " & ".join(["System", *(escaped(column.name) for column in panel.columns)]) + r" \\",
        r"\midrule",
        *(_line(row.system, row.cells) for row in panel.systems),
    ]
    if panel.people:
        lines += [r"\midrule", *(_line(row.system, row.cells) for row in panel.people)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _line(system: str, cells: Sequence[Cell]) -> str:
    return " & ".join([escaped(system), *(_figure(cell) for cell in cells)]) + r" \\"


def _figure(cell: Cell) -> str:
    if cell.mean is None:
        return "--"
    mean = f"{cell.mean:.3f}"
    if "highest" in cell.marks:
        mean = rf"\textbf{{{mean}}}"
    if "lowest" in cell.marks:
        mean = rf"\underline{{{mean}}}"
    return rf"{mean} $\pm$ {cell.spread or 0:.3f}"


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it is."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^&%$#_{}]", lambda found: special.get(found[0], "\\" + found[0]), text)
