"""The forms of a transcript. Names, texts and tags are written by anybody: each form escapes them its way."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from html import escape as quoted

from annotation.text.table_cells import guarded
from calibration.exports.transcripts.collecting import Line, Sheet, Transcript
from calibration.exports.writing import Blocks, plain
from calibration.reports.latex import escaped

HEAD = ("turn_number", "turn", "speaker", "text")
LATEX_NEEDS = r"% needs \usepackage{booktabs,longtable,array}"
STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b3;--line:#323a45;--ground:#14181d}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;
max-width:72rem;padding:1.5rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.soft,.given td{color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.text{white-space:pre-wrap;min-width:16rem}
"""


def csv_blocks(sheet: Sheet) -> Blocks:
    """Yield the transcripts as one CSV table; texts are guarded as in all of Concord's CSV."""
    rows = 0
    yield _csv(["dialogue", "continuation", "system", *HEAD, "given", *map(guarded, sheet.groups)])
    for transcript in sheet.transcripts():
        place = [guarded(t) for t in (transcript.dialogue, transcript.continuation, transcript.system)]
        for line in transcript.lines:
            texts = [guarded(line.speaker), guarded(line.text), str(line.given).lower()]
            yield _csv([*place, line.number, line.index, *texts, *map(guarded, line.tags)])
            rows += 1
    return rows


def _csv(cells: list[object]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(cells)
    return file.getvalue().encode()


def markdown_blocks(sheet: Sheet) -> Blocks:
    """Yield a table for each transcript."""
    rows = 0
    yield f"# Transcripts of {plain(sheet.scope.name)}\n\n{plain(_whose(sheet))}\n".encode()
    head = ["Turn", "Index", "Speaker", "Text", *map(plain, sheet.groups)]
    rule = ["---:", "---:", *["---"] * (2 + len(sheet.groups))]
    for transcript in sheet.transcripts():
        lines = ["", f"## {plain(_title(transcript))}", "", _row(head), _row(rule)]
        for line in transcript.lines:
            texts = (line.speaker, line.text, *line.tags)
            lines.append(_row([str(line.number), str(line.index), *map(plain, texts)]))
            rows += 1
        yield ("\n".join(lines) + "\n").encode()
    return rows


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex_blocks(sheet: Sheet) -> Blocks:
    """Yield a longtable with booktabs rules for each transcript."""
    rows = 0
    yield f"{LATEX_NEEDS}\n% {escaped(_whose(sheet))}\n".encode()
    width = 0.9 / (3 + len(sheet.groups))
    wide = rf">{{\raggedright\arraybackslash}}p{{{2 * width:.3f}\linewidth}}"
    narrow = rf">{{\raggedright\arraybackslash}}p{{{0.85 * width:.3f}\linewidth}}"
    columns = f"rr{narrow}{wide}{narrow * len(sheet.groups)}"
    head = ["Turn", "Index", "Speaker", "Text", *map(escaped, sheet.groups)]
    for transcript in sheet.transcripts():
        lines = [
            r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{escaped(_title(transcript))}}}\\",
            r"\toprule",
            f"{' & '.join(head)} \\\\",
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
        ]
        for line in transcript.lines:
            texts = (line.speaker, line.text, *line.tags)
            lines.append(f"{line.number} & {line.index} & {' & '.join(map(escaped, texts))} \\\\")
            rows += 1
        lines += [r"\end{longtable}", r"\endgroup", ""]
        yield ("\n".join(lines)).encode()
    return rows


def html_blocks(sheet: Sheet) -> Blocks:
    """Yield one page that needs nothing else: no script, nothing fetched."""
    title, rows = f"Transcripts of {quoted(sheet.scope.name)}", 0
    yield (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>'
        f'<body><h1>{title}</h1><p class="soft">{quoted(_whose(sheet))}</p>\n'
    ).encode()
    heads = ('<th class="n" scope="col">Turn</th>', '<th class="n" scope="col">Index</th>')
    names = ("Speaker", "Text", *sheet.groups)
    head = "".join((*heads, *(f'<th scope="col">{quoted(name)}</th>' for name in names)))
    for transcript in sheet.transcripts():
        body = "".join(map(_html_row, transcript.lines))
        rows += len(transcript.lines)
        yield (
            f'<section><h2 dir="auto">{quoted(_title(transcript))}</h2><div class="scroll" tabindex="0">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>\n"
        ).encode()
    yield b"</body></html>\n"
    return rows


def _html_row(line: Line) -> str:
    cells = [f'<td class="n">{line.number}</td><td class="n">{line.index}</td>']
    cells.append(f'<td dir="auto">{quoted(line.speaker)}</td>')
    cells.append(f'<td class="text" dir="auto">{quoted(line.text)}</td>')
    cells += [f"<td>{quoted(tags)}</td>" for tags in line.tags]
    start = '<tr class="given">' if line.given else "<tr>"
    return f"{start}{''.join(cells)}</tr>\n"


def _title(transcript: Transcript) -> str:
    return f"{transcript.dialogue}, {transcript.continuation} (by {transcript.system})"


def _whose(sheet: Sheet) -> str:
    names = ", ".join(rater.name for rater in sheet.raters) or "nobody"
    return f"Tags by {names}. Turns are numbered as annotators count them; the index counts from 0."


FORMS: dict[str, tuple[str, Callable[[Sheet], Blocks], str]] = {
    "csv": ("CSV", csv_blocks, "text/csv; charset=utf-8"),
    "md": ("Markdown", markdown_blocks, "text/markdown; charset=utf-8"),
    "tex": ("LaTeX", latex_blocks, "application/x-tex; charset=utf-8"),
    "html": ("HTML", html_blocks, "text/html; charset=utf-8"),
}
"""Per form: its title, its writer and its media type."""
