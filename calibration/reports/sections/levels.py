"""Correlations at turn, dialogue and system level: ComperDial's tables 3 to 6, and a scatter for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from django.utils.safestring import SafeString, mark_safe

from annotation.text.display import number
from calibration.comparisons.preference_tables import method_lines
from calibration.reports import charts as drawing
from calibration.reports.charts import Chart
from calibration.reports.contents import (
    Figure,
    LevelCell,
    LevelRow,
    LevelTable,
    Marks,
    PreferenceSheet,
    PreferenceTable,
)
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.sections.base import (
    Count,
    CsvLine,
    PageParams,
    Section,
    Switch,
    View,
    headed,
    select_question,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, with_note
from calibration.reports.wording import counted
from calibration.statistics.analysis import MEAN_OF_PEOPLE

# Which system is preferred, by people and judges; how far they agree on it; whether position matters.

KEY = "preferences"
COUNTS = {f"preference_{name}" for name in ("wins", "ties", "losses", "decided", "in_both_orders")}
SHARES = {
    f"preference_{name}"
    for name in (
        *("win_rate", "expected_win_rate", "shown_first", "consistent", "for_first", "for_second"),
        *("otherwise", "percent_agreement"),
    )
}
ROUNDED = {"preference_strength", "preference_rank"}
BOTH_WAYS = (
    "Agreement reads every item both ways round, so that it does not matter which response bears which "
    "number; kappa and alpha in a table of categories take first and second as they are numbered."
)


@dataclass(frozen=True)
class PreferredShare(Figure):
    """A share, in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class Rounded(Figure):
    """A number on a wide scale, of which no decimals are shown."""

    digits: ClassVar[int] = 0
    end_digits: ClassVar[int] = 0


def preference_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of a question: systems, who beats whom, position, agreement."""
    selected, switches = select_question(headed(result, result.preferences), KEY, params)
    sheet_views: list[View] = []
    for title, table in selected:
        for place, sheet in enumerate(table.sheets):
            remarks = tuple(_preference_remarks(table, sheet, result, is_first=not place))
            sheet_views.append(View(_table(title, sheet), remarks, switches if not place else ()))
    return sheet_views


def _table(title: str, sheet: PreferenceSheet) -> Table:
    notes: list[str] = []
    rows = [
        Row(row.about, "", row.n_items, row.n_clusters, _cells(row.cells, notes), first=True)
        for row in sheet.rows
    ]
    return Table(f"{title}: {sheet.title}", list(sheet.columns), rows, notes, first=sheet.first)


def _cells(cells: Sequence[Figure | None], notes: list[str]) -> list[Figure | None]:
    return [with_note(cell and shown_as(cell), notes) for cell in cells]


def shown_as(figure: Figure) -> Figure:
    """Return a figure with the decimals that its kind is read with."""
    kind = (
        Count
        if figure.name in COUNTS
        else PreferredShare
        if figure.name in SHARES
        else Rounded
        if figure.name in ROUNDED
        else Figure
    )
    return kind(**{attribute.name: getattr(figure, attribute.name) for attribute in fields(figure)})


def _preference_remarks(
    table: PreferenceTable, sheet: PreferenceSheet, result: Snapshot, *, is_first: bool
) -> Iterator[str]:
    if is_first:
        yield f"{'; '.join(table.voters)}."
        yield from method_lines(result.definition.preferences)
    if sheet.key == "agreement":
        yield BOTH_WAYS
    elif sheet.note:
        yield sheet.note


def preference_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `preference_...`, with the voters and what the line is about as raters."""
    for table in result.preferences:
        for sheet in table.sheets:
            for row in sheet.rows:
                for figure in row.cells:
                    if figure is not None:
                        yield CsvLine(table.ref, table.title, figure.name, figure)


PREFERENCES = Section(KEY, preference_views, preference_lines, leads=True)


# A table of correlations at levels, arranged as in ComperDial's tables 4 and 5, and the words under it.

LEVELS = {"turn": "Turn level", "dialogue": "Dialogue level", "system": "System level"}
CONTINUATION_KINDS = {"static": "static continuations", "rollout": "own turns and rollouts"}
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


def labels_name(result: Snapshot, table: LevelTable) -> str:
    """Return labels_name labels a table is about: `people’s dialogue labels`."""
    own = crowd(figures(result)).own if table.reference == MEAN_OF_PEOPLE else f"{table.reference}’s"
    return f"{own} {table.about} labels"


def table_of(result: Snapshot, table: LevelTable) -> Table:
    """Return the table: a column a level and coefficient, and what each row leaves out."""
    coefficients = list(dict.fromkeys(cell.coefficient for row in table.rows for cell in row.cells))
    columns = [(f"{level}_{name}", worded(name).symbol) for level in table.levels for name in coefficients]
    left_out_columns = [
        key for key in LEFT_OUT if key != "turns_left_out" or any(row.turns for row in table.rows)
    ]
    notes: list[str] = []
    continuation_kind = f", {CONTINUATION_KINDS[table.made]}" if table.made else ""
    return Table(
        f"Correlation with {labels_name(result, table)}: {table.title} ({table.scheme_title})"
        f"{continuation_kind}",
        [*columns, *((key, LEFT_OUT[key]) for key in left_out_columns)],
        [_row(result, table, row, left_out_columns, notes) for row in table.rows],
        notes,
        first="Scores of",
        over=[
            *((LEVELS[level], len(coefficients)) for level in table.levels),
            ("Left out", len(left_out_columns)),
        ],
    )


def _row(
    result: Snapshot, table: LevelTable, row: LevelRow, left_out_columns: list[str], notes: list[str]
) -> Row:
    cells = [with_note(_figure(result, table, row, cell), notes) for cell in row.cells]
    return Row(
        row.name,
        "",
        max(cell.result.n_items for cell in row.cells),
        max(cell.result.n_clusters for cell in row.cells),
        [*cells, *(figure if (figure := share(key, row)).ok else None for key in left_out_columns)],
        first=True,
        heading=row.heading,
    )


def _figure(result: Snapshot, table: LevelTable, row: LevelRow, cell: LevelCell) -> Figure:
    plain = Figure.of(cell.result, raters=(table.reference, row.name), question=table.question)
    if not plain.ok:
        return plain
    explanations = [
        "the highest of its column" if cell.best else "",
        f"the highest for {row.group}" if cell.best_of_group else "",
        f"not significant: p {number(cell.p, 3)}" if cell.starred else "",
        f"no test: {cell.p_reason}" if cell.p is None else "",
    ]
    sign: Literal["", "*", "†"] = "*" if cell.starred else "†" if cell.p is None else ""
    marks = Marks(sign, cell.best, cell.best_of_group, ", ".join(filter(None, explanations)))
    return Correlated(**vars(plain), marks=marks)


def share(key: str, row: LevelRow) -> Figure:
    """Return the share of turns, or of continuations, that the missing policy leaves out of a row."""
    is_turns = key == "turns_left_out"
    n_left_out = row.turns_left_out if is_turns else row.continuations_left_out
    of = row.turns if is_turns else row.continuations
    if not of:
        return Figure(key, status="undefined", reason=f"no {LEFT_OUT[key]} count here")
    return Share(key, value=n_left_out / of, n_items=of, n_missing=n_left_out)


def level_remarks(result: Snapshot, table: LevelTable) -> tuple[str, ...]:
    """Remarks under the table: its inputs, the meaning of its marks, its warnings."""
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
    """Sentences about missing intervals, one for each reason."""
    results = [cell.result for row in table.rows for cell in row.cells]
    reasons = [result.reason for result in results if result.ok and result.low is None and result.reason]
    distinct = (reason.removeprefix("no interval: ") for reason in dict.fromkeys(reasons))
    return [f"No interval: {reason}." for reason in distinct]


def _untested(table: LevelTable) -> list[str]:
    """Sentences about missing p-values, one for each reason."""
    cells = [cell for row in table.rows for cell in row.cells if cell.result.ok and cell.p is None]
    return [f"†: no p-value, as {reason}." for reason in dict.fromkeys(cell.p_reason for cell in cells)]


TEMPLATE = "calibration/_level_charts.html"
DOTS = "systems"
"""The switch that says which row's scatter is drawn."""


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of a study at levels, each with the scatter of the row asked for, or of all."""
    return [view for at, table in enumerate(result.levels, 1) for view in _views(result, table, at, params)]


def _views(result: Snapshot, table: LevelTable, at: int, params: PageParams | None) -> list[View]:
    level_table = table_of(result, table)
    if not table.rows:
        return [View(level_table, (f"{table.reason[:1].upper()}{table.reason[1:]}.",))]
    table_views = [View(level_table, level_remarks(result, table))]
    if scatters := _charts_of(result, table, at):
        selected = scatters if params is None else [_select_chart(scatters, table, params)]
        switches = [Switch(chart.up, {DOTS: chart.key}, chart in selected) for chart in scatters]
        data = {"charts": [(chart, _svg(chart)) for chart in selected], "switches": switches}
        title = (
            selected[0].title
            if len(selected) == 1
            else f"Systems by each row and by {labels_name(result, table)}"
        )
        caption = ("One point a system, with its interval on both axes.",)
        table_views.append(View(Table(title, []), caption, template=TEMPLATE, data=data))
    return table_views


def _select_chart(scatters: Sequence[Chart], table: LevelTable, params: PageParams) -> Chart:
    """Return the scatter asked for, else that of the row that is best in the last column."""
    best = next((row.name for row in table.rows if row.cells[-1].best), "")
    requested = next((chart for chart in scatters if chart.key == params.get(DOTS)), None)
    return requested or next((chart for chart in scatters if chart.up == best), scatters[0])


def _svg(chart: Chart) -> SafeString:
    """Return a scatter's SVG. Its texts are escaped by the renderer."""
    return mark_safe(drawing.inline_svg(chart))


def charts(result: Snapshot) -> list[Chart]:
    """Return the scatter of systems of every row, to be drawn under its table and downloaded."""
    return [chart for at, table in enumerate(result.levels, 1) for chart in _charts_of(result, table, at)]


def _charts_of(result: Snapshot, table: LevelTable, at: int) -> list[Chart]:
    labels = labels_name(result, table)
    level = f"{result.definition.plan.level:.0%} intervals over dialogues"
    return [
        Chart(
            key=f"systems-{at}-{number}",
            title=f"Systems by {row.name} and by {labels}",
            axis=f"{labels[:1].upper()}{labels[1:]}, {level}",
            points=(),
            dots=row.dots,
            up=row.name,
            folded=True,
        )
        for number, row in enumerate(table.rows, 1)
        if row.dots
    ]


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the correlations, by level and coefficient, each with its p-value; then what is left out."""
    for table in result.levels:
        suffix = f"_{table.made}" if table.made else ""
        for row in table.rows:
            raters = (table.reference, row.name)
            figures = {f"{c.level}_level{suffix}_{c.coefficient}": c.result for c in row.cells}
            figures |= {f"{c.level}_level{suffix}_{c.coefficient}_p": _p(c) for c in row.cells}
            figures |= {f"{key}{suffix}": share(key, row) for key in LEFT_OUT}
            for name, figure in figures.items():
                figure_of_row = Figure.of(figure, raters=raters, question=table.question)
                yield CsvLine(table.question, table.title, name, figure_of_row)


def _p(cell: LevelCell) -> Figure:
    n, n_clusters = cell.result.n_items, cell.result.n_clusters
    if cell.p is None:
        why = cell.p_reason or cell.result.reason
        return Figure("p", status="undefined", reason=why, n_items=n, n_clusters=n_clusters)
    return Figure("p", value=cell.p, method=cell.p_method, n_items=n, n_clusters=n_clusters)


SCORE_LEVELS = Section("levels", views, lines, charts, leads=True)
