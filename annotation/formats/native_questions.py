"""Facts, questions and question sets in the native format, checked against the script that they are about."""

from __future__ import annotations

from typing import Any, cast

from annotation.formats.fields import Fields
from annotation.formats.problems import ImportProblem
from annotation.records import Dialogue
from annotation.scripts.records import (
    FORMS,
    LETTERS,
    SOURCES,
    STATUSES,
    UNKNOWN,
    Fact,
    Question,
    QuestionSet,
    Use,
)
from annotation.text.tokens import fold

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
    """Return a fact; raise ImportProblem for a session or turn that the script does not have."""
    fields = Fields(raw, path, FACT)
    session = _session(fields.id("session"), fields.at("session"), record)
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
    """Return a question; raise ImportProblem for what does not fit the script, or itself.

    An empty answer is one that nobody knows: of a question that is only asked where it cannot be answered.
    """
    fields = Fields(raw, path, QUESTION)
    answer = fields.text("answer") and fields.id("answer", limit=TEXT_LIMIT)
    facts = {known.id for known in record.facts}
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
            _session(name, f"{fields.at('evidence')}[{index}]", record)
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
    """Return a question set; raise ImportProblem for a use of what there is not, or asked twice."""
    fields = Fields(raw, path, SET)
    uses = []
    seen: set[tuple[str, str]] = set()
    known = {asked.id for asked in record.questions}
    sessions = {session.id for session in record.script.sessions} if record.script else set()
    for place, part in fields.items("uses"):
        use = _use(part, place, known, sessions)
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
    asked, session = fields.id("question"), fields.id("session")
    if asked not in questions:
        raise fields.problem("question", f"there is no question {asked!r}")
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
        question=asked,
        session=session,
        answerable=answerable,
        key=key,
        type=fields.id("type", limit=40),
        order=order,
        since=fields.count("since", None),
        sessions=fields.texts("sessions"),
        rule=fields.text("rule", ""),
    )


def _session(name: str, path: str, record: Dialogue) -> str:
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
    """Return the choices: none, or four that differ after folding, with the answer among them."""
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
