"""Where the items of a ratings file lie: dialogue, continuation, system and turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from annotation.text.table_cells import unguarded
from calibration.agree.cells import Spelling
from calibration.agree.files import RatingsFileError, Row, Table, read_table

COLUMNS = ("item", "rater", "dialogue", "continuation", "system", "turn")


@dataclass(frozen=True, slots=True)
class Place:
    """An item's place; ``turn`` is None for the item of a whole dialogue."""

    dialogue: str
    continuation: str
    system: str
    cluster: str
    turn: int | None


@dataclass
class Places:
    """The place of every item, and of every rater the cell of the column that groups raters."""

    of: dict[str, Place] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)

    def group(self, rater: str) -> str:
        """Return a rater's group, also that of one of its samples apart (`name#0`); empty for none."""
        return self.groups.get(rater) or self.groups.get(rater.rpartition("#")[0], "")


def read_places(
    path: Path,
    cluster: str | None,
    best_of: str | None,
    progress: Callable[[Table], Iterable[tuple[int, Row]]],
    spelling: Spelling,
) -> Places:
    """Read where items lie. A dialogue is its own cluster where no column of clusters is named.

    A continuation without a name goes by its system's. RatingsFileError with the line of an item that lies in
    two places, of two items in one place, and of a continuation of two systems or dialogues' clusters.
    """
    table = read_table(path)
    for column in ("dialogue", *filter(None, [best_of])):
        if column not in table.columns:
            there = ", ".join(table.columns)
            raise RatingsFileError(path, f"--levels needs a column {column!r}; the columns are {there}", 1)
    table.used = frozenset({*COLUMNS, *filter(None, [cluster, best_of])})
    found = Places()
    held: dict[tuple[str, str, int | None], str] = {}
    units: dict[tuple[str, str], tuple[str, str]] = {}
    for line, row in progress(table):
        cells = {name: unguarded(cell or "").strip() for name, cell in row.items()}
        _spell(cells, cluster, spelling)
        item, place = cells.get("item", ""), _place(path, line, cells, cluster)
        known = found.of.setdefault(item, place)
        if known is place:
            _check_free(path, line, item, place, held, units)
        elif known != place:
            raise RatingsFileError(path, f"item {item!r} lies in two places", line, "item")
        if best_of and cells.get("rater"):
            found.groups.setdefault(cells["rater"], cells[best_of])
    return found


def _spell(cells: dict[str, str], cluster: str | None, spelling: Spelling) -> None:
    """Write names as the ratings of the same file do."""
    cells["item"] = spelling.item(cells.get("item", ""))
    for name, names in (
        ("rater", spelling.raters),
        ("system", spelling.systems),
        (cluster, spelling.clusters),
    ):
        if name in cells:
            cells[name] = names[cells[name]]


def _check_free(
    path: Path,
    line: int,
    item: str,
    place: Place,
    held: dict[tuple[str, str, int | None], str],
    units: dict[tuple[str, str], tuple[str, str]],
) -> None:
    unit = place.dialogue, place.continuation
    first = held.setdefault((*unit, place.turn), item)
    if first != item:
        where = "the whole" if place.turn is None else f"turn {place.turn}"
        message = f"items {first!r} and {item!r} are both {where} of continuation {place.continuation!r}"
        raise RatingsFileError(path, f"{message} of dialogue {place.dialogue!r}", line, "item")
    about = place.system, place.cluster
    if units.setdefault(unit, about) != about:
        message = f"continuation {place.continuation!r} of dialogue {place.dialogue!r} has two"
        what = "systems" if units[unit][0] != place.system else "clusters"
        raise RatingsFileError(path, f"{message} {what}", line)


def _place(path: Path, line: int, cells: dict[str, str], cluster: str | None) -> Place:
    if not cells["dialogue"]:
        raise RatingsFileError(path, "empty; --levels needs the dialogue of every item", line, "dialogue")
    turn = cells.get("turn", "").strip().removesuffix(".0")  # spreadsheets and data frames write 3.0
    if turn and not turn.isdecimal():
        message = f"value {cells['turn']!r}: expected a turn's number from 0, or nothing for a whole dialogue"
        raise RatingsFileError(path, message, line, "turn")
    system = cells.get("system", "")
    return Place(
        cells["dialogue"],
        cells.get("continuation", "") or system,
        system,
        cells[cluster] if cluster else cells["dialogue"],
        int(turn) if turn else None,
    )
