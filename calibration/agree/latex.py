"""The report's tables in LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.agree.report import Block, Section
from calibration.agree.words import plain, title_of
from calibration.reports.latex import escaped
from calibration.statistics import Result
from calibration.statistics.unanswered.figures import NAME as BOUNDS


def written(name: str, sections: Sequence[Section]) -> str:
    """Return one table per block, captioned; needs the booktabs and longtable packages."""
    out = ["% needs \\usepackage{booktabs,longtable}"]
    for section in sections:
        for block in section.blocks:
            title = f"{name}{': ' + section.title if section.title else ''}. {block.heading}"
            out += _table(title, block)
    return "\n".join(out) + "\n"


def _table(title: str, block: Block) -> list[str]:
    head = rf"Raters & Statistic & Value & {block.ends.capitalize()} & Items & Clusters \\"
    rows = [" & ".join(_row(block.label(e), e.result)) + r" \\" for e in block.entries]
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


def _row(raters: str, result: Result) -> list[str]:
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
