"""Profile of a table: what each column looks like, what the file can be, and what is missing for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotation.formats.mapping import Mapping
from annotation.formats.table_reader import TableFile


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What the cells of a column look like.

    `looks_like` is one of `LOOKS`; `n` of `n_rows` cells have a text that is not one of the `missing` words.
    `values` are all different ones where they are few, in order; `separator` stands between values of a set.
    """

    name: str
    looks_like: str
    n: int
    n_rows: int
    n_different: int
    examples: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    separator: str = ""
    wording: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that a table can be, with its mapping, or with what is `missing` for it.

    `sentence` says it for people: `each row is one turn rated by one person`. A `certain` reading is the only
    plausible one: a command uses it without asking.
    """

    key: str
    sentence: str
    mapping: Mapping = field(default_factory=Mapping)
    missing: tuple[str, ...] = ()
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The columns of a table, and its readings, the most plausible first, those with something missing last.

    `judges` are the raters that look like models, `speakers` those of the turns, `rated` those among them
    that look like the systems under test.
    """

    columns: tuple[ColumnProfile, ...]
    readings: tuple[Reading, ...]
    n_rows: int
    judges: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    rated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def describe(table: TableFile) -> Profile:
    """Describe a table from its first rows (`SAMPLE_ROWS`)."""
    raise NotImplementedError
