"""Tables of any kind as rows of cells: CSV, Excel, Parquet, Feather, JSON lines, a JSON list of objects."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from charset_normalizer import from_bytes

from annotation.formats.crowd_tables import prepared
from annotation.formats.fields import decode_python, decode_text, kind_of, require
from annotation.formats.header_words import RESPONSE_LISTS, answer_name
from annotation.formats.source import BINARY_TABLES, BLOCK, START, ImportProblem, Source, utf_16_of
from annotation.formats.table_file import (
    CSV,
    ENCODING,
    JSON_LINES,
    JSON_LIST,
    MAX_COLUMNS,
    SAMPLE_LINES,
    Cells,
    Row,
    TableFile,
    begins_list,
    flatten,
)
from annotation.formats.table_headers import (
    RELEVANCE,
    Header,
    names_without_header,
    read_header,
    rows_by_column,
    titles_note,
    titles_of_text,
)


def open_table(source: Source) -> TableFile:
    """Open the table in a file; raises ImportProblem where it is none, or cannot be read."""
    table = _open(source)
    if not table.columns:
        raise ImportProblem("names no columns")
    if len(table.columns) > MAX_COLUMNS:
        raise ImportProblem(f"has {len(table.columns):,} columns; at most {MAX_COLUMNS:,} are read")
    table.left_out = source.left_out.setdefault("", {})
    if source.first_rows is not None:
        table.read_rows = partial(_first_rows, source, table.read_rows, source.first_rows)
    return prepared(table)


def _first_rows(
    source: Source, read_rows: Callable[[], Iterator[tuple[int, Row]]], most: int
) -> Iterator[tuple[int, Row]]:
    """Yield the first rows of a table that is previewed."""
    for number, row in enumerate(read_rows()):
        if number == most:
            source.is_cut = True
            return
        yield row


def _open(source: Source) -> TableFile:
    if source.is_workbook:
        from annotation.formats.workbooks import open_workbook  # only where there is one

        return open_workbook(source)
    start = source.binary_start()
    if start.startswith(tuple(BINARY_TABLES)):
        from annotation.formats.arrow_tables import open_arrow_table

        return open_arrow_table(source, start)
    text = source.start().lstrip()
    if text.startswith(b"{") or begins_list(text.decode(errors="ignore")):
        is_lines = text.startswith(b"{") and is_json_lines(source)
        return _json_lines(source) if is_lines else _json_document(source)
    return _relevance(source) if text and _is_relevance(source) else _csv(source)


def own_columns(
    source: Source, table: TableFile, names: Collection[str], needed: Iterable[str]
) -> dict[str, str]:
    """Return the columns of a table by the names that a format has for them; the others are passed over.

    Refuses missing columns, and two with the same name but for case.
    """
    columns: dict[str, str] = {}
    for column in table.columns:
        name = column.removesuffix("[]").strip().lower()
        if name in names and columns.setdefault(name, column) != column:
            raise ImportProblem("is there twice", line=1, field=name)
    for name in needed:
        if name not in columns:
            reason = f"has no column {name!r}: the first line names the columns"
            raise ImportProblem(reason, line=1, field=name)
    source.is_table = True
    source.pass_over(column for column in table.columns if column not in columns.values())
    return columns


# Text: the encoding of the file, the separator between its cells, its rows.

LONGEST_CELL = 131_072
"""Maximum characters of one cell."""
SEPARATORS = ",\t;|"
ONE_COLUMN = "\x1f"
"""A separator that no text has: each line is one cell."""
SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?,*\r?\n', re.IGNORECASE)
"""Excel's own first line, which names the separator."""
ENCODINGS = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "koi8_r": "KOI8-R",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "Korean (cp949)",
    "latin_1": "Latin-1",
}
"""Encodings that a file without valid UTF-8 may have, with their names."""
SINGLE_BYTE = "cp1252"
MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


@dataclass(frozen=True, slots=True)
class _Form:
    """How a text's rows are written: its encoding ('' for UTF-8), separator, and what is before the header.

    These are `skipped` lines, then the `titles`, rows with a title.
    """

    encoding: str
    separator: str
    is_quoted: bool
    skipped: int
    titles: int = 0


def _csv(source: Source) -> TableFile:
    notes: list[str] = []
    form = _form(source, notes)
    rows = _csv_rows(source, form)
    line, names = _first(rows)
    sample = [cells for _, cells in _sample(rows)]
    own_names = [] if form.titles else names_without_header([names, *sample])
    if own_names:
        notes.append(f"The first line is data, not a header: columns are called {', '.join(own_names[:12])}.")
    header = Header([*own_names]) if own_names else read_header(names, sample, line, notes)

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        yield from rows_by_column(
            source, header, islice(_csv_rows(source, form), 0 if own_names else 1, None)
        )

    return TableFile(CSV, header.columns, read_rows, header.wordings, notes)


def raw_rows(source: Source) -> Iterator[Cells]:
    """Yield the rows of a text as they are, header first, whatever their length."""
    return _csv_rows(source, _form(source, []))


def _first(rows: Iterator[Cells]) -> Cells:
    for row in rows:
        return row
    raise ImportProblem("the file is empty")


def _sample(rows: Iterator[Cells]) -> Iterator[Cells]:
    """Yield the first rows, up to one that is not valid: it is reported when it is read."""
    try:
        yield from islice(rows, SAMPLE_LINES)
    except ImportProblem:
        return


def _csv_rows(source: Source, form: _Form) -> Iterator[Cells]:
    """Yield the rows with text, header first."""
    yield from islice(_rows_of_text(source, form), form.titles, None)


def _rows_of_text(source: Source, form: _Form) -> Iterator[Cells]:
    lines = islice(_text_lines(source, form.encoding), form.skipped, None)
    csv.field_size_limit(LONGEST_CELL)  # of the whole process: another reader may have raised it
    reader = _reader(lines, form)
    while True:
        line = reader.line_num + 1 + form.skipped
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ImportProblem(f"is not valid CSV: {error}", line=line) from None
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield line, cells


def _is_relevance(source: Source) -> bool:
    """Whether a text has TREC's relevance judgments in its lines."""
    lines = [line for _, line in islice(source.lines(), 20)]
    return all(RELEVANCE.fullmatch(line.decode(errors="replace")) for line in lines)


def _relevance(source: Source) -> TableFile:
    """Return TREC's relevance judgments as a table: an item is a topic and a document."""

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        for number, line in source.lines():
            cells = line.decode(errors="replace").split()
            if len(cells) == 4:
                yield number, {"item": f"{cells[0]} {cells[2]}", "relevance": cells[3]}
            else:
                source.report(ImportProblem(f"has {len(cells)} cells, not 4", line=number))

    note = "Lines are relevance judgments, as TREC has them: topic, iteration, document, relevance."
    return TableFile(CSV, ("item", "relevance"), read_rows, notes=[note])


def _reader(lines: Iterable[str], form: _Form) -> Any:
    if form.is_quoted:
        return csv.reader(lines, strict=True, delimiter=form.separator)
    return csv.reader(lines, strict=True, delimiter=form.separator, quoting=csv.QUOTE_NONE)


def _text_lines(source: Source, encoding: str) -> Iterator[str]:
    for number, line in source.raw_lines(encoding=encoding):
        try:
            yield decode_text(line)
        except ImportProblem as problem:
            raise problem.placed(line=number) from None


def _form(source: Source, notes: list[str]) -> _Form:
    """Recognise how a text is written: with the right separator, rows are as long as the first."""
    encoding = encoding_of(source, notes)
    with source.open(encoding=encoding) as content:
        start = content.read(START)
    text = start.decode(errors="ignore")
    if mark := SEPARATOR_LINE.match(text):
        return _Form(encoding, mark[1], True, 1)
    if len(start) == START:
        text = text[: text.rfind("\n") + 1] or text
    forms = [_Form(encoding, separator, True, 0) for separator in SEPARATORS]
    forms.append(_Form(encoding, "\t", False, 0))
    fits = {form: _fit(text, form) for form in forms}
    form = max(fits, key=lambda form: fits[form])
    if fits[form][1] < 2:
        quoted = _Form(encoding, ONE_COLUMN, True, 0)
        form = quoted if _fit(text, quoted)[0] == 1 else _Form(encoding, ONE_COLUMN, False, 0)
    if not form.is_quoted and '"' in text:
        notes.append("Quotation marks were read as part of the text.")
    first = list(_sample(_rows_of_text(source, form)))
    titles = titles_of_text([cells for _, cells in first])
    if titles:
        notes.append(titles_note(line for line, _ in first[:titles]))
    return replace(form, titles=titles)


def _fit(text: str, form: _Form) -> tuple[float, int]:
    """Return the share of rows as long as the first one, and its length; (0, 0) for a single column."""
    rows = []
    try:
        for cells in _reader(text.splitlines(keepends=True), form):
            if any(map(str.strip, cells)):
                rows.append(cells)
    except csv.Error as error:
        if "unexpected end of data" not in str(error):
            return (0.0, len(rows[0])) if rows and len(rows[0]) > 1 else (0.0, 0)
    rows = rows[titles_of_text(rows) :]
    if not rows or (len(rows[0]) < 2 and form.separator != ONE_COLUMN):
        return 0.0, 0
    width = len(rows[0])
    alike = sum(len(row) == width or (len(row) > width and not any(row[width:])) for row in rows)
    return alike / len(rows), width


def encoding_of(source: Source, notes: list[str]) -> str:
    """Return the encoding of a text that is not UTF-8, '' for UTF-8 and UTF-16; a guess is noted.

    A text whose other characters are valid UTF-8 is damaged, and read as UTF-8, which refuses the damage
    with its line.
    """
    if encoding := str(source.settings.get(ENCODING, "")).strip():
        try:
            return "" if codecs.lookup(encoding).name in ("utf-8", "utf-16") else codecs.lookup(encoding).name
        except LookupError:
            raise ImportProblem("is no encoding: write one such as cp1252", field=ENCODING) from None
    if utf_16_of(source.binary_start()):
        notes.append("Read as UTF-16.")
        return ""
    sample, is_valid = _not_ascii(source)
    if is_valid:
        return ""
    damaged = sample.decode(errors="replace").count("\ufffd")
    if len(MULTIBYTE.findall(sample)) > damaged:
        return ""
    matches = from_bytes(sample, cp_isolation=list(ENCODINGS))
    names = [name for match in matches for name in (match.encoding, *match.could_be_from_charset)]
    encoding = SINGLE_BYTE if SINGLE_BYTE in names or not names else names[0]
    notes.append(f"Read as {ENCODINGS.get(encoding, encoding)}; another encoding can be set.")
    return encoding


def _not_ascii(source: Source) -> tuple[bytes, bool]:
    """Return the first lines with other than ASCII characters, and whether all of the text is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_valid = True
    with source.open() as content:
        while block := content.read(BLOCK):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                is_valid = False
                break
        else:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                is_valid = False
    if is_valid:
        return b"", True
    sample = b""
    with source.open() as content:
        while len(sample) < START and (line := content.readline(START)):
            sample += b"" if line.isascii() else line
    return sample, False


# JSON: lines of objects, a list of objects, and an object with one such list.

TURN_LISTS = frozenset(
    [
        "messages",
        "turns",
        "conversation",
        "conversations",
        "dialogue",
        "dialog",
        "utterances",
        "history",
        "log",
    ]
)
"""Keys of lists whose objects are usually the turns of one dialogue."""


TURN_TEXTS = ("text", "content", "utterance", "transcript", "message", "value", "sentence")
"""Keys of what is said in a turn."""


def is_json_lines(source: Source, path: Path | None = None) -> bool:
    """Whether a text that begins with `{` has an object on each of its lines, and more than one line."""
    with source.open(path) as content:
        lines = (line for line in iter(lambda: content.readline(source.max_line), b"") if line.strip())
        first, second = next(lines, b""), next(lines, b"")
    if not (first.rstrip().endswith(b"}") and second):
        return False
    return second.lstrip().startswith(b"{") or _is_object(first)


def _is_object(content: bytes) -> bool:
    try:
        return bool(_object(content))
    except ImportProblem:
        return False


def json_lines(source: Source, path: Path | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the numbered objects of JSON lines: of the file, or of one in a folder; others are reported."""
    for line, content in source.lines(path):
        with source.report_problems(path, line):
            yield line, _object(content)


ROWS_NOTE = "The rows are the objects of `{}`, each with the fields around it."
FIRST_OBJECTS = 20


def responses_of(records: Sequence[Any]) -> str:
    """Return the key of the list in which each object has a response; '' where there is none."""
    objects = [record for record in records if isinstance(record, dict)]
    keys = [key for key in (objects[0] if objects else ()) if key.casefold() in RESPONSE_LISTS]
    if len(keys) != 1 or not all(_is_list_of_objects(record.get(keys[0])) for record in objects):
        return ""
    parts = [part for record in objects for part in record[keys[0]]]
    has_texts = all(any(isinstance(value, str) for value in part.values()) for part in parts)
    return keys[0] if has_texts and not any(SPEAKER_KEYS & part.keys() for part in parts) else ""


SPEAKER_KEYS = frozenset(["role", "from", "speaker", "author", "sender"])


def rows_of_record(record: dict[str, Any], responses: str) -> list[Row]:
    """Return a JSON object as rows: one for each of its responses, else one."""
    parts = record.get(responses) if responses else None
    if not isinstance(parts, list) or not parts:
        return [flatten(record)]
    return [flatten({**record, responses: part}) for part in parts]


def _first_objects(source: Source) -> list[dict[str, Any]]:
    objects = []
    for _, content in islice(source.lines(), FIRST_OBJECTS):
        with suppress(ImportProblem):
            objects.append(_object(content))
    return objects


def _json_lines(source: Source) -> TableFile:
    columns: dict[str, None] = {}
    responses = responses_of(_first_objects(source))
    for line, content in islice(source.lines(), SAMPLE_LINES):
        try:
            columns |= dict.fromkeys(chain.from_iterable(rows_of_record(_object(content), responses)))
        except ImportProblem as problem:
            if not columns:
                raise problem.placed(line=line) from None
    notes = [ROWS_NOTE.format(responses)] if responses else []

    def read_rows() -> Iterator[tuple[int, Row]]:
        source.done = 0
        later: dict[str, None] = {}
        left_out = source.left_out.setdefault("", {})
        for line, content in source.lines():
            try:
                rows = rows_of_record(_object(content), responses)
            except ImportProblem as problem:
                if line in left_out:
                    yield line, {}
                else:
                    source.report(problem.placed(line=line))
                continue
            for row in rows:
                if not row.keys() <= columns.keys():
                    later |= dict.fromkeys(name for name in row if name not in columns)
                if row:
                    yield line, row
        if later:
            names = ", ".join(name[:80] for name in islice(later, 20))
            notes.append(f"Fields that only occur after line {SAMPLE_LINES:,} were passed over: {names}.")

    return TableFile(JSON_LINES, tuple(columns), read_rows, notes=notes)


def _object(content: bytes) -> dict[str, Any]:
    return require(decode_python(content), dict)


def _json_document(source: Source) -> TableFile:
    records, note = rows_of(decode_python(source.document(source.path)))
    table = table_of_objects(records)
    table.notes += [note] if note else []
    return table


def _has_words(turn: Any) -> bool:
    """Whether an entry of a list is a text or an object, or a list of some."""
    return isinstance(turn, str | dict) or (
        isinstance(turn, list) and any(type(part) is str for part in turn)
    )


def rows_of(document: Any) -> tuple[Any, str]:
    """Return the objects that are the rows of a JSON document read as a table, and a note on which they are.

    Several lists of objects that are alike, such as `train` and `test`, are read one after another; of
    objects that hold dialogues, such as episodes with scenes, the dialogues are the rows.
    """
    path: list[str] = []
    note = ""
    if isinstance(document, dict):
        lists = {key: value for key, value in document.items() if _is_list_of_objects(value)}
        if (
            len(lists) > 1
            and not TURN_LISTS & lists.keys()
            and _are_alike([part[0] for part in lists.values()])
        ):
            document = [{SPLIT: key} | record for key, value in lists.items() for record in value]
            path = [", ".join(lists)]
        else:
            path = [key for key in lists if lists[key] is records_of(document)[0]]
            document, note = records_of(document)
    if isinstance(document, list) and document and all(isinstance(part, list) for part in document):
        if not any(_has_words(turn) for part in document for turn in part):
            raise ImportProblem("is JSON without any text")
        document = [{DIALOGUE: part} for part in document]
        note = f"Each list of the document is a row, with its turns as `{DIALOGUE}`."
    if _is_list_of_objects(document):
        document, inner = _inner_records(document)
        path += inner
    return document, f"The rows are the objects of `{'[].'.join(path)}`." if path else note


def records_of(document: dict[str, Any]) -> tuple[list[Any], str]:
    """Return the objects of a document, and how they were found: '' where the document itself is the object.

    They are the only list of objects in it, unless that is one of turns; or its values, where all are alike.
    """
    if records := _records_of_columns(document):
        return records, "The rows are read from the columns of the document."
    lists = {key: value for key, value in document.items() if _is_list_of_objects(value)}
    if len(lists) == 1:
        ((key, records),) = lists.items()
        is_of_turns = key.lower() in TURN_LISTS and not divided_by(records)
        if not is_of_turns or any(map(_has_objects, records)):
            return records, f"The rows are the objects of `{key}`."
    values = list(document.values())
    is_of_objects = len(values) > 1 and all(isinstance(value, dict) and value for value in values)
    if is_of_objects and _are_alike(values[:50]):
        records = [{"key": key} | value for key, value in document.items()]
        return records, "The rows are the objects of the document, with their keys as `key`."
    return [document], ""


def _records_of_columns(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a document with a list or a dictionary for each column; [] for any other document.

    A dictionary has its values by the numbers of rows, as pandas writes them, or by a few items where each
    column is a rater's.
    """
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    if len(lists) > 1 and len(lists) == len(document) and all(map(_is_plain, lists.values())):
        if len({len(value) for value in lists.values()}) > 1:
            return []
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    columns = {name: value for name, value in document.items() if isinstance(value, dict) and value}
    are_plain = all(_is_plain(column.values()) for column in columns.values())
    if len(columns) < 2 or len(columns) < len(document) or not are_plain:
        return []
    rows = list(dict.fromkeys(chain.from_iterable(columns.values())))
    if rows == [str(number) for number in range(len(rows))]:
        return [{name: column.get(row) for name, column in columns.items()} for row in rows]
    are_raters = all(answer_name(name).kind and answer_name(name).is_generic for name in columns)
    if are_raters and len(rows) <= 20 and not any(re.search(r"__|[|/:#]", row) for row in rows):
        return [{"key": row} | {name: column.get(row) for name, column in columns.items()} for row in rows]
    return []


def _is_plain(values: Iterable[Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in values)


DIALOGUE = "dialogue"
"""Column of the turns in a document of lists."""
SPLIT = "split"
"""Column with the list, such as `train`, in which a record stands."""


def _inner_records(records: list[Any]) -> tuple[list[Any], list[str]]:
    """Return the dialogues within records, such as the scenes of episodes, with the keys that lead to them.

    An inner record has the texts and numbers of those around it; where both have a key, it is named by the
    path. Records stay where what they hold are turns, with a text each, or nothing that holds turns.
    """
    path: list[str] = []
    while key := _key_of_inner(records):
        path.append(key)
        records = [
            {
                (name if name not in inner else f"{'.'.join(path)}.{name}"): value
                for name, value in record.items()
                if not isinstance(value, dict | list)
            }
            | inner
            for record in records
            for inner in record.get(key) or ()
        ]
    return records, path


def _key_of_inner(records: list[Any]) -> str:
    """Return the key of lists whose objects hold lists of turns, empty where there is none or several."""
    inner: dict[str, bool] = {}
    for record in records[:SAMPLE_LINES]:
        for key, value in record.items():
            if key.lower() not in TURN_LISTS and _is_list_of_objects(value):
                inner[key] = inner.get(key, True) and all(map(_holds_turns, value))
    keys = [key for key, holds in inner.items() if holds]
    if len(keys) != 1:
        return ""
    lists = (record.get(keys[0]) or [] for record in records)
    return keys[0] if all(value == [] or _is_list_of_objects(value) for value in lists) else ""


def _holds_turns(record: dict[str, Any]) -> bool:
    """Whether an object is no turn, and has a list of objects that are turns or hold some."""
    if any(isinstance(record.get(key), str) for key in TURN_TEXTS):
        return False
    return any(
        _is_list_of_objects(value)
        and (any(isinstance(value[0].get(key), str) for key in TURN_TEXTS) or _holds_turns(value[0]))
        for value in record.values()
    )


def _are_alike(records: Sequence[dict[str, Any]]) -> bool:
    """Whether all objects have half of the keys of the first."""
    shared = set(records[0]).intersection(*records[1:])
    return 2 * len(shared) >= len(records[0]) > 0


DIALOGUE_ID = re.compile(
    r"(?:conversation|conv|dialog(?:ue)?|chat|session)[_ -]?(?:id|sid|uuid|hash)", re.IGNORECASE
)
"""Keys of messages for the dialogue to which they belong."""


def divided_by(messages: list[Any]) -> str:
    """Return the key by which a list of messages holds several dialogues, '' for one dialogue."""
    first = messages[0] if messages and isinstance(messages[0], dict) else {}
    for key in filter(DIALOGUE_ID.fullmatch, first):
        names = [entry.get(key) if isinstance(entry, dict) else None for entry in messages]
        if all(isinstance(name, str | int) for name in names) and len(set(names)) > 1:
            return str(key)
    return ""


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _has_objects(record: dict[str, Any]) -> bool:
    return any(isinstance(value, list) and value and isinstance(value[0], dict) for value in record.values())


def table_of_objects(records: Any) -> TableFile:
    """Return the table of a list of JSON objects."""
    if not isinstance(records, list) or not records:
        raise ImportProblem("is a JSON document, and no list of objects")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ImportProblem(f"object {number} of the list must be an object, not {kind_of(record)}")
    responses = responses_of(records[:FIRST_OBJECTS])
    first = [rows_of_record(record, responses) for record in records[:SAMPLE_LINES]]
    columns = dict.fromkeys(chain.from_iterable(chain.from_iterable(first)))
    rest = records[SAMPLE_LINES:]

    def read_rows() -> Iterator[tuple[int, Row]]:
        further = (rows_of_record(record, responses) for record in rest)
        for number, rows in enumerate(chain(first, further), start=1):
            yield from ((number, row) for row in rows if row)

    return TableFile(
        JSON_LIST, tuple(columns), read_rows, notes=[ROWS_NOTE.format(responses)] if responses else []
    )
