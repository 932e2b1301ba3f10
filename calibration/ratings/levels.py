"""Ratings at turn, dialogue and system level: each question's answers, and the units that items belong to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from annotation.models import Continuation, Corpus, Item, Rater
from annotation.text.references import item_key
from calibration.errors import DefinitionError
from calibration.ratings.definitions import Definition, Levels, ScaleMap
from calibration.ratings.ratings import Subject, SubjectData, known_links, load, places
from calibration.ratings.scope import Census, Scope
from calibration.statistics.analysis import MEAN_OF_PEOPLE

# Continuations with their dialogue and system.

CONDITION_KEYS = """
SELECT DISTINCT jsonb_object_keys(condition) FROM annotation_continuation c
  JOIN annotation_dialogue d ON d.id = c.dialogue_id WHERE d.corpus_id = %s ORDER BY 1
"""
CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class Produced:
    """A continuation: its ids, and its system (with the conditions that identify one).

    `key` is the key of its dialogue item. `static`: each turn answers the fixed history; otherwise it is a
    rollout, as are a dialogue's own turns.
    """

    pk: int
    key: str
    dialogue: str
    continuation: str
    cluster: str
    system: str
    static: bool


def condition_keys(corpus: Corpus) -> list[str]:
    """Return all condition keys used in a corpus."""
    with connection.cursor() as cursor:
        cursor.execute(CONDITION_KEYS, [corpus.pk])
        return [row[0] for row in cursor.fetchall()]


def check_conditions(corpus: Corpus, conditions: Sequence[str]) -> None:
    """Raise DefinitionError for condition keys that no continuation has."""
    if not conditions:
        return
    existing = condition_keys(corpus)
    if unknown := [key for key in conditions if key not in existing]:
        raise DefinitionError(
            f"no continuation has the condition {unknown[0]!r}; there are {', '.join(existing) or 'none'}"
        )


def produced(corpus: Corpus, keys: Collection[str], conditions: Sequence[str] = ()) -> dict[str, Produced]:
    """Return the continuations for dialogue items' keys, in one query."""
    rows = (
        Continuation.objects.filter(dialogue__corpus=corpus)
        .order_by("dialogue_id", "pk")
        .values_list("pk", "dialogue__key", "key", "dialogue__cluster", "system__name", "mode", "condition")
    )
    continuations = {}
    for pk, dialogue, name, cluster, system, mode, condition in rows.iterator(chunk_size=CHUNK):
        key = item_key(dialogue, name, None)
        if key in keys:
            called = system_name(system, condition, conditions)
            static = mode == Continuation.Mode.STATIC
            continuations[key] = Produced(pk, key, dialogue, name, cluster, called, static)
    return continuations


def system_name(system: str, condition: dict[str, Any], conditions: Sequence[str]) -> str:
    """Return `model-x`, or with conditions `model-x (prompting vanilla, turns_per_call 5)`."""
    if not conditions:
        return system
    conditions_text = ", ".join(
        f"{key} {_plain(condition[key]) if key in condition else 'not stated'}" for key in conditions
    )
    return f"{system} ({conditions_text})"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


# Input of a study at levels: each question's own answers, and those about the other kind of item.

SPEC = ("model", "protocol")
"""Keys of a judge's spec by which rows may be headed or grouped."""


@dataclass(frozen=True, slots=True)
class Source:
    """Answers about one kind of item that count for a question through a map."""

    data: SubjectData
    map: ScaleMap

    @property
    def kind(self) -> str:
        """Kind of the items: turn or dialogue."""
        return self.data.subject.question.item_kind


@dataclass(frozen=True, slots=True)
class LevelQuestion:
    """A question of a study at levels; its own answers are the first source."""

    subject: Subject
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class LevelInputs:
    """Input for all tables of a study at levels.

    `continuations` are keyed by their dialogue item's key; `turns` holds the positions of their ratable
    turns. `attributes` holds the SPEC keys of each rater's spec, by rater id. `digest` is the SHA-256 of the
    answers and the units they belong to.
    """

    asked: Levels
    questions: tuple[LevelQuestion, ...]
    continuations: Mapping[str, Produced]
    turns: Mapping[str, tuple[int, ...]]
    attributes: Mapping[int, Mapping[str, str]]
    digest: str

    @property
    def across(self) -> list[SubjectData]:
        """Answers read in addition to the questions' own."""
        return [source.data for question in self.questions for source in question.sources[1:]]


def read(
    scope: Scope,
    definition: Definition,
    counted: Census,
    loaded: Sequence[SubjectData],
    clusters: frozenset[str] | None,
) -> LevelInputs | None:
    """Read the input that a definition's levels need besides the questions' own answers; None without levels.

    Raises DefinitionError for an unknown condition or reference.
    """
    if definition.levels is None:
        return None
    check(scope, definition, counted)
    only = frozenset(definition.raters)
    questions = tuple(_question(scope, data, counted, clusters, only) for data in loaded)
    sources = [source for question in questions for source in question.sources]
    keys = {record.continuation for source in sources for record in source.data.records}
    continuations = produced(scope.corpus, keys, definition.levels.by)
    turns = turns_of(continuations)
    ids = {info.id for source in sources for info in source.data.raters}
    return LevelInputs(
        definition.levels,
        questions,
        continuations,
        turns,
        _attributes(ids),
        _digest(sources, continuations, turns),
    )


def check(scope: Scope, definition: Definition, counted: Census) -> None:
    """Raise DefinitionError for a reference without labels, or for unknown conditions."""
    levels = definition.levels
    if levels is None:
        return
    check_conditions(scope.corpus, levels.by)
    names = sorted(rater.name for rater in counted.raters.values())
    if levels.reference not in (MEAN_OF_PEOPLE, *names):
        raise DefinitionError(
            f"reference: no rater {levels.reference!r} has labels here; write {MEAN_OF_PEOPLE}, or one of "
            f"{', '.join(names)}"
        )


def turns_of(continuations: Mapping[str, Produced]) -> dict[str, tuple[int, ...]]:
    """Return the positions of the ratable turns of continuations, in one query."""
    keys = {continuation_info.pk: key for key, continuation_info in continuations.items()}
    rows = (
        Item.objects.filter(kind="turn", continuation__in=list(keys))
        .order_by("continuation_id", "turn__position")
        .values_list("continuation_id", "turn__position")
    )
    positions_of: dict[str, list[int]] = {key: [] for key in continuations}
    for continuation, position in rows.iterator(chunk_size=CHUNK):
        positions_of[keys[continuation]].append(position)
    return {key: tuple(positions) for key, positions in positions_of.items()}


def _question(
    scope: Scope,
    data: SubjectData,
    counted: Census,
    clusters: frozenset[str] | None,
    only: frozenset[str],
) -> LevelQuestion:
    """Read the answers to questions about the other kind of item; metrics join the first of these."""
    subject = data.subject
    where = places(scope, {link.question.item_kind for link in subject.across}, clusters)
    sources = [Source(data, ScaleMap())]
    used = {link.question.id for link in subject.across}
    for link in subject.across:
        further = [other for other in known_links(link.question, counted) if other.question.id not in used]
        used |= {other.question.id for other in further}
        linked_subject = Subject(link.question, tuple(further))
        sources.append(Source(load(scope, linked_subject, counted, where, only), link.map))
    return LevelQuestion(subject, tuple(sources))


def _attributes(ids: Collection[int]) -> dict[int, dict[str, str]]:
    rows = Rater.objects.filter(pk__in=ids).values_list("pk", "spec")
    return {pk: {key: str(spec[key]) for key in SPEC if spec.get(key)} for pk, spec in rows}


def _digest(
    sources: Sequence[Source], continuations: Mapping[str, Produced], turns: Mapping[str, tuple[int, ...]]
) -> str:
    belong = sorted(
        f"{key}\t{continuation.cluster}\t{continuation.system}\t{continuation.static}\t{turns[key]}"
        for key, continuation in continuations.items()
    )
    return hashlib.sha256("\n".join([*(s.data.digest for s in sources), *belong]).encode()).hexdigest()
