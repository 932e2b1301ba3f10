"""Dialogues from rows of turns: one row a turn, whatever table they come from.

`continuation` names the continuation of a turn (empty or `self`: the dialogue's own turns), `system` its
system; `at` makes a continuation static. A table with a row per turn and annotator repeats every turn: each
is read once, or the table is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from annotation.formats.corpus_format import SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, check_static
from annotation.formats.source import ImportProblem, Source
from annotation.records import HUMAN, SELF, Continuation, Dialogue, LabelRecord, Turn

Cells = Mapping[str, str]
"""The texts of a row by Concord's columns; absent ones are empty."""


def whole_number(row: Cells, name: str) -> int:
    """Return a whole number from 0; 0 for an empty cell."""
    text = row.get(name, "").strip() or "0"
    if not (text.isascii() and text.isdigit() and int(text[:12]) < 2**31):
        raise ImportProblem(f"{text[:20]!r} is not a whole number of 0 or more", field=name)
    return int(text)


TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def truth(row: Cells, name: str, *, empty: bool) -> bool:
    """Return a cell's truth value; `empty` for an empty cell."""
    text = row.get(name, "").strip().lower()
    if text and text not in TRUTH:
        raise ImportProblem(f"{text[:20]!r} is neither true nor false", field=name)
    return TRUTH.get(text, empty)


COLUMNS = (
    *("dialogue", "speaker", "text", "continuation", "system", "trial", "at", "given", "time", "session"),
    *("addressees", "cluster", "language"),
)
"""Columns of a turn that are read; those of its answers come beside them."""
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
"""Names of columns that number the turns."""
MAX_TURNS = 100_000
"""Maximum number of rows of a dialogue."""
MAX_CHARACTERS = 16 * 2**20
"""Maximum number of characters of a dialogue's texts."""


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """An answer in a row of turns: about the row's turn, or about its dialogue or continuation."""

    label: LabelRecord
    is_about_turn: bool = True


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row with its line: the cells of a turn, and the annotator and number of the turn where known.

    `metadata` are further cells: of the dialogue where all its rows agree, else of the turn. The turns of a
    table's row have the same `row`: several rows may come from one line.
    """

    line: int
    cells: Cells
    rater: str = ""
    number: str = ""
    answers: tuple[RowAnswer, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    row: int = 0


@dataclass(slots=True)
class Repeats:
    """How many rows repeat a turn for another annotator, or the row before them.

    `rater` is the column of annotators; `has_answers` tells whether answers are read from the rows.
    """

    rater: str = ""
    has_answers: bool = False
    left_out: int = 0
    adjacent: int = 0
    joined: int = 0

    def notes(self) -> Iterator[str]:
        """Yield sentences about them."""
        if self.left_out:
            advice = " To read their labels, too, import it as a table with --map label:QUESTION=COLUMN."
            yield (
                f"Rows that repeat a turn for another annotator: {self.left_out:,}. Each turn was read once."
                f"{'' if self.has_answers else advice}"
            )
        if self.joined:
            yield f"Rows joined with the row before them, as sentences of the same turn: {self.joined:,}."
        if self.adjacent:
            yield f"Rows that say the same as the row before them, kept as turns: {self.adjacent:,}."


@dataclass(slots=True)
class _Part:
    """The turns of one continuation; for the values `stated` in its rows, the first non-empty one holds.

    `turn_of_row` has the index of each row's turn.
    """

    turns: list[Turn] = field(default_factory=list)
    stated: dict[str, str] = field(default_factory=dict)
    rows: list[TurnRow] = field(default_factory=list)
    turn_of_row: list[int] = field(default_factory=list)


def dialogue_of_rows(
    source: Source, key: str, rows: Sequence[TurnRow], repeats: Repeats
) -> SourceRecord | None:
    """Build a dialogue from its rows; errors in a row are reported to the source."""
    parts: dict[str, _Part] = {SELF: _Part()}
    shared: dict[str, str] = {}
    is_sound, characters = True, 0
    for row in rows:
        characters += len(row.cells.get("text", ""))
        if len(rows) > MAX_TURNS or characters > MAX_CHARACTERS:
            raise ImportProblem(
                f"the dialogue has over {MAX_TURNS:,} rows or {MAX_CHARACTERS:,} characters", line=row.line
            )
        try:
            _add(row, parts, shared, repeats)
        except ImportProblem as problem:
            source.report(problem.placed(line=row.line))
            is_sound = False
    if not is_sound:
        return None
    first = rows[0].line
    try:
        for part in parts.values():
            _read_once(part, repeats)
        return SourceRecord(_record(key, parts, shared), first)
    except ImportProblem as problem:
        source.report(problem.placed(line=first))
        return None


def _add(row: TurnRow, parts: dict[str, _Part], shared: dict[str, str], repeats: Repeats) -> None:
    """Add a row's turn to its continuation; a row without a speaker continues the turn before it."""
    cells = row.cells
    for name, limit in LIMITS.items():
        if len(cells.get(name, "")) > limit:
            raise ImportProblem(f"is longer than {limit} characters", field=name)
    part = parts.setdefault(cells.get("continuation", "") or SELF, _Part())
    for name in ("system", "trial"):
        _agree(part.stated, cells, name, "the rows of this continuation")
    for name in ("cluster", "language"):
        _agree(shared, cells, name, "the rows of this dialogue")
    part.rows.append(row)
    if _continues(part, row):
        last = part.turns[-1]
        part.turns[-1] = replace(last, text=f"{last.text} {cells['text'].strip()}")
        repeats.joined += 1
    else:
        part.turns.append(_turn(cells))
    part.turn_of_row.append(len(part.turns) - 1)


def _continues(part: _Part, row: TurnRow) -> bool:
    """Whether a row is a further sentence of the turn before it: it has no speaker, or the turn's number."""
    if not part.turns or not row.cells.get("text", "").strip():
        return False
    before = part.rows[-2]
    if not row.cells.get("speaker", "").strip():
        return before.rater == row.rater
    return (
        bool(row.number)
        and (row.number, row.rater, row.cells["speaker"])
        == (before.number, before.rater, part.turns[-1].speaker)
        and row.cells["text"] != before.cells["text"]
    )


def _read_once(part: _Part, repeats: Repeats) -> None:
    """Drop the turns of a continuation that are repeated for another annotator.

    Rows are repeats where a column numbers the turns and every number belongs to a single turn, or where all
    annotators have the same turns in the same order. Otherwise a turn repeated by another annotator is
    refused, and so are turns that all occur several times: it is unknown how often each was said.
    """
    first_rows: dict[int, TurnRow] = {}
    for row, index in zip(part.rows, part.turn_of_row, strict=True):
        first_rows.setdefault(index, row)
    turns, rows = part.turns, list(first_rows.values())
    places = _by_number(turns, rows) or _by_rater(turns, rows)
    if places:
        distinct = sorted(set(places))
        index_of = {place: index for index, place in enumerate(distinct)}
        repeats.left_out += len(turns) - len(distinct)
        part.turns = [turns[place] for place in distinct]
        part.turn_of_row = [index_of[places[place]] for place in part.turn_of_row]
        return
    _refuse_repeated(turns, rows, repeats)
    repeats.adjacent += sum(turn == other for turn, other in pairwise(turns))


def _by_number(turns: list[Turn], rows: list[TurnRow]) -> list[int]:
    """Return the place of the first row with each row's number.

    [] where numbers do not repeat, or belong to several turns.
    """
    first: dict[str, int] = {}
    places = []
    for place, row in enumerate(rows):
        if not row.number or turns[first.setdefault(row.number, place)] != turns[place]:
            return []
        places.append(first[row.number])
    numbers = [int(number) for number in first if number.isascii() and number.isdigit()]
    if len(first) == len(turns) or (len(numbers) == len(first) and numbers != sorted(numbers)):
        return []
    return places


def _by_rater(turns: list[Turn], rows: list[TurnRow]) -> list[int]:
    """Return the place of each row's turn among those of the first annotator.

    [] with a single annotator, or where others have other turns.
    """
    by_rater: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_rater.setdefault(row.rater, []).append(place)
    if len(by_rater) < 2:
        return []
    first, *others = by_rater.values()
    mine = [turns[place] for place in first]
    if not all([turns[place] for place in other] == mine for other in others):
        return []
    same = {place: first[number] for other in by_rater.values() for number, place in enumerate(other)}
    return [same[place] for place in range(len(rows))]


def _refuse_repeated(turns: list[Turn], rows: list[TurnRow], repeats: Repeats) -> None:
    """Refuse turns repeated by other annotators, and turns that all occur equally often.

    Where every row has a number of its own, some turns may well be said again later, but not most of them.
    """
    first: dict[Turn, TurnRow] = {}
    again = [
        (before, row)
        for turn, row in zip(turns, rows, strict=True)
        if (before := first.setdefault(turn, row)).rater != row.rater
    ]
    numbered = len({row.number for row in rows}) == len(rows)
    others = sum(row.rater != rows[0].rater for row in rows) if rows else 0
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


def _agree(stated: dict[str, str], row: Cells, name: str, scope: str) -> None:
    value = row.get(name, "")
    if value and stated.setdefault(name, value) != value:
        raise ImportProblem(f"{value[:40]!r} differs from {stated[name][:40]!r} in {scope}", field=name)


def _turn(row: Cells) -> Turn:
    for name in ("speaker", "text"):
        if not row.get(name, "").strip():
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


def _record(key: str, parts: dict[str, _Part], shared: dict[str, str]) -> Dialogue:
    metadata = _share_metadata(parts)
    labels = tuple(label for name, part in parts.items() for label in _labels(name, part))
    own = parts.pop(SELF)
    if any(turn.at is not None for turn in own.turns):
        raise ImportProblem("only turns of a static continuation have a point `at`", field="at")
    record = Dialogue(
        id=key,
        turns=tuple(own.turns),
        continuations=tuple(_continuation(name, part) for name, part in parts.items()),
        labels=labels,
        system=own.stated.get("system", HUMAN),
        cluster=shared.get("cluster", ""),
        language=shared.get("language", ""),
        metadata=metadata,
    )
    if record.turns:
        check_static(record, len(record.turns))
    return record


def _share_metadata(parts: Mapping[str, _Part]) -> dict[str, str]:
    """Return the metadata on which all rows agree; the others stay with their turns."""
    rows = [row for part in parts.values() for row in part.rows]
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.metadata.items():
            values.setdefault(name, set()).add(value)
    shared = {name: next(iter(texts)) for name, texts in values.items() if len(texts) == 1}
    own = values.keys() - shared.keys()
    if own:
        for part in parts.values():
            for row, index in zip(part.rows, part.turn_of_row, strict=True):
                extra = {name: value for name, value in row.metadata.items() if name in own}
                if extra:
                    part.turns[index] = replace(part.turns[index], extra={**extra, **part.turns[index].extra})
    return shared


def _labels(name: str, part: _Part) -> Iterator[LabelRecord]:
    """Yield the labels of a continuation's rows, each answer once; refuse two different ones."""
    answers: dict[tuple[Any, ...], LabelRecord] = {}
    for row, index in zip(part.rows, part.turn_of_row, strict=True):
        for answer in row.answers:
            turn = index if answer.is_about_turn else None
            label = replace(answer.label, continuation=name, turn=turn, line=row.line)
            place = (label.rater, label.kind, label.question, label.turn, label.sample)
            before = answers.setdefault(place, label)
            if (before.value, before.missing) != (label.value, label.missing):
                item = "this turn" if answer.is_about_turn else "this dialogue"
                raise ImportProblem(
                    f"{label.rater!r} answers {label.question!r} about {item} with {before.value!r} and with "
                    f"{label.value!r}",
                    line=row.line,
                )
    yield from answers.values()


def _continuation(name: str, part: _Part) -> Continuation:
    is_static = any(turn.at is not None for turn in part.turns)
    return Continuation(
        id=name,
        system=part.stated.get("system", name[:NAME_LIMIT]),
        turns=tuple(part.turns),
        mode="static" if is_static else "rollout",
        trial=whole_number(part.stated, "trial"),
    )
