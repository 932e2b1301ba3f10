"""How `agree` reads a file: its table, the mapping of its columns, and scales guessed from the answers."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from annotation.formats.answer_columns import STRUCTURE
from annotation.formats.mapped import answer_text, rating_rows
from annotation.formats.mapping import QUESTION, RATER_KINDS, Column, read_mapping
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.mapping import Scale as MappedScale
from annotation.formats.nested_answers import is_by_position
from annotation.formats.nested_cells import open_nested
from annotation.formats.profile import Profile, describe, profile_lines
from annotation.formats.profile import Reading as FileReading
from annotation.formats.readings import RATING_READINGS
from annotation.formats.scales import ScaleGuess, guess_scale
from annotation.formats.several_files import note_on_files, with_files
from annotation.formats.source import LINES, ImportProblem, Source
from annotation.formats.table_file import TableFile
from annotation.text.table_cells import PEOPLE_TOO, kind_of_rater, looks_like_a_model, means_nothing

Row = dict[str, str]
Numbered = tuple[int, Row]
LONG = ("item", "rater", "value")
"""Columns of Concord's own long form."""
OWN = (
    *("question", "kind", "sample", "cluster", "identified", "dialogue", "continuation", "system", "turn"),
    *("scheme", "level", "values"),
)
"""Further columns of that form; those of a scale only beside answers in rows."""
PLACES = ("dialogue", "turn", "turn_number", "missing", "evidence", "occasion", "order", "explanation")
"""Roles of columns from which no figure is computed, except where the dialogue is the cluster."""
MARKS = re.compile(r"[?.–—#-]+(?: \(.*\))?", re.DOTALL)
"""Marks such as `?` and `-`, which may be answers; programs write words for a missing answer."""
DASH = re.compile(r"[-–—]+")
"""What stands for no answer among numbers."""
REPEATED = "rows repeat an answer to the same"
"""Beginning of the doubt whether a column alone says what is rated."""
HARMLESS = re.compile(r"^all answers are|is read as '")
"""Doubts about a scale that change no figure, or about spellings, which are checked by themselves."""


class RatingsFileError(Exception):
    """A ratings file that cannot be used; the message is one line with place and reason."""

    def __init__(self, path: Path, message: str, line: int | None = None, column: str | None = None) -> None:
        place = path.name
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {message}")


class UncertainReading(Exception):
    """A file that can be read in several ways, or in none; with its profile, and what to run."""

    def __init__(self, path: Path, message: str, table: TableFile | None = None) -> None:
        super().__init__(f"{path.name}: {message}")
        self.path = path
        self.table = table


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of all questions, where the user names it."""

    level: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """Options for reading a file: questions (all if empty), the cluster column, the column of strata.

    `missing` are the cells, in lower case, that mean no answer; `scale` is the scale of all questions, if not
    taken from the file. `raters` are the only raters read (empty: all), `judges` those that are judges (None:
    not given); both may be columns of a table with a column for each rater. `item` is the column of the
    items. `names` is "join", "keep" or "" (refuse), for names that differ only in case or spaces. `mapping`
    has the roles of the columns (empty: guessed), `settings` how the table is opened.
    """

    questions: tuple[str, ...] = ()
    cluster: str = ""
    no_cluster: bool = False
    by: str = ""
    missing: frozenset[str] = frozenset()
    scale: Scale = field(default_factory=Scale)
    raters: tuple[str, ...] = ()
    judges: frozenset[str] | None = None
    item: str = ""
    names: str = ""
    mapping: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str | int] = field(default_factory=dict)


@dataclass
class AnswerTable:
    """A table whose rows are read as answers by a mapping of its columns.

    `has_judges`: the user names the judges, so that the kinds of raters are not those of a guess.
    """

    path: Path
    source: Source
    table: TableFile
    mapping: ColumnMapping
    sentence: str
    is_guess: bool = False
    has_judges: bool = False

    @cached_property
    def files(self) -> list[Path]:
        """The files of the table."""
        return self.source.files()

    def place(self, line: int) -> tuple[Path, int]:
        """Return the file of a row, and its line there."""
        number, line_of_file = divmod(line, LINES)
        return (self.files[number - 1], line_of_file) if number else (self.path, line)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.columns

    @property
    def notes(self) -> list[str]:
        """Sentences on how the table was opened."""
        return [*dict.fromkeys([*self.table.notes, *self.source.notes])]

    @property
    def shape(self) -> str:
        """Whether each row is one answer, or has a column for each rater or question."""
        names = ", ".join(column.name for column in self.mapping.answers)
        return f"wide, answers in columns {names}" if names else "long"

    def unread(self, further: Iterable[str]) -> list[str]:
        """Return the columns that are not read, beside `further` ones that are."""
        read = {column.name for column in self.mapping.columns if column.role not in PLACES} | set(further)
        return [name for name in self.columns if name not in read]

    def cluster(self, reading: Reading) -> str | None:
        """Return the column of the clusters; None where every item stands alone."""
        if reading.no_cluster:
            return None
        column = self.mapping.of("cluster")
        if not column and (self.is_guess or self.mapping.has_dialogues):
            column = self.mapping.of("dialogue")
        return column or ("dialogue" if self.mapping.has_dialogues else None)

    @cached_property
    def _answer_columns(self) -> dict[tuple[str, str], str]:
        return {(column.question, column.rater): column.name for column in self.mapping.answers}

    def column_of(self, role: str, row: Row | None = None) -> str:
        """Return the column of a role, for messages; of a row's answer where there are several columns."""
        if column := self.mapping.of(role):
            return column
        if role == "value" and row is not None:
            question, rater = row["question"], row["rater"]
            keys = ((question, rater), ("", rater), (question, ""))
            return next((self._answer_columns[key] for key in keys if key in self._answer_columns), role)
        return role

    def rows(self, further: Iterable[str] = ()) -> Iterator[Numbered]:
        """Yield the answers, one a row, each with its line.

        Every row has item, rater, question, group, kind, value and cluster; `further` columns are there
        with a zero byte before their names.
        """
        mapping, names = self.mapping, list(further)
        has_question = mapping.has_dialogues or any(
            column.question or not column.rater for column in mapping.answers
        )
        has_question = has_question or bool(mapping.of("question"))
        are_unknown = self.is_guess and all(column.role == "label" for column in mapping.answers)
        unknown = ("human", "judge") if self.has_judges or are_unknown else ()
        cluster = mapping.of("cluster") or mapping.of("dialogue")
        try:
            for line, row in rating_rows(self.source, self.table, mapping, keep=names):
                if not has_question and row["question"] == QUESTION:
                    row["question"] = ""
                elif not has_question and row["group"] == QUESTION:
                    row["question"] = row["question"].removeprefix(f"{QUESTION}:")
                    row["group"] = "answers"
                if not row["item"]:
                    places = (row.get(role, "") for role in ("dialogue", "continuation", "turn"))
                    row["item"] = "/".join(filter(None, places))
                if not row.get("cluster"):
                    row["cluster"] = row.get("dialogue", "") if cluster != mapping.of("cluster") else ""
                if row.setdefault("kind", "") in unknown and mapping.answers:
                    row["kind"] = ""
                yield line, row
        except ImportProblem as problem:
            raise _refused(self.path, self.source.locate(problem)) from None


def _refused(path: Path, problem: ImportProblem) -> RatingsFileError:
    path = Path(problem.file) if problem.file else path
    return RatingsFileError(path, problem.reason, problem.line, problem.field or None)


# Files, and the mapping of their columns: named, Concord's own, by the names of raters, or guessed.


def open_answers(path: Path, reading: Reading) -> AnswerTable:
    """Open the table in a file, or in all files of a folder.

    Raises RatingsFileError for a table that cannot be read, and UncertainReading where its columns could mean
    several things.
    """
    source, table = _open(path, reading)
    first = source.files()[0]
    mapping, sentence, is_guess = _mapping_of(first, table, reading)
    if table.files and table.files.are != "parts" and not (mapping.of("item") or mapping.of("dialogue")):
        raise UncertainReading(
            first, "which column has the items? Files of several raters need it: --item COLUMN", table
        )
    table.notes += note_on_files(with_files(mapping, table), table)
    has_judges = reading.judges is not None and not reading.mapping
    return AnswerTable(first, source, table, mapping, sentence, is_guess, has_judges)


def open_first(path: Path, reading: Reading) -> tuple[Path, TableFile]:
    """Open the table in a file or folder, to describe it; with its first file."""
    source, table = _open(path, reading)
    return source.files()[0], table


def _open(path: Path, reading: Reading) -> tuple[Source, TableFile]:
    try:
        source = Source(path, settings=reading.settings)
    except ImportProblem as problem:
        raise _refused(path, problem) from None
    try:
        return source, open_nested(source, reading.mapping)
    except ImportProblem as problem:
        raise _refused(path, source.locate(problem)) from None


def _mapping_of(path: Path, table: TableFile, reading: Reading) -> tuple[ColumnMapping, str, bool]:
    """Return the mapping of a table's columns, a sentence on what a row is, and whether it was guessed."""
    columns = table.columns
    items = [(name, "item") for name in _item_columns(reading, columns)]
    for name, option in ((reading.cluster, "cluster"), (reading.by, "by"), *items):
        if name and name not in columns:
            raise RatingsFileError(
                path, f"--{option}: no column {name!r}; the columns are {', '.join(columns)}", 1
            )
    named_scales: Mapping[str, MappedScale] = {}
    if reading.mapping:
        try:
            mapping = read_mapping(reading.mapping, columns)
        except ImportProblem as problem:
            raise _refused(path, problem) from None
        named_scales = mapping.scales
    if reading.mapping and mapping.columns:
        if not (mapping.answers or mapping.of("value")):
            raise RatingsFileError(
                path, "--map names no answers: label:QUESTION@RATER=COLUMN, or value=COLUMN"
            )
        return _with_clusters(mapping, columns, reading), "", False
    if set(LONG) <= set(columns):
        roles = [
            Column(name, plain) for name in columns if (plain := name.removesuffix("[]")) in (*LONG, *OWN)
        ]
        own = ColumnMapping(tuple(roles), named_scales)
        return _with_clusters(own, columns, reading), "each row is one answer", False
    raters = [*reading.raters, *(reading.judges or ())]
    if reading.raters and set(raters) <= set(columns):
        return (
            _of_rater_columns(columns, reading),
            "each row is one item, with a column for each rater",
            False,
        )
    guess, sentence = _guessed(path, table, reading)
    return replace(guess, scales={**guess.scales, **named_scales}), sentence, True


def _with_clusters(mapping: ColumnMapping, columns: Sequence[str], reading: Reading) -> ColumnMapping:
    """Return a mapping with the clusters and the items from the columns that the user names."""
    roles = list(mapping.columns)
    for role, names in (("cluster", [reading.cluster]), ("item", _item_columns(reading, columns))):
        if any(names):
            is_item = role == "item"  # what is rated is no answer, and no place of a turn
            roles = [c for c in roles if c.role != role and not (is_item and c.name in names)]
            roles = [c for c in roles if not (is_item and c.role in ("dialogue", "continuation", "turn"))]
            roles += [Column(name, role) for name in names]
    if not mapping.of("cluster") and not reading.cluster and "cluster" in columns:
        roles = [column for column in roles if column.name != "cluster"] + [Column("cluster", "cluster")]
    if reading.no_cluster:
        roles = [column for column in roles if column.role != "cluster"]
    return replace(mapping, columns=tuple(roles))


def _item_columns(reading: Reading, columns: Sequence[str]) -> list[str]:
    """Return the columns of the item that the user names, one or several with commas."""
    if reading.item in columns or not reading.item:
        return [reading.item] if reading.item else []
    return [part.strip() for part in reading.item.split(",")]


def _of_rater_columns(columns: Sequence[str], reading: Reading) -> ColumnMapping:
    """Return the mapping of a table whose columns of raters are named, beside Concord's own columns."""
    judges = reading.judges or frozenset()
    roles = [Column(name, "judge" if name in judges else "label", rater=name)
             for name in columns if name in reading.raters or name in judges]  # fmt: skip
    used = {column.name for column in roles}
    own = [name for name in ("item", "id") if name in columns and name not in used][:1]
    items = _item_columns(reading, columns) or own
    roles += [Column(name, "item") for name in items]
    about = OWN[: OWN.index("scheme")]
    roles += [Column(name, name) for name in columns if name in about and name not in (*used, *items, "kind")]
    return _with_clusters(ColumnMapping(tuple(roles)), columns, reading)


def _guessed(path: Path, table: TableFile, reading: Reading) -> tuple[ColumnMapping, str]:
    """Return the certain reading of a table as ratings; raises UncertainReading where there is none."""
    try:
        profile = describe(table)
    except ImportProblem as problem:
        raise _refused(path, problem) from None
    certain_reading = profile.of_ratings or _only_reading(profile, reading)
    if certain_reading is None:
        raise UncertainReading(path, _reason(profile), table)
    _check_raters(path, table, profile, certain_reading.mapping)
    mapping = _with_clusters(_without_scales(certain_reading.mapping), table.columns, reading)
    items = mapping.all_of("item")
    if len(items) > 1 and not (mapping.of("cluster") or mapping.has_dialogues or reading.no_cluster):
        mapping = replace(mapping, columns=(*mapping.columns, Column(items[0].name, "cluster")))
    sentence = certain_reading.sentence.rstrip(".")
    return mapping, sentence.replace("Each row", "each row", 1)


def _check_raters(path: Path, table: TableFile, profile: Profile, mapping: ColumnMapping) -> None:
    """Refuse a guess with one rater alone, or without a column that has the same answer everywhere."""
    if mapping.of("rater"):
        return
    raters = {column.rater for column in mapping.answers}
    names = ",".join(column.name for column in mapping.answers)
    if any(map(is_by_position, mapping.answers)):
        return
    if len(raters) < 2:
        raise UncertainReading(
            path, f"only {names} looks like a rater: name the columns, like --raters {names},OTHER", table
        )
    read = {column.name: column.role for column in mapping.columns}
    answers = {
        value
        for column in profile.columns
        if read.get(column.name) in RATER_KINDS
        for value in (*column.values, *column.examples)
    }
    for column in profile.columns:
        is_open = column.name not in read and not column.meanings & STRUCTURE
        if is_open and column.n_different == 1 and set(column.examples[:1]) & answers:
            raise UncertainReading(
                path,
                f"is {column.name} a rater, who always answered {column.examples[0]}? Name the raters: "
                f"--raters {names},{column.name} (or {names} alone)",
                table,
            )


def _only_reading(profile: Profile, reading: Reading) -> FileReading | None:
    """Return the most plausible reading of ratings, if it alone has no doubt that the options leave open."""
    possible = [entry for entry in profile.readings if entry.is_possible and _has_answers(entry)]
    clear = [entry for entry in possible if not _open_doubts(entry, reading)]
    return clear[0] if len(clear) == 1 and clear[0] is possible[0] else None


def _open_doubts(entry: FileReading, reading: Reading) -> list[str]:
    """Return the doubts about a reading that change figures, and that no option decides."""
    mapping = entry.mapping
    questions = {*mapping.scales, mapping.of("value"), "answers"} - {""}
    return [
        doubt
        for doubt in entry.doubts
        if not (
            "may be about that turn or the dialogue" in doubt
            or (bool(reading.item) and (" may be the item" in doubt or doubt.startswith(REPEATED)))
            or (reading.judges is not None and "may be a person or a model" in doubt)
            or (doubt.partition(": ")[0] in questions and _is_about_scale(doubt, reading))
        )
    ]


def _is_about_scale(doubt: str, reading: Reading) -> bool:
    """Whether a doubt about a question's answers is decided by the scale or the words that are named."""
    return bool(reading.scale.level) or (bool(reading.missing) and "may be no answer" in doubt)


def _reason(profile: Profile) -> str:
    """Return why nothing is computed, and what to do."""
    possible = [entry for entry in profile.readings if entry.is_possible]
    rated = [entry for entry in possible if _has_answers(entry)]
    if not rated and possible:
        return "no answers of raters were recognised: name them with --map label:QUESTION@RATER=COLUMN"
    if not rated:
        unread = sorted(profile.readings, key=lambda entry: entry.key not in RATING_READINGS)
        lacking = next((entry.missing for entry in unread if entry.missing), ())
        missing = "; ".join(lacking) or "a column of answers"
        return f"not read as ratings: {missing} is missing; name the columns with --map"
    if len(rated) > 1:
        return "can be read in several ways: correct the line above and run it"
    if any("named after the file" in doubt for doubt in rated[0].doubts):
        return (
            "only one rater's answers were recognised, and agreement needs two: give a file for each rater,"
            " or name the columns with --map label@RATER=COLUMN"
        )
    doubts = "; ".join(rated[0].doubts[:3]) or "it holds dialogues as well"
    decided = Reading(scale=Scale("any"), missing=frozenset(["any"]))
    questions = {*rated[0].mapping.scales, rated[0].mapping.of("value")}
    are_about_scales = bool(rated[0].doubts) and all(
        doubt.partition(": ")[0] in questions and _is_about_scale(doubt, decided) and "codes:" not in doubt
        for doubt in rated[0].doubts
    )
    are_about_items = [doubt.startswith(REPEATED) or " may be the item" in doubt for doubt in rated[0].doubts]
    if are_about_items and all(are_about_items):
        return f"not read without asking: {doubts}; name the columns of the item: --item COLUMN,COLUMN"
    if are_about_scales:
        return f"not read without asking: {doubts}; say how to read it: --scale LEVEL, --missing WORDS"
    return f"not read without asking: {doubts}; correct the line above and run it"


def _has_answers(reading: FileReading) -> bool:
    return bool(reading.mapping.answers or reading.mapping.of("value"))


def _without_scales(mapping: ColumnMapping) -> ColumnMapping:
    """Return a mapping with only the separators and decimal marks of its scales; others are guessed later."""
    scales = {
        question: replace(scale, level="", values=(), codes={}, anchors={}) if not scale.separator else scale
        for question, scale in mapping.scales.items()
        if scale.separator or scale.decimal
    }
    return replace(mapping, scales=scales)


# What all rows say: the raters, and the scale of each question where none is declared.


@dataclass(frozen=True)
class GuessedScale:
    """A question's scale as its answers suggest it; `codes` give the value of a word."""

    guess: ScaleGuess

    @property
    def level(self) -> str:
        """Its level; `text` for free text."""
        return self.guess.scale.level

    @property
    def values(self) -> tuple[str, ...]:
        """Its values in order, where the order matters."""
        return self.guess.scale.values if self.guess.look in ("yes_no", "ordered", "scale") else ()

    @property
    def codes(self) -> Mapping[str, str]:
        """The value of each word."""
        return self.guess.scale.codes

    def value(self, text: str) -> str:
        """Return the value of a cell, by the codes and the decimal mark."""
        if self.guess.scale.decimal:
            return answer_text(text, self.guess.scale)
        return self.codes.get(text, text)

    @property
    def is_clear(self) -> bool:
        """Whether the answers are numbers or ordered words, so that a word for nothing is no category."""
        return self.guess.look in ("yes_no", "ordered", "scale", "score")

    @property
    def is_numeric(self) -> bool:
        """Whether the answers are numbers, without words."""
        return self.guess.look in ("scale", "score") or (self.guess.look == "yes_no" and not self.codes)

    @property
    def sentence(self) -> str:
        """How words are read; empty where the scale's values say it."""
        words = {code: word for word, code in self.codes.items() if word != code}
        if self.guess.look == "yes_no" and words:
            return f"Words: {words.get('1', '1')} is 1, {words.get('0', '0')} is 0."
        if self.guess.look == "ordered" and not words:
            return f"Words in this order: {', '.join(self.values)}."
        if self.guess.look == "ordered":
            return f"Words in this order: {', '.join(words.get(value, value) for value in self.values)}."
        return ""


@dataclass(frozen=True)
class Survey:
    """What all rows say before they are read: guessed scales by question, and raters named like models."""

    scales: Mapping[str, GuessedScale] = field(default_factory=dict)
    judges: frozenset[str] = frozenset()


def survey_of(tables: Sequence[AnswerTable], reading: Reading) -> Survey:
    """Survey the answers where the scale or the kinds of raters are not declared.

    Raises UncertainReading for answers that could be read in several ways.
    """
    answers: dict[str, Counter[str]] = {}
    scores: dict[str, Counter[str]] = {}
    kinds: dict[str, str] = {}
    for table in tables:
        for _, row in table.rows():
            kinds.setdefault(row["rater"], row["kind"])
            if row.get("level") or reading.scale.level:
                continue
            question = row["question"]
            is_selected = not reading.questions or bool({question, row["group"]} & set(reading.questions))
            if is_selected and row["value"] and not means_nothing(row["value"], reading.missing):
                by_question = scores if _is_metric(row["kind"]) else answers
                by_question.setdefault(question, Counter())[row["value"]] += 1
    scales = {}
    for question, counts in (scores | answers).items():  # a metric's scale is not that of people's answers
        guess = guess_scale(counts)
        of = f"question {question}: " if question else ""
        if guess.look == "set":
            raise UncertainReading(
                tables[0].path,
                f"{of}the answers are {guess.sentence}. Read them so with "
                f"--map {shlex.quote(f'separator:{question}={guess.scale.separator}')}, or as categories "
                "with --scale nominal",
            )
        doubts = [doubt for doubt in guess.doubts if not HARMLESS.search(doubt)]
        if doubts:
            raise UncertainReading(
                tables[0].path,
                f"{of}{'; '.join(doubts)}. Say how to read it: --scale LEVEL (with --values in their order), "
                "--missing WORDS",
            )
        scales[question] = GuessedScale(guess)
    return Survey(scales, _judges(tables[0].path, kinds, reading))


def _is_metric(kind: str) -> bool:
    try:
        return bool(kind) and kind_of_rater(kind) == "metric"
    except ValueError:
        return False


def _judges(path: Path, kinds: Mapping[str, str], reading: Reading) -> frozenset[str]:
    """Return the raters that are models by their names, where nothing else says who is one."""
    if reading.judges is not None or any(kinds.values()):
        return frozenset()
    models = [rater for rater in kinds if looks_like_a_model(rater)]
    people_too = [rater for rater in models if rater.casefold() in PEOPLE_TOO]
    if people_too and (len(models) < len(kinds) or len(people_too) == len(models)):
        names = ",".join(models)
        raise UncertainReading(
            path,
            f"is {people_too[0]} a model or a person? Name the judges: --judges {shlex.quote(names)} "
            "(--judges none: all are people)",
        )
    return frozenset(models)


# The profile of a file, for people.


def describe_file(path: Path, table: TableFile, names: Sequence[Path]) -> str:
    """Return what a table's columns look like, and what it can be read as, with the line to run."""
    lines = profile_lines(describe(table), f"manage.py agree {shlex.join(map(str, names))}")
    title = f"{path.name} and {len(table.files.names) - 1} more" if table.files else path.name
    return "\n".join([title, "=" * len(title), "", *lines, ""])
