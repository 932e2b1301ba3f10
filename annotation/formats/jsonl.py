"""The native format: one dialogue a line, as in the documentation of imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from annotation.formats.corpus_format import JUDGES, Format, SourceRecord, entries
from annotation.formats.corpus_format import MISSING as MISSING_WORDS
from annotation.formats.fields import (
    ID_LIMIT,
    NAME_LIMIT,
    Fields,
    check_speakers,
    check_static,
    decode,
    evidence,
    is_number,
    kind_of,
)
from annotation.formats.source import ImportProblem, Source
from annotation.kinds import OF_RECORDS, Member
from annotation.records import (
    EVENTS,
    HUMAN,
    SELF,
    Agenda,
    Continuation,
    Dialogue,
    LabelRecord,
    Participant,
    Turn,
)
from annotation.schemes.definitions import LEVELS
from jobs.tables import Table

DIALOGUE = frozenset(
    [
        "id",
        "language",
        "cluster",
        "summary",
        "metadata",
        "participants",
        "agenda",
        "system",
        "turns",
        "continuations",
        "labels",
        "kind",
    ]
)
PARTICIPANT = frozenset(["id", "name", "role", "profile", "aliases", "extra", "agent"])
AGENDA = frozenset(["items", "edges", "start", "terminal", "success"])
AGENDA_ITEM = frozenset(["id", "text"])
TURN = frozenset(
    [
        "speaker",
        "text",
        "given",
        "at",
        "time",
        "session",
        "addressees",
        "audience",
        "act",
        "sees_history",
        "extra",
    ]
)
ACTS = ("message", "reaction", "silence", *EVENTS)
CONTINUATION = frozenset(["id", "system", "mode", "trial", "condition", "turns"])
LABEL = frozenset(
    [
        "rater",
        "kind",
        "identified",
        "continuation",
        "turn",
        "continuations",
        "order",
        "question",
        "value",
        "missing",
        "sample",
        "explanation",
        "evidence",
        "record",
        "scheme",
        "occasion",
        "level",
        "values",
        "group",
    ]
)
RECORD = frozenset(["kind", "key"])
MEMBERS = (2, 10)
"""Minimum and maximum number of members that one label compares."""
QUESTION_LIMIT = 120
ANY_SIZE = "any_size"
MISSING = "no answer given"


@dataclass(frozen=True, slots=True)
class OwnFields:
    """Additional fields of dialogues of one kind.

    `read(record, fields, any_size)` returns the record with them, or the record itself where it is of another
    kind; it raises ImportProblem for inconsistencies. `note` returns what is unusual about a record, '' where
    nothing is.
    """

    names: frozenset[str]
    read: Callable[[Dialogue, Fields, bool], Dialogue]
    note: Callable[[Dialogue], str] = lambda record: ""


OWN_FIELDS: Table[OwnFields] = Table("own_fields")
"""By kind of dialogue; suites add their own."""


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogue of each line."""
    any_size = source.settings.get(ANY_SIZE) == "yes"

    def read_one(content: bytes) -> Dialogue:
        record = dialogue(decode(content), any_size=any_size)
        source.notes.extend(note for own in OWN_FIELDS.values() if (note := own.note(record)))
        return record

    return entries(source, source.objects(), read_one)


def dialogue(raw: Any, *, any_size: bool = False) -> Dialogue:
    """Parse a JSON object in the native format into a dialogue.

    A scenario of fewer than three or more than five people is refused unless `any_size` is set.
    """
    fields = Fields(raw, "", DIALOGUE.union(*(own.names for own in OWN_FIELDS.values())))
    key = fields.id("id")
    if not any(fields.has(name) for name in ("turns", "continuations", "labels")):
        raise ImportProblem(
            'has neither turns nor continuations; one that begins without any says "turns": []', field="turns"
        )
    participants = tuple(_participant(part, path) for path, part in fields.items("participants"))
    _once([participant.id for participant in participants], "participants[{}].id")
    turns = tuple(_turn(part, path) for path, part in fields.items("turns"))
    if any(turn.at is not None for turn in turns):
        raise ImportProblem("only turns of a static continuation have a point `at`", field="turns")
    continuations = tuple(_continuation(part, path) for path, part in fields.items("continuations"))
    _once([continuation.id for continuation in continuations], "continuations[{}].id")
    record = Dialogue(
        id=key,
        turns=turns,
        participants=participants,
        continuations=continuations,
        labels=tuple(_label(part, path) for path, part in fields.items("labels")),
        cluster=fields.id("cluster", ""),
        language=fields.id("language", "", limit=40),
        summary=fields.text("summary", ""),
        system=fields.id("system", HUMAN, limit=NAME_LIMIT),
        metadata=fields.object("metadata"),
        agenda=_agenda(fields.raw["agenda"]) if fields.has("agenda") else None,
    )
    check_speakers(record)
    if turns:
        check_static(record, len(turns))
    fields.choice("kind", ("", *OWN_FIELDS), "")
    for own in OWN_FIELDS.values():
        record = own.read(record, fields, any_size)
    return record


def _once(ids: list[str], path: str) -> None:
    if len(set(ids)) < len(ids):
        index = next(index for index, key in enumerate(ids) if key in ids[:index])
        raise ImportProblem(f"{ids[index]!r} is there twice", field=path.format(index))


def _participant(raw: Any, path: str) -> Participant:
    fields = Fields(raw, path, PARTICIPANT)
    return Participant(
        id=fields.id("id"),
        name=fields.text("name", ""),
        role=fields.text("role", ""),
        profile=fields.texts("profile"),
        aliases=fields.texts("aliases"),
        extra=fields.object("extra"),
        agent=fields.flag("agent"),
    )


def _agenda(raw: Any) -> Agenda:
    fields = Fields(raw, "agenda", AGENDA)
    items: dict[str, str] = {}
    for item in fields.objects("items", AGENDA_ITEM):
        if item.id("id") in items:
            raise item.problem("id", f"{item.id('id')!r} is there twice")
        items[item.id("id")] = item.text("text")
    edges = []
    for path, part in fields.items("edges"):
        if not isinstance(part, list) or len(part) != 2 or not all(_is_item(end, items) for end in part):
            raise ImportProblem("must be two ids of agenda items", field=path)
        edges.append((part[0], part[1]))
    for end in ("start", "terminal"):
        if fields.has(end) and not _is_item(fields.raw[end], items):
            raise fields.problem(end, "is not the id of an agenda item")
    success = tuple(
        Fields({"criterion": part}, path).object("criterion") for path, part in fields.items("success")
    )
    return Agenda(items, tuple(edges), fields.raw.get("start"), fields.raw.get("terminal"), success)


def _is_item(end: Any, items: dict[str, str]) -> bool:
    return isinstance(end, str) and end in items


def _turn(raw: Any, path: str) -> Turn:
    fields = Fields(raw, path, TURN)
    speaker = fields.id("speaker")
    if len(raw) == 2 and "text" in raw:
        return Turn(speaker, fields.text("text"))
    act = fields.choice("act", ACTS, "message")
    sees_history = fields.flag("sees_history")
    if sees_history and act != "join":
        raise fields.problem("sees_history", "belongs to a turn whose act is join")
    return Turn(
        speaker=speaker,
        text=fields.text("text", None if act in ("message", "reaction") else ""),
        given=fields.flag("given") or act in EVENTS,
        at=fields.count("at", None),
        time=fields.text_or_number("time"),
        session=fields.text("session", ""),
        addressees=fields.texts("addressees"),
        audience=fields.texts("audience") if fields.has("audience") else None,
        act=act,
        sees_history=sees_history,
        extra=fields.object("extra"),
    )


def _continuation(raw: Any, path: str) -> Continuation:
    fields = Fields(raw, path, CONTINUATION)
    system = fields.id("system", limit=NAME_LIMIT)
    key = fields.id("id", system)
    if key == SELF:
        raise fields.problem("id", f"{SELF!r} names the dialogue's own turns: choose another id")
    turns = tuple(_turn(part, place) for place, part in fields.items("turns"))
    if not turns:
        raise fields.problem("turns", "has no turns")
    return Continuation(
        id=key,
        system=system,
        turns=turns,
        mode=fields.choice("mode", ("rollout", "static"), "rollout"),
        trial=cast(int, fields.count("trial")),
        condition=fields.object("condition"),
    )


def _label(raw: Any, path: str) -> LabelRecord:
    fields = Fields(raw, path, LABEL)
    value, missing = _value(fields)
    kind = fields.rater_kind()
    identified = fields.flag("identified", True)
    if kind not in ("", "human") and not identified:
        raise fields.problem("identified", "only people can be unidentified")
    compared = members(fields)
    continuation, turn = (
        compared[0] if compared else (fields.id("continuation", SELF), fields.count("turn", None))
    )
    about = _record(fields)
    pointed = evidence(fields.items("evidence"), continuation, fields.at("evidence"))
    if pointed and value is None:
        raise fields.problem("evidence", "a missing answer points at nothing")
    if pointed and compared:
        raise fields.problem("evidence", "an answer about a comparison points at nothing")
    return LabelRecord(
        rater=fields.id("rater", limit=NAME_LIMIT),
        kind=kind,
        continuation=continuation,
        turn=turn,
        question=fields.id("question", limit=QUESTION_LIMIT),
        value=value,
        missing=missing,
        sample=cast(int, fields.count("sample")),
        identified=identified,
        explanation=fields.text("explanation", ""),
        scheme=fields.text("scheme", ""),
        occasion=fields.text("occasion", ""),
        level=fields.choice("level", LEVELS, "") if fields.has("level") else "",
        values=_scale(fields) if "values" in raw else (),
        group=fields.id("group", "", limit=QUESTION_LIMIT),
        members=compared,
        shown=order(fields, len(compared)),
        evidence=pointed,
        record=about,
    )


def _record(fields: Fields) -> tuple[str, str] | None:
    """Return the fact or question that a label is about, None for other labels."""
    if not fields.has("record"):
        return None
    if any(fields.has(name) for name in ("continuation", "turn", "continuations")):
        raise fields.problem("record", "says what the label is about: leave continuation and turn out")
    about = Fields(fields.raw["record"], fields.at("record"), RECORD)
    return about.choice("kind", OF_RECORDS, ""), about.id("key")


def members(fields: Fields) -> tuple[Member, ...]:
    """Return the members that a label compares: ids of continuations, or [id, turn]; () for other labels."""
    compared: list[Member] = []
    for path, part in fields.items("continuations"):
        member = part if isinstance(part, list) else [part, None]
        if (
            len(member) != 2
            or not isinstance(member[0], str)
            or not (member[1] is None or _is_turn(member[1]))
        ):
            raise ImportProblem("must be the id of a continuation, or [id, turn]", field=path)
        compared.append((member[0], member[1]))
    if compared and (fields.has("continuation") or fields.has("turn")):
        raise fields.problem("continuations", "says what is compared: leave continuation and turn out")
    if fields.has("continuations") and not MEMBERS[0] <= len(compared) <= MEMBERS[1]:
        raise fields.problem("continuations", f"from {MEMBERS[0]} to {MEMBERS[1]} can be compared")
    return tuple(compared)


def _is_turn(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def order(fields: Fields, size: int) -> tuple[int, ...]:
    """Return the numbers of the members in the order shown, () where it is not given."""
    numbers = tuple(part for _, part in fields.items("order"))
    if numbers and sorted(part if type(part) is int else -1 for part in numbers) != list(range(size)):
        reason = (
            f"must have each number from 0 to {size - 1} once" if size else "belongs to what compares several"
        )
        raise fields.problem("order", reason)
    return numbers


def _scale(fields: Fields) -> tuple[float | str, ...]:
    """Return the values of a question's scale, in order."""
    values = [value for _, value in fields.items("values")]
    if not all(isinstance(value, str) or is_number(value) for value in values):
        raise fields.problem("values", "must be a list of numbers or texts")
    return tuple(values)


def _value(fields: Fields) -> tuple[float | str | None, str]:
    """Return an answer and the reason why it is missing: exactly one of them is set."""
    value, missing = fields.raw.get("value"), fields.text("missing", "")
    if value is None:
        if "value" not in fields.raw and not missing:
            raise fields.problem("value", "is missing")
        return None, missing or MISSING
    if missing:
        raise fields.problem("missing", "says why there is no value, but there is one")
    if not isinstance(value, str) and not is_number(value):
        raise fields.problem("value", f"must be a number, a text or null, not {kind_of(value)}")
    return (value if isinstance(value, str) else float(value)), ""


def _is_of_texts(values: Any) -> bool:
    """Whether a value is a list of texts or numbers, as other programs write turns and labels."""
    return isinstance(values, list) and any(isinstance(value, str | int | float) for value in values)


FORMAT = Format(
    key="jsonl",
    title="Concord's own JSON Lines",
    hint="One dialogue a line, with its participants, turns, continuations and labels.",
    read=read,
    settings=(ANY_SIZE, MISSING_WORDS, JUDGES),
    looks_like=lambda head: (
        head.text.startswith("{")
        and "id" in head.keys
        and bool(head.keys & {"turns", "continuations", "labels"})
        and ("speaker" in head.inner or "role" not in head.inner)
        and not any(_is_of_texts(item.get(key)) for item in head.objects[:1] for key in ("turns", "labels"))
    ),
)
__all__ = ["FORMAT", "ID_LIMIT", "dialogue", "order", "read"]
