"""Ratings of items of the corpus: the long CSV, and counts of CoCoEval's judge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from annotation.formats.corpus_format import JUDGES, MISSING, OF_TABLES, Format, Rating, SourceRecord, entries
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, Fields, decode, decode_python, evidence, require
from annotation.formats.jsonl import order
from annotation.formats.mapping import QUESTION
from annotation.formats.several_files import open_tables
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import JSON_LINES, as_text, text_of
from annotation.formats.table_file import Row as TableRow
from annotation.formats.table_reader import own_columns
from annotation.formats.turn_rows import truth, whole_number
from annotation.kinds import Place
from annotation.records import SELF, LabelRecord, Passage, SaidKind
from annotation.schemes.cocoeval import BEHAVIOUR_COUNTS as SCHEME
from annotation.schemes.cocoeval import COUNT, KEYS
from annotation.text.references import place_of
from annotation.text.table_cells import kind_of_rater, looks_like_nothing, number, unguarded

# The long ratings CSV: one answer a row, for items that the corpus has.
#
# `item` is the item's key, `dialogue/continuation/turn` (of a comparison with all its members, and `order` is
# then the order in which they were shown, such as [1, 0]); or the columns dialogue, continuation and turn
# name the item. `turn` counts from 0, or from 1 with the setting `turns_from`; `turn_number` is the number
# that annotators see beside a turn, from 1. Other columns: rater, kind, identified, question, value, sample,
# missing, explanation, evidence (JSON), occasion, scheme, and for questions that are new level, values
# and group. An empty value is a missing answer. Columns of other names are ignored, and listed. A file with
# other names for its columns is read as a `table`, with a mapping.

Row = dict[str, str]

TURNS_FROM = "turns_from"
NO_ANSWER = "no answer given"
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
NAMES = ("item", "rater", "question", "dialogue", "continuation")
LIMITS = {"rater": NAME_LIMIT, "question": 120, "group": 120, "dialogue": ID_LIMIT, "continuation": ID_LIMIT}
COLUMNS = (
    *(
        "item",
        "rater",
        "value",
        "question",
        "dialogue",
        "continuation",
        "turn",
        "turn_number",
        "sample",
        "kind",
    ),
    *(
        "identified",
        "missing",
        "explanation",
        "evidence",
        "occasion",
        "scheme",
        "level",
        "values",
        "group",
        "order",
    ),
)


def read_ratings_csv(source: Source) -> Iterator[SourceRecord]:
    """Yield one rating for each row, with the line on which the row begins."""
    table = open_tables(source)
    columns = own_columns(source, table, COLUMNS, ("rater", "value"))
    if "item" not in columns and "dialogue" not in columns:
        raise ImportProblem("has no column 'item', and none named 'dialogue'", line=1, field="item")
    turns_from = source.settings.get(TURNS_FROM, "")

    def read_object(content: bytes) -> Rating:
        return rating(_row_of_object(content), str(turns_from))

    def read_row(cells: TableRow) -> Rating:
        row = {name: text_of(cells.get(column)) for name, column in columns.items()}
        if table.is_guarded:
            row = {name: unguarded(text) for name, text in row.items()}
        row |= {name: row[name].strip() for name in NAMES if name in row}
        return rating(row, str(turns_from))

    if table.medium == JSON_LINES:
        for column in [name for name in source.passed_over if name.startswith("evidence[].")]:
            source.passed_over.pop(column)
        lines = (
            (source.line_of(number, line), content)
            for number, file in enumerate(source.files())
            for line, content in source.lines(file)
        )
        yield from entries(source, lines, read_object)
    else:
        yield from entries(source, table.rows(), read_row)
    source.notes += table.notes


def _row_of_object(content: bytes) -> Row:
    """Return an object of a JSON lines file as texts by column: lists as JSON, as they are in the CSV."""
    row = {}
    for key, value in require(decode_python(content), dict).items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else as_text(value)
        row[key.strip().lower()] = text or ""
    return row | {name: row[name].strip() for name in NAMES if name in row}


def rating(row: Row, turns_from: str = "") -> Rating:
    """Parse a row into an answer. `turns_from` is the `turn` of the first turn: 0 or 1."""
    for name, limit in LIMITS.items():
        if len(row.get(name, "")) > limit:
            raise ImportProblem(f"is longer than {limit} characters", field=name)
    place, is_key = _place(row, turns_from)
    value, missing = _value(row)
    kind = kind_of(row.get("kind", "").strip())
    identified = truth(row, "identified", empty=True)
    if kind not in ("", "human") and not identified:
        raise ImportProblem("only people can be unidentified", field="identified")
    if not row["rater"]:
        raise ImportProblem("is empty", field="rater")
    label = LabelRecord(
        rater=row["rater"],
        kind=kind,
        continuation=place.continuation or SELF,
        turn=place.turn,
        question=row.get("question", "") or QUESTION,
        value=value,
        missing=missing,
        sample=whole_number(row, "sample"),
        identified=identified,
        explanation=row.get("explanation", ""),
        evidence=_evidence(row, place, value is not None),
        scheme=row.get("scheme", "").strip(),
        occasion=row.get("occasion", "").strip(),
        members=place.members if place.others else (),
        shown=_order(row, len(place.members)),
        record=place.record,
        group=row.get("group", "").strip(),
    )
    number = None if is_key else _turn(row, "turn_number")
    return Rating(
        place.dialogue,
        label,
        row.get("level", "").strip(),
        _values(row),
        raw=row["value"] if value is not None else None,
        turn_number=number,
        counted=place.turn is not None and not is_key and not turns_from and number is None,
    )


def _evidence(row: Row, place: Place, is_answer: bool) -> tuple[Passage, ...]:
    """Parse an answer's evidence, from JSON as in exports."""
    text = row.get("evidence", "").strip()
    if not text:
        return ()
    if not is_answer:
        raise ImportProblem("a missing answer points at nothing", field="evidence")
    if place.others:
        raise ImportProblem("an answer about a comparison points at nothing", field="evidence")
    fields = Fields({"evidence": decode(text.encode())})
    return evidence(fields.items("evidence"), place.continuation, "evidence")


def _place(row: Row, turns_from: str) -> tuple[Place, bool]:
    """Return the item's place, from its key, else from the columns; and whether the key gives it."""
    turn = _turn(row, "turn", first=int(turns_from or 0))
    if key := row.get("item", ""):
        try:
            place = place_of(key)
        except ValueError as error:
            if not row.get("dialogue"):
                raise ImportProblem(str(error), field="item") from None
        else:
            if turn not in (None, place.turn):
                target = "the whole" if place.turn is None else f"turn {place.turn}, counted from 0"
                raise ImportProblem(
                    f"is {row['turn'].strip()}, but the item's key says {target}", field="turn"
                )
            return place, True
    if not row.get("dialogue"):
        raise ImportProblem("is empty", field="item")
    return Place(row["dialogue"], row.get("continuation", "") or SELF, turn), False


def _turn(row: Row, name: str, first: int = 1) -> int | None:
    """Return a column that counts turns, None where it is empty; `turn` as an index from 0."""
    if not row.get(name, "").strip():
        return None
    number = whole_number(row, name)
    if number < first:
        raise ImportProblem(f"is {number}, but turns are counted from {first}", field=name)
    return number - first if name == "turn" else number


def _order(row: Row, members: int) -> tuple[int, ...]:
    """Return the numbers of the members in the order shown, () where it is not given."""
    if not (text := row.get("order", "").strip()):
        return ()
    fields = Fields({"order": decode(text.encode())})
    return order(fields, members if members > 1 else 0)


def kind_of(text: str) -> SaidKind:
    """Return the kind of rater for a word, empty for none; raises ImportProblem for other words."""
    try:
        return kind_of_rater(text) if text else ""
    except ValueError as error:
        raise ImportProblem(str(error), field="kind") from None


def _value(row: Row) -> tuple[float | str | None, str]:
    """Return an answer, as a number where it is one, and the reason where it is missing."""
    text, missing = row["value"], row.get("missing", "")
    plain = text.strip()
    if not plain or (missing and looks_like_nothing(plain)):
        return None, missing or NO_ANSWER
    if missing:
        raise ImportProblem("says why there is no value, but there is one", field="missing")
    if (value := number(plain)) is not None:
        return value, ""
    if not looks_like_nothing(plain) and INFINITE.fullmatch(plain):
        raise ImportProblem(f"{plain[:20]!r} is not a finite number", field="value")
    return (text if row.get("level", "").strip() == "text" else plain), ""


def _values(row: Row) -> tuple[float | str, ...]:
    """Parse the scale's values, from a JSON list or from a list with commas."""
    text = row.get("values", "").strip()
    if not text:
        return ()
    try:
        values = decode((text if text.startswith("[") else f"[{text}]").encode())
    except ImportProblem:
        values = [part.strip() for part in text.split(",")]
    if not isinstance(values, list) or not all(type(value) in (int, float, str) for value in values):
        raise ImportProblem("must be a list of numbers or texts", field="values")
    return tuple(values)


RATINGS_CSV = Format(
    key="ratings-csv",
    title="Ratings for a corpus, as a table",
    hint="Columns item, rater, value; question, sample, kind, scheme and more where they apply.",
    read=read_ratings_csv,
    looks_like=lambda head: {"rater", "value"} <= head.header and bool(head.header & {"item", "dialogue"}),
    settings=(TURNS_FROM, MISSING, JUDGES, *OF_TABLES),
    labels_only=True,
    folder=True,
)


# Replies of CoCoEval's judge from outside: counts of behaviours without turns, one reply a line.
#
# {"dialogue": "d1", "continuation": "x-1", "rater": "gpt-x", "reply": {"repetition_explanation": "...",
# "repetition_count": 2, ...}}
#
# The fields of the reply are those of the paper's prompt, a count and an explanation for each of the ten
# behaviours; they may also be beside the others, without `reply`. For interruptions the paper's own names
# (`interruptions_count`) are accepted, too. A count that is null is missing.

WHY = "_explanation"
PLACE = ("dialogue", "continuation", "rater", "kind", "sample", "reply")
PAPER_NAMES = {f"interruptions{suffix}": f"interruption{suffix}" for suffix in (COUNT, WHY)}
"""The paper's field names where they differ."""
FIELDS = frozenset(name.removesuffix(COUNT) + suffix for name in KEYS for suffix in (COUNT, WHY))
NO_COUNT = "no count given"
KINDS = ("judge", "human")


def read_cocoeval_counts(source: Source) -> Iterator[SourceRecord]:
    """Yield ten ratings for each line."""
    for line, content in source.lines():
        with source.report_problems(line=line):
            yield from [SourceRecord(rating, line) for rating in _ratings(decode(content))]


def _ratings(content: Any) -> Iterator[Rating]:
    fields = Fields(content, "", FIELDS | PAPER_NAMES.keys() | frozenset(PLACE))
    reply = _reply(fields)
    dialogue, rater = fields.id("dialogue"), fields.id("rater", limit=NAME_LIMIT)
    continuation = fields.id("continuation", SELF)
    kind, sample = fields.choice("kind", KINDS, "judge"), fields.count("sample")
    for key in KEYS:
        if key not in reply.raw:
            raise reply.problem(key, "is missing: each behaviour has a count, null where there is none")
        count = reply.count(key, None)
        label = LabelRecord(
            rater=rater,
            kind=kind,
            continuation=continuation,
            turn=None,
            question=key,
            value=None if count is None else float(count),
            missing=NO_COUNT if count is None else "",
            sample=sample or 0,
            explanation=reply.text(key.removesuffix(COUNT) + WHY, ""),
            scheme=SCHEME.key,
        )
        yield Rating(dialogue, label, field=reply.at(key))


def _reply(fields: Fields) -> Fields:
    """Return the fields of the reply by our names: those of `reply`, else those beside it."""
    path = "reply" if fields.has("reply") else ""
    raw = fields.object("reply") if path else {k: v for k, v in fields.raw.items() if k not in PLACE}
    if path and (stray := sorted(fields.raw.keys() - set(PLACE))):
        raise fields.problem(stray[0], "stands beside `reply`: it belongs inside, or all fields outside")
    reply = Fields(raw, path, FIELDS | PAPER_NAMES.keys())
    for theirs, ours in PAPER_NAMES.items():
        if theirs in raw and ours in raw:
            raise reply.problem(theirs, f"is there twice, also as {ours}")
    return Fields({PAPER_NAMES.get(key, key): value for key, value in raw.items()}, path, FIELDS)


COCOEVAL_COUNTS = Format(
    key="cocoeval_counts",
    title="Counts of CoCoEval's judge, run elsewhere",
    hint="JSONL: dialogue, continuation, rater and the judge's reply, counts without turns.",
    read=read_cocoeval_counts,
    looks_like=lambda head: {"dialogue", "rater"} <= head.keys and bool({"reply", KEYS[0]} & head.keys),
    labels_only=True,
    schemes=(SCHEME.key,),
)
