"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.models import Report
from calibration.reports import caveats, lede, tables
from calibration.reports.renderings.common import cell, look_lines, part_line, summary
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import links, tables_of
from calibration.reports.wording import listed


def write(report: Report) -> str:
    """Return the report's answers, caveats and tables."""
    result = snapshot_of(report)
    lines = [f"# {_plain(report.study.name)}", "", f"{part_line(report)} {summary(report)}.", ""]
    for answer in lede.lede(result):
        figure = f"**{answer.figure}** ({answer.interval}). " if answer.figure else ""
        lines += [f"- {_plain(answer.title)} {figure}{_plain(answer.text)}"]
    lines += [""] + [f"> {_plain(sentence)}" for sentence in caveats.caveats(result)] + [""]
    for table in tables_of(result):
        head = [table.first, *(["Who"] if table.compares else []), "Items", "Clusters"]
        head += [text for _, text in table.columns]
        rows = [
            [row.question, *([row.who] if table.compares else []), f"{row.n_items:,}", f"{row.n_clusters:,}"]
            + [cell(c) for c in row.cells]
            for row in table.rows
        ]
        lines += [f"## {_plain(table.title)}", ""]
        lines += [*_table(head, rows, None if table.compares else len(head) - 1), ""]
        lines += [*(f"- {_plain(sentence)}" for sentence in table.said), *([""] if table.said else [])]
    if left := result.uncompared:
        rows = [[q.title, q.scheme_title, listed(q.raters), q.reason] for q in left]
        lines += ["## Not compared", "", *_table(["Question", "Scheme", "Answered by", "Why"], rows, 0), ""]
    told = [[r.name, r.kind, f"{r.questions:,}", f"{r.n:,}", f"{r.missing:,}"] for r in tables.raters(result)]
    lines += ["## Who answered", "", *_table(["Rater", "Kind", "Questions", "Items", "Missing"], told), ""]
    lines += [
        *(f"- {_plain(text)}" for text in links(result)),
        *(f"- Test: {_plain(t)}" for t in look_lines(report)),
    ]
    return "\n".join([*lines, "", f"Inputs: `{report.inputs_hash}`", ""])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int | None = None) -> list[str]:
    """Return a table whose last columns hold numbers: all but two, or as many as are said."""
    right = len(head) - 2 if numbers is None else numbers
    marks = ["---"] * (len(head) - right) + ["---:"] * right
    return [_line(head), _line(marks), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(text) for text in cells) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped.split())
