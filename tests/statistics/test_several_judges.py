"""The alternative annotator test of several judges, corrected so that any of them may be chosen."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.replacement import alternative_annotator_test, by_rejected

PLAN = Plan(resamples=100)


def rated(hits: tuple[float, ...], n: int = 200) -> Ratings:
    """Three people and a judge per hit rate."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, n)
    columns = [np.where(rng.random(n) < hit, truth, 1 - truth) for hit in (0.85, 0.85, 0.85, *hits)]
    names = ["ann", "bob", "cy", *(f"judge {i}" for i in range(len(hits)))]
    return Ratings.from_matrix(
        np.column_stack(columns),
        level="binary",
        clusters=np.arange(n) // 4,
        raters=names,
        kinds=["human"] * 3 + ["judge"] * len(hits),
    )


def test_each_judge_is_tested_at_q_divided_by_their_number() -> None:
    ratings = rated((0.82, 0.8, 0.78, 0.76))
    for judge in range(3, 7):
        test = alternative_annotator_test(ratings, judge, (0, 1, 2), plan=PLAN, judges=4)
        p = np.array([list(test.p_values.values())])
        assert test.corrected is not None
        assert test.winning_rate.value == by_rejected(p, 0.05).mean()
        assert test.corrected.value == by_rejected(p, 0.05 / 4).mean()
        assert test.corrected.value <= test.winning_rate.value
        assert "q divided by 4 judges" in test.corrected.method
        alone = alternative_annotator_test(ratings, judge, (0, 1, 2), plan=PLAN)
        assert alone.corrected is None
        assert alone.winning_rate == test.winning_rate


def test_an_analysis_counts_the_judges_that_can_have_a_winning_rate() -> None:
    ratings = rated((0.9, 0.8))
    never = ratings.with_column("never", np.zeros(ratings.n_items), kind="judge", on_scale=True)
    few = np.where(np.arange(ratings.n_items) < 10, ratings.values[:, 0], np.nan)
    whole = never.with_column("few", few, kind="judge", on_scale=True)
    found = [e.result for e in analyse(whole, statistics=["alt_test_winning_rate"], plan=PLAN).replacement]
    corrected = [result for result in found if result.name == "alt_test_winning_rate_corrected"]
    assert [result.status for result in corrected] == ["ok", "ok", "undefined", "insufficient"]
    assert "q divided by 2 judges" in corrected[0].method
    one = analyse(rated((0.9,)), statistics=["alt_test_winning_rate"], plan=PLAN).replacement
    assert [e.result.name for e in one] == ["alt_test_winning_rate", "alt_test_advantage"]


@pytest.mark.parametrize("people", [3, 5])
def test_the_chosen_judge_makes_few_false_claims_only_when_corrected(people: int) -> None:
    """No judge is good enough: any claim is false, and the luckiest of ten judges is chosen."""
    rng = np.random.default_rng(people)
    studies, judges, q = 2000, 10, 0.05
    p = rng.random((studies * judges, people))

    def luckiest(at: float) -> float:
        claimed = by_rejected(p, at).any(axis=1).reshape(studies, judges)
        return float(claimed.any(axis=1).mean())

    assert luckiest(q) > 0.2
    assert luckiest(q / judges) <= q + 3 * (q * (1 - q) / studies) ** 0.5
