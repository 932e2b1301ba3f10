"""How far what judges and metrics left unanswered could move a report's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import BoundsRow, Figure
from calibration.statistics import RatingError, Ratings
from calibration.statistics.core.types import as_number
from calibration.statistics.unanswered.figures import Ends, bounds_of

KINDS = ("judge", "metric")
Places = dict[str, set[str]]
"""Items by rater; where each sample is a rater, it is called `name#sample`."""


def bounds(subjects: Sequence[SubjectData], definition: Definition) -> tuple[BoundsRow, ...]:
    """Return a row per question and judge or metric that left something unanswered; none where nobody did.

    Questions that cannot be read as ratings are left out; their question says why.
    """
    return tuple(row for data in subjects for row in _of(data, definition))


def _of(data: SubjectData, definition: Definition) -> list[BoundsRow]:
    records = (*data.records, *data.unanswered)
    if not any(record.value is None and record.kind in KINDS for record in records):
        return []
    try:
        ratings = replace(data, records=records).ratings(definition.samples)
    except RatingError:
        return []
    asked, missing, failed = (_places(data, which) for which in ("asked", "missing", "failed"))
    found = []
    for column, name in enumerate(ratings.raters):
        if ratings.kinds[column] in KINDS:
            row = _row(data, ratings, column, definition, asked.get(name, set()))
            if row is not None:
                items = {i for i, v in zip(ratings.items, ratings.values[:, column], strict=True) if v == v}
                n_failed = len(failed.get(name, set()) - items)
                found.append(replace(row, n_failed=n_failed, n_partial=len(missing.get(name, set()) & items)))
    return found


def _places(data: SubjectData, which: str) -> Places:
    """Return the items that raters were asked about, left without an answer, or failed to answer."""
    records = data.unanswered if which == "failed" else (*data.records, *data.unanswered)
    found: Places = {}
    for record in records:
        if record.kind in KINDS and (which != "missing" or record.value is None):
            for name in (record.rater, f"{record.rater}#{record.sample}"):
                found.setdefault(name, set()).add(record.item)
    return found


def _row(
    data: SubjectData, ratings: Ratings, column: int, definition: Definition, asked: set[str]
) -> BoundsRow | None:
    name, question = ratings.raters[column], data.subject.question
    mask = np.array([item in asked for item in ratings.items])
    found = bounds_of(ratings, column, mask, statistics=definition.statistics, ends=_ends(data, name))
    if found is None or not found.figures:
        return None
    people = [ratings.raters[j] for j in ratings.of_kind("human")]
    figures = tuple(
        Figure.of(result, raters=(name, *people), question=question.title) for result in found.figures
    )
    return BoundsRow(
        question.ref,
        question.title,
        name,
        ratings.kinds[column],
        found.n_asked,
        found.n_unanswered,
        0,
        0,
        figures,
        found.unbounded,
    )


def _ends(data: SubjectData, name: str) -> Ends | None:
    """Return the lowest and highest value that a rater could give; None where its scale declares none."""
    rater = name if name in {info.name for info in data.raters} else name.rpartition("#")[0]
    if rater in data.off_scale:
        return data.ends.get(rater)
    numbers = [number for value in data.subject.question.values if (number := as_number(value)) is not None]
    if len(numbers) < 2 or len(numbers) < len(data.subject.question.values):
        return None
    return min(numbers), max(numbers)
