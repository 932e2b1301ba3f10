"""Reports of the suites: the lock on the test part, and their tables in every format.

A report consists of tables of figures, counts and text; the page, the API response and every file show the
same.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import vl_convert
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import mark_safe

from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.models import Corpus, Rater, TestLook
from annotation.text.display import number
from calibration.errors import CalibrationError
from calibration.management.options import list_existing, refuse_purpose, write_output
from calibration.renderings import (
    NEEDS,
    Rendering,
    aligned,
    escaped,
    latex_comment,
    latex_line,
    latex_small,
    latex_table,
    markdown,
    markdown_table,
    printable,
    records_csv,
)
from calibration.reports import charts, kinds
from calibration.reports.kinds import CorpusQuery, fix_part, part_of
from calibration.reports.tables import VerdictRow
from calibration.statistics import Result
from calibration.statistics.core.engine import FLAGS
from calibration.statistics.verdicts import State as VerdictState
from judges.management.run_options import add_exclude
from suites.verdicts import ABOVE, BELOW, CANNOT_SAY, NOT_ABOVE, Step, Verdict


class ReportRefused(CalibrationError):
    """A report of a suite is unavailable; the message is the reason, in one line."""


# The lock on the test part: the same as for all reports, with the judges whose answers a report reads.


@dataclass(frozen=True)
class ReportPart(kinds.ReportPart):
    """The part of a corpus that a report shows, its clusters (None: all), and the judges it reads."""

    clusters: frozenset[str] | None
    judges: Sequence[Rater]


def report_part(query: CorpusQuery, by: User | None, raters: Callable[[], Sequence[Rater]]) -> ReportPart:
    """Return the part that a query shows, and fix its split.

    Raises ReportRefused for an unknown part, and for test if it was not opened for one of the judges.
    """
    part = part_of(query, ReportRefused)
    clusters = fix_part(part, by)
    judges = raters()
    part.check_opened(judges, ReportRefused)
    return ReportPart(part.split, part.name, clusters, judges)


# Tables of figures, counts and text.


class OwnCell(ABC):
    """A suite-specific cell: more than one statistic."""

    @property
    def statistic(self) -> Result | None:
        """The main statistic, None if there is none."""
        return None

    @property
    def spread(self) -> str:
        """Text between the value and its interval."""
        return ""

    @abstractmethod
    def value_text(self, printed: bool) -> str:
        """Return a cell's main text; `printed`: formatted as in a paper."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return the cell as plain data."""

    def as_csv(self) -> dict[str, Any]:
        """Return the cell-specific columns of a CSV line."""
        return {}


Cell: TypeAlias = "Result | OwnCell | str | int"
"""A figure with its interval, a suite-specific cell, text, or a count."""


@dataclass(frozen=True)
class Line:
    """A row of a table: its name, its cells, whether it is a baseline (in grey), and its title."""

    name: str
    cells: tuple[Cell, ...]
    is_baseline: bool = False
    title: str = ""


@dataclass(frozen=True)
class Table:
    """A table: its key in files, title, column heads (after the name column), and notes below it.

    In a ``printed`` table figures are per cent with the standard deviation over trials, as in a paper;
    otherwise they have interval and n.
    """

    key: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    printed: bool = False


PERCENT = 100.0


def result_of(cell: Cell) -> Result | None:
    """Return the statistic of a cell, None if it has none."""
    return cell if isinstance(cell, Result) else cell.statistic if isinstance(cell, OwnCell) else None


def value_text(cell: Cell, printed: bool = False) -> str:
    """Return a cell's main text: its value, its text, or a count with thousands separators."""
    if isinstance(cell, OwnCell):
        return cell.value_text(printed)
    if isinstance(cell, Result):
        return number(cell.value)
    return f"{cell:,}" if isinstance(cell, int) else cell


def interval(result: Result, scale: float = 1.0) -> str:
    """Return an interval in brackets, '' if there is none."""
    if result.low is None or result.high is None:
        return ""
    return f"[{number(scale * result.low)}, {number(scale * result.high)}]"


def cell_text(cell: Cell, printed: bool = False) -> str:
    """Return a cell as one line of text: a value with its interval and n, or its text."""
    value, result = value_text(cell, printed), result_of(cell)
    if printed or result is None or result.value is None:
        return value
    spread = cell.spread if isinstance(cell, OwnCell) else ""
    return " ".join(part for part in (value, spread, interval(result), f"n {result.n_items:,}") if part)


def results(tables: Sequence[Table]) -> Iterator[tuple[str, Result]]:
    """Yield every statistic of tables with the name of its position."""
    for table in tables:
        for line in table.lines:
            for head, cell in zip(table.heads, line.cells, strict=True):
                if (result := result_of(cell)) is not None:
                    yield f"{line.name}, {head}", result


def flags(tables: Sequence[Table]) -> list[tuple[str, str]]:
    """Return the distinct flags of all figures, in order, each with its warning."""
    raised = dict.fromkeys(flag for _, result in results(tables) for flag in result.flags)
    return [(flag, FLAGS.get(flag, flag)) for flag in raised]


# The tables in a report's download formats.

FORMS = {
    "csv": ("CSV", "csv", "text/csv; charset=utf-8"),
    "md": ("Markdown", "md", "text/markdown; charset=utf-8"),
    "latex": ("LaTeX", "tex", "application/x-latex; charset=utf-8"),
    "html": ("HTML", "html", "text/html; charset=utf-8"),
    "json": ("JSON", "json", "application/json"),
}


def forms(**writers: Callable[[Any], str]) -> dict[str, Rendering[Any, str]]:
    """Return the formats that have writers, by key."""
    return {key: Rendering(key, *FORMS[key], write) for key, write in writers.items()}


def draw(chart: Any) -> str:
    """Return an Altair chart as SVG, in the typeface of all charts."""
    placed = chart.properties(background="transparent", padding=6)
    return charts.to_svg(dict(placed.configure(font=charts.FONT).configure_view(stroke=None).to_dict()))


@dataclass(frozen=True)
class Chart:
    """A chart of a report: its key in addresses, title, caption, the table of its data, and how it is drawn.

    ``data`` returns a report's data as JSON ('' for no chart), ``draw`` turns them into an SVG in plain
    colours, and ``spoken`` says title and result to screen readers.
    """

    key: str
    title: str
    caption: str
    table: str
    data: Callable[[Any], str]
    draw: Callable[[str], str]
    spoken: Callable[[Any], str]

    def view(self, report: Any) -> dict[str, Any] | None:
        """Return the chart for templates, in the page's colours; None without data."""
        if not (data := self.data(report)):
            return None
        svg = mark_safe(charts.in_page(self.draw(data), self.spoken(report)))
        names = {"key": self.key, "title": self.title, "caption": self.caption, "table": self.table}
        return names | {"svg": svg}


def _chart_svg(source: tuple[Any, Chart]) -> str:
    report, chart = source
    return charts.on_white(chart.draw(chart.data(report)))


def _chart_png(source: tuple[Any, Chart]) -> bytes:
    image: bytes = vl_convert.svg_to_png(_chart_svg(source), scale=2)
    return image


CHART_FORMS: dict[str, Rendering[Any, Any]] = {
    "svg": Rendering("svg", "Chart as SVG", "svg", "image/svg+xml", _chart_svg),
    "png": Rendering("png", "Chart as PNG", "png", "image/png", _chart_png),
}
"""Download formats of a report with one of its charts; PNG at twice the size on the page."""


def score_chart(
    key: str,
    title: str,
    axis: str,
    caption: str,
    table: str,
    points: Callable[[Any], Sequence[charts.Point]],
) -> Chart:
    """Return the chart of scores from 0 to 1 with their intervals, highest first, `points` in any order."""

    def draw(report: Any) -> charts.Chart:
        scored = [replace(point, series=title) for point in points(report) if point.value is not None]
        scored.sort(key=lambda point: -(point.value or 0.0))
        return charts.Chart(key, title, axis, tuple(scored[:MOST_SCORES]), top=1.0)

    def data(report: Any) -> str:
        chart = draw(report)
        return json.dumps(asdict(chart)) if chart.points else ""

    def spoken(report: Any) -> str:
        return charts.alt_text(draw(report))

    return Chart(key, title, caption, table, data, _draw_scores, spoken)


MOST_SCORES = 60
"""Most rows of a chart of scores."""


@lru_cache(maxsize=64)
def _draw_scores(data: str) -> str:
    return charts.to_svg(charts.specification(json.loads(data)))


def score_point(name: str, score: Result | Mapping[str, Any], *, is_baseline: bool = False) -> charts.Point:
    """Return a score, a statistic or its plain data, as a row of a chart of scores."""
    figure = score.as_dict() if isinstance(score, Result) else score
    value, low, high = figure["value"], figure["low"], figure["high"]
    return charts.Point(name, "", value, low, high, 0, 0, "", role="baseline" if is_baseline else "")


def write_text(
    head: Sequence[str], tables: Sequence[Table], reasons: Sequence[str], limits: Sequence[str] = ()
) -> str:
    """Return a report as text for the terminal."""
    lines = [*head]
    for table in tables:
        rows = [["", *table.heads], *([line.name, *_texts(table, line)] for line in table.lines)]
        lines += ["", table.title, *aligned(rows), *table.notes]
    lines += ["", *(f"Not defined: {reason}." for reason in reasons)]
    lines += [f"{flag}: {meaning}" for flag, meaning in flags(tables)]
    lines += ["", *limits] if limits else []
    return "\n".join([*map(printable, lines), ""])


def write_markdown(
    title: str,
    facts: Sequence[str],
    tables: Sequence[Table],
    reasons: Sequence[str],
    caveats: str,
    limits: Sequence[str] = (),
) -> str:
    """Return a report as Markdown; `caveats` is the heading of its limits and undefined figures."""
    lines = [f"# {markdown(title)}", "", *(f"- {markdown(fact)}" for fact in facts)]
    for table in tables:
        rows = [[line.name, *_texts(table, line)] for line in table.lines]
        lines += ["", f"## {markdown(table.title)}", "", *markdown_table(["", *table.heads], rows)]
        lines += ["", *map(markdown, table.notes)] if table.notes else []
    remarks = [f"- {markdown(sentence)}" for sentence in limits]
    remarks += [f"- Not defined: {markdown(reason)}" for reason in reasons]
    remarks += [f"- {markdown(flag)}: {markdown(meaning)}" for flag, meaning in flags(tables)]
    lines += ["", f"## {caveats}", "", *remarks] if remarks else []
    return "\n".join([*lines, ""])


def table_markdown(table: Table) -> str:
    """Return one table as Markdown: its title, its rows, and its notes."""
    rows = [[line.name, *_texts(table, line)] for line in table.lines]
    lines = [f"**{markdown(table.title)}**", "", *markdown_table(["", *table.heads], rows)]
    return "\n".join([*lines, *(["", *map(markdown, table.notes)] if table.notes else []), ""])


def _texts(table: Table, line: Line) -> list[str]:
    return [cell_text(cell, table.printed) for cell in line.cells]


def write_latex(
    comments: Sequence[str], tables: Sequence[Table], value: Callable[[Cell, bool], str] = value_text
) -> str:
    """Return tables as LaTeX (booktabs), with the interval below each value."""
    lines = [latex_comment(text) for text in comments]
    lines.append(f"{NEEDS}; under each value its interval")
    for table in tables:
        head = [rf"\rotatebox{{60}}{{{escaped(column)}}}" for column in table.heads]
        body = [text for line in table.lines for text in _latex_lines(table, line, value)]
        lines += [f"% {table.title}", *latex_table("l" + "r" * len(table.heads), ["", *head], body)]
    return "\n".join([*lines, ""])


def _latex_lines(table: Table, line: Line, value: Callable[[Cell, bool], str]) -> list[str]:
    values = latex_line([escaped(line.name), *(escaped(value(cell, table.printed)) for cell in line.cells)])
    scale = PERCENT if table.printed else 1.0
    under = [interval(result, scale) if (result := result_of(cell)) else "" for cell in line.cells]
    small = list(map(latex_small, under))
    return [values, latex_line(["", *small])] if any(small) else [values]


def write_csv(tables: Sequence[Table], head: Sequence[str]) -> str:
    """Return CSV with one line per cell, unrounded, restricted to the columns of the head."""
    return records_csv(
        head,
        (
            {"table": table.key, "row": line.name, "baseline": int(line.is_baseline), "column": column}
            | _csv_cell(cell)
            for table in tables
            for line in table.lines
            for column, cell in zip(table.heads, line.cells, strict=True)
        ),
    )


def _csv_cell(cell: Cell) -> dict[str, Any]:
    own = cell.as_csv() if isinstance(cell, OwnCell) else {}
    if (result := result_of(cell)) is not None:
        own |= {
            "value": result.value,
            "low": result.low,
            "high": result.high,
            "n": result.n_items,
            "n_clusters": result.n_clusters,
            "n_missing": result.n_missing,
            "flags": " ".join(result.flags),
            "reason": result.reason,
        }
    elif isinstance(cell, int):
        own["value"] = cell
    elif isinstance(cell, str):
        own["text"] = cell
    return own


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as plain data."""
    return {
        "key": table.key,
        "title": table.title,
        "columns": list(table.heads),
        "rows": [
            {
                "name": line.name,
                "baseline": line.is_baseline,
                "cells": [cell if isinstance(cell, str | int) else cell.as_dict() for cell in line.cells],
            }
            for line in table.lines
        ],
        "notes": list(table.notes),
    }


def looks_json(looks: Sequence[TestLook]) -> list[dict[str, Any]]:
    """Return looks at test as plain data."""
    return [
        {"by": str(look.by) if look.by else None, "at": look.at.isoformat(), "purpose": look.purpose}
        for look in looks
    ]


# Pages of reports.


def table_view(table: Table, is_grey: Callable[[str], bool] = lambda head: False) -> dict[str, Any]:
    """Return a table for templates; columns whose heads are grey are muted."""
    grey = list(map(is_grey, table.heads))
    return {
        "key": table.key,
        "title": table.title,
        "heads": list(zip(table.heads, grey, strict=True)),
        "lines": [
            (
                line.name,
                line.title,
                line.is_baseline,
                [_cell_view(*cell, table.printed) for cell in zip(line.cells, grey, strict=True)],
            )
            for line in table.lines
        ],
        "notes": table.notes,
    }


def _cell_view(cell: Cell, is_grey: bool, printed: bool) -> dict[str, Any]:
    """Return a cell for templates: text, or a figure with the text below it."""
    result = result_of(cell)
    if result is None:
        return {"kind": "text", "text": value_text(cell)}
    if result.value is None:
        return {"kind": "none", "text": result.status, "why": result.reason}
    spread = cell.spread if isinstance(cell, OwnCell) and not printed else ""
    return {
        "kind": "figure",
        "text": value_text(cell, printed),
        "below": [interval(result, PERCENT if printed else 1.0) or "no interval", spread],
        "n": result.n_items,
        "grey": is_grey,
    }


@dataclass(frozen=True)
class Section:
    """A section of a report's page: its tables by key, in order, and a template for what else it shows.

    ``key`` is its place in the address, ``short`` its title in the list of contents.
    """

    key: str
    short: str
    title: str
    tables: tuple[str, ...]
    template: str = ""


def sections_view(
    sections: Sequence[Section],
    tables: Mapping[str, dict[str, Any]],
    charts_by_section: Mapping[str, Iterable[dict[str, Any] | None]],
    results: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the sections with content for templates: their tables, their charts, and a result each.

    ``tables`` are by key; a result is a few words beside the title of a folded section.
    """
    views: list[dict[str, Any]] = []
    for section in sections:
        own = [tables[key] for key in section.tables if key in tables]
        section_charts = [chart for chart in charts_by_section.get(section.key, ()) if chart]
        if own or section_charts or section.template:
            result = results.get(section.key, "")
            views.append(
                {
                    "key": section.key,
                    "short": section.short,
                    "title": section.title,
                    "template": section.template,
                    "result": result,
                    "tables": own,
                    "charts": section_charts,
                }
            )
    return views


def contents_of(sections: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the list of contents of a page: the verdicts, its sections, and how the report was made."""
    return [
        ("verdicts", "Verdicts"),
        *((section["key"], section["short"]) for section in sections),
        ("method", "Method"),
    ]


def span(name: str, values: Iterable[float | None]) -> str:
    """Return the range of values in words, `recall 0.20 to 0.45`; '' if all are missing."""
    present = [value for value in values if value is not None]
    if not present:
        return ""
    low, high = number(min(present)), number(max(present))
    return f"{name} {low}" if low == high else f"{name} {low} to {high}"


def cautions(table: Table) -> list[str]:
    """Return the warnings about the intervals of a table, in sentences."""
    return [f"{text[0].upper()}{text[1:]}." for flag, text in flags([table]) if flag.endswith("_clusters")]


def small_interval(result: Result) -> str:
    """Return an interval as small print under its value, `0.20 to 0.45`, or '' if there is none."""
    return "" if result.low is None else f"{number(result.low)} to {number(result.high)}"


STATES: dict[str, VerdictState] = {
    ABOVE: "trust",
    NOT_ABOVE: "not_yet",
    BELOW: "do_not_trust",
    CANNOT_SAY: "cannot_say",
}
"""The look of a verdict on a system: that of the verdict on a judge."""


def verdict_row(
    title: str,
    system: str,
    verdict: Verdict,
    figures: Sequence[tuple[str, str]],
    addresses: Mapping[Step, str],
) -> VerdictRow:
    """Return a verdict with its figures, each a value with small print, for the table of verdicts.

    Its next step links to the address of its kind, if there is one.
    """
    return VerdictRow(
        title,
        system,
        STATES[verdict.state],
        tuple(figures),
        verdict.sentence,
        verdict.next_step,
        addresses.get(verdict.step, ""),
        verdict.title,
    )


def query_values(request: HttpRequest, names: Sequence[str]) -> dict[str, str]:
    """Return the query parameters of a URL; lists may be repeated parameters or comma-separated."""
    values = {name: ",".join(filter(None, request.GET.getlist(name))).replace("\0", "") for name in names}
    return {name: text for name, text in values.items() if text}


def report_file(
    request: HttpRequest,
    form: str,
    name: str,
    compute: Callable[[], Any],
    renderings: Mapping[str, Rendering[Any, Any]],
    charts: Mapping[str, Chart],
) -> HttpResponse:
    """Return a response with a report, its table `?table=`, or its chart `?chart=` (default: the first)."""
    if form in renderings and (key := request.GET.get("table")):
        return _table_file(renderings, form, f"{name}-{key}", key, compute)
    if form in renderings:
        return _file(renderings[form], name, compute)
    chart = charts.get(request.GET.get("chart", next(iter(charts))))
    if chart is None or form not in CHART_FORMS:
        raise Http404

    def source() -> tuple[Any, Chart]:
        report = compute()
        if not chart.data(report):
            raise Http404
        return report, chart

    return _file(CHART_FORMS[form], f"{name}-{chart.key}", source)


TABLE_FORMS = ("csv", "md", "latex")
"""Formats of a single table."""


def _table_file(
    renderings: Mapping[str, Rendering[Any, Any]], form: str, name: str, key: str, compute: Callable[[], Any]
) -> HttpResponse:
    """Return a response with one table of a report; raise Http404 for an unknown table or format."""
    if form not in TABLE_FORMS:
        raise Http404

    def source() -> Any:
        report = compute()
        table = next((table for table in report.tables if table.key == key), None)
        if table is None:
            raise Http404
        return replace(report, tables=(table,))

    rendering = renderings[form]
    if form == "md":
        rendering = replace(rendering, write=lambda report: table_markdown(report.tables[0]))
    return _file(rendering, name, source)


def _file(form: Rendering[Any, Any], name: str, source: Callable[[], Any]) -> HttpResponse:
    """Return a response with a file, or with the reason for its absence."""
    try:
        body = form.write(source())
    except CalibrationError as refused:
        return HttpResponse(f"{refused}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(body, content_type=form.media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{form.suffix}"'
    return response


def open_test_answer(request: HttpRequest, address: str, look: Callable[[str], TestLook]) -> HttpResponse:
    """Log a look at test with its purpose, and redirect to the report of the test part."""
    query = request.GET.copy()
    query.pop("part", None)
    try:
        look(request.POST.get("purpose", "").replace("\0", "")[:LONGEST_PURPOSE])
        query["part"] = "test"
    except CalibrationError as refused:
        messages.error(request, f"Test was not opened: {refused}.")
    return redirect(f"{address}?{query.urlencode()}")


# Reports as commands.


def add_report_arguments(parser: CommandParser, forms: Mapping[str, Any], units: str) -> None:
    """Add the arguments for part and purpose, resampling of intervals, and the report's output file."""
    parser.add_argument(
        "--part",
        default="",
        choices=["", "dev", "test", "training"],
        help="part of the split (dev), or training",
    )
    add_exclude(parser)
    parser.add_argument("--purpose", default="", help="for what test is opened: logged")
    parser.add_argument("--resamples", default="", metavar="N", help=f"resamples of {units} (2000)")
    parser.add_argument("--seed", default="", metavar="N", help="of the resamples (0)")
    parser.add_argument(
        "--format", choices=("table", *forms), default="table", help="table (default) or a file's form"
    )
    parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")


def print_report(
    command: BaseCommand,
    options: Mapping[str, Any],
    make: Callable[[Corpus], Any],
    as_text: Callable[[Any], str],
    forms: Mapping[str, Rendering[Any, str]],
) -> None:
    """Print the report that the options select; raise CommandError with a one-line message on an error."""
    refuse_purpose(options)
    corpus = Corpus.objects.filter(name=options["corpus"]).first()
    if corpus is None:
        existing = list_existing(Corpus.objects.values_list("name", flat=True))
        raise CommandError(f"no corpus {options['corpus']!r}; {existing}")
    try:
        report = make(corpus)
    except CalibrationError as error:
        raise CommandError(str(error)) from error
    form = options["format"]
    write_output(
        command, as_text(report) if form == "table" else forms[form].write(report), options["output"]
    )
