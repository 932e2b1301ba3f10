"""Tables: rows of texts by column, from CSV or TSV in UTF-8, and dialogues built from them."""

from __future__ import annotations

import csv
import datetime
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from typing import Any, BinaryIO
from xml.etree.ElementTree import ParseError

from annotation.formats.corpus_format import Format, SourceRecord, delimiter, renamed
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, check_static
from annotation.formats.source import ImportProblem, Source
from annotation.records import HUMAN, SELF, Continuation, Dialogue, Turn

Row = dict[str, str]
Cells = tuple[int, list[str]]
"""The line on which a row begins, and its cells."""

LONGEST_CELL = 131_072
"""Maximum characters of one cell."""


def csv_cells(source: Source) -> Iterator[Cells]:
    """Yield the non-empty rows, header first; the header line determines the delimiter."""
    lines = _lines(source)
    first = next(lines)
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: another reader may have raised it
    rows = csv.reader(chain((first,), lines), strict=True, delimiter=delimiter(first))
    while True:
        line = rows.line_num + 1
        values = _next(rows, line)
        if values is None:
            return
        if line == 1 or any(map(str.strip, values)):
            yield line, values


def _lines(source: Source) -> Iterator[str]:
    for number, line in source.raw_lines():
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise ImportProblem(f"is not UTF-8 at byte {error.start}", line=number) from None
        if "\0" in text:
            raise ImportProblem("holds a NUL character, which cannot be stored", line=number)
        yield text


def _next(rows: Any, line: int) -> list[str] | None:
    try:
        row: list[str] | None = next(rows, None)
    except csv.Error as error:
        raise ImportProblem(f"is not valid CSV: {error}", line=line) from None
    return row


def header_of(source: Source, names: list[str], allowed: Collection[str], needed: Iterable[str]) -> list[str]:
    """Return the columns by Concord's names; the others are listed with the import.

    Refuses missing, wrongly mapped and duplicate columns.
    """
    plain = [name.strip().lower() for name in names]
    for ours, theirs in source.columns.items():
        if ours not in allowed:
            raise ImportProblem(f"is not a column of the format; use {', '.join(allowed)}", field=ours)
        if theirs.strip().lower() not in plain:
            raise ImportProblem(f"there is no column {theirs!r} to be taken for {ours}", line=1, field=ours)
    header = renamed(names, source.columns)
    for name in needed:
        if name not in header:
            raise ImportProblem(
                f"has no column {name!r}: the first line names the columns", line=1, field=name
            )
    if repeated := {name for name in header if name and header.count(name) > 1}:
        raise ImportProblem("is there twice", line=1, field=sorted(repeated)[0])
    source.is_table = True
    source.pass_over(name for name in header if name not in allowed)
    return header


def row_of(header: list[str], values: list[str]) -> Row:
    """Return the cells of a row by column; refuse a row that has more or fewer."""
    if len(values) != len(header):
        raise ImportProblem(f"has {len(values)} columns, the first line {len(header)}")
    return dict(zip(header, values, strict=True))


def whole_number(row: Row, name: str) -> int:
    """Return a whole number from 0; 0 for an empty cell."""
    text = row.get(name, "").strip() or "0"
    if not (text.isascii() and text.isdigit() and int(text[:12]) < 2**31):
        raise ImportProblem(f"{text[:20]!r} is not a whole number of 0 or more", field=name)
    return int(text)


TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def truth(row: Row, name: str, *, empty: bool) -> bool:
    """Return a cell's truth value; `empty` for an empty cell."""
    text = row.get(name, "").strip().lower()
    if text and text not in TRUTH:
        raise ImportProblem(f"{text[:20]!r} is neither true nor false", field=name)
    return TRUTH.get(text, empty)


# Dialogues as a table, one row a turn: the meaning of its columns, whatever the kind of file.
#
# `dialogue`, `speaker` and `text` are required. `continuation` names the continuation of a turn (empty or
# `self`: the dialogue's own turns), `system` its system; `at` makes a continuation static. The rows of a
# dialogue are contiguous, in the order of its turns. Columns of other names are ignored, and listed. A table
# with a row per turn and annotator repeats every turn: each is read once, or the table is refused.

NEEDED = ("dialogue", "speaker", "text")
COLUMNS = (
    *NEEDED,
    *(
        "continuation",
        "system",
        "trial",
        "at",
        "given",
        "time",
        "session",
        "addressees",
        "cluster",
        "language",
    ),
)
NAMES = ("dialogue", "speaker", "continuation", "system", "cluster", "language")
LIMITS = {
    **dict.fromkeys(("dialogue", "speaker", "continuation", "cluster"), ID_LIMIT),
    "system": NAME_LIMIT,
    "language": 40,
}
RATER = re.compile(
    r"(annotator|rater|coder|label+er|worker|judge|evaluator|assessor|reviewer)"
    r"([ _.-]?(id|name|no|nr|number))?"
)
"""Names of columns with the annotator of a row."""
NUMBER = re.compile(
    r"(turn|utterance|utt|message|msg|line)s?([ _.-]?(id|idx|index|no|nr|num|number))?|number|nr|position"
)
"""Names of columns that number the turns. Neither is imported: they show whether rows repeat a turn."""
MAX_TURNS = 100_000
"""Maximum number of rows of a dialogue."""
MAX_CHARACTERS = 16 * 2**20
"""Maximum number of characters of a dialogue's texts."""


@dataclass(slots=True)
class _Part:
    """The turns of one continuation; for the values `stated` in its rows, the first non-empty one holds."""

    turns: list[Turn] = field(default_factory=list)
    stated: dict[str, str] = field(default_factory=dict)
    rows: list[_RowSource] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _RowSource:
    """Origin of a turn: its row's line, and the annotator and turn number where columns name them."""

    line: int
    rater: str
    number: str


@dataclass(slots=True)
class _Repeats:
    """The unread columns that show whether rows repeat a turn, and the number of rows that did."""

    rater: str
    number: str
    left_out: int = 0
    adjacent: int = 0

    @classmethod
    def of(cls, header: list[str]) -> _Repeats:
        unread = [name for name in header if name not in COLUMNS]
        rater = next(filter(RATER.fullmatch, unread), "")
        return cls(rater, next(filter(NUMBER.fullmatch, unread), ""))

    def notes(self) -> Iterator[str]:
        if self.left_out:
            rater, turn = self.rater or "RATERS", f",turn={self.number}" if self.number else ""
            yield (
                f"Rows that repeat a turn for another annotator: {self.left_out:,}. Each turn was read once. "
                "To read the labels of this table, import it again into this corpus as ratings-csv, with the "
                f"columns rater={rater},value=ANSWERS{turn}."
            )
        if self.adjacent:
            yield f"Rows that say the same as the row before them, kept as turns: {self.adjacent:,}."


def read_table(source: Source, rows: Iterator[Cells]) -> Iterator[SourceRecord]:
    """Yield the dialogues of a table whose first row names the columns."""
    names = next(rows)[1]
    columns = {name.strip().lower() for name in names}
    if {"rater", "value"} <= columns and "text" not in columns and not source.columns:
        raise ImportProblem(
            "is a table of ratings, not of turns: save it as CSV and import it as ratings-csv", line=1
        )
    header = header_of(source, names, COLUMNS, NEEDED)
    repeats = _Repeats.of(header)
    for _, group in groupby(_rows(source, header, rows), key=lambda row: row[1]["dialogue"]):
        if entry := _dialogue(source, group, repeats):
            yield entry
    source.notes += repeats.notes()


def _rows(source: Source, header: list[str], rows: Iterable[Cells]) -> Iterator[tuple[int, Row]]:
    """Yield the rows that can be assigned to a dialogue."""
    for line, cells in rows:
        try:
            row = row_of(header, cells)
            row |= {name: row[name].strip() for name in NAMES if name in row}
            if not row["dialogue"]:
                raise ImportProblem("is empty", field="dialogue")
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
        else:
            yield line, row


def _dialogue(source: Source, rows: Iterable[tuple[int, Row]], repeats: _Repeats) -> SourceRecord | None:
    """Build a dialogue from its rows; errors in a row are reported to the source."""
    parts: dict[str, _Part] = {SELF: _Part()}
    whole_dialogue: dict[str, str] = {}
    first, sound, count, characters = 0, True, 0, 0
    for line, row in rows:
        first, count, characters = first or line, count + 1, characters + len(row["text"])
        if count > MAX_TURNS or characters > MAX_CHARACTERS:
            raise ImportProblem(
                f"the dialogue has over {MAX_TURNS:,} rows or {MAX_CHARACTERS:,} characters", line=line
            )
        try:
            part = _add(row, parts, whole_dialogue)
            part.rows.append(_RowSource(line, row.get(repeats.rater, ""), row.get(repeats.number, "")))
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
            sound = False
    if not sound:
        return None
    try:
        for part in parts.values():
            _read_once(part, repeats)
        return SourceRecord(_record(row["dialogue"], parts, whole_dialogue), first)
    except ImportProblem as problem:
        source.report(problem.placed(line=first))
        return None


def _add(row: Row, parts: dict[str, _Part], whole_dialogue: dict[str, str]) -> _Part:
    """Add a row's turn to its continuation, and return the continuation."""
    for name, limit in LIMITS.items():
        if len(row.get(name, "")) > limit:
            raise ImportProblem(f"is longer than {limit} characters", field=name)
    turn = _turn(row)
    part = parts.setdefault(row.get("continuation", "") or SELF, _Part())
    for name in ("system", "trial"):
        _agree(part.stated, row, name, "the rows of this continuation")
    for name in ("cluster", "language"):
        _agree(whole_dialogue, row, name, "the rows of this dialogue")
    part.turns.append(turn)
    return part


def _read_once(part: _Part, repeats: _Repeats) -> None:
    """Drop the rows of a continuation that repeat a turn for another annotator.

    Rows are repeats where a column numbers the turns and every number belongs to a single turn, or where all
    annotators have the same turns in the same order. Otherwise a turn repeated by another annotator is
    refused, and so are turns that all occur several times: it is unknown how often each was said.
    """
    turns, rows = part.turns, part.rows
    once = _by_number(turns, rows) or _by_rater(turns, rows)
    if once:
        repeats.left_out += len(turns) - len(once)
        part.turns = [turns[place] for place in once]
        return
    _refuse_repeated(turns, rows, repeats)
    repeats.adjacent += sum(turn == other for turn, other in pairwise(turns))


def _by_number(turns: list[Turn], rows: list[_RowSource]) -> list[int]:
    """Return the first row of each number; [] where numbers do not repeat, or belong to several turns."""
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        if not row.number or turns[first.setdefault(row.number, place)] != turns[place]:
            return []
    numbers = [int(number) for number in first if number.isascii() and number.isdigit()]
    if len(first) == len(turns) or (len(numbers) == len(first) and numbers != sorted(numbers)):
        return []
    return list(first.values())


def _by_rater(turns: list[Turn], rows: list[_RowSource]) -> list[int]:
    """Return the first annotator's rows; [] with a single annotator, or where others have other turns."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.rater, []).append(place)
    if not places:
        return []
    first, *others = places.values()
    mine = [turns[place] for place in first]
    if others and all([turns[place] for place in other] == mine for other in others):
        return first
    return []


def _refuse_repeated(turns: list[Turn], rows: list[_RowSource], repeats: _Repeats) -> None:
    """Refuse turns repeated by other annotators, and turns that all occur equally often.

    Where every row has a number of its own, some turns may well be said again later, but not most of them.
    """
    first: dict[Turn, _RowSource] = {}
    again = [
        (before, row)
        for turn, row in zip(turns, rows, strict=True)
        if (before := first.setdefault(turn, row)).rater != row.rater
    ]
    numbered = len({row.number for row in rows}) == len(rows)
    others = sum(row.rater != rows[0].rater for row in rows)
    if again and (not numbered or 2 * len(again) >= others):
        before, row = again[0]
        raise ImportProblem(
            f"repeats the turn of line {before.line} for another {repeats.rater}, and not all of them have "
            "the same turns: write every turn once, and the labels into a ratings file",
            line=row.line,
        )
    if len(first) > 2 and len(first) < len(turns) and len(set(Counter(turns).values())) == 1:
        raise ImportProblem(
            f"every turn of this dialogue is there {len(turns) // len(first)} times, as in a table with a "
            "row per turn and annotator: write every turn once, and the labels into a ratings file",
            line=rows[0].line,
        )


def _agree(stated: dict[str, str], row: Row, name: str, scope: str) -> None:
    value = row.get(name, "")
    if value and stated.setdefault(name, value) != value:
        raise ImportProblem(f"{value[:40]!r} differs from {stated[name][:40]!r} in {scope}", field=name)


def _turn(row: Row) -> Turn:
    for name in ("speaker", "text"):
        if not row[name].strip():
            raise ImportProblem("is empty", field=name)
    is_given = truth(row, "given", empty=False)
    whole_number(row, "trial")
    return Turn(
        speaker=row["speaker"],
        text=row["text"],
        given=is_given,
        at=whole_number(row, "at") if row.get("at", "").strip() else None,
        time=row.get("time", ""),
        session=row.get("session", ""),
        addressees=tuple(filter(None, (name.strip() for name in row.get("addressees", "").split(";")))),
    )


def _record(key: str, parts: dict[str, _Part], whole_dialogue: dict[str, str]) -> Dialogue:
    own = parts.pop(SELF)
    if any(turn.at is not None for turn in own.turns):
        raise ImportProblem("only turns of a static continuation have a point `at`", field="at")
    record = Dialogue(
        id=key,
        turns=tuple(own.turns),
        continuations=tuple(_continuation(name, part) for name, part in parts.items()),
        system=own.stated.get("system", HUMAN),
        cluster=whole_dialogue.get("cluster", ""),
        language=whole_dialogue.get("language", ""),
    )
    if record.turns:
        check_static(record, len(record.turns))
    return record


def _continuation(name: str, part: _Part) -> Continuation:
    is_static = any(turn.at is not None for turn in part.turns)
    return Continuation(
        id=name,
        system=part.stated.get("system", name[:NAME_LIMIT]),
        turns=tuple(part.turns),
        mode="static" if is_static else "rollout",
        trial=whole_number(part.stated, "trial"),
    )


# Dialogues from CSV or TSV: one row a turn, as described above.


def read_turn_table(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the table."""
    return read_table(source, csv_cells(source))


TURN_TABLE = Format(
    key="turns-csv",
    title="Dialogues as a table, CSV or TSV",
    hint="One row a turn: dialogue, speaker, text; continuation, system, at, given where they apply.",
    read=read_turn_table,
    looks_like=lambda head: set(NEEDED) <= head.header,
    columns=COLUMNS,
)


# Dialogues from an Excel workbook: the first sheet, one row a turn, as described above.
#
# A workbook is an archive of XML from an untrusted source: each part of it is measured before it is parsed
# into objects, rows and columns are bounded whatever size the sheet declares, entities are refused
# (defusedxml), and formulas are not evaluated: the spreadsheet's last displayed value is read. Only the
# necessary parts are read: the list of contents, the workbook, its texts, its styles (they mark dates) and
# the sheet.

MAX_ROWS = 1_048_576
MAX_COLUMNS = 100
MAX_PARTS = 1_000
MAX_UNPACKED = 128 * 2**20
"""Bytes of all parts together; zipfile reads no more of a part than its entry declares."""
MAX_TEXTS = 32 * 2**20
"""Bytes of the table of texts, which is held in memory."""
MAX_TEXT_TAGS = 1_500_000
MAX_PART = 2**20
"""Bytes of any other part that is read as a whole, such as the styles."""
MAX_PART_TAGS = 50_000
MAX_ROW = 16 * 2**20
"""Bytes of one row or one text, and of the content between two of them."""
MAX_ROW_TAGS = 200_000
COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods of a workbook's parts."""
RECORD = re.compile(rb"<(?:[\w.-]+:)?(?:row|si)[\s/>]")
LONGEST_START = 64
BLOCK = 2**18
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    EOFError,
    OSError,
    LookupError,
    ValueError,  # includes defusedxml's refusals
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # a part that is encrypted, compressed in an unknown way or nested without end
)


def read_turns_xlsx(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the first sheet."""
    return read_table(source, _cells(source))


def _cells(source: Source) -> Iterator[Cells]:
    """Yield the non-empty rows, header first, all as long as the header."""
    if source.path.is_dir():
        raise ImportProblem("is a folder; this format is one file", file=source.name)
    if not source.path.stat().st_size:
        raise ImportProblem("the file is empty")
    with source.path.open("rb") as file:
        yield from _filled(_sheet(file))
    source.done = source.total


def _filled(rows: Iterator[tuple[int, list[Any]]]) -> Iterator[Cells]:
    width = 0
    while True:
        try:
            number, row = next(rows, (0, []))
        except BROKEN as error:
            raise _unreadable(error) from None
        if not number:
            break
        if number > MAX_ROWS:
            raise ImportProblem(f"has over {MAX_ROWS:,} rows", line=number)
        if row.count(None) == len(row):
            continue
        texts = _without_empty_end([_text(cell) for cell in row])
        width = width or len(texts)
        yield number, texts + [""] * (width - len(texts))
    if not width:
        raise ImportProblem("the first sheet is empty")


class _Archive(zipfile.ZipFile):
    """An archive whose parts are measured before they are read; ImportProblem for one that is too large."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        parts = self.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
            raise _too_large(f"more than {MAX_UNPACKED >> 20} MiB unpacked, or {MAX_PARTS:,} parts")
        if any(part.compress_type not in COMPRESSED for part in parts):
            raise zipfile.BadZipFile
        self.measured: set[str] = set()

    def read(self, name: Any, pwd: bytes | None = None) -> bytes:
        """Return a part that is read as a whole."""
        self.measure(name, most=MAX_PART, tags=MAX_PART_TAGS)
        return super().read(name, pwd)

    def open(self, name: Any, *arguments: Any, **options: Any) -> Any:
        """Open a part that is read row by row, or text by text."""
        self.measure(name, most=MAX_UNPACKED, tags=MAX_UNPACKED)
        return super().open(name, *arguments, **options)

    def measure(self, name: str, *, most: int, tags: int) -> None:
        """Refuse a part with too many bytes or tags, in all or in one row. The part is unpacked once for it.

        Tags are counted as `<`, whatever encoding the part has.
        """
        if name in self.measured:
            return
        size = all_tags = row_size = row_tags = 0
        tail = b""
        with super().open(name) as part:
            while block := part.read(BLOCK):
                size, all_tags = size + len(block), all_tags + block.count(b"<")
                starts = [match.start() for match in RECORD.finditer(tail + block)]
                row = (tail + block)[starts[-1] :] if starts else block
                row_size = len(row) + (0 if starts else row_size)
                row_tags = row.count(b"<") + (0 if starts else row_tags)
                tail = block[-LONGEST_START:]
                if size > most or all_tags > tags or row_size > MAX_ROW or row_tags > MAX_ROW_TAGS:
                    raise _too_large(f"too much in its part {name[:100]}")
        self.measured.add(name)


def _sheet(file: BinaryIO) -> Iterator[tuple[int, list[Any]]]:
    """Yield the numbered rows of the first sheet that have cells, no wider than is read."""
    from openpyxl.reader import excel  # only where a workbook is read
    from openpyxl.styles.stylesheet import apply_stylesheet
    from openpyxl.worksheet._reader import WorkSheetParser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = excel.ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.archive = archive = _Archive(file)
        reader.read_manifest()
        if texts := reader.package.find(excel.SHARED_STRINGS):
            archive.measure(texts.PartName[1:], most=MAX_TEXTS, tags=MAX_TEXT_TAGS)
        reader.read_strings()
        reader.read_workbook()
        book = reader.wb
        apply_stylesheet(archive, book)
        sheets = [entry.target for _, entry in reader.parser.find_sheets() if "chartsheet" not in entry.Type]
        with archive.open(sheets[0]) as sheet:
            dates = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
            parser = WorkSheetParser(sheet, reader.shared_strings, data_only=True, epoch=book.epoch, **dates)
            for number, cells in parser.parse():
                parser.row_dimensions.clear()  # it accumulates row heights
                if cells or number > MAX_ROWS:
                    yield number, _placed(cells)


def _placed(cells: list[dict[str, Any]]) -> list[Any]:
    """Return the values of a row's cells by column."""
    cells = [cell for cell in cells if 1 <= cell["column"] <= MAX_COLUMNS]
    row = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = cell["value"]
    return row


def _too_large(excess: str) -> ImportProblem:
    return ImportProblem(f"holds {excess}: save it as CSV")


def _unreadable(error: BaseException) -> ImportProblem:
    return ImportProblem(f"is not an Excel workbook (.xlsx) that can be read ({type(error).__name__})")


def _without_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts = texts[:-1]
    return texts


def _text(cell: Any) -> str:
    """Return a cell's text: whole numbers without a point, dates in ISO 8601."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).replace("\0", "")


TURNS_XLSX = Format(
    key="turns-xlsx",
    title="Dialogues as a table, Excel",
    hint="An .xlsx file whose first sheet has one row a turn, with the columns of the CSV table.",
    read=read_turns_xlsx,
    looks_like=lambda head: head.is_zip,
    columns=COLUMNS,
    packed=True,
)
