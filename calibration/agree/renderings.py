"""Forms of a report on a ratings file: text, CSV, LaTeX and one page of HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape as quoted
from typing import Any

from calibration.agree.report import Block, Section, interval, number, plain, title_of
from calibration.renderings import csv_text, escaped
from calibration.statistics import Entry, Result
from calibration.statistics.unanswered import NAME as BOUNDS

# The report as plain text, for a terminal.

WIDTH = 100


def as_text(name: str, sections: Sequence[Section]) -> str:
    """Return the whole report."""
    return "\n".join(line for section in sections for line in _section_of_text(name, section))


def _section_of_text(name: str, section: Section) -> list[str]:
    heading = plain(f"{name}: {section.title}" if section.title else name)
    lines = [heading, "=" * min(len(heading), WIDTH), ""]
    for sentence in section.answers:
        lines += textwrap.wrap(plain(sentence), WIDTH)
    lines += ["", *(line for fact in section.facts for line in textwrap.wrap(plain(fact), WIDTH)), ""]
    for block in section.blocks:
        lines += [*_block_of_text(block), ""]
    if section.limits:
        lines.append("What limits this")
        for limit in section.limits:
            lines += textwrap.wrap(plain(limit), WIDTH, initial_indent="  * ", subsequent_indent="    ")
        lines.append("")
    if section.interval_method:
        lines += textwrap.wrap(f"Intervals: {section.interval_method}.", WIDTH)
    return [*lines, ""]


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
    note_lines = [line for note, n in notes.items() for line in textwrap.wrap(plain(f"[{n}] {note}"), WIDTH)]
    note = textwrap.wrap(block.note, WIDTH)
    return [plain(block.heading), *note, *body, *note_lines]


def columns(rows: list[list[str]], right: set[str]) -> list[str]:
    """Return rows, the first of them the header, in columns; those named in ``right`` to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for number_of, row in enumerate(rows):
        cells = [
            cell.rjust(width) if rows[0][i] in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
        if number_of == 0:
            lines.append("  " + "  ".join("-" * width for width in widths))
    return lines


# The report as one flat CSV table, every number in full.

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
    """Return the table."""
    flat = ({**e, "raters": ";".join(e["raters"]), "flags": ";".join(e["flags"])} for e in entries)
    return csv_text([columns, *([entry.get(column) for column in columns] for entry in flat)])


# The report's tables in LaTeX (booktabs).


def as_latex(name: str, sections: Sequence[Section]) -> str:
    """Return one table per block, captioned; needs the booktabs and longtable packages."""
    out = ["% needs \\usepackage{booktabs,longtable}"]
    for section in sections:
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


# The report as one self-contained HTML page with charts drawn as SVG; no script, nothing fetched.

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
    """Return a text as HTML shows it, on one line and in its own direction."""
    return quoted(plain(text))


def as_html(name: str, sections: Sequence[Section]) -> str:
    """Return the page."""
    return page(f"Agreement: {name}", "".join(_section(section) for section in sections))


def page(title: str, body: str, style: str = "") -> str:
    """Return a page with this title, not yet escaped, and this body, which is HTML."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}{style}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _section(section: Section) -> str:
    heading = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    parts = [heading, *(f'<p class="answer">{escape(s)}</p>' for s in section.answers)]
    parts += [f'<p class="fact">{escape(fact)}</p>' for fact in section.facts]
    parts += [_block(block) for block in section.blocks]
    if section.limits:
        limits = "".join(f'<li class="limit">{escape(limit)}</li>' for limit in section.limits)
        parts.append(f"<h3>What limits this</h3><ul>{limits}</ul>")
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
    """Return the block's values and intervals as an SVG as wide as the page; empty where none has a value.

    Bounds are not drawn: a line would read as an interval.
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


WRITERS: dict[str, Callable[[str, Sequence[Section]], str]] = {
    "text": as_text,
    "html": as_html,
    "latex": as_latex,
}
"""The forms with sentences and tables; JSON and CSV hold plain values."""
