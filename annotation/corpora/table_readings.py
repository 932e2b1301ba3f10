"""How an import reads a table: what the file looks like, and the mapping that is guessed or completed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from annotation.corpora.import_file import CPU_PER_MEGABYTE, read_apart
from annotation.formats import FORMATS
from annotation.formats.corpus_format import (
    ANY_ROLES,
    JUDGES,
    RATED,
    SETTINGS,
    describe_json,
    guess,
    read_start,
)
from annotation.formats.mapping import Entries, read_mapping
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.nested_cells import open_nested
from annotation.formats.profile import Profile, describe, reading_lines, scan
from annotation.formats.readings import TITLES
from annotation.formats.source import Faults, ImportProblem, Source
from annotation.text.table_cells import list_names

CPU_SECONDS = 20
"""CPU seconds for describing a file, at most; one that needs more is refused."""
SCAN_SECONDS = 5
"""CPU seconds in which all answers of a file are counted for its preview; else its import counts them."""
AT_ONCE = threading.BoundedSemaphore(2)
"""Files described at the same time in this process."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outline:
    """Format of a file, and the profile of its columns where it is a table."""

    format: str
    profile: Profile | None = None
    sheets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def outline(source: Source, *, format: str = "") -> Outline:
    """Recognise a file, and describe its columns where it is a table; raises ImportProblem."""

    def produce() -> Iterator[list[Outline]]:
        key = format or guess(FORMATS, read_start(source.path, source.name))
        files = source.files()
        if len(files) > 1 and not FORMATS[key].folder:
            raise ImportProblem(not_one_file(len(files), key), field="file")
        if FORMATS[key].roles != ANY_ROLES:
            yield [Outline(key)]
            return
        table = open_nested(source)
        profile = describe(table, seconds=SCAN_SECONDS)
        if table.is_json and not any(reading.is_possible for reading in profile.readings):
            hint = f"It {describe_json(FORMATS, read_start(source.path, source.name))}"
            profile = replace(profile, notes=(*profile.notes, hint))
        yield [Outline(key, profile, table.sheets, (*table.notes, *profile.notes))]

    return _first(produce, source, CPU_SECONDS)


def recognise_format(source: Source) -> str:
    """Return the format of a file by its beginning; raises ImportProblem."""

    def produce() -> Iterator[list[str]]:
        yield [guess(FORMATS, read_start(source.path, source.name))]

    return _first(produce, source, CPU_SECONDS)


def not_one_file(count: int, format: str) -> str:
    """Return the problem of several files in a format that is one file."""
    return f"{count} files were sent; the format {format} is one file: import them one by one"


def _first(produce: Callable[[], Iterator[list[T]]], source: Source, seconds: int) -> T:
    source.faults = Faults()  # rows that cannot be read are reported by the import
    try:
        with AT_ONCE, closing(read_apart(produce, source, seconds=seconds)) as reading:
            for batch in reading:
                for item in batch:
                    first: T = item
                    return first
    except ImportProblem as problem:
        raise source.locate(problem) from None
    raise ImportProblem("the file is empty")


def lacks_scales(profile: Profile, mapping: ColumnMapping) -> bool:
    """Whether the answers of a table are too many for the scales of its guessed mapping."""
    return profile.has_more and bool(mapping.answers or mapping.of("value"))


def guessed_settings(profile: Profile, mapping: ColumnMapping) -> dict[str, str]:
    """Return the settings that a profile suggests: which speakers are rated, which raters are judges."""
    judges = profile.judges if mapping.of("rater") else ()  # else the columns say who is one
    guessed = {RATED: list_names(profile.rated), JUDGES: list_names(judges)}
    return {key: names for key, names in guessed.items() if names}


def with_scales(source: Source, entries: Mapping[str, Any]) -> Entries:
    """Return a mapping with the scales that it does not name, guessed from the answers in all rows."""
    seconds = CPU_SECONDS + CPU_PER_MEGABYTE * source.total // 2**20
    return _scan(source, entries, seconds, math.inf) or dict(entries)


def with_scales_at_once(source: Source, entries: Mapping[str, Any]) -> Entries | None:
    """Return a mapping with its scales as its import will guess them, None where there are too many rows."""
    return _scan(source, entries, CPU_SECONDS, SCAN_SECONDS)


def _scan(source: Source, entries: Mapping[str, Any], limit: int, seconds: float) -> Entries | None:
    def produce() -> Iterator[list[Entries | None]]:
        table = open_nested(source, entries)
        mapping = scan(table, read_mapping(entries, table.columns), seconds=seconds)
        yield [mapping.entries() if mapping else None]

    return _first(produce, source, limit)


@dataclass(frozen=True, slots=True)
class TableReading:
    """Mapping and settings with which a file is imported; `notes` say what of them was guessed."""

    mapping: Entries
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class UncertainReading(ImportProblem):
    """A table without a mapping that can be read in several ways, or in none; `profile` has its readings."""

    def __init__(self, profile: Profile) -> None:
        titles = "; ".join(TITLES[reading.key] for reading in profile.readings if reading.is_possible)
        state = f"may be read in several ways ({titles})" if titles else "is not recognised as anything"
        reason = f"the table {state}: say what its columns are"
        if len(profile.readings) == 1 and (missing := profile.readings[0].missing):
            reason = f"{profile.readings[0].sentence} Missing: {'; '.join(missing)}"
        super().__init__(reason, field="mapping")
        self.profile = profile

    def details(self) -> dict[str, Any]:
        """Return the problem for a program to read, with the readings of the table."""
        return {**super().details(), "readings": readings_json(self.profile)}


def readings_json(profile: Profile) -> list[dict[str, Any]]:
    """Return the readings of a table as JSON data."""
    return [
        {
            "key": reading.key,
            "sentence": reading.sentence,
            "mapping": reading.mapping.entries(),
            "missing": list(reading.missing),
            "doubts": list(reading.doubts),
            "certain": reading.certain,
        }
        for reading in profile.readings
    ]


def choose_reading(source: Source, *, format: str, mapping: Mapping[str, Any]) -> TableReading:
    """Complete how a file is read: a mapping by its scales; without one, by the guess, if it is certain.

    Raises UncertainReading for a table of which no reading is certain.
    """
    settings = dict(source.settings)
    if FORMATS[format].roles != ANY_ROLES:
        return TableReading(dict(mapping), settings)
    if mapping:
        return TableReading(with_scales(source, mapping), settings)
    profile = outline(source, format=format).profile
    assert profile is not None
    if (reading := profile.certain) is None:
        raise UncertainReading(profile)
    if lacks_scales(profile, reading.mapping):
        names = [column.name for column in profile.columns]
        mapping = with_scales(source, reading.mapping.entries())
        reading = replace(reading, mapping=read_mapping(mapping, names))
    guessed = guessed_settings(profile, reading.mapping)
    unset = {key: value for key, value in guessed.items() if not settings.get(key)}
    notes = [line.strip() for line in reading_lines(reading)[1:]]
    notes += [f"{SETTINGS[key].title}: {value} (guessed)" for key, value in unset.items()]
    return TableReading(reading.mapping.entries(), settings | unset, (reading.sentence, *notes))
