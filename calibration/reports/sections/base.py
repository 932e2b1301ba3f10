"""What a section of a report is: tables from a field of the snapshot, shown in every form of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.reports.charts import Chart
from calibration.reports.sections.cells import Count
from calibration.reports.snapshot import Figure, Snapshot
from calibration.reports.tables import Table

Asked = Mapping[str, str]
"""The switches of the page that a table was asked with, by name."""

Line = tuple[str, str, str, Figure]
"""A line of the CSV: which question (its reference and title), the figure's name, the figure."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Another way to show a table: its words, its place in the address, and whether it is the present one."""

    words: str
    asked: Mapping[str, str]
    current: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A table of a section as it is shown, with what is said under it.

    A table without rows is not drawn: `what` then says why. `template` shows, under the table, what is not a
    table (a confusion matrix, notes); it is given this view as `view`, and reads `data`.
    """

    table: Table
    what: tuple[str, ...] = ()
    switches: tuple[Switch, ...] = ()
    template: str = ""
    data: Any = None

    @property
    def has_content(self) -> bool:
        """Whether it shows a figure, or counts where its table holds nothing else."""
        cells = [cell for row in self.table.rows for cell in row.cells if cell]
        told = [cell for cell in cells if not isinstance(cell, Count)] or cells
        return self.data is not None or any(cell.ok for cell in told)

    @property
    def why_empty(self) -> str:
        """What is said in place of a view without content: its title and the reasons."""
        why = "; ".join(self.table.notes) or " ".join(self.what).rstrip(".") or "there is nothing to show"
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
    views: Callable[[Snapshot, Asked | None], Sequence[View]]
    lines: Callable[[Snapshot], Iterable[Line]]
    charts: Callable[[Snapshot], Sequence[Chart]] = no_charts
    leads: bool = False
