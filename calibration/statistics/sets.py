"""Agreement on sets of tags: Krippendorff's alpha with the MASI distance.

A set is the answer to a group of yes/no questions: the tags that a rater answered with yes. Source:
Passonneau (2006), Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation. The
distance of two sets is 1 - J M, with J their Jaccard index and M 1 for equal sets, 2/3 where one holds the
other, 1/3 where they overlap otherwise, 0 where they share nothing. Two empty sets are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import krippendorff
import numpy as np
from scipy import sparse

from calibration.statistics.core.engine import (
    InReports,
    Result,
    Statistic,
    Verdict,
    constant_flag,
    estimates,
    no_variation,
    prevalence,
    result_of,
)
from calibration.statistics.core.ratings import Floats, Ints, Ratings, codes
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import BLOCK, Additive, Draw, Sample, additive

SUBSET, OVERLAP = 2 / 3, 1 / 3
"""MASI's factors on Jaccard: where one set holds the other, and where they only overlap."""
MOST_SETS = 3_000
"""Most distinct sets: their distances are kept as a table."""
LIBRARY_CELLS = 5_000_000


def masi_distances(sets: Sequence[Set[Hashable]]) -> Floats:
    """Return the distances of every pair of these sets, from 0 (equal) to 1 (nothing shared)."""
    elements = {element: at for at, element in enumerate({element: None for s in sets for element in s})}
    members = np.zeros((len(sets), len(elements)))
    for row, elements_of_set in enumerate(sets):
        members[row, [elements[element] for element in elements_of_set]] = 1.0
    shared = members @ members.T
    sizes = members.sum(axis=1)
    union = sizes[:, None] + sizes[None, :] - shared
    within = (shared == sizes[:, None]) | (shared == sizes[None, :])
    equal = (shared == sizes[:, None]) & (shared == sizes[None, :])
    weight = np.where(within, SUBSET, OVERLAP)
    return np.asarray(np.where(equal, 0.0, 1.0 - weight * shared / np.where(equal, 1.0, union)))


def alpha_of_sets(observed: Floats, used: Floats, distances: Floats) -> Floats:
    """Return alpha per row of totals: the disagreement within items, and how often each set was given.

    1 - (n - 1) sum(o d) / sum(n_c n_k d), over the coincidences o of the sets and their margins n_c, which
    add up to n; NaN where all sets are equal.
    """
    expected = ((used @ distances) * used).sum(axis=1)
    defined = expected > 1e-9
    return np.where(defined, 1 - (used.sum(axis=1) - 1) * observed / np.where(defined, expected, 1.0), np.nan)


# Sets as the answers to one question: every distinct set is a value of a nominal scale.


def set_ratings(tags: Mapping[str, Ratings]) -> Ratings:
    """Join the ratings of the binary questions of a group, by tag, into ratings by sets.

    The set of a rater is missing where one of the tags has no answer. The items and the raters are those of
    every tag; repeated answers count by their first.
    """
    answered = {tag: ratings.as_answered() for tag, ratings in tags.items()}
    first, *others = answered.values()
    places = [{item: row for row, item in enumerate(ratings.items)} for ratings in others]
    rows = [row for row, item in enumerate(first.items) if all(item in place for place in places)]
    items = [first.items[row] for row in rows]
    raters = [name for name in first.raters if all(_answers(name, ratings) for ratings in answered.values())]
    marks = np.empty((len(items), len(raters), len(answered)))
    for at, (ratings, place) in enumerate(
        zip(answered.values(), [dict(zip(items, rows, strict=True)), *places], strict=True)
    ):
        cells = np.ix_([place[item] for item in items], [ratings.raters.index(name) for name in raters])
        values = ratings.values[cells]
        marks[:, :, at] = np.where(np.isnan(values), np.nan, values == ratings.positive)
    values, sets = _numbered(marks, tuple(answered))
    joined = first.take([first.raters.index(name) for name in raters])
    return replace(
        joined,
        values=values,
        level="nominal",
        items=tuple(items),
        clusters=codes(first.clusters[rows]),
        systems=None if first.systems is None else codes(first.systems[rows]),
        system_names=(),
        continuations=None if first.continuations is None else codes(first.continuations[rows]),
        scale=tuple(float(number) for number in range(len(sets))),
        names=tuple(f"{{{', '.join(tag for tag in tags if tag in members)}}}" for members in sets),
        positive=None,
        declared=False,
        problem=next((ratings.problem for ratings in answered.values() if ratings.problem), ""),
        sets=sets,
        weights=first.weights_of(rows),
    )


def _answers(name: str, ratings: Ratings) -> bool:
    return name in ratings.raters and ratings.on_scale[ratings.raters.index(name)]


def _numbered(marks: Floats, tags: tuple[str, ...]) -> tuple[Floats, tuple[frozenset[str], ...]]:
    """Return the number of each cell's set, NaN where a tag has no answer, and the distinct sets."""
    cells = marks.reshape(-1, len(tags))
    complete = ~np.isnan(cells).any(axis=1)
    distinct, numbers = np.unique(cells[complete], axis=0, return_inverse=True)
    values = np.full(len(cells), np.nan)
    values[complete] = numbers.ravel()
    sets = tuple(frozenset(tag for tag, mark in zip(tags, row, strict=True) if mark) for row in distinct)
    return values.reshape(marks.shape[:2]), sets


def krippendorff_alpha_masi(draw: Draw) -> Floats:
    """Alpha over sets; NaN where fewer than two different sets are left."""
    totals = draw.sample.once(_sums).totals(draw.weights)
    return alpha_of_sets(totals[:, 0], totals[:, 1:], draw.sample.once(_distances))


def _occurring(sample: Sample) -> Ints:
    return np.unique(sample.values[~np.isnan(sample.values)]).astype(np.int64)


def _distances(sample: Sample) -> Floats:
    """Return the distances between the sets that occur."""
    sets = sample.ratings.sets or ()
    return masi_distances([sets[number] for number in sample.once(_occurring)])


def _sums(sample: Sample) -> Additive:
    """Sum per unit: disagreement within items, weighted by 1 / (ratings - 1), and each set's ratings."""
    counts, distances = _counts(sample), sample.once(_distances)
    divisor = sample.per_item[sample.used].astype(np.float64) - 1
    observed = np.empty(sample.n_items)
    step = max(1, BLOCK // max(1, counts.shape[1]))
    for start in range(0, sample.n_items, step):
        block = counts[start : start + step]
        observed[start : start + step] = block.multiply(block @ distances).sum(axis=1)
    units, n_units = sample.units, sample.resampling.n_units
    membership = sparse.csr_array(
        (sample.weighted(np.ones((sample.n_items, 1))).ravel(), (units, np.arange(sample.n_items))),
        shape=(n_units, sample.n_items),
    )
    disagreement = additive(units, n_units, sample.weighted((observed / divisor)[:, None])).sums
    sums = np.hstack([disagreement, (membership @ counts).toarray()])
    return Additive(sums, np.arange(sums.shape[1]), (sums.shape[1],))


def _counts(sample: Sample) -> sparse.csr_array:
    """Count the ratings per item and set that occurs."""
    occurring = sample.once(_occurring)
    rows, columns = np.nonzero(~np.isnan(sample.values))
    places = np.searchsorted(occurring, sample.values[rows, columns])
    shape = (sample.n_items, len(occurring))
    return sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=shape)


def too_many_sets(sample: Sample) -> Verdict | None:
    """Reject more distinct sets than their table of distances holds."""
    n = len(sample.once(_occurring))
    return Verdict("rejected", f"{n:,} different sets: at most {MOST_SETS:,}") if n > MOST_SETS else None


def library_alpha(sample: Sample) -> float | None:
    """Return alpha by the library krippendorff; None where its table of items x sets x sets is large."""
    counts, distances = _counts(sample), sample.once(_distances)
    if sample.n_items * len(distances) ** 2 > LIBRARY_CELLS:
        return None

    def distance(v1: Any, v2: Any, i1: Any, i2: Any, n_v: Any, dtype: Any = np.float64) -> Any:
        return distances[i1, i2]

    domain = np.arange(len(distances))
    return float(
        krippendorff.alpha(value_counts=counts.toarray(), value_domain=domain, level_of_measurement=distance)
    )


ALPHA_MASI = Statistic(
    key="krippendorff_alpha_masi",
    title="Krippendorff's alpha over sets (MASI)",
    compute=krippendorff_alpha_masi,
    levels=frozenset({"nominal"}),
    raters="panel",
    exchangeable=True,
    of_sets=True,
    checks=(too_many_sets, no_variation, constant_flag, prevalence),
    source="Krippendorff (2011), Passonneau (2006)",
    library=library_alpha,
    in_reports=InReports("Krippendorff’s alpha over sets", "α, MASI", "α"),
)


def set_agreement(tags: Mapping[str, Ratings], plan: Plan | None = None) -> Result:
    """Return alpha over the sets of all raters, from the ratings of each tag of a group."""
    plan = plan or Plan()
    ratings = set_ratings(tags)
    resampling = resampling_of(ratings, plan)
    sample = Sample(ratings, range(len(ratings.raters)), resampling)
    return result_of(estimates(sample, [ALPHA_MASI], resampling)[0], sample, plan)
