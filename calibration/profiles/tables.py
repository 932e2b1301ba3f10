"""A profile as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from annotation.text.csv_cells import guarded
from calibration.profiles.cells import Cell
from calibration.profiles.points import ALL, SAME
from calibration.profiles.summary import Panel, Row, as_rows
from calibration.reports.latex import NEEDS, escaped, fitted
from jobs.fake_models import MARK

SENTENCES = {
    SAME: "Systems are compared at the same points: those where each of them has a value.",
    ALL: "Each system at all of its own points: the points of two systems may differ.",
}
TEXT = ("metric", "system", "reason")
MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""
ARROWS = {
    "higher": r" $\uparrow$",
    "lower": r" $\downarrow$",
    "nearer_half": r" $\to .5$",
    "descriptive": "",
}


def as_csv(panels: Sequence[Panel]) -> str:
    """Return one line per system and metric; text cells are guarded against spreadsheets."""
    rows = as_rows(panels)
    out = io.StringIO()
    names = (
        list(rows[0])
        if rows
        else ["items", "aspect", "metric", "system", "fake_model", "given", "points", "n", "mean", "sd"]
    )
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(value) if key in TEXT else value for key, value in row.items()})
    return out.getvalue()


def as_latex(panels: Sequence[Panel]) -> str:
    """Return a booktabs table per panel: means over standard deviations, the ends of a column marked."""
    return "\n\n".join([NEEDS, *map(_table, panels)]) + "\n"


def _table(panel: Panel) -> str:
    names = [f"{escaped(column.name)}{ARROWS[column.metric.direction]}" for column in panel.columns]
    if len(names) > MOST_LEVEL:
        names = [rf"\rotatebox{{60}}{{{name}}}" for name in names]
    comments = [
        f"% {panel.title}: mean and standard deviation (dividing by n); bold: highest, underlined: lowest;",
        "% where the arrow leads to .5, bold: nearest, underlined: farthest",
    ]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(panel.columns)}}}",
        r"\toprule",
        " & ".join(["System", *names]) + r" \\",
        r"\midrule",
        *(_line(row) for row in panel.systems),
    ]
    if panel.people:
        apart = [r"\midrule"] if panel.systems else []
        lines += [*apart, *(_line(row) for row in panel.people)]
    whys = dict.fromkeys(cell.reason for row in panel.rows for cell in row.cells if cell.reason)
    note = SENTENCES[panel.points] + (f" --: {escaped('; '.join(whys))}." if whys else "")
    return "\n".join([*comments, *fitted([*lines, r"\bottomrule", r"\end{tabular}"], note)])


def _named(row: Row) -> str:
    return f"{row.system} {MARK}" if row.fake_model else row.system


def _line(row: Row) -> str:
    values = " & ".join([escaped(_named(row)), *map(_figure, row.cells)])
    note = rf"{{\scriptsize {escaped(row.note)}}}" if row.note else ""
    under = " & ".join([note, *map(_spread, row.cells)])
    return f"{values} \\\\\n{under} \\\\"


def _figure(cell: Cell) -> str:
    if cell.mean is None:
        return "--"
    mean = f"{cell.mean:.3f}".replace("-", "$-$")
    if cell.is_bold:
        mean = rf"\textbf{{{mean}}}"
    if cell.is_underlined:
        mean = rf"\underline{{{mean}}}"
    return mean


def _spread(cell: Cell) -> str:
    return "" if cell.mean is None else rf"{{\scriptsize $\pm$ {cell.spread or 0:.3f}}}"
