"""Correlations at turn, dialogue and system level: ComperDial's tables 3 to 6, and a scatter for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt
from django.utils.safestring import SafeString, mark_safe

from annotation.text.display import number
from calibration.ratings.definitions import TURN, Attribute, Definition, Levels
from calibration.ratings.levels import LevelInputs, LevelQuestion, Source
from calibration.ratings.ratings import SubjectData
from calibration.ratings.scope import RaterInfo
from calibration.reports import charts as drawing
from calibration.reports.charts import Chart
from calibration.reports.figures import HUMAN, crowd, figures, worded
from calibration.reports.judges import Lengths, Panels
from calibration.reports.results import Figure, LevelRow, LevelTable, Marks, SystemDot, recorded
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    CsvLine,
    PageParams,
    Percent,
    Row,
    Section,
    Switch,
    Table,
    View,
    question_key,
    table_key,
    tabulate,
)
from calibration.reports.wording import counted, crowd_of
from calibration.statistics import RatingError, Ratings, level_correlations
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.baselines import BASELINE, CHARACTERS, WORDS
from calibration.statistics.core.ratings import Floats, Samples
from calibration.statistics.level_correlations import APART, LevelEntry, Options
from calibration.statistics.level_scores import EQUAL, Frame, Kind, Level, Scored, Scores, Units
from calibration.statistics.panels import PANEL

# From the answers to a question to the scores of its reference and rows, in common units.

TURN_SCORES, DIALOGUE = "turn", "dialogue"
ORDER = ("metric", "judge", PANEL, "key", HUMAN)
HEADINGS = {TURN_SCORES: "From turn scores", DIALOGUE: "From dialogue scores"}
KINDS = {
    "metric": "Metrics",
    "judge": "Judges",
    PANEL: "Panels of judges",
    "key": "Answer keys",
    HUMAN: "People",
    BASELINE: "Baselines",
}
NOBODY = RaterInfo(0, "", "", True)


@dataclass(frozen=True)
class Laid:
    """Continuations of a question's answers as units, which of them are static, and the items of each kind.

    `index` maps, per kind of item, an item's key to its position in the frame.
    """

    units: Units
    static: npt.NDArray[np.bool_]
    frames: Mapping[str, Frame]
    index: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row before it is correlated: its scores, its rater, and its heading.

    `samples` says how repeated answers were read, if the same rater has several rows.
    """

    scores: Scores
    rater: str
    heading: str
    samples: str = ""


def laid_out(question: LevelQuestion, read: LevelInputs) -> Laid:
    """Number the continuations with answers, and all items in them, rated or not."""
    keys = sorted({record.continuation for source in question.sources for record in source.data.records})
    continuations = [read.continuations[key] for key in keys]
    units = Units.of(
        [continuation.dialogue for continuation in continuations],
        [continuation.cluster for continuation in continuations],
        [continuation.system for continuation in continuations],
    )
    places = {
        kind: _places(kind, keys, read) for kind in sorted({source.kind for source in question.sources})
    }
    return Laid(
        units,
        np.array([continuation.static for continuation in continuations], dtype=np.bool_),
        {kind: _frame(kind, item_places) for kind, item_places in places.items()},
        {
            kind: {key: at for at, (_, _, key) in enumerate(item_places)}
            for kind, item_places in places.items()
        },
    )


def _places(kind: str, keys: Sequence[str], read: LevelInputs) -> list[tuple[int, int, str]]:
    """Return (unit, position, item key) of all items of a kind in the given continuations."""
    if kind == DIALOGUE:
        return [(unit, 0, key) for unit, key in enumerate(keys)]
    return [
        (unit, position, f"{key}/{position}") for unit, key in enumerate(keys) for position in read.turns[key]
    ]


def _frame(kind: str, places: Sequence[tuple[int, int, str]]) -> Frame:
    units, positions = (np.array([place[n] for place in places], dtype=np.int64) for n in (0, 1))
    return Frame(cast(Kind, kind), units, positions)


def sides(
    question: LevelQuestion, read: LevelInputs, laid: Laid, policy: Samples | None
) -> tuple[Scores | None, list[ScoredRow]]:
    """Return the reference, None if it did not answer, and the rows in the order of the table.

    `policy` says how repeated answers are read if the levels name no rows for them. Raises RatingError for
    answers that cannot be read.
    """
    policies: tuple[Samples | None, ...] = read.asked.samples or (policy,)
    own, *across = [
        _rows(source, read, laid, policies, _clashes(question.sources, number))
        for number, source in enumerate(question.sources)
    ]
    name = read.asked.reference
    reference = next((row.scores for row in own if row.rater == name), None)
    rows = [row for row in own if row.rater != name] + [row for rows in across for row in rows]
    headings = list(dict.fromkeys([*HEADINGS.values(), *KINDS.values(), *(row.heading for row in rows)]))
    rows.sort(key=lambda row: (headings.index(row.heading), ORDER.index(row.scores.kind)))
    return reference, rows


def by_length(
    question: LevelQuestion, laid: Laid, rows: Sequence[ScoredRow], lengths: Mapping[str, tuple[int, int]]
) -> list[ScoredRow]:
    """Return the length baselines of a question that a judge or panel answers: the lengths of its items.

    A baseline with a constant value has the same mean at every level, and so no correlation: it has no row.
    """
    if not any(row.scores.kind in ("judge", PANEL) for row in rows):
        return []
    kind = question.sources[0].kind
    baseline_rows = []
    for place, name in enumerate((CHARACTERS, WORDS)):
        item_lengths = [lengths[key][place] if key in lengths else np.nan for key in laid.index[kind]]
        scores = Scores(name, cast(Kind, kind), np.array(item_lengths, np.float64), BASELINE)
        baseline_rows.append(ScoredRow(scores, name, KINDS[BASELINE]))
    return baseline_rows


def _clashes(sources: Sequence[Source], number: int) -> bool:
    """Whether an earlier source is about the same kind of item, so that names must include the question."""
    return any(source.kind == sources[number].kind for source in sources[:number])


def _rows(
    source: Source, read: LevelInputs, laid: Laid, policies: Sequence[Samples | None], clashes: bool
) -> list[ScoredRow]:
    """Return every rater of a source, people as their mean; one row per policy where answers are repeated."""
    repeated = _repeated(source)
    rows = []
    for place, policy in enumerate(policies):
        ratings = source.data.ratings(policy)
        values = _on_frame(ratings, source, laid)
        people = list(ratings.of_kind(HUMAN))
        if people and not place:
            mean = Scores.of_people(MEAN_OF_PEOPLE, cast(Kind, source.kind), values[:, people])
            rows.append(_people_row(mean, source, read))
        for column, name in enumerate(ratings.raters):
            several = repeated.get(name, 0) if len(policies) > 1 else 0
            if column not in people and (several or not place):
                samples = f"{policy} of {several}" if several else ""
                kind = ratings.kinds[column]
                scores = Scores(name, cast(Kind, source.kind), values[:, column], kind)
                rows.append(_scored_row(scores, source, read, _info(name, source), samples))
    return [_named_by_question(row, source) for row in rows] if clashes else rows


def _repeated(source: Source) -> dict[str, int]:
    """Return the maximum number of answers to one item, for raters who gave more than one."""
    most: dict[str, int] = {}
    for record in source.data.records:
        if record.sample:
            most[record.rater] = max(most.get(record.rater, 1), record.sample + 1)
    return most


def _on_frame(ratings: Ratings, source: Source, laid: Laid) -> Floats:
    """Return all items of the source's kind x raters, on the reference's scale; NaN for no answer."""
    index = laid.index[source.kind]
    values = np.full((len(index), len(ratings.raters)), np.nan)
    values[[index[item] for item in ratings.items]] = ratings.values
    mapped: Any = source.map.apply(cast(Any, values))
    return cast(Floats, mapped)


def _info(name: str, source: Source) -> RaterInfo:
    """Find the rater of a row; repeated answers may be rows of their own, called `name#0`."""
    base = name.rpartition("#")[0]
    return next((info for info in source.data.raters if info.name in (name, base)), NOBODY)


def _scored_row(
    scores: Scores, source: Source, read: LevelInputs, info: RaterInfo, samples: str = ""
) -> ScoredRow:
    spec = read.attributes.get(info.id, {})
    heading = _attribute(read.asked.heading, scores, spec, source) or KINDS[scores.kind]
    group = _attribute(read.asked.best_per, scores, spec, source) if read.asked.best_per else ""
    name = f"{scores.name} ({samples})" if samples else scores.name
    return ScoredRow(replace(scores, name=name, group=group), scores.name, heading, samples)


def _people_row(scores: Scores, source: Source, read: LevelInputs) -> ScoredRow:
    """Return the row of people's mean, named by the kind of items that they labelled."""
    people = crowd_of(source.data.raters).many.capitalize()
    row = _scored_row(scores, source, read, NOBODY)
    heading = people if row.heading == KINDS[HUMAN] else row.heading
    return replace(row, heading=heading, scores=replace(row.scores, name=f"{people} ({source.kind} labels)"))


def _attribute(which: Attribute, scores: Scores, spec: Mapping[str, str], source: Source) -> str:
    if which == "source":
        return HEADINGS[source.kind]
    return KINDS[scores.kind] if which == "kind" else spec.get(which, "")


def _named_by_question(row: ScoredRow, source: Source) -> ScoredRow:
    """Add the question's title to the name of a row."""
    name = f"{row.scores.name}: {source.data.subject.question.title}"
    return replace(row, scores=replace(row.scores, name=name))


STATIC, ROLLOUT = "static", "rollout"


def level_tables(
    read: LevelInputs | None,
    definition: Definition,
    own: Sequence[SubjectData],
    panels: Panels,
    lengths: Lengths,
) -> tuple[LevelTable, ...]:
    """Return the tables of a study at levels, question by question; empty for a study of items alone.

    `own` are the questions' own answers with those of the study's panels, in the order of the questions;
    `lengths` are the characters and words of their items by key, for the baselines.
    """
    if read is None:
        return ()
    read = _with_panels(read, own, panels)
    return tuple(
        table for question in read.questions for table in _tables(question, read, definition, lengths)
    )


def _with_panels(read: LevelInputs, own: Sequence[SubjectData], panels: Panels) -> LevelInputs:
    """Add the answers of panels; judges of turns and of dialogues form separate panels."""
    questions = []
    for question, data in zip(read.questions, own, strict=True):
        across = [replace(source, data=panels.among(source.data)) for source in question.sources[1:]]
        questions.append(replace(question, sources=(replace(question.sources[0], data=data), *across)))
    return replace(read, questions=tuple(questions))


def _tables(
    question: LevelQuestion, read: LevelInputs, definition: Definition, lengths: Lengths
) -> list[LevelTable]:
    """Return a question's table; two if static continuations are mixed with rollouts or own turns."""
    empty = _empty(question, read.asked)
    if question.subject.question.level == "nominal":
        return [replace(empty, reason="categories have no mean, so there is nothing to correlate")]
    if not empty.levels:
        return [
            replace(empty, reason="ratings of whole dialogues have no turn level: choose dialogue or system")
        ]
    laid = laid_out(question, read)
    try:
        reference, rows = sides(question, read, laid, definition.samples)
    except RatingError as error:
        return [replace(empty, reason=str(error))]
    if reference is None:
        nobody = "no person answered" if read.asked.reference == MEAN_OF_PEOPLE else ""
        reason = (
            f"{nobody or f'{read.asked.reference} did not answer'} this question, so there is no reference"
        )
        return [replace(empty, reason=reason)]
    if not rows:
        reason = "only the reference answered this question or one that is read as an answer to it"
        return [replace(empty, reason=reason)]
    if definition.baselines:
        rows = [*rows, *by_length(question, laid, rows, lengths)]
    frames = laid.frames.get(TURN), laid.frames.get(DIALOGUE)
    scored = Scored(laid.units, reference, tuple(row.scores for row in rows), *frames)
    missing = question.subject.missing
    options = Options(
        missing=missing,
        system_score=read.asked.system_score,
        unit=read.asked.unit,
        p=read.asked.p,
        shared=read.asked.shared_dialogues,
    )
    return [
        _correlated(replace(empty, made=continuation_kind), part, rows, options, definition)
        for continuation_kind, part in _parts(scored, laid, read.asked)
    ]


def _empty(level_question: LevelQuestion, levels: Levels) -> LevelTable:
    question = level_question.subject.question
    return recorded(
        LevelTable,
        question,
        question=question.ref,
        about=question.item_kind,
        reference=levels.reference,
        people=sum(info.kind == HUMAN for info in level_question.sources[0].data.raters),
        made="",
        levels=tuple(level for level in levels.levels if level != TURN or question.item_kind == TURN),
        n_turns=0,
        n_continuations=0,
        n_dialogues=0,
        n_systems=0,
    )


def _parts(scored: Scored, laid: Laid, levels: Levels) -> list[tuple[str, Scored]]:
    """Return all units together, or static ones and rollouts apart if there are both."""
    if levels.unit == "dialogue_system" or laid.static.all() or not laid.static.any():
        return [("", scored)]
    return [(STATIC, scored.take(laid.static)), (ROLLOUT, scored.take(~laid.static))]


def _correlated(
    empty: LevelTable, scored: Scored, rows: Sequence[ScoredRow], options: Options, definition: Definition
) -> LevelTable:
    """Correlate the rows with the reference; a row without a score on these units is left out."""
    scored_numbers = [number for number, side in enumerate(scored.rows) if not np.isnan(side.values).all()]
    if np.isnan(scored.reference.values).all() or not scored_numbers:
        return replace(empty, reason="the reference and the other raters share no item")
    scored_rows = replace(scored, rows=tuple(scored.rows[number] for number in scored_numbers))
    try:
        table = level_correlations.level_table(
            scored_rows, empty.levels, options=options, plan=definition.plan, points="system" in empty.levels
        )
    except ValueError as error:
        return replace(empty, reason=str(error))
    units = scored_rows.joined().units if options.unit == "dialogue_system" else scored_rows.units
    return replace(
        empty,
        n_turns=int((~np.isnan(scored_rows.reference.values)).sum()) if empty.about == TURN else 0,
        n_continuations=len(units),
        n_dialogues=len(np.unique(units.dialogues)),
        n_systems=len(np.unique(units.systems)),
        rows=tuple(
            _kept_row(rows[number], row) for number, row in zip(scored_numbers, table.rows, strict=True)
        ),
        warnings=table.warnings,
    )


def _kept_row(scored_row: ScoredRow, row: level_correlations.LevelRow) -> LevelRow:
    left_out = row.left_out
    return recorded(
        LevelRow,
        row,
        samples=scored_row.samples,
        heading=scored_row.heading,
        cells=row.entries,
        turns_left_out=left_out.turns,
        turns=left_out.of_turns,
        continuations_left_out=left_out.units,
        continuations=left_out.of_units,
        dots=tuple(_dot(point) for point in row.points),
    )


def _dot(point: level_correlations.SystemPoint) -> SystemDot:
    x, y = point.x, point.y
    return SystemDot(point.system, x.value, x.low, x.high, y.value, y.low, y.high)


# A table of correlations at levels, arranged as in ComperDial's tables 4 and 5, with its remarks.

LEVELS = {"turn": "Turn level", "dialogue": "Dialogue level", "system": "System level"}
CONTINUATION_KINDS = {"static": "static continuations", "rollout": "own turns and rollouts"}
P = {
    "clustered": "a permutation test that exchanges the systems and dialogues of one rater",
    "item": "the usual test, which assumes that items are independent",
}
FEW_SYSTEMS = 10
LEFT_OUT = {"turns_left_out": "turns", "continuations_left_out": "dialogues"}


@dataclass(frozen=True)
class Correlated(Figure):
    """A correlation, with the marks that its table gives it."""

    marks: Marks | None = field(default_factory=Marks)  # type: ignore[misc]


@dataclass(frozen=True)
class Share(Percent):
    """A share of the items or continuations that could have counted; it has no interval."""

    bare: ClassVar[bool] = True


def labels_name(result: Snapshot, table: LevelTable) -> str:
    """Return the name of the labels that a table is about: `people’s dialogue labels`."""
    own = crowd(figures(result)).own if table.reference == MEAN_OF_PEOPLE else f"{table.reference}’s"
    return f"{own} {table.about} labels"


def level_key(start: str, table: LevelTable) -> str:
    """Return the key of what is shown of a table: its question, its reference if not people, its items."""
    reference = "" if table.reference == MEAN_OF_PEOPLE else table.reference
    return table_key(start, question_key(table.question), reference, table.made)


def narrowed(
    table: LevelTable, rows: Sequence[LevelRow], levels: Sequence[Level], coefficients: Sequence[str]
) -> LevelTable:
    """Return a table with some of its rows and columns; the highest of a column is that of these rows."""
    narrowed_rows = [
        replace(row, cells=tuple(c for c in row.cells if c.level in levels and c.coefficient in coefficients))
        for row in rows
    ]
    best: dict[tuple[str, str], float] = {}
    for row in narrowed_rows:
        for cell in row.cells if row.kind not in APART else ():
            if cell.result.value is not None:
                column = cell.level, cell.coefficient
                best[column] = max(best.get(column, cell.result.value), cell.result.value)

    def marked(row: LevelRow, cell: LevelEntry) -> LevelEntry:
        value = None if row.kind in APART else cell.result.value
        return replace(cell, best=value is not None and value >= best[cell.level, cell.coefficient] - EQUAL)

    marked_rows = (
        replace(row, cells=tuple(marked(row, cell) for cell in row.cells)) for row in narrowed_rows
    )
    return replace(table, rows=tuple(marked_rows), levels=tuple(levels))


def table_of(result: Snapshot, table: LevelTable) -> Table:
    """Return the table: one column per level and coefficient, and the shares that each row leaves out."""
    coefficients = list(dict.fromkeys(cell.coefficient for row in table.rows for cell in row.cells))
    columns = [(f"{level}_{name}", worded(name).symbol) for level in table.levels for name in coefficients]
    left_out_columns = [
        key for key in LEFT_OUT if key != "turns_left_out" or any(row.turns for row in table.rows)
    ]
    continuation_kind = f", {CONTINUATION_KINDS[table.made]}" if table.made else ""
    return tabulate(
        level_key("levels", table),
        f"Correlation with {labels_name(result, table)}: {table.title} ({table.scheme_title})"
        f"{continuation_kind}",
        [*columns, *((key, LEFT_OUT[key]) for key in left_out_columns)],
        [_row(table, row, left_out_columns) for row in table.rows],
        first="Scores of",
        over=[
            *((LEVELS[level], len(coefficients)) for level in table.levels),
            ("Left out", len(left_out_columns)),
        ],
    )


def _row(table: LevelTable, row: LevelRow, left_out_columns: list[str]) -> Row:
    cells = [_figure(table, row, cell) for cell in row.cells]
    return Row(
        row.name,
        "",
        max(cell.result.n_items for cell in row.cells),
        max(cell.result.n_clusters for cell in row.cells),
        [*cells, *(figure if (figure := share(key, row)).ok else None for key in left_out_columns)],
        first=True,
        heading=row.heading,
    )


def _figure(table: LevelTable, row: LevelRow, cell: LevelEntry) -> Figure:
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
    """Return the remarks under the table: its inputs, the meaning of its marks, its warnings."""
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
        "mean of all its turns, or of all its dialogues if these were labelled"
        if levels.system_score == "all_turns"
        else "mean of the means of its dialogues"
    )
    group = f" Underlined: the highest for its {levels.best_per}." if levels.best_per else ""
    return (
        f"{turns}{units}, {counted(table.n_dialogues, 'dialogue')}, {counted(table.n_systems, 'system')}"
        f"{reference}. A system’s score is the {score}.",
        f"Below each figure: its {plan.level:.0%} interval ({plan.resamples:,} resamples of dialogues and "
        f"systems, seed {plan.seed}).",
        f"Star: not significant (p of 0.05 or more, by {P[levels.p]}). Bold: the highest of its column, "
        f"without people and baselines.{group}",
        *_few_systems(table),
        *_without_interval(table),
        *_untested(table),
        *(f"{warning[:1].upper()}{warning[1:]}" for warning in table.warnings),
    )


def _few_systems(table: LevelTable) -> list[str]:
    """Return a warning if there are so few systems that their order may be due to chance."""
    if "system" not in table.levels or not 3 <= table.n_systems < FEW_SYSTEMS:
        return []
    return [
        f"With only {table.n_systems} systems (fewer than {FEW_SYSTEMS}), even a high correlation of systems "
        "may be chance."
    ]


def _without_interval(table: LevelTable) -> list[str]:
    """Return sentences about missing intervals, one per reason."""
    results = [cell.result for row in table.rows for cell in row.cells]
    reasons = [result.reason for result in results if result.ok and result.low is None and result.reason]
    distinct = (reason.removeprefix("no interval: ") for reason in dict.fromkeys(reasons))
    return [f"No interval: {reason}." for reason in distinct]


def _untested(table: LevelTable) -> list[str]:
    """Return sentences about missing p-values, one per reason."""
    cells = [cell for row in table.rows for cell in row.cells if cell.result.ok and cell.p is None]
    return [f"†: no p-value, as {reason}." for reason in dict.fromkeys(cell.p_reason for cell in cells)]


TEMPLATE = "calibration/_level_charts.html"
DOTS = "systems"
"""Switch that selects the row whose scatter is drawn."""


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of a study at levels, with the scatter of the selected row, or of all rows."""
    return [view for at, table in enumerate(result.levels, 1) for view in _views(result, table, at, params)]


def _views(result: Snapshot, table: LevelTable, at: int, params: PageParams | None) -> list[View]:
    level_table = table_of(result, table)
    if not table.rows:
        return [View(level_table, (f"{table.reason[:1].upper()}{table.reason[1:]}.",))]
    table_views = [View(level_table, level_remarks(result, table))]
    if scatters := _charts_of(result, table, at):
        selected = scatters if params is None else [_select_chart(scatters, table, params)]
        switches = tuple(Switch(chart.up, {DOTS: chart.key}, chart in selected) for chart in scatters)
        data = [(chart, _svg(chart)) for chart in selected]
        title = (
            selected[0].title
            if len(selected) == 1
            else f"Systems by each row and by {labels_name(result, table)}"
        )
        caption = ("Each point is a system, with its interval on both axes.",)
        scatter_table = Table(level_key("systems", table), title, [])
        table_views.append(View(scatter_table, caption, switches, TEMPLATE, data))
    return table_views


def _select_chart(scatters: Sequence[Chart], table: LevelTable, params: PageParams) -> Chart:
    """Return the selected scatter, else that of the row that is best in the last column."""
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
    origin = f", {CONTINUATION_KINDS[table.made]}" if table.made else ""
    about = f": {table.title} ({table.scheme_title}){origin}" if len(result.levels) > 1 else ""
    level = f"{result.definition.plan.level:.0%} intervals over dialogues"
    return [
        Chart(
            key=f"systems-{at}-{number}",
            title=f"Systems by {row.name} and by {labels}{about}",
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
    """Yield the correlations by level and coefficient, each with its p-value; then the shares left out."""
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


def _p(cell: LevelEntry) -> Figure:
    n, n_clusters = cell.result.n_items, cell.result.n_clusters
    if cell.p is None:
        why = cell.p_reason or cell.result.reason
        return Figure("p", status="undefined", reason=why, n_items=n, n_clusters=n_clusters)
    return Figure("p", value=cell.p, method=cell.p_method, n_items=n, n_clusters=n_clusters)


SCORE_LEVELS = Section("levels", "by-level", views, lines, charts, leads=True)
