"""Judges compared: every pair of judges, metrics and readings of one, against the same reference.

Both values of a pair rest on the items that both answered, and so does their difference, whose interval is of
the same resamples. The reference of a correlation is the mean over people; agreement with people is the mean
over people of the agreement with each; accuracy is against an answer key. The p-value is that of a
permutation: the two raters' answers change places in whole clusters. Holm (1979) corrects it over all pairs
of the question and statistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from calibration.statistics.analysis import MEAN_OF_PEOPLE, mean_of
from calibration.statistics.compared_pairs import (
    ACCURACY,
    AGREEMENT,
    CORRELATIONS,
    OF_PEOPLE,
    Compared,
    Reference,
    Run,
    alone,
)
from calibration.statistics.comparison import corrected
from calibration.statistics.contenders import Contender, pairs_of
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.swapping import PERMUTATIONS, Swaps

PEOPLE, KEY = "human", "key"
STATISTICS_COMPARED = (*AGREEMENT, *CORRELATIONS, ACCURACY)
"""What may be compared; accuracy wherever a key answers the question."""


@dataclass(frozen=True)
class Comparisons:
    """All pairs of a question, and how many pairs of metrics are left out because there are many."""

    pairs: tuple[Compared, ...]
    left_out: int = 0


def judges_compared(
    ratings: Ratings,
    contenders: Sequence[Contender],
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
    permutations: int = PERMUTATIONS,
) -> Comparisons:
    """Compare all pairs of contenders on each statistic that applies to both and to the reference.

    ``ratings`` hold the people and the keys, over the same items as the contenders. Where nobody rates them
    but a key does, the key stands for the people. Statistics other than ``STATISTICS_COMPARED`` are passed
    over, accuracy is added where there is a key.
    """
    pairs, left_out = pairs_of(contenders)
    if not pairs:
        return Comparisons(())
    run = _run(ratings, statistics, plan, permutations)
    return Comparisons(_compared(run, pairs, 0), left_out)


def compared_with(
    ratings: Ratings,
    contenders: Sequence[Contender],
    chosen: Contender,
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
    permutations: int = PERMUTATIONS,
    tried: int = 0,
) -> Comparisons:
    """Compare contenders with a chosen one, as ``judges_compared`` does with each other.

    Holm's correction is over ``tried`` comparisons where that is more than there are: those that are not here
    (judges tried before, and thrown away) count as if their p-values were 1, which gives corrected values
    that are never smaller than with the true ones.
    """
    pairs = [(one, chosen) for one in contenders if one is not chosen]
    return Comparisons(_compared(_run(ratings, statistics, plan, permutations), pairs, tried))


def each_alone(
    ratings: Ratings,
    contenders: Sequence[Contender],
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
) -> list[tuple[Contender, str, Result]]:
    """Return each contender's own values, on all that it and the reference answered: who, with whom, what."""
    run = _run(ratings, statistics, plan, 1)
    found = (
        (one, reference.name, alone(run, one, name, reference))
        for name in run.wanted
        for reference in references_of(ratings, name)
        for one in contenders
    )
    return [(one, against, result) for one, against, result in found if result is not None]


def _run(ratings: Ratings, statistics: Iterable[str], plan: Plan | None, permutations: int) -> Run:
    plan = plan or Plan()
    wanted = [*(s for s in statistics if s in STATISTICS_COMPARED and s != ACCURACY), ACCURACY]
    return Run(ratings, plan, resampling_of(ratings, plan), Swaps(permutations, plan.seed), tuple(wanted))


def _compared(run: Run, pairs: Sequence[tuple[Contender, Contender]], tried: int) -> tuple[Compared, ...]:
    asked = [(name, reference) for name in run.wanted for reference in references_of(run.ratings, name)]
    by_pair = [run.compared(pair, asked) for pair in pairs]
    families = ([rows[n] for rows in by_pair] for n in range(len(asked)))
    found = [_holm([row for row in family if row is not None], tried) for family in families]
    return tuple(row for rows in found for row in rows)


def references_of(ratings: Ratings, statistic: str) -> list[Reference]:
    """Return what a statistic is measured against: people as one mean or one by one, or each key."""
    keys = [_alone(ratings, column) for column in ratings.of_kind(KEY)]
    if statistic == ACCURACY:
        return keys
    people = ratings.of_kind(PEOPLE)
    if not people:
        return keys
    if statistic in CORRELATIONS:
        block = ratings.values[:, list(people)]
        return [Reference(OF_PEOPLE, ((MEAN_OF_PEOPLE, mean_of(block)),), len(people) == 1)]
    answered = ratings.as_answered()
    known = [j for j in people if ratings.identified[j] and answered.on_scale[j]]
    columns = tuple((ratings.raters[j], answered.values[:, j]) for j in known)
    return [Reference(OF_PEOPLE, columns, True)] if columns else []


def _alone(ratings: Ratings, column: int) -> Reference:
    name, ratings = ratings.raters[column], ratings.as_answered()
    return Reference(name, ((name, ratings.values[:, column]),), ratings.on_scale[column])


def _holm(rows: Sequence[Compared], tried: int) -> list[Compared]:
    """Return the rows with p-values corrected over those that have one, or over ``tried`` where more."""
    ps = [row.p.value for row in rows if row.p.value is not None]
    others = max(tried - len(ps), 0)
    adjusted = iter(corrected([*ps, *[1.0] * others], "holm").tolist())
    how = f"{{}}; Holm over {len(ps)} pair{'' if len(ps) == 1 else 's'} of the question and statistic"
    how += f" and {others} tried before" if others else ""
    return [
        replace(
            row,
            p_holm=replace(row.p, name="p_holm", value=next(adjusted), method=how.format(row.p.method))
            if row.p.ok
            else replace(row.p, name="p_holm"),
        )
        for row in rows
    ]
