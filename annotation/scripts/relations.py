"""The relations of facts as an editable table: inverses, types, and the wording of every form."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annotation.scripts.records import Form

PERSON, SCHOOL = "person", "school"
TAILS = (PERSON, "place", "occupation", "subject", "number", "date", "animal")
HEADS = (PERSON, SCHOOL)
UNDATED = ("undated",)
DATED = ("present", "past")
NOW = "now"
"""The present form of a hop where the other hop is in the past."""
_FLAGS = ("dated", "multi_valued", "symmetric")
_WORDINGS = ("wording", "first", "second")
_FIELDS = ("key", "head", "tail", *_FLAGS, "inverse", *_WORDINGS)
_SLOT = re.compile(r"\{([^{}]*)\}")
_FILE = Path(__file__).with_name("relations.toml")

Wording = Mapping[str, str]
_NONE: Wording = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: its name, what it links, and how it is asked about (see `relations.toml`).

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
        """The forms in which a question about it can be worded."""
        return DATED if self.dated else UNDATED  # type: ignore[return-value]

    @property
    def reversed(self) -> tuple[str, ...]:
        """The relations of which one holds from tail to head: itself where it is symmetric."""
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
        """Return the table of some rows; ValueError, in a line with row (from 1) and field, for a bad one."""
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
        """Return plain rows that `parse` reads back; what is empty or false is left out."""
        return [_as_row(relation) for relation in self.values()]

    def inverse(self, one: str, other: str) -> bool:
        """Whether `other` may say from tail to head what `one` says from head to tail."""
        return other in self[one].reversed or one in self[other].reversed

    def _check_inverse(self, number: int, relation: Relation) -> None:
        where = f"relation {number} ({relation.key}), inverse:"
        for key in relation.inverse:
            if key not in self:
                raise ValueError(f"{where} {key!r} is no relation of the table")
            if relation.key not in self[key].inverse:
                raise ValueError(f"{where} {key!r} does not name {relation.key!r} as its inverse")


class _Row:
    """A row that is being read, and how its faults are told."""

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

    def choice(self, name: str, known: Sequence[str], default: str | None = None) -> str:
        value = self.row.get(name, default)
        if value not in known:
            raise self.fault(name, f"must be one of {', '.join(known)}")
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
        wanted = [slot] + ["when"] * dated
        if [name.replace("When", "when") for name in slots] != sorted(wanted):
            told = " and ".join(f"{{{each}}}" for each in wanted)
            raise self.fault(name, f"must hold {told} once, and no other braces")
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
    told: dict[str, Any] = {"key": relation.key, "tail": relation.tail}
    if relation.head != PERSON:
        told["head"] = relation.head
    told |= {name: True for name in _FLAGS if getattr(relation, name)}
    if relation.inverse:
        told["inverse"] = list(relation.inverse)
    return told | {name: dict(getattr(relation, name)) for name in _WORDINGS if getattr(relation, name)}


DEFAULT = RelationTable.parse(tomllib.loads(_FILE.read_text(encoding="utf-8"))["relation"])
"""The 32 relations of LongDialQA, in this project's words."""
