"""The continuations that are counted: their rows, dialogues, clusters, strata and numbers of turns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.corpora.parts import of_dialogues
from annotation.models import Continuation, Item, Task
from annotation.records import HUMAN, SELF
from calibration.counts.query import SYSTEM, CountsQuery
from calibration.statistics.core.types import Ints
from jobs.fake_models import has_fake
from jobs.models import Call, Run

CHUNK = 20_000
By = tuple[Any, ...]
"""A row's values of the chosen keys; None where a continuation has none."""
PEOPLE_ROW: By = ()
"""What people's row is called while continuations are read."""


@dataclass(frozen=True)
class Units:
    """Continuations by id, in their order, with the rows they belong to.

    ``rows`` gives each one's row and ``by`` the rows' values; people's row is ``human``, None without one.
    ``turn_items`` are the ids of turn items and ``turn_of`` whose turns they are, as positions in ``ids``.
    ``fakes`` are the codes of the rows with a continuation by a fake model.
    """

    ids: tuple[int, ...]
    dialogues: tuple[str, ...]
    clusters: tuple[str, ...]
    strata: tuple[str, ...]
    rows: Ints
    by: tuple[By, ...]
    human: int | None
    turn_items: Ints
    turn_of: Ints
    fakes: frozenset[int] = frozenset()

    @property
    def turns(self) -> Ints:
        """The number of turns of each continuation that can be rated."""
        return np.bincount(self.turn_of, minlength=len(self.ids))


@dataclass
class _Read:
    """What is collected while continuations are read, in the order of their ids."""

    ids: list[int] = field(default_factory=list)
    dialogues: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)
    by: list[By] = field(default_factory=list)
    fakes: set[By] = field(default_factory=set)


def units(query: CountsQuery, ids: Collection[int], clusters: frozenset[str] | None) -> Units:
    """Return the units of some continuations, those in ``clusters`` where these are given.

    People's own turns count where their dialogue has no other continuation by people among them. A
    continuation without a turn that can be rated is left out.
    """
    items = Item.objects.filter(kind="turn", continuation__in=list(ids)).order_by("pk")
    turns = np.array(list(items.values_list("pk", "continuation_id")), dtype=np.int64).reshape(-1, 2)
    with_turns = set(turns[:, 1].tolist())
    read = _read(query, [pk for pk in ids if pk in with_turns], clusters)
    kept = np.isin(turns[:, 1], read.ids)
    place = {pk: at for at, pk in enumerate(read.ids)}
    order = _in_order(read.by)
    codes = {by: code for code, by in enumerate(order)}
    return Units(
        tuple(read.ids),
        tuple(read.dialogues),
        tuple(read.clusters),
        tuple(read.strata),
        np.array([codes[by] for by in read.by], dtype=np.int64),
        tuple(by or _of_people(query) for by in order),
        codes.get(PEOPLE_ROW),
        turns[kept, 0],
        np.array([place[pk] for pk in turns[kept, 1].tolist()], dtype=np.int64),
        frozenset(codes[by] for by in read.fakes),
    )


def _read(query: CountsQuery, ids: Collection[int], clusters: frozenset[str] | None) -> _Read:
    rows = list(
        Continuation.objects.filter(pk__in=list(ids))
        .order_by("pk")
        .values_list(
            "pk",
            "key",
            "system__name",
            "condition",
            "dialogue__key",
            "dialogue__cluster",
            "dialogue__metadata",
        )
    )
    by_people = {row[4] for row in rows if row[2].casefold() == HUMAN and row[1] != SELF}
    read = _Read()
    for pk, key, system, condition, dialogue, cluster, metadata in rows:
        is_human = system.casefold() == HUMAN
        if (clusters is not None and cluster not in clusters) or (
            is_human and key == SELF and dialogue in by_people
        ):
            continue
        read.ids.append(pk)
        read.dialogues.append(dialogue)
        read.clusters.append(cluster)
        read.strata.append(_plain(metadata.get(query.strata, "")) if query.strata else "")
        read.by.append(PEOPLE_ROW if is_human else _condition(query.by, system, condition))
        if has_fake(condition):
            read.fakes.add(read.by[-1])
    return read


def _condition(keys: Iterable[str], system: str, condition: Mapping[str, Any]) -> By:
    return tuple(system if key == SYSTEM else _hashable(condition.get(key)) for key in keys)


def _hashable(value: Any) -> Any:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if isinstance(value, list | dict) else value


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _of_people(query: CountsQuery) -> By:
    """Return people's values of the keys: they have no condition."""
    return tuple(HUMAN if key == SYSTEM else None for key in query.by)


def _in_order(found: list[By]) -> list[By]:
    """Return the rows, people's first; by each key numbers ascending, then texts as they first appear."""
    distinct = list(dict.fromkeys(found))
    people = [by for by in distinct if by == PEOPLE_ROW]
    others = [by for by in distinct if by != PEOPLE_ROW]
    width = max(map(len, others), default=0)
    appeared = [
        {value: n for n, value in enumerate(dict.fromkeys(by[at] for by in others))} for at in range(width)
    ]
    return people + sorted(
        others,
        key=lambda by: [
            (0, float(value), 0) if _is_number(value) else (1, 0.0, appeared[at][value])
            for at, value in enumerate(by)
        ],
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def failed(query: CountsQuery, raters: Collection[int], questions: Collection[int]) -> set[int]:
    """Return the continuations about which a judge's call failed, in a run that asked these questions."""
    asked = set(questions)
    runs = [
        pk
        for pk, answers in Run.objects.filter(rater__in=raters, corpus=query.corpus).values_list(
            "pk", "questions"
        )
        if asked & set(answers.values())
    ]
    calls = Call.objects.filter(run__in=runs, state=Call.State.FAILED)
    if query.campaign is not None:
        tasks = Task.objects.filter(campaign=query.campaign)
        calls = calls.filter(continuation__in=tasks.values("continuation"))
    found = Continuation.objects.filter(of_dialogues(query.scope.part, "dialogue__"))
    return set(found.filter(pk__in=calls.values("continuation")).values_list("pk", flat=True))
