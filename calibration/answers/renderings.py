"""The forms of an Answers report: all of them show the same tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from annotation.text.csv_cells import guarded
from calibration.answers.computing import AnswersReport
from calibration.answers.content import content
from calibration.answers.tables import (
    Cell,
    Line,
    Range,
    Versus,
    cell_text,
    figure_of,
    flags,
    interval,
    reasons,
    value_text,
)
from calibration.answers.view import view_of
from calibration.rendering import Rendering
from calibration.reports.latex import NEEDS, escaped, fitted
from calibration.reports.terminal import aligned, printable
from calibration.statistics.core.result import FLAGS

# An Answers report as one self-contained page: styles and charts inside, nothing loaded from elsewhere.


def as_html(made: AnswersReport) -> str:
    """Return the report's page as a file that opens anywhere."""
    styles = (settings.BASE_DIR / "static" / "css" / "concord.css").read_text(encoding="utf-8")
    context = view_of(made) | {"styles": mark_safe(styles), "alone": True}
    return render_to_string("calibration/answers_file.html", context)


CSV_HEAD = (
    *("table", "row", "column", "value", "low", "high", "sd", "n", "n_clusters", "n_missing"),
    *("difference", "difference_low", "difference_high", "text", "flags", "reason"),
)
PERCENT = 100.0


def title(made: AnswersReport) -> str:
    """Return what a report is called."""
    return f"Answers report of {made.query.corpus.name}"


def as_text(made: AnswersReport) -> str:
    """Return the report for the terminal."""
    lines = [title(made), *made.facts]
    for table in made.tables:
        rows = [
            ["", *table.heads],
            *([line.name, *(cell_text(one, table.printed) for one in line.cells)] for line in table.lines),
        ]
        lines += ["", table.title, *aligned(rows), *table.notes]
    lines += ["", *(f"Not defined: {reason}." for reason in reasons(made.tables))]
    lines += [f"{flag}: {FLAGS.get(flag, flag)}" for flag in flags(made.tables)]
    return "\n".join([*map(printable, lines), ""])


def as_markdown(made: AnswersReport) -> str:
    """Return the report as Markdown."""
    lines = [f"# {_plain(title(made))}", "", *(f"- {_plain(fact)}" for fact in made.facts)]
    for table in made.tables:
        marks = ["---", *(["---:"] * len(table.heads))]
        lines += ["", f"## {_plain(table.title)}", "", _line(["", *table.heads]), f"| {' | '.join(marks)} |"]
        lines += [
            _line([line.name, *(cell_text(one, table.printed) for one in line.cells)]) for line in table.lines
        ]
        lines += ["", *(f"{_plain(note)}" for note in table.notes)] if table.notes else []
    told = [f"- Not defined: {_plain(one)}" for one in reasons(made.tables)]
    told += [f"- {_plain(flag)}: {_plain(FLAGS.get(flag, flag))}" for flag in flags(made.tables)]
    lines += ["", "## What to keep in mind", "", *told] if told else []
    return "\n".join([*lines, ""])


def as_latex(made: AnswersReport) -> str:
    """Return the report's tables as LaTeX (booktabs), under each value its interval."""
    lines = [f"% {' '.join(text.split())}" for text in (title(made), *made.facts)]
    lines.append(f"{NEEDS}; under each value its interval")
    for table in made.tables:
        body = [text for line in table.lines for text in _latex_lines(line, table.printed)]
        head = [rf"\rotatebox{{60}}{{{escaped(one)}}}" for one in table.heads]
        tabular = [
            rf"\begin{{tabular}}{{l{'r' * len(table.heads)}}}",
            r"\toprule",
            _tex(["", *head]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        lines += [f"% {table.title}", *fitted(tabular)]
    return "\n".join([*lines, ""])


def _latex_lines(line: Line, printed: bool) -> list[str]:
    values = [escaped(value_text(one, printed)) for one in line.cells]
    scale = PERCENT if printed else 1.0
    under = [interval(one.result, scale) if (one := figure_of(cell)) else "" for cell in line.cells]
    small = [rf"{{\scriptsize {escaped(text)}}}" if text else "" for text in under]
    found = [_tex([escaped(line.name), *values])]
    return [*found, _tex(["", *small])] if any(small) else found


def _tex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def as_csv(made: AnswersReport) -> str:
    """Return one line a cell, shares from 0 to 1, unrounded."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_HEAD, lineterminator="\n", restval="")
    writer.writeheader()
    for table in made.tables:
        for line in table.lines:
            for head, cell in zip(table.heads, line.cells, strict=True):
                place = {"table": table.key, "row": guarded(line.name), "column": guarded(head)}
                writer.writerow(place | _csv_cell(cell))
    return out.getvalue()


def _csv_cell(cell: Cell) -> dict[str, Any]:
    figure = figure_of(cell)
    if figure is None:
        if isinstance(cell, Range):
            return {"low": cell.low, "high": cell.high}
        return {"value": cell} if isinstance(cell, int) else {"text": guarded(str(cell))}
    result = figure.result
    told: dict[str, Any] = {
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "sd": figure.sd,
        "n": result.n_items,
        "n_clusters": result.n_clusters,
        "n_missing": result.n_missing,
        "flags": " ".join(result.flags),
        "reason": guarded(result.reason),
    }
    if isinstance(cell, Versus):
        moved = cell.difference.result
        told |= {"difference": moved.value, "difference_low": moved.low, "difference_high": moved.high}
    return told


def as_json(made: AnswersReport) -> str:
    """Return the report as one JSON object."""
    return json.dumps(content(made), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    escaped_text = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)
    return " ".join(escaped_text.split())


RENDERINGS: dict[str, Rendering[AnswersReport, str]] = {
    form.key: form
    for form in (
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", as_latex),
        Rendering("html", "HTML", "html", "text/html; charset=utf-8", as_html),
        Rendering("json", "JSON", "json", "application/json", as_json),
    )
}
"""The forms a report is downloaded in."""
__all__ = ["RENDERINGS", "as_text", "title"]
