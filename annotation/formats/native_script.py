"""A script's own fields in the native format, read strictly: what is inconsistent is refused by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from annotation.formats.fields import Fields
from annotation.formats.native_questions import fact, question, question_set
from annotation.formats.problems import ImportProblem
from annotation.records import Dialogue
from annotation.scripts.records import (
    ANONYMISED,
    ORIGINAL,
    SWAPPED,
    Date,
    Fact,
    NameMap,
    Question,
    Script,
    Session,
)
from annotation.scripts.stored import KIND, OWN_FIELDS

SESSION = frozenset(["id", "date", "place", "episode", "scene", "season", "present"])
DATE = frozenset(["year", "month", "day"])
NAMES = frozenset(["kind", "version", "pairs", "kept"])


def with_script(record: Dialogue, fields: Fields) -> Dialogue:
    """Return a dialogue with its script, facts, questions and question sets, where its kind says that it is
    one.

    Raises ImportProblem for whatever is inconsistent: the first fault, by its field.
    """
    if fields.raw.get("kind") != KIND:
        for name in OWN_FIELDS:
            if fields.has(name):
                raise fields.problem(name, f"belongs to a dialogue whose kind is {KIND!r}")
        return record
    known = {person.id for person in record.participants} | {turn.speaker for turn in record.turns}
    main = fields.id("main")
    if main not in known:
        raise fields.problem("main", f"{main!r} is neither a participant nor a speaker")
    sessions = tuple(_session(part, path, known) for path, part in fields.items("sessions"))
    if not sessions:
        raise fields.problem("sessions", "a script needs a session at least")
    once([session.id for session in sessions], "sessions")
    script = Script(
        main=main,
        sessions=sessions,
        collective=fields.texts("collective") if fields.has("collective") else ("all",),
        names=tuple(_names(part, path) for path, part in fields.items("names")),
    )
    whole = replace(record, script=script)
    check_order(whole)
    return _with_records(whole, fields)


def _with_records(record: Dialogue, fields: Fields) -> Dialogue:
    facts = tuple(fact(part, path, record) for path, part in fields.items("facts"))
    once([one.id for one in facts], "facts")
    _check_superseded(facts, "facts")
    with_facts = replace(record, facts=facts)
    questions = tuple(question(part, path, with_facts) for path, part in fields.items("questions"))
    once([one.id for one in questions], "questions")
    _check_superseded(questions, "questions")
    with_questions = replace(with_facts, questions=questions)
    sets = tuple(question_set(part, path, with_questions) for path, part in fields.items("question_sets"))
    names = [found.name for found in sets]
    if len(set(names)) < len(names):
        raise fields.problem("question_sets", "two of them have the same name")
    for index, asked in enumerate(questions):
        if asked.origin and asked.origin not in names:
            raise ImportProblem(
                f"there is no question set {asked.origin!r}", field=f"questions[{index}].origin"
            )
    return replace(with_questions, question_sets=sets)


def _check_superseded(records: Sequence[Fact | Question], path: str) -> None:
    """Refuse a record in whose place another one stands, where that is not there, or where both would count.

    Who follows from one record to the next comes to an end.
    """
    next_of = {record.id: record.superseded_by for record in records}
    for index, record in enumerate(records):
        field, name = f"{path}[{index}].superseded_by", record.superseded_by
        if name and name not in next_of:
            raise ImportProblem(f"there is no {name!r} among the {path}", field=field)
        if name and record.status == "accepted":
            raise ImportProblem("what another one stands in for is not accepted", field=field)
        seen = {record.id}
        while name:
            if name in seen:
                raise ImportProblem("stands in for itself", field=field)
            seen.add(name)
            name = next_of.get(name, "")


def check_order(record: Dialogue) -> None:
    """Refuse own turns of no session, and turns that do not stand in the order of the sessions."""
    assert record.script is not None
    numbers = {session.id: number for number, session in enumerate(record.script.sessions)}
    last = 0
    for place, turn in enumerate(record.turns):
        if turn.session not in numbers:
            told = f"{turn.session!r} is not the id of a session" if turn.session else "is missing"
            raise ImportProblem(told, field=f"turns[{place}].session")
        if numbers[turn.session] < last:
            told = f"the session {turn.session!r} comes before that of the turn above it"
            raise ImportProblem(told, field=f"turns[{place}].session")
        last = numbers[turn.session]


def once(ids: list[str], path: str) -> None:
    """Refuse an id that is there twice."""
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if name in seen:
            raise ImportProblem(f"{name!r} is there twice", field=f"{path}[{index}].id")
        seen.add(name)


def _session(raw: Any, path: str, known: set[str]) -> Session:
    fields = Fields(raw, path, SESSION)
    present = fields.texts("present")
    for index, person in enumerate(present):
        if person not in known:
            raise ImportProblem(
                f"{person!r} is not the id of a participant", field=f"{path}.present[{index}]"
            )
    return Session(
        id=fields.id("id"),
        date=_date(fields),
        place=fields.text("place", ""),
        episode=fields.text("episode", ""),
        scene=fields.text("scene", ""),
        season=fields.id("season", ""),
        present=present,
    )


def _date(fields: Fields) -> Date:
    value = fields.raw.get("date")
    if isinstance(value, str):
        try:
            return Date.read(value)
        except ValueError as error:
            raise fields.problem("date", str(error)) from None
    if value is None:
        raise fields.problem("date", "is missing")
    parts = Fields(value, fields.at("date"), DATE)
    year = parts.count("year", None)
    if year is None:
        raise parts.problem("year", "is missing")
    try:
        return Date(year, parts.count("month", None), parts.count("day", None))
    except ValueError as error:
        raise fields.problem("date", str(error)) from None


def _names(raw: Any, path: str) -> NameMap:
    fields = Fields(raw, path, NAMES)
    kind = fields.choice("kind", (ANONYMISED, SWAPPED), ORIGINAL)
    pairs = []
    for place, part in fields.items("pairs"):
        if (
            not isinstance(part, list)
            or len(part) != 2
            or not all(isinstance(end, str) and end for end in part)
        ):
            raise ImportProblem("must be two names: the original one, and the other", field=place)
        pairs.append((part[0], part[1]))
    return NameMap(kind, cast(int, fields.count("version", 1)), tuple(pairs), fields.texts("kept"))
