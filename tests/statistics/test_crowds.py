"""Many raters with few items each: computed figures, omitted figures, and notes about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from calibration.statistics import Ratings, analysis, icc
from calibration.statistics.analysis import analyse
from calibration.statistics.core.resampling import Plan

PLAN = Plan(resamples=50)


def _crowd(people: int, items: int, each: int, groups: int = 1) -> np.ndarray:
    """Return items x people, each item rated by a few people of one group."""
    rng = np.random.default_rng(people)
    values = np.full((items, people), np.nan)
    size = people // groups
    for item in range(items):
        raters = rng.choice(size, each, replace=False) + size * (item % groups)
        values[item, raters] = np.clip(rng.integers(1, 6) + rng.integers(-1, 2, each), 1, 5)
    return values


def _rated(values: np.ndarray, judges: int = 0) -> Ratings:
    kinds = ["human"] * (values.shape[1] - judges) + ["judge"] * judges
    clusters = np.arange(len(values)) // 3
    scale = (1, 2, 3, 4, 5)
    return Ratings.from_matrix(values, level="ordinal", scale=scale, kinds=kinds, clusters=clusters)


@pytest.mark.parametrize("groups", [1, 2])
def test_the_intraclass_correlations_of_a_crowd_are_those_by_eigenvectors(
    monkeypatch: pytest.MonkeyPatch, groups: int
) -> None:
    ratings = _rated(_crowd(40, 150, 3, groups))
    keys = [f"icc_{form}_{unit}" for form in (1, 2, 3) for unit in ("1", "k")]
    found = [e.result for e in analyse(ratings, statistics=keys, plan=PLAN).panel]
    monkeypatch.setattr(icc, "FEW_RATERS", 1_000)
    wanted = [e.result for e in analyse(ratings, statistics=keys, plan=PLAN).panel]
    assert len(wanted) == 6
    for one, other in zip(found, wanted, strict=True):
        assert (one.name, one.status, one.flags) == (other.name, other.status, other.flags)
        assert one.value == pytest.approx(other.value, abs=1e-9)
        assert (one.low, one.high) == (
            pytest.approx(other.low, abs=1e-9),
            pytest.approx(other.high, abs=1e-9),
        )


def test_raters_in_a_long_chain_are_solved_as_by_eigenvectors() -> None:
    values = np.full((60, 61), np.nan)
    for item in range(60):
        values[item, item : item + 2] = [item % 5, (item * 3) % 5]
    given = (~np.isnan(values)).astype(float)
    laplacian = np.diag(given.sum(axis=0)) - given.T @ (given / 2)
    away = np.where(given > 0, values - np.nanmean(values, axis=1)[:, None], 0).sum(axis=0)
    squares, links = icc.Crowd(given > 0, np.ones((1, 60))).explained(away[None])
    wanted, rank = icc._explained_by_axes(laplacian[None], away[None])
    assert squares == pytest.approx(wanted)
    assert links.tolist() == rank.tolist() == [60]


def test_of_a_crowd_the_pairs_that_share_few_items_are_left_out_and_that_is_said() -> None:
    people = _crowd(60, 400, 3)
    people[:20, :2] = 3.0
    judge = np.random.default_rng(1).integers(1, 6, 400).astype(float)
    found = analyse(_rated(np.column_stack([people, judge]), judges=1), statistics=["pearson"], plan=PLAN)
    shared = (~np.isnan(people)).T.astype(int) @ (~np.isnan(people)).astype(int)
    few = sum(0 < shared[i, j] < 10 for i in range(60) for j in range(i))
    compared = {e.raters for e in found.pairs if "mean(kind:human)" not in e.raters}
    assert compared == {("r1", "r2"), *((f"r{n}", "r61") for n in range(1, 61))}
    assert found.left_out == (
        f"61 of {few + 61:,} pairs of raters who share items are compared one by one and in means over "
        f"pairs: {few:,} share fewer than 10 items"
    )
    assert found.find("people_mean_pearson").result.method.startswith("mean over 0 of 1 pairs")


def test_of_a_dense_crowd_those_pairs_are_compared_that_share_the_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analysis, "MOST_PAIRS", 32)
    values = np.random.default_rng(2).integers(1, 6, (40, 31)).astype(float)
    values[30:, 2:30] = np.nan
    found = analyse(_rated(values, judges=1), statistics=["pearson"], plan=PLAN)
    compared = {e.raters for e in found.pairs if "mean(kind:human)" not in e.raters}
    assert {(f"r{n}", "r31") for n in range(1, 31)} | {("r1", "r2")} < compared
    assert len(compared) == 32
    assert found.left_out.endswith("433 are beyond the 32 pairs that share the most")


def test_of_a_panel_all_pairs_are_compared() -> None:
    found = analyse(_rated(_crowd(20, 200, 3)), statistics=["pearson"], plan=PLAN)
    assert found.left_out == ""
    assert len({e.raters for e in found.pairs}) == 190


@pytest.mark.parametrize("judges", [0, 1])
def test_figures_of_a_crowd_are_the_same_without_its_pairs(judges: int) -> None:
    block = _crowd(15, 200, 4)
    if judges:
        judge = np.random.default_rng(1).integers(1, 6, 200).astype(float)
        block = np.column_stack([block, judge])
    ratings = _rated(block, judges=judges)
    few, every = analyse(ratings, plan=PLAN, few_pairs=True), analyse(ratings, plan=PLAN)
    assert few.panel == every.panel
    assert few.replacement == every.replacement
    assert few.stand_ins == every.stand_ins
    assert set(few.gaps) == {e for e in every.gaps if "_mean_" not in e.result.name}
    assert {e.raters for e in few.pairs} == ({("mean(kind:human)", "r16")} if judges else set())
    assert set(few.pairs) <= set(every.pairs)


def test_pairs_of_few_people_are_compared_beside_a_crowd_of_judges() -> None:
    block = np.random.default_rng(3).integers(1, 6, (60, 14)).astype(float)
    ratings = _rated(block, judges=12)
    few, every = analyse(ratings, plan=PLAN, few_pairs=True), analyse(ratings, plan=PLAN)
    assert few.find("people_mean_pearson") == every.find("people_mean_pearson")
    assert few.find("pearson", ("r1", "r2")) == every.find("pearson", ("r1", "r2"))
    assert few.find("pearson", ("r1", "r3")) is None
    assert few.find("gap_cohen_kappa", ("r3", "r1", "r2")) == every.find(
        "gap_cohen_kappa", ("r3", "r1", "r2")
    )


def test_agree_says_which_pairs_of_a_crowd_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["item,rater,value"]
    for item, row in enumerate(_crowd(40, 200, 3)):
        lines += [f"i{item},p{n},{int(value)}" for n, value in enumerate(row) if value == value]
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(lines) + "\n")
    for form in ("--html", "--json", "--csv", "--latex"):
        command = ("agree", path, "--scale", "ordinal", "--resamples", "20", form)
        call_command(*command)
        printed = capsys.readouterr()
        said = " ".join((printed.err if form in ("--csv", "--latex") else printed.out).split())
        assert "0 of 780 pairs of raters are compared one by one" in said
        assert "--full compares all pairs of raters." in said
        call_command(*command, "--full")
        printed = capsys.readouterr()
        said = " ".join((printed.err if form in ("--csv", "--latex") else printed.out).split())
        assert "pairs of raters who share items are compared one by one and in means over pairs" in said
        assert "share fewer than 10 items." in said
