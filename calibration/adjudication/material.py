"""What cases are picked from: the answers to a scheme version's questions, and what was noted about items."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from annotation.corpora import splits
from annotation.models import Campaign, Corpus, Occasion, Question, SchemeVersion
from calibration.adjudication.rules import Answered, Bools
from calibration.adjudication.settings import Settings
from calibration.errors import AdjudicationRefused
from calibration.models import ForAdjudication
from calibration.reading.census import QuestionInfo, census
from calibration.reading.ratings import Place, SubjectData, load, places
from calibration.reading.scope import Scope, scope_of
from calibration.reading.subjects import Subject


@dataclass(frozen=True)
class Asked:
    """A question with its answers. `items` are the ids of the rows' items; `digest` names all of it."""

    question: QuestionInfo
    data: SubjectData
    answered: Answered
    items: tuple[int, ...]
    digest: str


@dataclass(frozen=True)
class Material:
    """All that a draw reads: the questions, where their items are, and what is locked."""

    asked: tuple[Asked, ...]
    where: Mapping[int, Place]
    locked: frozenset[str]


def locked_clusters(corpus: Corpus) -> frozenset[str]:
    """Return the clusters of a test part that nobody has opened."""
    return frozenset(splits.unopened(corpus).values_list("cluster", flat=True))


def raters_scope(corpus: Corpus, campaign: Campaign | None) -> Scope:
    """Return the labels that raters gave, without what adjudicators decided."""
    scope = scope_of(corpus, campaign)
    occasions = tuple(name for name in scope.occasions if name != Occasion.ADJUDICATION)
    return replace(scope, occasions=occasions)


def read(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    version: SchemeVersion,
    settings: Settings,
    takes_locked: bool,
) -> Material:
    """Read what cases are picked from: without the locked part of the corpus, unless told otherwise.

    Raises AdjudicationRefused for a question or a judge that is not there.
    """
    scope = raters_scope(corpus, campaign)
    counted = census(scope)
    ref = f"{version.scheme.key}@{version.version}"
    known = {q.key: q for q in counted.questions.values() if q.scheme == ref and q.level != "text"}
    _must_be_known(settings, known, version)
    asked = [q for key, q in known.items() if not settings.questions or key in settings.questions]
    if settings.judge and settings.judge not in {
        info.name for q in asked for info in counted.raters_of(q.id) if info.kind == "judge"
    }:
        raise AdjudicationRefused(f"No judge {settings.judge!r} has answered these questions.")
    locked = locked_clusters(corpus)
    where = places(scope, {q.item_kind for q in asked} or {version.item_kind})
    if not takes_locked and locked:
        where = {pk: place for pk, place in where.items() if place.cluster not in locked}
    loaded = [(q, load(scope, Subject(q), counted, where)) for q in asked]
    found = tuple(_asked(scope, q, data, where, locked, settings) for q, data in loaded if data.records)
    return Material(found, where, locked)


def _must_be_known(settings: Settings, known: Mapping[str, QuestionInfo], version: SchemeVersion) -> None:
    named = [*settings.questions, *(settings.by_question or {})]
    if unknown := [key for key in named if key not in known]:
        own = ", ".join(known) or "none"
        raise AdjudicationRefused(
            f"No answers to a question {unknown[0]!r} of {version.name} are here; there are {own}."
        )


def _asked(
    scope: Scope,
    question: QuestionInfo,
    data: SubjectData,
    where: Mapping[int, Place],
    locked: frozenset[str],
    settings: Settings,
) -> Asked:
    ratings = data.ratings()
    ids = {place.key: pk for pk, place in where.items()}
    items = tuple(ids[key] for key in ratings.items)
    labels = scope.labels().filter(question=question.id)
    flagged = set(labels.filter(assignment__flagged=True).values_list("item", flat=True))
    commented = set(
        labels.filter(assignment__isnull=False).exclude(assignment__comment="").values_list("item", flat=True)
    )
    marked = set(
        ForAdjudication.objects.filter(
            question=question.id, withdrawn_at=None, settled_at=None, item__corpus=scope.corpus
        ).values_list("item", flat=True)
    )
    judge = ratings.raters.index(settings.judge) if settings.judge in ratings.raters else None

    def among(noted: set[int]) -> Bools:
        return np.array([pk in noted for pk in items], dtype=np.bool_)

    told = repr([data.digest, *(sorted(noted & set(items)) for noted in (flagged, commented, marked))])
    return Asked(
        question,
        data,
        Answered(
            ratings,
            judge,
            among(flagged),
            among(commented),
            among(marked),
            np.array([where[pk].cluster in locked for pk in items], dtype=np.bool_),
        ),
        items,
        hashlib.sha256(told.encode()).hexdigest(),
    )


def questions_with_answers(
    corpus: Corpus, campaign: Campaign | None, version: SchemeVersion | None = None
) -> list[QuestionInfo]:
    """Return the questions with values that were answered here; of a scheme version where it is named."""
    counted = census(raters_scope(corpus, campaign))
    found = [
        q for q in counted.questions.values() if q.level != "text" and not q.scheme.startswith("metric:")
    ]
    if version is None:
        return found
    own = set(Question.objects.filter(version=version).values_list("pk", flat=True))
    return [q for q in found if q.id in own]
