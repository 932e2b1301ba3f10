"""Agreement on sets of tags: against nltk and krippendorff, by hand, and without anything to compare."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import krippendorff
import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import masi_distance

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.sets import masi_distances, set_agreement, set_ratings

EXACT = 1e-12
PLAN = Plan(resamples=200)
TAGS = ("rude", "vague", "false", "long")
Answers = Sequence[Sequence[frozenset[str] | None]]
"""Sets by item and rater, None where there is no answer."""


def tags_of(answers: Answers, tags: Sequence[str] = TAGS, **options: object) -> Mapping[str, Ratings]:
    """The yes/no ratings of each tag."""
    return {
        tag: Ratings.from_matrix(
            [[np.nan if chosen is None else float(tag in chosen) for chosen in row] for row in answers],
            level="binary",
            scale=(0, 1),
            **options,
        )
        for tag in tags
    }


def drawn(seed: int, *, items: int = 40, raters: int = 3, missing: float = 0.0) -> Answers:
    draw = random.Random(seed)
    rows = []
    for _ in range(items):
        common = draw.sample(TAGS, draw.randint(0, 3))
        rows.append(
            [
                None
                if draw.random() < missing
                else frozenset(
                    [tag for tag in common if draw.random() < 0.8] + draw.sample(TAGS, draw.random() < 0.2)
                )
                for _ in range(raters)
            ]
        )
    return rows


def nltk_distance(first: frozenset[str], second: frozenset[str]) -> float:
    """The distance of nltk, which divides by zero for two empty sets."""
    return masi_distance(first, second) if first or second else 0.0


@pytest.mark.parametrize("seed", range(20))
def test_the_distance_of_two_sets_is_that_of_nltk(seed: int) -> None:
    draw = random.Random(seed)
    sets = [frozenset(draw.sample(range(5), draw.randint(0, 4))) for _ in range(6)]
    theirs = [[nltk_distance(first, second) for second in sets] for first in sets]
    assert masi_distances(sets) == pytest.approx(np.array(theirs), abs=EXACT)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_alpha_is_that_of_nltk(seed: int, missing: float) -> None:
    answers = drawn(seed, missing=missing)
    rows = [
        (f"r{rater}", f"i{item}", chosen)
        for item, row in enumerate(answers)
        if sum(chosen is not None for chosen in row) > 1  # nltk counts single values among the expected ones
        for rater, chosen in enumerate(row)
        if chosen is not None
    ]
    theirs = AnnotationTask(data=rows, distance=nltk_distance).alpha()
    result = set_agreement(tags_of(answers), PLAN)
    assert result.value == pytest.approx(theirs, abs=EXACT)
    assert result.low is not None
    assert result.high is not None
    assert result.low < result.value < result.high
    assert result.n_items == len({item for _, item, _ in rows})
    assert result.n_missing == sum(chosen is None for row in answers for chosen in row)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_alpha_is_that_of_krippendorff_with_the_distance_as_its_metric(seed: int, missing: float) -> None:
    answers = drawn(seed, missing=missing)
    sets = sorted({chosen for row in answers for chosen in row if chosen is not None}, key=sorted)
    table = np.array([[nltk_distance(first, second) for second in sets] for first in sets])
    numbers = [[np.nan if chosen is None else sets.index(chosen) for chosen in row] for row in answers]
    theirs = krippendorff.alpha(
        np.array(numbers, float).T,
        value_domain=np.arange(len(sets)),
        level_of_measurement=lambda first, second, **_: table[first.astype(int), second.astype(int)],
    )
    assert set_agreement(tags_of(answers), Plan(resamples=0)).value == pytest.approx(theirs, abs=EXACT)


def test_alpha_by_hand() -> None:
    """Three items of two raters: equal, one holds the other, overlapping; distances 0, 2/3, 8/9."""
    a, ab, bc = map(frozenset, ("a", "ab", "bc"))
    result = set_agreement(tags_of([[a, a], [a, ab], [ab, bc]], "abc"), Plan(resamples=0))
    within = 2 * (2 / 3 + 8 / 9)
    among = 2 * (3 * 2 * (2 / 3) + 3 * 1 * 1 + 2 * 1 * (8 / 9))
    assert result.value == pytest.approx(1 - 5 * within / among, abs=EXACT)


def test_two_empty_sets_agree() -> None:
    none, a = frozenset[str](), frozenset("a")
    assert set_agreement(tags_of([[none, none], [a, a]], "a"), Plan(resamples=0)).value == 1.0
    apart = set_agreement(tags_of([[none, a], [a, none]], "a"), Plan(resamples=0))
    assert apart.value == pytest.approx(-0.5, abs=EXACT)


def test_the_order_of_the_tags_does_not_matter() -> None:
    answers = drawn(3)
    backwards = dict(reversed(tags_of(answers).items()))
    ours, theirs = set_agreement(backwards, PLAN), set_agreement(tags_of(answers), PLAN)
    for name in ("value", "low", "high"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=EXACT)


def test_a_set_without_one_of_its_answers_is_missing() -> None:
    tags = dict(tags_of(drawn(4)))
    values = tags["rude"].values.copy()
    values[:10, 0] = np.nan
    tags["rude"] = tags["rude"].with_values(values)
    assert set_agreement(tags, PLAN).n_missing == 10


def test_items_and_raters_are_those_of_every_tag() -> None:
    tags = dict(tags_of(drawn(5), raters=("ann", "ben", "cid")))
    tags["rude"] = Ratings.from_matrix(
        tags["rude"].values[:30, :2], level="binary", scale=(0, 1), raters=("ann", "ben")
    )
    ratings = set_ratings(tags)
    assert (ratings.raters, ratings.n_items) == (("ann", "ben"), 30)


def test_no_variation_has_no_alpha() -> None:
    a = frozenset("a")
    result = set_agreement(tags_of([[a, a]] * 5, "ab"), PLAN)
    assert (result.status, result.value) == ("undefined", None)
    assert "every rating is {a}" in result.reason


def test_no_common_item_has_no_alpha() -> None:
    a = frozenset("a")
    assert set_agreement(tags_of([[a, None], [None, a]], "ab"), PLAN).status == "insufficient"


def test_the_interval_resamples_clusters() -> None:
    answers = drawn(6, items=60)
    by_cluster = tags_of(answers, clusters=[item // 20 for item in range(60)])
    result = set_agreement(by_cluster, PLAN)
    assert result.n_clusters == 3
    assert "few_clusters" in result.flags
    assert result.method.startswith("cluster bootstrap")


def test_an_analysis_of_sets_has_alpha_of_everyone_and_of_each_kind_and_nothing_else() -> None:
    ratings = set_ratings(tags_of(drawn(7, raters=4), kinds=("human", "human", "judge", "judge")))
    analysis = analyse(
        ratings, plan=PLAN, statistics=["krippendorff_alpha_masi", "krippendorff_alpha", "cohen_kappa"]
    )
    assert {entry.result.name for entry in analysis.panel} == {"krippendorff_alpha_masi"}
    assert not analysis.pairs
    assert not analysis.replacement
    assert [entry.raters for entry in analysis.panel] == [
        ("r1", "r2", "r3", "r4"),
        ("r1", "r2"),
        ("r3", "r4"),
    ]


def test_sets_alone_have_the_statistic_of_sets() -> None:
    analysis = analyse(tags_of(drawn(8))["rude"], plan=Plan(resamples=0))
    assert analysis.find("krippendorff_alpha_masi") is None


def test_thousands_of_different_sets_are_refused_in_a_sentence() -> None:
    tags = [f"t{n}" for n in range(13)]
    answers = [[frozenset(tag for at, tag in enumerate(tags) if n >> at & 1)] * 2 for n in range(3_100)]
    result = set_agreement(tags_of(answers, tags), Plan(resamples=0))
    assert (result.status, result.reason) == ("rejected", "3,100 different sets: at most 3,000")
