"""Formats of a report on a ratings file, and of its tables by level: text, CSV, LaTeX, a single HTML page."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape as quoted
from itertools import zip_longest
from typing import Any

from annotation.text import display
from calibration.agree import levels
from calibration.agree.levels import STAR, StratumTable
from calibration.agree.ratings_file import RatingsFile
from calibration.agree.report import (
    MOST_VERDICTS,
    Block,
    Section,
    counted,
    interval,
    number,
    plain,
    title_of,
    verdict_sentences,
)
from calibration.renderings import csv_text, escaped, fitted
from calibration.reports.renderings import LATEX_NEEDS, latex_float
from calibration.reports.results import Figure
from calibration.reports.tables import Cell, Table
from calibration.reports.wording import interval as ends_of
from calibration.reports.wording import join_names
from calibration.statistics import STATISTICS, Entry, Result
from calibration.statistics.level_correlations import LevelEntry, LevelRow, LevelTable
from calibration.statistics.level_scores import Level
from calibration.statistics.unanswered import NAME as BOUNDS

# The report as plain text for a terminal.

WIDTH = 100
NARROWEST = 14
"""Minimum width of a column of texts."""


def as_text(name: str, sections: Sequence[Section], tables: Sequence[Table] = ()) -> str:
    """Return the whole report, its tables first."""
    lines = [line for table in tables for line in _table_of_text(name, table)]
    return "\n".join([*lines, *(line for section in sections for line in _section_of_text(name, section))])


def _table_of_text(name: str, table: Table) -> list[str]:
    """Return a table with each figure's interval below it, in parts that fit the width."""
    heading = plain(f"{name}: {table.title}")
    lines = [heading, "=" * min(len(heading), WIDTH), ""]
    for group, members in _groups(table):
        heads = [plain(table.columns[at][1]) for at in members]
        rows = [[table.first, *heads, "items"]]
        for row in table.rows:
            cells = [row.cells[at] for at in members]
            rows.append([plain(row.question), *map(_figure_of_text, cells), f"{row.n_items:,}"])
            rows.append(["", *map(_interval_of_text, cells), ""])
        lines += [plain(group), *columns(rows, right={*heads, "items"}), ""]
    notes = (f"[{n}] {note}." for n, note in enumerate(table.notes, 1))
    return [*lines, *_wrapped(notes), *_wrapped(table.remarks), "", ""]


def _groups(table: Table) -> Iterator[tuple[str, range]]:
    """Yield the headings above a table's columns with the positions of their columns."""
    start = 0
    for text, width in table.over or [("", len(table.columns))]:
        yield text, range(start, start + width)
        start += width


def _interval_of_text(figure: Figure | None) -> str:
    if figure is None or not figure.ok:
        return ""
    return number(None) if figure.low is None else ends_of(figure)


def _figure_of_text(figure: Figure | None) -> str:
    if figure is None:
        return ""
    if figure.ok:
        return display.number(figure.value, figure.digits)
    return f"{number(None)} [{figure.note}]" if isinstance(figure, Cell) else figure.status


def _section_of_text(name: str, section: Section) -> list[str]:
    heading = plain(f"{name}: {section.title}" if section.title else name)
    lines = [heading, "=" * min(len(heading), WIDTH), ""]
    if section.verdicts:
        lines += ["Verdicts", *_bullets(verdict_sentences(section.verdicts)), ""]
    lines += [*_wrapped(section.answers), "", *_wrapped(section.facts), ""]
    for block in section.blocks:
        lines += [*_block_of_text(block), ""]
    if section.limits:
        lines += ["Limitations", *_bullets(section.limits), ""]
    if section.interval_method:
        lines += textwrap.wrap(f"Intervals: {section.interval_method}.", WIDTH)
    return [*lines, ""]


def as_screen(name: str, reading: str, sections: Sequence[Section], tables: Sequence[Table] = ()) -> str:
    """Return the first screen: how the file was read, verdicts, people and judges in one table, cautions.

    Then come the blocks that options ask for. `reading` says what a row of the file is.
    """
    lines = [line for table in tables for line in _table_of_text(name, table)]
    heading = plain(f"{name}: {sections[0].title}" if len(sections) == 1 and sections[0].title else name)
    lines += [heading, "=" * min(len(heading), WIDTH), ""]
    lines += _wrapped([f"Read as: {reading}."] if reading else [])
    lines += [*_wrapped(_merged({section.title: section.facts for section in sections})), ""]
    verdicts = [
        f"{section.title}, {line}" if len(sections) > 1 else line
        for section in sections
        for line in verdict_sentences(section.verdicts)
    ]
    if len(verdicts) > MOST_VERDICTS:
        more = f"These are {FIRST_VERDICTS} of {len(verdicts)} verdicts; --full has all."
        verdicts = [*verdicts[:FIRST_VERDICTS], more]
    lines += ["Verdicts", *_bullets(verdicts), ""] if verdicts else []
    lines += [*_summary_of_text(sections), ""]
    if cautions := _merged({section.title: section.cautions for section in sections}):
        lines += ["Cautions", *_bullets(cautions[:MOST_CAUTIONS])]
        lines += [f"  {len(cautions) - MOST_CAUTIONS} more with --full."] * (len(cautions) > MOST_CAUTIONS)
        lines += [""]
    for section in sections:
        for block in section.requested:
            title = f"{section.title}: {block.heading}" if len(sections) > 1 else block.heading
            lines += [*_block_of_text(replace(block, heading=title)), ""]
    count = sum(len(block.entries) for section in sections for block in section.blocks)
    methods = dict.fromkeys(section.interval_method for section in sections if section.interval_method)
    lines += _wrapped(
        [*(f"Intervals: {method}." for method in methods), MORE.format(counted(count, "figure"))]
    )
    return "\n".join([*lines, ""])


MORE = (
    "More: --full prints all {}, and --json, --csv, --html and --latex write them; --each-rater puts each "
    "rater beside the rest, --by COLUMN reports groups apart, --table7 compares tags. Others: agree --help."
)
MOST_CAUTIONS = 5
FIRST_VERDICTS = 4
"""Number of verdicts on the first screen of a report with more than `MOST_VERDICTS`."""
MOST_ROWS = 20
"""Maximum number of lines of the first screen's table."""


def _merged(sentences: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sentences of several questions: those of all once, the others with their questions."""
    questions: dict[str, list[str]] = {}
    for question, own in sentences.items():
        for sentence in own:
            questions.setdefault(sentence, []).append(question)
    everywhere = [sentence for sentence, names in questions.items() if len(names) == len(sentences)]
    apart = [(sentence, names) for sentence, names in questions.items() if len(names) < len(sentences)]
    return [*everywhere, *(f"{join_names(names)}: {sentence}" for sentence, names in apart)]


def _summary_of_text(sections: Sequence[Section]) -> list[str]:
    """Return one table of people's agreement, and of each judge and metric beside people."""
    rows = [["question", "raters", "statistic", "value", "interval", "items", "clusters"]]
    notes: dict[str, int] = {}
    rest = 0
    for section in sections:
        if rest or (len(rows) > 1 and len(rows) + len(section.summary) > MOST_ROWS):
            rest += len(section.summary)
            continue
        for row in section.summary:
            result, mark = row.entry.result, ""
            if not result.ok or result.low is None:
                mark = f"[{notes.setdefault(result.reason, len(notes) + 1)}]"
            name = result.name.removeprefix("judge_").removeprefix("mean_")
            value = number(result.value) if result.ok else result.status
            rows.append([plain(section.title), plain(row.raters), title_of(name), value])
            rows[-1] += [interval(result) + mark, f"{result.n_items:,}", f"{result.n_clusters:,}"]
    if len(rows) == 1:
        return ["No two raters can be compared."]
    first = 0 if len(sections) > 1 else 1
    right = {"value", "interval", "items", "clusters"}
    table = columns([row[first:] for row in rows], right=right)
    more = [f"  and {counted(rest, 'more row')}: --full"] if rest else []
    return ["Agreement", *table, *more, *_wrapped(f"[{n}] {note}" for note, n in notes.items())]


def _bullets(sentences: Iterable[str]) -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(
            plain(sentence),
            WIDTH,
            initial_indent="  * ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    ]


def _wrapped(sentences: Iterable[str]) -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(plain(sentence), WIDTH, break_on_hyphens=False)
    ]


def _block_of_text(block: Block) -> list[str]:
    panel = block.one_group
    rows = [["" if panel else "raters", "statistic", "value", block.ends, "items", "clusters"]]
    notes: dict[str, int] = {}
    for entry in block.entries:
        result = entry.result
        mark = ""
        if not result.ok or result.low is None:
            mark = f"[{notes.setdefault(result.reason, len(notes) + 1)}]"
        value = number(result.value) if result.ok else result.status
        rows.append(
            [
                "" if panel else plain(block.label(entry)),
                title_of(result.name),
                value,
                interval(result) + mark,
            ]
            + [str(result.n_items), str(result.n_clusters)]
        )
    table = [[cell for i, cell in enumerate(row) if i or not panel] for row in rows]
    body = columns(table, right={"value", block.ends, "items", "clusters"})
    note = textwrap.wrap(block.note, WIDTH)
    return [plain(block.heading), *note, *body, *_wrapped(f"[{n}] {note}" for note, n in notes.items())]


def columns(rows: list[list[str]], right: set[str], *, wrap: bool = True) -> list[str]:
    """Return rows, the first being the header, aligned in columns; columns in ``right`` are right-aligned.

    Cells of the other columns are wrapped (unless `wrap` is false) where a line would be too long.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    texts = [i for i, head in enumerate(rows[0]) if head not in right]
    while wrap and texts and sum(widths) + 2 * len(widths) > WIDTH:
        widest = max(texts, key=lambda i: widths[i])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    lines = []
    for number_of, row in enumerate(rows):
        parts = [
            textwrap.wrap(cell, width, break_on_hyphens=False) if i in texts and len(cell) > width else [cell]
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for cells in zip_longest(*parts, fillvalue=""):
            aligned = (
                cell.ljust(width) if i in texts else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            lines.append("  " + "  ".join(aligned).rstrip())
        if number_of == 0:
            lines.append("  " + "  ".join("-" * width for width in widths))
    return lines


# The report as one flat CSV table, with unrounded numbers.

COLUMNS = [
    "stratum",
    "question",
    "name",
    "raters",
    "value",
    "low",
    "high",
    "status",
    "reason",
    "flags",
    "n_items",
    "n_clusters",
    "n_raters",
    "n_missing",
    "method",
]


def as_csv(entries: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> str:
    """Return the entries as CSV."""
    flat = ({**e, "raters": ";".join(e["raters"]), "flags": ";".join(e["flags"])} for e in entries)
    return csv_text([columns, *([entry.get(column) for column in columns] for entry in flat)])


# The report's tables in LaTeX (booktabs).


def as_latex(name: str, sections: Sequence[Section], tables: Sequence[Table] = ()) -> str:
    """Return the tables, then each section's verdicts and one captioned table per block.

    A comment names the packages that they need.
    """
    out = ["% needs \\usepackage{booktabs,longtable}"] if sections else []
    out += [LATEX_NEEDS] if tables else []
    for table in tables:
        out += [*latex_float(table), ""]
    for section in sections:
        if lines := verdict_sentences(section.verdicts):
            heading = f"Verdicts, {section.title or name}"
            out += [rf"\paragraph{{{escaped(heading)}}}", r"\begin{itemize}"]
            out += [rf"\item {escaped(line)}" for line in lines]
            out += [r"\end{itemize}", ""]
        for block in section.blocks:
            title = f"{name}{': ' + section.title if section.title else ''}. {block.heading}"
            out += _table(title, block)
    return "\n".join(out) + "\n"


def _table(title: str, block: Block) -> list[str]:
    head = rf"Raters & Statistic & Value & {block.ends.capitalize()} & Items & Clusters \\"
    rows = [" & ".join(_row_of_latex(block.label(e), e.result)) + r" \\" for e in block.entries]
    return [
        r"\begin{longtable}{llrrrr}",
        rf"\caption{{{_cell(title)}}}\\",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{longtable}",
        "",
    ]


def _row_of_latex(raters: str, result: Result) -> list[str]:
    value = f"${result.value:.3f}$" if result.value is not None else _cell(result.status)
    ends = "--" if result.low is None else f"$[{result.low:.3f}, {result.high:.3f}]$"
    if result.low is not None and result.name.startswith(BOUNDS):
        ends = f"lowest ${result.low:.3f}$, highest ${result.high:.3f}$"
    return [
        _cell(raters),
        _cell(title_of(result.name)),
        value,
        ends,
        str(result.n_items),
        str(result.n_clusters),
    ]


def _cell(text: str) -> str:
    return escaped(plain(text))


# The report as a self-contained HTML page with SVG charts; no scripts, no external resources.

STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--ground:#fff;--mark:#1f5fa8}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b3;--line:#323a45;--ground:#14181d;--mark:#7db2ee}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;
max-width:64rem;padding:1.5rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}h3{font-size:1rem;margin:1.5rem 0 .3rem}
.answer{font-size:1.1rem;max-width:46rem}.fact,.limit,.foot{color:var(--soft);max-width:46rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left}
td.n,th.n{text-align:right;white-space:nowrap}
svg{display:block;width:100%;max-width:46rem}
svg text{fill:var(--ink);font:12px system-ui,sans-serif}
svg .name{paint-order:stroke;stroke:var(--ground);stroke-width:4px}
svg .axis{stroke:var(--line)}svg .ci{stroke:var(--mark);stroke-width:2}svg circle{fill:var(--mark)}
"""
EDGE, ROW = 3, 34  # per cent of the width, pixels


def escape(text: str) -> str:
    """Return a text escaped for HTML, on one line and isolated in its own direction."""
    return quoted(plain(text))


def as_html(name: str, sections: Sequence[Section], tables: Sequence[Table] = ()) -> str:
    """Return the page, its tables first."""
    parts = [*map(_table_of_html, tables), *map(_section, sections)]
    return page(f"Agreement: {name}", "".join(parts), LEVEL_STYLE)


def _table_of_html(table: Table) -> str:
    over = "".join(
        f'<th scope="colgroup" colspan="{width}" class="level">{escape(text)}</th>'
        for text, width in table.over
    )
    titles = "".join(f'<th scope="col" class="n">{escape(text)}</th>' for _, text in table.columns)
    first = f'<th scope="col" rowspan="2">{escape(table.first)}</th>'
    head = f'<tr>{first}{over}<th scope="col" rowspan="2" class="n">Items</th></tr><tr>{titles}</tr>'
    body = "".join(
        f'<tr><th scope="row">{escape(row.question)}</th>'
        + "".join(f'<td class="n">{_figure_of_html(figure)}</td>' for figure in row.cells)
        + f'<td class="n">{row.n_items:,}</td></tr>'
        for row in table.rows
    )
    notes = [f"[{n}] {note}." for n, note in enumerate(table.notes, 1)]
    below = "".join(f'<p class="fact">{escape(text)}</p>' for text in (*notes, *table.remarks))
    grid = f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    return f'<section id="{escape(table.key)}"><h2>{escape(table.title)}</h2>{grid}{below}</section>'


def _figure_of_html(figure: Figure | None) -> str:
    below = _interval_of_text(figure)
    return f"{escape(_figure_of_text(figure))}<small>{escape(below)}</small>"


def page(title: str, body: str, style: str = "") -> str:
    """Return a page with a title (unescaped text) and a body (HTML)."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}{style}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _section(section: Section) -> str:
    heading = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    verdicts = "".join(f"<li>{escape(line)}</li>" for line in verdict_sentences(section.verdicts))
    parts = [heading, f"<h3>Verdicts</h3><ul>{verdicts}</ul>" if verdicts else ""]
    parts += [f'<p class="answer">{escape(s)}</p>' for s in section.answers]
    parts += [f'<p class="fact">{escape(fact)}</p>' for fact in section.facts]
    parts += [_block(block) for block in section.blocks]
    if section.limits:
        limits = "".join(f'<li class="limit">{escape(limit)}</li>' for limit in section.limits)
        parts.append(f"<h3>Limitations</h3><ul>{limits}</ul>")
    method = section.interval_method
    parts.append(f'<p class="foot">Intervals: {escape(method)}.</p>')
    return f"<section>{''.join(parts)}</section>"


def _block(block: Block) -> str:
    names = [] if block.one_group else ["Raters"]
    head = "".join(f'<th scope="col">{text}</th>' for text in (*names, "Statistic"))
    head += "".join(
        f'<th scope="col" class="n">{text}</th>'
        for text in ("Value", block.ends.capitalize(), "Items", "Clusters")
    )
    head += '<th scope="col">Notes</th>'
    rows = "".join(_row(block, entry) for entry in block.entries)
    table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    note = f'<p class="fact">{escape(block.note)}</p>' if block.note else ""
    return f"<h3>{escape(block.heading)}</h3>{note}{chart(block)}{table}"


def _row(block: Block, entry: Entry) -> str:
    result = entry.result
    notes = "; ".join(filter(None, [result.reason, ", ".join(result.flags).replace("_", " ")]))
    value = number(result.value) if result.ok else result.status
    names = "" if block.one_group else f"<td>{escape(block.label(entry))}</td>"
    cells = [value, interval(result), str(result.n_items), str(result.n_clusters)]
    return (
        f"<tr>{names}<td>{escape(title_of(result.name))}</td>"
        + "".join(f'<td class="n">{escape(cell)}</td>' for cell in cells)
        + f"<td>{escape(notes)}</td></tr>"
    )


def chart(block: Block, most: int = 40) -> str:
    """Return the block's values and intervals as an SVG of the page's width; '' if there are no values.

    Bounds are not drawn: a line would look like an interval.
    """
    visible = [e for e in block.entries if e.result.value is not None][:most]
    if not visible or block.ends == "bounds":
        return ""
    ends = [v for e in visible for v in (e.result.value, e.result.low, e.result.high) if v is not None]
    low, high = min(0.0, *ends), max(1.0, *ends)
    height = ROW * len(visible) + 26

    def place(value: float) -> str:
        return f"{EDGE + (value - low) / (high - low) * (100 - 2 * EDGE):.2f}%"

    marks = [
        f'<line class="axis" x1="{place(v)}" x2="{place(v)}" y1="4" y2="{height - 20}"/>'
        f'<text x="{place(v)}" y="{height - 5}" text-anchor="middle">{v:g}</text>'
        for v in (0.0, 0.5, 1.0)
    ]
    for row, entry in enumerate(visible):
        marks.append(_mark(block, entry, ROW * row, place))
    label = f"{block.heading}: values with their intervals"
    return f'<svg height="{height}" role="img" aria-label="{escape(label)}">{"".join(marks)}</svg>'


def _mark(block: Block, entry: Entry, top: int, place: Callable[[float], str]) -> str:
    """Return an entry's name with its value and interval below."""
    result, y = entry.result, top + ROW - 8
    label = title_of(result.name) if block.one_group else f"{block.label(entry)}: {title_of(result.name)}"
    label = label if len(label) <= 50 else label[:49] + "…"
    svg = f'<text class="name" x="{EDGE}%" y="{top + 14}">{escape(label)}</text>'
    if result.low is not None and result.high is not None:
        svg += f'<line class="ci" x1="{place(result.low)}" x2="{place(result.high)}" y1="{y}" y2="{y}"/>'
    return f'{svg}<circle cx="{place(result.value or 0.0)}" cy="{y}" r="4"/>'


WRITERS: dict[str, Callable[[str, Sequence[Section], Sequence[Table]], str]] = {
    "text": as_text,
    "html": as_html,
    "latex": as_latex,
}
"""The formats with sentences and tables; JSON and CSV have plain values."""


# Tables by level: in a terminal one table per level, in LaTeX and HTML like ComperDial's tables 4 and 5.

BEST, BEST_OF_GROUP = "!", "_"
SHORT = {"pearson": "r", "spearman": "ρ", "kendall_tau_b": "τ"}
FURTHER = (
    "level", "row", "scores", "reference_question", "p", "p_test", "p_method", "p_reason", "starred", "best",
    "best_of_group", "left_out_turns", "left_out_continuations",
)  # fmt: skip


def p_of(entry: LevelEntry) -> str:
    """Format a p-value with three decimals, or a dash."""
    if entry.p is None:
        return number(None)
    return "<0.001" if entry.p < 0.001 else f"{entry.p:.3f}"


def levels_as_text(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return the whole report."""
    return "\n".join(line for stratum_table in stratum_tables for line in _level_section(name, stratum_table))


def _level_section(name: str, stratum_table: StratumTable) -> list[str]:
    table = stratum_table.table
    heading = plain(
        f"{name}: {stratum_table.title}" if stratum_table.title else f"{name}: correlations by level"
    )
    lines = [heading, "=" * min(len(heading), WIDTH), "", *_wrapped(levels.facts(stratum_table)), ""]
    for level in levels.levels_of(table):
        lines += [f"{level.capitalize()} level", *_level_lines(table, level), ""]
    lines += _wrapped(levels.notes(table, BEST, BEST_OF_GROUP))
    return [*lines, "", *_wrapped(levels.methods(table)), ""]


def _level_lines(table: LevelTable, level: Level) -> list[str]:
    head = ["scores of"]
    for name in table.coefficients:
        head += [SHORT[name], "interval", "p"]
    rows = [[*head, "n"]]
    for heading, every in levels.groups(table):
        members = [row for row in every if levels.meets(row, level)]
        if heading and members:
            rows.append([f"({heading})", *[""] * (len(head) - 1), ""])
        for row in members:
            entries = [row.entry(level, name) for name in table.coefficients]
            cells = [
                cell
                for entry in entries
                for cell in (_marked_value(entry), interval(entry.result), p_of(entry))
            ]
            rows.append([plain(row.name), *cells, f"{entries[0].result.n_items:,}"])
    return columns(rows, right=set(rows[0][1:]), wrap=False)


def _marked_value(entry: LevelEntry) -> str:
    if not entry.result.ok:
        return entry.result.status
    marks = (STAR * entry.starred, BEST * entry.best, BEST_OF_GROUP * entry.best_of_group)
    return f"{number(entry.result.value)}{''.join(marks)}"


SYMBOLS = {"pearson": "$r$", "spearman": r"$\rho$", "kendall_tau_b": r"$\tau$"}


def levels_as_latex(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return one table per stratum; each value has its interval below it."""
    out = [r"% needs \usepackage{booktabs,graphicx}"]
    for stratum_table in stratum_tables:
        out += _level_table_of_latex(
            f"{name}{': ' + stratum_table.title if stratum_table.title else ''}", stratum_table.table
        )
    return "\n".join(out) + "\n"


def _level_table_of_latex(title: str, table: LevelTable) -> list[str]:
    width, table_levels = len(table.coefficients), levels.levels_of(table)
    spans = [rf"\multicolumn{{{width}}}{{c}}{{{level.capitalize()} level}}" for level in table_levels]
    rules = [rf"\cmidrule(lr){{{2 + width * at}-{1 + width * (at + 1)}}}" for at in range(len(table_levels))]
    symbols = [SYMBOLS[name] for name in table.coefficients] * len(table_levels)
    body: list[str] = []
    for heading, members in levels.groups(table):
        if heading:
            span = 1 + width * len(table_levels)
            body.append(rf"\multicolumn{{{span}}}{{l}}{{\emph{{{_cell(heading)}}}}} \\")
        for row in members:
            body += _level_row(row, table)
    tabular = [
        rf"\begin{{tabular}}{{l{'r' * width * len(table_levels)}}}",
        r"\toprule",
        " & ".join(["", *spans]) + r" \\",
        "".join(rules),
        " & ".join(["Scores of", *symbols]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    below = " ".join([*levels.notes(table, "Bold", "Underlined"), *levels.methods(table)])
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_cell(title)}. Correlations with {_cell(table.reference)}.}}",
        *fitted(tabular, _cell(below)),
        r"\end{table}",
        "",
    ]


def _level_row(row: LevelRow, table: LevelTable) -> list[str]:
    entries = [row.entry(level, name) for level in levels.levels_of(table) for name in table.coefficients]
    values = " & ".join([_cell(row.name), *(_value_of_latex(entry) for entry in entries)])
    ends = " & ".join(["", *(_ends(entry) for entry in entries)])
    return [values + r" \\", ends + r" \\"]


def _value_of_latex(entry: LevelEntry) -> str:
    value = entry.result.value
    if value is None:
        return "--"
    text = f"{value:.3f}".replace("-", "$-$")
    text = rf"\textbf{{{text}}}" if entry.best else text
    text = rf"\underline{{{text}}}" if entry.best_of_group else text
    return text + ("$^{*}$" if entry.starred else "")


def _ends(entry: LevelEntry) -> str:
    result = entry.result
    if result.low is None or result.high is None:
        return ""
    return rf"{{\scriptsize $[{result.low:.2f}, {result.high:.2f}]$}}"


LEVEL_STYLE = (
    "td small{display:block;color:var(--soft)}tbody th{font-weight:400;min-width:8rem}"
    "th.group{font-style:italic}th.level{text-align:center}abbr{text-decoration:none}"
)


def levels_as_html(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return the page."""
    return page(
        f"Correlations by level: {name}",
        "".join(_levels_section(stratum_table) for stratum_table in stratum_tables),
        LEVEL_STYLE,
    )


def _levels_section(stratum_table: StratumTable) -> str:
    heading = f"<h2>{escape(stratum_table.title)}</h2>" if stratum_table.title else ""
    fact_lines = "".join(f'<p class="fact">{escape(fact)}</p>' for fact in levels.facts(stratum_table))
    sentences = levels.notes(stratum_table.table, "Bold", "Underlined")
    below = "".join(f'<li class="limit">{escape(note)}</li>' for note in sentences)
    how = "".join(f'<p class="foot">{escape(method)}</p>' for method in levels.methods(stratum_table.table))
    table = _level_table_of_html(stratum_table.table)
    return f"<section>{heading}{fact_lines}{table}<ul>{below}</ul>{how}</section>"


def _level_table_of_html(table: LevelTable) -> str:
    width, table_levels = len(table.coefficients), levels.levels_of(table)
    over = "".join(
        f'<th scope="colgroup" colspan="{width}" class="level">{level.capitalize()} level</th>'
        for level in table_levels
    )
    titles = "".join(_symbol(name) for name in table.coefficients)
    head = f'<tr><th scope="col" rowspan="2">Scores of</th>{over}</tr><tr>{titles * len(table_levels)}</tr>'
    body = ""
    for heading, members in levels.groups(table):
        if heading:
            span = 1 + width * len(table_levels)
            body += f'<tr><th scope="rowgroup" class="group" colspan="{span}">{escape(heading)}</th></tr>'
        for row in members:
            cells = "".join(
                f'<td class="n">{_level_cell(row.entry(level, name))}</td>'
                for level in table_levels
                for name in table.coefficients
            )
            body += f'<tr><th scope="row">{escape(row.name)}</th>{cells}</tr>'
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _symbol(name: str) -> str:
    full_title = escape(STATISTICS[name].title)
    return f'<th scope="col" class="n"><abbr title="{full_title}">{SHORT[name]}</abbr></th>'


def _level_cell(entry: LevelEntry) -> str:
    result = entry.result
    if not result.ok:
        return escape(number(None))
    value = escape(number(result.value))
    value = f"<b>{value}</b>" if entry.best else value
    value = f"<u>{value}</u>" if entry.best_of_group else value
    star = "*" if entry.starred else ""
    return f"{value}{star}<small>{escape(interval(result))}</small><small>p {escape(p_of(entry))}</small>"


def render_levels(file: RatingsFile, stratum_tables: list[StratumTable], form: str) -> str:
    """Return the tables as text, json, csv, latex or html."""
    if form == "json":
        read = {"file": file.name, "shape": file.shape, "cluster": file.cluster}
        questions = [
            {"title": stratum_table.title, "facts": levels.facts(stratum_table)}
            for stratum_table in stratum_tables
        ]
        document = {
            "input": {**read, "questions": questions},
            "statistics": list(levels.entries(stratum_tables)),
        }
        return json.dumps(document, allow_nan=False)
    if form == "csv":
        return as_csv(levels.entries(stratum_tables), (*COLUMNS, *FURTHER))
    writers = {"html": levels_as_html, "latex": levels_as_latex, "text": levels_as_text}
    return writers[form](file.name, stratum_tables)
