"""Download formats of a report: JSON, CSV, Markdown, LaTeX and one page of HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import Any

from django.template.loader import render_to_string

from annotation.models import TestLook
from annotation.text.display import day, moment
from calibration.models import Report
from calibration.renderings import (
    NEEDS,
    Markdown,
    Rendering,
    csv_text,
    escaped,
    fitted,
    json_text,
    latex_comment,
    markdown,
    markdown_table,
)
from calibration.reports import sentences, tables, verdicts
from calibration.reports.names import titled_snapshot
from calibration.reports.results import Figure, Marks
from calibration.reports.snapshot import Snapshot, is_readable, snapshot_of
from calibration.reports.tables import Cell, CsvLine, Table
from calibration.reports.view import (
    SECTIONS,
    how_asked,
    keyed_tables,
    links,
    looks,
    openings_of,
    tables_of,
    view_of,
    without_content,
)
from calibration.reports.wording import counted, interval, join_names, narrowing
from config.styles import standalone_styles

# Shared by the written formats of a report.


def cell(entry: Figure | None) -> str:
    """Return `0.432 (0.21 to 0.60)`, `2.1%`, the reason for a missing value, or an empty string."""
    if entry is None:
        return ""
    if not entry.ok:
        return entry.reason
    if entry.bare:
        return value(entry)
    return f"{value(entry)} ({interval(entry)})"


def value(entry: Figure) -> str:
    """Format the value of a figure that has one, with the sign from its table."""
    return f"{entry.text}{entry.marks.sign if entry.marks and not entry.percent else ''}"


def summary(report: Report) -> str:
    """Summarise a report's inputs in one line."""
    result = snapshot_of(report)
    counts, plan = result.counts, result.definition.plan
    return (
        f"{counted(counts.labels, 'label')} of {counted(counts.raters, 'rater')} on "
        f"{counted(counts.items, 'item')} in {counted(counts.clusters, 'cluster')}; "
        f"{plan.resamples:,} cluster resamples, {plan.interval} interval, seed {plan.seed}; "
        f"computed {moment(report.created_at)}"
    )


def part_line(report: Report) -> str:
    """Name the part of the split that a report shows, and the subset to which it is narrowed."""
    result = snapshot_of(report)
    subset = narrowing(result)
    return f"{_part(result)} {subset[0].upper()}{subset[1:]}." if subset else _part(result)


def _part(result: Snapshot) -> str:
    if result.definition.is_of_training:
        return "The training part: its dialogues are in no split."
    if result.split is None:
        return "No split: all dialogues."
    return f"Part {result.part} of split {result.split.name} (seed {result.split.seed})."


def look_lines(report: Report) -> list[str]:
    """Return one line per look at test, then one per judge for which test was opened."""
    test_looks = [
        f"{day(look.at)}, {look.by or 'unknown'}: {look.purpose}{_judges(look)}" for look in looks(report)
    ]
    opened = [
        f"opened for a judge: {day(opening.opening.at)}, {opening.sentence()}"
        for opening in openings_of(report)
    ]
    return [*test_looks, *opened]


def _judges(look: TestLook) -> str:
    """Name the judges of a look at test."""
    return f" (judges: {', '.join(look.judges)})" if look.judges else ""


def headings(table: Table) -> list[str]:
    """Return column headings in one line each: the heading above the column, then its own."""
    above = [text for text, columns in table.over for _ in range(columns)] or [""] * len(table.columns)
    return [f"{text} {own}".strip() for text, (_, own) in zip(above, table.columns, strict=True)]


# A report as CSV: one line per figure, unrounded.

COUNTS = ("n_items", "n_clusters", "n_raters", "n_missing")
VALUES = ("value", "low", "high", "status", "reason", "flags")
FIGURE_HEAD = ("raters", *VALUES, *COUNTS, "method", "part", "inputs_hash")


def write_csv(report: Report) -> str:
    """Return the verdicts, then every figure: panel, pairs, the judge's test, gaps, and by section."""
    result = snapshot_of(report)
    by_section = (line for section in SECTIONS for line in section.lines(result))
    rows = (_csv_row(line, report) for line in chain(verdicts.lines(result), _figures(result), by_section))
    return csv_text(chain([["question", "title", "name", *FIGURE_HEAD]], rows))


def _csv_row(line: CsvLine, report: Report) -> list[object]:
    return [line.ref, line.title, line.name, *_csv_figure(line.figure, report)]


def _csv_figure(figure: Figure, report: Report) -> list[object]:
    return [
        "; ".join(figure.raters),
        *(figure.value, figure.low, figure.high, figure.status, figure.reason, " ".join(figure.flags)),
        *(getattr(figure, count) for count in COUNTS),
        *(figure.method, report.part, report.inputs_hash),
    ]


def _figures(result: Snapshot) -> Iterator[CsvLine]:
    for question in result.questions:
        for figure in question.figures:
            yield CsvLine(question.ref, question.title, figure.name, figure)


# A report as one self-contained page: styles and charts inline, nothing loaded from elsewhere.


def write_html(report: Report) -> str:
    """Return the report's page as a standalone file."""
    return render_to_string("calibration/report_file.html", file_context(report))


def file_context(report: Report) -> dict[str, Any]:
    """Return the context of a page that stands by itself: its styles inline, no links into Concord."""
    return view_of(report) | {"study": report.study, "styles": standalone_styles(), "alone": True}


# A report as JSON: everything, unrounded.


def write_json(report: Report) -> str:
    """Return the report's result with its hash, its answers in words and the looks at test.

    A report in an older format is returned as stored, without answers, caveats and looks.
    """
    stored = report.result | {
        "inputs_hash": report.inputs_hash,
        "computed_at": report.created_at.isoformat(),
    }
    return json.dumps(stored | _added_entries(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _added_entries(report: Report) -> dict[str, Any]:
    if not is_readable(report):
        return {}
    result = snapshot_of(report)
    look_entries = [
        {
            "by": str(look.by) if look.by else None,
            "at": look.at.isoformat(),
            "purpose": look.purpose,
            "judges": look.judges,
        }
        for look in looks(report)
    ]
    opened = [
        {
            "judge": opened_judge.opening.rater.name,
            "fingerprint": opened_judge.opening.rater.fingerprint,
            "family": opened_judge.opening.family,
            "number": opened_judge.number,
            "by": str(opened_judge.opening.by) if opened_judge.opening.by else None,
            "at": opened_judge.opening.at.isoformat(),
            "reason": opened_judge.opening.reason,
        }
        for opened_judge in openings_of(report)
    ]
    return {
        "looks_at_test": look_entries,
        "test_opened_for": opened,
        "verdicts": verdicts.payloads(result),
        "answers": [asdict(answer) for answer in sentences.lede(result)],
        "caveats": sentences.caveats(result),
        "how_asked": how_asked(result),
    }


# A report's tables as LaTeX (booktabs), to be included in a paper.

LATEX_NEEDS = f"{NEEDS}; under each value its interval"
SIGNS = {"*": "$^{*}$", "†": r"$^{\dagger}$"}


def write_latex(report: Report) -> str:
    """Return the agreement tables and the metrics table, with their inputs as a comment."""
    result = titled_snapshot(report)
    comments = [*_origin(report), *sentences.caveats(result), *how_asked(result)]
    comments += [f"Not printed: {text}" for text in without_content(result)]
    lines = [latex_comment(text) for text in comments]
    lines += [LATEX_NEEDS]
    if result.verdicts:
        lines += [latex_comment("Verdicts"), *_verdicts_as_latex(result)]
    for table in tables_of(result):
        lines += [latex_comment(table.title), *_latex(table)]
    return "\n".join([*lines, ""])


def _verdicts_as_latex(result: Snapshot) -> list[str]:
    """Return the table of verdicts, with the reasons and next steps below."""
    rows, head = verdicts.text_rows(result), verdicts.HEADINGS[:-2]
    body = [_line_as_latex([*map(escaped, row[:-2])]) for row in rows]
    remarks = [f"{row[1]}, {row[0]}: {row[-2]} {row[-1]}".strip() for row in rows]
    return _table_as_latex(head, body, (), texts=len(head), remarks=remarks)


def _origin(report: Report) -> list[str]:
    """Return the lines that say what a file's figures come from."""
    inputs = f"inputs {report.inputs_hash}"
    return [report.study.name, part_line(report), summary(report), inputs, *look_lines(report)]


def _latex(table: Table) -> list[str]:
    rater_head = [table.second] if table.compares else []
    head = [table.first, *rater_head, "Items", *(text for _, text in table.columns)]
    body = _rows_as_latex(table, rater_head, len(head))
    above = _column_groups(table, len(head) - len(table.columns))
    return _table_as_latex(
        head, body, table.notes, texts=1 + len(rater_head), above=above, remarks=table.remarks
    )


def _rows_as_latex(table: Table, rater_head: Sequence[str], columns: int) -> list[str]:
    """Return the rows, with a full-width line wherever another heading begins."""
    body: list[str] = []
    heading = ""
    for row in table.rows:
        if row.heading != heading:
            heading = row.heading
            body += [
                *([r"\midrule"] if body else []),
                rf"\multicolumn{{{columns}}}{{l}}{{{escaped(heading)}}} \\",
            ]
        texts = [
            row.question if row.first else "",
            *([row.compared] if rater_head else []),
            f"{row.n_items:,}",
        ]
        body.append(_rows(texts, row.cells))
    return body


def _column_groups(table: Table, before: int) -> list[str]:
    """Return the line of headings above the columns' headings, with rules under each span."""
    if not table.over:
        return []
    cells, rules, at = [""] * before, [], before + 1
    for text, columns in table.over:
        cells.append(rf"\multicolumn{{{columns}}}{{c}}{{{escaped(text)}}}" if columns > 1 else escaped(text))
        if text:
            rules.append(rf"\cmidrule(lr){{{at}-{at + columns - 1}}}")
        at += columns
    return [_line_as_latex(cells), "".join(rules)]


def _table_as_latex(
    head: Sequence[str],
    body: Sequence[str],
    notes: Sequence[str],
    texts: int = 2,
    above: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> list[str]:
    explained = "; ".join(
        rf"\textsuperscript{{{n}}} {escaped(note)}" for n, note in enumerate(notes, start=1)
    )
    under = [f"{explained}."] if notes else []
    under += [escaped(sentence) for sentence in remarks]
    tabular = [
        rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(head) - texts)}}}",
        r"\toprule",
        *above,
        _line_as_latex([escaped(text) for text in head]),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return fitted(tabular, " ".join(under))


def _rows(texts: Sequence[str], entries: Sequence[Figure | None]) -> str:
    """Return two lines: the values, and their intervals below."""
    values = _line_as_latex([*map(escaped, texts), *map(_value, entries)])
    under = _line_as_latex([*("" for _ in texts), *map(_interval_below, entries)])
    return f"{values}\n{under}"


def _value(entry: Figure | None) -> str:
    if entry is None:
        return ""
    if entry.ok:
        return _marked(escaped(entry.text), entry.marks)
    if isinstance(entry, Cell):
        return rf"---\textsuperscript{{{entry.note}}}"
    return escaped(entry.reason)


def _marked(text: str, marks: Marks | None) -> str:
    """Format a value with its table's marks; a sign hangs over the edge, so that digits stay aligned."""
    if marks is None:
        return text
    text = rf"\textbf{{{text}}}" if marks.bold else text
    text = rf"\underline{{{text}}}" if marks.underlined else text
    return rf"{text}\rlap{{{SIGNS[marks.sign]}}}" if marks.sign else text


def _interval_below(entry: Figure | None) -> str:
    if entry is None or not entry.ok or entry.bare:
        return ""
    return rf"{{\scriptsize {escaped(interval(entry))}}}"


def _line_as_latex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


# A report as Markdown.


def write_markdown(report: Report) -> str:
    """Return the report's answers, caveats and tables."""
    result = titled_snapshot(report)
    lines = [f"# {markdown(report.study.name)}", "", f"{part_line(report)} {summary(report)}.", ""]
    if result.verdicts:
        columns = range(len(verdicts.HEADINGS))
        lines += ["## Verdicts", ""]
        lines += [*markdown_table(verdicts.HEADINGS, verdicts.text_rows(result), columns), ""]
    for answer in sentences.lede(result):
        figure = f"**{answer.figure}** ({answer.interval}). " if answer.figure else ""
        lines += [f"- {markdown(answer.title)} {figure}{markdown(answer.text)}"]
    lines += [""] + [f"> - {markdown(sentence)}" for sentence in sentences.caveats(result)] + [""]
    for table in tables_of(result):
        lines += [f"## {markdown(table.title)}", "", *_markdown(table)]
    if uncompared := result.uncompared:
        rows = [[q.title, q.scheme_title, join_names(q.raters), q.reason] for q in uncompared]
        lines += [
            "## Not compared",
            "",
            *markdown_table(["Question", "Scheme", "Answered by", "Why"], rows, range(4)),
            "",
        ]
    rater_rows = [
        [r.name, r.kind, f"{r.questions:,}", f"{r.n:,}", f"{r.missing:,}"] for r in tables.raters(result)
    ]
    lines += [
        "## Who answered",
        "",
        *markdown_table(["Rater", "Kind", "Questions", "Items", "Missing"], rater_rows, (0, 1)),
        "",
    ]
    lines += [
        *(f"- {markdown(text)}" for text in how_asked(result)),
        *(f"- Not printed: {markdown(text)}" for text in without_content(result)),
        *(f"- {markdown(text)}" for text in links(result)),
        *(f"- Test: {markdown(t)}" for t in look_lines(report)),
    ]
    return "\n".join([*lines, "", f"Inputs: `{report.inputs_hash}`", ""])


def _markdown(table: Table) -> list[str]:
    """Return a table with its remarks as lines of Markdown, the last one empty."""
    head = [table.first, *([table.second] if table.compares else []), "Items", "Clusters", *headings(table)]
    rows = [
        [
            row.question,
            *([row.compared] if table.compares else []),
            f"{row.n_items:,}",
            f"{row.n_clusters:,}",
            *(_cell(entry) for entry in row.cells),
        ]
        for row in table.rows
    ]
    lines = [*markdown_table(head, _under_headings(table, rows), range(2 if table.compares else 1)), ""]
    remarks = [f"- {markdown(sentence)}" for sentence in table.remarks]
    return [*lines, *remarks, ""] if remarks else lines


def _cell(entry: Figure | None) -> str:
    """Format a figure with its table's marks: bold or underlined."""
    if entry is None or entry.marks is None or not entry.ok:
        return cell(entry)
    plain = markdown(value(entry))
    plain = f"<u>{plain}</u>" if entry.marks.underlined else plain
    plain = f"**{plain}**" if entry.marks.bold else plain
    return Markdown(f"{plain} ({interval(entry)})")


def _under_headings(table: Table, rows: Sequence[list[str]]) -> list[list[str]]:
    """Insert a line of its own wherever another heading begins."""
    headed_rows: list[list[str]] = []
    heading = ""
    for row, cells in zip(table.rows, rows, strict=True):
        if row.heading != heading:
            heading = row.heading
            headed_rows.append([Markdown(f"*{markdown(heading)}*"), *("" for _ in cells[1:])])
        headed_rows.append(cells)
    return headed_rows


# Download formats of a report, one file each.

RENDERINGS: dict[str, Rendering[Report, str]] = {
    form.key: form
    for form in (
        Rendering("json", "JSON", "json", "application/json", write_json),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_latex),
        Rendering("html", "Web page", "html", "text/html; charset=utf-8", write_html),
    )
}


# One table of a report as a file.


@dataclass(frozen=True, slots=True)
class TableOfReport:
    """A table with its report."""

    report: Report
    table: Table


def table_of_report(report: Report, key: str, form: str) -> TableOfReport | None:
    """Return the table of a report with this key for a file of a form; None if it has none.

    Markdown and LaTeX call judges by their short names, as the page does; data keep their names.
    """
    result = titled_snapshot(report) if form in ("md", "latex") else snapshot_of(report)
    table = keyed_tables(result).get(key)
    return TableOfReport(report, table) if table else None


def write_table_csv(source: TableOfReport) -> str:
    """Return one line per figure of a table, unrounded, with its row and its column."""
    table = source.table
    rows = [
        [row.heading, row.question, row.compared, name, text, *_csv_figure(figure, source.report)]
        for row in table.rows
        for (name, _), text, figure in zip(table.columns, headings(table), row.cells, strict=True)
        if figure is not None
    ]
    return csv_text([["group", "row", "compared", "name", "column", *FIGURE_HEAD], *rows])


def write_table_markdown(source: TableOfReport) -> str:
    """Return a table with its title, its remarks, and where its figures come from."""
    table = source.table
    notes = [f"- {markdown(text)}" for text in _origin(source.report)]
    return "\n".join([f"**{markdown(table.caption or table.title)}**", "", *_markdown(table), *notes, ""])


def write_table_latex(source: TableOfReport) -> str:
    """Return a table as a float with caption and label, with where its figures come from as a comment."""
    comments = (latex_comment(text) for text in _origin(source.report))
    return "\n".join([*comments, LATEX_NEEDS, *latex_float(source.table), ""])


def latex_float(table: Table) -> list[str]:
    """Return a table as lines of a LaTeX float, with its caption and label."""
    return [
        r"\begin{table}[t]",
        rf"\caption{{{escaped(table.caption or table.title)}}}",
        rf"\label{{tab:{table.key}}}",
        *_latex(table),
        r"\end{table}",
    ]


def write_table_json(source: TableOfReport) -> str:
    """Return a table's rows with their figures by column, unrounded, and where they come from."""
    table, report = source.table, source.report
    columns = [
        {"name": name, "heading": text}
        for (name, _), text in zip(table.columns, headings(table), strict=True)
    ]
    rows = [
        {
            "group": row.heading,
            "row": row.question,
            "compared": row.compared,
            "n_items": row.n_items,
            "n_clusters": row.n_clusters,
            "figures": {
                name: {attribute.name: getattr(figure, attribute.name) for attribute in fields(Figure)}
                for (name, _), figure in zip(table.columns, row.cells, strict=True)
                if figure is not None
            },
        }
        for row in table.rows
    ]
    return json_text(
        {
            "key": table.key,
            "title": table.title,
            "caption": table.caption,
            "columns": columns,
            "rows": rows,
            "remarks": [*table.notes, *table.remarks],
            "study": report.study.name,
            "part": report.part,
            "inputs_hash": report.inputs_hash,
            "computed_at": report.created_at.isoformat(),
        }
    )


TABLE_RENDERINGS: dict[str, Rendering[TableOfReport, str]] = {
    form.key: form
    for form in (
        Rendering("json", "JSON", "json", "application/json", write_table_json),
        Rendering("csv", "CSV", "csv", "text/csv; charset=utf-8", write_table_csv),
        Rendering("md", "Markdown", "md", "text/markdown; charset=utf-8", write_table_markdown),
        Rendering("latex", "LaTeX", "tex", "application/x-latex; charset=utf-8", write_table_latex),
    )
}
