"""A report's tables as LaTeX (booktabs), to be read into a paper."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.latex import escaped
from calibration.models import Report
from calibration.reports import caveats, tables
from calibration.reports.renderings.common import cell, look_lines, part_line, summary


def write(report: Report) -> str:
    """Return the agreement table and the metrics table, with what they were made from as a comment."""
    result = report.result
    comments = [part_line(report), summary(report), f"inputs {report.inputs_hash}", *look_lines(report)]
    comments += caveats.caveats(result)
    lines = [f"% {' '.join(text.split())}" for text in [report.study.name, *comments]]
    lines += ["% needs \\usepackage{booktabs}"]
    for table in tables.agreement(result):
        head = ["Question", "Who", "Items", *(text for _, text in table.columns)]
        rows = [[r.question, r.who, f"{r.n_items:,}", *(cell(c) for c in r.cells)] for r in table.rows]
        lines += [f"% {table.title}", *_tabular(head, rows, text_columns=2)]
    if found := tables.metrics(result):
        rows = [[question, metric, f"{e['n_items']:,}", cell(e)] for question, metric, e, _ in found]
        lines += _tabular(["Question", "Metric", "Items", "ρ"], rows, text_columns=2)
    return "\n".join([*lines, ""])


def _tabular(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> list[str]:
    columns = "l" * text_columns + "r" * (len(head) - text_columns)
    body = [_line(row) for row in rows]
    return [
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _line(cells: Sequence[str]) -> str:
    return " & ".join(escaped(text) for text in cells) + r" \\"
