"""The tables of a report, as rows of entries; pages and files lay them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from annotation.kinds import KINDS as ITEM_KINDS
from calibration.ratings.ratings import Answered
from calibration.reports.figures import (
    HUMAN,
    JUDGE,
    METRIC,
    QuestionFigures,
    crowd,
    figures,
    ok,
    replaced_text,
    worded,
)
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.wording import counted
from calibration.statistics import STATISTICS
from calibration.statistics.core.ratings import CATEGORIES
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.studies.disagreements import PEOPLE

KINDS = (HUMAN, JUDGE, METRIC, "key")
VERDICTS = {"passed": "passed", "not_passed": "not passed", "cannot_say": "cannot say"}


@dataclass(frozen=True)
class Cell(Figure):
    """A figure without a value, and the number of the note under its table that says why."""

    note: int = 0


@dataclass(frozen=True)
class Row:
    """One line: a question, who is compared with whom, what from, and an entry or None per column.

    `items` are the parameters that lead to the items behind it, empty where only judges are compared. Rows of
    one `heading` stand together under it.
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


@dataclass(frozen=True)
class Table:
    """A title, column keys with their headings, rows, and notes: why figures are missing, numbered from 1.

    `first` heads the rows' first column. Where no row says who is compared, there is no column for it. `over`
    are headings above the columns, each with how many it spans; `remarks` are sentences under the table.
    """

    title: str
    columns: list[tuple[str, str]]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: str = "Question"
    over: list[tuple[str, int]] = field(default_factory=list)
    remarks: tuple[str, ...] = ()

    @property
    def compares(self) -> bool:
        """Whether rows say who is compared."""
        return any(row.compared for row in self.rows)


def agreement(result: Snapshot) -> list[Table]:
    """Return people with people, judges with judges, and each judge with people, question by question.

    Tags and categories have a table of their own, beside that of scales: other statistics apply to them.
    """
    questions = label(figures(result))
    families = {
        "Agreement on tags and categories": [p for p in questions if p[1].data.level in CATEGORIES],
        "Agreement on scales": [p for p in questions if p[1].data.level not in CATEGORIES],
    }
    statistics = [name for name in STATISTICS if name in result.definition.statistics]
    agreement_tables = [
        _table(title, members, [*statistics, "gap", "with_mean"]) for title, members in families.items()
    ]
    agreement_tables.append(_replacement(questions))
    return [table for table in agreement_tables if table.rows]


def _replacement(questions: Sequence[tuple[str, QuestionFigures]]) -> Table:
    """Return the alternative annotator test of each judge: its verdict and figures, and why it is no pass."""
    rows: list[Row] = []
    notes: list[str] = []
    remarks: list[str] = []
    for title, question in questions:
        judges = [name for name in question.judging if question.replacement(name)]
        for place, judge in enumerate(judges):
            entry = question.replacement(judge)
            assert entry is not None
            of = {e.name: e for e in (entry, question.corrected(judge), question.advantage(judge)) if e}
            cells = [with_note(of.get(key), notes) for key in JUDGE_TESTS]
            verdict = question.stand_in(judge)
            state = verdict.state if verdict is not None else "cannot_say"
            compared = f"{judge}: {VERDICTS[state]}"
            if state == "passed":
                compared = f"{compared}, for {replaced_text(entry, question.crowd)}"
            elif verdict is not None and ok(entry):
                remarks.append(f"{judge} on {title} is not passed: {verdict.why}.")
            rows.append(replace(_row(title, question, compared, cells), first=place == 0))
    used = [n for n in range(len(JUDGE_TESTS)) if any(row.cells[n] is not None for row in rows)]
    rows = [replace(row, cells=[row.cells[n] for n in used]) for row in rows]
    columns = [(key, worded(key).heading) for key in JUDGE_TESTS]
    return Table(
        "Alternative annotator test", [columns[n] for n in used], rows, notes, remarks=tuple(remarks)
    )


def _table(title: str, questions: Sequence[tuple[str, QuestionFigures]], columns: list[str]) -> Table:
    """Return a table without the columns that nothing fills, its missing figures explained in notes."""
    rows = [row for name, question in questions for row in _rows(name, question, columns)]
    used = [i for i, _ in enumerate(columns) if any(row.cells[i] is not None for row in rows)]
    notes: list[str] = []
    for row in rows:
        row.cells[:] = [with_note(row.cells[i], notes) for i in used]
    people = crowd(question for _, question in questions)
    others = {"gap": "Gap", "with_mean": f"{worded('spearman').symbol}, {people.own} mean"}
    headings = [(key, others.get(key) or worded(key).heading) for key in columns]
    return Table(title, [headings[i] for i in used], rows, notes)


def with_note(entry: Figure | None, notes: list[str]) -> Figure | None:
    """Return an entry with the number of the note that says why it has no value."""
    if entry is None or entry.ok:
        return entry
    if entry.reason not in notes:
        notes.append(entry.reason)
    return Cell(**vars(entry), note=notes.index(entry.reason) + 1)


def _rows(title: str, question: QuestionFigures, columns: Sequence[str]) -> list[Row]:
    rows = []
    if len(question.people) > 1:
        cells = [_people_cell(question, column) for column in columns]
        compared = question.counted_in(next((cell for cell in cells if cell), None))
        rows.append(_row(title, question, compared, cells, items_params(question, PEOPLE, PEOPLE)))
    for judge in question.judging:
        cells = [_judge_cell(question, judge, column) for column in columns]
        if any(cells):
            gap = question.gap(question.headline, judge)
            absent = question.missing_from(gap) if gap else []
            compared = f"{judge} with {question.counted_in(gap) if absent else question.crowd.many}"
            items = items_params(question, judge, PEOPLE) if judge in question.names(JUDGE) else ""
            rows.append(_row(title, question, compared, cells, items))
    if not question.people and len(question.names(JUDGE)) > 1:
        cells = [question.among(column, JUDGE) if column in STATISTICS else None for column in columns]
        rows.append(_row(title, question, counted(len(question.names(JUDGE)), "judge"), cells))
    return [_first(row) if n == 0 else row for n, row in enumerate(rows)]


def _first(row: Row) -> Row:
    return replace(row, first=True)


def items_params(question: QuestionFigures, a: str, b: str) -> str:
    """Return the parameters of the page with the items on which two raters (or PEOPLE) differ."""
    return urlencode({"question": question.data.ref, "a": a, "b": b})


def _row(
    title: str, question: QuestionFigures, compared: str, cells: list[Figure | None], items: str = ""
) -> Row:
    counted_cells = [cell for cell in cells if cell and not _reads_singles(cell)] or [
        cell for cell in cells if cell
    ]
    n_items = max((cell.n_items for cell in counted_cells), default=0)
    clusters = max((cell.n_clusters for cell in counted_cells), default=0)
    return Row(title, compared, n_items, clusters, cells, pooled=bool(question.data.pooled), items=items)


def _reads_singles(cell: Figure) -> bool:
    """Whether a figure counts items that one person rated: its n is not that of its row."""
    return cell.name in STATISTICS and STATISTICS[cell.name].reads_singles


def _people_cell(question: QuestionFigures, column: str) -> Figure | None:
    return question.among(column) if column in STATISTICS else None


def _judge_cell(question: QuestionFigures, judge: str, column: str) -> Figure | None:
    if column == "with_mean":
        return question.with_mean(judge)
    if column == "gap":
        return question.gap(question.headline, judge)
    return question.with_people(column, judge)


def metrics(result: Snapshot) -> Table | None:
    """Return each metric with the people's mean, by the study's statistics of order; None without metrics.

    A metric has a scale of its own, so other statistics say nothing of it.
    """
    questions = label(figures(result))
    order_statistics = [
        key for key, s in STATISTICS.items() if not s.needs_scale and key in result.definition.statistics
    ]
    columns = order_statistics or ["spearman"]
    notes: list[str] = []
    rows: list[Row] = []
    for title, question in questions:
        first = True
        for name in question.names(METRIC):
            cells = [question.with_mean(name, key) for key in columns]
            if any(cells):
                noted_cells = [with_note(cell, notes) for cell in cells]
                row = _row(title, question, name, noted_cells, items_params(question, name, PEOPLE))
                rows.append(replace(row, first=first))
                first = False
    own = crowd(question for _, question in questions)
    heads = [(key, f"{worded(key).heading}, {own.own} mean") for key in columns]
    return Table(f"Metrics with {own.many}", heads, rows, notes) if rows else None


def label(questions: Sequence[QuestionFigures]) -> list[tuple[str, QuestionFigures]]:
    """Return each question with a heading of its own: where two share one, what they are about is added."""
    out = []
    for question in questions:
        same = [q for q in questions if q.title == question.title]
        title = question.title
        if len(same) > 1:
            kinds = {q.data.item_kind for q in same}
            plural = ITEM_KINDS[question.data.item_kind].plural
            about = plural if len(kinds) == len(same) else question.data.scheme_title
            title = f"{title} ({about})"
        out.append((title, question))
    return out


@dataclass(frozen=True, slots=True)
class WhoAnswered:
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


def raters(result: Snapshot) -> list[WhoAnswered]:
    """List the raters who answered, people first, also where nothing was compared."""
    return [_answered(rater) for kind in KINDS for rater in result.answered if rater.kind == kind]


def _answered(rater: Answered) -> WhoAnswered:
    answered = [question for question in rater.questions if question.n]
    return WhoAnswered(
        rater.name,
        rater.kind,
        rater.identified,
        rater.simulated,
        titles=tuple(dict.fromkeys(question.title for question in answered)),
        questions=len(answered),
        n=sum(question.n for question in answered),
        missing=sum(question.missing for question in rater.questions),
        samples=max(question.samples for question in rater.questions),
    )
