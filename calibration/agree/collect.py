"""Turns a table's rows into records per question (and stratum), keeping the line of each for messages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotation.text.table_cells import unguarded
from calibration.agree.cells import TEXT, Declared, Spelling, answer, declared_of
from calibration.agree.files import RatingsFileError, Row, Table, read_table
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.records import Collector
from calibration.statistics.core.types import Level, RatingError, Record, Samples

# Which columns of a wide ratings file are raters: those that are named, else all that may be.

INDEX = re.compile(r"__index_level_\d+__|Unnamed: ?\d+(_level_\d+)?")
"""How pandas calls the column of a table's index."""
COMPUTED = frozenset(
    [
        *("mean", "average", "avg", "median", "std", "sd", "stdev", "stddev", "variance", "var", "sum"),
        *("total", "count", "length", "len", "agreement", "majority", "consensus", "index", "words"),
        *("tokens", "chars", "characters"),
    ]
)
"""Words in the names of columns that are computed from answers or describe items."""
DESCRIBING = frozenset(
    [
        *("id", "text", "comment", "comments", "note", "notes", "response", "context", "utterance"),
        *("message", "prompt", "speaker", "timestamp", "date", "time", "datetime", "url", "split"),
        *("language", "meta", "metadata", "tags", "scheme", "level", "values", "order", "explanation"),
    ]
)
"""Names of columns that describe items."""


def rater_columns(
    path: Path, columns: Sequence[str], about: Collection[str], named: Sequence[str] | None
) -> tuple[str, ...]:
    """Return a wide file's columns of raters; an index of pandas is none.

    RatingsFileError where one that is named is not there, and for columns that look like no rater where none
    is named: they are asked for.
    """
    if named is not None:
        absent = [name for name in named if name not in columns]
        if absent or not named:
            there = ", ".join(columns)
            name = absent[0] if absent else ""
            raise RatingsFileError(path, f"--rater-columns: no column {name!r}; the columns are {there}", 1)
        return tuple(dict.fromkeys(named))
    raters = [name for name in columns if name not in about and not INDEX.fullmatch(name)]
    doubtful = [name for name in raters if _may_be_no_rater(name)]
    if doubtful:
        others = ",".join(name for name in raters if name not in doubtful) or "NAMES"
        raise RatingsFileError(
            path,
            f"{', '.join(doubtful)}: likely no rater; name the raters' columns: --rater-columns {others}",
            1,
        )
    if not raters:
        raise RatingsFileError(path, "no columns 'rater' and 'value', and no columns of raters either", 1)
    return tuple(raters)


def _may_be_no_rater(name: str) -> bool:
    plain = name.casefold()
    return plain in DESCRIBING or not COMPUTED.isdisjoint(re.split(r"[\W_]+", plain))


LONG = ("item", "rater", "value")
ABOUT = ("question", "sample", "cluster", "kind", "identified", "dialogue", "continuation", "system", "turn")
SCALE = ("scheme", "level", "values")
"""Read in long files, as exports write them: one file may hold questions of different scales."""
USED = ("question", "sample", "identified", "continuation", "system")
TRUE, FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


@dataclass(frozen=True)
class Reading:
    """What to take from a file: its questions (all if empty), the cluster column, the column of strata.

    `missing` are the cells, in lower case, that mean no answer; `declared` holds where it is not the file's
    own the scale of all questions.
    `rater_columns` are those of a wide file's raters (None: all that may be), `judges` the raters that are
    judges where no column says so (None: not said); `names` is "join", "keep" or "" (refuse), for names that
    differ in case or space alone.
    """

    questions: Collection[str] = ()
    cluster: str | None = "cluster"
    by: str | None = None
    cluster_required: bool = False
    missing: frozenset[str] = frozenset()
    declared: Declared = field(default_factory=Declared)
    rater_columns: tuple[str, ...] | None = None
    judges: frozenset[str] | None = None
    names: str = ""


@dataclass
class Part:
    """The records of one question in one stratum, and the line of each; the scale that the file declares."""

    question: str
    stratum: str
    declared: Declared = field(default_factory=Declared)
    scheme: str = ""
    collector: Collector = field(default_factory=Collector)
    lines: array[int] = field(default_factory=lambda: array("I"))


@dataclass(frozen=True)
class RatingsFile:
    """A file read: its parts in order of appearance, and what was understood of its columns."""

    path: Path
    parts: tuple[Part, ...]
    shape: str
    cluster: str | None
    columns: tuple[str, ...]
    read: frozenset[str] = frozenset()
    free_text: tuple[str, ...] = ()
    spelling: Spelling = field(default_factory=Spelling)

    def unread(self) -> list[str]:
        """Say which columns were not read, which names joined, and that a dialogue could be the cluster."""
        left = [c for c in self.columns if c not in self.read]
        said = [f"Columns not read: {', '.join(left)}."] if left else []
        said += self.spelling.notes()
        if self.free_text:
            said.append(f"Free text has no agreement statistics: {', '.join(self.free_text)}.")
        if self.cluster is None and "dialogue" in self.columns:
            said.append("There is a column dialogue: --cluster dialogue takes it as the cluster.")
        return said

    def samples(
        self,
        part: Part,
        *,
        level: Level,
        values: Sequence[str | float] | None = None,
        positive: str = "1",
    ) -> Ratings | None:
        """Return a part's ratings with each repeated answer as a rater; None where nobody answered again."""
        if not part.collector.repeated:
            return None
        try:
            return part.collector.ratings(level=level, values=values, positive=positive, samples="separate")
        except RatingError as error:
            raise located(self.path, error, part.lines) from None

    def ratings(
        self,
        part: Part,
        *,
        level: Level,
        values: Sequence[str | float] | None = None,
        positive: str = "1",
        samples: Samples | None = None,
        keep: bool = False,
    ) -> Ratings:
        """Return a part's ratings, once unless told to keep its rows: they are let go of.

        RatingsFileError with line and column for a value that cannot be used.
        """
        try:
            ratings = part.collector.ratings(level=level, values=values, positive=positive, samples=samples)
        except RatingError as error:
            raise located(self.path, error, part.lines) from None
        if not keep:
            part.collector = Collector()
        return ratings


def located(path: Path, error: RatingError, lines: Sequence[int]) -> RatingsFileError:
    """Return the error with the line of its record, and the column it speaks of."""
    if 0 <= error.index < len(lines):
        return RatingsFileError(path, str(error), lines[error.index], error.field)
    return RatingsFileError(path, str(error))


def read_ratings(
    path: Path, reading: Reading, progress: Callable[[Table], Iterable[tuple[int, Row]]]
) -> RatingsFile:
    """Read a long or wide ratings file; ``progress`` wraps the rows as they are read."""
    table = read_table(path)
    missing = [c for c in LONG if c not in table.columns]
    wide = missing == ["rater", "value"]
    if missing and not wide:
        raise RatingsFileError(
            path, f"no column {missing[0]!r}; the columns are {', '.join(table.columns)}", 1
        )
    cluster = reading.cluster if reading.cluster in table.columns else None
    for wanted in (reading.cluster if reading.cluster_required else None, reading.by):
        if wanted and wanted not in table.columns:
            raise RatingsFileError(
                path, f"no column {wanted!r}; the columns are {', '.join(table.columns)}", 1
            )
    about = ("item", *ABOUT, *filter(None, (cluster, reading.by)))
    if reading.rater_columns is not None and not wide:
        raise RatingsFileError(path, "--rater-columns is for files with a column for each rater", 1)
    raters = rater_columns(path, table.columns, about, reading.rater_columns) if wide else ()
    read = frozenset({"item", *raters, *USED, *filter(None, (cluster, reading.by))}) | frozenset(
        () if wide else LONG + ("kind",) + SCALE
    )
    table.used = None if wide and reading.rater_columns is None else read  # any column may be a rater's
    spelling = Spelling(reading.names, reading.judges)
    parts: dict[tuple[str, str, Declared, str], Part] = {}
    seen: set[str] = set()
    free_text: dict[str, None] = {}
    for line, row in progress(table):
        declared = Declared() if wide else declared_of(path, line, row)
        question, scheme = (
            unguarded(row.get("question") or "").strip(),
            "" if wide else unguarded(row.get("scheme") or "").strip(),
        )
        if reading.questions and not {question, f"{scheme}/{question}"} & set(reading.questions):
            seen.add(question)
            continue
        if declared.level == TEXT and not reading.declared.level:
            free_text[question] = None
            continue
        stratum = unguarded(row.get(reading.by) or "") if reading.by else ""
        key = (question, scheme.partition("@")[0], declared, stratum)
        part = parts.get(key)
        if part is None:
            part = parts[key] = Part(question, stratum, declared, scheme)
        for record in _records(path, line, row, raters, cluster, reading, spelling):
            part.lines.append(line)
            try:
                part.collector.add(record)
            except RatingError as error:
                raise located(path, error, part.lines) from None
    found = {name for part in parts.values() for name in (part.question, f"{part.scheme}/{part.question}")}
    absent = sorted(set(reading.questions) - found)
    if absent:
        there = ", ".join(sorted(seen | {part.question for part in parts.values()})) or "none"
        raise RatingsFileError(path, f"no ratings for question {', '.join(absent)}; there are {there}")
    if not parts:
        only = f": {', '.join(free_text)} is free text" if free_text else ""
        raise RatingsFileError(path, f"no ratings{only}")
    _check_names(path, parts.values(), spelling, reading)
    _tell_apart(list(parts.values()))
    shape = f"wide, raters in columns {', '.join(raters)}" if wide else "long"
    nameless = ["one without a name"] if table.unnamed == 1 else []
    nameless += [f"{table.unnamed} without a name"] if table.unnamed > 1 else []
    columns = (*table.columns, *table.late, *nameless)
    return RatingsFile(path, tuple(parts.values()), shape, cluster, columns, read, tuple(free_text), spelling)


def _check_names(path: Path, parts: Iterable[Part], spelling: Spelling, reading: Reading) -> None:
    """Refuse names that differ in case or space alone, and raters of whom it is not clear what they are."""
    parts = list(parts)
    items = {item: None for part in parts for item in part.collector.items}
    open_scales = [part for part in parts if not (part.declared.values or reading.declared.values)]
    spelling.check(path, [("items", items), *(("values", part.collector.texts) for part in open_scales)])
    spelling.check_kinds(path)


def _tell_apart(parts: Sequence[Part]) -> None:
    """Name questions of one key in several schemes, or on several scales, by their scheme as well."""
    kinds: dict[str, set[tuple[str, Declared]]] = {}
    for part in parts:
        kinds.setdefault(part.question, set()).add((part.scheme.partition("@")[0], part.declared))
    for part in parts:
        if len(kinds[part.question]) > 1 and part.scheme:
            part.question = f"{part.scheme}/{part.question}"


def _records(
    path: Path,
    line: int,
    row: Row,
    raters: Sequence[str],
    cluster: str | None,
    reading: Reading,
    spelling: Spelling,
) -> Iterable[Record]:
    item = spelling.item(row.get("item") or "")
    if not item:
        raise RatingsFileError(path, "empty; every rating needs its item", line, "item")
    shared = {
        "cluster": spelling.clusters[row.get(cluster) or ""] if cluster else "",
        "system": spelling.systems[row.get("system") or ""],
        "continuation": unguarded(row.get("continuation") or "").strip(),
        "sample": _sample(path, line, row.get("sample")),
        "identified": _identified(path, line, row.get("identified")),
    }
    if cluster and not shared["cluster"]:
        raise RatingsFileError(
            path, "empty; every item needs its cluster (or use --no-cluster)", line, cluster
        )
    for name in raters:
        value = answer(path, line, name, row.get(name), reading.missing, reading.declared)
        rater = spelling.raters[name]
        kind = spelling.kind(path, line, rater, "")
        yield Record(item, rater, spelling.value(value, reading.declared), kind=kind, **shared)  # type: ignore[arg-type]
    if raters:
        return
    rater = spelling.raters[row.get("rater") or ""]
    if not rater:
        raise RatingsFileError(path, "empty; every rating needs its rater", line, "rater")
    declared = reading.declared if reading.declared.level else declared_of(path, line, row)
    value = answer(path, line, "value", row.get("value"), reading.missing, declared)
    kind = spelling.kind(path, line, rater, row.get("kind") or "")
    yield Record(item, rater, spelling.value(value, declared), kind=kind, **shared)  # type: ignore[arg-type]


def _sample(path: Path, line: int, cell: str | None) -> int:
    if not cell:
        return 0
    if not cell.strip().isdecimal():
        raise RatingsFileError(path, f"value {cell!r}: expected a whole number from 0", line, "sample")
    return int(cell)


def _identified(path: Path, line: int, cell: str | None) -> bool:
    text = (cell or "true").strip().lower()
    if text not in TRUE | FALSE:
        raise RatingsFileError(path, f"value {cell!r}: expected true or false", line, "identified")
    return text in TRUE
