"""A report's tables as LaTeX (booktabs), to be read into a paper."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.text.display import number, percent
from calibration.models import Report
from calibration.reports import caveats
from calibration.reports.contents import Figure, Marks
from calibration.reports.how_asked import how_asked
from calibration.reports.latex import NEEDS, escaped, fitted
from calibration.reports.renderings.common import look_lines, part_line, summary
from calibration.reports.snapshot import snapshot_of
from calibration.reports.tables import Cell, Table
from calibration.reports.view import tables_of, without_content
from calibration.reports.wording import interval

SIGNS = {"*": "$^{*}$", "†": r"$^{\dagger}$"}


def write(report: Report) -> str:
    """Return the agreement tables and the metrics table, with what they were made from as a comment."""
    result = snapshot_of(report)
    comments = [part_line(report), summary(report), f"inputs {report.inputs_hash}", *look_lines(report)]
    comments += [*caveats.caveats(result), *how_asked(result)]
    comments += [f"Not printed: {text}" for text in without_content(result)]
    lines = [_comment(text) for text in [report.study.name, *comments]]
    lines += [f"{NEEDS}; under each value its interval"]
    for table in tables_of(result):
        named = ["Who"] if table.compares else []
        head = [table.first, *named, "Items", *(text for _, text in table.columns)]
        body = _under_headings(table, named, len(head))
        above = _over(table, len(head) - len(table.columns))
        tabular = _table(head, body, table.notes, texts=1 + len(named), above=above, said=table.said)
        lines += [_comment(table.title), *tabular]
    return "\n".join([*lines, ""])


def _comment(text: str) -> str:
    return f"% {' '.join(text.split())}"


def _under_headings(table: Table, named: Sequence[str], columns: int) -> list[str]:
    """Return the rows, with a line across the table wherever another heading begins."""
    body: list[str] = []
    heading = ""
    for row in table.rows:
        if row.heading != heading:
            heading = row.heading
            body += [
                *([r"\midrule"] if body else []),
                rf"\multicolumn{{{columns}}}{{l}}{{{escaped(heading)}}} \\",
            ]
        texts = [row.question if row.first else "", *([row.who] if named else []), f"{row.n_items:,}"]
        body.append(_rows(texts, row.cells))
    return body


def _over(table: Table, before: int) -> list[str]:
    """Return the line of headings above those of the columns, with rules that show what each spans."""
    if not table.over:
        return []
    cells, rules, at = [""] * before, [], before + 1
    for text, columns in table.over:
        cells.append(rf"\multicolumn{{{columns}}}{{c}}{{{escaped(text)}}}" if columns > 1 else escaped(text))
        if text:
            rules.append(rf"\cmidrule(lr){{{at}-{at + columns - 1}}}")
        at += columns
    return [_line(cells), "".join(rules)]


def _table(
    head: Sequence[str],
    body: Sequence[str],
    notes: Sequence[str],
    texts: int = 2,
    above: Sequence[str] = (),
    said: Sequence[str] = (),
) -> list[str]:
    explained = "; ".join(
        rf"\textsuperscript{{{n}}} {escaped(note)}" for n, note in enumerate(notes, start=1)
    )
    under = [f"{explained}."] if notes else []
    under += [escaped(sentence) for sentence in said]
    tabular = [
        rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(head) - texts)}}}",
        r"\toprule",
        *above,
        _line([escaped(text) for text in head]),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return fitted(tabular, " ".join(under))


def _rows(texts: Sequence[str], entries: Sequence[Figure | None]) -> str:
    """Return two lines: the values, and under them their intervals."""
    values = _line([*map(escaped, texts), *map(_value, entries)])
    under = _line([*("" for _ in texts), *map(_under, entries)])
    return f"{values}\n{under}"


def _value(entry: Figure | None) -> str:
    if entry is None:
        return ""
    if entry.ok:
        shown = percent(entry.value, 1) if entry.percent else number(entry.value, entry.digits)
        return _marked(escaped(shown), entry.marks)
    if isinstance(entry, Cell):
        return rf"---\textsuperscript{{{entry.note}}}"
    return escaped(entry.reason)


def _marked(text: str, marks: Marks | None) -> str:
    """Return a value as its table sets it off; a sign hangs over the edge, so that digits stay in line."""
    if marks is None:
        return text
    text = rf"\textbf{{{text}}}" if marks.bold else text
    text = rf"\underline{{{text}}}" if marks.underlined else text
    return rf"{text}\rlap{{{SIGNS[marks.sign]}}}" if marks.sign else text


def _under(entry: Figure | None) -> str:
    if entry is None or not entry.ok or entry.bare:
        return ""
    return rf"{{\scriptsize {escaped(interval(entry))}}}"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
