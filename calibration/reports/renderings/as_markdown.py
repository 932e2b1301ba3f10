"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.models import Report
from calibration.reports import caveats, lede, tables
from calibration.reports.how_asked import how_asked
from calibration.reports.renderings.common import cell, headings, look_lines, part_line, summary, value
from calibration.reports.snapshot import Figure, snapshot_of
from calibration.reports.tables import Table
from calibration.reports.view import links, tables_of, without_content
from calibration.reports.wording import interval, listed


def write(report: Report) -> str:
    """Return the report's answers, caveats and tables."""
    result = snapshot_of(report)
    lines = [f"# {_plain(report.study.name)}", "", f"{part_line(report)} {summary(report)}.", ""]
    for answer in lede.lede(result):
        figure = f"**{answer.figure}** ({answer.interval}). " if answer.figure else ""
        lines += [f"- {_plain(answer.title)} {figure}{_plain(answer.text)}"]
    lines += [""] + [f"> - {_plain(sentence)}" for sentence in caveats.caveats(result)] + [""]
    for table in tables_of(result):
        head = [table.first, *(["Who"] if table.compares else []), "Items", "Clusters"]
        head += headings(table)
        rows = [
            [row.question, *([row.who] if table.compares else []), f"{row.n_items:,}", f"{row.n_clusters:,}"]
            + [_cell(c) for c in row.cells]
            for row in table.rows
        ]
        rows = _under_headings(table, rows)
        lines += [f"## {_plain(table.title)}", ""]
        lines += [*_table(head, rows, None if table.compares else len(head) - 1), ""]
        lines += [*(f"- {_plain(sentence)}" for sentence in table.said), *([""] if table.said else [])]
    if left := result.uncompared:
        rows = [[q.title, q.scheme_title, listed(q.raters), q.reason] for q in left]
        lines += ["## Not compared", "", *_table(["Question", "Scheme", "Answered by", "Why"], rows, 0), ""]
    told = [[r.name, r.kind, f"{r.questions:,}", f"{r.n:,}", f"{r.missing:,}"] for r in tables.raters(result)]
    lines += ["## Who answered", "", *_table(["Rater", "Kind", "Questions", "Items", "Missing"], told), ""]
    lines += [
        *(f"- {_plain(text)}" for text in how_asked(result)),
        *(f"- Not printed: {_plain(text)}" for text in without_content(result)),
        *(f"- {_plain(text)}" for text in links(result)),
        *(f"- Test: {_plain(t)}" for t in look_lines(report)),
    ]
    return "\n".join([*lines, "", f"Inputs: `{report.inputs_hash}`", ""])


class Ready(str):
    """Markdown as it is to stand in a cell."""


def _cell(entry: Figure | None) -> str:
    """Return a figure, set off as its table marks it: bold, or underlined."""
    if entry is None or entry.marks is None or not entry.ok:
        return cell(entry)
    plain = _plain(value(entry))
    plain = f"<u>{plain}</u>" if entry.marks.underlined else plain
    plain = f"**{plain}**" if entry.marks.bold else plain
    return Ready(f"{plain} ({interval(entry)})")


def _under_headings(table: Table, rows: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows with a line of its own wherever another heading begins."""
    found: list[list[str]] = []
    heading = ""
    for row, cells in zip(table.rows, rows, strict=True):
        if row.heading != heading:
            heading = row.heading
            found.append([Ready(f"*{_plain(heading)}*"), *("" for _ in cells[1:])])
        found.append(cells)
    return found


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int | None = None) -> list[str]:
    """Return a table whose last columns hold numbers: all but two, or as many as are said."""
    right = len(head) - 2 if numbers is None else numbers
    marks = ["---"] * (len(head) - right) + ["---:"] * right
    return [_line(head), _line(marks), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(text) for text in cells) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    if isinstance(text, Ready):
        return text
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped.split())
