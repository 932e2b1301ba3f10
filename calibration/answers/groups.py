"""Which answers make a row of the report, and which answers of two rows belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from annotation.scripts.records import NAMES as NAME_KINDS
from calibration.answers.rows import MEMORY, MODEL, NAMES, RETRIEVER, AnswerRow
from calibration.statistics.core.types import Floats, Ints

# What accuracy is broken down by: each factor gives a row the values that it counts under.

SESSIONS_AWAY = (0, 1, 9, 49, 99, 199)
TOKENS_AWAY = (999, 9_999, 49_999, 99_999, 199_999)
"""The last of each bin of a distance; the last bin is open."""
PARTS = ("first quarter", "second quarter", "third quarter", "last quarter")
BETWEEN = " to "


@dataclass(frozen=True)
class Factor:
    """A factor: its key in files, its title, the values of a row, and the order of its values.

    `order` names values that stand in an order of their own; others follow by name.
    """

    key: str
    title: str
    values: Callable[[AnswerRow], tuple[str, ...]]
    order: tuple[str, ...] = ()
    note: str = ""

    def sorted(self, values: Sequence[str]) -> list[str]:
        """Return values in the factor's order."""
        places = {value: at for at, value in enumerate(self.order)}
        return sorted(set(values), key=lambda value: (places.get(value, len(places)), value))


def _some(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


@lru_cache(maxsize=8)
def bins(ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of bins with these last values: `0`, `1`, `2 to 9`, ..., `200 or more`."""
    starts = [0, *(end + 1 for end in ends)]
    pairs = zip(starts, ends, strict=False)
    closed = [f"{low:,}" if low == high else f"{low:,}{BETWEEN}{high:,}" for low, high in pairs]
    return (*closed, f"{starts[-1]:,} or more")


def bin_of(amount: int | None, ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the bin of an amount, nothing for None."""
    if amount is None:
        return ()
    return (bins(ends)[sum(amount > end for end in ends)],)


def quarter(row: AnswerRow) -> tuple[str, ...]:
    """Return the quarter of the script that a question was asked in, nothing where its length is unknown."""
    if row.place.sessions < 1:
        return ()
    return (PARTS[min(4 * (row.session - 1) // row.place.sessions, 3)],)


FACTORS: dict[str, Factor] = {
    factor.key: factor
    for factor in (
        Factor("source", "Source", lambda row: _some(row.source), ("quiz", "tkg")),
        Factor(
            "hops",
            "Hops",
            lambda row: () if row.source == "quiz" else (str(row.hops),),
            note="Of questions about facts.",
        ),
        Factor(
            "answerable",
            "Can it be answered",
            lambda row: ("answerable" if row.answerable else "unanswerable",),
            ("answerable", "unanswerable"),
        ),
        Factor("type", "Type of use", lambda row: _some(row.use)),
        Factor("shape", "Time shape", lambda row: _some("-".join(row.forms))),
        Factor("asker", "Asker", lambda row: _some(row.asker)),
        Factor(
            "relation",
            "Relation",
            lambda row: tuple(dict.fromkeys(row.relations)),
            note="A question of two hops counts under both of its relations.",
        ),
        Factor(
            "sessions",
            "Sessions from evidence to question",
            lambda row: bin_of(row.distance[0], SESSIONS_AWAY),
            bins(SESSIONS_AWAY),
        ),
        Factor(
            "tokens",
            "Tokens from evidence to question",
            lambda row: bin_of(row.distance[1], TOKENS_AWAY),
            bins(TOKENS_AWAY),
        ),
        Factor("position", "Position in the script", quarter, PARTS),
    )
}
"""The factors, in the order of the report."""


SYSTEM, CONDITION, SCRIPT = "system", "condition", "script"
BY = (SYSTEM, CONDITION)
"""What rows are by where nobody says: a row for every condition of every system."""
ORACLE, K, FORMAT = "oracle", "k", "format"
_KIND = re.compile(r"[a-z]+")


@dataclass(frozen=True, eq=False)
class Group:
    """A row of the report: the answers of one system under one condition, or of all that share what rows are
    by. ``system`` is '' where several systems are in it.
    """

    system: str
    condition: Mapping[str, str]
    rows: Ints
    script: str = ""
    fake_model: bool = False

    @property
    def name(self) -> str:
        """How the row is called."""
        told = [f"{key} {value}" for key, value in self.condition.items() if key != MODEL]
        parts = [self.system or self.condition.get(MODEL, ""), *told, self.script]
        return ", ".join(part for part in parts if part) or "all"


def groups(rows: Sequence[AnswerRow], rows_by: Sequence[str], among: Ints | None = None) -> list[Group]:
    """Return the groups of rows by what they are by, in the order of their names.

    `condition` stands for every setting that is not the same in all rows; any other key that is not `system`
    or `script` is a setting. With ``among``, positions of rows, the others are left out.
    """
    keys = settings(rows, rows_by)
    made: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(rows)) if among is None else among.tolist():
        row = rows[at]
        place = row.place
        fixed = (place.system if SYSTEM in rows_by else "", place.script if SCRIPT in rows_by else "")
        made[(*fixed, *(row.condition(key) for key in keys))].append(at)
    return [_group(rows, keys, values, made[values]) for values in sorted(made)]


def settings(rows: Sequence[AnswerRow], rows_by: Sequence[str]) -> list[str]:
    """Return the settings that rows are by, each once; of `condition` those that vary."""
    found: list[str] = []
    for key in rows_by:
        if key == CONDITION:
            found += varying(rows)
        elif key not in (SYSTEM, SCRIPT):
            found.append(key)
    return list(dict.fromkeys(found))


def varying(rows: Sequence[AnswerRow]) -> list[str]:
    """Return the settings with more than one value among rows, the first of all memory and retriever.

    That one system has a setting which another does not know, as a baseline knows no memory, is no variation.
    """
    values: dict[str, set[str]] = defaultdict(set)
    lacking: dict[str, set[str]] = defaultdict(set)
    keys = known(rows)
    systems: dict[str, set[str]] = defaultdict(set)
    for place in (row.place for row in rows):
        for key in keys:
            value = place.condition.get(key, "")
            (values if value else lacking)[key].add(value or place.system)
            if value:
                systems[key].add(place.system)
    return [key for key in keys if len(values[key]) > 1 or lacking[key] & systems[key]]


def known(rows: Sequence[AnswerRow]) -> list[str]:
    """Return all settings of the rows' conditions: what the paper varies first, then by name."""
    named = {key for row in rows for key in row.place.condition}
    first = (MODEL, MEMORY, RETRIEVER, K, NAMES, FORMAT)
    return [*(key for key in first if key in named), *sorted(named.difference(first))]


def _group(rows: Sequence[AnswerRow], keys: Sequence[str], values: tuple[str, ...], own: list[int]) -> Group:
    systems = {rows[at].place.system for at in own}
    return Group(
        systems.pop() if len(systems) == 1 else "",
        {key: value for key, value in zip(keys, values[2:], strict=True) if value},
        np.array(own, dtype=np.int64),
        values[1],
        any(rows[at].place.fake_model for at in own),
    )


def name_kind(names: str) -> str:
    """Return the kind of a name map's version (`anonymised` of `anonymised-2`), '' for an unknown one."""
    kind = _KIND.match(names)
    return kind[0] if kind and kind[0] in NAME_KINDS else ""


Pairing = Callable[[AnswerRow], Hashable]


def asked_at(row: AnswerRow) -> tuple[Hashable, ...]:
    """Return what two answers to one question of one trial share."""
    return (row.place.script, row.place.trial, row.session, row.question)


def shared(rows: Sequence[AnswerRow], parts: Mapping[Any, Ints]) -> dict[Any, Ints]:
    """Return of each part of the rows the answers to what was asked, in the same trial, in all parts."""
    questions = {key: [asked_at(rows[at]) for at in own.tolist()] for key, own in parts.items()}
    everywhere = set.intersection(*map(set, questions.values())) if questions else set()
    return {key: own[[place in everywhere for place in questions[key]]] for key, own in parts.items()}


def held_with_oracle(row: AnswerRow) -> Hashable:
    """Return what an answer shares with the oracle's: question, trial, model, names and format."""
    return (*asked_at(row), row.condition(MODEL), row.condition(NAMES), row.format)


def held_across_names(row: AnswerRow) -> Hashable:
    """Return what answers share that differ in the names alone."""
    held = tuple(row.condition(key) for key in (MODEL, MEMORY, RETRIEVER, K))
    return (*asked_at(row), *held, row.format)


def less(
    rows: Sequence[AnswerRow], own: Ints, others: Ints, values: Floats, pairing: Pairing
) -> tuple[Ints, Floats]:
    """Return the answers of ``own`` that have a partner among ``others``, and own value less the partner's.

    ``values`` are those of all rows; of several partners their mean counts, NaN where one is missing.
    """
    partners: dict[Hashable, list[int]] = defaultdict(list)
    for at in others:
        partners[pairing(rows[at])].append(int(at))
    paired = [(int(at), partners[key]) for at in own if (key := pairing(rows[at])) in partners]
    places = np.array([at for at, _ in paired], dtype=np.int64)
    theirs = np.array([values[with_].mean() for _, with_ in paired])
    return places, values[places] - theirs if len(paired) else np.empty(0)
