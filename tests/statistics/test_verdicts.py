"""The verdict on a rater follows from its figures by a written rule, and its sentences carry them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks import verdicts as simulation
from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.core.engine import Result
from calibration.statistics.replacement import StandIn
from calibration.statistics.verdicts import (
    Baseline,
    Errors,
    Evidence,
    Span,
    VerdictRule,
    Words,
    decide,
    evidence_of,
)

PLAN = Plan(resamples=200)
TURNS = Words(items=("turn", "turns"))


def span(name: str, value: float, low: float, high: float) -> Result:
    return Result(name, value, low, high)


def evidence(**changes) -> Evidence:
    """Evidence on a judge that is as good as people."""
    values = {
        "rater": "gpt",
        "kind": "judge",
        "statistic": "cohen_kappa",
        "n_people": 3,
        "n_clusters": 60,
        "n_events": 80,
        "n_items": 400,
        "n_answered": 400,
        "agreement": span("judge_cohen_kappa", 0.58, 0.49, 0.66),
        "people": span("people_cohen_kappa", 0.62, 0.55, 0.69),
        "gap": span("gap_cohen_kappa", -0.04, -0.11, 0.03),
        "margin": 0.2,
    }
    return Evidence(**(values | changes))


def worse(value: float, half: float) -> dict[str, Result]:
    own = 0.62 + value
    return {
        "agreement": span("judge_cohen_kappa", own, own - half, own + half),
        "gap": span("gap_cohen_kappa", value, value - half, value + half),
    }


CASES = [
    ({}, "trust", "none", "about as well as they agree with each other (κ 0.58 against 0.62)"),
    (worse(-0.05, 0.03), "trust", "none", "less than they agree with each other, but by less than 0.15"),
    (worse(0.1, 0.05), "trust", "none", "better than they agree with each other (κ 0.72 against 0.62)"),
    ({"n_people": 1}, "cannot_say", "more_people", "Only one person rated these turns"),
    ({"n_people": 0}, "cannot_say", "more_people", "No person rated these turns"),
    ({"n_answered": 0}, "cannot_say", "unanswered", "none of the 400 turns that people rated"),
    ({"n_clusters": 9}, "cannot_say", "more_ratings", "Only 9 dialogues can be compared; 10 are needed"),
    ({"n_events": 4}, "cannot_say", "more_ratings", "Only 4 turns got another answer"),
    ({"gap": None, "reason": "no variation"}, "cannot_say", "none", "no variation"),
    (
        {"constant": True, "agreement": None},
        "do_not_trust",
        "disagreements",
        "the same answer to all 400 turns",
    ),
    (worse(-0.4, 0.1), "do_not_trust", "disagreements", "much less than they agree with each other"),
    (worse(-0.4, 0.1) | {"margin": 0.5}, "not_yet", "disagreements", "less than they agree with each other"),
    (worse(-0.15, 0.1), "not_yet", "disagreements", "less than they agree with each other"),
    (worse(-0.05, 0.2), "cannot_say", "more_ratings", "by 0.25 less (κ 0.57 against 0.62)"),
    (
        {
            "agreement": span("judge_cohen_kappa", -0.4, -0.5, -0.3),
            "gap": span("gap_cohen_kappa", -1, -1.1, -0.9),
        },
        "do_not_trust",
        "disagreements",
        "the opposite of what people say",
    ),
    (
        {
            "people": span("people_cohen_kappa", 0.05, -0.1, 0.2),
            "gap": span("gap_cohen_kappa", 0.53, 0.4, 0.6),
        },
        "cannot_say",
        "guidelines",
        "not shown to agree with each other beyond chance (0.05, −0.10 to 0.20)",
    ),
    (
        {
            "people": span("people_cohen_kappa", 0.15, 0.05, 0.25),
            "gap": span("gap_cohen_kappa", 0.43, 0.3, 0.5),
        },
        "not_yet",
        "guidelines",
        "agree with each other by only 0.15",
    ),
    ({"n_answered": 208}, "not_yet", "unanswered", "answered only 208 of the 400 turns that people rated"),
    ({"n_answered": 208, "lowest_gap": -0.1}, "trust", "none", "about as well as"),
    (
        {
            "baseline": Baseline(
                "the number of words",
                span("baseline_spearman", 0.5, 0.4, 0.6),
                span("gap_spearman", 0.05, -0.1, 0.2),
            )
        },
        "not_yet",
        "baselines",
        "not shown to do better than the number of words (ρ 0.50)",
    ),
]


@pytest.mark.parametrize(("changes", "state", "step", "text"), CASES, ids=[str(n) for n in range(len(CASES))])
def test_each_clause_of_the_rule_has_its_state_its_reason_and_its_next_step(
    changes, state, step, text
) -> None:
    verdict = decide(evidence(**changes), words=TURNS)
    assert (verdict.state, verdict.step) == (state, step)
    assert text in " ".join(verdict.reasons)
    assert verdict.reasons[0] in verdict.sentence


def test_a_study_sets_what_must_hold() -> None:
    narrow = evidence(**worse(-0.1, 0.08))
    assert decide(narrow).state == "not_yet"
    assert decide(narrow, VerdictRule(gap=0.2)).state == "trust"
    passed = StandIn("gpt", "passed", ())
    assert decide(replace(narrow, stand_in=passed), VerdictRule(alternative_test="enough")).state == "trust"
    wide = evidence(**worse(-0.05, 0.2), stand_in=passed)
    assert (
        "passes the alternative annotator test"
        in decide(wide, VerdictRule(alternative_test="enough")).sentence
    )
    failed = StandIn("gpt", "not_passed", ("its winning rate is below 0.5",))
    needed = VerdictRule(alternative_test="needed")
    assert decide(evidence(stand_in=passed), needed).state == "trust"
    refused = decide(evidence(stand_in=failed), needed)
    assert refused.state == "not_yet"
    assert "its winning rate is below 0.5" in refused.sentence
    assert decide(evidence(), VerdictRule(people=4)).state == "cannot_say"


def test_what_the_judge_misses_is_counted_in_the_reason() -> None:
    of_misses = decide(
        evidence(**worse(-0.15, 0.1), errors=Errors(apart=12, marked=21, missed=9, extra=3)), words=TURNS
    )
    assert "It misses 9 of the 21 turns that most people marked." in of_misses.sentence
    assert of_misses.next_step == "Read the 12 turns on which it differs most from people."
    of_extras = decide(
        evidence(**worse(-0.15, 0.1), errors=Errors(apart=33, marked=21, missed=1, extra=32)), words=TURNS
    )
    assert "It marks 32 turns that most people did not mark." in of_extras.sentence
    shifted = decide(evidence(**worse(-0.15, 0.1), errors=Errors(apart=5, shift=-0.84)), words=TURNS)
    assert "It rates 0.8 lower than people on average." in shifted.sentence


def test_trust_is_given_only_where_every_condition_holds_and_every_number_is_a_figure() -> None:
    """Random figures: the state follows from the written rule, and sentences name these figures alone."""
    rng, rule, states = np.random.default_rng(5), VerdictRule(), set()
    for _ in range(2000):
        people, value = rng.uniform(0, 0.9), rng.uniform(-1, 0.3)
        half, n = rng.uniform(0.01, 0.3), int(rng.integers(1, 400))
        changes = worse(value, half) | {
            "people": span("people_cohen_kappa", people, people - rng.uniform(0.02, 0.3), people + 0.1),
            "n_people": int(rng.integers(0, 5)),
            "n_clusters": int(rng.integers(5, 90)),
            "n_events": int(rng.integers(0, 90)),
            "n_answered": n,
            "constant": bool(rng.random() < 0.05),
        }
        given = evidence(**changes)
        verdict = decide(given, rule, TURNS)
        states.add(verdict.state)
        gap, agreement, among = (Span.of(getattr(given, name)) for name in ("gap", "agreement", "people"))
        assert gap
        assert agreement
        assert among
        enough = given.n_people >= 2 and given.n_clusters >= 10 and given.n_events >= 20
        if verdict.state == "trust":
            assert enough
            assert not given.constant
            assert gap.low > -rule.gap
            assert agreement.low > 0
            assert among.value >= rule.agreement
            assert given.share >= rule.coverage
        if verdict.state == "do_not_trust":
            assert enough
            assert given.constant or agreement.high < 0 or (gap.high < 0 and gap.value < -given.margin)
        numbers = {abs(x) for s in (gap, agreement, among) for x in (s.value, s.low, s.high)} | {
            rule.agreement,
            rule.gap,
        }
        counts = {given.n_people, given.n_clusters, given.n_events, n, 400, 400 - n, 10, 20, 2}
        for text in re.findall(r"\d+(?:\.\d+)?", " ".join(verdict.reasons)):
            known = {f"{x:.2f}" for x in numbers} | {str(count) for count in counts}
            assert text in known, (text, verdict)
    assert states == {"trust", "not_yet", "do_not_trust", "cannot_say"}


def tagged(seed: int = 1, judge: str = "as good", p: float = 0.3, people: int = 3) -> Ratings:
    return simulation.study(np.random.default_rng(seed), p, 40, people, judge)


def test_the_figures_of_a_verdict_are_those_of_the_report() -> None:
    ratings = tagged()
    (judged,) = evidence_of(ratings, plan=PLAN)
    analysis = analyse(ratings, plan=PLAN)
    for side, figure in (("judge", judged.agreement), ("people", judged.people), ("gap", judged.gap)):
        entry = analysis.find(f"{side}_cohen_kappa", ("judge", "person 0", "person 1", "person 2"))
        assert entry is not None
        assert figure is not None
        assert (figure.value, figure.low, figure.high) == (
            entry.result.value,
            entry.result.low,
            entry.result.high,
        )
    margin = analysis.find("margin_cohen_kappa", ("judge", "person 0", "person 1", "person 2"))
    assert margin is not None
    assert judged.margin == margin.result.value


def test_a_metric_is_correlated_with_the_mean_of_the_other_people_as_each_person_is() -> None:
    rng = np.random.default_rng(3)
    quality = rng.normal(size=200)
    people = np.clip(np.round(3 + quality[:, None] + 0.7 * rng.normal(size=(200, 3))), 1, 5)
    metric = quality + 0.5 * rng.normal(size=200)
    ratings = Ratings.from_matrix(
        np.column_stack([people, -metric]),
        level="ordinal",
        clusters=np.arange(200) // 5,
        raters=["ann", "bob", "cid", "perplexity"],
        kinds=["human", "human", "human", "metric"],
    )
    (judged,) = evidence_of(ratings, plan=PLAN)
    assert judged.statistic == "spearman"
    others = [(people.sum(axis=1) - people[:, j]) / 2 for j in range(3)]
    own = np.mean([spearmanr(-metric, other).statistic for other in others])
    among = np.mean([spearmanr(people[:, j], others[j]).statistic for j in range(3)])
    assert judged.agreement is not None
    assert judged.people is not None
    assert judged.gap is not None
    assert judged.agreement.value == pytest.approx(own, abs=1e-12)
    assert judged.people.value == pytest.approx(among, abs=1e-12)
    assert judged.sign == -1
    assert judged.gap.value == pytest.approx(-own - among, abs=1e-12)
    verdict = decide(judged)
    assert verdict.state == "trust"
    assert "It falls as their ratings rise." in verdict.reasons


def test_a_judge_that_says_the_opposite_is_not_mirrored_as_a_metric_is() -> None:
    ratings = simulation.study(np.random.default_rng(4), simulation.SCORES, 40, 3, "inverted")
    (judged,) = evidence_of(ratings, plan=PLAN)
    assert judged.sign == 1
    assert decide(judged).state == "do_not_trust"


def test_people_who_are_not_identified_are_taken_together() -> None:
    ratings = simulation.study(np.random.default_rng(6), simulation.SCORES, 40, 3, "as good")
    slots = replace(ratings, identified=(False, False, False, True))
    (judged,) = evidence_of(slots, plan=PLAN)
    people, judge = ratings.values[:, :3], ratings.values[:, 3]
    stacked = np.concatenate([people[:, j] for j in range(3)])
    others = np.concatenate([(people.sum(axis=1) - people[:, j]) / 2 for j in range(3)])
    assert judged.people is not None
    assert judged.agreement is not None
    assert judged.people.value == pytest.approx(spearmanr(stacked, others).statistic, abs=1e-12)
    assert judged.agreement.value == pytest.approx(spearmanr(np.tile(judge, 3), others).statistic, abs=1e-12)
    assert judged.margin is None


def test_a_judge_that_follows_the_length_of_the_text_is_not_trusted_yet() -> None:
    rng = np.random.default_rng(8)
    length = rng.integers(5, 300, 300).astype(float)
    people = np.clip(np.round(length[:, None] / 60 + 0.4 * rng.normal(size=(300, 3))), 1, 5)
    ratings = Ratings.from_matrix(
        np.column_stack([people, np.clip(np.round(length / 60), 1, 5)]),
        level="ordinal",
        clusters=np.arange(300) // 6,
        raters=["ann", "bob", "cid", "gpt"],
        kinds=["human"] * 3 + ["judge"],
    )
    lengths = {str(i): (int(n), int(n) // 5) for i, n in enumerate(length)}
    (judged,) = evidence_of(ratings, plan=PLAN, lengths=lengths)
    verdict = decide(judged)
    assert judged.baseline is not None
    assert (verdict.state, verdict.step) == ("not_yet", "baselines")
    assert decide(judged, VerdictRule(baselines=False)).state == "trust"


def test_with_one_person_the_figure_stands_and_the_verdict_waits() -> None:
    ratings = tagged().take([0, 3])
    (judged,) = evidence_of(ratings, plan=PLAN)
    assert judged.agreement is not None
    assert judged.agreement.ok
    assert judged.people is None
    assert decide(judged).step == "more_people"


def test_a_judge_without_people_and_one_without_common_items_have_a_verdict() -> None:
    (alone,) = evidence_of(tagged().take([3]), plan=PLAN)
    assert decide(alone).reasons == ("No person rated these items; 2 people are needed.",)
    ratings = tagged()
    values = ratings.values.copy()
    values[:400, 3], values[400:, :3] = np.nan, np.nan
    (apart,) = evidence_of(ratings.with_values(values), plan=PLAN)
    assert decide(apart).step == "unanswered"


@pytest.mark.exhaustive
@pytest.mark.parametrize("judge", ["coin", "constant", "inverted", "worse"])
def test_a_judge_that_is_no_good_is_hardly_ever_trusted(judge) -> None:
    for p in (0.02, 0.2, 0.5, simulation.SCORES):
        row = simulation._cell((p, 50, 3, judge, 60, 200, VerdictRule()))
        assert row["trust"] <= 0.05, row


@pytest.mark.exhaustive
def test_a_judge_as_good_as_people_is_trusted_and_one_more_person_not_rejected() -> None:
    for p in (0.02, 0.2, 0.5, simulation.SCORES):
        assert simulation._cell((p, 150, 3, "as good", 40, 200, VerdictRule()))["trust"] >= 0.8
        assert simulation._cell((p, 50, 3, "one more", 60, 200, VerdictRule()))["do_not_trust"] <= 0.05
