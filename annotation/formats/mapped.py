"""Reading of tables by their mapping: rows become dialogues with labels, or ratings for a corpus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.formats import ratings
from annotation.formats.corpus_format import JUDGES, SourceRecord
from annotation.formats.label_rows import label_rows, scale_cells
from annotation.formats.mapping import (
    DIALOGUE_ITEM,
    QUESTION,
    RATER_KINDS,
    TURN_ITEM,
    Column,
    Scale,
    read_mapping,
)
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.nested_answers import Elements, answers_by_position, is_by_position, is_of_list
from annotation.formats.nested_cells import open_nested
from annotation.formats.nested_values import parse_nested
from annotation.formats.several_files import common_name, note_on_files, with_files
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import Cell, Row, SeveralFiles, TableFile
from annotation.formats.transcript_cells import ASSISTANT, USER, turns_of_transcript
from annotation.formats.turn_rows import (
    COLUMNS,
    Repeats,
    RowAnswer,
    TurnRow,
    dialogue_of_rows,
)
from annotation.records import SELF, LabelRecord
from annotation.text.references import quote
from annotation.text.table_cells import judges_of, number, unguarded

UNNAMED = "unnamed"
PLACE = "place"
"""Place of a turn in the list of a row, from 0."""
OF_CONTINUATIONS = ("continuation", "system", "trial")
MOST_GROUPED = 256 * 2**20
"""Maximum number of characters of a table whose dialogues are not in one piece."""


def read_mapped(source: Source) -> Iterator[SourceRecord]:
    """Yield a table's dialogues with their labels, or its ratings of what a corpus has.

    Raises ImportProblem for `map` where the source has no mapping.
    """
    table = open_nested(source, source.mapping)
    yield from read_rows(source, table, source.mapping)


def read_rows(
    source: Source, table: TableFile, entries: Mapping[str, Any], *, is_contiguous: bool = False
) -> Iterator[SourceRecord]:
    """Yield the records of a table; in an `is_contiguous` one the rows of a dialogue follow one another."""
    if not entries:
        raise ImportProblem(
            "needs a mapping: say what its columns are, like --map dialogue=conv_id --map text=utterance",
            field="map",
        )
    column_mapping = with_files(read_mapping(entries, table.columns), table)
    source.notes += note_on_files(column_mapping, table)
    source.is_table, source.columns = True, tuple(table.columns)
    read_columns = {column.name for column in column_mapping.columns}
    source.pass_over(name for name in table.columns if name not in read_columns)
    if column_mapping.has_dialogues:
        yield from _dialogues(source, table, column_mapping, is_contiguous=is_contiguous)
    else:
        if len(column_mapping.all_of("item")) > 1:
            raise ImportProblem(
                "the item is of several columns: say which is the dialogue, the continuation and the turn",
                field="map",
            )
        turns_from = str(source.settings.get(ratings.TURNS_FROM, ""))
        for line, row in rating_rows(source, table, column_mapping):
            if not row.get("dialogue") and "/" not in row["item"]:
                row |= {"dialogue": row["item"], "item": ""}  # what is rated is a dialogue
            with source.report_problems(line=line):
                rating = ratings.rating(row, turns_from)
                anchors = _anchors(column_mapping.scale(rating.label.question))
                yield SourceRecord(replace(rating, label=replace(rating.label, anchors=anchors)), line)
    source.notes += table.notes


# Answers in a row: by the columns of answers, and by the row's own rater, question and value.


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer as the row has it, with its scale; `group` is the question of which it is one of a set."""

    item: str
    rater: str
    kind: str
    question: str
    text: str
    scale: Scale
    explanation: str = ""
    group: str = ""
    sample: int = 0
    identified: bool = True


@dataclass(slots=True)
class _Answers:
    """Reads the answers of rows. `options` are the values of each question that is answered with sets."""

    source: Source
    mapping: ColumnMapping
    rater_of_file: str
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: list[tuple[Column, str]] = field(default_factory=list)
    judges: frozenset[str] = frozenset()
    elements: Elements = field(default_factory=Elements)

    def __post_init__(self) -> None:
        self.elements = Elements.of(self.mapping)
        self.judges = judges_of(str(self.source.settings.get(JUDGES, ""))) or frozenset()
        self.columns = [(column, self._explanation_of(column)) for column in self.mapping.answers]

    @classmethod
    def of(cls, source: Source, table: TableFile, mapping: ColumnMapping) -> _Answers:
        name = common_name(table.files.names) if table.files else Path(source.name).stem[:200]
        answers = cls(source, mapping, name or "rater")
        with source.reading_ahead():
            answers.options = answers._set_values(table)
        return answers

    def read(self, row: Row) -> Iterator[_Answer]:
        """Yield the answers of a row; cells without an answer yield nothing."""
        row_item = _item(row, self.mapping)
        for column, explanation_column in self.columns:
            if self.mapping.is_of_each_turn(column):
                continue
            rater, kind, question = self._names(row, column)
            item, cell = column.item or row_item, row.get(column.name)
            if is_by_position(column):
                yield from self._by_position(column, item, kind, question, cell, row.get(explanation_column))
                continue
            yield from self._expand(item, rater, kind, question, cell, _text(row, explanation_column))

    def read_turns(self, row: Row) -> Iterator[tuple[int, _Answer]]:
        """Yield the answers of lists with one for each turn, with the place of the turn in its list."""
        for column, explanation_column in self.columns:
            if not self.mapping.is_of_each_turn(column):
                continue
            names, reasons = self._names(row, column), _cells(row.get(explanation_column))
            for place, part in enumerate(_cells(row.get(column.name))):
                reason = reasons[place] if place < len(reasons) else None
                explanation = reason.strip() if isinstance(reason, str) else ""
                for answer in self._expand(TURN_ITEM, *names, part, explanation):
                    yield place, answer

    def _names(self, row: Row, column: Column) -> tuple[str, str, str]:
        """Return the rater, the rater's kind and the question of a row's answer in a column."""
        row_rater, row_question = (_text(row, self.mapping.of(role)) for role in ("rater", "question"))
        question = column.question or row_question or (QUESTION if column.rater else column.name)
        rater = column.rater or row_rater or self.rater_of_file
        kind = RATER_KINDS[column.role]
        is_judge = kind == "human" and not column.rater and rater in self.judges
        return rater, "judge" if is_judge else kind, question

    def _by_position(
        self, column: Column, item: str, kind: str, question: str, cell: Cell, reasons: Cell
    ) -> Iterator[_Answer]:
        """Yield the answers of a list whose raters are numbered."""
        scale = self.mapping.scale(question)
        explanations = [text for _, _, text in answers_by_position(column, reasons)]
        for place, (rater, sample, part) in enumerate(answers_by_position(column, cell)):
            if text := answer_text(part, scale):
                explanation = explanations[place] if place < len(explanations) else None
                reason = explanation.strip() if isinstance(explanation, str) else ""
                is_person = kind == "human"
                yield _Answer(
                    item, rater, kind, question, text, scale, reason, sample=sample, identified=not is_person
                )

    def _explanation_of(self, column: Column) -> str:
        """Return the column that explains the answers of another one, empty where there is none."""
        for other in self.mapping.all_of("explanation"):
            if (other.question, other.rater, other.item) in (
                (column.question, column.rater, column.item),
                ("", column.rater, ""),
                ("", "", ""),
            ):
                return other.name
        return ""

    def _expand(
        self, item: str, rater: str, kind: str, question: str, cell: Cell, explanation: str
    ) -> Iterator[_Answer]:
        """Yield a cell's answer, or the yes/no answers of a set."""
        scale = self.mapping.scale(question)
        if not (scale.separator or isinstance(cell, list)):
            text = answer_text(cell, scale)
            if text:
                yield _Answer(item, rater, kind, question, text, scale, explanation)
            return
        values = set_of(cell, scale)
        if values is None:
            return
        for value in self.options[question]:
            answer = "1" if value in values else "0"
            yield _Answer(
                item, rater, kind, _value_question(question, value), answer, YES_NO, explanation, question
            )

    def of_set(self, question: str, cell: Cell) -> Iterator[_Answer]:
        """Yield the yes/no answers of a cell with a set, without their rater and item."""
        yield from self._expand("", "", "", question, cell, "")

    def _set_values(self, table: TableFile) -> dict[str, tuple[str, ...]]:
        """Return the values of each question that is answered with sets: declared, or all that occur."""
        columns = [*self.mapping.answers, *self.mapping.all_of("value")]
        sets: dict[str, dict[str, None]] = {}
        is_list = any(column.name.endswith("[]") for column in columns)
        if not is_list and not any(scale.separator for scale in self.mapping.scales.values()):
            return {}
        for row in self.elements.fitting(row for _, row in table.rows()):
            row_question = _text(row, self.mapping.of("question"))
            for column in columns:
                if is_by_position(column):
                    continue
                question = column.question or row_question or (QUESTION if column.rater else column.name)
                if column.role == "value":
                    question = _question_of_row(row, self.mapping, column.name)
                scale, cell = self.mapping.scale(question), row.get(column.name)
                if self.mapping.is_of_each_turn(column):
                    cell = "" if not scale.separator else scale.separator.join(_texts(cell))
                if scale.separator or isinstance(cell, list):
                    values = sets.setdefault(question, dict.fromkeys(scale.values))
                    if not scale.values:
                        values.update(dict.fromkeys(sorted(set_of(cell, scale) or ())))
        _refuse_alike(sets)
        return {question: tuple(values) for question, values in sets.items()}


YES_NO = Scale("binary", ("0", "1"))


def _value_question(question: str, value: str) -> str:
    """Return the name of the yes/no question whether a value is in a set."""
    return f"{question}:{value}"[:120]


def _refuse_alike(sets: Mapping[str, Iterable[str]]) -> None:
    """Refuse values of sets that would become the same question."""
    names: dict[str, str] = {}
    for question, values in sets.items():
        for value in values:
            text = f"{question}:{value}"
            if names.setdefault(_value_question(question, value), text) != text:
                raise ImportProblem(
                    f"the values of {question[:60]!r} differ only after 120 characters:"
                    " give them shorter names with codes",
                    field="map",
                )


def answer_text(cell: Cell, scale: Scale) -> str:
    """Return a cell's answer as it is stored, by the scale's codes and decimal mark; empty for no answer."""
    text = unguarded(cell).strip() if isinstance(cell, str) else json.dumps(cell) if cell else ""
    if text in scale.codes:
        return scale.codes[text]
    if scale.decimal and scale.decimal != ".":
        plain = text.replace(".", "").replace(scale.decimal, ".")
        return plain if number(plain) is not None else text
    return text


def set_of(cell: Cell, scale: Scale) -> frozenset[str] | None:
    """Return the values of a set in a cell, None where there is no answer; `[]` is the empty set."""
    if isinstance(cell, list):
        return frozenset(part.strip() for part in cell if isinstance(part, str) and part.strip())
    text = answer_text(cell, replace(scale, decimal=""))
    if not text:
        return None
    if text.startswith("[") and text.endswith("]"):
        try:
            parts = json.loads(text)
        except (ValueError, RecursionError):
            parts = [part.strip(" '\"") for part in text[1:-1].split(",")]
        return frozenset(str(part).strip() for part in parts if str(part).strip())
    return frozenset(part.strip() for part in text.split(scale.separator) if part.strip())


def _text(row: Row, column: str) -> str:
    """Return the text of a column that may be absent, without space around it; a list as JSON."""
    cell = row.get(column) if column else None
    if isinstance(cell, list):
        return json.dumps(cell) if cell else ""
    return unguarded(cell).strip() if isinstance(cell, str) else ""


def _item(row: Row, mapping: ColumnMapping) -> str:
    """Return the item of a row; of several columns as one key, empty where all are empty."""
    parts = [_text(row, column.name) for column in mapping.all_of("item")]
    return "/".join(map(quote, parts)) if len(parts) > 1 and any(parts) else "".join(parts)


# Rows of ratings in Concord's long form, for `agree` and for labels of a corpus.

LONG = (
    *("dialogue", "continuation", "turn", "turn_number", "kind", "identified", "sample", "missing"),
    *("scheme", "evidence", "occasion", "order", "cluster", "system"),
)
"""Columns that a row of ratings has as they are."""


def rating_rows(
    source: Source, table: TableFile, mapping: ColumnMapping, keep: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the answers of a table, one a row, in the columns of the long ratings file.

    These are item, rater, kind, question, value, explanation, level, values (JSON), group, cluster, system,
    dialogue, continuation, turn, sample, identified, missing and those of exports. A table with turns yields
    the labels of its dialogues, with the items' keys and the dialogue as the cluster. In a table without
    turns, the columns `keep` are there as well, with a zero byte before their names.
    """
    mapping = with_files(mapping, table)
    if mapping.has_dialogues:
        yield from label_rows(_dialogues(source, table, mapping))
        return
    answers = _Answers.of(source, table, mapping)
    columns = {role: mapping.of(role) for role in LONG}
    value, raters = mapping.of("value"), mapping.of("rater")
    keys = _KeysOfRows()
    for line, row in _element_rows(source, table, answers.elements):
        shared = {role: _text(row, column) for role, column in columns.items() if column}
        shared |= {f"\0{name}": _text(row, name) for name in keep}
        for answer in answers.read(row):
            item = answer.item or ("" if shared.get("dialogue") else f"row {line}")
            cells = {**shared, **_long(answer, item)}
            if answer.kind != "key" or not raters or keys.is_new(cells, line):
                yield line, cells
        if not value:
            continue
        cells, cell = _long_of_row(row, mapping, answers, value, raters), row.get(value)
        if not (cells["rater"] or cells["value"]):
            continue
        if not (mapping.scale(cells["question"]).separator or isinstance(cell, list)):
            yield line, {**shared, **cells}
            continue
        for tag in answers.of_set(cells["question"], cell):  # a set is a group of yes/no answers
            answer = replace(tag, rater=cells["rater"], explanation=cells["explanation"])
            yield line, {**_long(answer, cells["item"]), **shared}


def _element_rows(source: Source, table: TableFile, elements: Elements) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a table, those with lists of raters or questions as one row an element."""
    for line, row in table.rows():
        with source.report_problems(line=line):
            for part in elements.rows(row):
                yield line, part


@dataclass(slots=True)
class _KeysOfRows:
    """The right answers of items, which each rater's row about an item has again."""

    answers: dict[tuple[str, ...], str] = field(default_factory=dict)

    def is_new(self, cells: Mapping[str, str], line: int) -> bool:
        """Whether an item's right answer was not read yet; raises ImportProblem for a different one."""
        parts = ("item", "dialogue", "continuation", "turn", "rater", "question")
        key = tuple(cells.get(name, "") for name in parts)
        before = self.answers.get(key)
        if before is not None and before != cells["value"]:
            raise ImportProblem(
                f"right answer {cells['value'][:60]!r}, and {before[:60]!r} in another row of the item",
                line=line,
            )
        self.answers[key] = cells["value"]
        return before is None


def _long(answer: _Answer, item: str) -> dict[str, str]:
    return {
        "item": item,
        "rater": answer.rater,
        "kind": answer.kind,
        "question": answer.question,
        "value": answer.text,
        "explanation": answer.explanation,
        "group": answer.group,
        **({"sample": str(answer.sample)} if answer.sample else {}),
        **({} if answer.identified else {"identified": "false"}),
        **scale_cells(answer.scale),
    }


def _long_of_row(
    row: Row, mapping: ColumnMapping, answers: _Answers, value: str, raters: str
) -> dict[str, str]:
    """Return the row of a table that has one answer a row already."""
    question = _question_of_row(row, mapping, value)
    scale = mapping.scale(question)
    level, values = _text(row, mapping.of("level")), _text(row, mapping.of("values"))
    return {
        "item": _item(row, mapping),
        "rater": _text(row, raters) if raters else answers.rater_of_file,
        "question": question,
        "value": answer_text(row.get(value), scale),
        "explanation": _text(row, mapping.of("explanation")),
        "group": "",
        **(scale_cells(scale) if not (level or values) else {"level": level, "values": values}),
    }


def _question_of_row(row: Row, mapping: ColumnMapping, value: str) -> str:
    """Return the question of a table with one answer a row: its cell, else the name of the column."""
    plain = value.rpartition("[].")[2].removesuffix("[]")
    question = _text(row, mapping.of("question")) or ("" if mapping.of("question") else plain)
    return QUESTION if question.casefold() in ("", "value") else question


# Dialogues with their labels.


def _dialogues(
    source: Source, table: TableFile, mapping: ColumnMapping, *, is_contiguous: bool = False
) -> Iterator[SourceRecord]:
    rows = _TurnRows(source, mapping, _Answers.of(source, table, mapping), table.files)
    repeats = Repeats(rows.rater, bool(mapping.answers or mapping.of("value")))
    with source.reading_ahead():
        is_contiguous = is_contiguous or rows.is_contiguous(table)
    if not is_contiguous:
        source.notes.append("The rows of a dialogue stand apart: they are joined in the order of the file.")
    for key, group in _grouped(source, table, rows, is_contiguous):
        entry = dialogue_of_rows(source, key, rows.repeated(group), repeats)
        if entry is not None:
            yield entry
    source.notes += repeats.notes()
    if rows.n_empty:
        source.notes.append(f"Rows with an empty list of turns were left out: {rows.n_empty:,}.")


def _grouped(
    source: Source, table: TableFile, rows: _TurnRows, is_contiguous: bool
) -> Iterator[tuple[str, list[TurnRow]]]:
    """Yield the rows of each dialogue; a table whose dialogues are in several pieces is held in memory."""
    groups: dict[str, list[TurnRow]] = {}
    gaps = _Gaps(rows)
    characters = 0
    for line, row in table.read_rows():
        if line in table.left_out:
            gaps.add(line, row)
            continue
        with source.report_problems(line=line):
            key = rows.key(line, row)
            gaps.follow(key)
            if is_contiguous and groups and key not in groups:
                yield from gaps.complete(source, groups)
                groups.clear()
            turn_rows = list(rows.of(line, row))
            if not turn_rows:
                continue
            groups.setdefault(key, []).extend(turn_rows)
            characters += sum(len(turn.cells["text"]) for turn in turn_rows)
            if not is_contiguous and characters > MOST_GROUPED:
                raise ImportProblem("is too large for rows in any order: sort it by the dialogue")
    yield from gaps.complete(source, groups)


@dataclass(slots=True)
class _Gaps:
    """Dialogues of which a row is left out, with its line: none of them is imported without it.

    A row without a readable dialogue belongs to that of the row before or after it: both are incomplete.
    """

    rows: _TurnRows
    lines: dict[str, int] = field(default_factory=dict)
    last: str = ""
    unknown: int = 0

    def add(self, line: int, row: Row) -> None:
        """Add a row that is left out."""
        try:
            self.lines.setdefault(self.rows.key(line, row), line)
        except ImportProblem:
            if self.rows.is_turn_a_row:
                self.lines.setdefault(self.last, line)
                self.unknown = line

    def follow(self, key: str) -> None:
        """Go on with a row of this dialogue."""
        if self.unknown:
            self.lines.setdefault(key, self.unknown)
        self.last, self.unknown = key, 0

    def complete(
        self, source: Source, groups: Mapping[str, list[TurnRow]]
    ) -> Iterator[tuple[str, list[TurnRow]]]:
        """Yield the dialogues with all of their rows; the rows of the others are left out, too."""
        for key, rows in groups.items():
            if key not in self.lines:
                yield key, rows
                continue
            reasons = source.left_out.setdefault("", {})
            for row in rows:
                reason = f"line {row.line}, its dialogue lacks line {self.lines[key]}"
                reasons.setdefault(row.line, source.with_files(reason))


@dataclass(slots=True)
class _TurnRows:
    """Turns rows of a table into rows of one turn each."""

    source: Source
    mapping: ColumnMapping
    answers: _Answers
    files: SeveralFiles | None = None
    numbers: dict[bytes, int] = field(default_factory=dict)
    shared: list[tuple[str, str]] = field(default_factory=list)
    n_rows: int = 0
    n_empty: int = 0

    def __post_init__(self) -> None:
        self.shared = [(role, self.mapping.of(role)) for role in COLUMNS if self.mapping.of(role)]

    @property
    def rater(self) -> str:
        """The column with the rater of a row; a row with a list of raters repeats no turns."""
        column = self.mapping.of("rater")
        return "" if is_of_list(column) else column

    @property
    def is_turn_a_row(self) -> bool:
        """Whether each row is one turn."""
        column = self.mapping.of("text")
        return bool(column) and "[]" not in column

    def is_contiguous(self, table: TableFile) -> bool:
        """Whether the rows of each dialogue follow one another; also where each row is a dialogue."""
        column = self.mapping.of("dialogue") or self.mapping.of("item")
        if not column:
            return not (self.rater or self.mapping.of("response"))
        seen: set[int] = set()
        last = ""
        for _, row in table.rows():
            key = _text(row, self.mapping.of("dialogue")) or _item(row, self.mapping)
            if key != last:
                if hash(key) in seen:
                    return False
                seen.add(hash(key))
                last = key
        return True

    def key(self, line: int, row: Row) -> str:
        """Return the id of a row's dialogue: in its cell, else numbered by its content, else the file's."""
        column = self.mapping.of("dialogue") or self.mapping.of("item")
        if column:
            key = _text(row, self.mapping.of("dialogue")) or _item(row, self.mapping)
            if not key:
                raise ImportProblem("is empty", field=column)
            return key
        text = self.mapping.of("text")
        if text and not isinstance(row.get(text), list):
            if self.files:
                is_of_file = self.files.are == "parts"
                name = _text(row, self.files.column) if is_of_file else common_name(self.files.names)
                return name or "dialogue"
            return Path(self.source.name).stem or "dialogue"
        if not self.rater and not self.mapping.of("response"):
            return f"dialogue-{self.numbers.setdefault(line.to_bytes(8, 'big'), len(self.numbers) + 1)}"
        digest = hashlib.blake2b(repr(self._content(row)).encode(), digest_size=12).digest()
        return f"dialogue-{self.numbers.setdefault(digest, len(self.numbers) + 1)}"

    def _content(self, row: Row) -> list[Cell]:
        """Return what tells a row's dialogue from others: its turns, and not the responses to them."""
        columns = self.mapping.all_of("text", "transcript", "utterance", "speaker", "system")
        if self.mapping.all_of("response"):
            columns = self.mapping.all_of("text", "transcript", "utterance", "speaker")
        return [row.get(column.name) for column in columns]

    def of(self, line: int, row: Row) -> Iterator[TurnRow]:
        """Yield the turns of a row, the answers with the turn or continuation that they are about.

        A row whose list of turns is empty, and without an answer, has none.
        """
        mapping = self.mapping
        self.n_rows += 1
        shared = {role: _text(row, column) for role, column in self.shared}
        of_history = shared
        if mapping.of("response"):  # the system is that of the response, not of the turns before it
            of_history = {role: text for role, text in shared.items() if role not in OF_CONTINUATIONS}
        turns = list(self._turns(row, of_history))
        turns += self._responses(row, shared, len(turns))
        if not turns:
            if "[]" in mapping.of("text") and not any(_text(row, column.name) for column in mapping.answers):
                self.n_empty += 1
                return
            raise ImportProblem("is empty", field=self._text_columns())
        rater, turn_number = _text(row, self.rater), _text(row, mapping.of("turn"))
        metadata = {column.name: _text(row, column.name) for column in mapping.all_of("metadata")}
        metadata = {name: value for name, value in metadata.items() if value}
        about = self._answers_by_turn(row, turns)
        for index, cells in enumerate(turns):
            number_of_turn = turn_number if len(turns) == 1 else ""
            answers = tuple(about.get(index, ()))
            yield TurnRow(line, cells, rater, number_of_turn, answers, metadata, self.n_rows)

    def _text_columns(self) -> str:
        columns = self.mapping.all_of("text", "transcript", "utterance", "response")
        return ", ".join(column.name for column in columns)

    def _turns(self, row: Row, shared: dict[str, str]) -> Iterator[dict[str, str]]:
        """Yield the cells of each turn in a row: a row's own, those of lists, of a transcript, of columns."""
        mapping, speakers = self.mapping, set[str]()
        if column := mapping.of("transcript"):
            for place, (speaker, text) in enumerate(turns_of_transcript(row.get(column))):
                speakers.add(speaker)
                yield {**shared, "speaker": speaker, "text": text, PLACE: str(place)}
        if column := mapping.of("text"):
            cell = row.get(column)
            if isinstance(cell, list) or "[]" in column:
                yield from self._of_lists(row, cell if isinstance(cell, list) else [], shared)
            else:
                text = unguarded(cell) if cell else ""
                speaker = shared.get("speaker", UNNAMED if not mapping.of("speaker") else "")
                yield {**shared, "speaker": speaker, "text": text}
        utterances = [(part.speaker, _cells(row.get(part.name))) for part in mapping.all_of("utterance")]
        for place in range(max((len(cells) for _, cells in utterances), default=0)):  # exchanges, one by one
            for own_speaker, cells in utterances:
                for text in _texts(cells[place : place + 1]):
                    speaker, mark, rest = text.partition(": ")
                    if not (mark and speaker in speakers):  # else it begins like a line of the transcript
                        speaker, rest = own_speaker, text
                    yield {**shared, "speaker": speaker, "text": rest}

    def _responses(self, row: Row, shared: dict[str, str], history: int) -> Iterator[dict[str, str]]:
        """Yield the cells of each response in a row, to the turns before it."""
        for part in self.mapping.all_of("response"):
            for text in _texts(row.get(part.name)):
                system = part.system or shared.get("system") or ASSISTANT
                yield {
                    **shared,
                    **{"speaker": ASSISTANT, "text": text, "system": system, "at": str(history)},
                    "continuation": shared.get("continuation") or system,
                }

    def _of_lists(self, row: Row, texts: list[Cell], shared: dict[str, str]) -> Iterator[dict[str, str]]:
        """Yield the turns of list cells; texts without speakers alternate between a user and an assistant."""
        lists = {role: row.get(self.mapping.of(role)) for role in COLUMNS if self.mapping.of(role)}
        for index, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                continue
            cells = {
                role: _joined(cell[index], ", ")
                for role, cell in lists.items()
                if isinstance(cell, list) and index < len(cell)
            }
            speaker = cells.get("speaker") or shared.get("speaker") or (USER, ASSISTANT)[index % 2]
            yield {**shared, **cells, "speaker": speaker, "text": _joined(text, " "), PLACE: str(index)}

    def _answers_by_turn(self, row: Row, turns: Sequence[Mapping[str, str]]) -> dict[int, list[RowAnswer]]:
        """Return the answers of a row by the index of the turn beside which they stand."""
        about: dict[int, list[RowAnswer]] = {}
        columns = self.mapping
        if not (columns.of("value") or self.answers.columns):
            return about
        is_row_of_turn = bool(columns.of("text")) and len(turns) == 1
        responses = {cells["continuation"]: i for i, cells in enumerate(turns) if cells.get("continuation")}
        is_exchange = bool(columns.all_of("utterance", "response"))
        parts = list(self.answers.elements.rows(row))
        for answer in chain.from_iterable(map(self.answers.read, parts)):
            index = responses.get(answer.item, len(turns) - 1)
            is_about_turn = answer.item == TURN_ITEM or (
                answer.item != DIALOGUE_ITEM and (is_row_of_turn or is_exchange)
            )
            about.setdefault(index, []).append(RowAnswer(_label(answer), is_about_turn))
        places = {cells[PLACE]: index for index, cells in enumerate(turns) if PLACE in cells}
        for place, answer in self.answers.read_turns(row):
            if str(place) not in places:
                raise ImportProblem(f"has an answer about turn {place + 1} of the list, which has no text")
            about.setdefault(places[str(place)], []).append(RowAnswer(_label(answer)))
        for part in parts if columns.of("value") else ():
            cells = _long_of_row(part, columns, self.answers, columns.of("value"), columns.of("rater"))
            if cells["value"]:
                scale = columns.scale(cells["question"])
                kind = _text(part, columns.of("kind"))
                answer = _Answer(
                    "", cells["rater"], kind, cells["question"], cells["value"], scale, cells["explanation"]
                )
                about.setdefault(len(turns) - 1, []).append(
                    RowAnswer(_label(answer), is_row_of_turn or is_exchange)
                )
        return about

    def repeated(self, rows: list[TurnRow]) -> list[TurnRow]:
        """Number the turns of rows with several, so that rows for further annotators or systems repeat them.

        Another response of a system to the same turns is a continuation of its own.
        """
        is_of_responses = bool(self.mapping.all_of("response"))
        by_row: dict[int, list[TurnRow]] = {}
        for row in rows:
            by_row.setdefault(row.row, []).append(row)
        if not is_of_responses and (not self.rater or max(map(len, by_row.values())) < 2):
            return rows
        units: dict[tuple[str, ...], int] = {}
        responses: dict[str, list[str]] = {}
        numbered = []
        for group in by_row.values():
            history = [row for row in group if not row.cells.get("at")]
            unit = units.setdefault(tuple(row.cells["text"] for row in history), len(units))
            numbered += [replace(row, number=f"{unit}.{place}") for place, row in enumerate(history)]
            numbered += [_response_row(row, responses) for row in group if row.cells.get("at")]
        return numbered


def _response_row(row: TurnRow, responses: dict[str, list[str]]) -> TurnRow:
    """Return the row of a response in a continuation of its own: one for each text of its continuation."""
    name = row.cells["continuation"]
    texts = responses.setdefault(name, [])
    if row.cells["text"] not in texts:
        texts.append(row.cells["text"])
    place = texts.index(row.cells["text"])
    cells = {**row.cells, "continuation": f"{name}-{place + 1}", "trial": str(place)} if place else row.cells
    return replace(row, cells=cells, number=f"response {place}")


def _joined(cell: Cell, joint: str) -> str:
    """Return a text of a list; the texts of a list within it are joined."""
    text = cell if isinstance(cell, str) else ""
    if text.startswith('["') and isinstance(parts := parse_nested(text), list):
        return joint.join(str(part).strip() for part in parts)
    return text


def _cells(cell: Cell) -> list[Cell]:
    return cell if isinstance(cell, list) else [cell]


def _texts(cell: Cell) -> list[str]:
    return [unguarded(text) for text in _cells(cell) if isinstance(text, str) and text.strip()]


def _label(answer: _Answer) -> LabelRecord:
    value = None if answer.scale.level == "nominal" else number(answer.text)
    scale_values = scale_cells(answer.scale)["values"]
    return LabelRecord(
        rater=answer.rater,
        kind=ratings.kind_of(answer.kind),
        continuation=SELF,
        turn=None,
        question=answer.question,
        value=answer.text if value is None else value,
        explanation=answer.explanation,
        level=answer.scale.level,
        values=tuple(json.loads(scale_values or "[]")),
        group=answer.group,
        sample=answer.sample,
        identified=answer.identified,
        anchors=_anchors(answer.scale),
    )


def _anchors(scale: Scale) -> tuple[tuple[float, str], ...]:
    """Return the wordings of a scale's numbers."""
    numbers = ((number(value), wording) for value, wording in scale.anchors.items())
    return tuple((value, wording) for value, wording in numbers if value is not None)
