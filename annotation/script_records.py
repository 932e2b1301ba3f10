"""Records of a script: dated sessions and their listeners, facts stated in them, questions and their uses.

Plain immutable data that imports nothing of the project. After DialSim (Kim et al. 2024). Sessions are
numbered from 1 in order; a turn names its session by id.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Day
from types import MappingProxyType
from typing import Any, Literal

Source = Literal["quiz", "tkg"]
Form = Literal["undated", "present", "past"]
"""Wording of a question about a fact: without a date as if timeless, as of now, or with the fact's date."""
Status = Literal["draft", "accepted", "rejected", "corrected"]
Precision = Literal["year", "month", "day"]

SOURCES: tuple[Source, ...] = ("quiz", "tkg")
FORMS: tuple[Form, ...] = ("undated", "present", "past")
STATUSES: tuple[Status, ...] = ("draft", "accepted", "rejected", "corrected")
FACT, QUESTION = "fact", "question"
LETTERS = "ABCDE"
UNKNOWN = "E"
"""Letter of `I don't know`, which is always offered and never one of a question's own choices."""
DEFAULT_STYLE = "default"
ORIGINAL, ANONYMISED, SWAPPED = "original", "anonymised", "swapped"
NAMES = (ORIGINAL, ANONYMISED, SWAPPED)
_DATE_FORM = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """Return the shared empty mapping, for records without data."""
    return _NOTHING


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A date that may be partial: a range of days. Raises ValueError for a day that does not exist."""

    year: int
    month: int | None = None
    day: int | None = None

    def __post_init__(self) -> None:
        if self.day is not None and self.month is None:
            raise ValueError("a day needs a month")
        if not 1 <= self.year <= 9999 or not 1 <= (self.month or 1) <= 12:
            raise ValueError(f"{self} is no date")
        if not 1 <= (self.day or 1) <= calendar.monthrange(self.year, self.month or 1)[1]:
            raise ValueError(f"{self} is no date")

    @classmethod
    def read(cls, text: str) -> Date:
        """Parse a date such as `1994-09-22`, `1994-09` or `1994`; raise ValueError."""
        match = _DATE_FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text[:40]!r} is not a date: write 1994-09-22, 1994-09 or 1994")
        year, month, day = (None if part is None else int(part) for part in match.groups())
        assert year is not None
        return cls(year, month, day)

    def __str__(self) -> str:
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return "-".join(parts)

    @property
    def precision(self) -> Precision:
        """Precision of the date."""
        if self.month is None:
            return "year"
        return "month" if self.day is None else "day"

    @property
    def first(self) -> Day:
        """First day of its range."""
        return Day(self.year, self.month or 1, self.day or 1)

    @property
    def last(self) -> Day:
        """Last day of its range."""
        month = self.month or 12
        return Day(self.year, month, self.day or calendar.monthrange(self.year, month)[1])

    def before(self, other: Date) -> bool:
        """Whether its last day is before the other's first day."""
        return self.last < other.first

    def overlaps(self, other: Date) -> bool:
        """Whether neither date is before the other, unless both are equal in value and precision."""
        return self != other and not self.before(other) and not other.before(self)


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a script. `present` are participants who attend without speaking.

    `season`, if named, is the unit of resampling instead of the session.
    """

    id: str
    date: Date
    place: str = ""
    episode: str = ""
    scene: str = ""
    season: str = ""
    present: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameMap:
    """A version of replacement names: each replaced word, or run of words, and its replacement.

    `kept` are spellings that stay although they match a mapped name: other people with the same first name,
    titles of works.
    """

    kind: str
    version: int
    pairs: tuple[tuple[str, str], ...]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """Data specific to a script: its main character, its sessions in order, and its name maps.

    `collective` are speakers that are not single persons, such as `all`; they never ask questions.
    """

    main: str
    sessions: tuple[Session, ...]
    collective: tuple[str, ...] = ("all",)
    names: tuple[NameMap, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Head, relation and tail, stated in a session; `turns` are positions of own turns where known.

    People are given by name. Only accepted facts count. `superseded_by` is the id of the fact that replaces
    this one, '' for a current fact.
    """

    id: str
    head: str
    relation: str
    tail: str
    session: str
    turns: tuple[int, ...] = ()
    status: Status = "draft"
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with an answer, its four choices (the answer among them), and the sessions of its evidence.

    With `evidence_all`, all these sessions are needed. `evidence_turns` are positions of own turns, where
    known. For a question about facts, `facts` and `relations` are those of its hops in order, and `forms` the
    wording of each. `answers` are all correct texts, `base` is the question of which it is the dated variant.
    `styles` are its wordings by speaker and `default`. `origin` names the question set that created it, ''
    for a question of the script itself. `superseded_by` is the id of the question that replaces it, '' for a
    current question.
    """

    id: str
    source: Source
    text: str
    choices: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...] = ()
    evidence_all: bool = False
    hops: int = 0
    evidence_turns: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    dated: bool = False
    answers: tuple[str, ...] = ()
    base: str = ""
    styles: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    origin: str = ""
    status: Status = "draft"
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """A question in a session: whether it is answerable there, the letter of its key, and the reason.

    `order` maps choices to A to D, such as `2031`. `since` is the position of the last own turn that must
    precede the question, None if no turn of its own session matters. `sessions` and `rule` are the reason:
    the deciding sessions, and the name of the rule.
    """

    question: str
    session: str
    answerable: bool
    key: str
    type: str
    order: str = "0123"
    since: int | None = None
    sessions: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A named set of uses, with its origin; `imported` sets come from a file, and their keys stay fixed."""

    name: str
    seed: int = 0
    policy: str = "body"
    presence: bool = True
    imported: bool = False
    uses: tuple[Use, ...] = ()


# Scripts, facts, questions and uses as JSON, for both the native format and the database columns.

# Versions of question sets: NAME:2 in conditions and answers, NAME@2 in files; both are accepted everywhere.

_VERSION = re.compile(r"(.+)[:@]([0-9]{1,9})", re.DOTALL)


def parted(text: str) -> tuple[str, int | None]:
    """Split a reference into name and version; None without a version."""
    match = _VERSION.fullmatch(text.strip())
    return (match[1], int(match[2])) if match else (text.strip(), None)


def versioned(text: str) -> str:
    """Return a reference, in either form, as NAME:VERSION, or as the name alone without a version."""
    name, version = parted(text)
    return name if version is None else f"{name}:{version}"


KIND = "longform"
"""The `kind` of a dialogue that is a script."""
OWN_FIELDS = ("main", "sessions", "collective", "names", "facts", "questions", "question_sets")
"""Fields of a script in addition to those of every dialogue."""

ALWAYS = ("hops", "choices", "answer", "evidence")
"""Fields of a question that are written even when empty."""

Json = dict[str, Any]


def script_json(script: Script | None) -> Json | None:
    """Return a script's own fields as in the native format and the column `script`."""
    if script is None:
        return None
    return {
        "main": script.main,
        "sessions": [session_json(session) for session in script.sessions],
        **({"collective": list(script.collective)} if script.collective != ("all",) else {}),
        **({"names": [_names_json(name_map) for name_map in script.names]} if script.names else {}),
    }


def script_record(stored: Mapping[str, Any] | None) -> Script | None:
    """Return a script from the checked form of `script_json`."""
    if not stored:
        return None
    return Script(
        main=stored["main"],
        sessions=tuple(map(_session_record, stored["sessions"])),
        collective=tuple(stored.get("collective", ("all",))),
        names=tuple(
            NameMap(
                kind=name_map["kind"],
                version=name_map["version"],
                pairs=tuple((pair[0], pair[1]) for pair in name_map["pairs"]),
                kept=tuple(name_map.get("kept") or ()),
            )
            for name_map in stored.get("names") or ()
        ),
    )


def fact_json(fact: Fact) -> Json:
    """Return a fact's content; its id and status are stored separately."""
    content = {"head": fact.head, "relation": fact.relation, "tail": fact.tail, "session": fact.session}
    return content | ({"turns": list(fact.turns)} if fact.turns else {})


def fact_record(key: str, stored: Mapping[str, Any], status: str = "draft") -> Fact:
    """Return a fact from its checked content."""
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
    """Return a question's content, without empty fields; its id and status are stored separately."""
    content = {
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
    return {name: value for name, value in content.items() if value or name in ALWAYS}


def question_record(key: str, stored: Mapping[str, Any], status: str = "draft") -> Question:
    """Return a question from its checked content."""
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
    """Return a use as in the native format."""
    content: Json = {
        "question": use.question,
        "session": use.session,
        "answerable": use.answerable,
        "key": use.key,
        "type": use.type,
        "order": use.order,
    }
    content |= {"since": use.since} if use.since is not None else {}
    return content | {"sessions": list(use.sessions), "rule": use.rule}


def set_json(question_set: QuestionSet) -> Json:
    """Return a question set as in the native format."""
    return {
        "name": question_set.name,
        "seed": question_set.seed,
        "policy": question_set.policy,
        "presence": question_set.presence,
        "imported": question_set.imported,
        "uses": [use_json(use) for use in question_set.uses],
    }


def session_json(session: Session) -> Json:
    """Return a session as in a script's JSON."""
    content: Json = {"id": session.id, "date": date_json(session.date)}
    for name in ("place", "episode", "scene", "season"):
        if value := getattr(session, name):
            content[name] = value
    return content | ({"present": list(session.present)} if session.present else {})


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
    content = {"year": date.year, "month": date.month, "day": date.day}
    return {name: value for name, value in content.items() if value is not None}


def date_record(stored: Mapping[str, Any]) -> Date:
    """Parse the form of `date_json` into a date; raise ValueError for a day that does not exist."""
    return Date(stored["year"], stored.get("month"), stored.get("day"))


def _names_json(names: NameMap) -> Json:
    content: Json = {
        "kind": names.kind,
        "version": names.version,
        "pairs": [list(pair) for pair in names.pairs],
    }
    return content | ({"kept": list(names.kept)} if names.kept else {})
