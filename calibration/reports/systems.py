"""Systems in a report: as people would have rated them, by a judge corrected, and as voters prefer them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from annotation.kinds import KINDS
from annotation.records import HUMAN
from annotation.text.display import number, percent
from calibration.comparisons import preference_tables as sheets_of_preferences
from calibration.comparisons.preference_tables import Cell, Sheet, method_lines, voters_line
from calibration.ratings.definitions import Definition
from calibration.ratings.ratings import SubjectData
from calibration.ratings.subsets import MOST_VALUES, value_text
from calibration.ratings.votes import Compared
from calibration.reports.figures import crowd, figures
from calibration.reports.results import (
    Figure,
    PreferenceRow,
    PreferenceSheet,
    PreferenceTable,
    SystemDifference,
    SystemRow,
    SystemTable,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    Count,
    CsvLine,
    PageParams,
    Percent,
    PValue,
    Row,
    Section,
    Table,
    View,
    as_printed,
    filled,
    headed,
    question_key,
    select_question,
    table_key,
    tabulate,
)
from calibration.reports.wording import Crowd, crowd_of, interval, join_names
from calibration.statistics import Ratings
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import CATEGORIES, RatingError
from calibration.statistics.corrected_systems import (
    ASSUMPTIONS,
    FIGURES,
    PREFIX,
    TITLES,
    JudgeSystems,
    SystemPair,
    systems_of_ratings,
)
from calibration.statistics.judge_biases import excludes_zero, is_clear
from calibration.statistics.preferences import preferences
from calibration.studies.inputs import Inputs

# Systems as people would have rated them: a judge's shares and means, corrected.

KEY = "corrected"
NO_SYSTEM = "no system named"


def systems_of(inputs: Inputs) -> tuple[SystemTable, ...]:
    """Correct the systems of every question that a judge answered on more items than people.

    A system with continuations under several conditions has a row for each.
    """
    tables = []
    policy, plan = inputs.definition.samples, inputs.definition.plan
    for data in inputs.subjects:
        if not data.has_unrated:
            continue
        try:
            ratings = data.ratings(policy if policy != "separate" else None)
        except RatingError:
            continue  # the question itself gives the reason
        ratings = _by_condition(_on_own_scale(ratings, data), data, inputs.conditions)
        judges = systems_of_ratings(ratings, plan, refusal=data.design.problem.rstrip("."))
        tables += [_table(data, ratings, judged) for judged in judges]
    return tuple(tables)


def _on_own_scale(ratings: Ratings, data: SubjectData) -> Ratings:
    """Return the ratings without raters whose answers are on another question's scale."""
    return ratings.take([j for j, name in enumerate(ratings.raters) if name not in data.off_scale])


def _by_condition(
    ratings: Ratings, data: SubjectData, conditions: Mapping[str, Mapping[str, Any]]
) -> Ratings:
    """Return the ratings with a system for each system and condition; those of people come first."""
    if ratings.systems is None:
        return ratings
    system_of = {record.item: record.system for record in data.records}
    continuation_of = {record.item: record.continuation for record in data.records}
    keys = _settings(system_of, continuation_of, conditions)

    def label(item: str) -> str:
        own = conditions.get(continuation_of[item], {})
        texts = [f"{key} {value_text(own[key])}" for key in keys.get(system_of[item], ()) if key in own]
        return ", ".join([system_of[item] or NO_SYSTEM, *texts])

    labels = [label(item) for item in ratings.items]
    names = sorted(set(labels), key=lambda name: (name.split(", ")[0] != HUMAN, _natural(name)))
    codes = {name: code for code, name in enumerate(names)}
    systems = ratings.systems.copy()
    systems[:] = [codes[text] for text in labels]
    return replace(ratings, systems=systems, system_names=tuple(names))


def _settings(
    system_of: Mapping[str, str],
    continuation_of: Mapping[str, str],
    conditions: Mapping[str, Mapping[str, Any]],
) -> dict[str, list[str]]:
    """Return the keys of the conditions that differ within each system, except ids and seeds."""
    by_system: dict[str, dict[str, Mapping[str, Any]]] = {}
    for item, system in system_of.items():
        own = conditions.get(continuation_of[item], {})
        by_system.setdefault(system, {})[continuation_of[item]] = own
    settings: dict[str, list[str]] = {}
    for system, own_conditions in by_system.items():
        for key in sorted({key for own in own_conditions.values() for key in own}):
            texts = {value_text(own[key]) if key in own else None for own in own_conditions.values()}
            if 1 < len(texts) <= MOST_VALUES:
                settings.setdefault(system, []).append(key)
    return settings


def _natural(text: str) -> list[int | str]:
    """Return a sort key by which numbers ascend: turns 5 before turns 30."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def _table(data: SubjectData, ratings: Ratings, judged: JudgeSystems) -> SystemTable:
    question = data.subject.question
    raters, words = (judged.judge, *judged.people), crowd_of(data.raters)

    def figure(result: Result) -> Figure:
        reason = result.reason.replace("people", words.many)
        return Figure.of(result, raters=raters, question=question.title, reason=reason)

    def category(value: float | None) -> str:
        return "" if value is None else ratings.label(value)

    def difference(pair: SystemPair) -> SystemDifference:
        corrected = figure(pair.corrected)
        p, p_holm = (
            None if value is None else replace(corrected, name=name, value=value, low=None, high=None)
            for name, value in (("p", pair.p), ("p_holm", pair.p_holm))
        )
        first, second = judged.names[pair.first], judged.names[pair.second]
        return SystemDifference(
            first, second, category(pair.category), figure(pair.judge), corrected, p, p_holm
        )

    rows = tuple(
        SystemRow(
            judged.names[row.system],
            category(row.category),
            row.n_items,
            row.n_rated,
            tuple(figure(row.figures[name]) for name in FIGURES),
        )
        for row in judged.result.systems
    )
    by_system = {row.system: (row.n_items, row.n_rated) for row in rows}
    return SystemTable(
        question.ref,
        question.title,
        question.item_kind,
        question.measured,
        judged.judge,
        sum(n for n, _ in by_system.values()),
        sum(n for _, n in by_system.values()),
        rows,
        tuple(difference(pair) for pair in judged.result.pairs),
        judged.result.no_pairs,
    )


def differs(pair: SystemDifference, level: float) -> bool:
    """Whether two systems clearly differ as people would have rated them."""
    return pair.p_holm is not None and is_clear(pair.corrected, pair.p_holm, level)


# Systems as pages and files show them.


def system_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of systems and of their differences; on the page those of the selected question."""
    selected, switches = select_question(headed(result, result.systems), KEY, params)
    by_title: dict[str, list[SystemTable]] = {}
    for title, table in selected:
        by_title.setdefault(title, []).append(table)
    words, views = crowd(figures(result)), []
    level = result.definition.plan.level
    for title, tables in by_title.items():
        own = question_key(tables[0].ref)
        columns = [
            *((name, _worded(heading, words)) for name, heading in HEADINGS.items()),
            ("rated", "Rated"),
        ]
        rows = [row for table in tables for row in _rows(table, several=len(tables) > 1)]
        heading = f"Systems as {words.many} would have rated them: {title}"
        printed = tabulate(table_key(KEY, own), heading, columns, rows, first="System")
        sentences = [text for table in tables for text in _sentences(table, level, words)]
        views.append(View(printed, (*sentences, *_meaning(tables[0], words)), switches))
        columns, rows = filled(PAIR_COLUMNS, [r for t in tables for r in _pairs(t, several=len(tables) > 1)])
        if rows:
            heading = f"Differences of systems: {title}"
            printed = tabulate(table_key(KEY, own, "pairs"), heading, columns, rows, first="Systems")
            views.append(View(printed, (PAIRED,)))
    return views


HEADINGS = dict(
    zip(FIGURES, ("Judge alone", "Corrected (PPI++)", "Corrected (confusion)", "People"), strict=True)
)
"""Short headings of a system's figures."""
PAIR_COLUMNS = [
    ("judge_difference", TITLES["judge_difference"]),
    ("prediction_powered_difference", TITLES["prediction_powered_difference"]),
    ("p", "p"),
    ("p_holm", "p, Holm"),
]
PAIRED = (
    "p: of no corrected difference, Student’s t over clusters; Holm’s correction is over the pairs of a "
    "judge on a question. Systems that continue the same dialogues are compared in pairs."
)


def _worded(text: str, words: Crowd) -> str:
    return text.replace("People", words.many.capitalize()).replace("people", words.many)


def _rows(table: SystemTable, *, several: bool) -> Iterator[Row]:
    for row in table.rows:
        cells: list[Figure | None] = [_printed(figure, table) for figure in row.figures]
        clusters = row.figures[0].n_clusters
        cells.append(Count("rated", float(row.n_rated), n_items=row.n_items, n_clusters=clusters))
        title = _with_category(row.system, row.category)
        heading = table.judge if several else ""
        yield Row(title, "", row.n_items, clusters, cells, first=True, heading=heading)


def _pairs(table: SystemTable, *, several: bool) -> Iterator[Row]:
    for pair in table.pairs:
        ps = [None if p is None else as_printed(p, PValue) for p in (pair.p, pair.p_holm)]
        cells = [_printed(pair.judge_alone, table), _printed(pair.corrected, table), *ps]
        title = _with_category(f"{pair.first} less {pair.second}", pair.category)
        n_items, n_clusters = pair.judge_alone.n_items, pair.judge_alone.n_clusters
        heading = table.judge if several else ""
        yield Row(title, "", n_items, n_clusters, cells, first=True, heading=heading)


def _printed(figure: Figure, table: SystemTable) -> Figure:
    return as_printed(figure, Percent) if table.level in CATEGORIES else figure


def _with_category(name: str, category: str) -> str:
    return f"{name}, {category}" if category else name


def _sentences(table: SystemTable, level: float, words: Crowd) -> Iterator[str]:
    """Yield which systems differ as people would have rated them, and which by the judge alone."""
    if not table.pairs:
        return
    rated = f"{table.n_rated:,} of {table.n_items:,} {KINDS[table.item_kind].plural} rated"
    clear = [pair for pair in table.pairs if differs(pair, level)]
    clear.sort(key=lambda pair: -abs(pair.corrected.point))
    if clear:
        texts = join_names([_above(pair, pair.corrected, table) for pair in clear], MOST_PAIRS)
        yield f"{table.judge}, corrected by {words.many}: {texts} ({level:.0%} intervals; {rated})."
    else:
        yield (
            f"{table.judge}, corrected by {words.many}: no difference of systems is clear after Holm’s "
            f"correction at {1 - level:.2g} ({rated})."
        )
    alone = [pair for pair in table.pairs if pair not in clear and excludes_zero(pair.judge_alone)]
    alone.sort(key=lambda pair: -abs(pair.judge_alone.point))
    if alone:
        texts = join_names([_above(pair, pair.judge_alone, table) for pair in alone], MOST_PAIRS)
        yield f"{table.judge} alone, not confirmed by the correction: {texts} ({level:.0%} intervals)."


MOST_PAIRS = 4
"""Number of pairs that a sentence names."""


def _above(pair: SystemDifference, figure: Figure, table: SystemTable) -> str:
    """Return `a above b by 0.40 (0.20 to 0.60)`."""
    is_first = figure.point > 0
    higher, lower = (pair.first, pair.second) if is_first else (pair.second, pair.first)
    sign = 1 if is_first else -1
    low, high = sorted((sign * (figure.low or 0.0), sign * (figure.high or 0.0)))
    ends = replace(figure, low=low, high=high)
    if table.level in CATEGORIES:
        size = f"{percent(abs(figure.point), 1)} ({percent(low, 1)} to {percent(high, 1)})"
    else:
        size = f"{number(abs(figure.point), 2)} ({interval(ends)})"
    return f"{_with_category(f'{higher} above {lower}', pair.category)} by {size}"


def _meaning(table: SystemTable, words: Crowd) -> Sequence[str]:
    """Return the unit of the figures, and what each correction rests on."""
    unit = {
        "binary": "Shares of items with the behaviour.",
        "nominal": "Shares of items with each category.",
    }.get(table.level, "Means of the answers.")
    return [f"{unit} {_worded(ASSUMPTIONS, words)}"]


def system_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `system_...`, with the judge and the systems in place of raters."""
    for table in result.systems:
        for row in table.rows:
            raters = (table.judge, _with_category(row.system, row.category))
            for figure in row.figures:
                yield CsvLine(table.ref, table.title, figure.name, replace(figure, raters=raters))
        for pair in table.pairs:
            title = _with_category(f"{pair.first} less {pair.second}", pair.category)
            for figure in filter(None, (pair.judge_alone, pair.corrected, pair.p, pair.p_holm)):
                name = figure.name if figure.name.startswith(PREFIX) else f"{PREFIX}difference_{figure.name}"
                yield CsvLine(table.ref, table.title, name, replace(figure, raters=(table.judge, title)))


SYSTEMS = Section(KEY, "by-system", system_views, system_lines)


# Results of a study's votes about systems and raters, as its report stores them.

ITEMS, CLUSTERS = "Items", "Clusters"
BETWEEN = {"meetings": " against "}
"""Separator between the texts of a line, if it is not a comma."""
COUNTED = (ITEMS, CLUSTERS, "Raters")
"""Columns with the basis of a line, which every line of a report shows anyway."""


def preference_tables(compared: Sequence[Compared], definition: Definition) -> tuple[PreferenceTable, ...]:
    """Return the tables of every question that compares responses."""
    return tuple(_preference_table(question, definition) for question in compared)


def _preference_table(compared: Compared, definition: Definition) -> PreferenceTable:
    question = compared.question
    try:
        figures = preferences(compared.votes, definition.preferences, definition.plan)
    except ValueError as error:
        return PreferenceTable(question.ref, question.title, question.item_kind, (), (), str(error))
    voters_lines = tuple(voters_line(voters) for voters in figures.voters)
    sheets = tuple(_sheet(sheet, question.title) for sheet in sheets_of_preferences.sheets(figures))
    caveat = UNWEIGHTED if compared.design.is_unequal else compared.design.problem
    return PreferenceTable(
        question.ref, question.title, question.item_kind, voters_lines, sheets, caveat=caveat
    )


def _sheet(sheet: Sheet, title: str) -> PreferenceSheet:
    """Convert a table to the form of a report: the subject of a line first, then numbers alone."""
    texts = [at for at, cell in enumerate(sheet.rows[0]) if isinstance(cell, str)]
    empty = {at for at in range(len(sheet.head)) if all(row[at] is None for row in sheet.rows)}
    without = empty | set(texts) | {at for at, head in enumerate(sheet.head) if head in COUNTED}
    columns = [at for at in range(len(sheet.head)) if at not in without]
    return PreferenceSheet(
        sheet.key,
        sheet.title,
        sheet.of,
        " and ".join(sheet.head[at].lower() if n else sheet.head[at] for n, at in enumerate(texts)),
        sheet.note,
        tuple((_name(sheet, at), sheet.head[at]) for at in columns),
        tuple(_preference_row(sheet, row, texts, columns, title) for row in sheet.rows),
    )


def _name(sheet: Sheet, at: int) -> str:
    """Return the name of a column's figures in files."""
    result = next((row[at] for row in sheet.rows if isinstance(row[at], Result)), None)
    name = result.name if isinstance(result, Result) else sheet.head[at].lower().replace(" ", "_")
    return f"preference_{name}"


def _preference_row(
    sheet: Sheet, row: tuple[Cell, ...], texts: Sequence[int], columns: Sequence[int], title: str
) -> PreferenceRow:
    of = dict(zip(sheet.head, row, strict=True))
    about = BETWEEN.get(sheet.key, ", ").join(str(row[at]) for at in texts)
    cells = tuple(_cell_as_figure(row[at], _name(sheet, at), about, sheet.of, title) for at in columns)
    from_ = next((cell for cell in row if isinstance(cell, Result)), None)
    n_items = _as_count(of.get(ITEMS)) if ITEMS in of else (from_.n_items if from_ else 0)
    n_clusters = _as_count(of.get(CLUSTERS)) if CLUSTERS in of else (from_.n_clusters if from_ else 0)
    return PreferenceRow(about, n_items, n_clusters, cells)


def _cell_as_figure(cell: Cell, name: str, about: str, of: str, title: str) -> Figure | None:
    if isinstance(cell, Result):
        figure = Figure.of(cell, raters=tuple(filter(None, (of, about))), question=title)
        return Figure(**vars(figure) | {"name": name})
    if isinstance(cell, int):
        return Figure(name, float(cell), raters=tuple(filter(None, (of, about))), question=title)
    return None


def _as_count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


# Preferred systems, by people and judges; agreement on them; influence of position.

PREFERENCE_KEY = "preferences"
COUNTS = {f"preference_{name}" for name in ("wins", "ties", "losses", "decided", "in_both_orders")}
SHARES = {
    f"preference_{name}"
    for name in (
        *("win_rate", "expected_win_rate", "shown_first", "consistent", "for_first", "for_second"),
        *("otherwise", "percent_agreement"),
    )
}
ROUNDED = {"preference_strength", "preference_rank"}
UNWEIGHTED = (
    "People’s items were drawn with unequal probabilities. Preferences have no weighted form: figures with "
    "people are of the answered items only, not of all items."
)
BOTH_WAYS = (
    "Agreement counts every item in both orders, so the numbering of the responses does not matter. Kappa "
    "and alpha in a table of categories use the numbering as it is."
)


@dataclass(frozen=True)
class Rounded(Figure):
    """A number on a wide scale, shown without decimals."""

    digits: ClassVar[int] = 0
    end_digits: ClassVar[int] = 0


def preference_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables of a question: systems, wins between pairs of systems, position, agreement."""
    selected, switches = select_question(headed(result, result.preferences), PREFERENCE_KEY, params)
    sheet_views: list[View] = []
    for title, table in selected:
        for place, sheet in enumerate(table.sheets):
            remarks = tuple(_preference_remarks(table, sheet, result, is_first=not place))
            key = table_key(PREFERENCE_KEY, question_key(table.ref), sheet.key, sheet.of)
            sheet_views.append(
                View(_preference_sheet(key, title, sheet), remarks, switches if not place else ())
            )
    return sheet_views


def _preference_sheet(key: str, title: str, sheet: PreferenceSheet) -> Table:
    rows = [
        Row(row.about, "", row.n_items, row.n_clusters, [cell and shown_as(cell) for cell in row.cells], True)
        for row in sheet.rows
    ]
    return tabulate(key, f"{title}: {sheet.title}", sheet.columns, rows, first=sheet.first)


def shown_as(figure: Figure) -> Figure:
    """Return a figure with the decimals of its kind."""
    if figure.name in COUNTS:
        return as_printed(figure, Count)
    if figure.name in SHARES:
        return as_printed(figure, Percent)
    return as_printed(figure, Rounded if figure.name in ROUNDED else Figure)


def _preference_remarks(
    table: PreferenceTable, sheet: PreferenceSheet, result: Snapshot, *, is_first: bool
) -> Iterator[str]:
    if is_first:
        yield f"{'; '.join(table.voters)}."
        yield from filter(None, [table.caveat])
        yield from method_lines(result.definition.preferences)
    if sheet.key == "agreement":
        yield BOTH_WAYS
    elif sheet.note:
        yield sheet.note


def preference_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `preference_...`, with the voters and the line's subject as raters."""
    for table in result.preferences:
        for sheet in table.sheets:
            for row in sheet.rows:
                for figure in row.cells:
                    if figure is not None:
                        yield CsvLine(table.ref, table.title, figure.name, figure)


PREFERENCES = Section(PREFERENCE_KEY, "preferred", preference_views, preference_lines, leads=True)
