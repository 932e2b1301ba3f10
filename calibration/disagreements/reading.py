"""One question of a study as its report reads it, on the labels of now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.errors import DefinitionError
from calibration.models import Study
from calibration.reading.census import census
from calibration.reading.definitions import parse
from calibration.reading.ratings import SubjectData, load, places
from calibration.reading.scope import Scope, of_study
from calibration.reading.subjects import Subject, subjects_of
from calibration.statistics import Ratings
from calibration.studies.computing import POOLED, pooled
from calibration.studies.inputs import clusters_of, split_of


@dataclass(frozen=True)
class RatedQuestion:
    """A question's ratings, which stored item each row is, and the stored questions that were read.

    Of a pooled set of tags a row is one item's one tag: `tags` gives the tag's key, empty otherwise.
    """

    data: SubjectData
    ratings: Ratings
    scope: Scope
    items: tuple[int, ...]
    tags: tuple[str, ...]
    questions: tuple[int, ...]


def asked(study: Study, part: str, ref: str) -> RatedQuestion:
    """Read a question of a study (or a pooled set, `scheme@version/all`) on a part of its split.

    Raises DefinitionError where the study asks no such question, RatingError for an answer off its scale.
    """
    scope, definition = of_study(study), parse(study.definition)
    counted = census(scope)
    chosen = _chosen(subjects_of(definition, counted), ref)
    where = places(scope, {s.question.item_kind for s in chosen}, clusters_of(split_of(study), part))
    only = frozenset(definition.raters)
    loaded = [load(scope, subject, counted, where, only) for subject in chosen]
    is_pooled = chosen[0].question.ref != ref
    data = next((one for one in (pooled(loaded) if is_pooled else loaded)), None)
    if data is None:
        raise DefinitionError(f"the study asks no question {ref!r}")
    ratings = data.ratings(definition.samples)
    ids = {place.key: pk for pk, place in where.items()}
    split = [key.rpartition("/") if is_pooled else (key, "", "") for key in ratings.items]
    return RatedQuestion(
        data,
        ratings,
        scope,
        tuple(ids[key] for key, _, _ in split),
        tuple(tag for _, _, tag in split),
        tuple(pk for subject in chosen for pk in subject.question_ids),
    )


def _chosen(subjects: Sequence[Subject], ref: str) -> list[Subject]:
    """Return the question asked for, or the tags of the pooled set asked for."""
    named = [subject for subject in subjects if subject.question.ref == ref]
    tags = [
        subject
        for subject in subjects
        if f"{subject.question.scheme}/{POOLED}" == ref
        and subject.question.level == "binary"
        and subject.question.group
    ]
    if not named and not tags:
        raise DefinitionError(f"the study asks no question {ref!r}")
    return named or tags
