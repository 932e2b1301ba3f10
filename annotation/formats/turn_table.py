"""Dialogues as a table, one row a turn: what its columns mean, whatever kind of file it is in.

`dialogue`, `speaker` and `text` are needed. `continuation` names the continuation that a turn belongs to
(empty or `self`: the dialogue's own turns), `system` who produced that; `at` makes a continuation static. The
rows of a dialogue stand together, in the order of its turns. Columns of other names are passed over, and
named. A table with a row per turn and annotator has every turn several times: it is read once, or the table
is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, check_static
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.formats.tables import Cells, Row, csv_cells, header_of, row_of, whole
from annotation.records import HUMAN, SELF, Continuation, Dialogue, Turn

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
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
RATER = re.compile(
    r"(annotator|rater|coder|label+er|worker|judge|evaluator|assessor|reviewer)"
    r"([ _.-]?(id|name|no|nr|number))?"
)
"""What a column is called that says who annotated a row,"""
NUMBER = re.compile(
    r"(turn|utterance|utt|message|msg|line)s?([ _.-]?(id|idx|index|no|nr|num|number))?|number|nr|position"
)
"""and one that numbers the turns. Neither is read: they tell whether rows repeat a turn."""
MAX_TURNS = 100_000
"""A dialogue has at most so many rows,"""
MAX_CHARACTERS = 16 * 2**20
"""and its texts so many characters."""


@dataclass(slots=True)
class _Part:
    """The turns of one continuation, and what its rows say of it: the first that says anything holds."""

    turns: list[Turn] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    rows: list[_Told] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a row says beside its turn: its line, and who annotated it and its number where columns say so."""

    line: int
    rater: str
    number: str


@dataclass(slots=True)
class _Repeats:
    """The unread columns that tell whether rows repeat a turn, and how many rows did."""

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
    known = {name.strip().lower() for name in names}
    if {"rater", "value"} <= known and "text" not in known and not source.columns:
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
    """Yield the rows that can be told to belong to a dialogue."""
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
    """Return the dialogue that rows make; what is wrong with a row is told to the source."""
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
            part.rows.append(_Told(line, row.get(repeats.rater, ""), row.get(repeats.number, "")))
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
    """Add a row's turn to its continuation, and return that."""
    for name, limit in LIMITS.items():
        if len(row.get(name, "")) > limit:
            raise ImportProblem(f"is longer than {limit} characters", field=name)
    turn = _turn(row)
    part = parts.setdefault(row.get("continuation", "") or SELF, _Part())
    for name in ("system", "trial"):
        _agree(part.said, row, name, "the rows of this continuation")
    for name in ("cluster", "language"):
        _agree(whole_dialogue, row, name, "the rows of this dialogue")
    part.turns.append(turn)
    return part


def _read_once(part: _Part, repeats: _Repeats) -> None:
    """Leave out the rows of a continuation that repeat a turn for another annotator.

    Rows are such where a column numbers the turns and every number stands for the same turn, or where all
    annotators have the same turns in the same order. Otherwise a turn that another annotator repeats is
    refused, and so are turns that are all there several times: nobody knows what was said how often.
    """
    turns, rows = part.turns, part.rows
    once = _by_number(turns, rows) or _by_rater(turns, rows)
    if once:
        repeats.left_out += len(turns) - len(once)
        part.turns = [turns[place] for place in once]
        return
    _refuse_repeated(turns, rows, repeats)
    repeats.adjacent += sum(one == other for one, other in pairwise(turns))


def _by_number(turns: list[Turn], rows: list[_Told]) -> list[int]:
    """Return the first row of each number; [] where numbers do not repeat, or stand for several turns."""
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        if not row.number or turns[first.setdefault(row.number, place)] != turns[place]:
            return []
    numbers = [int(number) for number in first if number.isascii() and number.isdigit()]
    if len(first) == len(turns) or (len(numbers) == len(first) and numbers != sorted(numbers)):
        return []
    return list(first.values())


def _by_rater(turns: list[Turn], rows: list[_Told]) -> list[int]:
    """Return the rows of the first annotator; [] where there is one alone, or others have other turns."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.rater, []).append(place)
    first, *others = places.values()
    mine = [turns[place] for place in first]
    if others and all([turns[place] for place in other] == mine for other in others):
        return first
    return []


def _refuse_repeated(turns: list[Turn], rows: list[_Told], repeats: _Repeats) -> None:
    """Refuse turns that other annotators repeat, and turns that are all there equally often.

    Where every row has a number of its own, some turns may well be said again later: but not most of them.
    """
    first: dict[Turn, _Told] = {}
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


def _agree(said: dict[str, str], row: Row, name: str, whose: str) -> None:
    value = row.get(name, "")
    if value and said.setdefault(name, value) != value:
        raise ImportProblem(f"{value[:40]!r} differs from {said[name][:40]!r} in {whose}", field=name)


def _turn(row: Row) -> Turn:
    for name in ("speaker", "text"):
        if not row[name].strip():
            raise ImportProblem("is empty", field=name)
    given = row.get("given", "").strip().lower()
    if given not in TRUTH:
        raise ImportProblem(f"{given[:20]!r} is neither true nor false", field="given")
    whole(row, "trial")
    return Turn(
        speaker=row["speaker"],
        text=row["text"],
        given=TRUTH[given],
        at=whole(row, "at") if row.get("at", "").strip() else None,
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
        system=own.said.get("system", HUMAN),
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
        system=part.said.get("system", name[:NAME_LIMIT]),
        turns=tuple(part.turns),
        mode="static" if is_static else "rollout",
        trial=whole(part.said, "trial"),
    )


# Dialogues from CSV or TSV: one row a turn, as `turn_table` has it.


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues of the table."""
    return read_table(source, csv_cells(source))


FORMAT = Format(
    key="turns-csv",
    title="Dialogues as a table, CSV or TSV",
    hint="One row a turn: dialogue, speaker, text; continuation, system, at, given where they apply.",
    read=read,
    looks_like=lambda head: set(NEEDED) <= head.header,
    columns=COLUMNS,
)
