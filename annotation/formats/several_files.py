"""One table in several files: a file for each rater of the same items, or the parts of a large table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from annotation.formats.columns import ColumnProfile, describe_columns
from annotation.formats.header_words import is_nameless
from annotation.formats.mapping import RATER_KINDS, Column
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.readings import FILES, cell_text
from annotation.formats.scales import ScaleGuess
from annotation.formats.source import LINES, ImportProblem, Source
from annotation.formats.table_file import Row, SeveralFiles, TableFile
from annotation.formats.table_reader import open_table

FILE_COLUMNS = ("file", "file_name", "name_of_file")
"""Names of the column with the file of each row: the first one that the files do not have."""
COMPARED_ROWS, MOST_COMPARED = 5_000, 200_000
"""Rows of a file, and of all files, whose items are compared."""
SAMPLE_ROWS, LEAST_SAMPLED = 2_000, 50
"""Rows from which a table is described, and those of a file among them at least."""
COVERED = 0.9
"""Share of the rows with a text, in a column of what is rated."""
SAME = 0.5
"""Share of the smallest file's items that are in other files, where files are of one rater each."""
BETWEEN = 0.2
"""Share of dialogues that the parts of one table may have in common: where one ends, the next goes on."""
NEEDED = frozenset(
    ["item", "dialogue", "turn", "text", "speaker", "rater", "question", "value", *RATER_KINDS]
)
"""Roles of columns that all files have, if one has them."""


MEANINGS = {
    "rater": "Each file is of one rater, who is named after it.",
    "question": "Each file is about one question, which is named after it.",
    "dialogue": "Each file is one dialogue.",
}
"""What files are, by the role of their column."""


def open_tables(source: Source) -> TableFile:
    """Open the table in a file, or in all files of a folder; raises ImportProblem.

    Files of a folder have the same columns. A further column names the file of each row; it is the rater
    where the same items are in all files.
    """
    if not source.path.is_dir():
        return open_table(source)
    paths = source.files()
    parts = [_Part(source, number, path, len(paths)) for number, path in enumerate(paths)]
    opened = [_Opened.of(part, len(parts)) for part in parts]
    lacking = _lacking(opened)
    columns = list(dict.fromkeys(chain.from_iterable(table.columns for table in opened)))
    column = next((name for name in FILE_COLUMNS if name not in columns), FILE_COLUMNS[0])
    files = replace(_compare(opened, _names(opened)), column=column, lacking=lacking)
    most = max(LEAST_SAMPLED, SAMPLE_ROWS // len(opened))
    sample = [
        row | {column: name}
        for name, table in zip(files.names, opened[: SAMPLE_ROWS // most], strict=False)
        for row in table.rows[:most]
    ]
    return TableFile(
        opened[0].medium,
        (*columns, column),
        partial(_rows, source, parts, files),
        wordings=dict(opened[0].wordings),
        notes=[files.sentence, *dict.fromkeys(chain.from_iterable(table.notes for table in opened))],
        left_out=source.left_out.setdefault("", {}),
        files=files,
        first_rows=(sample, len(sample) < sum(len(table.rows) for table in opened)),
    )


def with_files(mapping: ColumnMapping, table: TableFile) -> ColumnMapping:
    """Return a mapping in which files of one rater each name the rater, where nothing else does.

    Raises ImportProblem for a file that lacks a column of the mapping.
    """
    files = table.files
    if files is None:
        return mapping
    for column in mapping.columns:
        if column.role in NEEDED and (lacking := files.lacking.get(column.name)):
            file, other = lacking
            raise ImportProblem(f"no column {column.name!r}, which {other} has", line=1, file=file)
    is_open = bool(mapping.of("value")) or any(not column.rater for column in mapping.answers)
    is_mapped = any(column.name == files.column for column in mapping.columns)
    if files.are == "parts" or mapping.of("rater") or is_mapped or not is_open:
        return mapping
    return replace(mapping, columns=(*mapping.columns, Column(files.column, "rater")))


def note_on_files(mapping: ColumnMapping, table: TableFile) -> list[str]:
    """Say what the files of a table are with a mapping, where each is something of its own."""
    name = table.files.column if table.files else ""
    return [
        MEANINGS[column.role] for column in mapping.columns if column.name == name and column.role in MEANINGS
    ]


def doubts_of_files(mapping: ColumnMapping, table: TableFile) -> list[str]:
    """Return what is not clear about the files of a table that is read with a mapping."""
    doubts = []
    if table.files and table.files.are == "unclear":
        sentence = table.files.sentence.rstrip(".")
        doubts.append(f"{sentence}: is each of one rater, of one system, or a part of one table?")
    try:
        with_files(mapping, table)
    except ImportProblem as problem:
        doubts.append(str(problem))
    return doubts


def describe_files(columns: dict[str, ColumnProfile], files: SeveralFiles) -> None:
    """Say what the column of the files looks like: the rater, the dialogue, or nothing of use."""
    others = [column for name, column in columns.items() if name != files.column]
    look, meanings = "constant", frozenset[str]()
    if files.are != "parts" and not any(column.looks_like in ("rater", "judge") for column in others):
        look, meanings = "rater", frozenset({"rater", FILES})
    elif files.are == "parts" and _is_dialogue_a_file(others):
        look, meanings = "id", frozenset({"dialogue"})
    columns[files.column] = replace(
        columns[files.column], looks_like=look, meanings=meanings, guess=ScaleGuess()
    )


def _is_dialogue_a_file(columns: Sequence[ColumnProfile]) -> bool:
    """Whether rows are turns that nothing else joins to dialogues."""
    looks = {column.looks_like for column in columns}
    has_key = any(column.meanings & {"dialogue", "item"} for column in columns)
    return {"speaker", "text"} <= looks and not has_key


class _Part(Source):
    """A file of a folder: its problems are the folder's, with their lines in the folder's table."""

    def __init__(self, origin: Source, number: int, path: Path, count: int) -> None:
        first_rows = origin.first_rows and max(1, origin.first_rows // count)
        name = origin.name_in_folder(path)
        super().__init__(path, name=name, settings=origin.settings, first_rows=first_rows)
        self.origin = origin
        self.number = number

    def report(self, problem: ImportProblem) -> None:
        """Report a problem to the folder."""
        self.origin.report(self.in_folder(problem))

    def in_folder(self, problem: ImportProblem) -> ImportProblem:
        """Return a problem with its line in the folder's table; one of the file as a whole has its name."""
        for part in problem.all():
            if part.line is None:
                part.file = part.file or self.name
            elif not part.file and part.line < LINES:
                part.line = self.origin.line_of(self.number, part.line)
        return problem


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is known of a file: its columns, and its first rows."""

    name: str
    medium: str
    columns: tuple[str, ...]
    wordings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    rows: list[Row]

    @classmethod
    def of(cls, part: _Part, count: int) -> _Opened:
        try:
            table = open_table(part)
            rows = [row for _, row in islice(table.rows(), min(COMPARED_ROWS, MOST_COMPARED // count))]
        except ImportProblem as problem:
            raise part.in_folder(problem) from None
        wordings = tuple(table.wordings.items())
        return cls(part.name, table.medium, table.columns, wordings, tuple(table.notes), rows)


def _rows(source: Source, parts: Sequence[_Part], files: SeveralFiles) -> Iterator[tuple[int, Row]]:
    """Yield the rows of all files, one file after the other, each with its file's name."""
    before = 0
    left_out = source.left_out.setdefault("", {})
    for part, name in zip(parts, files.names, strict=True):
        start = source.line_of(part.number, 0)
        part.left_out = {
            "": {line - start: text for line, text in left_out.items() if 0 <= line - start < LINES}
        }
        try:
            for line, row in open_table(part).read_rows():
                source.done = before + part.done
                row[files.column] = name
                yield start + line, row
        except ImportProblem as problem:
            raise part.in_folder(problem) from None
        before += part.total
        source.is_cut = source.is_cut or part.is_cut
    source.done = source.total


def _lacking(opened: Sequence[_Opened]) -> dict[str, tuple[str, str]]:
    """Return the columns that some files lack, with such a file and one that has it.

    Files with other columns are refused. The objects of JSON files need not have all fields.
    """
    counts = Counter(chain.from_iterable(table.columns for table in opened))
    having = {name: table.name for table in reversed(opened) for name in table.columns}
    least = min(reversed(opened), key=lambda table: sum(counts[name] for name in table.columns))
    shared = sum(counts[name] == len(opened) for name in least.columns)
    if 2 * shared < len(least.columns):
        other = next(table for table in opened if table is not least)
        names, theirs = (", ".join(table.columns[:6])[:120] for table in (least, other))
        raise ImportProblem(
            f"has the columns {names}, and {other.name} has {theirs}: files that are read together have "
            "the same columns; import each kind by itself",
            file=least.name,
        )
    lacking: dict[str, tuple[str, str]] = {}
    for table in opened:
        if not TableFile(table.medium, (), lambda: iter(())).is_json:
            missing = having.keys() - set(table.columns)
            lacking |= {name: (table.name, having[name]) for name in missing}
    return lacking


def _names(opened: Sequence[_Opened]) -> tuple[str, ...]:
    """Return a name for each file: its own without the suffix, or its folder's, or both."""
    paths = [PurePosixPath(table.name) for table in opened]
    plain = [path.with_name(path.name.removesuffix(".gz")).with_suffix("") for path in paths]
    for names in (
        [path.name for path in plain],
        [path.parent.name for path in plain],
        [str(path) for path in plain],
    ):
        if len(set(names)) == len(names):
            break
    return tuple(name[:200] for name in names) if len(set(names)) == len(names) else tuple(map(str, paths))


def _compare(opened: Sequence[_Opened], names: tuple[str, ...]) -> SeveralFiles:
    """Tell files of one rater each, with the same items, from the parts of one table."""
    column, values = _items(opened)
    counts = Counter(chain.from_iterable(values))
    n_shared = sum(count > 1 for count in counts.values())
    n_smallest = min((len(own) for own in values if own), default=0)
    listing = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    title = f"{len(names)} files"
    if len(opened) == 1:
        return SeveralFiles("", names, "parts", f"The folder has one file: {opened[0].name}.")
    if not n_smallest:
        return SeveralFiles("", names, "unclear", f"{title}: {listing}.")
    if not n_shared:
        return SeveralFiles(
            "", names, "parts", f"{title} are the parts of one table: no {column} is in two of them."
        )
    if text := _other_texts(opened, column, {value for value, count in counts.items() if count > 1}):
        sentence = f"{title} about the same items ({listing}), by {column}, with another {text} in each."
        return SeveralFiles("", names, "unclear", sentence)
    if n_shared >= SAME * n_smallest:
        sentence = f"{title} about the same items ({listing}), by {column}."
        return SeveralFiles("", names, "raters", sentence)
    recurs = all(len(own) < len(table.rows) for own, table in zip(values, opened, strict=True))
    if recurs and n_shared < len(opened) and n_shared <= BETWEEN * n_smallest:
        sentence = f"{title} are the parts of one table: hardly any {column} is in two of them."
        return SeveralFiles("", names, "parts", sentence)
    sentence = f"{title}: {n_shared:,} of {len(counts):,} {column} are in several of them."
    return SeveralFiles("", names, "unclear", sentence)


def _items(opened: Sequence[_Opened]) -> tuple[str, list[set[str]]]:
    """Return the column that says what is rated, or whose turns these are, and its values in each file."""
    shared = set(opened[0].columns).intersection(*(table.columns for table in opened))
    names = [name for name in opened[0].columns if name in shared]
    columns = [c for c in describe_columns(names, {}, opened[0].rows[:SAMPLE_ROWS]).values() if not c.is_list]
    items = [c for c in columns if "item" in c.meanings and c.looks_like == "id"]
    candidates = [
        *(c for c in items if c.n_different == c.n_rows),
        *(c for c in columns if "dialogue" in c.meanings and c.looks_like in ("id", "turn", "constant")),
        *items,
        *(c for c in columns if c.looks_like in ("text", "transcript") and "explanation" not in c.meanings),
        *(c for c in columns if c.looks_like == "id" and not is_nameless(c.name)),
    ]
    if not candidates:
        return "", []
    name = candidates[0].name
    return name, [{cell_text(row.get(name)) for row in table.rows} - {""} for table in opened]


def _other_texts(opened: Sequence[_Opened], column: str, shared: set[str]) -> str:
    """Return a column of texts that are others for the same items in most files, as those of systems are.

    Files that use the same ids for nothing but other texts are refused: their rows would be joined.
    """
    columns = describe_columns(opened[0].columns, {}, opened[0].rows[:SAMPLE_ROWS]).values()
    texts = [
        c
        for c in columns
        if c.looks_like in ("text", "transcript") and "explanation" not in c.meanings and c.name != column
    ]
    seen: dict[str, list[tuple[str, dict[str, frozenset[str]]]]] = {value: [] for value in shared}
    for table in opened if texts else ():
        by_value: dict[str, list[Row]] = {}
        for row in table.rows:
            if (value := cell_text(row.get(column))) in shared:
                by_value.setdefault(value, []).append(row)
        for value, rows in by_value.items():
            cells = {c.name: frozenset(cell_text(row.get(c.name)) for row in rows) for c in texts}
            seen[value].append((table.name, cells))
    pairs = [(value, places[0], places[1]) for value, places in seen.items() if len(places) > 1]

    def differs(name: str) -> bool:
        return 2 * sum(not (first[1][name] & other[1][name]) for _, first, other in pairs) > len(pairs)

    others = [c for c in texts if c.coverage > COVERED and differs(c.name)]
    of_text = [c for c in texts if "text" in c.meanings]
    if of_text and all(differs(c.name) for c in of_text):
        value, first, other = min(pairs, key=lambda pair: pair[0])
        raise ImportProblem(
            f"{column} {value[:40]!r} stands for another text in {first[0]}: import the files one by one, or "
            "give what they hold ids of its own",
            file=other[0],
            field=column,
        )
    return others[0].name if others else ""


def common_name(names: Sequence[str]) -> str:
    """Return a name for files together: how all their names begin, without a number."""
    if len(names) == 1:
        return names[0]
    first, last = min(names), max(names)
    n_alike = next((n for n, letter in enumerate(first) if letter != last[n]), len(first))
    return first[:n_alike].rstrip("-_. 0123456789")
