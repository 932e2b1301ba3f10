"""What is shown of a table by level, whatever its form: groups of rows, cells, marks, sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from calibration.agree.by_level.assembling import Assembled
from calibration.agree.words import number
from calibration.statistics import FLAGS, STATISTICS
from calibration.statistics.by_level.scored import Level
from calibration.statistics.by_level.table import NOT_AT_TURN_LEVEL
from calibration.statistics.by_level.types import LevelEntry, LevelRow, LevelTable

STAR, BEST, BEST_OF_GROUP = "*", "!", "_"
SHORT = {"pearson": "r", "spearman": "ρ", "kendall_tau_b": "τ"}


@dataclass(frozen=True)
class Shown:
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


def facts(shown: Shown) -> list[str]:
    """Say what was compared, on what, and what was left out."""
    table, units = shown.table, shown.assembled.scored.units
    unit = "continuations" if table.options.unit == "continuation" else "answers of a system to a dialogue"
    question = shown.assembled.reference.question
    out = [
        f"Compared with {table.reference}{', question ' + question if question else ''}.",
        f"{len(units):,} {unit} by {len(units.system_names):,} systems in {len(units.dialogue_names):,} "
        "dialogues.",
    ]
    return out + [*table.warnings, *shown.assembled.said]


def left_out(row: LevelRow) -> str:
    """Say how many turns and continuations a row leaves out; empty where none."""
    left, parts = row.left_out, []
    for n, of, share, what in (
        (left.turns, left.of_turns, left.share_of_turns, "turns"),
        (left.units, left.of_units, left.share_of_units, "continuations"),
    ):
        if n and share is not None:
            parts.append(f"{n:,} of {of:,} {what} ({100 * share:.1f}%)")
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
        out.append(f"{reason[:1].upper()}{reason[1:]} ({_listed(about)}).")
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


def entries(shown: Iterable[Shown]) -> Iterator[dict[str, Any]]:
    """Yield every figure as plain values, in the order of rows, levels and coefficients."""
    for one in shown:
        rows = zip(one.table.rows, one.assembled.rows, strict=True)
        for row, source in rows:
            for entry in row.entries:
                yield {
                    **entry.result.as_dict(),
                    "raters": [one.assembled.reference.rater, source.rater],
                    "question": source.question,
                    "reference_question": one.assembled.reference.question,
                    "row": row.name,
                    "scores": row.scores,
                    "level": entry.level,
                    "p": entry.p,
                    "p_test": one.table.options.p,
                    "p_method": entry.p_method,
                    "p_reason": entry.p_reason,
                    "starred": entry.starred,
                    "best": entry.best,
                    "best_of_group": entry.best_of_group,
                    "left_out_turns": row.left_out.turns,
                    "left_out_continuations": row.left_out.units,
                    **({"stratum": one.stratum} if one.stratum else {}),
                }


def _listed(about: list[str]) -> str:
    distinct = list(dict.fromkeys(about))
    return "; ".join(distinct[:3]) + (f"; and {len(distinct) - 3} more" if len(distinct) > 3 else "")


def title_of_coefficient(name: str) -> str:
    """Return the readable name of a coefficient."""
    return STATISTICS[name].title
