"""Tables by level in LaTeX (booktabs), in the arrangement of ComperDial's tables 4 and 5."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.agree.by_level.report import Shown, groups, levels_of, methods, notes
from calibration.agree.words import plain
from calibration.reports.latex import escaped, fitted
from calibration.statistics.by_level import LevelEntry, LevelRow, LevelTable

SYMBOLS = {"pearson": "$r$", "spearman": r"$\rho$", "kendall_tau_b": r"$\tau$"}


def written(name: str, shown: Sequence[Shown]) -> str:
    """Return one table per stratum; each value has its interval below it."""
    out = [r"% needs \usepackage{booktabs,graphicx}"]
    for one in shown:
        out += _table(f"{name}{': ' + one.title if one.title else ''}", one.table)
    return "\n".join(out) + "\n"


def _table(title: str, table: LevelTable) -> list[str]:
    width, levels = len(table.coefficients), levels_of(table)
    spans = [rf"\multicolumn{{{width}}}{{c}}{{{level.capitalize()} level}}" for level in levels]
    rules = [rf"\cmidrule(lr){{{2 + width * at}-{1 + width * (at + 1)}}}" for at in range(len(levels))]
    symbols = [SYMBOLS[name] for name in table.coefficients] * len(levels)
    body: list[str] = []
    for heading, members in groups(table):
        if heading:
            span = 1 + width * len(levels)
            body.append(rf"\multicolumn{{{span}}}{{l}}{{\emph{{{_text(heading)}}}}} \\")
        for row in members:
            body += _row(row, table)
    tabular = [
        rf"\begin{{tabular}}{{l{'r' * width * len(levels)}}}",
        r"\toprule",
        " & ".join(["", *spans]) + r" \\",
        "".join(rules),
        " & ".join(["Scores of", *symbols]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    below = " ".join([*notes(table, "Bold", "Underlined"), *methods(table)])
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_text(title)}. Correlations with {_text(table.reference)}.}}",
        *fitted(tabular, _text(below)),
        r"\end{table}",
        "",
    ]


def _row(row: LevelRow, table: LevelTable) -> list[str]:
    entries = [row.entry(level, name) for level in levels_of(table) for name in table.coefficients]
    values = " & ".join([_text(row.name), *(_value(entry) for entry in entries)])
    ends = " & ".join(["", *(_ends(entry) for entry in entries)])
    return [values + r" \\", ends + r" \\"]


def _value(entry: LevelEntry) -> str:
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


def _text(text: str) -> str:
    return escaped(plain(text))
