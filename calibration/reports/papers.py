"""Tables of the papers: a study's figures in the rows and columns of a published table, with a caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calibration.ratings.definitions import TURN
from calibration.reports import behaviours, levels
from calibration.reports.figures import JUDGE, crowd, figures, worded
from calibration.reports.results import LevelRow, LevelTable
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Table, question_key, table_key
from calibration.reports.wording import counted, join_names
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.level_scores import Level
from calibration.statistics.permutation import Correlation


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper: its paper and number, and its subject where the report has several of it."""

    paper: str
    number: int
    table: Table
    subject: str = ""

    @property
    def label(self) -> str:
        """Text of the link to it: `CoCoEval table 7`, `CoCoEval table 7, gpt`."""
        name = f"{self.paper} table {self.number}"
        return f"{name}, {self.subject}" if self.subject else name


def paper_tables(result: Snapshot) -> list[PaperTable]:
    """Return the tables of papers that a report has the figures for, paper by paper."""
    return [*_cocoeval(result), *_comperdial(result)]


# CoCoEval, table 7: each judge's tags against people's.


def _cocoeval(result: Snapshot) -> list[PaperTable]:
    tag_tables = [table for table in result.tags if table.policy == behaviours.DEFAULT and table.rows]
    several, people = len(tag_tables) > 1, crowd(figures(result))
    schemes = len({table.scheme for table in tag_tables})
    return [
        PaperTable(
            "CoCoEval",
            7,
            behaviours.table_seven(table, people, percent=True, among_people=False),
            (f"{table.judge}, {table.scheme_title}" if schemes > 1 else table.judge) if several else "",
        )
        for table in tag_tables
    ]


# ComperDial, tables 3 to 6: correlations with people's labels of turns (3, 4, 6) or of dialogues (5).


@dataclass(frozen=True, slots=True)
class Layout:
    """A table of ComperDial: the labels it is about, its columns, its rows, and the text for these."""

    number: int
    about: str
    levels: tuple[Level, ...]
    coefficients: tuple[Correlation, ...]
    rows: Callable[[Snapshot, LevelTable], Sequence[LevelRow]]
    raters: str


def _calls(result: Snapshot) -> dict[str, int]:
    """Return the most answers that each judge gave to one item."""
    return {
        rater.name: max((question.samples for question in rater.questions), default=1)
        for rater in result.answered
    }


def _of_one_call(result: Snapshot, table: LevelTable) -> list[LevelRow]:
    """Return the judges' rows whose scores are of one call each."""
    calls, first = _calls(result), result.definition.samples == "first"
    return [
        row
        for row in table.rows
        if row.kind == JUDGE
        and (row.samples.startswith("first") or (not row.samples and (first or calls.get(row.name, 1) == 1)))
    ]


def _of_mean_calls(result: Snapshot, table: LevelTable) -> list[LevelRow]:
    """Return all rows, without those of one call where there is one of the mean over calls, too."""
    return [row for row in table.rows if not row.samples.startswith("first")] or list(table.rows)


ALL: tuple[Correlation, ...] = ("pearson", "spearman", "kendall_tau_b")
COMPERDIAL = (
    Layout(3, TURN, ("turn", "system"), ALL[1:], _of_one_call, "judges that were called once"),
    Layout(4, TURN, ("turn", "system"), ALL, _of_mean_calls, "metrics and judges"),
    Layout(5, levels.DIALOGUE, ("dialogue", "system"), ALL, _of_mean_calls, "metrics, judges, turn labels"),
    Layout(6, TURN, ("turn",), ALL[:2], _of_mean_calls, "metrics and judges"),
)


def _comperdial(result: Snapshot) -> list[PaperTable]:
    published: list[PaperTable] = []
    for layout in COMPERDIAL:
        matching = [
            (table, rows)
            for table in result.levels
            if table.about == layout.about
            and table.reference == MEAN_OF_PEOPLE
            and set(layout.levels) <= set(table.levels)
            and (rows := layout.rows(result, table))
        ]
        published += [
            PaperTable(
                "ComperDial",
                layout.number,
                _laid_out(result, layout, table, rows),
                _subject(table) if len(matching) > 1 else "",
            )
            for table, rows in matching
        ]
    return published


def _subject(table: LevelTable) -> str:
    origin = levels.CONTINUATION_KINDS.get(table.made, "")
    return f"{table.title}, {origin}" if origin else table.title


def _laid_out(result: Snapshot, layout: Layout, table: LevelTable, rows: Sequence[LevelRow]) -> Table:
    own = levels.table_of(result, levels.narrowed(table, rows, layout.levels, layout.coefficients))
    labels = levels.labels_name(result, table)
    n_columns = len(layout.levels) * len(layout.coefficients)
    symbols = join_names([worded(name).symbol for name in layout.coefficients])
    units = {
        "turn": counted(table.n_turns, "turn"),
        "dialogue": counted(table.n_continuations, "continuation"),
        "system": counted(table.n_systems, "system"),
    }
    over = join_names([units[level] for level in layout.levels])
    return replace(
        own,
        key=table_key(f"comperdial_{layout.number}", question_key(table.question), table.made),
        title=f"ComperDial table {layout.number}: {_subject(table)}",
        columns=own.columns[:n_columns],
        rows=[replace(row, cells=row.cells[:n_columns]) for row in own.rows],
        over=own.over[: len(layout.levels)],
        remarks=levels.level_remarks(result, table),
        caption=f"Correlation ({symbols}) of {layout.raters} with {labels} on {table.title}, over {over}. "
        "Below each value its interval; * marks a p of 0.05 or more, bold the highest of a column.",
    )
