"""Accepted facts of a script as a graph over time: their content, subjects, and whether they are heard."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from annotation.script_records import FORMS, Fact, Form
from annotation.text.words import fold
from suites.long_dialogue.scripts.sessions import Calendar, Sessions

# Relations of facts as an editable table: inverses, types, and the wording of every form.

PERSON, SCHOOL = "person", "school"
TAILS = (PERSON, "place", "occupation", "subject", "number", "date", "animal")
HEADS = (PERSON, SCHOOL)
UNDATED = ("undated",)
DATED = ("present", "past")
NOW = "now"
"""Present form of a hop while the other hop is in the past."""
_FLAGS = ("dated", "multi_valued", "symmetric")
_WORDINGS = ("wording", "first", "second")
_FIELDS = ("key", "head", "tail", *_FLAGS, "inverse", *_WORDINGS)
_SLOT = re.compile(r"\{([^{}]*)\}")
_FILE = Path(__file__).with_name("relations.toml")

Wording = Mapping[str, str]
_NONE: Wording = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: its name, the types that it links, and its questions' wordings (see `relations.toml`).

    `inverse` are the relations of which one holds in the other direction. Without `first` (`second`) it is
    never the first (second) of two hops.
    """

    key: str
    tail: str
    head: str = PERSON
    dated: bool = False
    multi_valued: bool = False
    symmetric: bool = False
    inverse: tuple[str, ...] = ()
    wording: Wording = field(default_factory=lambda: _NONE, hash=False)
    first: Wording = field(default_factory=lambda: _NONE, hash=False)
    second: Wording = field(default_factory=lambda: _NONE, hash=False)

    @property
    def forms(self) -> tuple[Form, ...]:
        """Forms in which a question about the relation can be worded."""
        return DATED if self.dated else UNDATED  # type: ignore[return-value]

    @property
    def reversed(self) -> tuple[str, ...]:
        """Relations of which one holds from tail to head: the relation itself if it is symmetric."""
        return (self.key,) if self.symmetric else self.inverse


class RelationTable(Mapping[str, Relation]):
    """Relations by key, in the order of their rows."""

    def __init__(self, relations: Iterable[Relation]) -> None:
        self._relations = {relation.key: relation for relation in relations}

    def __getitem__(self, key: str) -> Relation:
        return self._relations[key]

    def __iter__(self) -> Any:
        return iter(self._relations)

    def __len__(self) -> int:
        return len(self._relations)

    @classmethod
    def parse(cls, rows: Sequence[Mapping[str, Any]]) -> RelationTable:
        """Parse a table; raise ValueError, in one line with row (from 1) and field, for an invalid row."""
        if not isinstance(rows, list | tuple) or not rows:
            raise ValueError("relations: must be a list of rows, one at least")
        relations: list[Relation] = []
        for number, row in enumerate(rows, start=1):
            relation = _relation(_Row(number, row))
            if relation.key in {other.key for other in relations}:
                raise ValueError(f"relation {number} ({relation.key}), key: stands twice")
            relations.append(relation)
        table = cls(relations)
        for number, relation in enumerate(relations, start=1):
            table._check_inverse(number, relation)
        return table

    def as_rows(self) -> list[dict[str, Any]]:
        """Return plain rows that `parse` reads back, without empty or false fields."""
        return [_as_row(relation) for relation in self.values()]

    def inverse(self, relation: str, other: str) -> bool:
        """Whether `other` may state from tail to head the content of `relation` from head to tail."""
        return other in self[relation].reversed or relation in self[other].reversed

    def _check_inverse(self, number: int, relation: Relation) -> None:
        where = f"relation {number} ({relation.key}), inverse:"
        for key in relation.inverse:
            if key not in self:
                raise ValueError(f"{where} {key!r} is no relation of the table")
            if relation.key not in self[key].inverse:
                raise ValueError(f"{where} {key!r} does not name {relation.key!r} as its inverse")


class _Row:
    """A row under parsing, with the wording of its errors."""

    def __init__(self, number: int, row: Any) -> None:
        self.place = f"relation {number}"
        if not isinstance(row, Mapping):
            raise ValueError(f"{self.place}: must be an object with fields")
        self.row = row
        key = row.get("key")
        if not isinstance(key, str) or not key.strip() or key != key.strip():
            raise self.fault("key", "must be a text, without spaces around it")
        self.place += f" ({key})"
        for name in row:
            if name not in _FIELDS:
                raise self.fault(str(name), f"is no field; those are {', '.join(_FIELDS)}")

    def fault(self, name: str, reason: str) -> ValueError:
        return ValueError(f"{self.place}, {name}: {reason}")

    def choice(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        value = self.row.get(name, default)
        if value not in options:
            raise self.fault(name, f"must be one of {', '.join(options)}")
        return str(value)

    def flag(self, name: str) -> bool:
        value = self.row.get(name, False)
        if not isinstance(value, bool):
            raise self.fault(name, "must be true or false")
        return value

    def names(self, name: str) -> tuple[str, ...]:
        value = self.row.get(name, [])
        if not isinstance(value, list | tuple) or not all(isinstance(key, str) for key in value):
            raise self.fault(name, "must be a list of keys of relations")
        if len(set(value)) < len(value):
            raise self.fault(name, "names a relation twice")
        return tuple(value)

    def texts(self, name: str, forms: Sequence[str], slot: str, *, optional: bool) -> Wording:
        value = self.row.get(name, {})
        if not isinstance(value, Mapping):
            raise self.fault(name, "must be an object of a text per form")
        if optional and not value:
            return _NONE
        for form in value:
            if form not in forms:
                raise self.fault(f"{name}.{form}", f"is no form of it; those are {', '.join(forms)}")
        for form in forms:
            self._check_text(f"{name}.{form}", value.get(form), slot, dated=form == "past")
        return MappingProxyType({form: value[form] for form in forms})

    def _check_text(self, name: str, text: Any, slot: str, *, dated: bool) -> None:
        if not isinstance(text, str) or not text.strip():
            raise self.fault(name, "must be a text")
        slots = sorted(_SLOT.findall(text), key=str.casefold)
        expected = [slot] + ["when"] * dated
        if [name.replace("When", "when") for name in slots] != sorted(expected):
            placeholders = " and ".join(f"{{{each}}}" for each in expected)
            raise self.fault(name, f"must hold {placeholders} once, and no other braces")
        if "{" in _SLOT.sub("", text) or "}" in _SLOT.sub("", text):
            raise self.fault(name, "has a brace that stands alone")


def _relation(row: _Row) -> Relation:
    dated, symmetric = row.flag("dated"), row.flag("symmetric")
    forms = DATED if dated else UNDATED
    hops = ("present", NOW, "past") if dated else UNDATED
    relation = Relation(
        key=row.row["key"],
        tail=row.choice("tail", TAILS),
        head=row.choice("head", HEADS, PERSON),
        dated=dated,
        multi_valued=row.flag("multi_valued"),
        symmetric=symmetric,
        inverse=row.names("inverse"),
        wording=row.texts("wording", forms, "head", optional=False),
        first=row.texts("first", hops, "head", optional=True),
        second=row.texts("second", hops, "person", optional=True),
    )
    people = relation.head == relation.tail == PERSON
    if (symmetric or relation.inverse) and not people:
        raise row.fault("symmetric" if symmetric else "inverse", "needs a person as head and as tail")
    if symmetric and relation.inverse:
        raise row.fault("inverse", "is not named where the relation is symmetric")
    if relation.first and relation.tail != PERSON:
        raise row.fault("first", "needs a person as tail")
    if relation.second and relation.head != PERSON:
        raise row.fault("second", "needs a person as head")
    return relation


def _as_row(relation: Relation) -> dict[str, Any]:
    row: dict[str, Any] = {"key": relation.key, "tail": relation.tail}
    if relation.head != PERSON:
        row["head"] = relation.head
    row |= {name: True for name in _FLAGS if getattr(relation, name)}
    if relation.inverse:
        row["inverse"] = list(relation.inverse)
    return row | {name: dict(getattr(relation, name)) for name in _WORDINGS if getattr(relation, name)}


DEFAULT = RelationTable.parse(tomllib.loads(_FILE.read_text(encoding="utf-8"))["relation"])
"""The 32 relations of LongDialQA, in this project's words."""


HeardExtent = Literal["all", "part", "none"]
Topic = tuple[str, str]
"""Subject of a question: a folded head, and the key of a relation."""


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """An accepted fact, with its relation, the number of its session, and the extent to which it is heard.

    `head` and `tail` are folded. `since` is the last of its turns, None where they are unknown.
    """

    fact: Fact
    relation: Relation
    number: int
    heard: HeardExtent
    head: str
    tail: str
    since: int | None

    @property
    def topic(self) -> Topic:
        """The head and the relation."""
        return self.head, self.relation.key


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A tail that a fact assigns to a head and a relation, read directly or from tail to head.

    It is certain unless the relation has several inverses: for Ana's boyfriend, Ana may be a girlfriend or a
    boyfriend.
    """

    tail: str
    text: str
    stated: Stated
    certain: bool = True
    direct: bool = True


class Graph:
    """Accepted facts of known relations, ordered by session and id, whatever their input order.

    Without `presence`, everything said counts as heard. `left_out` counts facts that cannot be asked about,
    by reason. Raises ValueError for a fact in a session that the script does not have.
    """

    def __init__(
        self,
        sessions: Sessions,
        facts: Iterable[Fact],
        table: RelationTable = DEFAULT,
        *,
        presence: bool = True,
    ) -> None:
        self.sessions, self.table, self.presence = sessions, table, presence
        self.calendar = Calendar([session.date for session in sessions.script.sessions])
        self.left_out: Counter[str] = Counter()
        accepted = [fact for fact in facts if fact.status == "accepted"]
        unknown = sum(fact.relation not in table for fact in accepted)
        if unknown:
            self.left_out["unknown relation"] = unknown
        stated = (self._stated(fact) for fact in accepted if fact.relation in table)
        self.stated = tuple(sorted(stated, key=lambda each: (each.number, each.fact.id)))

    def _stated(self, fact: Fact) -> Stated:
        number = self.sessions.numbers.get(fact.session)
        if number is None:
            raise ValueError(f"fact {fact.id!r}: there is no session {fact.session!r}")
        return Stated(
            fact=fact,
            relation=self.table[fact.relation],
            number=number,
            heard=self._heard_extent(fact, number),
            head=fold(fact.head),
            tail=fold(fact.tail),
            since=max(fact.turns, default=None),
        )

    def _heard_extent(self, fact: Fact, number: int) -> HeardExtent:
        if not self.presence:
            return "all"
        if number not in self.sessions.heard:
            return "none"
        heard = [self.sessions.hears(place) for place in fact.turns]
        if all(heard):
            return "all"
        return "part" if any(heard) else "none"

    @cached_property
    def askable_sessions(self) -> tuple[int, ...]:
        """Numbers of the sessions that allow questions: those with the main character."""
        return tuple(sorted(self.sessions.heard))

    @cached_property
    def readings(self) -> dict[Topic, list[Reading]]:
        """Readings of all facts by head and relation, in both directions."""
        by_topic: dict[Topic, list[Reading]] = defaultdict(list)
        for each in self.stated:
            by_topic[each.topic].append(Reading(each.tail, each.fact.tail, each))
            backwards = each.relation.reversed
            for key in backwards:
                back = Reading(each.head, each.fact.head, each, certain=len(backwards) == 1, direct=False)
                by_topic[each.tail, key].append(back)
        return dict(by_topic)

    @cached_property
    def _first_heard(self) -> dict[Topic, int]:
        return {
            topic: min(numbers)
            for topic, readings in self.readings.items()
            if (numbers := [each.stated.number for each in readings if each.stated.heard != "none"])
        }

    def may_know(self, topic: Topic, t: int) -> bool:
        """Whether anything that may answer is heard up to and including session `t`."""
        first = self._first_heard.get(topic)
        return first is not None and first <= t

    @cached_property
    def by_head(self) -> dict[str, list[Stated]]:
        """The facts of each folded head."""
        by_head: dict[str, list[Stated]] = defaultdict(list)
        for each in self.stated:
            by_head[each.head].append(each)
        return dict(by_head)

    def right(self, topic: Topic, number: int) -> dict[str, str]:
        """Return the right tails for a head and relation at a session's date, folded and as written.

        For an undated relation, those of all dates.
        """
        return {
            each.tail: each.text
            for each in reversed(self.readings.get(topic, []))
            if each.certain and self._orders(topic, each, number) in ("any", "same")
        }

    def barred(self, topic: Topic, number: int) -> set[str]:
        """Return the folded tails that may be right at a session's date, and so are never offered as wrong.

        Where several may hold at a time, these are all tails of the head.
        """
        several = self.table[topic[1]].multi_valued
        return {
            each.tail
            for each in self.readings.get(topic, [])
            if several or self._orders(topic, each, number) in ("any", "same", "overlap")
        }

    def ambiguous(self, stated: Stated) -> bool:
        """Whether another tail holds at the same time although only one is possible."""
        if stated.relation.multi_valued:
            return False
        return len(self.right(stated.topic, stated.number)) > 1

    def _orders(self, topic: Topic, reading: Reading, number: int) -> str:
        if not self.table[topic[1]].dated:
            return "any"
        return self.calendar.order(reading.stated.number, number)


# Knowledge of the main character about a fact in a session, and the wording of a question about it.


@dataclass(frozen=True, slots=True, eq=False)
class QuestionStatus:
    """Status of a question in a session: a form per hop, its type, whether it has an answer, and the rule.

    Without forms it is excluded. Each status is a single object, so they compare by identity.
    """

    forms: tuple[Form, ...]
    type: str
    answerable: bool
    rule: str


TYPES: dict[Form, str] = {"undated": "undated", "present": "current", "past": "past"}
HEARD = {form: QuestionStatus((form,), TYPES[form], True, "heard") for form in FORMS}
FUTURE = {form: QuestionStatus((form,), "future", False, "said later") for form in FORMS if form != "past"}
UNHEARD = {form: QuestionStatus((form,), "unheard", False, "not heard") for form in FORMS}


@cache
def excluded(rule: str) -> QuestionStatus:
    """Return the status of a use that a rule excludes."""
    return QuestionStatus((), "", False, rule)


OVERLAP = excluded("dates overlap")
SAME_DAY = excluded("said later on the same date")
BACKWARDS = excluded("dates against the order of sessions")
SAME_SESSION = excluded("same session")
PARTLY = excluded("partly heard")
ANSWERED = excluded("another fact may answer")
STATUSES = (
    *HEARD.values(),
    *FUTURE.values(),
    *UNHEARD.values(),
    *(OVERLAP, SAME_DAY, BACKWARDS, SAME_SESSION, PARTLY, ANSWERED),
)


def question_status(graph: Graph, stated: Stated, t: int) -> QuestionStatus:
    """Return the status of a question about a fact in session `t`, by the table of one hop.

    A fact stated in session `t` itself is known only if its turns are known, and is asked about after them.
    """
    if t < stated.number:
        return _before(graph, stated, t)
    if t == stated.number:
        if stated.heard != "all" or stated.since is None:
            return SAME_SESSION
        return HEARD["present" if stated.relation.dated else "undated"]
    form = _form(graph, stated, t)
    if isinstance(form, QuestionStatus):
        return form
    if stated.heard == "all":
        return HEARD[form]
    if stated.heard == "part":
        return PARTLY
    return ANSWERED if graph.may_know(stated.topic, t) else UNHEARD[form]


def question_statuses(graph: Graph, stated: Stated) -> list[QuestionStatus]:
    """Return the status of a question about a fact in each session with the main character."""
    return [question_status(graph, stated, t) for t in graph.askable_sessions]


def _before(graph: Graph, stated: Stated, t: int) -> QuestionStatus:
    order = graph.calendar.order(t, stated.number)
    if order != "before":
        return {"same": SAME_DAY, "after": BACKWARDS, "overlap": OVERLAP}[order]
    if graph.may_know(stated.topic, t):
        return ANSWERED
    return FUTURE["present" if stated.relation.dated else "undated"]


def _form(graph: Graph, stated: Stated, t: int) -> Form | QuestionStatus:
    """Return the form of a question about a fact of an earlier session, or the status that excludes it."""
    if not stated.relation.dated:
        return "undated"
    order = graph.calendar.order(stated.number, t)
    if order == "before":
        return "past"
    if order == "same":
        return "present"
    return BACKWARDS if order == "after" else OVERLAP
