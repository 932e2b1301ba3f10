"""What a section of a report is: tables from a field of the snapshot, shown in every form of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from calibration.reports.charts import Chart
from calibration.reports.contents import Figure
from calibration.reports.figures import figures
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Table, label

# Figures of sections that stand without an interval.


@dataclass(frozen=True)
class Bare(Figure):
    """A figure that has no interval by its nature."""

    bare: ClassVar[bool] = True


@dataclass(frozen=True)
class PValue(Bare):
    """The p-value of a test: with 2,000 swaps the least is 0.0005."""

    digits: ClassVar[int] = 4


@dataclass(frozen=True)
class Count(Bare):
    """A number of items."""

    digits: ClassVar[int] = 0


def count(name: str, number: int, like: Figure | None = None) -> Count:
    """Return a number as a figure of a table; its items and clusters are those of another figure."""
    n_items, n_clusters = (like.n_items, like.n_clusters) if like else (0, 0)
    return Count(name, float(number), n_items=n_items, n_clusters=n_clusters)


PageParams = Mapping[str, str]
"""The switches of the page that a table was asked with, by name."""


@dataclass(frozen=True, slots=True)
class CsvLine:
    """A line of the CSV: the reference and the title of the question, and a figure by name."""

    ref: str
    title: str
    name: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Switch:
    """Another way to show a table: its words, its place in the address, and whether it is the present one."""

    words: str
    params: Mapping[str, str]
    current: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A table of a section as it is shown, with the remarks under it.

    A table without rows is not drawn: `remarks` then say why. `template` shows, under the table, what is no
    table (a confusion matrix, notes); it is given this view as `view`, and reads `data`.
    """

    table: Table
    remarks: tuple[str, ...] = ()
    switches: tuple[Switch, ...] = ()
    template: str = ""
    data: Any = None

    @property
    def has_content(self) -> bool:
        """Whether it shows a figure, or counts where its table holds nothing else."""
        cells = [cell for row in self.table.rows for cell in row.cells if cell]
        substantial = [cell for cell in cells if not isinstance(cell, Count)] or cells
        return self.data is not None or any(cell.ok for cell in substantial)

    @property
    def why_empty(self) -> str:
        """What is said in place of a view without content: its title and the reasons."""
        why = "; ".join(self.table.notes) or " ".join(self.remarks).rstrip(".") or "there is nothing to show"
        return f"{self.table.title}: {why}."


def no_charts(result: Snapshot) -> Sequence[Chart]:
    """Return the charts of a section that has none."""
    return ()


@dataclass(frozen=True, slots=True)
class Section:
    """Tables on one matter. `key` is its anchor on the page.

    `views` is asked with the switches of the page, or with None for files, which show every way there is.
    `lines` are all its figures, unrounded. A section that `leads` stands before the charts and tables of
    agreement: it is what its study was made for. The JSON holds the field of the snapshot, so it needs no
    function.
    """

    key: str
    views: Callable[[Snapshot, PageParams | None], Sequence[View]]
    lines: Callable[[Snapshot], Iterable[CsvLine]]
    charts: Callable[[Snapshot], Sequence[Chart]] = no_charts
    leads: bool = False


# One question at a time on the page, all of them in files.


class OfQuestion(Protocol):
    """Whatever a report holds of one question."""

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
    """Return the question that the page asks for, with the way to the others; for files every question.

    `key` is the name of the switch in the address. A question that is not there gives the first.
    """
    refs = dict.fromkeys(record.ref for _, record in titled)
    if params is None or len(refs) < 2:
        return list(titled), ()
    ref = params.get(key)
    ref = ref if ref in refs else next(iter(refs))
    words = {record.ref: title for title, record in titled}
    switches = tuple(Switch(words[other], {key: other}, other == ref) for other in refs)
    return [pair for pair in titled if pair[1].ref == ref], switches
