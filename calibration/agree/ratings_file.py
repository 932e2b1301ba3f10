"""Ratings files: rows of CSV, TSV, JSONL and Parquet, cells, and records per question."""

from __future__ import annotations

import csv
import json
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from annotation.text.table_cells import (
    Names,
    describe_clashes,
    kind_of_rater,
    looks_like_a_model,
    looks_like_nothing,
    means_nothing,
    unguarded,
)
from calibration.statistics.core.ratings import (
    SCALES,
    Collector,
    Level,
    RatingError,
    Ratings,
    Record,
    Samples,
)

# Reads rows of CSV, TSV, JSONL and Parquet files, one at a time, each with its line number.

Row = dict[str, str | None]
FORMATS = {".csv": ",", ".tsv": "\t"}


class RatingsFileError(Exception):
    """A ratings file that cannot be used; the message is one line with place and reason."""

    def __init__(self, path: Path, message: str, line: int | None = None, column: str | None = None) -> None:
        place = path.name
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {message}")


class Table:
    """A file's named columns, and its rows with their line numbers.

    Only the columns in `used` need cells that are strings or numbers; if it is None, all do. `unnamed` counts
    columns without a name, and `late` are columns missing in the first line of JSONL: both are ignored.
    """

    def __init__(
        self,
        columns: tuple[str, ...],
        rows: Callable[[Table], Iterator[tuple[int, Row]]],
        size: int | None = None,
        unnamed: int = 0,
    ) -> None:
        self.columns = columns
        self.size = size
        self.unnamed = unnamed
        self.used: frozenset[str] | None = None
        self.late: dict[str, None] = {}
        self._rows = rows

    @property
    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the rows with line numbers, from the first."""
        return self._rows(self)

    def uses(self, column: str) -> bool:
        """Whether a column is read."""
        return self.used is None or column in self.used


def read_table(path: Path) -> Table:
    """Open a file by its suffix; RatingsFileError if it is missing, empty or has another format."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise RatingsFileError(path, "no such file")
    if path.stat().st_size == 0:
        raise RatingsFileError(
            path, "the file is empty; a ratings file has the columns item, rater and value"
        )
    if suffix in FORMATS:
        return _delimited(path, FORMATS[suffix])
    if suffix in (".jsonl", ".ndjson"):
        return _json_lines(path)
    if suffix == ".parquet":
        return _parquet(path)
    raise RatingsFileError(path, f"unknown ending {suffix or '(none)'}: use .csv, .tsv, .jsonl or .parquet")


def _delimited(path: Path, delimiter: str) -> Table:
    csv.field_size_limit(2**31 - 1)
    _, header = next(_cells(path, delimiter), (0, []))
    columns = tuple(name.strip() for name in header)
    if not any(columns):
        raise RatingsFileError(path, "no header; a ratings file has the columns item, rater and value", 1)
    _check_separator(path, columns, delimiter)
    twice = [c for c in columns if c and columns.count(c) > 1]
    if twice:
        raise RatingsFileError(path, f"column {twice[0]!r} appears twice", 1)
    named_columns = tuple(filter(None, columns))
    return Table(
        named_columns,
        lambda _: _csv_rows(path, delimiter, columns),
        unnamed=len(columns) - len(named_columns),
    )


def _check_separator(path: Path, columns: tuple[str, ...], delimiter: str) -> None:
    """Refuse a one-cell header that another separator would split, as written by some spreadsheets."""
    names = {";": "semicolons", "\t": "tabs", ",": "commas"}
    separator = next(
        (mark for mark in names if mark != delimiter and len(columns) == 1 and mark in columns[0]), None
    )
    if separator is not None:
        advice = "name the file .tsv" if separator == "\t" else f"save it with {names[delimiter]}"
        raise RatingsFileError(path, f"the cells are separated by {names[separator]}: {advice}", 1)


def _csv_rows(path: Path, delimiter: str, columns: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    rows = _cells(path, delimiter)
    next(rows)
    for line, cells in rows:
        if len(cells) != len(columns):
            raise RatingsFileError(path, f"{len(cells)} cells where the header has {len(columns)}", line)
        yield line, dict(zip(columns, cells, strict=True))


def _cells(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of every non-empty row, with the line on which it starts."""
    with path.open(encoding="utf-8-sig", newline="") as opened:
        reader = csv.reader(opened, delimiter=delimiter, strict=True)
        line = 0
        try:
            for cells in reader:
                start, line = line + 1, reader.line_num
                if any(cells) and not all(map(str.isspace, filter(None, cells))):
                    yield start, cells
        except UnicodeDecodeError as error:
            raise _not_utf8(path, error, _undecodable_line(path)) from None
        except csv.Error as error:
            raise RatingsFileError(path, str(error), line + 1) from None


def _not_utf8(path: Path, error: UnicodeDecodeError, line: int) -> RatingsFileError:
    return RatingsFileError(path, f"not UTF-8 ({error.reason}); save the file as UTF-8", line)


def _undecodable_line(path: Path) -> int:
    """Return the first line that is not UTF-8; text is decoded in blocks, so the reader does not know it."""
    with path.open("rb") as opened:
        for line, raw in enumerate(opened, start=1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                return line
    return 1


def _json_lines(path: Path) -> Table:
    first = next(_json_objects(path), None)
    if first is None:
        raise RatingsFileError(path, "the file has no rows")
    columns = tuple(first[1])

    def rows(table: Table) -> Iterator[tuple[int, Row]]:
        for line, row in _json_objects(path):
            if not row.keys() <= first[1].keys():
                _meet_late(path, line, row, table)
            yield (
                line,
                {key: _cell(path, line, key, value) for key, value in row.items() if table.uses(key)},
            )

    return Table(columns, rows)


def _meet_late(path: Path, line: int, row: dict[str, object], table: Table) -> None:
    """Record keys missing in the first line; refuse such keys of columns that are read."""
    for key in row:
        if key in table.columns:
            continue
        if table.uses(key):
            message = f"the first line has no key {key!r}: give every line the same keys (null where empty)"
            raise RatingsFileError(path, message, line)
        table.late[key] = None


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    with path.open("rb") as opened:
        for line, raw in enumerate(opened, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw)
            except UnicodeDecodeError as error:
                raise _not_utf8(path, error, line) from None
            except json.JSONDecodeError as error:
                raise RatingsFileError(
                    path, f"not JSON: {error.msg} at character {error.pos + 1}", line
                ) from None
            if not isinstance(row, dict):
                raise RatingsFileError(path, "expected a JSON object", line)
            yield line, row


def _cell(path: Path, line: int, key: str, value: object) -> str | None:
    if value is None or value != value:  # NaN, which some programs write for an empty cell
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, list) and key in ("values", "members", "order"):  # as exports write them
        return json.dumps(value)
    raise RatingsFileError(path, f"a {type(value).__name__} where a text or a number was expected", line, key)


def _parquet(path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        opened = parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise RatingsFileError(path, f"not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = tuple(opened.schema_arrow.names)

    def rows(table: Table) -> Iterator[tuple[int, Row]]:
        line = 0
        used = [name for name in columns if table.uses(name)]
        for batch in opened.iter_batches(batch_size=20_000, columns=used):
            lists = [batch.column(name).to_pylist() for name in used]
            for cells in zip(*lists, strict=True):
                line += 1
                yield line, {k: _cell(path, line, k, v) for k, v in zip(used, cells, strict=True)}

    return Table(columns, rows, opened.metadata.num_rows)


# Cells of a ratings file: an answer, a missing answer, or the declared scale of a question.

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Declared:
    """The scale that a file declares for a question: its level and values, empty if it declares none."""

    level: str = ""
    values: tuple[str | float, ...] = ()


def answer(
    path: Path, line: int, column: str, cell: str | None, missing: Collection[str], declared: Declared
) -> str | None:
    """Return a cell's answer, None if missing: empty, or one of `missing` (in lower case).

    Raises RatingsFileError for a cell that looks like a missing answer but is declared neither as a value nor
    as missing.
    """
    text = unguarded((cell or "").strip())
    if means_nothing(text, missing):
        return None
    if looks_like_nothing(text) and text not in declared.values:
        mark = text.partition(" (")[0]
        advice = f"--missing={mark} takes it as missing, --values as a category"
        raise RatingsFileError(path, f"value {text!r} looks like no answer: {advice}", line, column)
    return text or None


def declared_of(path: Path, line: int, row: Row) -> Declared:
    """Return the scale declared in a row's columns `level` and `values`; RatingsFileError if invalid."""
    try:
        return _declared(row.get("level") or "", row.get("values") or "")
    except ValueError as error:
        column, message = error.args
        raise RatingsFileError(path, message, line, column) from None


@lru_cache(maxsize=1000)
def _declared(level: str, values: str) -> Declared:
    if level and level not in (*SCALES, TEXT):
        raise ValueError("level", f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}")
    try:
        scale_values = json.loads(unguarded(values) or "[]")
    except json.JSONDecodeError:
        scale_values = None
    if not isinstance(scale_values, list) or not all(isinstance(v, str | int | float) for v in scale_values):
        raise ValueError("values", f"{values!r}: expected a list such as [1, 2, 3]")
    return Declared(level, tuple(scale_values))


# Names and kinds of raters in a ratings file: with one spelling, and given by the file or the user.

JOIN, KEEP = "join", "keep"
ADVICE = "differ in case or space alone: --fold-names joins them, --fold-names=no keeps them apart"


class Spelling:
    """Names in a file, stripped and (with "join") in their first spelling, and kinds of its raters.

    `judges` are the raters that are judges if the file has no kind for them; None: not given.
    """

    def __init__(self, names: str = "", judges: frozenset[str] | None = None) -> None:
        join = names == JOIN
        self.names = names
        self.judges = judges
        self.raters, self.clusters, self.systems, self.items = (Names(join, unguarded) for _ in range(4))
        self._values: dict[Declared, Names] = {}
        self._kinds: dict[str, str] = {}

    def item(self, cell: str) -> str:
        """Return an item's name; a file has many, so they are kept only if spellings are joined."""
        return self.items[cell] if self.names == JOIN else unguarded(cell).strip()

    def value(self, value: str | None, declared: Declared) -> str | None:
        """Return an answer, in its declared or first spelling if names are joined."""
        if value is None or self.names != JOIN:
            return value
        if (names := self._values.get(declared)) is None:
            names = self._values[declared] = Names(True)
            for scale_value in declared.values:
                names[str(scale_value)]
        return names[value]

    def kind(self, path: Path, line: int, rater: str, cell: str) -> str:
        """Return a rater's kind from its cell, else from the user; '' if neither gives it."""
        try:
            kind = _kind(cell)
        except ValueError as error:
            raise RatingsFileError(path, str(error), line, "kind") from None
        if self.judges is not None:
            is_judge = rater in self.judges
            if is_judge and kind not in ("", "judge"):
                raise RatingsFileError(path, f"{rater!r} is {kind} here, but named in --judges", line, "kind")
            kind = kind or ("judge" if is_judge else "human")
        self._kinds[rater] = kind
        return kind

    def check(self, path: Path, more: Iterable[tuple[str, Iterable[str]]]) -> None:
        """Refuse names that differ only in case or spaces: of raters, clusters, systems and `more`."""
        if self.names:
            return
        kinds = [("raters", self.raters), ("clusters", self.clusters), ("systems", self.systems)]
        for kind, names in more:
            seen = Names()
            for name in names:
                seen[name]
            kinds.append((kind, seen))
        clashes = [describe_clashes(names.clashes.values(), kind) for kind, names in kinds if names.clashes]
        if clashes:
            raise RatingsFileError(path, f"{'; '.join(clashes)} {ADVICE}")

    def check_kinds(self, path: Path) -> None:
        """Refuse raters without a kind if others have one, and judges that are not in the file."""
        absent = sorted((self.judges or frozenset()) - self._kinds.keys())
        if absent:
            raise RatingsFileError(
                path, f"--judges: no rater {absent[0]!r}; there are {', '.join(self._kinds)}"
            )
        unsaid = [rater for rater, kind in self._kinds.items() if not kind]
        if unsaid and len(unsaid) < len(self._kinds):
            message = (
                f"no kind for {', '.join(unsaid[:10])}: fill the column, or name the judges with --judges"
            )
            raise RatingsFileError(path, message, column="kind")

    def notes(self) -> list[str]:
        """Return sentences on joined spellings, and on raters of no kind that may be models."""
        notes = self.joined()
        models = [rater for rater, kind in self._kinds.items() if not kind and looks_like_a_model(rater)]
        if models:
            option = f"--judges {','.join(models[:10])}"
            notes.append(
                f"Nothing says who is a judge, so all raters are taken alike: {option} sets them apart."
            )
        return notes

    def joined(self) -> list[str]:
        """Return sentences on joined spellings."""
        joined = [
            ("raters", self.raters),
            ("items", self.items),
            ("clusters", self.clusters),
            ("systems", self.systems),
            *(("values", names) for names in self._values.values()),
        ]
        return [
            f"Joined: {describe_clashes(names.clashes.values(), kind)}."
            for kind, names in joined
            if names.clashes and names.join
        ]


@lru_cache(maxsize=100)
def _kind(cell: str) -> str:
    return kind_of_rater(cell) if cell.strip() else ""


# Turns a table's rows into records per question (and stratum), keeping their line numbers for messages.

# The raters' columns of a wide ratings file: the named columns, else all possible ones.

INDEX = re.compile(r"__index_level_\d+__|Unnamed: ?\d+(_level_\d+)?")
"""Pandas' names for the column of a table's index."""
COMPUTED = frozenset(
    [
        *("mean", "average", "avg", "median", "std", "sd", "stdev", "stddev", "variance", "var", "sum"),
        *("total", "count", "length", "len", "agreement", "majority", "consensus", "index", "words"),
        *("tokens", "chars", "characters"),
    ]
)
"""Words in the names of columns computed from answers, or describing items."""
DESCRIBING = frozenset(
    [
        *("id", "text", "comment", "comments", "note", "notes", "response", "context", "utterance"),
        *("message", "prompt", "speaker", "timestamp", "date", "time", "datetime", "url", "split"),
        *("language", "meta", "metadata", "tags", "scheme", "level", "values", "order", "explanation"),
    ]
)
"""Names of columns that describe items."""


def rater_columns(
    path: Path, columns: Sequence[str], about: Collection[str], requested: Sequence[str] | None
) -> tuple[str, ...]:
    """Return a wide file's columns of raters, without a pandas index.

    Raises RatingsFileError if a named column is missing; if none is named, also for columns that do not look
    like raters: then the user must name the columns.
    """
    if requested is not None:
        absent = [name for name in requested if name not in columns]
        if absent or not requested:
            column_names = ", ".join(columns)
            name = absent[0] if absent else ""
            raise RatingsFileError(
                path, f"--rater-columns: no column {name!r}; the columns are {column_names}", 1
            )
        return tuple(dict.fromkeys(requested))
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
"""Columns read in long files, as written by exports: a file may have questions with different scales."""
USED = ("question", "sample", "identified", "continuation", "system")
TRUE, FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


@dataclass(frozen=True)
class Reading:
    """Options for reading a file: questions (all if empty), the cluster column, the column of strata.

    `missing` are the cells, in lower case, that mean no answer; `declared` is the scale of all questions, if
    not taken from the file.
    `rater_columns` are the raters' columns of a wide file (None: all possible ones), `judges` the raters that
    are judges if no column gives kinds (None: not given); `names` is "join", "keep" or "" (refuse), for names
    that differ only in case or spaces.
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
    """The records of one question in one stratum, with their lines, and the scale declared by the file."""

    question: str
    stratum: str
    declared: Declared = field(default_factory=Declared)
    scheme: str = ""
    collector: Collector = field(default_factory=Collector)
    lines: array[int] = field(default_factory=lambda: array("I"))


@dataclass(frozen=True)
class RatingsFile:
    """A parsed file: its parts in order of appearance, and the interpretation of its columns."""

    path: Path
    parts: tuple[Part, ...]
    shape: str
    cluster: str | None
    columns: tuple[str, ...]
    read: frozenset[str] = frozenset()
    free_text: tuple[str, ...] = ()
    spelling: Spelling = field(default_factory=Spelling)

    def unread(self) -> list[str]:
        """Return sentences on unread columns, joined names, and a dialogue column usable as cluster."""
        unread_columns = [c for c in self.columns if c not in self.read]
        notes = [f"Columns not read: {', '.join(unread_columns)}."] if unread_columns else []
        notes += self.spelling.notes()
        if self.free_text:
            notes.append(f"Free text has no agreement statistics: {', '.join(self.free_text)}.")
        if self.cluster is None and "dialogue" in self.columns:
            notes.append("There is a column dialogue: --cluster dialogue takes it as the cluster.")
        return notes

    def samples(
        self,
        part: Part,
        *,
        level: Level,
        values: Sequence[str | float] | None = None,
        positive: str = "1",
    ) -> Ratings | None:
        """Return a part's ratings with each repeated answer as a rater; None without repeated answers."""
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
        """Return a part's ratings; this frees its rows, so it works only once unless `keep` is true.

        Raises RatingsFileError with line and column for an unusable value.
        """
        try:
            ratings = part.collector.ratings(level=level, values=values, positive=positive, samples=samples)
        except RatingError as error:
            raise located(self.path, error, part.lines) from None
        if not keep:
            part.collector = Collector()
        return ratings


def located(path: Path, error: RatingError, lines: Sequence[int]) -> RatingsFileError:
    """Return the error with its record's line and column."""
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
    for column in (reading.cluster if reading.cluster_required else None, reading.by):
        if column and column not in table.columns:
            raise RatingsFileError(
                path, f"no column {column!r}; the columns are {', '.join(table.columns)}", 1
            )
    about = ("item", *ABOUT, *filter(None, (cluster, reading.by)))
    if reading.rater_columns is not None and not wide:
        raise RatingsFileError(path, "--rater-columns is for files with a column for each rater", 1)
    raters = rater_columns(path, table.columns, about, reading.rater_columns) if wide else ()
    read = frozenset({"item", *raters, *USED, *filter(None, (cluster, reading.by))}) | frozenset(
        () if wide else LONG + ("kind",) + SCALE
    )
    table.used = None if wide and reading.rater_columns is None else read  # any column may be a rater
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
    existing = {name for part in parts.values() for name in (part.question, f"{part.scheme}/{part.question}")}
    absent = sorted(set(reading.questions) - existing)
    if absent:
        question_names = ", ".join(sorted(seen | {part.question for part in parts.values()})) or "none"
        raise RatingsFileError(
            path, f"no ratings for question {', '.join(absent)}; there are {question_names}"
        )
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
    """Refuse names that differ only in case or spaces, and raters of unclear kind."""
    parts = list(parts)
    items = {item: None for part in parts for item in part.collector.items}
    open_scales = [part for part in parts if not (part.declared.values or reading.declared.values)]
    spelling.check(path, [("items", items), *(("values", part.collector.texts) for part in open_scales)])
    spelling.check_kinds(path)


def _tell_apart(parts: Sequence[Part]) -> None:
    """Add the scheme to the names of questions with the same key in several schemes or on several scales."""
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
