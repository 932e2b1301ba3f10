"""Correlations by level equal independent results by pandas and SciPy; undefined ones have a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.statistics import Plan
from calibration.statistics.core.engine import Result
from calibration.statistics.level_correlations import LevelTable, Options, centred, holding_value, level_table
from calibration.statistics.level_scores import (
    LEVELS,
    Frame,
    Scored,
    Scores,
    Units,
    means,
    on_shared_dialogues,
    systems_apart,
)

SYSTEMS, DIALOGUES, TURNS, PEOPLE = 99, 15, 7, 6
POINT = Plan(resamples=0)
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}
SCORES = ("all_turns", "mean_of_dialogues")


def _units(systems: int, dialogues: int) -> Units:
    return Units(
        np.tile(np.arange(dialogues), systems),
        np.tile(np.arange(dialogues), systems),
        np.repeat(np.arange(systems), dialogues),
        tuple(f"d{n}" for n in range(dialogues)),
        tuple(f"s{n}" for n in range(systems)),
    )


def _frames(units: Units, turns: int) -> tuple[Frame, Frame]:
    n = len(units)
    of_turns = Frame("turn", np.repeat(np.arange(n), turns), np.tile(np.arange(turns), n))
    return of_turns, Frame("dialogue", np.arange(n), np.zeros(n, np.int64))


def _corpus(systems: int = SYSTEMS, dialogues: int = DIALOGUES, seed: int = 0) -> tuple[Scored, Scores]:
    """People's turn labels against a metric, a judge and a judge of wholes; with people's dialogue labels."""
    rng = np.random.default_rng(seed)
    units = _units(systems, dialogues)
    turns, wholes = _frames(units, TURNS)
    by_unit = rng.normal(scale=0.5, size=systems)[units.systems]
    by_unit = by_unit + rng.normal(scale=0.3, size=dialogues)[units.dialogues]
    quality = by_unit[turns.units] + rng.normal(scale=0.7, size=len(turns))

    def rated(of: np.ndarray, n: int) -> np.ndarray:
        seen = np.clip(np.round(3 + of[:, None] + rng.normal(size=(len(of), n))), 1, 5)
        return np.where(rng.random(seen.shape) < 0.1, np.nan, seen)

    people = rated(quality, PEOPLE)
    people[rng.random(len(turns)) < 0.01] = np.nan
    metric = np.where(rng.random(len(turns)) < 0.03, np.nan, quality + rng.normal(size=len(turns)))
    rows = (
        Scores("metric", "turn", metric, "metric"),
        Scores("judge", "turn", rated(quality, 1)[:, 0], "judge", "m1"),
        Scores("judge of wholes", "dialogue", rated(by_unit, 1)[:, 0], "judge", "m1"),
    )
    scored = Scored(units, Scores.of_people("people", "turn", people), rows, turns, wholes)
    return scored, Scores.of_people("people (wholes)", "dialogue", rated(by_unit, PEOPLE))


def _apart(scored: Scored, row: Scores, level: str, missing: str, score: str) -> pd.DataFrame:
    """Return x and y at a level as pandas has them."""
    units = pd.DataFrame({"system": scored.units.systems, "dialogue": scored.units.dialogues})
    sides = []
    for side in (scored.reference, row):
        table = pd.DataFrame({"unit": scored.frame(side.frame).units, "value": side.values})
        sides.append(table)
    if scored.reference.frame == row.frame:
        lost = sides[0].value.isna() | sides[1].value.isna()
        for table in sides:
            table.loc[lost, "value"] = np.nan
    if missing == "whole":
        dropped: set[int] = set()
        for table, side in zip(sides, (scored.reference, row), strict=True):
            if side.frame == "turn":
                dropped |= set(table.unit[table.value.isna()])
        for table in sides:
            table.loc[table.unit.isin(dropped), "value"] = np.nan
    columns = []
    for table in sides:
        table["system"] = units.system.reindex(table.unit).to_numpy()
        by_unit = table.groupby("unit").value.mean()
        if level == "turn":
            columns.append(table.value)
        elif level == "dialogue":
            columns.append(by_unit)
        elif score == "all_turns":
            columns.append(table.groupby("system").value.mean())
        else:
            columns.append(by_unit.groupby(units.system).mean())
    return pd.concat(columns, axis=1, keys=["x", "y"]).dropna()


@pytest.mark.parametrize("reference", ["turn labels", "dialogue labels"])
@pytest.mark.parametrize("missing", ["skip", "whole"])
def test_every_point_is_that_of_pandas_and_scipy(reference: str, missing: str) -> None:
    scored, wholes = _corpus()
    if reference == "dialogue labels":
        people = replace(scored.reference, name="people (turn labels)")
        scored = replace(scored, reference=wholes, rows=(people, *scored.rows))
    compared = 0
    for score in SCORES:
        options = Options(missing, score, p="item")  # type: ignore[arg-type]
        table = level_table(scored, LEVELS, options=options, plan=POINT)
        for row, found in zip(scored.rows, table.rows, strict=True):
            for entry in found.entries:
                if entry.level == "turn" and "dialogue" in (row.frame, scored.reference.frame):
                    assert "cannot meet at turn level" in entry.result.reason
                    continue
                apart = _apart(scored, row, entry.level, missing, score)
                ranked = apart if entry.coefficient == "pearson" else apart.round(10)
                value, p = SCIPY[entry.coefficient](ranked.x, ranked.y)
                assert entry.result.value == pytest.approx(value, abs=1e-12)
                assert entry.p == pytest.approx(p, abs=1e-9)
                assert entry.result.n_items == len(apart)
                compared += 1
    assert compared == (2 * 3 * (2 * 3 + 2) if reference == "turn labels" else 2 * 3 * 4 * 2)


def test_what_is_left_out_is_counted() -> None:
    scored, _ = _corpus()
    metric = scored.rows[0]
    both = ~np.isnan(scored.reference.values) & ~np.isnan(metric.values)
    whole = both.reshape(-1, TURNS).all(axis=1)
    for missing, turns, units in (
        ("skip", (~both).sum(), 0),
        ("whole", len(both) - TURNS * whole.sum(), (~whole).sum()),
    ):
        table = level_table(scored, ("dialogue",), options=Options(missing, p="item"), plan=POINT)  # type: ignore[arg-type]
        left = table.rows[0].left_out
        assert (left.turns, left.of_turns) == (turns, SYSTEMS * DIALOGUES * TURNS)
        assert (left.units, left.of_units) == (units, SYSTEMS * DIALOGUES)
        assert left.share_of_turns == turns / (SYSTEMS * DIALOGUES * TURNS)


def test_a_systems_score_is_the_mean_of_all_its_turns_unless_told() -> None:
    units = Units(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]), ("a", "b"), ("s",))
    turns = Frame("turn", np.array([0] * 7 + [1]), np.array([*range(7), 0]))
    values = np.array([3.0] * 7 + [5.0])
    scored = Scored(units, Scores("people", "turn", values), (Scores("m", "turn", values),), turns)
    shown = {
        score: level_table(scored, ("system",), options=Options(system_score=score), plan=POINT, points=True)  # type: ignore[arg-type]
        for score in SCORES
    }
    assert [shown[score].rows[0].points[0].x.value for score in SCORES] == [3.25, 4.0]
    assert list(means(values, turns.units, len(units))) == [3.0, 5.0]


def test_fewer_than_three_systems_and_raters_without_variation_have_reasons() -> None:
    scored, _ = _corpus(systems=2, dialogues=12)
    constant = Scores("always 3", "turn", np.full(len(scored.reference.values), 3.0))
    table = level_table(replace(scored, rows=(scored.rows[0], constant)), LEVELS, plan=Plan(resamples=50))
    two = table.rows[0].entry("system", "spearman")
    assert (two.result.status, two.result.reason) == (
        "insufficient",
        "correlation of systems needs three, there are 2",
    )
    assert (two.p, two.starred) == (None, False)
    alike = table.rows[1].entry("turn", "pearson").result
    assert alike.status == "undefined"
    assert "always 3 gave one value throughout" in alike.reason
    assert alike.flags == ("constant_rater",)


def test_a_constant_rater_of_many_systems_is_undefined_at_system_level() -> None:
    scored, _ = _corpus(systems=5, dialogues=12)
    constant = Scores("always 3", "turn", np.full(len(scored.reference.values), 3.0))
    (row,) = level_table(replace(scored, rows=(constant,)), ("system",), plan=POINT).rows
    assert {entry.result.reason for entry in row.entries} == {"always 3 scores all systems alike"}


def _without(scored: Scored, system: int, dialogues: set[int]) -> Scored:
    lost = (scored.units.systems == system) & np.isin(scored.units.dialogues, list(dialogues))
    return scored.take(~lost)


def test_a_system_on_other_dialogues_is_named_and_shared_dialogues_can_be_asked_for() -> None:
    scored = _without(_corpus(systems=12)[0], 3, {0, 1, 2})
    assert systems_apart(scored.units) == ("s3",)
    table = level_table(scored, ("turn", "system"), plan=Plan(resamples=50), options=Options(permutations=99))
    assert table.warnings == (
        "1 system answered other dialogues than most did (s3): system scores rest on different dialogues.",
    )
    entry = table.rows[0].entries[0]
    assert entry.p_method == "systems and clusters exchanged, 99 permutations, seed 0"
    assert entry.result.n_clusters == DIALOGUES
    shared = level_table(scored, ("turn",), plan=POINT, options=Options(shared=True, p="item"))
    chosen = on_shared_dialogues(scored)
    assert shared.rows[0].entries[0].result.n_clusters == 12
    assert (
        shared.rows[0].entries
        == level_table(chosen, ("turn",), plan=POINT, options=Options(p="item")).rows[0].entries
    )
    assert "only those that all answered count" in shared.warnings[0]


def test_systems_that_share_no_dialogue_are_tested_all_the_same() -> None:
    scored = _without(_without(_corpus(systems=12)[0], 3, set(range(8))), 4, set(range(8, 15)))
    for entry in level_table(scored, LEVELS, plan=POINT).rows[0].entries:
        assert entry.result.value is not None
        assert entry.p is not None
    with pytest.raises(ValueError, match="no dialogue was answered by all systems"):
        level_table(scored, ("turn",), plan=POINT, options=Options(shared=True))


def test_what_is_exchanged_follows_the_design() -> None:
    scored, _ = _corpus(systems=5)
    table = level_table(scored, LEVELS, plan=Plan(resamples=50))
    turn, system = table.rows[0].entry("turn", "spearman"), table.rows[0].entry("system", "spearman")
    assert turn.p_method == "systems and clusters exchanged, 2000 permutations, seed 0"
    assert turn.result.method.startswith("cluster bootstrap")
    assert system.p_method == "systems permuted, all 120 permutations"
    many = level_table(_corpus(systems=10)[0], LEVELS, plan=Plan(resamples=50)).rows[0].entries[0]
    assert many.result.method.startswith("cluster x system bootstrap")
    one = level_table(_planted(0, 1, 8, "shared", 0.0), ("turn",), plan=POINT).rows[0].entries[0]
    assert one.p_method.startswith("clusters exchanged")
    apart = level_table(_planted(0, 5, 8, "separate", 0.0), ("turn",), plan=POINT).rows[0].entries[0]
    assert apart.p_method.startswith("systems exchanged, and clusters within them")
    few = level_table(_planted(0, 2, 2, "shared", 0.0), ("turn",), plan=POINT).rows[0].entries[0]
    assert (few.p, few.starred) == (None, False)
    assert few.p_reason == "2 clusters and 2 systems; exchanging them needs three of either"


def _planted(seed: int, systems: int, dialogues: int, design: str, shared: float) -> Scored:
    """Return people and a metric whose effects of each kind correlate by ``shared``."""
    rng = np.random.default_rng([seed, systems, dialogues])
    system = np.repeat(np.arange(systems), dialogues)
    dialogue = np.tile(np.arange(dialogues), systems) if design == "shared" else np.arange(len(system))
    names = tuple(f"d{code}" for code in range(dialogue.max() + 1))
    units = Units(dialogue, dialogue, system, names, tuple(f"s{code}" for code in range(systems)))
    unit = np.repeat(np.arange(len(system)), 3)
    sides = np.zeros((2, len(unit)))
    for places, variance in (
        (system[unit], 0.3),
        (dialogue[unit], 0.2),
        (unit, 0.2),
        (np.arange(len(unit)), 0.3),
    ):
        first, own = rng.normal(size=(2, places.max() + 1)) * np.sqrt(variance)
        sides[0] += first[places]
        sides[1] += (shared * first + np.sqrt(1 - shared**2) * own)[places]
    frame = Frame("turn", unit, np.tile(np.arange(3), len(system)))
    return Scored(units, Scores("people", "turn", sides[0]), (Scores("metric", "turn", sides[1]),), frame)


@pytest.mark.parametrize("design", ["shared", "separate"])
@pytest.mark.exhaustive
def test_of_studies_without_an_association_five_in_a_hundred_are_called_one(design: str) -> None:
    """Whatever systems and dialogues have in common; five systems are enough."""
    counts = {"turn": 0, "dialogue": 0, "system": 0}
    options = Options(permutations=199)
    for seed in range(200):
        scored = _planted(seed, 5, 8, design, 0.0)
        table = level_table(scored, LEVELS, coefficients=("pearson",), options=options, plan=POINT)
        for entry in table.rows[0].entries:
            counts[entry.level] += entry.p is not None and entry.p <= 0.05
    assert all(2 <= count <= 20 for count in counts.values()), counts


def test_an_interval_that_does_not_hold_its_value_is_not_given() -> None:
    around, beside = Result("pearson", 0.9, 0.8, 0.95), Result("pearson", 0.9, 0.5, 0.89)
    assert holding_value(around) == around
    assert (holding_value(beside).value, holding_value(beside).low) == (0.9, None)
    assert "does not hold the value" in holding_value(beside).reason


@pytest.mark.parametrize("design", ["shared", "separate"])
def test_an_association_is_found_with_few_systems_and_with_many(design: str) -> None:
    for systems in (5, 12):
        table = level_table(_planted(1, systems, 12, design, 0.85), ("turn", "dialogue"), plan=POINT)
        assert all(entry.p is not None and entry.p < 0.05 for entry in table.rows[0].entries)


def test_the_test_is_of_the_printed_coefficient_and_not_of_means_of_clusters() -> None:
    """Within dialogues metric and people go together, or against each other; dialogues' means do not."""
    rng = np.random.default_rng(0)
    dialogue = np.repeat(np.arange(40), 8)
    units = Units(np.arange(40), np.arange(40), np.zeros(40, int), tuple(map(str, range(40))), ("one",))
    frame = Frame("turn", dialogue, np.tile(np.arange(8), 40))
    within = rng.normal(size=320)
    for sign in (1, -1):
        people = within + 0.3 * rng.normal(size=40)[dialogue]
        metric = sign * within + 0.3 * rng.normal(size=40)[dialogue]
        scored = Scored(units, Scores("people", "turn", people), (Scores("metric", "turn", metric),), frame)
        entry = level_table(scored, ("turn",), plan=POINT).rows[0].entry("turn", "pearson")
        assert entry.result.value is not None
        assert entry.result.value * sign > 0.8
        assert entry.p is not None
        assert entry.p < 0.01
        assert not entry.starred


def test_the_test_over_items_is_flagged_below_system_level() -> None:
    table = level_table(_corpus(systems=12)[0], LEVELS, plan=POINT, options=Options(p="item"))
    flagged = {entry.level for entry in table.rows[0].entries if "ignores_clusters" in entry.result.flags}
    assert flagged == {"turn", "dialogue"}


def _column(table: LevelTable, attribute: str) -> list[bool]:
    return [getattr(row.entry("dialogue", "pearson"), attribute) for row in table.rows]


def test_the_best_of_a_column_and_of_each_group_are_marked_but_people_are_not() -> None:
    scored, wholes = _corpus()
    people = replace(scored.reference, name="people (turn labels)")
    weak = replace(
        scored.rows[0], name="weak", values=np.random.default_rng(1).permutation(scored.rows[0].values)
    )
    scored = replace(scored, reference=wholes, rows=(people, *scored.rows, replace(weak, group="m2")))
    table = level_table(scored, ("dialogue",), plan=POINT, options=Options(p="item"))
    values = [row.entry("dialogue", "pearson").result.value or 0 for row in table.rows]
    assert _column(table, "best") == [value == max(values[1:]) for value in values]
    assert max(values) == values[0]
    assert _column(table, "best_of_group") == [
        False,
        False,
        values[2] > values[3],
        values[3] > values[2],
        True,
    ]
    assert _column(table, "starred") == [False, False, False, False, True]


def test_answers_of_one_system_to_one_dialogue_can_be_joined() -> None:
    # As in FED: two continuations hold the rated turns of a dialogue, a third the label of the whole.
    units = Units(
        np.repeat(np.arange(30), 3), np.repeat(np.arange(30), 3), np.repeat(np.arange(30) % 3, 3),
        tuple(f"d{n}" for n in range(30)), ("a", "b", "c"),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    turns = Frame("turn", np.flatnonzero(np.arange(90) % 3 < 2), np.full(60, 4))
    wholes = Frame("dialogue", np.arange(2, 90, 3), np.zeros(30, np.int64))
    labels, whole = rng.integers(1, 6, 60).astype(float), rng.integers(1, 6, 30).astype(float)
    scored = Scored(
        units, Scores("people", "dialogue", whole), (Scores("turns", "turn", labels),), turns, wholes
    )
    apart = level_table(scored, ("dialogue",), plan=POINT)
    assert apart.rows[0].entries[0].result.status == "insufficient"
    joined = level_table(scored, ("dialogue",), plan=POINT, options=Options(unit="dialogue_system", p="item"))
    expected = stats.pearsonr(whole, labels.reshape(-1, 2).mean(axis=1))[0]
    assert joined.rows[0].entries[0].result.value == pytest.approx(expected, abs=1e-12)
    assert list(scored.joined().turns.positions[:4]) == [0, 1, 0, 1]


def test_rows_share_their_resamples_and_the_same_seed_gives_the_same_digits() -> None:
    scored, _ = _corpus(systems=12)
    plan, options = Plan(resamples=200, seed=3), Options(permutations=99)
    once = level_table(scored, LEVELS, plan=plan, options=options)
    assert once == level_table(scored, LEVELS, plan=plan, options=options)
    alone = level_table(replace(scored, rows=scored.rows[1:2]), LEVELS, plan=plan, options=options)
    assert [entry.result for entry in alone.rows[0].entries] == [e.result for e in once.rows[1].entries]


@pytest.mark.parametrize("point", [0.9, 1.0, -1.0, 0.0])
def test_resampled_correlations_of_systems_are_moved_to_the_value(point: float) -> None:
    weaker = np.random.default_rng(0).normal(-0.6, 0.2, 500) * (-1 if point < 0 else 1)
    low = np.tanh(np.arctanh(np.clip(point, -0.95, 0.95)) + weaker)
    moved = centred(point, np.append(low, np.nan), 10)
    if abs(point) == 1:  # what reaches the value is the value: the interval ends there
        assert np.nanquantile(moved * point, 0.6) == 1
        assert np.nanquantile(moved * point, 0.4) < 1 - 1 / 90
        return
    assert np.nanmedian(moved) == pytest.approx(point, abs=1e-6)
    assert np.isnan(moved[-1])
    assert (np.argsort(moved[:-1]) == np.argsort(low)).all()
    assert np.abs(moved[:-1]).max() < 1


def test_the_interval_of_systems_holds_the_value_where_resampling_weakens_it() -> None:
    scored, _ = _corpus(systems=40, dialogues=5)
    judge = replace(scored.rows[1], values=scored.reference.values + 0.3 * scored.rows[1].values)
    table = level_table(replace(scored, rows=(judge,)), ("system",), plan=Plan(resamples=300))
    for entry in table.rows[0].entries:
        result = entry.result
        assert result.low is not None
        assert result.high is not None
        assert result.low < result.value < result.high  # type: ignore[operator]
