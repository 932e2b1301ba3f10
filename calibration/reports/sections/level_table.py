"""A table of correlations at levels, arranged as in ComperDial's tables 4 and 5, and the words under it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from annotation.text.numbers import number
from calibration.reports.figure import Marks
from calibration.reports.figures import Figure, crowd, figures, worded
from calibration.reports.levels import LevelCell, LevelRow, LevelTable
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import counted
from calibration.statistics.analysis import MEAN_OF_PEOPLE

LEVELS = {"turn": "Turn level", "dialogue": "Dialogue level", "system": "System level"}
MADE = {"static": "static continuations", "rollout": "own turns and rollouts"}
P = {
    "clustered": "exchanging systems and dialogues of one side",
    "item": "the usual test, which takes the units as independent",
}
FEW_SYSTEMS = 10
LEFT_OUT = {"turns_left_out": "turns", "continuations_left_out": "dialogues"}


@dataclass(frozen=True)
class Correlated(Figure):
    """A correlation, set off as the table marks it."""

    marks: Marks | None = field(default_factory=Marks)  # type: ignore[misc]


@dataclass(frozen=True)
class Share(Figure):
    """A share of what could have counted, in percent; it has no interval."""

    percent: ClassVar[bool] = True
    bare: ClassVar[bool] = True


def whose(result: Snapshot, table: LevelTable) -> str:
    """Return whose labels a table is about: `people’s dialogue labels`."""
    own = crowd(figures(result)).own if table.reference == MEAN_OF_PEOPLE else f"{table.reference}’s"
    return f"{own} {table.about} labels"


def table_of(result: Snapshot, table: LevelTable) -> Table:
    """Return the table: a column a level and coefficient, and what each row leaves out."""
    coefficients = list(dict.fromkeys(cell.coefficient for row in table.rows for cell in row.cells))
    columns = [(f"{level}_{name}", worded(name).symbol) for level in table.levels for name in coefficients]
    left = [key for key in LEFT_OUT if key != "turns_left_out" or any(row.turns for row in table.rows)]
    notes: list[str] = []
    made = f", {MADE[table.made]}" if table.made else ""
    return Table(
        f"Correlation with {whose(result, table)}: {table.title} ({table.scheme_title}){made}",
        [*columns, *((key, LEFT_OUT[key]) for key in left)],
        [_row(result, table, row, left, notes) for row in table.rows],
        notes,
        first="Scores of",
        over=[*((LEVELS[level], len(coefficients)) for level in table.levels), ("Left out", len(left))],
    )


def _row(result: Snapshot, table: LevelTable, row: LevelRow, left: list[str], notes: list[str]) -> Row:
    cells = [noted(_figure(result, table, row, cell), notes) for cell in row.cells]
    return Row(
        row.name,
        "",
        max(cell.result.n_items for cell in row.cells),
        max(cell.result.n_clusters for cell in row.cells),
        [*cells, *(figure if (figure := share(key, row)).ok else None for key in left)],
        first=True,
        heading=row.heading,
    )


def _figure(result: Snapshot, table: LevelTable, row: LevelRow, cell: LevelCell) -> Figure:
    plain = Figure.of(cell.result, raters=(table.reference, row.name), question=table.question)
    if not plain.ok:
        return plain
    told = [
        "the highest of its column" if cell.best else "",
        f"the highest for {row.group}" if cell.best_of_group else "",
        f"not significant: p {number(cell.p, 3)}" if cell.starred else "",
        f"no test: {cell.p_reason}" if cell.p is None else "",
    ]
    sign: Literal["", "*", "†"] = "*" if cell.starred else "†" if cell.p is None else ""
    marks = Marks(sign, cell.best, cell.best_of_group, ", ".join(filter(None, told)))
    return Correlated(**vars(plain), marks=marks)


def share(key: str, row: LevelRow) -> Figure:
    """Return the share of turns, or of continuations, that the missing policy leaves out of a row."""
    is_turns = key == "turns_left_out"
    left = row.turns_left_out if is_turns else row.continuations_left_out
    of = row.turns if is_turns else row.continuations
    if not of:
        return Figure(key, status="undefined", reason=f"no {LEFT_OUT[key]} count here")
    return Share(key, value=left / of, n_items=of, n_missing=left)


def said(result: Snapshot, table: LevelTable) -> tuple[str, ...]:
    """Return what the table rests on, what its marks mean, and its warnings."""
    levels, plan = result.definition.levels, result.definition.plan
    if levels is None:
        raise ValueError("only a study at levels has such tables")
    turns = f"{counted(table.n_turns, 'labelled turn')}, " if table.n_turns else ""
    joined = levels.unit == "dialogue_system"
    unit = ("pair of dialogue and system", "pairs of dialogue and system") if joined else ("continuation",)
    units = counted(table.n_continuations, *unit)
    people = counted(table.people, *crowd(figures(result)).units)
    reference = f", the mean of {people} as reference" if table.reference == MEAN_OF_PEOPLE else ""
    score = (
        "mean over all its turns, or all its dialogues where these were labelled"
        if levels.system_score == "all_turns"
        else "mean over the means of its dialogues"
    )
    group = f" Underlined: the highest for its {levels.best_per}." if levels.best_per else ""
    return (
        f"{turns}{units}, {counted(table.n_dialogues, 'dialogue')}, {counted(table.n_systems, 'system')}"
        f"{reference}. A system’s score is the {score}.",
        f"Each figure stands above its {plan.level:.0%} interval ({plan.resamples:,} resamples of dialogues "
        f"and systems, seed {plan.seed}).",
        f"Star: p of 0.05 or more, by {P[levels.p]}. Bold: the highest of its column, people and baselines "
        f"apart.{group}",
        *_few_systems(table),
        *_without_interval(table),
        *_untested(table),
        *(f"{warning[:1].upper()}{warning[1:]}" for warning in table.warnings),
    )


def _few_systems(table: LevelTable) -> list[str]:
    """Return a caution where systems are so few that their order may be chance."""
    if "system" not in table.levels or not 3 <= table.n_systems < FEW_SYSTEMS:
        return []
    return [f"{table.n_systems} systems are few: a high correlation of systems may be chance."]


def _without_interval(table: LevelTable) -> list[str]:
    """Return why some figures have no interval, in a sentence for each reason."""
    results = [cell.result for row in table.rows for cell in row.cells]
    reasons = [result.reason for result in results if result.ok and result.low is None and result.reason]
    told = (reason.removeprefix("no interval: ") for reason in dict.fromkeys(reasons))
    return [f"No interval: {reason}." for reason in told]


def _untested(table: LevelTable) -> list[str]:
    """Return why some figures have no p-value, in a sentence for each reason."""
    cells = [cell for row in table.rows for cell in row.cells if cell.result.ok and cell.p is None]
    return [f"†: no p-value, as {reason}." for reason in dict.fromkeys(cell.p_reason for cell in cells)]
