"""Scripts, facts, questions and uses as JSON: one form for the native format and for the columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annotation.scripts.records import Date, Fact, NameMap, Question, QuestionSet, Script, Session, Use

# Versions of question sets: NAME:2 in conditions and answers, NAME@2 in files; both are read everywhere.

_VERSION = re.compile(r"(.+)[:@]([0-9]{1,9})", re.DOTALL)


def parted(told: str) -> tuple[str, int | None]:
    """Return the name and the version that are told; None where no version is."""
    found = _VERSION.fullmatch(told.strip())
    return (found[1], int(found[2])) if found else (told.strip(), None)


def versioned(told: str) -> str:
    """Return NAME:VERSION however it is told, or the name alone where no version is."""
    name, version = parted(told)
    return name if version is None else f"{name}:{version}"


KIND = "longform"
"""The `kind` of a dialogue that is a script."""
OWN_FIELDS = ("main", "sessions", "collective", "names", "facts", "questions", "question_sets")
"""What a script says beside what every dialogue does."""

ALWAYS = ("hops", "choices", "answer", "evidence")
"""Fields of a question that are written where they are empty too."""

Json = dict[str, Any]


def script_json(script: Script | None) -> Json | None:
    """Return a script's own fields as the native format and the column `script` hold them."""
    if script is None:
        return None
    return {
        "main": script.main,
        "sessions": [session_json(one) for one in script.sessions],
        **({"collective": list(script.collective)} if script.collective != ("all",) else {}),
        **({"names": [_names_json(one) for one in script.names]} if script.names else {}),
    }


def script_record(stored: Mapping[str, Any] | None) -> Script | None:
    """Return a script from the form of `script_json`, which has been checked before."""
    if not stored:
        return None
    return Script(
        main=stored["main"],
        sessions=tuple(map(_session_record, stored["sessions"])),
        collective=tuple(stored.get("collective", ("all",))),
        names=tuple(
            NameMap(
                kind=one["kind"],
                version=one["version"],
                pairs=tuple((pair[0], pair[1]) for pair in one["pairs"]),
                kept=tuple(one.get("kept") or ()),
            )
            for one in stored.get("names") or ()
        ),
    )


def fact_json(fact: Fact) -> Json:
    """Return a fact's content; its id and status stand beside it."""
    told = {"head": fact.head, "relation": fact.relation, "tail": fact.tail, "session": fact.session}
    return told | ({"turns": list(fact.turns)} if fact.turns else {})


def fact_record(key: str, stored: Mapping[str, Any], status: str = "draft") -> Fact:
    """Return a fact from its content, which has been checked before."""
    return Fact(
        id=key,
        head=stored["head"],
        relation=stored["relation"],
        tail=stored["tail"],
        session=stored["session"],
        turns=tuple(stored.get("turns") or ()),
        status=status,  # type: ignore[arg-type]
    )


def question_json(question: Question) -> Json:
    """Return a question's content; its id and status stand beside it. Empty fields are left out."""
    told = {
        "source": question.source,
        "hops": question.hops,
        "text": question.text,
        "choices": list(question.choices),
        "answer": question.answer,
        "evidence": list(question.evidence),
        "evidence_all": question.evidence_all,
        "evidence_turns": list(question.evidence_turns),
        "facts": list(question.facts),
        "relations": list(question.relations),
        "forms": list(question.forms),
        "dated": question.dated,
        "answers": list(question.answers),
        "base": question.base,
        "styles": dict(question.styles),
        "origin": question.origin,
    }
    return {name: value for name, value in told.items() if value or name in ALWAYS}


def question_record(key: str, stored: Mapping[str, Any], status: str = "draft") -> Question:
    """Return a question from its content, which has been checked before."""
    return Question(
        id=key,
        source=stored["source"],
        text=stored["text"],
        choices=tuple(stored.get("choices") or ()),
        answer=stored["answer"],
        evidence=tuple(stored.get("evidence") or ()),
        evidence_all=bool(stored.get("evidence_all")),
        hops=stored.get("hops", 0),
        evidence_turns=tuple(stored.get("evidence_turns") or ()),
        facts=tuple(stored.get("facts") or ()),
        relations=tuple(stored.get("relations") or ()),
        forms=tuple(stored.get("forms") or ()),
        dated=bool(stored.get("dated")),
        answers=tuple(stored.get("answers") or ()),
        base=stored.get("base") or "",
        styles=dict(stored.get("styles") or {}),
        origin=stored.get("origin") or "",
        status=status,  # type: ignore[arg-type]
    )


def use_json(use: Use) -> Json:
    """Return a use as the native format writes it."""
    told: Json = {
        "question": use.question,
        "session": use.session,
        "answerable": use.answerable,
        "key": use.key,
        "type": use.type,
        "order": use.order,
    }
    told |= {"since": use.since} if use.since is not None else {}
    return told | {"sessions": list(use.sessions), "rule": use.rule}


def use_record(stored: Mapping[str, Any]) -> Use:
    """Return a use from the form of `use_json`, which has been checked before."""
    return Use(
        question=stored["question"],
        session=stored["session"],
        answerable=bool(stored["answerable"]),
        key=stored["key"],
        type=stored["type"],
        order=stored.get("order", "0123"),
        since=stored.get("since"),
        sessions=tuple(stored.get("sessions") or ()),
        rule=stored.get("rule") or "",
    )


def set_json(found: QuestionSet) -> Json:
    """Return a question set as the native format writes it."""
    return {
        "name": found.name,
        "seed": found.seed,
        "policy": found.policy,
        "presence": found.presence,
        "imported": found.imported,
        "uses": [use_json(one) for one in found.uses],
    }


def session_json(session: Session) -> Json:
    """Return a session as a script's JSON holds it."""
    told: Json = {"id": session.id, "date": date_json(session.date)}
    for name in ("place", "episode", "scene", "season"):
        if value := getattr(session, name):
            told[name] = value
    return told | ({"present": list(session.present)} if session.present else {})


def _session_record(stored: Mapping[str, Any]) -> Session:
    return Session(
        id=stored["id"],
        date=date_record(stored["date"]),
        place=stored.get("place") or "",
        episode=stored.get("episode") or "",
        scene=stored.get("scene") or "",
        season=stored.get("season") or "",
        present=tuple(stored.get("present") or ()),
    )


def date_json(date: Date) -> Json:
    """Return a date as {year, month?, day?}."""
    told = {"year": date.year, "month": date.month, "day": date.day}
    return {name: value for name, value in told.items() if value is not None}


def date_record(stored: Mapping[str, Any]) -> Date:
    """Return a date from the form of `date_json`; raise ValueError for no such day."""
    return Date(stored["year"], stored.get("month"), stored.get("day"))


def _names_json(names: NameMap) -> Json:
    told: Json = {"kind": names.kind, "version": names.version, "pairs": [list(pair) for pair in names.pairs]}
    return told | ({"kept": list(names.kept)} if names.kept else {})
