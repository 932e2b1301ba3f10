"""Tables of a report in every format, the sections that contain them, and the tables of agreement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, ClassVar, Literal, Protocol, TypeVar
from urllib.parse import urlencode

from annotation.text.display import p_value
from calibration.ratings.ratings import Answered
from calibration.reports.charts import Chart
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    QuestionFigures,
    crowd,
    figures,
    label,
    ok,
    replaced_text,
    worded,
)
from calibration.reports.names import key_of
from calibration.reports.results import Figure, recorded
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import counted, join_names, units
from calibration.statistics import STATISTICS
from calibration.statistics.core.ratings import CATEGORIES
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.statistics.verdicts import State

# Rows of figures.

PEOPLE = "kind:human"
"""Stands for all people at once in place of a rater's name."""


@dataclass(frozen=True)
class Cell(Figure):
    """A figure without a value, with the number of the note under its table that gives the reason."""

    note: int = 0


@dataclass(frozen=True)
class Row:
    """One line: a question, the raters compared, the numbers of items, and a figure or None per column.

    `items` are the parameters of the link to its items, empty if only judges are compared. Rows of one
    `heading` stand together under it. `among_people`: it compares people with each other.
    """

    question: str
    compared: str
    n_items: int
    n_clusters: int
    cells: list[Figure | None]
    first: bool = False
    pooled: bool = False
    items: str = ""
    heading: str = ""
    among_people: bool = False


@dataclass(frozen=True)
class Table:
    """A title, column keys with headings, rows, and numbered notes on why figures are missing.

    `key` is its address: unique in a report, and the same in every report of a study. `caption` is the text
    for a paper, in place of the title.
    `first` heads the rows' first column, `second` that of the raters compared, which is there if a row names
    any.
    `over` are headings above the columns, each with the number it spans; `remarks` are sentences under the
    table.
    """

    key: str
    title: str
    columns: list[tuple[str, str]]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: str = "Question"
    second: str = "Who"
    over: list[tuple[str, int]] = field(default_factory=list)
    remarks: tuple[str, ...] = ()
    caption: str = ""

    @property
    def compares(self) -> bool:
        """Whether rows name the raters compared."""
        return any(row.compared for row in self.rows)


PLAIN = re.compile(r"[a-z0-9_]+(-[a-z0-9_]+)*")


def table_key(*parts: str) -> str:
    """Join the parts of a table's key: its section, its question, its variant.

    A part other than small letters, digits and underscores is followed by a digest, so that no two names
    share a key. A rater's title counts as its name.
    """
    return "-".join(_key_part(key_of(part)) for part in parts if part)


def _key_part(part: str) -> str:
    if PLAIN.fullmatch(part):
        return part
    letters = re.sub(r"[^a-z0-9_]+", "-", part.lower()).strip("-")[:40]
    return f"{letters}-{sha256(part.encode()).hexdigest()[:6]}".lstrip("-")


def question_key(ref: str) -> str:
    """Return the part of a table's key for a question, or for a scheme: `tags-1-repetition`."""
    return table_key(*re.split("[@/]", ref))


def tabulate(
    key: str,
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Row],
    *,
    first: str = "Question",
    second: str = "Who",
    over: Sequence[tuple[str, int]] = (),
    remarks: Sequence[str] = (),
) -> Table:
    """Build a table whose figures without a value refer to numbered notes with the reason."""
    notes: list[str] = []
    noted = [replace(row, cells=[with_note(cell, notes) for cell in row.cells]) for row in rows]
    return Table(key, title, list(columns), noted, notes, first, second, list(over), tuple(remarks))


def with_note(entry: Figure | None, notes: list[str]) -> Figure | None:
    """Return an entry with the number of the note that says why it has no value."""
    if entry is None or entry.ok:
        return entry
    if entry.reason not in notes:
        notes.append(entry.reason)
    return Cell(**vars(entry), note=notes.index(entry.reason) + 1)


def filled(
    columns: Sequence[tuple[str, str]], rows: Sequence[Row]
) -> tuple[list[tuple[str, str]], list[Row]]:
    """Drop the columns that no row fills."""
    used = [at for at in range(len(columns)) if any(row.cells[at] is not None for row in rows)]
    return [columns[at] for at in used], [replace(row, cells=[row.cells[at] for at in used]) for row in rows]


# Verdicts as pages show them.


@dataclass(frozen=True)
class VerdictRow:
    """A verdict with its figures, each a value with small print, in the order of its table's columns.

    `by` is small print under the title. `step` says what to do next and links to `href` if there is one.
    `word` replaces the usual word for the state.
    """

    title: str
    by: str
    state: State
    figures: tuple[tuple[str, str], ...]
    reason: str
    step: str = ""
    href: str = ""
    word: str = ""


@dataclass(frozen=True)
class VerdictTable:
    """Verdicts of a report; rows after the first `leading` are shown on request if there are many."""

    first: str
    columns: tuple[str, ...]
    rows: tuple[VerdictRow, ...]
    leading: int = 12

    @property
    def groups(self) -> list[list[tuple[VerdictRow, list[tuple[str, str, str]]]]]:
        """Return the leading rows and the others, each with its figures by heading."""
        lines = [
            (row, [(head, *texts) for head, texts in zip(self.columns, row.figures, strict=True)])
            for row in self.rows
        ]
        return [lines[: self.leading], lines[self.leading :]] if len(lines) > self.leading else [lines]


# Formats of a table's figures other than three decimals and an interval.


@dataclass(frozen=True)
class Bare(Figure):
    """A figure that has no interval by its nature."""

    bare: ClassVar[bool] = True


@dataclass(frozen=True)
class PValue(Bare):
    """The p-value of a test: with 2,000 swaps the least is 0.0005."""

    digits: ClassVar[int] = 4

    @property
    def text(self) -> str:
        """The p-value, formatted."""
        return p_value(self.point)


@dataclass(frozen=True)
class Percent(Figure):
    """A share shown in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class Count(Bare):
    """A number of items."""

    digits: ClassVar[int] = 0


Printed = TypeVar("Printed", bound=Figure)


def as_printed(figure: Figure, kind: type[Printed]) -> Printed:
    """Return a figure with the decimals of its kind."""
    return kind(**{attribute.name: getattr(figure, attribute.name) for attribute in fields(Figure)})


def count(name: str, number: int, like: Figure | None = None) -> Count:
    """Return a number as a figure of a table, with the items and clusters of another figure."""
    n_items, n_clusters = (like.n_items, like.n_clusters) if like else (0, 0)
    return Count(name, float(number), n_items=n_items, n_clusters=n_clusters)


# Sections: tables on one subject, shown in every format of a report.

PageParams = Mapping[str, str]
"""Switches of the page for its tables, by name."""


@dataclass(frozen=True, slots=True)
class CsvLine:
    """A line of the CSV: the reference and the title of the question, and a figure by name."""

    ref: str
    title: str
    name: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Switch:
    """Another way to show a table: its label, its parameters in the address, and whether it is current."""

    words: str
    params: Mapping[str, str]
    current: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A table of a section as it is shown, with the remarks under it.

    A table without rows is not drawn: `remarks` then say why. `folded` tables are shown on request under it.
    `template` shows, under the tables, what is none (a chart, notes); it receives this view as `view`, and
    reads `data`. `lead` is a sentence above the table.
    """

    table: Table
    remarks: tuple[str, ...] = ()
    switches: tuple[Switch, ...] = ()
    template: str = ""
    data: Any = None
    folded: tuple[Table, ...] = ()
    lead: str = ""

    @property
    def has_content(self) -> bool:
        """Whether it shows a figure, or counts if its table holds nothing else."""
        cells = [cell for row in self.table.rows for cell in row.cells if cell]
        substantial = [cell for cell in cells if not isinstance(cell, Count)] or cells
        return bool(self.data or self.folded) or any(cell.ok for cell in substantial)

    @property
    def why_empty(self) -> str:
        """Text in place of a view without content: its title and the reasons."""
        why = "; ".join(self.table.notes) or " ".join(self.remarks).rstrip(".") or "no figures"
        return f"{self.table.title}: {why}."


Topic = Literal[
    "preferred",
    "humans-agree",
    "judge-agrees",
    "failures",
    "biased",
    "by-system",
    "better",
    "calibrated",
    "rater-by-rater",
    "by-level",
    "paper-tables",
    "method",
]
"""Question of a reader that a section helps to answer; the anchor of its fold on the page."""


def no_charts(result: Snapshot) -> Sequence[Chart]:
    """Return no charts, for a section without any."""
    return ()


def no_tables(result: Snapshot) -> Sequence[Table]:
    """Return no tables, for a section whose page and files show the same ones."""
    return ()


@dataclass(frozen=True, slots=True)
class Section:
    """Tables on one subject. `key` is its anchor on the page.

    `views` takes the switches of the page, or None for files, which show every variant. `lines` are all its
    figures, unrounded. `page_tables` are tables that only the page shows. A section that `leads` is the
    purpose of its study: it stands first in files and is open on the page, which gathers sections by `topic`.
    The JSON holds the field of the snapshot, so it needs no function.
    """

    key: str
    topic: Topic
    views: Callable[[Snapshot, PageParams | None], Sequence[View]]
    lines: Callable[[Snapshot], Iterable[CsvLine]]
    charts: Callable[[Snapshot], Sequence[Chart]] = no_charts
    leads: bool = False
    page_tables: Callable[[Snapshot], Sequence[Table]] = no_tables


# One question at a time on the page, all of them in files.


class OfQuestion(Protocol):
    """Any record of one question in a report."""

    @property
    def ref(self) -> str: ...
    @property
    def title(self) -> str: ...


T = TypeVar("T", bound=OfQuestion)


def headed(result: Snapshot, records: Sequence[T]) -> list[tuple[str, T]]:
    """Pair each record with its question's heading, in the order of the report."""
    titles = {question.data.ref: title for title, question in label(figures(result))}
    order = list(titles)
    titled = [(titles.get(record.ref, record.title), record) for record in records]
    return sorted(titled, key=lambda pair: order.index(pair[1].ref) if pair[1].ref in order else len(order))


def select_question(
    titled: Sequence[tuple[str, T]], key: str, params: PageParams | None
) -> tuple[list[tuple[str, T]], tuple[Switch, ...]]:
    """Return the selected question with switches to the others; for files every question.

    `key` is the name of the switch in the address. An unknown question selects the first.
    """
    refs = dict.fromkeys(record.ref for _, record in titled)
    if params is None or len(refs) < 2:
        return list(titled), ()
    ref = params.get(key)
    ref = ref if ref in refs else next(iter(refs))
    words = {record.ref: title for title, record in titled}
    switches = tuple(Switch(words[other], {key: other}, other == ref) for other in refs)
    return [pair for pair in titled if pair[1].ref == ref], switches


# Rows of one question on the same items stand together, under a heading that says which items.

Columns = Sequence[tuple[str, str]]
WITH_MEAN = "with_mean"
"""Key of the column of correlations with the people's mean."""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that figures rest on: their number, and how many people rated each at least (0: judges alone).

    `answered` is the digest of the items of a rater who did not answer all of these, "" otherwise; `read_by`
    is `Fleiss’ kappa reads` for statistics that read only some of the items that their raters answered.
    """

    n: int
    least: int
    answered: str = ""
    read_by: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one question that rest on the same items, with their heading."""

    heading: str
    rows: tuple[Row, ...]


def answered_items(question: QuestionFigures, rater: str, least: int) -> ItemSet:
    """Return the items that a rater answered, of those rated by at least one or two people."""
    answerer = question.rater(rater)
    if question.data.people_items == question.data.shared_items:
        least = 2
    n, everything = (
        (answerer.n_shared, question.data.shared_items)
        if least == 2
        else (answerer.n_of_people, question.data.people_items)
    )
    if least == 1 and n and answerer.n_shared == n:
        return answered_items(question, rater, 2)
    return ItemSet(n, least, "" if n == everything else answerer.answered_items)


def split_row(row: Row, columns: Columns, items: ItemSet, rater: str) -> list[tuple[ItemSet, str, Row]]:
    """Split a row into figures that rest on these items, and others by the number of items they read.

    Figures without a value stand with the first. Each part comes with its items and the rater it is about.
    """
    by_number: dict[int, list[int]] = {items.n: []}
    for at, cell in enumerate(row.cells):
        n = items.n if cell is None or not cell.ok or _reads_singles(cell) else cell.n_items
        by_number.setdefault(n, []).append(at)
    if not any(ok(row.cells[at]) for at in by_number[items.n]) and len(by_number) > 1:
        own = by_number.pop(items.n)
        next(iter(by_number.values())).extend(own)
    parts = []
    for n, places in by_number.items():
        cells = [cell if at in places else None for at, cell in enumerate(row.cells)]
        if not any(cells):
            continue
        part = items
        if n != items.n:
            keys = [columns[at] for at, cell in enumerate(cells) if cell and cell.ok]
            names = [worded(key).name if key in STATISTICS else heading for key, heading in keys]
            part = replace(
                items, n=n, read_by=f"{join_names(names)} {'reads' if len(names) == 1 else 'read'}"
            )
        parts.append((part, rater, _counted_row(row, cells)))
    return parts


def grouped(
    title: str,
    question: QuestionFigures,
    placed: Sequence[tuple[ItemSet, str, Row]],
    columns: Columns = (),
) -> list[Group]:
    """Group rows by their items; people on the items that a rater answered come first, for `columns`."""
    by_items: dict[ItemSet, list[tuple[str, Row]]] = {}
    for items, rater, row in placed:
        by_items.setdefault(items, []).append((rater, row))
    groups = []
    for items, members in by_items.items():
        names = list(dict.fromkeys(rater for rater, _ in members if rater))
        rows = [row for _, row in members]
        if items.answered and items.least == 2 and not items.read_by and columns:
            rows = [*_people_beside(title, question, names[0], columns, items), *rows]
        groups.append(Group(_heading(title, question, items, names), tuple(rows)))
    return groups


def _people_beside(
    title: str, question: QuestionFigures, rater: str, columns: Columns, items: ItemSet
) -> list[Row]:
    """Return people with people on the items that a rater answered; nothing if no figure rests on them."""
    cells = [question.people_beside(key, rater) if key in STATISTICS else None for key, _ in columns]
    cells = [cell if cell and cell.n_items == items.n else None for cell in cells]
    if not any(cells):
        return []
    compared = question.counted_in(next(cell for cell in cells if cell))
    return [_row(title, question, compared, cells)]


def _heading(title: str, question: QuestionFigures, items: ItemSet, names: Sequence[str]) -> str:
    """Return `Overall · 208 of 400 turns rated by two people or more, those that gpt answered`."""
    kind, pooled = question.data.item_kind, question.data.pooled
    singular, many = question.crowd.units
    rated = {0: "two judges or more", 1: f"one {singular} or more", 2: f"two {many} or more"}[items.least]
    everything = {0: items.n, 1: question.data.people_items, 2: question.data.shared_items}[items.least]
    total = units(kind, everything, pooled=pooled)
    subset = [f"those that {join_names(names)} answered"] if items.answered else []
    subset += [f"those that {items.read_by}"] if items.read_by else []
    if not subset:
        return f"{title} · {total} rated by {rated}"
    return f"{title} · {items.n:,} of {total} rated by {rated}, {' and '.join(subset)}"


def under_headings(groups: Sequence[Group]) -> list[Row]:
    """Return the rows of all groups; with headings if a question has rows on different items."""
    questions = [row.question for group in groups for row in group.rows[:1]]
    several = len(set(questions)) < len(questions)
    rows: list[Row] = []
    for group in groups:
        for row in group.rows:
            first = not rows or rows[-1].question != row.question
            rows.append(replace(row, first=first, heading=group.heading if several else ""))
    return rows


# Agreement of people, of judges with people, and of metrics.

KINDS = (HUMAN, JUDGE, METRIC, "key")
VERDICTS = {"passed": "passed", "not_passed": "not passed", "cannot_say": "cannot say"}


def agreement(result: Snapshot) -> list[Table]:
    """Return people with people, judges with judges, and each judge with people, question by question.

    Tags and categories have their own table beside that of scales, because other statistics apply to them.
    """
    questions = label(figures(result))
    families = {
        ("agreement-categories", "Agreement on tags and categories"): [
            pair for pair in questions if pair[1].data.level in CATEGORIES
        ],
        ("agreement-scales", "Agreement on scales"): [
            pair for pair in questions if pair[1].data.level not in CATEGORIES
        ],
    }
    statistics = [name for name in STATISTICS if name in result.definition.statistics]
    agreement_tables = [
        _table(key, title, members, [*statistics, "gap", WITH_MEAN])
        for (key, title), members in families.items()
    ]
    agreement_tables.append(_replacement(questions))
    return [table for table in agreement_tables if table.rows]


def of_people(table: Table) -> Table:
    """Return the rows of a table of agreement that compare people with each other, a part without files."""
    columns, rows = filled(table.columns, [row for row in table.rows if row.among_people])
    used = sorted({cell.note for row in rows for cell in row.cells if isinstance(cell, Cell)})
    numbers = {note: number for number, note in enumerate(used, 1)}
    rows = [
        replace(
            row,
            cells=[
                replace(cell, note=numbers[cell.note]) if isinstance(cell, Cell) else cell
                for cell in row.cells
            ],
        )
        for row in rows
    ]
    return replace(table, key="", columns=columns, rows=rows, notes=[table.notes[note - 1] for note in used])


def _replacement(questions: Sequence[tuple[str, QuestionFigures]]) -> Table:
    """Return the alternative annotator test of each judge: verdict, figures, and reason if not passed."""
    columns = [(key, worded(key).heading) for key in JUDGE_TESTS]
    groups: list[Group] = []
    remarks: list[str] = []
    for title, question in questions:
        placed: list[tuple[ItemSet, str, Row]] = []
        judges = [name for name in question.judging if question.replacement(name)]
        for judge in judges:
            entry = question.replacement(judge)
            assert entry is not None
            of = {e.name: e for e in (entry, question.corrected(judge), question.advantage(judge)) if e}
            cells = [of.get(key) for key in JUDGE_TESTS]
            verdict = question.stand_in(judge)
            state = verdict.state if verdict is not None else "cannot_say"
            compared = f"{judge}: {VERDICTS[state]}"
            if state == "passed":
                compared = f"{compared}, for {replaced_text(entry, question.crowd)}"
            elif verdict is not None and ok(entry):
                remarks.append(f"{judge} does not pass on {title}: {verdict.why}.")
            row = _row(title, question, compared, cells)
            placed += split_row(row, columns, answered_items(question, judge, 2), judge)
        groups += grouped(title, question, placed)
    columns, rows = filled(columns, under_headings(groups))
    return tabulate("replacement", "Alternative annotator test", columns, rows, remarks=remarks)


def _table(
    key: str, title: str, questions: Sequence[tuple[str, QuestionFigures]], statistics: list[str]
) -> Table:
    """Return a table without the columns that no row fills."""
    people = crowd(question for _, question in questions)
    others = {"gap": "Gap", WITH_MEAN: f"{worded('spearman').symbol}, {people.own} mean"}
    columns = [(name, others.get(name) or worded(name).heading) for name in statistics]
    groups = [group for name, question in questions for group in _groups(name, question, columns)]
    return tabulate(key, title, *filled(columns, under_headings(groups)))


def _groups(title: str, question: QuestionFigures, columns: Columns) -> list[Group]:
    keys = [key for key, _ in columns]
    placed: list[tuple[ItemSet, str, Row]] = []
    if len(question.people) > 1:
        cells = [_people_cell(question, key) for key in keys]
        compared = question.counted_in(next((cell for cell in cells if cell), None))
        row = _row(title, question, compared, cells, items_params(question, PEOPLE, PEOPLE))
        row = replace(row, among_people=True)
        placed += split_row(row, columns, ItemSet(question.data.shared_items, 2), "")
    for judge in question.judging:
        cells = [_judge_cell(question, judge, key) for key in keys]
        if any(cells):
            gap = question.gap(question.headline, judge)
            absent = question.missing_from(gap) if gap else []
            compared = f"{judge} with {question.counted_in(gap) if absent else question.crowd.many}"
            items = items_params(question, judge, PEOPLE) if judge in question.names(JUDGE) else ""
            row = _row(title, question, compared, cells, items)
            placed += _split_judge(row, columns, question, judge)
    if not question.people and len(question.names(JUDGE)) > 1:
        cells = [question.among(key, JUDGE) if key in STATISTICS else None for key in keys]
        row = _row(title, question, counted(len(question.names(JUDGE)), "judge"), cells)
        placed.append((ItemSet(row.n_items, 0), "", row))
    return grouped(title, question, placed, columns)


def _split_judge(
    row: Row, columns: Columns, question: QuestionFigures, judge: str
) -> list[tuple[ItemSet, str, Row]]:
    """Split a judge's row: the correlation with the people's mean also reads items that one person rated."""
    any_person, shared = answered_items(question, judge, 1), answered_items(question, judge, 2)
    if len(question.people) < 2 or any_person == shared:
        return split_row(row, columns, any_person, judge)
    is_mean = [key == WITH_MEAN for key, _ in columns]
    rest = [None if mean else cell for mean, cell in zip(is_mean, row.cells, strict=True)]
    with_mean = [cell if mean else None for mean, cell in zip(is_mean, row.cells, strict=True)]
    return [
        *split_row(replace(row, cells=rest), columns, shared, judge),
        *split_row(replace(row, cells=with_mean), columns, any_person, judge),
    ]


def items_params(question: QuestionFigures, a: str, b: str) -> str:
    """Return the parameters of the page with the items on which two raters (or PEOPLE) differ."""
    return urlencode({"question": question.data.ref, "a": key_of(a), "b": key_of(b)})


def _row(
    title: str, question: QuestionFigures, compared: str, cells: list[Figure | None], items: str = ""
) -> Row:
    row = Row(title, compared, 0, 0, cells, pooled=bool(question.data.pooled), items=items)
    return _counted_row(row, cells)


def _counted_row(row: Row, cells: list[Figure | None]) -> Row:
    """Return a row with other cells, and the numbers of items and clusters that these rest on."""
    counted_cells = [cell for cell in cells if cell and not _reads_singles(cell)] or [
        cell for cell in cells if cell
    ]
    n_items = max((cell.n_items for cell in counted_cells), default=0)
    clusters = max((cell.n_clusters for cell in counted_cells), default=0)
    return replace(row, cells=cells, n_items=n_items, n_clusters=clusters)


def _reads_singles(cell: Figure) -> bool:
    """Whether a figure counts items that only one person rated, so that its n is not that of its row."""
    return cell.name in STATISTICS and STATISTICS[cell.name].reads_singles


def _people_cell(question: QuestionFigures, column: str) -> Figure | None:
    return question.among(column) if column in STATISTICS else None


def _judge_cell(question: QuestionFigures, judge: str, column: str) -> Figure | None:
    if column == WITH_MEAN:
        return question.with_mean(judge)
    if column == "gap":
        return question.gap(question.headline, judge)
    return question.with_people(column, judge)


def metrics(result: Snapshot) -> Table | None:
    """Return each metric with the people's mean, by the study's rank statistics; None without metrics.

    A metric has its own scale, so other statistics do not apply.
    """
    questions = label(figures(result))
    order_statistics = [
        key for key, s in STATISTICS.items() if not s.needs_scale and key in result.definition.statistics
    ]
    columns = order_statistics or ["spearman"]
    own = crowd(question for _, question in questions)
    heads = [(key, f"{worded(key).heading}, {own.own} mean") for key in columns]
    groups: list[Group] = []
    for title, question in questions:
        placed: list[tuple[ItemSet, str, Row]] = []
        for name in question.names(METRIC):
            cells = [question.with_mean(name, key) for key in columns]
            if any(cells):
                row = _row(title, question, name, cells, items_params(question, name, PEOPLE))
                placed += split_row(row, heads, answered_items(question, name, 1), name)
        groups += grouped(title, question, placed)
    rows = under_headings(groups)
    return tabulate("metrics", f"Metrics with {own.many}", heads, rows) if rows else None


FEW_TITLES = 4


@dataclass(frozen=True, slots=True)
class AnsweringRater:
    """A rater over all questions: their titles and number, items answered, answers missing, samples."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    titles: tuple[str, ...]
    questions: int
    n: int
    missing: int
    samples: int

    @property
    def described(self) -> str:
        """Kind of rater: `human, unidentified`."""
        unidentified = "" if self.identified else ", unidentified"
        return f"{self.kind}{unidentified}{', simulated' if self.simulated else ''}"

    @property
    def answered(self) -> str:
        """Titles of a few questions, or the number of many."""
        return ", ".join(self.titles) if self.titles and self.questions <= FEW_TITLES else str(self.questions)


def raters(result: Snapshot) -> list[AnsweringRater]:
    """List the raters who answered, people first, including those who were not compared."""
    return [_answered(rater) for kind in KINDS for rater in result.answered if rater.kind == kind]


def _answered(rater: Answered) -> AnsweringRater:
    answered = [question for question in rater.questions if question.n]
    return recorded(
        AnsweringRater,
        rater,
        titles=tuple(dict.fromkeys(question.title for question in answered)),
        questions=len(answered),
        n=sum(question.n for question in answered),
        missing=sum(question.missing for question in rater.questions),
        samples=max(question.samples for question in rater.questions),
    )
