"""The report as plain text, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from calibration.agree.report import Block, Section
from calibration.agree.words import interval, number, plain, title_of

WIDTH = 100


def written(name: str, sections: Sequence[Section]) -> str:
    """Return the whole report."""
    return "\n".join(line for section in sections for line in _section(name, section))


def _section(name: str, section: Section) -> list[str]:
    heading = plain(f"{name}: {section.title}" if section.title else name)
    lines = [heading, "=" * min(len(heading), WIDTH), ""]
    for sentence in section.answers:
        lines += textwrap.wrap(plain(sentence), WIDTH)
    lines += ["", *(line for fact in section.facts for line in textwrap.wrap(plain(fact), WIDTH)), ""]
    for block in section.blocks:
        lines += [*_block(block), ""]
    if section.limits:
        lines.append("What limits this")
        for limit in section.limits:
            lines += textwrap.wrap(plain(limit), WIDTH, initial_indent="  * ", subsequent_indent="    ")
        lines.append("")
    if section.interval_method:
        lines += textwrap.wrap(f"Intervals: {section.interval_method}.", WIDTH)
    return [*lines, ""]


def _block(block: Block) -> list[str]:
    panel = block.one_group
    rows = [["" if panel else "raters", "statistic", "value", block.ends, "items", "clusters"]]
    notes: dict[str, int] = {}
    for entry in block.entries:
        result = entry.result
        mark = ""
        if not result.ok or result.low is None:
            mark = f"[{notes.setdefault(result.reason, len(notes) + 1)}]"
        shown = number(result.value) if result.ok else result.status
        rows.append(
            [
                "" if panel else plain(block.label(entry)),
                title_of(result.name),
                shown,
                interval(result) + mark,
            ]
            + [str(result.n_items), str(result.n_clusters)]
        )
    table = [[cell for i, cell in enumerate(row) if i or not panel] for row in rows]
    body = columns(table, right={"value", block.ends, "items", "clusters"})
    said = [line for note, n in notes.items() for line in textwrap.wrap(plain(f"[{n}] {note}"), WIDTH)]
    note = textwrap.wrap(block.note, WIDTH)
    return [plain(block.heading), *note, *body, *said]


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
