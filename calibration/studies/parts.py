"""The part of a split that a study is computed on, and its tags, alone and pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from annotation.corpora import splits
from annotation.models import Split
from calibration.errors import DefinitionError
from calibration.models import Study
from calibration.ratings.designs import Design
from calibration.ratings.ratings import (
    SubjectData,
)
from calibration.ratings.scope import QuestionInfo, of_study
from calibration.statistics import Record

PARTS = ("dev", "test", "all")
"""The parts that a study is computed on: all of a corpus without a split."""


def split_of(study: Study) -> Split | None:
    """Return the split of a study: the named one, else its corpus's first; None if there is none.

    A study of training dialogues has no split. Raises DefinitionError if the named split does not exist.
    """
    corpus_splits = splits.splits_of(study.corpus).select_related("corpus")
    name = study.definition.get("split")
    if of_study(study).training:
        if not study.corpus.has_training:
            raise DefinitionError(f"no dialogue of {study.corpus.name} is in training")
        return None
    if not name:
        return corpus_splits.first()
    split = corpus_splits.filter(name=name).first()
    if split is None:
        raise DefinitionError(f"the corpus has no split {name!r}")
    return split


def clusters_of(split: Split | None, part: str) -> frozenset[str] | None:
    """Return the clusters of a part of a split; None if all are read."""
    if split is None or part == "all":
        return None
    return splits.clusters(split=split, part=part)


# Tags: binary questions of one scheme, alone and pooled.

POOLED, ALL_TAGS = "all", "All tags, pooled"
T = TypeVar("T")


def tag_sets(subjects: Sequence[SubjectData]) -> list[list[SubjectData]]:
    """Return, per scheme, its binary questions that share a group with others."""
    return in_sets(subjects, lambda data: data.subject.question)


def in_sets(members: Sequence[T], question: Callable[[T], QuestionInfo]) -> list[list[T]]:
    """Return, per scheme, the members whose question is a tag: binary, and in a group with others."""
    sets: dict[str, list[T]] = {}
    groups: dict[tuple[str, str], int] = {}
    tagged = [m for m in members if question(m).level == "binary" and question(m).group]
    for member in tagged:
        place = question(member).scheme, question(member).group
        groups[place] = groups.get(place, 0) + 1
    for member in tagged:
        tag_question = question(member)
        if groups[tag_question.scheme, tag_question.group] > 1:
            sets.setdefault(tag_question.scheme, []).append(member)
    return list(sets.values())


def pooled(subjects: Sequence[SubjectData]) -> list[SubjectData]:
    """Return, per scheme, its tags pooled into one question; an item is then a pair of turn and question.

    This gives the overall agreement of a set of tags: the items of all questions are stacked per rater.
    Questions alone in their group, and raters on other scales, are left out.
    """
    return [_pool(members) for members in tag_sets(subjects)]


def _pool(members: Sequence[SubjectData]) -> SubjectData:
    first = members[0]
    question = replace(
        first.subject.question,
        key=POOLED,
        ref=f"{first.subject.question.scheme}/{POOLED}",
        title=ALL_TAGS,
        wording=ALL_TAGS,
        group="",
    )
    records, unanswered = _renamed(members, "records"), _renamed(members, "unanswered")
    raters = {info.name: info for data in members for info in data.raters if info.name not in data.off_scale}
    subject = replace(first.subject, question=question, links=())
    return SubjectData(
        subject,
        records,
        tuple(raters.values()),
        frozenset(),
        0,
        "",
        unanswered=unanswered,
        design=_pooled_design(members),
    )


def _pooled_design(members: Sequence[SubjectData]) -> Design:
    """Return the design of the first question, with the weights of all under the keys of `_renamed`."""
    weights = {
        f"{item}/{data.subject.question.key}": weight
        for data in members
        for item, weight in data.design.weights.items()
    }
    problem = next((data.design.problem for data in members if data.design.problem), "")
    return replace(members[0].design, weights={} if problem else weights, problem=problem, probabilities={})


def _renamed(members: Sequence[SubjectData], which: str) -> tuple[Record, ...]:
    """Return the records of all questions, with the question's key appended to each item."""
    return tuple(
        replace(record, item=f"{record.item}/{data.subject.question.key}")
        for data in members
        for record in getattr(data, which)
        if record.rater not in data.off_scale and record.kind != "metric"
    )
