"""A script's own fields in the native format, parsed strictly: inconsistent data are refused, by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from annotation.formats import jsonl
from annotation.formats.fields import Fields
from annotation.formats.source import ImportProblem
from annotation.records import Dialogue
from annotation.script_records import (
    ANONYMISED,
    FORMS,
    KIND,
    LETTERS,
    ORIGINAL,
    OWN_FIELDS,
    SOURCES,
    STATUSES,
    SWAPPED,
    UNKNOWN,
    Date,
    Fact,
    NameMap,
    Question,
    QuestionSet,
    Script,
    Session,
    Use,
)
from annotation.text.words import fold

# Facts, questions and question sets in the native format, checked against their script.

FACT = frozenset(["id", "head", "relation", "tail", "session", "turns", "status", "superseded_by"])
QUESTION = frozenset(
    [
        "id",
        "source",
        "hops",
        "text",
        "choices",
        "answer",
        "evidence",
        "evidence_all",
        "evidence_turns",
        "facts",
        "relations",
        "forms",
        "dated",
        "answers",
        "base",
        "styles",
        "origin",
        "status",
        "superseded_by",
    ]
)
SET = frozenset(["name", "seed", "policy", "presence", "imported", "uses"])
USE = frozenset(["question", "session", "answerable", "key", "type", "order", "since", "sessions", "rule"])
POLICIES = ("body", "appendix")
CHOICES = 4
TEXT_LIMIT = 2000


def fact(raw: Any, path: str, record: Dialogue) -> Fact:
    """Parse a fact; raise ImportProblem for a session or turn that the script does not have."""
    fields = Fields(raw, path, FACT)
    session = _session_of_native_questions(fields.id("session"), fields.at("session"), record)
    turns = _turns(fields, "turns", record)
    for place in turns:
        if record.turns[place].session != session:
            raise fields.problem("turns", f"turn {place} is not of the session {session!r}")
    return Fact(
        id=fields.id("id"),
        head=fields.id("head", limit=TEXT_LIMIT),
        relation=fields.id("relation", limit=80),
        tail=fields.id("tail", limit=TEXT_LIMIT),
        session=session,
        turns=turns,
        status=fields.choice("status", STATUSES, "draft"),
        superseded_by=fields.id("superseded_by", ""),
    )


def question(raw: Any, path: str, record: Dialogue) -> Question:
    """Parse a question; raise ImportProblem for contradictions with the script, or within the question.

    An empty answer is unknown: that of a question that is only asked where it is unanswerable.
    """
    fields = Fields(raw, path, QUESTION)
    answer = fields.text("answer") and fields.id("answer", limit=TEXT_LIMIT)
    facts = {existing.id for existing in record.facts}
    for index, name in enumerate(fields.texts("facts")):
        if name not in facts:
            raise ImportProblem(f"there is no fact {name!r}", field=f"{fields.at('facts')}[{index}]")
    return Question(
        id=fields.id("id"),
        source=fields.choice("source", SOURCES, SOURCES[0]),
        text=fields.id("text", limit=TEXT_LIMIT),
        choices=_choices(fields, answer),
        answer=answer,
        evidence=tuple(
            _session_of_native_questions(name, f"{fields.at('evidence')}[{index}]", record)
            for index, name in enumerate(fields.texts("evidence"))
        ),
        evidence_all=fields.flag("evidence_all"),
        hops=_hops(fields),
        evidence_turns=_turns(fields, "evidence_turns", record),
        facts=fields.texts("facts"),
        relations=fields.texts("relations"),
        forms=_forms(fields),
        dated=fields.flag("dated"),
        answers=fields.texts("answers"),
        base=fields.id("base", ""),
        styles=_styles(fields),
        origin=fields.id("origin", "", limit=80),
        status=fields.choice("status", STATUSES, "draft"),
        superseded_by=fields.id("superseded_by", ""),
    )


def question_set(raw: Any, path: str, record: Dialogue) -> QuestionSet:
    """Parse a question set; raise ImportProblem for a use of unknown objects, or a duplicate use."""
    fields = Fields(raw, path, SET)
    uses = []
    seen: set[tuple[str, str]] = set()
    question_ids = {entry.id for entry in record.questions}
    sessions = {session.id for session in record.script.sessions} if record.script else set()
    for place, part in fields.items("uses"):
        use = _use(part, place, question_ids, sessions)
        if (use.question, use.session) in seen:
            raise ImportProblem(f"{use.question!r} is asked twice in {use.session!r}", field=place)
        seen.add((use.question, use.session))
        uses.append(use)
    return QuestionSet(
        name=fields.id("name", limit=80),
        seed=cast(int, fields.count("seed")),
        policy=fields.choice("policy", POLICIES, POLICIES[0]),
        presence=fields.flag("presence", True),
        imported=fields.flag("imported"),
        uses=tuple(uses),
    )


def _use(raw: Any, path: str, questions: set[str], sessions: set[str]) -> Use:
    fields = Fields(raw, path, USE)
    question_id, session = fields.id("question"), fields.id("session")
    if question_id not in questions:
        raise fields.problem("question", f"there is no question {question_id!r}")
    for name in (session, *fields.texts("sessions")):
        if name not in sessions:
            raise fields.problem("session", f"there is no session {name!r}")
    answerable, key = fields.flag("answerable"), fields.choice("key", tuple(LETTERS), "")
    if answerable == (key == UNKNOWN):
        raise fields.problem("key", f"{UNKNOWN} is the key of what cannot be answered, and of nothing else")
    order = fields.text("order", "0123")
    if sorted(order) != list("0123"):
        raise fields.problem("order", "must have each of 0, 1, 2 and 3 once")
    return Use(
        question=question_id,
        session=session,
        answerable=answerable,
        key=key,
        type=fields.id("type", limit=40),
        order=order,
        since=fields.count("since", None),
        sessions=fields.texts("sessions"),
        rule=fields.text("rule", ""),
    )


def _session_of_native_questions(name: str, path: str, record: Dialogue) -> str:
    assert record.script is not None
    if all(session.id != name for session in record.script.sessions):
        raise ImportProblem(f"there is no session {name!r}", field=path)
    return name


def _turns(fields: Fields, name: str, record: Dialogue) -> tuple[int, ...]:
    places = []
    for path, part in fields.items(name):
        if type(part) is not int or not 0 <= part < len(record.turns):
            raise ImportProblem(f"must be the number of a turn, 0 to {len(record.turns) - 1}", field=path)
        places.append(part)
    return tuple(places)


def _choices(fields: Fields, answer: str) -> tuple[str, ...]:
    """Parse the choices: none, or four that differ after folding, with the answer among them."""
    choices = fields.texts("choices")
    if not choices:
        return ()
    folded = {fold(choice) for choice in choices}
    if len(choices) != CHOICES or len(folded) != CHOICES:
        raise fields.problem("choices", f"must be {CHOICES} texts that differ")
    if answer and answer not in choices:
        raise fields.problem("choices", f"must have the answer {answer!r} among them")
    return choices


def _hops(fields: Fields) -> int:
    hops = cast(int, fields.count("hops"))
    if hops > 2:
        raise fields.problem("hops", "must be 0, 1 or 2")
    return hops


def _forms(fields: Fields) -> Any:
    forms = fields.texts("forms")
    if any(form not in FORMS for form in forms):
        raise fields.problem("forms", f"must be some of {', '.join(FORMS)}")
    return forms


def _styles(fields: Fields) -> dict[str, str]:
    styles = fields.object("styles")
    for name, text in styles.items():
        if not isinstance(text, str) or not text.strip():
            raise fields.problem("styles", f"{name!r} must have a text")
    return styles


SESSION = frozenset(["id", "date", "place", "episode", "scene", "season", "present"])
DATE = frozenset(["year", "month", "day"])
NAMES = frozenset(["kind", "version", "pairs", "kept"])


def with_script(record: Dialogue, fields: Fields) -> Dialogue:
    """Return a dialogue with its script, facts, questions and question sets, if its kind is a script.

    Raises ImportProblem for the first inconsistency, by its field.
    """
    if fields.raw.get("kind") != KIND:
        for name in OWN_FIELDS:
            if fields.has(name):
                raise fields.problem(name, f"belongs to a dialogue whose kind is {KIND!r}")
        return record
    people_ids = {person.id for person in record.participants} | {turn.speaker for turn in record.turns}
    main = fields.id("main")
    if main not in people_ids:
        raise fields.problem("main", f"{main!r} is neither a participant nor a speaker")
    sessions = tuple(_session(part, path, people_ids) for path, part in fields.items("sessions"))
    if not sessions:
        raise fields.problem("sessions", "a script needs a session at least")
    once([session.id for session in sessions], "sessions")
    script = Script(
        main=main,
        sessions=sessions,
        collective=fields.texts("collective") if fields.has("collective") else ("all",),
        names=tuple(_names(part, path) for path, part in fields.items("names")),
    )
    scripted = replace(record, script=script)
    check_order(scripted)
    return _with_records(scripted, fields)


def _with_records(record: Dialogue, fields: Fields) -> Dialogue:
    facts = tuple(fact(part, path, record) for path, part in fields.items("facts"))
    once([entry.id for entry in facts], "facts")
    _check_superseded(facts, "facts")
    with_facts = replace(record, facts=facts)
    questions = tuple(question(part, path, with_facts) for path, part in fields.items("questions"))
    once([entry.id for entry in questions], "questions")
    _check_superseded(questions, "questions")
    with_questions = replace(with_facts, questions=questions)
    sets = tuple(question_set(part, path, with_questions) for path, part in fields.items("question_sets"))
    names = [imported_set.name for imported_set in sets]
    if len(set(names)) < len(names):
        raise fields.problem("question_sets", "two of them have the same name")
    for index, item in enumerate(questions):
        if item.origin and item.origin not in names:
            raise ImportProblem(
                f"there is no question set {item.origin!r}", field=f"questions[{index}].origin"
            )
    return replace(with_questions, question_sets=sets)


def _check_superseded(records: Sequence[Fact | Question], path: str) -> None:
    """Refuse a superseded record without an existing successor, or one that would still count.

    Chains of successors must end.
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
    """Refuse own turns without a session, and turns out of the order of the sessions."""
    assert record.script is not None
    numbers = {session.id: number for number, session in enumerate(record.script.sessions)}
    last = 0
    for place, turn in enumerate(record.turns):
        if turn.session not in numbers:
            reason = f"{turn.session!r} is not the id of a session" if turn.session else "is missing"
            raise ImportProblem(reason, field=f"turns[{place}].session")
        if numbers[turn.session] < last:
            reason = f"the session {turn.session!r} comes before that of the turn above it"
            raise ImportProblem(reason, field=f"turns[{place}].session")
        last = numbers[turn.session]


def once(ids: list[str], path: str) -> None:
    """Refuse duplicate ids."""
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if name in seen:
            raise ImportProblem(f"{name!r} is there twice", field=f"{path}[{index}].id")
        seen.add(name)


def _session(raw: Any, path: str, people_ids: set[str]) -> Session:
    fields = Fields(raw, path, SESSION)
    present = fields.texts("present")
    for index, person in enumerate(present):
        if person not in people_ids:
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


READERS = {
    KIND: jsonl.OwnFields(frozenset(OWN_FIELDS), lambda record, fields, _: with_script(record, fields))
}
