"""Texts with answers, as annotation tools export them, become dialogues with labels.

A text is a turn, of a dialogue of its own or of one that the file names; a text whose lines are like
`Ana: hello` is a dialogue. Chosen options and marked words are known only once all of a file is read: options
of which each rater always chose one are the values of a nominal question, otherwise each option is a yes/no
question of a group. Marked words are such yes/no answers about their turn, with the words as evidence.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from annotation.formats.corpus_format import SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, decode_python, is_number, plain, require
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_reader import is_json_lines, json_lines
from annotation.formats.transcripts import NAME, ROLE, speakers_of
from annotation.records import SELF, Dialogue, LabelRecord, Passage, RaterKind, Turn
from annotation.text.references import MOST, in_order

UNNAMED = "unnamed"
"""Speaker of a text that does not say who speaks."""
ANYBODY = "annotator"
"""Rater of a file that names none."""
NOTHING = "nothing chosen"
"""Reason of an answer without an option, where others have one each."""
QUESTION_LIMIT = 120
LINE_OF_SPEAKER = re.compile(rf"^[ \t]*({NAME})[ \t]*:[ \t]*", re.MULTILINE)
SPEAKERS = ("speaker", "role", "author", "from", "sender", "name")
TEXTS = ("text", "content", "value", "utterance", "message")
Span = tuple[int, int, str]
"""Beginning, end and label of marked words."""


@dataclass(slots=True)
class Answer:
    """An answer of a rater to a question about a text.

    `options` are those that were chosen, `spans` the marked words; a `value` is a number or a text. `notes`
    explain single options or labels. An answer without either is `missing` for a reason. `offered` are all
    options, where the file has them; with `is_set` several may be chosen.
    """

    rater: str
    question: str
    type: Literal["options", "spans", "number", "text", "yes"]
    value: float | str | None = None
    options: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    missing: str = ""
    explanation: str = ""
    offered: tuple[str, ...] = ()
    is_set: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    kind: RaterKind = "human"
    identified: bool = True


@dataclass(slots=True)
class Text:
    """A text with its turns, where each begins in it, and the answers about it."""

    turns: tuple[Turn, ...]
    starts: tuple[int, ...]
    order: float
    answers: list[Answer] = field(default_factory=list)

    def passages(self, spans: Sequence[Span], turn: int, first: int) -> tuple[tuple[str, Passage], ...]:
        """Return the marked words within a turn, each with its label; `first` turns precede the text's."""
        start, text = self.starts[turn], self.turns[turn].text
        clipped = [(max(b - start, 0), min(e - start, len(text)), label) for b, e, label in spans]
        return tuple((label, Passage(SELF, first + turn, b, e)) for b, e, label in clipped if b < e)


@dataclass(slots=True)
class Texts:
    """The texts of a file by dialogue, as they are read; `left_out` counts parts of the file by kind."""

    source: Source
    dialogues: dict[str, dict[str, Text]] = field(default_factory=dict)
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    places: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        turns: Sequence[tuple[str, str]] | str,
        key: str = "",
        *,
        dialogue: str = "",
        order: float | None = None,
        speaker: str = "",
        metadata: Mapping[str, Any] | None = None,
        line: int | None = None,
        file: str = "",
    ) -> Text:
        """Return the text of this key, new or known; without a key, the same text is one text.

        `turns` are a text, or speakers with their texts. Raises ImportProblem where the text differs.
        """
        text = text_of_turns(turns, speaker)
        own_key = key or repr([(turn.speaker, turn.text) for turn in text.turns])
        place = dialogue or key or self.names.setdefault(own_key, f"text-{len(self.names) + 1}")
        texts = self.dialogues.setdefault(place[:ID_LIMIT], {})
        text.order = len(texts) if order is None else order
        stored = texts.setdefault(own_key, text)
        if [turn.text for turn in stored.turns] != [turn.text for turn in text.turns]:
            raise ImportProblem(f"{key[:60]!r} has another text before: ids must be of one text each")
        self.metadata.setdefault(place[:ID_LIMIT], plain(dict(metadata or {}), "meta"))
        self.places.setdefault(place[:ID_LIMIT], (line, file))
        return stored

    def records(self) -> Iterator[SourceRecord]:
        """Yield the dialogues with their labels; a file without any text is refused."""
        if not self.dialogues and not (self.source.faults and self.source.faults.problems):
            raise ImportProblem("holds no text that was annotated")
        questions = Questions([text for texts in self.dialogues.values() for text in texts.values()])
        n_split = 0
        for key, texts in self.dialogues.items():
            turns: list[Turn] = []
            labels: list[LabelRecord] = []
            for text in sorted(texts.values(), key=lambda text: text.order):
                is_alone = len(texts) == 1 and len(text.turns) > 1
                labels += questions.labels(text, len(turns), None if is_alone else len(turns))
                turns += text.turns
            n_split += len(turns) > 1 and len(texts) == 1
            record = Dialogue(
                id=key, turns=tuple(turns), labels=tuple(labels), metadata=self.metadata.get(key, {})
            )
            line, file = self.places.get(key, (None, ""))
            yield SourceRecord(record, line, file)
        if n_split:
            self.source.notes.append(f"Texts with several turns are dialogues, rated as a whole: {n_split}.")
        if left_out := +(self.left_out + questions.left_out):
            listing = ", ".join(f"{kind} ({count})" for kind, count in left_out.items())
            self.source.notes.append(f"Left out: {listing}.")


def text_of_turns(turns: Sequence[tuple[str, str]] | str, speaker: str = "") -> Text:
    """Return turns as a text; a text of lines like `Ana: hello` has a turn for each."""
    if isinstance(turns, str):
        return _split(turns) or Text((Turn(speaker or UNNAMED, turns),), (0,), 0)
    starts, position = [], 0
    for _, text in turns:
        starts.append(position)
        position += len(text)
    records = tuple(Turn(name.strip()[:NAME_LIMIT] or UNNAMED, text) for name, text in turns)
    return Text(records, tuple(starts), 0)


def _split(text: str) -> Text | None:
    """Return a text of lines like `Ana: hello` as turns, None where it is no dialogue."""
    matches = list(LINE_OF_SPEAKER.finditer(text))
    speakers = speakers_of(match[1] for match in matches)
    matches = [match for match in matches if match[1] in speakers]
    names = [match[1] for match in matches]
    recurs = len(set(names)) < len(names) or all(ROLE.fullmatch(name) for name in names)
    if len(set(names)) < 2 or not recurs or text[: matches[0].start()].strip():
        return None
    ends = [*(match.start() for match in matches[1:]), len(text)]
    turns = tuple(
        Turn(match[1], text[match.end() : end].rstrip()) for match, end in zip(matches, ends, strict=True)
    )
    return Text(turns, tuple(match.end() for match in matches), 0)


class Questions:
    """The questions of a file, with their scales, from all the answers in it."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.options: dict[str, dict[str, None]] = {}
        self.single: dict[str, bool] = {}
        self.left_out: Counter[str] = Counter()
        answers = [answer for text in texts for answer in text.answers]
        text_questions = {answer.question for answer in answers if answer.type == "text"}
        for answer in answers:
            if answer.type == "options" and answer.question in text_questions and not answer.missing:
                answer.type, answer.value = "text", "\n".join(answer.options)
            self._meet(answer)

    def _meet(self, answer: Answer) -> None:
        question = answer.question
        if answer.missing or answer.type not in ("options", "spans"):
            return
        is_marked = answer.type == "spans"
        labels = [label for _, _, label in answer.spans] if is_marked else answer.offered + answer.options
        self.options.setdefault(question, {}).update(dict.fromkeys(labels))
        is_single = answer.type == "options" and len(answer.options) < 2 and not answer.is_set
        self.single[question] = self.single.get(question, True) and is_single

    def labels(self, text: Text, first: int, turn: int | None) -> Iterator[LabelRecord]:
        """Yield the labels of a text, whose own turns begin at `first`; None: they are about the whole."""
        samples: Counter[tuple[str, str, str]] = Counter()
        for answer in text.answers:
            key = (answer.rater, answer.kind, answer.question)
            for label in self._of_answer(text, answer, first, turn):
                yield _with_sample(label, samples[key])
            samples[key] += 1

    def _of_answer(self, text: Text, answer: Answer, first: int, turn: int | None) -> Iterator[LabelRecord]:
        question = answer.question
        if answer.missing and answer.type in ("options", "spans") and not self.single.get(question, True):
            for option in self.options.get(question, ()):
                yield self._tag(answer, option, False, turn)
        elif answer.missing:
            yield _label(answer, question, None, turn)
        elif answer.type == "spans":
            yield from self._spans(text, answer, first)
        elif answer.type == "options" and self.single[question] and not answer.options:
            yield _label(replace(answer, missing=NOTHING), question, None, turn)
        elif answer.type == "options" and self.single[question]:
            values = tuple(self.options[question])
            yield _label(answer, question, answer.options[0], turn, level="nominal", values=values)
        elif answer.type == "options":
            for option in self.options[question]:
                yield self._tag(answer, option, option in answer.options, turn)
        elif answer.type == "number":
            yield _label(answer, question, answer.value, turn)
        elif answer.type == "yes":
            yield _label(answer, question, answer.value, turn, level="binary", values=(0.0, 1.0))
        else:
            yield _label(answer, question, answer.value, turn, level="text")

    def _spans(self, text: Text, answer: Answer, first: int) -> Iterator[LabelRecord]:
        for index in range(len(text.turns)):
            passages = text.passages(answer.spans, index, first)
            for option in self.options[answer.question]:
                marked = in_order({passage for label, passage in passages if label == option})
                self.left_out["marked words beyond the first 100 of an answer"] += max(0, len(marked) - MOST)
                yield self._tag(answer, option, bool(marked), first + index, marked[:MOST])

    def _tag(
        self, answer: Answer, option: str, is_set: bool, turn: int | None, marked: tuple[Passage, ...] = ()
    ) -> LabelRecord:
        return _label(
            answer,
            f"{answer.question}:{option}"[:QUESTION_LIMIT],
            None if answer.missing else float(is_set),
            turn,
            level="binary",
            values=(0.0, 1.0),
            group=answer.question,
            evidence=marked,
            explanation=answer.notes.get(option, answer.explanation if is_set or answer.missing else ""),
        )


def _label(
    answer: Answer, question: str, value: float | str | None, turn: int | None, **more: Any
) -> LabelRecord:
    options: dict[str, Any] = {"explanation": answer.explanation, **more}
    return LabelRecord(
        rater=answer.rater,
        kind=answer.kind,
        continuation=SELF,
        turn=turn,
        question=question[:QUESTION_LIMIT],
        value=value,
        missing=answer.missing,
        identified=answer.identified,
        **options,
    )


def _with_sample(label: LabelRecord, sample: int) -> LabelRecord:
    return replace(label, sample=sample) if sample else label


# Files of JSON records: lines, or one list.


def json_records(source: Source) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """Yield (file, line or number, record) of JSON lines, and of documents of an object or a list of them."""
    is_empty = True
    for file in source.files():
        for line, record in _lines_or_document(source, file):
            is_empty = False
            yield file, line, record
    if is_empty:
        raise ImportProblem("holds no record")


def _lines_or_document(source: Source, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if is_json_lines(source, file):
        yield from json_lines(source, file)
        return
    content = decode_python(source.document(file))
    for number, record in enumerate(content if isinstance(content, list) else [content], start=1):
        with source.report_problems(file, number):
            yield number, require(record, dict)


def value_of_cell(cell: Any) -> Any:
    """Return a cell's value: JSON, or a list as Python writes it, where it is one; else its text."""
    if not isinstance(cell, str) or not cell.startswith(("[", "{")):
        return cell
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return cell


def turns_of_messages(value: Any) -> list[tuple[str, str]]:
    """Return speakers and texts of a list of messages, empty where it is none."""
    if not isinstance(value, list) or not value or not all(isinstance(message, dict) for message in value):
        return []
    turns = []
    for message in value:
        text = first_text(message, TEXTS)
        if not text:
            return []
        turns.append((first_text(message, SPEAKERS) or UNNAMED, text))
    return turns


def first_text(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first text or number under these names, as a text; empty where there is none."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if is_number(value):
            return str(value)
    return ""
