"""Input of judges and metrics: dialogues from the database, the case of a call, answers of other raters."""

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
from annotation.corpora.rows import agenda_record, participant_record, turn_record
from annotation.corpora.splits import of_dialogues
from annotation.kinds import KINDS
from annotation.models import (
    Continuation,
    Corpus,
    Dialogue,
    Item,
    ItemMember,
    Label,
    Question,
    Rater,
    Split,
    System,
    Turn,
)
from annotation.models.labels import live_labels
from annotation.scenario_records import scenario_record
from annotation.script_records import script_record
from annotation.text.views import DEFAULT, NO_GIVEAWAYS, Giveaways, View, giveaways_of
from judges.errors import JudgeError
from judges.metrics import DEFAULT_MODEL, Embedder, Tools
from judges.metrics.kit.instrument import Content
from judges.models import Bench, Draft, DraftAnswer, Embedding
from judges.protocols import Case, Member, Need, NeedAnswer, Protocol
from judges.protocols.protocol import NeedAnswers, Value

# Conversion of database rows to the records that protocols and metrics read, for many continuations at once.

# Embeddings stored in the database, so that each distinct text is embedded once per model.

_BATCH_EMBEDDING_STORE = 1000


class DatabaseStore:
    """Store of the metrics' embedder: text hash to float32 little-endian bytes."""

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors found."""
        vectors: dict[str, bytes] = {}
        for start in range(0, len(hashes), _BATCH_EMBEDDING_STORE):
            rows = Embedding.objects.filter(
                model=model, text_hash__in=hashes[start : start + _BATCH_EMBEDDING_STORE]
            )
            vectors |= {
                text_hash: bytes(vector) for text_hash, vector in rows.values_list("text_hash", "vector")
            }
        return vectors

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Save vectors; one already saved by another process stays, since it is the same."""
        Embedding.objects.bulk_create(
            [Embedding(model=model, text_hash=key, vector=vector) for key, vector in sorted(vectors.items())],
            batch_size=_BATCH_EMBEDDING_STORE,
            ignore_conflicts=True,
        )


# Tools of metrics in this process: models loaded on first use, and embeddings stored in the database.


@cache
def tools() -> Tools:
    """Return this process's tools: models load on first use, embeddings are stored in the database."""
    return Tools(embed=Embedder(settings.EMBEDDING_MODEL or DEFAULT_MODEL, store=DatabaseStore()))


_BATCH = 200
_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Material:
    """A continuation with its dialogue, and the ids of its items by turn index (None: the whole).

    `systems` names all systems of the corpus, `told` holds the giveaways in the conditions of the dialogue's
    continuations. `compared` has the members of the requested comparisons, by the item's id.
    """

    dialogue: records.Dialogue
    continuation: records.Continuation
    items: Mapping[int | None, int]
    systems: tuple[str, ...] = ()
    told: Giveaways = NO_GIVEAWAYS
    compared: Mapping[int, tuple[Member, ...]] = field(default_factory=dict)


def load(continuation_ids: Collection[int]) -> dict[int, Material]:
    """Return the material of each continuation, in six queries; each dialogue has only that continuation."""
    rows = Continuation.objects.select_related("dialogue", "system").in_bulk(continuation_ids)
    dialogues = {row.dialogue_id for row in rows.values()}
    own = {
        row.dialogue_id: row
        for row in Continuation.objects.select_related("system").filter(
            dialogue__in=dialogues, key=records.SELF
        )
    }
    turns = _turns({*rows, *(row.pk for row in own.values())})
    items = _items(rows)
    systems = _systems({row.dialogue.corpus_id for row in rows.values()})
    revealed = _load_revealed(dialogues)
    loaded = {}
    for pk, row in rows.items():
        names = systems.get(row.dialogue.corpus_id, ())
        material = _material(row, own.get(row.dialogue_id), turns, items[pk], names)
        loaded[pk] = replace(material, told=revealed.get(row.dialogue_id, NO_GIVEAWAYS))
    return loaded


def with_compared(material: Mapping[int, Material], items: Collection[int]) -> dict[int, Material]:
    """Add the members of those items that are comparisons to the material, in three queries."""
    rows: dict[int, list[ItemMember]] = defaultdict(list)
    members = ItemMember.objects.select_related("item", "continuation__system").order_by("item_id", "number")
    for row in members.filter(item__in=items):
        rows[row.item_id].append(row)
    turns = _turns({row.continuation_id for member_rows in rows.values() for row in member_rows})
    extended = dict(material)
    for item, member_rows in rows.items():
        own = extended[member_rows[0].item.continuation_id]
        several = tuple(_member(row, turns[row.continuation_id]) for row in member_rows)
        extended[member_rows[0].item.continuation_id] = replace(own, compared={**own.compared, item: several})
    return extended


def _member(row: ItemMember, turns: list[Turn]) -> Member:
    places = [turn.pk for turn in turns]
    turn = None if row.turn_id is None else places.index(row.turn_id)
    return Member(_continuation(row.continuation, turns), turn)


def whole_corpus(corpus_id: int, dev_of: Split | None = None, part: str = "") -> Iterator[records.Dialogue]:
    """Yield a corpus's dialogues in the order of their keys, each with all its continuations.

    With a split, only its dev part; training dialogues only if that is the part, and then exclusively.
    """
    dialogues = _dialogues(corpus_id, dev_of, part).order_by("key")
    for batch in _batches(dialogues.iterator(_BATCH), _BATCH):
        rows: dict[int, list[Continuation]] = defaultdict(list)
        continuations = (
            Continuation.objects.select_related("system").filter(dialogue__in=batch).order_by("key")
        )
        for row in continuations:
            rows[row.dialogue_id].append(row)
        turns = _turns({row.pk for row in continuations})
        for dialogue in batch:
            own = next((row for row in rows[dialogue.pk] if row.is_self), None)
            history = tuple(_turn(turn) for turn in turns[own.pk]) if own else ()
            others = tuple(_continuation(row, turns[row.pk]) for row in rows[dialogue.pk] if row is not own)
            yield dialogue_record(dialogue, history, others, own.system.name if own else records.HUMAN)


def contents(corpus_id: int, dev_of: Split | None = None, part: str = "") -> Iterator[Content]:
    """Yield the content of each dialogue of a corpus that metrics may learn from, in one query without
    records.

    With a split, only its dev part; training dialogues only if that is the part, and then exclusively.
    """
    fields = ("key", "continuations__key", "continuations__turns__position")
    turn = tuple(f"continuations__turns__{name}" for name in ("speaker", "text", "at"))
    rows = (
        _dialogues(corpus_id, dev_of, part)
        .order_by("pk", "continuations__key", "continuations__turns__position")
        .values_list(*fields, *turn)
    )
    for key, dialogue_rows in groupby(rows.iterator(_ROWS), key=itemgetter(0)):
        parts = [
            (name, [(speaker, text, at) for _, _, place, speaker, text, at in part if place is not None])
            for name, part in groupby(dialogue_rows, key=itemgetter(1))
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
    """Build a dialogue's record from its row and its turns."""
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


def _load_revealed(dialogue_ids: Collection[int]) -> dict[int, Giveaways]:
    """Return the giveaways in conditions, for dialogues that have any."""
    rows = Continuation.objects.filter(dialogue__in=dialogue_ids).exclude(condition={})
    conditions: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for dialogue, condition in rows.values_list("dialogue", "condition"):
        conditions[dialogue].append(condition)
    return {dialogue: giveaways_of(group) for dialogue, group in conditions.items()}


# Cases: the subject of a call in the form that a protocol reads.


def case_of(
    material: Material,
    item: int | None,
    spec: Mapping[str, Any],
    need_answers: NeedAnswers | None = None,
    part: str = "",
    sample: int = 0,
) -> Case:
    """Return the case of an item (None: the whole continuation) as a judge of this spec sees it.

    Members of a comparison are shown in their own order in even samples, in reverse order in odd ones.
    """
    view = View(material.systems, tuple(spec.get("shows", DEFAULT)), giveaways=material.told)
    if item is not None and (members := material.compared.get(item)):
        order = tuple(range(len(members)))[:: -1 if sample % 2 else 1]
        own = tuple({member.continuation.id: member.continuation for member in members}.values())
        dialogue = replace(material.dialogue, continuations=own)
        first = members[0].continuation
        return Case(dialogue, first, None, view, need_answers or {}, part, members, order)
    turn = None
    if item is not None:
        turn = next(index for index, pk in material.items.items() if pk == item)
    return Case(material.dialogue, material.continuation, turn, view, need_answers or {}, part)


# Needs of judges: bound to a rater when a run starts, and read when its calls are prepared.
#
# The bound rater's fingerprint and the version of the question are part of the judge's spec: with another
# rater it is another judge.

Bound = dict[str, dict[str, str]]
"""By role, the `rater` (its fingerprint) and the `question` (scheme@version/key), as in a judge's spec."""


def bind_needs(
    protocol: Protocol, choices: Mapping[str, str], *, drafts: bool = False
) -> tuple[Bound, list[Rater]]:
    """Bind each need to the judge or metric with a name (or fingerprint), for the spec; raise JudgeError.

    With `drafts`, which only drafts may use, drafts can be read as well, by fingerprint or as
    `BENCH/draft-3`.
    """
    roles = {need.role: need for need in protocol.needs}
    if unknown := sorted(set(choices) - roles.keys()):
        raise JudgeError(
            f"{protocol.key} has no need {unknown[0]!r}; it has {', '.join(roles) or 'none at all'}."
        )
    bound, raters = {}, []
    for role, need in roles.items():
        if not choices.get(role) and need.optional:
            continue
        if not choices.get(role):
            raise JudgeError(
                f"{protocol.key} reads the answers of another rater to {need.question}: "
                f"say whose, a judge's or a metric's, as the need {role}."
            )
        rater = (drafted(choices[role]) if drafts else None) or _rater(choices[role])
        question = _question(need, rater)
        version = question.version
        bound[role] = {
            "rater": rater.fingerprint,
            "question": f"{version.scheme.key}@{version.version}/{question.key}",
        }
        raters.append(rater)
    if roles and not bound:
        raise JudgeError(
            f"{protocol.key} reads the answers of other raters: name a judge for one of "
            f"{', '.join(roles)} at least."
        )
    return bound, list(dict.fromkeys(raters))


def machines() -> list[Rater]:
    """Return the raters that a need may be bound to: judges and metrics that run here."""
    raters = Rater.objects.filter(corpus=None, draft=None).exclude(fingerprint="")
    raters = raters.exclude(spec__has_key="draft")
    return list(raters.order_by("kind", "name"))


def drafted(name: str) -> Rater | None:
    """Return the rater of a draft, None if the name is no draft's."""
    rows = Rater.objects.filter(draft__isnull=False).select_related("draft__bench", "draft__kept_rater")
    bench, _, number = name.rpartition("/draft-")
    if number.isascii() and number.isdecimal() and len(number) < 10 and bench:
        return rows.filter(draft__bench__name=bench, draft__number=int(number)).first()
    return rows.filter(fingerprint=name).first()


def kept_need(name: str) -> str:
    """Return the rater that a kept judge reads in place of a draft: the judge that the draft was kept as.
    Raises JudgeError if it was not kept."""
    rater = drafted(name)
    if rater is None:
        return name
    draft = rater.draft
    if draft.kept_rater is None:
        raise JudgeError(
            f"It reads draft {draft.number} of the bench {draft.bench.name}: keep that one first."
        )
    return draft.kept_rater.fingerprint


def drafts_of(corpus: Corpus, protocol: Protocol) -> list[tuple[str, str]]:
    """Return the fingerprint and name of drafts on a corpus's benches that answer a protocol's needs."""
    rows = Draft.objects.filter(
        bench__corpus=corpus, of=None, search_text=None, discarded_at=None, kept="", targets__gt=0
    )
    drafts = rows.select_related("bench", "rater").order_by("bench", "number")
    needed_questions = {need.question for need in protocol.needs}
    return [
        (draft.rater.fingerprint, f"draft {draft.number} of {draft.bench.name}")
        for draft in drafts
        if needed_questions & asked_on(draft.bench)
    ]


def asked_on(bench: Bench) -> set[str]:
    """Return the questions that a bench's drafts answer, in the format of needs."""
    rows = Question.objects.filter(pk__in=bench.questions.values())
    return {f"{scheme}/{key}" for scheme, key in rows.values_list("version__scheme__key", "key")}


def answers_for_needs(
    protocol: Protocol, bound: Bound, material: Mapping[int, Material]
) -> dict[int, NeedAnswers]:
    """Return the bound raters' answers by continuation, in three queries per need."""
    by_continuation: dict[int, dict[str, Mapping[int | None, NeedAnswer]]] = {pk: {} for pk in material}
    for need, role, place in _read(protocol, bound):
        rater = Rater.objects.get(fingerprint=bound[need.role]["rater"])
        question = _at_version(place)
        kind, in_words = KINDS[question.about], question.level in ("nominal", "text")
        places = {
            pk: {turn: item for turn, item in entry.items.items() if (turn is not None) == kind.has_turn}
            for pk, entry in material.items()
        }
        answers, reasons = _answers(rater, question, [item for of in places.values() for item in of.values()])
        for pk, of in places.items():
            by_continuation[pk][role] = {
                turn: need.combine_samples(
                    answers[item],
                    kind.name(None if turn is None else turn + 1),
                    rater.name,
                    in_words=in_words,
                    why=reasons.get(item, ""),
                )
                for turn, item in sorted(of.items(), key=lambda pair: -1 if pair[0] is None else pair[0])
            }
    return dict(by_continuation)


def _read(protocol: Protocol, bound: Bound) -> Iterator[tuple[Need, str, str]]:
    """Yield each question read from the bound raters: its need, the key of its answers, and its reference."""
    for need in protocol.needs:
        if need.role in bound:
            scheme = bound[need.role]["question"].partition("/")[0]
            for role, key in need.read.items():
                yield need, role, f"{scheme}/{key}"


def _answers(
    rater: Rater, question: Question, items: Sequence[int]
) -> tuple[dict[int, list[Value | None]], dict[int, str]]:
    """Return the samples of a machine's answers by item, in order (None for a missing answer), and the reason
    of the last missing one."""
    rows = (
        live_labels()
        .filter(rater=rater, question=question, item__in=items, campaign=None)
        .order_by("sample", "pk")
        .values_list("item_id", "number", "text", "missing")
    )
    if (own := drafted(rater.fingerprint)) is not None:
        rows = _drafted_answers(own.draft, question, items)
    answers: dict[int, list[Value | None]] = defaultdict(list)
    reasons: dict[int, str] = {}
    for item, number, text, missing in rows:
        answers[item].append(number if text is None else text)
        if missing:
            reasons[item] = missing
    return answers, reasons


def _drafted_answers(draft: Draft, question: Question, items: Sequence[int]) -> Any:
    """Return the answers of a draft, or of the judge that it was kept as: item, number, text, missing."""
    if draft.kept_rater is None:
        rows = DraftAnswer.objects.filter(draft=draft, question=question, item__in=items)
    else:
        rows = live_labels().filter(  # type: ignore[assignment]
            rater=draft.kept_rater, question=question, item__in=items, campaign=None
        )
    return rows.order_by("sample", "pk").values_list("item_id", "number", "text", "missing")


def _rater(name: str) -> Rater:
    raters = machines()
    matching = [rater for rater in raters if name in (rater.name, rater.fingerprint)]
    if not matching:
        names = ", ".join(rater.name for rater in raters[:8])
        raise JudgeError(
            f"There is no judge or metric {name!r} to be read; there are: {names or 'none yet'}."
        )
    if len(matching) > 1:
        raise JudgeError(f"A judge and a metric are called {name!r}: give the fingerprint.")
    return matching[0]


def _question(need: Need, rater: Rater) -> Question:
    """Return the newest version of the question that a rater has answered."""
    scheme, _, key = need.question.partition("/")
    versions = Question.objects.select_related("version__scheme").filter(version__scheme__key=scheme, key=key)
    answered = Label.objects.filter(rater=rater, question__in=versions).values("question")
    if (own := drafted(rater.fingerprint)) is not None:
        answered = list(own.draft.bench.questions.values())  # type: ignore[assignment]
    question = versions.filter(pk__in=answered).order_by("-version__version").first()
    if question is None:
        raise JudgeError(f"{rater.name} has not answered {need.question}: run it first.")
    return question


def _at_version(ref: str) -> Question:
    place, _, key = ref.partition("/")
    scheme, _, version = place.rpartition("@")
    condition: dict[str, Any] = {"version__scheme__key": scheme, "version__version": int(version), "key": key}
    return Question.objects.select_related("version").get(**condition)
