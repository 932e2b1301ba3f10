"""What a report keeps of preferences: tables of systems, meetings, positions and agreement, as computed."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reports.figure import Figure


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A line of a table: what it is about, and a figure or nothing per column."""

    about: str
    n_items: int
    n_clusters: int
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class PreferenceSheet:
    """One table. `of` names the voters it is about, '' for all; `columns` are (name, heading)."""

    key: str
    title: str
    of: str
    first: str
    note: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[PreferenceRow, ...]


@dataclass(frozen=True, slots=True)
class PreferenceTable:
    """All that was computed on one question that compares responses; `problem` says why nothing was."""

    ref: str
    title: str
    item_kind: str
    voters: tuple[str, ...]
    sheets: tuple[PreferenceSheet, ...]
    problem: str = ""
