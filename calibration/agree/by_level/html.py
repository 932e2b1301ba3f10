"""Tables by level as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.agree.by_level.report import (
    SHORT,
    Shown,
    facts,
    groups,
    levels_of,
    methods,
    notes,
    p_of,
    title_of_coefficient,
)
from calibration.agree.html_page import escape, page
from calibration.agree.words import interval, number
from calibration.statistics.by_level import LevelEntry, LevelTable

STYLE = (
    "td small{display:block;color:var(--soft)}tbody th{font-weight:400;min-width:8rem}"
    "th.group{font-style:italic}th.level{text-align:center}abbr{text-decoration:none}"
)


def written(name: str, shown: Sequence[Shown]) -> str:
    """Return the page."""
    return page(f"Correlations by level: {name}", "".join(_section(one) for one in shown), STYLE)


def _section(shown: Shown) -> str:
    heading = f"<h2>{escape(shown.title)}</h2>" if shown.title else ""
    said = "".join(f'<p class="fact">{escape(fact)}</p>' for fact in facts(shown))
    sentences = notes(shown.table, "Bold", "Underlined")
    below = "".join(f'<li class="limit">{escape(note)}</li>' for note in sentences)
    how = "".join(f'<p class="foot">{escape(method)}</p>' for method in methods(shown.table))
    return f"<section>{heading}{said}{_table(shown.table)}<ul>{below}</ul>{how}</section>"


def _table(table: LevelTable) -> str:
    width, levels = len(table.coefficients), levels_of(table)
    over = "".join(
        f'<th scope="colgroup" colspan="{width}" class="level">{level.capitalize()} level</th>'
        for level in levels
    )
    titles = "".join(_title(name) for name in table.coefficients)
    head = f'<tr><th scope="col" rowspan="2">Scores of</th>{over}</tr><tr>{titles * len(levels)}</tr>'
    body = ""
    for heading, members in groups(table):
        if heading:
            span = 1 + width * len(levels)
            body += f'<tr><th scope="rowgroup" class="group" colspan="{span}">{escape(heading)}</th></tr>'
        for row in members:
            cells = "".join(
                f'<td class="n">{_cell(row.entry(level, name))}</td>'
                for level in levels
                for name in table.coefficients
            )
            body += f'<tr><th scope="row">{escape(row.name)}</th>{cells}</tr>'
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _title(name: str) -> str:
    whole = escape(title_of_coefficient(name))
    return f'<th scope="col" class="n"><abbr title="{whole}">{SHORT[name]}</abbr></th>'


def _cell(entry: LevelEntry) -> str:
    result = entry.result
    if not result.ok:
        return escape(number(None))
    value = escape(number(result.value))
    value = f"<b>{value}</b>" if entry.best else value
    value = f"<u>{value}</u>" if entry.best_of_group else value
    star = "*" if entry.starred else ""
    return f"{value}{star}<small>{escape(interval(result))}</small><small>p {escape(p_of(entry))}</small>"
