"""From a study's inputs to the result that its report keeps: plain JSON, nothing rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibration.definitions import Definition
from calibration.inputs import FORMAT, Inputs
from calibration.ratings_data import SubjectData
from calibration.statistics import RatingError, Ratings, analyse
from calibration.statistics.analysis import Analysis

Progress = Callable[[int, int], None]
POOLED = "all"


def result_of(inputs: Inputs, progress: Progress | None = None) -> dict[str, Any]:
    """Compute a report's result; `progress` is told (questions done, questions in all) as it goes."""
    todo = [*inputs.subjects, *pooled(inputs.subjects)]
    questions = []
    for number, data in enumerate(todo, 1):
        questions.append(_question(data, inputs.definition, is_pooled=number > len(inputs.subjects)))
        if progress:
            progress(number, len(todo))
    return {
        "format": FORMAT,
        "study": inputs.study.name,
        "corpus": inputs.scope.corpus.name,
        "campaign": inputs.scope.campaign.name if inputs.scope.campaign else None,
        "occasions": list(inputs.scope.occasions),
        "definition": inputs.definition.as_dict(),
        "part": inputs.part,
        "split": _split(inputs),
        "counts": _counts(inputs.subjects),
        "calls": list(inputs.calls),
        "questions": questions,
    }


def _split(inputs: Inputs) -> dict[str, Any] | None:
    split = inputs.split
    if split is None:
        return None
    return {"name": split.name, "seed": split.seed, "test_share": split.test_share}


def _counts(subjects: Sequence[SubjectData]) -> dict[str, int]:
    """Count what was read, each item, cluster and rater once."""
    records = [record for data in subjects for record in data.records]
    return {
        "labels": len(records),
        "missing": sum(record.value is None for record in records),
        "items": len({record.item for record in records}),
        "clusters": len({record.cluster for record in records}),
        "raters": len({(info.id) for data in subjects for info in data.raters}),
    }


def _question(data: SubjectData, definition: Definition, *, is_pooled: bool) -> dict[str, Any]:
    question = data.subject.question
    described: dict[str, Any] = {
        "ref": question.ref,
        "key": question.key,
        "title": question.title,
        "wording": question.wording,
        "scheme": question.scheme,
        "scheme_title": question.scheme_title,
        "item_kind": question.item_kind,
        "level": question.level,
        "values": question.values,
        "group": question.group,
        "pooled": is_pooled,
        "links": [{"question": link.question.ref, "map": link.map.as_dict()} for link in data.subject.links],
        "repeated": data.repeated,
    }
    try:
        ratings = data.ratings(definition.samples)
    except RatingError as error:
        return described | {"problem": str(error)} | _empty()
    found = analyse(ratings, question=question.title, statistics=definition.statistics, plan=definition.plan)
    return described | {"problem": ""} | _described(data, ratings) | _analysed(found)


def _empty() -> dict[str, Any]:
    nothing: dict[str, Any] = {"raters": [], "n_items": 0, "n_clusters": 0}
    return nothing | {"panel": [], "pairs": [], "replacement": [], "gaps": []}


def _analysed(found: Analysis) -> dict[str, Any]:
    return {
        "panel": [entry.as_dict() for entry in found.panel],
        "pairs": [entry.as_dict() for entry in found.pairs],
        "replacement": [entry.as_dict() for entry in found.replacement],
        "gaps": [entry.as_dict() for entry in found.gaps],
    }


def _described(data: SubjectData, ratings: Ratings) -> dict[str, Any]:
    """Describe the raters: how many items each answered, left out, and what each said on average."""
    missing: dict[str, int] = {}
    samples: dict[str, set[int]] = {}
    for record in data.records:
        samples.setdefault(record.rater, set()).add(record.sample)
        if record.value is None:
            missing[record.rater] = missing.get(record.rater, 0) + 1
    raters = [
        _rater(ratings, column) | {"missing": missing.get(name, 0), "samples": len(samples.get(name, {0}))}
        for column, name in enumerate(ratings.raters)
    ]
    return {"raters": raters, "n_items": ratings.n_items, "n_clusters": ratings.n_clusters}


def _rater(ratings: Ratings, column: int) -> dict[str, Any]:
    values = ratings.values[:, column]
    given = values[~np.isnan(values)]
    return {
        "name": ratings.raters[column],
        "kind": ratings.kinds[column],
        "identified": ratings.identified[column],
        "on_scale": ratings.on_scale[column],
        "n": int(given.size),
        "mean": _mean(ratings, given),
    }


def _mean(ratings: Ratings, given: np.ndarray[Any, Any]) -> float | None:
    """Mean of the values; for a binary question the share of the positive class; none for categories."""
    if not given.size or ratings.level == "nominal":
        return None
    if ratings.level == "binary":
        return float((given == ratings.positive).mean()) if ratings.positive is not None else None
    return float(given.mean())


def pooled(subjects: Sequence[SubjectData]) -> list[SubjectData]:
    """Return, per scheme, all its grouped binary questions read as one: an item is then a turn's question.

    This is the overall agreement of a set of tags: rated items of all questions, one below the other, per
    rater. Questions that stand alone in their group, and raters on other scales, stay out.
    """
    sets: dict[str, list[SubjectData]] = {}
    groups: dict[tuple[str, str], int] = {}
    tagged = [d for d in subjects if d.subject.question.level == "binary" and d.subject.question.group]
    for data in tagged:
        place = data.subject.question.scheme, data.subject.question.group
        groups[place] = groups.get(place, 0) + 1
    for data in tagged:
        question = data.subject.question
        if groups[question.scheme, question.group] > 1:
            sets.setdefault(question.scheme, []).append(data)
    return [_pool(members) for members in sets.values()]


def _pool(members: Sequence[SubjectData]) -> SubjectData:
    first = members[0]
    question = replace(
        first.subject.question,
        key=POOLED,
        ref=f"{first.subject.question.scheme}/{POOLED}",
        wording=f"All {len(members)} together",
        group="",
    )
    records = tuple(
        replace(record, item=f"{record.item}/{data.subject.question.key}")
        for data in members
        for record in data.records
        if record.rater not in data.off_scale and record.kind != "metric"
    )
    raters = {info.name: info for data in members for info in data.raters if info.name not in data.off_scale}
    subject = replace(first.subject, question=question, links=())
    return SubjectData(subject, records, tuple(raters.values()), frozenset(), 0, "")
