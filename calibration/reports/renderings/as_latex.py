"""A report's tables as LaTeX (booktabs), to be read into a paper."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.text.numbers import number
from calibration.models import Report
from calibration.reports import caveats, tables
from calibration.reports.latex import NEEDS, escaped, fitted
from calibration.reports.renderings.common import look_lines, part_line, summary
from calibration.reports.snapshot import Figure, snapshot_of
from calibration.reports.tables import Cell
from calibration.reports.view import tables_of
from calibration.reports.wording import interval


def write(report: Report) -> str:
    """Return the agreement tables and the metrics table, with what they were made from as a comment."""
    result = snapshot_of(report)
    comments = [part_line(report), summary(report), f"inputs {report.inputs_hash}", *look_lines(report)]
    comments += caveats.caveats(result)
    lines = [f"% {' '.join(text.split())}" for text in [report.study.name, *comments]]
    lines += [f"{NEEDS}; under each value its interval"]
    for table in tables_of(result):
        named = ["Who"] if table.compares else []
        head = [table.first, *named, "Items", *(text for _, text in table.columns)]
        body = [
            _rows([r.question if r.first else "", *([r.who] if named else []), f"{r.n_items:,}"], r.cells)
            for r in table.rows
        ]
        lines += [f"% {table.title}", *_table(head, body, table.notes, texts=1 + len(named))]
    if found := tables.metrics(result):
        body = [
            _line([*map(escaped, (question, metric, f"{e.n_items:,}")), _value(e), _under(e)])
            for question, metric, e, _ in found
        ]
        lines += _table(["Question", "Metric", "Items", "ρ", "Interval"], body, [])
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], body: Sequence[str], notes: Sequence[str], texts: int = 2) -> list[str]:
    explained = "; ".join(
        rf"\textsuperscript{{{n}}} {escaped(note)}" for n, note in enumerate(notes, start=1)
    )
    tabular = [
        rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(head) - texts)}}}",
        r"\toprule",
        _line([escaped(text) for text in head]),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return fitted(tabular, f"{explained}." if notes else "")


def _rows(texts: Sequence[str], entries: Sequence[Figure | None]) -> str:
    """Return two lines: the values, and under them their intervals."""
    values = _line([*map(escaped, texts), *map(_value, entries)])
    under = _line([*("" for _ in texts), *map(_under, entries)])
    return f"{values}\n{under}"


def _value(entry: Figure | None) -> str:
    if entry is None:
        return ""
    if entry.ok:
        return escaped(number(entry.value, entry.digits))
    if isinstance(entry, Cell):
        return rf"---\textsuperscript{{{entry.note}}}"
    return escaped(entry.reason)


def _under(entry: Figure | None) -> str:
    if entry is None or not entry.ok or entry.bare:
        return ""
    return rf"{{\scriptsize {escaped(interval(entry))}}}"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
