"""The tables of a report of preferences in LaTeX (booktabs)."""

from __future__ import annotations

from calibration.preferences.computing import Report
from calibration.preferences.renderings.as_text import LEFT, notes_of, shown
from calibration.preferences.sheets import Sheet, sheets
from calibration.preferences.wording import how
from calibration.reports.latex import NEEDS, escaped, fitted


def write(made: Report) -> str:
    """Return every table with its title and notes as comments before it."""
    lines = [_remark(made.name), *map(_remark, made.facts), NEEDS]
    for asked in made.questions:
        found = sheets(asked.figures)
        lines += [_remark(text) for text in (asked.title, *how(asked.figures.choices)) if text]
        for sheet in found:
            lines += ["", _remark(sheet.title), *_table(sheet)]
        lines += [_remark(note) for note in notes_of(asked, found)]
    return "\n".join([*lines, ""])


def _remark(text: str) -> str:
    return f"% {' '.join(text.split())}"


def _table(sheet: Sheet) -> list[str]:
    form = "".join("l" if name in LEFT else "r" for name in sheet.head)
    return fitted(
        [
            rf"\begin{{tabular}}{{{form}}}",
            r"\toprule",
            f"{' & '.join(map(escaped, sheet.head))} \\\\",
            r"\midrule",
            *(f"{' & '.join(escaped(shown(cell)) for cell in row)} \\\\" for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ],
        escaped(sheet.note),
    )
