"""Ratings files: the rows of any table as answers, one a row, and as records per question."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from annotation.formats.source import LINES
from annotation.text.table_cells import (
    Names,
    describe_clashes,
    kind_of_rater,
    looks_like_nothing,
    means_nothing,
)
from calibration.agree.forms import open_forms
from calibration.agree.readings import (
    DASH,
    LONG,
    MARKS,
    AnswerTable,
    GuessedScale,
    Numbered,
    RatingsFileError,
    Reading,
    Row,
    Survey,
    open_answers,
    survey_of,
)
from calibration.statistics.core.ratings import (
    SCALES,
    Collector,
    Level,
    RatingError,
    Ratings,
    Record,
    Samples,
    as_number,
)

TEXT = "text"
Progress = Callable[[Iterable[Numbered]], Iterable[Numbered]]


# The scale that a file declares for a question, and an answer or a missing answer.


@dataclass(frozen=True, slots=True)
class Declared:
    """The scale of a question: its level and values, empty where none is declared.

    `is_guess` is true where it was guessed from the answers.
    """

    level: str = ""
    values: tuple[str | float, ...] = ()
    is_guess: bool = False


def declared_of(path: Path, line: int, row: Mapping[str, str]) -> Declared:
    """Return the scale declared in a row's columns `level` and `values`; RatingsFileError if invalid."""
    try:
        return _declared(row.get("level", ""), row.get("values", ""))
    except ValueError as error:
        column, message = error.args
        raise RatingsFileError(path, message, line, column) from None


@lru_cache(maxsize=1000)
def _declared(level: str, values: str) -> Declared:
    if level and level not in (*SCALES, TEXT):
        raise ValueError("level", f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}")
    try:
        scale_values = json.loads(values or "[]")
    except (ValueError, RecursionError):
        scale_values = None
    if not isinstance(scale_values, list) or not all(isinstance(v, str | int | float) for v in scale_values):
        raise ValueError("values", f"{values!r}: expected a list such as [1, 2, 3]")
    return Declared(level, tuple(scale_values))


# Names and kinds of raters in a ratings file: with one spelling, and given by the file or the user.

JOIN, KEEP = "join", "keep"
ADVICE = "differ in case or space alone: --fold-names joins them, --fold-names=no keeps them apart"


class Spelling:
    """Names in a file, stripped and (with "join") in their first spelling, and kinds of its raters.

    `judges` are the raters that are judges if the file has no kind for them; None: not given. They were
    guessed from their names where `guessed` is true.
    """

    def __init__(
        self, names: str = "", judges: frozenset[str] | None = None, *, guessed: bool = False
    ) -> None:
        join = names == JOIN
        self.names = names
        self.judges = judges
        self.guessed = guessed
        self.raters, self.clusters, self.systems, self.items = (Names(join) for _ in range(4))
        self._values: dict[Declared, Names] = {}
        self._kinds: dict[str, str] = {}

    def item(self, cell: str) -> str:
        """Return an item's name; a file has many, so they are kept only if spellings are joined."""
        return self.items[cell] if self.names == JOIN else cell.strip()

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
            if is_judge and not self.guessed and kind not in ("", "judge"):
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
        if absent and not self.guessed:
            raise RatingsFileError(
                path, f"--judges: no rater {absent[0]!r}; there are {', '.join(self._kinds)}"
            )
        unsaid = [rater for rater, kind in self._kinds.items() if not kind]
        if unsaid and len(unsaid) < len(self._kinds):
            message = (
                f"no kind for {', '.join(unsaid[:10])}: fill the column, or name the judges with --judges"
            )
            raise RatingsFileError(path, message, column="kind")

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


# Turns a table's rows into records per question (and stratum), keeping their lines for messages.

TRUE, FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


@dataclass
class Part:
    """The records of one question in one stratum, with their places, and the scale of the question."""

    question: str
    stratum: str
    declared: Declared = field(default_factory=Declared)
    scheme: str = ""
    group: str = ""
    guess: GuessedScale | None = None
    collector: Collector = field(default_factory=Collector)
    places: array[int] = field(default_factory=lambda: array("Q"))
    missing: dict[str, int] = field(default_factory=dict)
    weights: dict[str, float | None] = field(default_factory=dict)

    def weighted(self, ratings: Ratings) -> Ratings:
        """Return ratings with the weights of the items that have one."""
        return ratings.with_weights({i: w for i, w in self.weights.items() if w is not None})


WEIGHT_COLUMNS = ("inclusion_probability", "probability", "weight")
"""Columns of the long form that say how an item was drawn: the first of them that a file has is read."""


@dataclass(frozen=True)
class RatingsFile:
    """The answers of one or several tables: parts in order of appearance, and how the columns were read.

    `weight` is the column with the probability or the weight of each item, if there is one.
    """

    tables: tuple[AnswerTable, ...]
    parts: tuple[Part, ...]
    cluster: str | None
    survey: Survey
    free_text: tuple[str, ...] = ()
    spelling: Spelling = field(default_factory=Spelling)
    reading: Reading = field(default_factory=Reading)
    weight: str | None = None

    @property
    def path(self) -> Path:
        """The first of the files."""
        return self.tables[0].path

    @property
    def name(self) -> str:
        """Names of the files."""
        names = [file.name for table in self.tables for file in table.files]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    @property
    def sentence(self) -> str:
        """What a row of the file is."""
        return self.tables[0].sentence

    @property
    def shape(self) -> str:
        """Whether the table has a row or a column for each answer."""
        return self.tables[0].shape

    def notes(self) -> list[str]:
        """Return sentences on how the file was read: columns, spellings, kinds, questions left out."""
        table = self.tables[0]
        notes = list(dict.fromkeys(note for opened in self.tables for note in opened.notes))
        unread = table.unread(filter(None, [self.reading.by, self.cluster, self.weight]))
        notes += [f"Columns not read: {', '.join(unread)}."] if unread else []
        notes += self.spelling.joined()
        if self.reading.judges is None and (models := self._models()):
            names = ", ".join(models)
            notes.append(f"Taken for models, by their names: {names} (--judges none: all are people).")
        if self.weight is not None:
            by = "the" if self.weight == "weight" else "1 / the"
            notes.append(
                f"Items are weighted by {by} value of the column {self.weight}; "
                "those without one were not drawn."
            )
        if self.free_text:
            notes.append(f"Free text has no agreement statistics: {', '.join(self.free_text)}.")
        if self.cluster is None and "dialogue" in table.columns and not self.reading.no_cluster:
            notes.append("There is a column dialogue: --cluster dialogue takes it as the cluster.")
        return notes

    def _models(self) -> list[str]:
        """Return the raters whose kind is a guess from their names or those of their columns."""
        if not self.tables[0].is_guess:
            return sorted(self.survey.judges)
        columns = self.tables[0].mapping.all_of("judge")
        return list(dict.fromkeys([*(column.rater for column in columns), *sorted(self.survey.judges)]))

    def notes_of(self, part: Part) -> list[str]:
        """Return sentences on a question's scale where it was guessed, and on words read as missing."""
        notes = [part.guess.sentence] if part.guess is not None and part.guess.sentence else []
        if part.missing:
            words = ", ".join(part.missing)
            notes.append(f"Read as missing: {words} ({sum(part.missing.values()):,} answers).")
        return notes

    def located(self, error: RatingError, part: Part) -> RatingsFileError:
        """Return the error with its record's file, line and column."""
        if 0 <= error.index < len(part.places):
            place = part.places[error.index]
            number, line = divmod(place, LINES) if len(self.tables) > 1 else (0, place)
            table = self.tables[number]
            path, line = table.place(line)
            return RatingsFileError(path, str(error), line or None, table.column_of(error.field))
        return RatingsFileError(self.path, str(error))

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
            return part.weighted(
                part.collector.ratings(level=level, values=values, positive=positive, samples="separate")
            )
        except RatingError as error:
            raise self.located(error, part) from None

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
            ratings = part.weighted(
                part.collector.ratings(level=level, values=values, positive=positive, samples=samples)
            )
        except RatingError as error:
            raise self.located(error, part) from None
        if not keep:
            part.collector = Collector()
        return ratings


def read_ratings(paths: Sequence[Path], reading: Reading, progress: Progress) -> RatingsFile:
    """Read the answers of a table, or of several files of one form; ``progress`` wraps their rows.

    A table in several files is a folder (`annotation.formats.folders`).
    """
    tables: list[AnswerTable] = [*open_forms(paths, reading)] or [open_answers(paths[0], reading)]
    survey = survey_of(tables, reading)
    judges = reading.judges if reading.judges is not None else survey.judges or None
    spelling = Spelling(reading.names, judges, guessed=reading.judges is None)
    cluster = tables[0].cluster(reading)
    weight = next((name for name in WEIGHT_COLUMNS if all(name in table.columns for table in tables)), None)
    weight = weight if all(set(LONG) <= set(table.columns) for table in tables) else None
    file = RatingsFile(tuple(tables), (), cluster, survey, (), spelling, reading, weight)
    reader = _Reader(file)
    for number, table in enumerate(tables):
        for line, row in progress(table.rows(filter(None, [reading.by, weight]))):
            reader.add(number, line, row)
    return reader.result()


class _Reader:
    """Collects rows into parts."""

    def __init__(self, file: RatingsFile) -> None:
        self.file, self.reading, self.spelling = file, file.reading, file.spelling
        self.parts: dict[tuple[str, str, Declared, str], Part] = {}
        self.other_questions: set[str] = set()
        self.free_text: dict[str, None] = {}
        self.raters_seen: set[str] = set()
        scale = self.reading.scale
        self.requested = Declared(scale.level, scale.values) if scale.level else None
        self.guessed = {
            question: Declared(guess.level, guess.values, is_guess=True)
            for question, guess in file.survey.scales.items()
        }

    def add(self, number: int, line: int, row: Row) -> None:
        """Add a row's answer to the part of its question."""
        table, reading = self.file.tables[number], self.reading
        place = number * LINES + line
        path, line = table.place(line)
        question, scheme = row["question"], row.get("scheme", "")
        if reading.questions and not {question, f"{scheme}/{question}", row["group"]} & set(
            reading.questions
        ):
            self.other_questions.add(question)
            return
        own = declared_of(path, line, row)
        guess = None if own.level or reading.scale.level else self.file.survey.scales.get(question)
        declared = own if guess is None else self.guessed[question]
        if declared.level == TEXT and not reading.scale.level:
            self.free_text[question] = None
            return
        rater = self.spelling.raters[row["rater"]]
        if not rater:
            raise RatingsFileError(
                path, "empty; every rating needs its rater", line, table.column_of("rater")
            )
        if reading.raters and rater not in reading.raters and rater not in (reading.judges or ()):
            self.raters_seen.add(rater)
            return
        item = self.spelling.item(row["item"])
        if not item:
            raise RatingsFileError(path, "empty; every rating needs its item", line, table.column_of("item"))
        stratum = row[f"\0{reading.by}"] if reading.by else ""
        key = (question, scheme.partition("@")[0], declared, stratum)
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = Part(question, stratum, declared, scheme, row["group"], guess)
        value = self._answer(part, table, path, line, row, guess)
        cluster = self.spelling.clusters[row["cluster"]] if self.file.cluster else ""
        if self.file.cluster and not cluster:
            raise RatingsFileError(
                path, "empty; every item needs its cluster (or use --no-cluster)", line, self.file.cluster
            )
        record = Record(
            item,
            rater,
            self.spelling.value(value, self.requested or declared),
            cluster=cluster,
            kind=self.spelling.kind(path, line, rater, row["kind"]),
            identified=_identified(path, line, row.get("identified", "")),
            sample=_sample(path, line, row.get("sample", "")),
            system=self.spelling.systems[row.get("system", "")],
            continuation=row.get("continuation", ""),
        )
        part.places.append(place)
        if (column := self.file.weight) is not None:
            weight = _weight(path, line, column, row[f"\0{column}"])
            if part.weights.setdefault(item, weight) != weight:
                raise RatingsFileError(path, f"item {item!r} has another {column} before", line, column)
        try:
            part.collector.add(record)
        except RatingError as error:
            raise self.file.located(error, part) from None

    def _answer(
        self, part: Part, table: AnswerTable, path: Path, line: int, row: Row, guess: GuessedScale | None
    ) -> str | None:
        """Return an answer, None if missing: empty, or one of the words for it.

        Raises RatingsFileError for a word that looks like a missing answer but is declared neither as a value
        nor as missing, unless the answers beside it are numbers or a clear scale.
        """
        text = row["value"]
        if not text or means_nothing(text, self.reading.missing):
            return None
        values = self.reading.scale.values if self.reading.scale.level else part.declared.values
        if looks_like_nothing(text) and text not in values:
            is_open = MARKS.fullmatch(text) and not (guess and guess.is_numeric and DASH.fullmatch(text))
            if guess is None or not guess.is_clear or is_open:
                mark = text.partition(" (")[0]
                advice = f"--missing={mark} takes it as missing, --values as a category"
                column = table.column_of("value", row)
                raise RatingsFileError(path, f"value {text!r} looks like no answer: {advice}", line, column)
            part.missing[text] = part.missing.get(text, 0) + 1
            return None
        return guess.value(text) if guess is not None else text

    def result(self) -> RatingsFile:
        """Return the file with its parts, after checks over all rows."""
        file, reading, parts = self.file, self.reading, list(self.parts.values())
        existing = {
            name for part in parts for name in (part.question, f"{part.scheme}/{part.question}", part.group)
        }
        absent = sorted(set(reading.questions) - existing)
        if absent:
            question_names = (
                ", ".join(sorted(self.other_questions | {part.question for part in parts})) or "none"
            )
            raise RatingsFileError(
                file.path, f"no ratings for question {', '.join(absent)}; there are {question_names}"
            )
        names = {*self.spelling.raters.values()}
        if unknown := [name for name in reading.raters if name not in names]:
            raise RatingsFileError(
                file.path, f"--raters: no rater {unknown[0]!r}; there are {', '.join(sorted(names))}"
            )
        if not parts:
            free = ", ".join(filter(None, self.free_text)) or "every answer"
            only = f": {free} is free text" if self.free_text else ""
            raise RatingsFileError(file.path, f"no ratings{only}")
        items = {item: None for part in parts for item in part.collector.items}
        open_scales = [
            p for p in parts if p.declared.is_guess or not (p.declared.values or reading.scale.values)
        ]
        values = [("values", part.collector.texts) for part in open_scales]
        self.spelling.check(file.path, [("items", items), *values])
        self.spelling.check_kinds(file.path)
        _tell_apart(parts)
        return RatingsFile(
            file.tables,
            tuple(parts),
            file.cluster,
            file.survey,
            tuple(self.free_text),
            self.spelling,
            reading,
            file.weight,
        )


def _tell_apart(parts: Sequence[Part]) -> None:
    """Add the scheme to the names of questions with the same key in several schemes or on several scales."""
    kinds: dict[str, set[tuple[str, Declared]]] = {}
    for part in parts:
        kinds.setdefault(part.question, set()).add((part.scheme.partition("@")[0], part.declared))
    for part in parts:
        if len(kinds[part.question]) > 1 and part.scheme:
            part.question = f"{part.scheme}/{part.question}"


def _weight(path: Path, line: int, column: str, cell: str) -> float | None:
    """Return an item's weight: its cell, or 1 / the probability there; None for an item not drawn."""
    if not cell.strip():
        return None
    number = as_number(cell.strip())
    is_probability = column != "weight"
    if number is None or number <= 0 or (is_probability and number > 1):
        expected = "a probability above 0, at most 1" if is_probability else "a number above 0"
        raise RatingsFileError(path, f"value {cell!r}: expected {expected}, or nothing", line, column)
    return 1 / number if is_probability else number


def _sample(path: Path, line: int, cell: str) -> int:
    if not cell:
        return 0
    if not cell.isdecimal():
        raise RatingsFileError(path, f"value {cell!r}: expected a whole number from 0", line, "sample")
    return int(cell)


def _identified(path: Path, line: int, cell: str) -> bool:
    text = (cell or "true").lower()
    if text not in TRUE | FALSE:
        raise RatingsFileError(path, f"value {cell!r}: expected true or false", line, "identified")
    return text in TRUE
