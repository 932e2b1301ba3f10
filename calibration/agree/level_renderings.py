"""Tables by level in each form: from a ratings file to text, LaTeX and one page of HTML."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.agree import renderings
from calibration.agree.levels import Assembled, LevelQuery, assembled, read_places
from calibration.agree.ratings_file import Part, RatingsFile, Row, Table
from calibration.agree.renderings import WIDTH, columns, escape, page
from calibration.agree.report import interval, number, plain
from calibration.renderings import escaped, fitted
from calibration.statistics import FLAGS, STATISTICS, Plan, Ratings
from calibration.statistics.level_correlations import (
    NOT_AT_TURN_LEVEL,
    LevelEntry,
    LevelRow,
    LevelTable,
    level_table,
)
from calibration.statistics.level_scores import Level

# What is shown of a table by level, whatever its form: groups of rows, cells, marks, sentences.

STAR, BEST, BEST_OF_GROUP = "*", "!", "_"
SHORT = {"pearson": "r", "spearman": "ρ", "kendall_tau_b": "τ"}


@dataclass(frozen=True)
class StratumTable:
    """A table of one stratum, with where its rows come from and what was read."""

    title: str
    table: LevelTable
    assembled: Assembled
    stratum: str = ""


def groups(table: LevelTable) -> Iterator[tuple[str, list[LevelRow]]]:
    """Yield rows under a heading that says what their scores come from; no heading where all are alike."""
    kinds = list(dict.fromkeys(row.scores for row in table.rows))
    for kind in kinds:
        heading = f"from {kind} scores" if len(kinds) > 1 else ""
        yield heading, [row for row in table.rows if row.scores == kind]


def meets(row: LevelRow, level: Level) -> bool:
    """Whether a row has anything to show at a level: scores of wholes have nothing at turn level."""
    return any(entry.level == level and entry.result.reason != NOT_AT_TURN_LEVEL for entry in row.entries)


def levels_of(table: LevelTable) -> list[Level]:
    """Return the levels at which some row has something to show."""
    return [level for level in table.levels if any(meets(row, level) for row in table.rows)]


def p_of(entry: LevelEntry) -> str:
    """Write a p-value with three decimals, or a dash."""
    if entry.p is None:
        return number(None)
    return "<0.001" if entry.p < 0.001 else f"{entry.p:.3f}"


def facts(stratum_table: StratumTable) -> list[str]:
    """Say what was compared, on what, and what was left out."""
    table, units = stratum_table.table, stratum_table.assembled.scored.units
    unit = "continuations" if table.options.unit == "continuation" else "answers of a system to a dialogue"
    question = stratum_table.assembled.reference.question
    out = [
        f"Compared with {table.reference}{', question ' + question if question else ''}.",
        f"{len(units):,} {unit} by {len(units.system_names):,} systems in {len(units.dialogue_names):,} "
        "dialogues.",
    ]
    return out + [*table.warnings, *stratum_table.assembled.notes]


def left_out(row: LevelRow) -> str:
    """Say how many turns and continuations a row leaves out; empty where none."""
    row_left_out, parts = row.left_out, []
    for n, of, share, unit in (
        (row_left_out.turns, row_left_out.of_turns, row_left_out.share_of_turns, "turns"),
        (row_left_out.units, row_left_out.of_units, row_left_out.share_of_units, "continuations"),
    ):
        if n and share is not None:
            parts.append(f"{n:,} of {of:,} {unit} ({100 * share:.1f}%)")
    return f"{row.name}: left out are {' and '.join(parts)}." if parts else ""


def notes(table: LevelTable, best: str, best_of_group: str) -> list[str]:
    """Explain stars and marks where there are any, what has no value or no p, and the flags.

    ``best`` and ``best_of_group`` name the marks, as in "Bold".
    """
    entries = [entry for row in table.rows for entry in row.entries]
    test = "permutation of systems and dialogues" if table.options.p == "clustered" else "test over items"
    out = []
    if any(entry.starred for entry in entries):
        out.append(f"{STAR} p is 0.05 or more by the {test}.")
    if any(entry.best for entry in entries):
        out.append(f"{best}: the highest of its column, people apart.")
    if any(entry.best_of_group for entry in entries):
        out.append(f"{best_of_group}: the highest of its column in its group.")
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        for entry in row.entries:
            for reason in (entry.result.reason, entry.p_reason if entry.result.ok else ""):
                if reason:
                    reasons.setdefault(reason, []).append(f"{row.name} at {entry.level} level")
    for reason, about in reasons.items():
        out.append(f"{reason[:1].upper()}{reason[1:]} ({_join_titles(about)}).")
    out += filter(None, (left_out(row) for row in table.rows))
    for flag in dict.fromkeys(flag for entry in entries for flag in entry.result.flags):
        out.append(f"{FLAGS[flag][:1].upper()}{FLAGS[flag][1:]}.")
    return out


def methods(table: LevelTable) -> list[str]:
    """Say how intervals and p-values were made, level by level."""
    out = []
    for level in table.levels:
        entries = [e for row in table.rows for e in row.entries if e.level == level and e.result.ok]
        if entries:
            how = "; ".join(dict.fromkeys(e.result.method for e in entries))
            tests = "; ".join(dict.fromkeys(e.p_method for e in entries if e.p_method))
            out.append(f"{level.capitalize()} level: {how}." + (f" p: {tests}." if tests else ""))
    return out


def entries(stratum_tables: Iterable[StratumTable]) -> Iterator[dict[str, Any]]:
    """Yield every figure as plain values, in the order of rows, levels and coefficients."""
    for stratum_table in stratum_tables:
        rows = zip(stratum_table.table.rows, stratum_table.assembled.rows, strict=True)
        for row, source in rows:
            for entry in row.entries:
                yield {
                    **entry.result.as_dict(),
                    "raters": [stratum_table.assembled.reference.rater, source.rater],
                    "question": source.question,
                    "reference_question": stratum_table.assembled.reference.question,
                    "row": row.name,
                    "scores": row.scores,
                    "level": entry.level,
                    "p": entry.p,
                    "p_test": stratum_table.table.options.p,
                    "p_method": entry.p_method,
                    "p_reason": entry.p_reason,
                    "starred": entry.starred,
                    "best": entry.best,
                    "best_of_group": entry.best_of_group,
                    "left_out_turns": row.left_out.turns,
                    "left_out_continuations": row.left_out.units,
                    **({"stratum": stratum_table.stratum} if stratum_table.stratum else {}),
                }


def _join_titles(about: list[str]) -> str:
    distinct = list(dict.fromkeys(about))
    return "; ".join(distinct[:3]) + (f"; and {len(distinct) - 3} more" if len(distinct) > 3 else "")


def title_of_coefficient(name: str) -> str:
    """Return the readable name of a coefficient."""
    return STATISTICS[name].title


# Tables by level in each form: from a ratings file to text, LaTeX and one page of HTML.

# Tables by level as one self-contained HTML page.

STYLE = (
    "td small{display:block;color:var(--soft)}tbody th{font-weight:400;min-width:8rem}"
    "th.group{font-style:italic}th.level{text-align:center}abbr{text-decoration:none}"
)


def as_html(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return the page."""
    return page(
        f"Correlations by level: {name}",
        "".join(_section_of_html(stratum_table) for stratum_table in stratum_tables),
        STYLE,
    )


def _section_of_html(stratum_table: StratumTable) -> str:
    heading = f"<h2>{escape(stratum_table.title)}</h2>" if stratum_table.title else ""
    fact_lines = "".join(f'<p class="fact">{escape(fact)}</p>' for fact in facts(stratum_table))
    sentences = notes(stratum_table.table, "Bold", "Underlined")
    below = "".join(f'<li class="limit">{escape(note)}</li>' for note in sentences)
    how = "".join(f'<p class="foot">{escape(method)}</p>' for method in methods(stratum_table.table))
    return (
        f"<section>{heading}{fact_lines}{_table_of_html(stratum_table.table)}<ul>{below}</ul>{how}</section>"
    )


def _table_of_html(table: LevelTable) -> str:
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
    full_title = escape(title_of_coefficient(name))
    return f'<th scope="col" class="n"><abbr title="{full_title}">{SHORT[name]}</abbr></th>'


def _cell(entry: LevelEntry) -> str:
    result = entry.result
    if not result.ok:
        return escape(number(None))
    value = escape(number(result.value))
    value = f"<b>{value}</b>" if entry.best else value
    value = f"<u>{value}</u>" if entry.best_of_group else value
    star = "*" if entry.starred else ""
    return f"{value}{star}<small>{escape(interval(result))}</small><small>p {escape(p_of(entry))}</small>"


# Tables by level in LaTeX (booktabs), in the arrangement of ComperDial's tables 4 and 5.

SYMBOLS = {"pearson": "$r$", "spearman": r"$\rho$", "kendall_tau_b": r"$\tau$"}


def as_latex(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return one table per stratum; each value has its interval below it."""
    out = [r"% needs \usepackage{booktabs,graphicx}"]
    for stratum_table in stratum_tables:
        out += _table(
            f"{name}{': ' + stratum_table.title if stratum_table.title else ''}", stratum_table.table
        )
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
    values = " & ".join([_text(row.name), *(_value_of_latex(entry) for entry in entries)])
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


def _text(text: str) -> str:
    return escaped(plain(text))


# Tables by level as plain text, for a terminal: one table a level.


def as_text(name: str, stratum_tables: Sequence[StratumTable]) -> str:
    """Return the whole report."""
    return "\n".join(line for stratum_table in stratum_tables for line in _section(name, stratum_table))


def _section(name: str, stratum_table: StratumTable) -> list[str]:
    table = stratum_table.table
    heading = plain(
        f"{name}: {stratum_table.title}" if stratum_table.title else f"{name}: correlations by level"
    )
    lines = [heading, "=" * min(len(heading), WIDTH), "", *_wrapped(facts(stratum_table)), ""]
    for level in levels_of(table):
        lines += [f"{level.capitalize()} level", *_level(table, level), ""]
    lines += _wrapped(notes(table, BEST, BEST_OF_GROUP))
    return [*lines, "", *_wrapped(methods(table)), ""]


def _wrapped(sentences: Sequence[str]) -> list[str]:
    return [line for sentence in sentences for line in textwrap.wrap(plain(sentence), WIDTH)]


def _level(table: LevelTable, level: Level) -> list[str]:
    head = ["scores of"]
    for name in table.coefficients:
        head += [SHORT[name], "interval", "p"]
    rows = [[*head, "n"]]
    for heading, every in groups(table):
        members = [row for row in every if meets(row, level)]
        if heading and members:
            rows.append([f"({heading})", *[""] * (len(head) - 1), ""])
        for row in members:
            entries = [row.entry(level, name) for name in table.coefficients]
            cells = [
                cell for entry in entries for cell in (_value(entry), interval(entry.result), p_of(entry))
            ]
            rows.append([plain(row.name), *cells, f"{entries[0].result.n_items:,}"])
    return columns(rows, right=set(rows[0][1:]))


def _value(entry: LevelEntry) -> str:
    if not entry.result.ok:
        return entry.result.status
    marks = (STAR * entry.starred, BEST * entry.best, BEST_OF_GROUP * entry.best_of_group)
    return f"{number(entry.result.value)}{''.join(marks)}"


# From a ratings file read question by question to its tables by level, and to what is printed.

FURTHER = (
    "level", "row", "scores", "reference_question", "p", "p_test", "p_method", "p_reason", "starred", "best",
    "best_of_group", "left_out_turns", "left_out_continuations",
)  # fmt: skip


def tables(
    file: RatingsFile,
    query: LevelQuery,
    plan: Plan,
    ratings_of: Callable[[Part], Ratings],
    progress: Callable[[Table], Iterable[tuple[int, Row]]],
    column: str | None,
) -> list[StratumTable]:
    """Return a table for each stratum of the file. ValueError and RatingsFileError say what is amiss."""
    places = read_places(file.path, file.cluster, query.best_of, progress, file.spelling)
    strata: dict[str, dict[str, Ratings]] = {}
    for part in file.parts:
        strata.setdefault(part.stratum, {})[part.question] = ratings_of(part)
    out = []
    for stratum, questions in strata.items():
        scores = assembled(questions, places, query)
        table = level_table(scores.scored, query.levels, options=query.options, plan=plan)
        out.append(StratumTable(f"{column} {stratum}" if column else "", table, scores, stratum))
    return out


def render(file: RatingsFile, stratum_tables: list[StratumTable], form: str) -> str:
    """Return the tables as text, json, csv, latex or html."""
    if form == "json":
        read = {"file": file.path.name, "shape": file.shape, "cluster": file.cluster}
        questions = [
            {"title": stratum_table.title, "facts": facts(stratum_table)} for stratum_table in stratum_tables
        ]
        document = {"input": {**read, "questions": questions}, "statistics": list(entries(stratum_tables))}
        return json.dumps(document, allow_nan=False)
    if form == "csv":
        return renderings.as_csv(entries(stratum_tables), (*renderings.COLUMNS, *FURTHER))
    writers = {"html": as_html, "latex": as_latex, "text": as_text}
    return writers[form](file.path.name, stratum_tables)
