"""A value computed by a library is the value shown; a deviation is an error."""

from __future__ import annotations

from dataclasses import replace

import krippendorff
import numpy as np
import pytest

from calibration.statistics import STATISTICS, Plan, Ratings, Record, analyse, ratings_from_records
from calibration.statistics.core.engine import Disagreement, second_opinions


def _ratings(level: str = "ordinal") -> Ratings:
    rng = np.random.default_rng(5)
    records = [
        Record(f"i{item}", f"r{rater}", float(rng.integers(1, 6)))
        for item in range(60)
        for rater in range(4)
        if rng.random() < 0.7
    ]
    return ratings_from_records(records, level=level, values=(1, 2, 3, 4, 5))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_the_library_s_to_the_last_bit(level: str) -> None:
    ratings = _ratings(level)
    entry = analyse(ratings, statistics=["krippendorff_alpha"], plan=Plan(resamples=0)).panel[0]
    assert entry.result.value == krippendorff.alpha(
        reliability_data=ratings.values.T, level_of_measurement=level, value_domain=np.arange(1.0, 6.0)
    )


def test_a_value_that_differs_from_the_library_s_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    alpha = STATISTICS["krippendorff_alpha"]
    off = replace(alpha, library=lambda sample: (alpha.library(sample) or 0.0) + 2e-9)
    monkeypatch.setitem(STATISTICS, "krippendorff_alpha", off)
    with pytest.raises(Disagreement, match=r"krippendorff_alpha of 5\d items is .* here and"):
        analyse(_ratings(), statistics=["krippendorff_alpha"], plan=Plan(resamples=0))


def test_where_the_library_would_need_too_much_memory_the_value_is_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = analyse(_ratings(), statistics=["krippendorff_alpha"], plan=Plan(resamples=0)).panel[0]
    monkeypatch.setattr("calibration.statistics.panel.LIBRARY_CELLS", 10)
    monkeypatch.setattr(krippendorff, "alpha", lambda **_: pytest.fail("asked the library"))
    entry = analyse(_ratings(), statistics=["krippendorff_alpha"], plan=Plan(resamples=0)).panel[0]
    assert entry.result.value == pytest.approx(expected.result.value, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_scikit_learn_is_asked_for_every_kappa_and_mcc_of_two_raters_and_says_the_same(level: str) -> None:
    ratings = _ratings(level)
    names = ["cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "mcc"]
    plain = analyse(ratings, statistics=names, plan=Plan(resamples=0))
    with second_opinions() as found:
        asked = analyse(ratings, statistics=names, plan=Plan(resamples=0))
    assert asked == plain, "the values stay ours"
    assert found.n_requested == len(plain.pairs) == 6 * (2 if level == "nominal" else 3)


def test_a_kappa_that_scikit_learn_computes_differently_is_an_error_where_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kappa = STATISTICS["cohen_kappa"]
    off = replace(kappa, second_opinion=lambda sample: kappa.second_opinion(sample) - 2e-9)
    monkeypatch.setitem(STATISTICS, "cohen_kappa", off)
    analyse(_ratings(), statistics=["cohen_kappa"], plan=Plan(resamples=0))
    with second_opinions(), pytest.raises(Disagreement, match="cohen_kappa of"):
        analyse(_ratings(), statistics=["cohen_kappa"], plan=Plan(resamples=0))
