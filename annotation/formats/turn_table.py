"""Dialogues as a table, one row a turn: what its columns mean, whatever kind of file it is in.

`dialogue`, `speaker` and `text` are needed. `continuation` names the continuation that a turn belongs to
(empty or `self`: the dialogue's own turns), `system` who produced that; `at` makes a continuation static. The
rows of a dialogue stand together, in the order of its turns. Columns of other names are passed over, and
named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from annotation.formats.checks import check_static
from annotation.formats.entry import SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.formats.tables import Cells, Row, header_of, row_of, whole
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
LIMITS = {
    **dict.fromkeys(("dialogue", "speaker", "continuation", "cluster"), ID_LIMIT),
    "system": NAME_LIMIT,
    "language": 40,
}
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
MAX_TURNS = 100_000
"""A dialogue has at most so many rows,"""
MAX_CHARACTERS = 16 * 2**20
"""and its texts so many characters."""


@dataclass(slots=True)
class _Part:
    """The turns of one continuation, and what its rows say of it: the first that says anything holds."""

    turns: list[Turn] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)


def read_table(source: Source, rows: Iterator[Cells]) -> Iterator[SourceRecord]:
    """Yield the dialogues of a table whose first row names the columns."""
    header = header_of(source, next(rows)[1], COLUMNS, NEEDED)
    for _, group in groupby(_rows(source, header, rows), key=lambda row: row[1]["dialogue"]):
        if entry := _dialogue(source, group):
            yield entry


def _rows(source: Source, header: list[str], rows: Iterable[Cells]) -> Iterator[tuple[int, Row]]:
    """Yield the rows that can be told to belong to a dialogue."""
    for line, cells in rows:
        try:
            row = row_of(header, cells)
            if not row["dialogue"]:
                raise ImportProblem("is empty", field="dialogue")
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
        else:
            yield line, row


def _dialogue(source: Source, rows: Iterable[tuple[int, Row]]) -> SourceRecord | None:
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
            _add(row, parts, whole_dialogue)
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
            sound = False
    if not sound:
        return None
    try:
        return SourceRecord(_record(row["dialogue"], parts, whole_dialogue), first)
    except ImportProblem as problem:
        source.report(problem.placed(line=first))
        return None


def _add(row: Row, parts: dict[str, _Part], whole_dialogue: dict[str, str]) -> None:
    """Add a row's turn to its continuation."""
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
