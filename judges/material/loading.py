"""From the database to records: what protocols and metrics read, for many continuations at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from annotation import records
from annotation.corpora.parts import of_dialogues
from annotation.importing.rows import agenda_record, participant_record, turn_record
from annotation.models import Continuation, Dialogue, Item, ItemMember, Split, System, Turn
from annotation.scenarios.stored import scenario_record
from annotation.scripts.stored import script_record
from annotation.text.blinding import NOTHING_TOLD, Told, told_by
from judges.metrics import DEFAULT_MODEL, Embedder, Tools
from judges.metrics.kit.instrument import Content
from judges.models import Embedding
from judges.protocols import Member

# Embeddings kept in the database, so that each distinct text is embedded once per model.

_BATCH_EMBEDDING_STORE = 1000


class DatabaseStore:
    """The store that metrics' embedder reads and fills: text hash to float32 little-endian bytes."""

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors that are there."""
        found: dict[str, bytes] = {}
        for start in range(0, len(hashes), _BATCH_EMBEDDING_STORE):
            rows = Embedding.objects.filter(
                model=model, text_hash__in=hashes[start : start + _BATCH_EMBEDDING_STORE]
            )
            found |= {
                text_hash: bytes(vector) for text_hash, vector in rows.values_list("text_hash", "vector")
            }
        return found

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors; one that somebody else kept first stays, since it is the same."""
        Embedding.objects.bulk_create(
            [Embedding(model=model, text_hash=key, vector=vector) for key, vector in sorted(vectors.items())],
            batch_size=_BATCH_EMBEDDING_STORE,
            ignore_conflicts=True,
        )


# What metrics need of this process: models, loaded at first need, and embeddings kept in the database.


@cache
def tools() -> Tools:
    """Return this process's tools: models load at first need, embeddings are kept in the database."""
    return Tools(embed=Embedder(settings.EMBEDDING_MODEL or DEFAULT_MODEL, store=DatabaseStore()))


_BATCH = 200
_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Material:
    """A continuation with its dialogue, and the ids of its items by turn index (None: the whole).

    `systems` names all systems of the corpus, `told` is what the conditions of the dialogue's continuations
    would give away. `compared` has the members of the comparisons that were asked for, by the item's id.
    """

    dialogue: records.Dialogue
    continuation: records.Continuation
    items: Mapping[int | None, int]
    systems: tuple[str, ...] = ()
    told: Told = NOTHING_TOLD
    compared: Mapping[int, tuple[Member, ...]] = field(default_factory=dict)


def load(continuation_ids: Collection[int]) -> dict[int, Material]:
    """Return the material of each continuation, in six queries; its dialogue holds no other ones."""
    found = Continuation.objects.select_related("dialogue", "system").in_bulk(continuation_ids)
    dialogues = {row.dialogue_id for row in found.values()}
    own = {
        row.dialogue_id: row
        for row in Continuation.objects.select_related("system").filter(
            dialogue__in=dialogues, key=records.SELF
        )
    }
    turns = _turns({*found, *(row.pk for row in own.values())})
    items = _items(found)
    systems = _systems({row.dialogue.corpus_id for row in found.values()})
    told = _told(dialogues)
    made = {}
    for pk, row in found.items():
        names = systems.get(row.dialogue.corpus_id, ())
        whole = _material(row, own.get(row.dialogue_id), turns, items[pk], names)
        made[pk] = replace(whole, told=told.get(row.dialogue_id, NOTHING_TOLD))
    return made


def with_compared(material: Mapping[int, Material], items: Collection[int]) -> dict[int, Material]:
    """Return the material with the members of those among the items that compare several; three queries."""
    rows: dict[int, list[ItemMember]] = defaultdict(list)
    members = ItemMember.objects.select_related("item", "continuation__system").order_by("item_id", "number")
    for row in members.filter(item__in=items):
        rows[row.item_id].append(row)
    turns = _turns({row.continuation_id for found in rows.values() for row in found})
    made = dict(material)
    for item, found in rows.items():
        own = made[found[0].item.continuation_id]
        several = tuple(_member(row, turns[row.continuation_id]) for row in found)
        made[found[0].item.continuation_id] = replace(own, compared={**own.compared, item: several})
    return made


def _member(row: ItemMember, turns: list[Turn]) -> Member:
    places = [turn.pk for turn in turns]
    turn = None if row.turn_id is None else places.index(row.turn_id)
    return Member(_continuation(row.continuation, turns), turn)


def whole_corpus(corpus_id: int, dev_of: Split | None = None, part: str = "") -> Iterator[records.Dialogue]:
    """Yield a corpus's dialogues in the order of their keys, each with all its continuations.

    Of a split its dev part alone; training dialogues where that is the part, and then alone.
    """
    dialogues = _dialogues(corpus_id, dev_of, part).order_by("key")
    for batch in _batches(dialogues.iterator(_BATCH), _BATCH):
        rows: dict[int, list[Continuation]] = defaultdict(list)
        found = Continuation.objects.select_related("system").filter(dialogue__in=batch).order_by("key")
        for row in found:
            rows[row.dialogue_id].append(row)
        turns = _turns({row.pk for row in found})
        for dialogue in batch:
            own = next((row for row in rows[dialogue.pk] if row.is_self), None)
            history = tuple(_turn(turn) for turn in turns[own.pk]) if own else ()
            others = tuple(_continuation(row, turns[row.pk]) for row in rows[dialogue.pk] if row is not own)
            yield dialogue_record(dialogue, history, others, own.system.name if own else records.HUMAN)


def contents(corpus_id: int, dev_of: Split | None = None, part: str = "") -> Iterator[Content]:
    """Yield what metrics may learn from each dialogue of a corpus, in one query without making records.

    Of a split its dev part alone; training dialogues where that is the part, and then alone.
    """
    fields = ("key", "continuations__key", "continuations__turns__position")
    turn = tuple(f"continuations__turns__{name}" for name in ("speaker", "text", "at"))
    rows = (
        _dialogues(corpus_id, dev_of, part)
        .order_by("pk", "continuations__key", "continuations__turns__position")
        .values_list(*fields, *turn)
    )
    for key, found in groupby(rows.iterator(_ROWS), key=itemgetter(0)):
        parts = [
            (name, [(speaker, text, at) for _, _, place, speaker, text, at in part if place is not None])
            for name, part in groupby(found, key=itemgetter(1))
            if name is not None
        ]
        own = [part for part in parts if part[0] == records.SELF and part[1]]
        yield key, own + [part for part in parts if part[0] != records.SELF]


def _dialogues(corpus_id: int, dev_of: Split | None, part: str) -> QuerySet[Dialogue]:
    rows = Dialogue.objects.filter(of_dialogues(part), corpus=corpus_id)
    if dev_of is None:
        return rows
    return rows.filter(cluster__in=dev_of.clusters.filter(part="dev").values("cluster"))


def _batches(rows: Iterable[Dialogue], size: int) -> Iterator[list[Dialogue]]:
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


def _material(
    row: Continuation,
    own: Continuation | None,
    turns: Mapping[int, list[Turn]],
    items: Mapping[int | None, int],
    systems: tuple[str, ...],
) -> Material:
    continuation = _continuation(row, turns[row.pk])
    others = () if row.is_self else (continuation,)
    history = tuple(_turn(turn) for turn in turns[own.pk]) if own else ()
    system = own.system.name if own else records.HUMAN
    dialogue = dialogue_record(row.dialogue, history, others, system)
    index = {turn.pk: number for number, turn in enumerate(turns[row.pk])}
    places = {None if turn is None else index[turn]: item for turn, item in items.items()}
    return Material(dialogue, continuation, places, systems)


def dialogue_record(
    row: Dialogue,
    turns: tuple[records.Turn, ...],
    continuations: tuple[records.Continuation, ...],
    system: str,
) -> records.Dialogue:
    """Return a dialogue's record from its row and its turns."""
    return records.Dialogue(
        id=row.key,
        turns=turns,
        participants=tuple(map(participant_record, row.participants)),
        continuations=continuations,
        cluster=row.cluster,
        language=row.language,
        summary=row.summary,
        system=system,
        metadata=row.metadata,
        agenda=agenda_record(row.agenda),
        scenario=scenario_record(row.scenario),
        script=script_record(row.script),
    )


def _continuation(row: Continuation, turns: list[Turn]) -> records.Continuation:
    return records.Continuation(
        id=row.key,
        system=row.system.name,
        turns=tuple(_turn(turn) for turn in turns),
        mode="static" if row.mode == Continuation.Mode.STATIC else "rollout",
        trial=row.trial,
        condition=row.condition,
    )


def _turn(row: Turn) -> records.Turn:
    return turn_record(row.speaker, row.text, row.given, row.at, row.extra)


def _turns(continuation_ids: Collection[int]) -> dict[int, list[Turn]]:
    rows: dict[int, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(continuation__in=continuation_ids).order_by(
        "continuation_id", "position"
    ):
        rows[turn.continuation_id].append(turn)
    return rows


def _items(continuation_ids: Collection[int]) -> dict[int, dict[int | None, int]]:
    rows: dict[int, dict[int | None, int]] = defaultdict(dict)
    items = Item.objects.filter(continuation__in=continuation_ids, compared=None)
    for pk, continuation, turn in items.values_list("pk", "continuation_id", "turn_id"):
        rows[continuation][turn] = pk
    return rows


def _systems(corpus_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    names: dict[int, tuple[str, ...]] = {}
    rows = System.objects.filter(corpus__in=corpus_ids).order_by("name").values_list("corpus_id", "name")
    for corpus, name in rows:
        names[corpus] = (*names.get(corpus, ()), name)
    return names


def _told(dialogue_ids: Collection[int]) -> dict[int, Told]:
    """Return what conditions would give away of the dialogues that have some."""
    rows = Continuation.objects.filter(dialogue__in=dialogue_ids).exclude(condition={})
    conditions: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for dialogue, condition in rows.values_list("dialogue", "condition"):
        conditions[dialogue].append(condition)
    return {dialogue: told_by(found) for dialogue, found in conditions.items()}
