"""Profile of a table: what each column looks like, what the file can be, and what is missing for it."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, repeat
from typing import Any

from annotation.formats import crowd_tables
from annotation.formats.columns import LOOKS, ColumnProfile, describe_columns
from annotation.formats.dialogue_readings import (
    read_cells,
    read_messages,
    read_pairs,
    read_plain_text,
    read_responses,
    read_transcript,
    read_turns,
)
from annotation.formats.header_words import tokens_of
from annotation.formats.mapping import QUESTION, Column, Mapping, Scale
from annotation.formats.nested_answers import (
    Elements,
    answers_by_position,
    columns_of_elements,
    is_by_position,
    lists_with_names,
)
from annotation.formats.rating_readings import read_long, read_survey, read_wide
from annotation.formats.readings import (
    DIALOGUE_READINGS,
    RATING_READINGS,
    SYSTEM_WORDS,
    Reading,
    Sample,
    cell_text,
    rater_names,
)
from annotation.formats.scales import EMPTY_SET, MOST_VALUES, ScaleGuess, guess_scale, guess_sets
from annotation.formats.several_files import describe_files, doubts_of_files
from annotation.formats.table_file import Row, TableFile
from annotation.formats.transcript_cells import ASSISTANT
from annotation.text.table_cells import PEOPLE_TOO, kind_of_rater, looks_like_a_model

__all__ = ["ColumnProfile", "Profile", "Reading", "ScaleGuess", "describe", "profile_lines", "scan"]

SAMPLE_ROWS = 2_000
"""Rows that a table is described from; answers are counted in all rows."""
BATCH = 5_000
INSTRUCTING = ("system", "developer")
"""Speakers of instructions, where they only open dialogues."""
MOST_RATERS = 10_000
CODED = frozenset(["code", "class", "category", "act", "cluster", "topic", "intent", "type", "kind"])
"""Words in the names of questions whose numbers may be codes."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The columns of a table, and its readings, the most plausible first, those with something missing last.

    `judges` are the raters that look like models, `speakers` those of the turns, `rated` those among them
    that look like the systems under test. `n_rows` counts the rows that were read; `has_more` says that the
    table has more: scales are not guessed then.
    """

    columns: tuple[ColumnProfile, ...]
    readings: tuple[Reading, ...]
    n_rows: int
    judges: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    rated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_more: bool = False

    @property
    def certain(self) -> Reading | None:
        """The reading that a command uses without asking."""
        return next((reading for reading in self.readings if reading.certain), None)

    @property
    def of_ratings(self) -> Reading | None:
        """The reading that agreement uses without asking: certain, or the only one of ratings."""
        if (certain := self.certain) and (certain.mapping.answers or certain.mapping.of("value")):
            return certain
        ratings = [r for r in self.readings if r.key in RATING_READINGS and r.is_possible]
        return ratings[0] if len(ratings) == 1 and not ratings[0].doubts else None

    def column(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(column for column in self.columns if column.name == name)


DIALOGUE_READERS = (read_messages, read_transcript, read_pairs, read_responses, read_cells, read_turns)
RATING_READERS = (read_long, read_wide, read_survey)


def readings_of(sample: Sample) -> list[Reading]:
    """Return the readings of a table, those that are possible first; none is certain yet."""
    if text := read_plain_text(sample):
        return [text]
    readings = [reading for read in (*DIALOGUE_READERS, *RATING_READERS) if (reading := read(sample))]
    return sorted(readings, key=lambda reading: not reading.is_possible)


def describe(table: TableFile, *, seconds: float = math.inf) -> Profile:
    """Describe a table from its first rows, and the answers of all rows that `seconds` of computing allow."""
    until = time.process_time() + seconds
    rows, has_more = table.sample(SAMPLE_ROWS)
    columns = describe_columns(table.columns, dict(table.wordings), rows)
    if table.files:
        describe_files(columns, table.files)
    sample = _sample(table, rows, columns)
    readings = readings_of(sample) if rows else []
    readings = [
        replace(reading, doubts=(*doubts_of_files(reading.mapping, table), *reading.doubts))
        for reading in readings
    ]
    n_rows = len(rows)
    measured: list[Reading] = []
    raters: list[str] = []
    possible = [reading for reading in readings if reading.is_possible]
    needs_all = has_more and any(
        reading.mapping.answers or reading.mapping.of("value") for reading in possible
    )
    every: dict[int, Counts] = {}
    if needs_all:
        every = {id(reading): Counts(reading.mapping) for reading in possible}
        n_rows = 0
        for batch in _batches(table):
            n_rows += len(batch)
            for counts in every.values():
                counts.add(batch)
            if time.process_time() > until:
                break
        else:
            has_more = False
    for reading in readings:
        if reading.is_possible:
            counts = every.get(id(reading)) or Counts(reading.mapping, rows)
            raters += counts.raters
            reading = _with_scales(reading, counts, is_complete=not (needs_all and has_more))
        measured.append(reading)
    measured = _with_certainty(measured)
    if platform := _platform_reading(table):
        others = [replace(other, certain=False) for other in measured if other.key != platform.key]
        measured = [platform, *others]
    judges = tuple(dict.fromkeys(_judges(raters, measured)))
    speakers, openers = _speakers(rows, measured)
    return Profile(
        columns=tuple(columns.values()),
        readings=tuple(measured),
        n_rows=n_rows,
        judges=judges,
        speakers=speakers,
        rated=tuple(name for name in speakers if names_a_system(name) and name not in openers),
        notes=tuple(table.notes),
        has_more=has_more,
    )


def _sample(table: TableFile, rows: list[Row], columns: dict[str, ColumnProfile]) -> Sample:
    """Return the rows and columns from which readings are guessed: lists of raters as one row an element."""
    names = lists_with_names(columns)
    if not names:
        return Sample(rows, columns)
    elements = list(islice(Elements(names).fitting(rows), SAMPLE_ROWS))
    of_elements = describe_columns(table.columns, dict(table.wordings), elements)
    if table.files:
        describe_files(of_elements, table.files)
    return Sample(elements, columns_of_elements(of_elements, names))


def _platform_reading(table: TableFile) -> Reading | None:
    """Return the reading of a table of a crowd platform or a survey program, whose columns are known."""
    form = None if table.is_json else crowd_tables.form_of(table.columns)
    if form is None:
        return None
    mapping = crowd_tables.mapping_of(table.columns, list(table.rows()), table.wordings)
    if mapping is None:
        return None
    if mapping.has_dialogues:
        key = next(key for key, role in SHOWN.items() if mapping.all_of(role))
        return Reading(key, f"Each row is what one worker answered ({form.title}).", mapping, certain=True)
    key = "wide" if mapping.of("item") else "survey"
    unit = "an item rated by one person" if key == "wide" else "one person"
    sentence = f"Each row is {unit} ({form.title})."
    is_guess = key == "survey" and any(column.question == QUESTION for column in mapping.answers)
    doubts = ("columns with the same answers are taken as items of one question",) if is_guess else ()
    return Reading(key, sentence, mapping, certain=not doubts, doubts=doubts)


SHOWN = {"transcript": "transcript", "cells": "utterance", "turns": "text"}
"""Readings of what workers saw, by the role that shows it."""


class Counts:
    """Answers to each question of a mapping, counted, and the names of raters in rows and columns."""

    def __init__(self, mapping: Mapping, rows: Sequence[Row] = ()) -> None:
        self.mapping = mapping
        self.answers: dict[str, Counter[str]] = {}
        self.of_judges: dict[str, Counter[str]] = {}
        self.too_many: set[str] = set()
        self.lists: set[str] = set()
        self.n_empty: Counter[str] = Counter()
        self.raters: dict[str, None] = dict.fromkeys(rater_names((), mapping))
        self._value = mapping.of("value")
        self._rater = mapping.of("rater")
        self._question = mapping.of("question")
        self._kind = mapping.of("kind")
        self._elements = Elements.of(mapping)
        if rows:
            self.add(rows)

    def add(self, rows: Sequence[Row]) -> None:
        """Count the answers of some rows."""
        if self._elements.names:
            rows = list(self._elements.fitting(rows))
        for column in self.mapping.answers:
            if column.role == "metric":
                continue
            if is_by_position(column) or self.mapping.is_of_each_turn(column):
                self._count_positions(column, rows)
                continue
            names = ("" if column.question else self._question, column.name)
            for (question, text), count in self._cells(rows, column.question or "", *names).items():
                self._count(column.question or question, text, count, column.role == "judge")
        if self._rater:
            for (rater,) in Counter((cell_text(row.get(self._rater)),) for row in rows):
                if rater and len(self.raters) < MOST_RATERS:
                    self.raters[rater] = None
        if self._value:
            places = (self._question, self._value, self._rater, self._kind)
            for (question, text, rater, word), count in self._cells(rows, "", *places).items():
                kind = _kind_of(word)
                if kind != "metric":
                    self._count(question, text, count, kind == "judge" if kind else _is_judge(rater))

    def _count_positions(self, column: Column, rows: Sequence[Row]) -> None:
        """Count the answers of lists by position, each by itself."""
        counts: Counter[tuple[str, str]] = Counter()
        for row in rows:
            question = column.question or cell_text(row.get(self._question)) or QUESTION
            for _, _, part in answers_by_position(column, row.get(column.name)):
                counts[question, cell_text(part)] += 1
        for (question, text), count in counts.items():
            self._count(question, text, count, column.role == "judge")

    def _cells(self, rows: Sequence[Row], question: str, *names: str) -> Counter[tuple[str, ...]]:
        """Count the cells of some columns together; the parts of lists each by itself."""
        counts: Counter[tuple[str, ...]] = Counter()
        columns: list[Iterable[Any]] = [
            [row.get(name) for row in rows] if name else repeat("") for name in names
        ]
        if any(type(cell) is list for cell in columns[1]):
            for first, cells, *others in zip(*columns, strict=False):
                for cell in cells if isinstance(cells, list) else (cells,):
                    counts[(cell_text(first), cell_text(cell), *map(cell_text, others))] += 1
                self.lists.add(question or cell_text(first))
            return counts
        for key, count in Counter(zip(*columns, strict=False)).items():
            counts[tuple(map(cell_text, key))] += count
        return counts

    def _count(self, question: str, text: str, count: int, is_judge: bool) -> None:
        if not text:
            self.n_empty[question] += count
            return
        if question in self.too_many or len(self.answers) > MOST_VALUES:
            return
        counts = (self.of_judges if is_judge else self.answers).setdefault(question, Counter())
        counts[text] += count
        if len(counts) > MOST_VALUES:
            self.too_many.add(question)

    def guesses(self) -> dict[str, ScaleGuess]:
        """Return the scale of each question with answers, over those of people, judges and keys."""
        guesses = {}
        for question in dict.fromkeys((*self.answers, *self.of_judges)):
            people, judges = (
                _coded(side.get(question, Counter()), self.mapping.scale(question))
                for side in (self.answers, self.of_judges)
            )
            if not (every := people + judges):
                continue
            guess = guess_sets(every) if question in self.lists else guess_scale(every)
            if people and judges and (own := guess_scale(people)).look != guess.look:
                doubt = f"people answer with {own.sentence}, judges with {guess_scale(judges).sentence}"
                guess = replace(guess, doubts=(*guess.doubts, doubt))
            guesses[question] = guess
        return guesses


def _coded(answers: Counter[str], scale: Scale) -> Counter[str]:
    """Return answers as a scale's codes store them, without those that are no answer."""
    if not scale.codes:
        return answers
    coded: Counter[str] = Counter()
    for text, count in answers.items():
        code = scale.codes.get(text, text)
        if code != EMPTY_SET:
            coded[code] += count
    return coded


def _batches(table: TableFile) -> Iterator[list[Row]]:
    rows = (row for _, row in table.rows())
    while batch := list(islice(rows, BATCH)):
        yield batch


@lru_cache(maxsize=MOST_RATERS)
def _kind_of(text: str) -> str:
    try:
        return kind_of_rater(text) if text else ""
    except ValueError:
        return ""


def scan(table: TableFile, mapping: Mapping, *, seconds: float = math.inf) -> Mapping | None:
    """Return a mapping with the scales of its questions, guessed from the answers in all rows.

    What the mapping says of a scale already stays. None where that takes more `seconds` of computing.
    """
    until = time.process_time() + seconds
    counts = Counts(mapping)
    for rows in _batches(table):
        counts.add(rows)
        if time.process_time() > until:
            return None
    return _complete(mapping, counts)


def _complete(mapping: Mapping, counts: Counts) -> Mapping:
    scales = dict(mapping.scales)
    for question, guess in counts.guesses().items():
        declared = mapping.scale(question)
        scale = guess.scale
        codes = {**dict.fromkeys(guess.missing, ""), **scale.codes} if scale.level != "text" else {}
        scales[question] = Scale(
            level=declared.level or scale.level,
            values=declared.values or (scale.values if declared.level in ("", scale.level) else ()),
            codes={**(dict.fromkeys(guess.missing, "") if declared.values else codes), **declared.codes},
            anchors=declared.anchors or scale.anchors,
            separator=declared.separator or ("" if declared.values else scale.separator),
            decimal=declared.decimal or scale.decimal,
        )
    return replace(mapping, scales=scales)


def _with_scales(reading: Reading, counts: Counts, *, is_complete: bool) -> Reading:
    doubts = list(reading.doubts)
    for question, guess in counts.guesses().items():
        title = question or (counts.mapping.of("value") or "answers")
        doubts += [f"{title}: {doubt}" for doubt in guess.doubts]
        doubts += [f"{title}: {doubt}" for doubt in _doubts_of_codes(title, guess)]
        if (
            guess.look == "set"
            and counts.n_empty[question]
            and "" not in reading.mapping.scale(question).codes
        ):
            doubts.append(
                f"{title}: empty cells ({counts.n_empty[question]}) are no answer;"
                f" codes:{question}=:{EMPTY_SET} makes them the answer that no value applies"
            )
        if guess.look == "text" and counts.mapping.of("value"):
            doubts.append(f"{title}: the answers look like texts")
    if not counts.mapping.of("kind"):
        doubts += _doubtful_raters(counts)
    mapping = _complete(reading.mapping, counts) if is_complete else reading.mapping
    return replace(reading, mapping=mapping, doubts=tuple(dict.fromkeys(doubts)))


def _doubts_of_codes(title: str, guess: ScaleGuess) -> list[str]:
    """Whether whole numbers may be codes of categories, by the question's name."""
    words = {token.base for token in tokens_of(title)}
    values = guess.scale.values
    if guess.look == "scale" and (words & CODED or ("label" in words and values[0] == "0")):
        return [f"the numbers {values[0]} to {values[-1]} may be codes of categories"]
    return []


def _doubtful_raters(counts: Counts) -> list[str]:
    """Names of models that are names of people, too, beside raters that are people."""
    names = list(counts.raters)
    people = [name for name in names if not looks_like_a_model(name)]
    return [
        f"{name} may be a person or a model"
        for name in names
        if name.strip().casefold() in PEOPLE_TOO and people
    ]


def _judges(raters: Iterable[str], readings: Iterable[Reading]) -> Iterable[str]:
    columns = {c.rater: c.role for reading in readings for c in reading.mapping.answers if c.rater}
    for rater in raters:
        if columns.get(rater) == "judge" or (rater not in columns and _is_judge(rater)):
            yield rater


@lru_cache(maxsize=MOST_RATERS)
def _is_judge(name: str) -> bool:
    words = {token.base for token in tokens_of(name)}
    return looks_like_a_model(name) or bool(words & {"llm", "judge"} and not words & {"human"})


def names_a_system(name: str) -> bool:
    """Whether a speaker's name or role is probably a bot's."""
    return looks_like_a_model(name) or any(token.base in SYSTEM_WORDS for token in tokens_of(name))


def _speakers(rows: Iterable[Row], readings: Iterable[Reading]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the speakers of the first reading with dialogues, at most 200, and those that give instructions.

    Instructions open a dialogue and are of the `system`, which says nothing further.
    """
    for reading in readings:
        if reading.key not in DIALOGUE_READINGS or not reading.is_possible:
            continue
        mapping = reading.mapping
        names = dict.fromkeys(column.speaker for column in mapping.all_of("utterance"))
        if mapping.all_of("response"):
            names[ASSISTANT] = None
        later: set[str] = set()
        speaker, last = mapping.of("speaker"), None
        for row in rows if speaker else ():
            cell = row.get(speaker)
            dialogue = row.get(mapping.of("dialogue"))
            for place, part in enumerate(cell if isinstance(cell, list) else (cell,)):
                if (text := cell_text(part)) and len(names) < 200:
                    names[text] = None
                    is_first = place == 0 if isinstance(cell, list) else dialogue != last
                    later |= set() if is_first else {text}
            last = dialogue
        openers = {name for name in names if name.casefold() in INSTRUCTING and name not in later}
        return tuple(names), frozenset(openers if speaker else ())
    return (), frozenset()


def _with_certainty(readings: list[Reading]) -> list[Reading]:
    """Mark the reading that is the only plausible one, without a doubt.

    A table with dialogues is not read as ratings without asking; its labels come with the dialogues.
    """
    dialogues = [r for r in readings if r.is_possible and r.key in DIALOGUE_READINGS]
    ratings = [r for r in readings if r.is_possible and r.key in RATING_READINGS]
    is_pairs = any(reading.key == "pairs" for reading in readings)
    plausible = dialogues or ratings
    if len(plausible) != 1 or plausible[0].doubts or is_pairs:
        return readings
    return [replace(r, certain=True) if r is plausible[0] else r for r in readings]


# The profile in lines, for a command.

WIDEST_NAME = 32
EXAMPLES = 60
MOST_OPTIONS = 60
"""Maximum number of columns of a mapping that are printed as options."""


def profile_lines(profile: Profile, command: str) -> list[str]:
    """Return a profile as text: a line a column, the readings, and the command to run.

    `command` begins the line to run, such as `manage.py import_corpus chats.csv`.
    """
    rows = f"the first {profile.n_rows:,}" if profile.has_more else f"{profile.n_rows:,}"
    lines = [f"{rows} rows, {len(profile.columns)} columns", *profile.notes, "", *_column_lines(profile), ""]
    for reading in profile.readings:
        lines += reading_lines(reading)
    possible = [reading for reading in profile.readings if reading.is_possible]
    if profile.judges:
        lines.append(f"Judges by their names: {', '.join(profile.judges[:20])}")
    if possible:
        lines += [
            "",
            "To read it so, correct what is wrong and run:",
            *_command_lines(command, possible[0].mapping),
        ]
    else:
        lines += ["", "Nothing fits: name the columns, like --map dialogue=COLUMN --map text=COLUMN"]
    return lines


def _column_lines(profile: Profile) -> list[str]:
    width = min(WIDEST_NAME, max([len(_printable(column.name)) for column in profile.columns], default=6))
    look_width = max([len(_look_text(column)) for column in profile.columns], default=10)
    lines = [f"{'column':<{width}}  {'looks like':<{look_width}}  filled  different  examples"]
    for column in profile.columns:
        examples = _shortened(", ".join(_printable(example) for example in column.examples), EXAMPLES)
        missing = f"  no answer: {', '.join(column.missing[:4])}" if column.missing else ""
        name = _shortened(_printable(column.name), width)
        lines.append(
            f"{name:<{width}}  {_look_text(column):<{look_width}}  {column.coverage:>5.0%}  "
            f"{column.n_different:>9,}  {examples}{missing}".rstrip()
        )
    return lines


def _look_text(column: ColumnProfile) -> str:
    if column.looks_like == "scale" and column.values:
        return f"whole numbers {column.values[0]} to {column.values[-1]}"
    return LOOKS[column.looks_like]


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def reading_lines(reading: Reading) -> list[str]:
    """Return a reading as text: what it is, its scales, and what is unclear or missing."""
    if reading.missing:
        return [f"not: {_printable(reading.sentence)} Missing: {_printable('; '.join(reading.missing))}."]
    state = "certain" if reading.certain else "possible"
    lines = [f"{state}: {_printable(reading.sentence)}"]
    for question, scale in list(reading.mapping.scales.items())[:12]:
        if sentence := _scale_sentence(scale):
            lines.append(
                f"    {_printable(question or 'answers')}: {_printable(sentence)} (guessed from the answers)"
            )
    lines += [f"    unclear: {_printable(doubt)}" for doubt in reading.doubts[:12]]
    return lines


def _scale_sentence(scale: Scale) -> str:
    look = {
        "binary": "yes_no",
        "ordinal": "scale",
        "interval": "score",
        "nominal": "category",
        "text": "text",
    }
    key = look.get(scale.level, "empty")
    if key == "scale" and (scale.anchors or not all(value.lstrip("-").isdigit() for value in scale.values)):
        key = "ordered"
    return ScaleGuess(scale, "set" if scale.separator else key).sentence if scale.level else ""


def _command_lines(command: str, mapping: Mapping) -> list[str]:
    """Return the command with the mapping's columns and sets; other scales are guessed again from answers."""
    options = [f"--map {shlex.quote(f'{column.key}={column.name}')}" for column in mapping.columns]
    options += [
        f"--map {shlex.quote(f'separator:{question}={scale.separator}')}"
        for question, scale in mapping.scales.items()
        if scale.separator
    ]
    if len(options) <= MOST_OPTIONS:
        return [" ".join([_printable(command), *map(_printable, options)])]
    return [
        f"{_printable(command)} --map-file mapping.yaml",
        f"where mapping.yaml has {len(options):,} lines like",
        *(
            _printable(f"    {json.dumps(column.key, ensure_ascii=False)}: {json.dumps(column.name)}")
            for column in mapping.columns[:5]
        ),
    ]
