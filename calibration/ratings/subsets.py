"""Subset of a study: the systems, conditions and dates of labels, and the dialogues left out by an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from annotation.corpora import exclusion
from annotation.errors import ExclusionRefused
from annotation.kinds import COMPARING, OF_RECORDS
from annotation.models import Corpus, ItemMember
from annotation.text import display
from calibration.errors import DefinitionError

#     {"systems": ["model-x", "model-y"], "conditions": {"prompting": "vanilla", "turns_per_call": [1, 5]},
#      "from": "2026-03-01", "to": "2026-03-31", "exclude": "objection>=1"}
#
# Every key is optional. A label is in the subset if all of them apply: its item's continuation is of one of
# the systems and has, for every condition, one of the values; the label was given on one of the days (UTC).
# All members of a comparison must qualify. A record of a dialogue has no system and no condition. `exclude`
# leaves out dialogues by people's answers (`annotation.corpora.exclusion`); a scope looks these up once.

KEYS = ("systems", "conditions", "from", "to", "exclude")
Value = str | int | float | bool | None
MOST_NAMES = 8
"""Largest number of systems that a sentence names."""
MOST_VALUES = 20
"""A condition with more values is not offered in a form: it is an id or a seed, not a setting."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Systems, values per condition, first and last day, and an exclusion; empty or None: not narrowed."""

    systems: tuple[str, ...] = ()
    conditions: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    exclude: str = ""

    def __bool__(self) -> bool:
        return self != ALL_LABELS

    @property
    def narrows_items(self) -> bool:
        """Whether it is narrowed to some continuations, not to dates alone."""
        return bool(self.systems or self.conditions)

    def as_dict(self) -> dict[str, Any]:
        """Return the subset in the form that definitions use."""
        return {
            "systems": list(self.systems),
            "conditions": {key: list(values) for key, values in self.conditions},
            "from": self.first_day.isoformat() if self.first_day else None,
            "to": self.last_day.isoformat() if self.last_day else None,
            **({"exclude": self.exclude} if self.exclude else {}),
        }

    def in_words(self) -> str:
        """Return `systems a and b, prompting vanilla, labels from 1 Mar 2026`; empty if not narrowed."""
        parts = []
        if self.systems:
            names = list(self.systems[:MOST_NAMES])
            if more := len(self.systems) - len(names):
                names.append(f"{more} more")
            parts.append(f"{'system' if len(self.systems) == 1 else 'systems'} {_join_values(names, 'and')}")
        parts += [
            f"{key} {_join_values([value_text(v) for v in values], 'or')}" for key, values in self.conditions
        ]
        days = [
            f"{word} {display.day(day)}"
            for word, day in (("from", self.first_day), ("to", self.last_day))
            if day is not None
        ]
        parts += [f"labels {' '.join(days)}"] if days else []
        if (excluded := exclusion.parse(self.exclude)) is not None:
            parts.append(f"dialogues that passed (left out where {excluded.in_words()}, or not checked)")
        return ", ".join(parts)

    def of_items(self, prefix: str = "") -> Q:
        """Condition: an item is about these systems and conditions. `prefix` leads from rows to the item."""
        if not self.narrows_items:
            return Q()
        own = ~Q(**{f"{prefix}kind__in": [*COMPARING, *OF_RECORDS]})
        members = ItemMember.objects.filter(item=OuterRef(f"{prefix}pk"))
        comparisons = Q(**{f"{prefix}kind__in": COMPARING}) & ~Q(
            Exists(members.exclude(self.of_continuations("continuation__")))
        )
        return (own & self.of_continuations(f"{prefix}continuation__")) | comparisons

    def of_continuations(self, prefix: str = "") -> Q:
        """Condition: a continuation is of these systems and has these conditions."""
        condition = Q(**{f"{prefix}system__name__in": self.systems}) if self.systems else Q()
        for key, values in self.conditions:
            condition &= reduce(or_, (Q(**{f"{prefix}condition__contains": {key: v}}) for v in values))
        return condition

    def of_days(self, moment: str) -> Q:
        """Condition: a moment is on one of the days; `moment` names its column."""
        condition = Q()
        if self.first_day is not None:
            condition &= Q(**{f"{moment}__gte": _midnight(self.first_day)})
        if self.last_day is not None and self.last_day < date.max:
            condition &= Q(**{f"{moment}__lt": _midnight(self.last_day + timedelta(days=1))})
        return condition


ALL_LABELS = Subset()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _join_values(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def value_text(value: Any) -> str:
    """Return a condition's value as text: a word as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def parse_subset(raw: Any) -> Subset:
    """Read the `subset` of a definition; all labels for None. Raises DefinitionError (one line)."""
    if raw is None:
        return ALL_LABELS
    if not isinstance(raw, Mapping) or (unknown := set(raw) - set(KEYS)):
        more = f", not {sorted(map(str, unknown))[0]!r}" if isinstance(raw, Mapping) else ""
        raise DefinitionError(f"subset is an object with {', '.join(KEYS)}{more}")
    systems = raw.get("systems") or []
    if not isinstance(systems, list | tuple) or not all(isinstance(name, str) and name for name in systems):
        raise DefinitionError("subset: systems is a list of systems' names")
    first_day, last_day = _day(raw, "from"), _day(raw, "to")
    if first_day and last_day and last_day < first_day:
        raise DefinitionError(f"subset: from, {first_day}, is after to, {last_day}")
    conditions = _conditions(raw.get("conditions"))
    exclude = _exclude(raw.get("exclude"))
    return Subset(tuple(dict.fromkeys(systems)), conditions, first_day, last_day, exclude)


def _exclude(raw: Any) -> str:
    if raw in (None, ""):
        return ""
    try:
        return str(exclusion.parse(str(raw)) or "")
    except ExclusionRefused as error:
        raise DefinitionError(f"subset: {error}") from error


def _conditions(raw: Any) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    if raw is not None and not isinstance(raw, Mapping):
        raise DefinitionError('subset: conditions is an object such as {"prompting": "vanilla"}')
    conditions = []
    for key, value in (raw or {}).items():
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not values or not all(v is None or isinstance(v, str | int | float) for v in values):
            raise DefinitionError(f"subset: the condition {key!r} has a text, a number, or a list of these")
        conditions.append((key, tuple({json.dumps(v): v for v in values}.values())))
    return tuple(conditions)


def _day(raw: Mapping[str, Any], key: str) -> date | None:
    value = raw.get(key)
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"subset: {key} is a date such as 2026-03-31, not {value!r}") from error


# Systems and conditions that a corpus has.

CONDITION_VALUES = """
SELECT DISTINCT e.key, e.value FROM annotation_continuation c
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  CROSS JOIN LATERAL jsonb_each(c.condition) AS e (key, value)
 WHERE d.corpus_id = %s AND jsonb_typeof(e.value) NOT IN ('object', 'array') ORDER BY 1, 2
"""


def system_names(corpus: Corpus) -> list[str]:
    """Return the names of a corpus's systems, sorted."""
    return sorted(corpus.systems.values_list("name", flat=True))


def condition_values(corpus: Corpus) -> dict[str, list[Value]]:
    """Return the conditions in a corpus, each with its values other than lists and objects."""
    values: dict[str, list[Value]] = {}
    with connection.cursor() as cursor:
        cursor.execute(CONDITION_VALUES, [corpus.pk])
        for key, value in cursor.fetchall():
            values.setdefault(key, []).append(json.loads(value))
    return values


def check_subset(corpus: Corpus, subset: Subset) -> None:
    """Raise DefinitionError for a system, condition, value or question that the corpus does not have."""
    try:
        exclusion.check(corpus, subset.exclude)
    except ExclusionRefused as error:
        raise DefinitionError(f"subset: {error}") from error
    if subset.systems:
        names = system_names(corpus)
        if unknown := [name for name in subset.systems if name not in names]:
            raise DefinitionError(
                f"no system is called {unknown[0]!r} here; there are {', '.join(names) or 'none'}"
            )
    existing = condition_values(corpus) if subset.conditions else {}
    for key, values in subset.conditions:
        if key not in existing:
            raise DefinitionError(
                f"no continuation has the condition {key!r}; there are {', '.join(existing) or 'none'}"
            )
        texts = [json.dumps(value) for value in existing[key]]
        if wrong := [value for value in values if json.dumps(value) not in texts]:
            valid = ", ".join(value_text(value) for value in existing[key][:MOST_VALUES])
            raise DefinitionError(f"no continuation has {key} {value_text(wrong[0])!r}; there are {valid}")
