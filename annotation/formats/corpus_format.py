"""Import format: its records, its settings, and detection of a file's format from its beginning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from annotation.formats.fields import NAME_LIMIT
from annotation.formats.source import PACKED, ZIP, ImportProblem, Source, suffix_of
from annotation.formats.table_file import ENCODING, SHEET, begins_list, flatten
from annotation.formats.table_reader import open_table, records_of
from annotation.records import Dialogue, LabelRecord

# Beginning of a file: enough to detect its format.

SIZE = 2**16
KEY = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')
BOM = b"\xef\xbb\xbf"
MOST_OBJECTS = 50
"""Objects at the beginning of a JSON file whose paths are known."""


@dataclass(frozen=True)
class Head:
    """The beginning of a file, at most `SIZE` bytes of its text: unpacked, and UTF-8.

    `files` are the names of the files in a folder, or in a zip archive of several. Without a `source`, only
    the text is known.
    """

    content: bytes
    source: Source | None = None
    files: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The beginning as text, without leading space; empty for a workbook and the like."""
        if self.content.startswith(PACKED):
            return ""
        return self.content[:SIZE].removeprefix(BOM).decode(errors="ignore").lstrip()

    @property
    def is_json(self) -> bool:
        """Whether the text begins like JSON."""
        return self.text.startswith("{") or begins_list(self.text)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the object in the first line; of all objects, where it is not one complete line."""
        if not self.is_json:
            return frozenset()
        try:
            first = json.loads(self.text.splitlines()[0])
        except (ValueError, RecursionError):
            first = None
        return frozenset(first) if isinstance(first, dict) else frozenset(KEY.findall(self.text))

    @cached_property
    def inner(self) -> frozenset[str]:
        """The keys of all objects, at any depth: they identify a file whose outer keys are ids."""
        return frozenset(KEY.findall(self.text)) if self.is_json else frozenset()

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The first objects of a JSON file: of its lines, of its list, or of the only list in its object."""
        if not self.is_json:
            return ()
        objects = list(islice(_values_in(self.text), MOST_OBJECTS))
        if len(objects) == 1 and isinstance(objects[0], dict):
            objects = records_of(objects[0])[0][:MOST_OBJECTS]
        return tuple(value for value in objects if isinstance(value, dict))

    @cached_property
    def paths(self) -> frozenset[str]:
        """The columns of the file as a table; of JSON, the paths of its first objects."""
        if self.objects:
            return frozenset(chain.from_iterable(map(flatten, self.objects)))
        try:
            return frozenset(open_table(self.source).columns) if self.source else frozenset()
        except ImportProblem:
            return frozenset()

    @cached_property
    def header(self) -> frozenset[str]:
        """The columns of the file as a table, in lower case."""
        return frozenset(name.strip().lower() for name in self.paths)


def _values_in(text: str) -> Iterator[Any]:
    """Yield the complete JSON values at the beginning of a text: of lines, or of the elements of a list."""
    decoder = json.JSONDecoder()
    place = 1 if text.startswith("[") else 0
    while match := BETWEEN.match(text, place):
        try:
            value, place = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            return
        yield value


BETWEEN = re.compile(r"[\s,]*")


# Records yielded by a format, and the entries of the table of formats.


@dataclass(frozen=True, slots=True)
class Rating:
    """A label for an item of the corpus: one line of a file that holds labels alone.

    `level` and `values` describe the question's scale, for a question that is new to the corpus. `raw` is a
    number as it was written, in case the question turns out to be answered in words.

    `turn_number` is the number that annotators see beside the turn, from 1; it places a label without a known
    `turn`. With `counted`, the label's turn is assumed to count from 0, without the file saying so.
    """

    dialogue: str
    label: LabelRecord
    level: str = ""
    values: tuple[float | str, ...] = ()
    raw: str | None = None
    field: str = "value"
    turn_number: int | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record with the 1-based line that it came from; None in a file that is one JSON document."""

    record: Dialogue | Rating
    line: int | None = None
    file: str = ""


def entries(
    source: Source, lines: Iterable[tuple[int, Any]], record: Callable[[Any], Dialogue | Rating]
) -> Iterator[SourceRecord]:
    """Yield the record of each line that is not left out; errors are reported to the source."""
    left_out = source.left_out.get("", {})
    for line, content in lines:
        if line in left_out:
            continue
        try:
            entry = SourceRecord(record(content), line)
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
        else:
            yield entry


ANY_ROLES = ("*",)
"""Roles of a format that takes any mapping."""


@dataclass(frozen=True, slots=True)
class Format:
    """An import format. `read` yields entries one by one.

    Recoverable problems are reported to the source; others are raised. `looks_like` tests whether the
    beginning of a file fits this format. `roles` are the keys that a mapping of its columns may have: none
    where it takes no mapping, `ANY_ROLES` for those of any table. `settings` are a user's settings for a file
    (`Setting`). A `folder` format
    reads several files as one. Dialogues of an `exact` format have exactly the turns that the corpus has,
    even where a dialogue has none. `rated` are the speakers or roles whose turns are rated where the user
    names none; empty where it is all of them.

    `labels_only` formats add labels to an existing corpus. `schemes` are the built-in schemes of the format's
    own labels; labels of other files are never assigned to these without an explicit request. Questions of a
    format with `own_questions` are the corpus's own, whatever built-in scheme has one of the same name. Texts
    of a format with `has_marks` have transcription marks, words in braces.
    """

    key: str
    title: str
    hint: str
    read: Callable[[Source], Iterator[SourceRecord]]
    looks_like: Callable[[Head], bool]
    labels_only: bool = False
    folder: bool = False
    schemes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    exact: bool = False
    rated: tuple[str, ...] = ()
    own_questions: bool = False
    has_marks: bool = False


# Detection of a file's format from its beginning.

# Manifest of an exported file: its number of rows, and the SHA-256 of its bytes.
#
# A file that was cut off between two rows looks complete. Its manifest states the content, and an import with
# a manifest refuses any other file.

SUFFIX = ".manifest.json"
LIMIT = 2**16
HASH = re.compile(r"\A[0-9a-f]{64}\Z")


def manifest_path(path: str | Path) -> Path:
    """Return the path of a file's manifest: `labels.csv.manifest.json`."""
    file_path = Path(path)
    return file_path.with_name(file_path.name + SUFFIX)


def read_manifest_hash(path: str | Path) -> str:
    """Return the SHA-256 in the manifest beside a file, empty where there is none."""
    manifest = manifest_path(path)
    try:
        with manifest.open("rb") as file:
            content = json.loads(file.read(LIMIT))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError):
        content = None
    sha256 = content.get("sha256") if isinstance(content, dict) else None
    if not isinstance(sha256, str):
        raise ImportProblem("holds no sha256: take it away to import without it", file=manifest.name)
    return sha256


def check(content_hash: str, sha256: str) -> None:
    """Refuse content whose SHA-256 differs from the expected one; empty means no expectation."""
    expected = sha256.strip().lower()
    if not expected:
        return
    if not HASH.fullmatch(expected):
        raise ImportProblem("is not a SHA-256: 64 digits from 0 to f", field="sha256")
    if content_hash != expected:
        raise ImportProblem(
            f"was cut off or changed: its SHA-256 is {content_hash[:12]}..., its manifest says "
            f"{expected[:12]}.... Export it again, or import without the manifest",
            field="sha256",
        )


NOT_READ: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"\{\\rtf", "is rich text (RTF): save it as plain text"),
        (
            r"From \S+ +\w{3} \w{3} |(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version): ",
            "is e-mail: import a table with columns for thread, sender and text, or texts like `Ana: hello`",
        ),
        (
            r"<!DOCTYPE html|<html",
            "is a web page: export JSON or text instead, as ChatGPT, Telegram and others do on request",
        ),
        (r"<\?xml|<!--|<!DOCTYPE|<[a-z][^<>]{0,200}>\s*<", "is XML: export JSON, CSV or plain text instead"),
        (
            r"(?:version: [^\n]*+\s*+)?(?:stories|nlu|rules|intents):\s",
            "is training data without the bot's words: export trackers of conversations instead",
        ),
        (r"SPEAKER \S+ \d+ [\d.]+ [\d.]+ <NA>", "says who speaks when (RTTM), but not what is said"),
        (
            r"\S+[ \t]+Q0[ \t]+\S+[ \t]+\d+[ \t]+-?[\d.]+[ \t]+\S+\n",
            "ranks documents (a run of TREC), and has no ratings",
        ),
        (
            r"(?:--\s*+)++(?:MySQL|MariaDB|PostgreSQL|SQLite)|(?:CREATE TABLE|INSERT INTO|PRAGMA) ",
            "is SQL: export the table as CSV",
        ),
        (
            r"(?:\d{1,2}:){1,2}\d{2}\n[^\n]+\n(?:\d{1,2}:){1,2}\d{2}\n[^\n]+\n",
            "has times and texts, but no line says who speaks: expected lines like `Ana: Hello`",
        ),
    )
)
"""Beginnings of files that people try, and cannot be read, with what to do instead."""


def guess(formats: Mapping[str, Format], head: Head) -> str:
    """Return the key of the first format that fits a file's beginning, else `table`.

    Files of other kinds are refused; so is a JSON document that is neither, with its keys and the nearest
    format.
    """
    for format in formats.values():
        if format.looks_like(head):
            return format.key
    if LISTS_OF_TURNS.match(head.text):
        return "table"
    for pattern, reason in NOT_READ:
        if pattern.match(head.text):
            raise ImportProblem(reason)
    if head.is_json and not any("[]" in path for path in head.paths) and len(head.objects) < 2:
        raise ImportProblem(describe_json(formats, head))
    return "table"


LISTS_OF_TURNS = re.compile(r'\s*\[\s*\[\s*["{]')
"""Beginning of a JSON document with a list for each dialogue."""


def describe_json(formats: Mapping[str, Format], head: Head) -> str:
    """Describe a JSON file that no format knows: its top keys, and the nearest format if two keys are its."""
    keys = sorted(head.objects[0] if head.objects else head.keys)
    names = ", ".join(key[:40] for key in keys[:12]) + (", ..." if len(keys) > 12 else "")
    words = {format.key: set(re.findall(r'"(\w+)"', format.hint)) for format in formats.values()}
    nearest = max(words, key=lambda key: len(words[key] & head.inner))
    text = f"is JSON with the keys {names}, which no format has" if names else "is JSON without any object"
    if len(words[nearest] & head.inner) > 1:
        text += f"; the nearest format is {nearest}: {formats[nearest].hint}"
    return text


def read_start(path: str | Path, name: str = "") -> Head:
    """Read the beginning of a file, or of a folder's first JSON file, to detect its format.

    A folder without any .json file, or with the lines of a corpus in ConvoKit's form, is recognised by its
    first .jsonl file, one without either by its first Parquet or Arrow file, else by its first file. Raises
    ImportProblem for a file that cannot be read; one with content of its own kind, such as a pickle or an
    archive of several files, has its first bytes.
    """
    place = Path(path)
    files: tuple[str, ...] = ()
    if place.is_dir():
        inside = sorted(file for file in place.rglob("*") if file.is_file())
        files = tuple(file.name for file in inside)
        lines = [file for file in inside if file.name == "utterances.jsonl"]
        place = min(lines or inside, key=lambda file: (_order(file.name), file.name), default=place)
    source = Source(place, name=name)
    if place.is_dir():
        return Head(b"")
    try:
        content = source.start()
    except ImportProblem:
        with place.open("rb") as file:
            content = file.read(SIZE)
    parts = source.parts if content.startswith(ZIP) else ()
    return Head(content, source, files or parts)


def _order(name: str) -> int:
    """Return the place of a file among those of a folder: the first one determines the format."""
    suffix = suffix_of(name)
    kinds = (".json",), (".jsonl", ".ndjson"), (".parquet", ".arrow", ".feather"), (".csv", ".tsv", ".xlsx")
    return next((number for number, kind in enumerate(kinds) if suffix in kind), len(kinds))


# Settings that a user declares about a file: one table, for page, command and API.

MOST = 10_000
LIST_LIMIT = 2_000
"""Maximum characters of a list of names."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: a name, names separated by commas, one of `choices`, or a whole number from 1.

    `words` are a page's labels for no choice, and for each of the choices. A command's option whose first
    choice is `yes` may be given without a value.
    """

    key: str
    kind: Literal["name", "names", "choice", "count"]
    title: str
    help: str
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """Maximum characters of a text."""
        return LIST_LIMIT if self.kind == "names" else NAME_LIMIT

    def read(self, value: Any) -> str | int:
        """Parse a value for storage; raise ImportProblem for an invalid one."""
        if self.kind == "count":
            return self._count(value)
        text = str(value).strip()
        if self.kind == "choice" and text not in self.choices:
            raise ImportProblem(f"must be one of {', '.join(self.choices)}", field=self.key)
        if len(text) > self.limit or not text.isprintable():
            raise ImportProblem(f"must be of one line, up to {self.limit} characters", field=self.key)
        return text

    def _count(self, value: Any) -> int:
        text = str(value).strip()
        if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST):
            raise ImportProblem(f"must be a whole number from 1 to {MOST}", field=self.key)
        return int(text)


FOLD_NAMES, MISSING, JUDGES, RATED = "fold_names", "missing", "judges", "rated"
SKIP_BAD_ROWS = "skip_bad_rows"
OF_TABLES = (SHEET, ENCODING)
"""Settings of every format that reads tables."""
COMMON = (FOLD_NAMES, RATED, SKIP_BAD_ROWS)
"""Settings of every format."""
SETTINGS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(
            FOLD_NAMES,
            "choice",
            "Names that differ in case or space alone",
            "Of dialogues, speakers, raters and systems, such as Ann and ann.",
            ("yes", "no"),
            ("refuse the file and list them", "join them in their first spelling", "keep them apart"),
        ),
        Setting(
            MISSING,
            "names",
            "Words for no answer",
            "Values that mean no answer, comma-separated: NA, n/a, -.",
        ),
        Setting(
            JUDGES,
            "names",
            "Judges among the raters",
            "LLM judges where the file does not say who is one, comma-separated; none where all are people.",
        ),
        Setting(
            RATED,
            "names",
            "Speakers whose turns are rated",
            "By name or role, comma-separated; the others' turns become context. Empty: all.",
        ),
        Setting(
            SKIP_BAD_ROWS,
            "choice",
            "Rows that do not fit",
            "Imports the rest, and writes the rows that do not fit to a file with the reasons.",
            ("yes",),
            ("refuse the file", "leave them out"),
        ),
        Setting(SHEET, "name", "Sheet", "Of an Excel workbook; else the first one with cells."),
        Setting(
            ENCODING, "name", "Encoding", "Of a text that is not UTF-8, such as cp1252; guessed if empty."
        ),
        Setting("system", "name", "System", "Who answers in the file, where it names no model."),
        Setting(
            "given",
            "choice",
            "Half that was given",
            "Where MPCEval's predictions are of one half alone: what the system was told of each turn.",
            ("speaker", "content"),
        ),
        Setting(
            "any_size",
            "choice",
            "Scenarios of any size",
            "Takes scenarios of fewer than three or more than five people, with a note.",
            ("yes",),
        ),
        Setting("main", "name", "Main character", "Whose memory a long dialogue tests; else who says most."),
        Setting(
            "keep_directions",
            "choice",
            "Directions in brackets",
            "Of a long dialogue: keeps (laughs) and the like in the text; else they are dropped.",
            ("yes",),
        ),
        Setting(
            "dialogue",
            "name",
            "Id of the dialogue",
            "Of a long dialogue or a transcript; else it is the file's name.",
        ),
        Setting(
            "turns_from",
            "choice",
            "First turn is number",
            "Whether the column `turn` of a ratings file counts a dialogue's turns from 0 or from 1.",
            ("0", "1"),
        ),
        Setting("min_turns", "count", "Least number of turns", "Shorter dialogues of MPDD are left out."),
    )
}


def settings_of(values: Mapping[str, Any], format: str, accepted: tuple[str, ...]) -> dict[str, str | int]:
    """Parse a user's settings of a file; empty ones are left out.

    Raises ImportProblem for a setting that the format does not accept, and for a value that it cannot have.
    """
    settings: dict[str, str | int] = {}
    for key, value in values.items():
        if value is None or str(value).strip() == "":
            continue
        if key not in SETTINGS or key not in (*COMMON, *accepted):
            which = ", ".join((*COMMON, *accepted))
            raise ImportProblem(f"is not a setting of the format {format}, which takes {which}", field=key)
        settings[key] = SETTINGS[key].read(value)
    return settings
