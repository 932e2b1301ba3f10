"""The figures that a study can be planned for: each as a function of how often a pilot's dialogues are drawn.

They are those of a report: people with each other, a judge with people (one table of all pairs, or the only
person), a judge or metric with the people's mean, and the gap of a judge. Only dialogues that a figure rests
on are counted: one that a single rater rated adds nothing to agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import MEAN_OF_PEOPLE, PEOPLE, mean_of
from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings, codes
from calibration.statistics.core.features import Draw
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.samples import MAX_TABLE, Sample
from calibration.statistics.core.types import Floats
from calibration.statistics.pooled import POOLED, Beside, evaluated
from calibration.statistics.pooled import People as Pooled
from calibration.statistics.table import STATISTICS

GAP = "gap_"
Compute = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Planned:
    """A figure of a pilot. ``compute`` returns its value per row of weights (rows x dialogues).

    ``raters`` are those that it compares, ``value`` is what it is on the pilot (NaN where undefined, and
    ``reason`` then says why), ``by_item`` the same with every item its own cluster.
    """

    statistic: str
    raters: tuple[str, ...]
    value: float
    n_clusters: int
    n_items: int
    compute: Compute
    by_item: Compute
    reason: str = ""


def planned(ratings: Ratings, statistic: str, judge: str = "") -> Planned:
    """Return a figure of ratings: people with each other, or a judge (or metric) with people.

    ``statistic`` is a key of the table of statistics, or ``gap_`` and the key for a judge's gap. ValueError,
    in one line, where it does not apply to these raters.
    """
    key = statistic.removeprefix(GAP)
    if key not in STATISTICS:
        raise ValueError(f"no statistic {statistic!r} to plan for; there are {', '.join(STATISTICS)}")
    if ratings.problem:
        raise ValueError(ratings.problem)
    if STATISTICS[key].needs_scale:
        ratings = ratings.as_answered()
    people = people_of(ratings)
    if not judge:
        if statistic != key:
            raise ValueError("a gap is that of a judge: name the judge")
        return _among(ratings, STATISTICS[key], people)
    if judge not in ratings.raters:
        raise ValueError(f"no rater {judge!r} here; there are {', '.join(ratings.raters)}")
    column = ratings.column(judge)
    if column in people:
        raise ValueError(f"{judge} is one of the people: plan for people together, or name a judge or metric")
    return _with_people(ratings, STATISTICS[key], column, people, is_gap=statistic != key)


def people_of(ratings: Ratings) -> tuple[int, ...]:
    """Return the columns of the people; of all raters where no kinds are known."""
    return ratings.of_kind(PEOPLE) or (() if any(ratings.kinds) else tuple(range(len(ratings.raters))))


def _among(ratings: Ratings, statistic: Statistic, people: Sequence[int]) -> Planned:
    if len(people) < 2:
        raise ValueError(f"agreement of people needs two of them; there {_are(len(people))} here")
    known = [column for column in people if ratings.identified[column]]
    if statistic.raters == "panel" or (statistic.key == "percent_agreement" and len(people) != 2):
        if len(known) < len(people) and not statistic.exchangeable:
            raise ValueError(f"{statistic.title} needs to know who is who, and some people are unidentified")
        return _of_columns(ratings, statistic, people)
    if len(known) < 2:
        raise ValueError(
            f"{statistic.title} compares two identified people: plan for krippendorff_alpha instead"
        )
    if len(known) == 2:
        return _of_columns(ratings, statistic, known)
    return _pooled(ratings, statistic, known, None, is_gap=False)


def _are(count: int) -> str:
    return "is none" if not count else f"{'is' if count == 1 else 'are'} {count}"


def _with_people(
    ratings: Ratings, statistic: Statistic, judge: int, people: Sequence[int], *, is_gap: bool
) -> Planned:
    if statistic.raters == "panel":
        raise ValueError(f"{statistic.title} is that of people together: choose people, not a judge")
    known = [column for column in people if ratings.identified[column]]
    if is_gap or (ratings.on_scale[judge] and len(known) > 1 and statistic.key in POOLED):
        if len(known) < 2:
            raise ValueError("the gap of a judge needs two identified people")
        return _pooled(ratings, statistic, known, judge, is_gap=is_gap)
    if len(people) == 1:
        return _of_columns(ratings, statistic, (people[0], judge))
    if not people:
        raise ValueError("nobody is there to compare with: people are needed")
    if ratings.level == "nominal":
        raise ValueError(f"{statistic.title} with people’s mean needs an order, and these are categories")
    with_mean = ratings.with_column(MEAN_OF_PEOPLE, mean_of(ratings.values[:, list(people)]))
    return _of_columns(with_mean, statistic, (len(with_mean.raters) - 1, judge))


def _of_columns(ratings: Ratings, statistic: Statistic, columns: Sequence[int]) -> Planned:
    """Return a statistic of the table over some raters."""
    given = ~np.isnan(ratings.values[:, list(columns)])
    cut = _cut(ratings, given.sum(axis=1) >= 2)
    sample = _sample(cut, columns, by_item=False)
    if not statistic.applies(sample):
        raise ValueError(f"{statistic.title} does not apply to these raters and their scale")
    verdict = statistic.verdict(sample)
    names = tuple(ratings.raters[column] for column in columns)
    loose = _sample(cut, columns, by_item=True)
    return _figure(
        statistic.key,
        names,
        cut,
        lambda weights: statistic.compute(Draw(sample, weights)),
        lambda weights: statistic.compute(Draw(loose, weights)),
        "" if verdict.status == "ok" else verdict.reason,
    )


def _sample(ratings: Ratings, columns: Sequence[int], *, by_item: bool) -> Sample:
    return Sample(ratings, columns, _units(ratings, by_item=by_item))


def _units(ratings: Ratings, *, by_item: bool) -> Resampling:
    return resampling_of(ratings, Plan(scheme="items" if by_item else "clusters"))


def _pooled(
    ratings: Ratings, statistic: Statistic, people: Sequence[int], judge: int | None, *, is_gap: bool
) -> Planned:
    """Return a figure of one table of all pairs: of people, of a judge with them, or the gap of both."""
    columns = [*people, *([] if judge is None else [judge])]
    on_scale = all(ratings.on_scale[column] for column in columns)
    if statistic.key not in POOLED or ratings.scale is None or len(ratings.scale) ** 2 > MAX_TABLE:
        raise ValueError(
            f"{statistic.title} has no figure of one table over several people; plan for one of "
            f"{', '.join(POOLED)}, krippendorff_alpha among people, or spearman with their mean"
        )
    if not on_scale or ratings.level not in statistic.levels:
        raise ValueError(f"{statistic.title} does not apply to these raters and their scale")
    given = ~np.isnan(ratings.values)
    keep = given[:, list(people)].sum(axis=1) >= 2
    cut = _cut(ratings, keep if judge is None else keep & given[:, judge])
    compute, by_item = (
        _of_table(cut, statistic.key, people, judge, _units(cut, by_item=loose), is_gap=is_gap)
        for loose in (False, True)
    )
    names = tuple(ratings.raters[column] for column in columns)
    return _figure(f"{GAP if is_gap else ''}{statistic.key}", names, cut, compute, by_item, "")


def _of_table(
    cut: Ratings, key: str, people: Sequence[int], judge: int | None, units: Resampling, *, is_gap: bool
) -> Compute:
    among = Pooled(cut, people, units)
    if judge is None:
        return lambda weights: evaluated(among, [key], [weights])[key]
    beside = Beside(among, cut.values[:, judge], units)
    if not is_gap:
        return lambda weights: evaluated(beside, [key], [weights])[key]
    return lambda w: evaluated(beside, [key], [w])[key] - evaluated(among, [key], [w])[key]


def _figure(
    key: str, raters: tuple[str, ...], cut: Ratings, compute: Compute, by_item: Compute, reason: str
) -> Planned:
    value = float("nan")
    if not cut.n_items:
        reason = "no item was rated by both" if len(raters) == 2 else "no item was rated by two of them"
    if not reason:
        value = float(compute(np.ones((1, cut.n_clusters)))[0])
        reason = "" if np.isfinite(value) else "not defined on these ratings"
    return Planned(key, raters, value, cut.n_clusters, cut.n_items, compute, by_item, reason)


def _cut(ratings: Ratings, keep: npt.NDArray[np.bool_]) -> Ratings:
    """Return the ratings of some items, their clusters numbered anew: those without an item are gone."""
    return replace(
        ratings,
        values=ratings.values[keep],
        firsts={},
        items=tuple(item for item, kept in zip(ratings.items, keep, strict=True) if kept),
        clusters=codes(ratings.clusters[keep]),
        systems=None,
        continuations=None,
    )
