"""Win rates, strengths, agreement and position bias of pairs, against closed forms and independent fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from calibration.statistics import Plan
from calibration.statistics.preference_strengths import (
    BOTH_BAD,
    FIRST,
    LABELS,
    MODELS,
    SECOND,
    TIE,
    Fitted,
    Standings,
    Tables,
    Vote,
    checked,
    fitted,
    games_of,
    ranks_of,
    standings,
    verdicts,
)
from calibration.statistics.preferences import (
    Choices,
    agreement,
    kendall_w,
    position_bias,
    preferences,
    ranked_alike,
)

QUICK, POINT = Plan(resamples=200), Plan(resamples=0)
TURNED = {FIRST: SECOND, SECOND: FIRST, TIE: TIE, BOTH_BAD: BOTH_BAD}
ELO = 400 / np.log(10)


def _votes(*counts: tuple[str, str, str, int]) -> list[Vote]:
    """Return votes of one rater: two systems, the label, how often; each item a cluster."""
    return [
        Vote(f"{one}-{other}-{label}-{n}", "r", label, (one, other))
        for one, other, label, times in counts
        for n in range(times)
    ]


def _random(n: int, systems: int = 5, seed: int = 0, raters: tuple[str, ...] = ("r",)) -> list[Vote]:
    """Return votes on n items in n / 4 dialogues, the systems of growing strength."""
    rng = np.random.default_rng(seed)
    votes = []
    for item in range(n):
        i, j = rng.choice(systems, 2, replace=False)
        for rater in raters:
            up, down = np.exp((i - j) / 4), np.exp((j - i) / 4)
            weights = np.array([up, down, 0.5, 0.1])
            label = rng.choice([FIRST, SECOND, TIE, BOTH_BAD], p=weights / weights.sum())
            votes.append(Vote(str(item), rater, str(label), (f"s{i}", f"s{j}"), f"d{item // 4}"))
    return votes


def _standings(votes: list[Vote], plan: Plan = POINT, **how: object) -> Standings:
    return standings(games_of(verdicts(votes)), plan, **how)  # type: ignore[arg-type]


def test_two_systems_meet_the_closed_form() -> None:
    votes = _votes(("a", "b", FIRST, 30), ("b", "a", FIRST, 12), ("a", "b", TIE, 8))
    made = _standings(votes)
    a, b = made.systems
    assert (a.system, a.wins, a.ties, a.losses) == ("a", 30, 8, 12)
    assert a.win_rate.value == 34 / 50
    assert a.strength.value - b.strength.value == pytest.approx(ELO * np.log(34 / 16), abs=1e-8)  # type: ignore[operator]
    assert a.strength.value + b.strength.value == pytest.approx(2000)  # type: ignore[operator]
    assert made.meetings[0].expected.value == pytest.approx(34 / 50, abs=1e-10)
    davidson = _standings(votes, model="davidson")
    assert davidson.tie is not None
    assert davidson.tie.value == pytest.approx(8 / np.sqrt(30 * 12), abs=1e-8)
    dropped = _standings(votes, model="drop", anchor="b")
    assert [s.strength.value for s in dropped.systems] == pytest.approx([1000 + ELO * np.log(30 / 12), 1000])
    assert dropped.systems[0].win_rate.value == 30 / 42


def test_strengths_are_those_of_a_logistic_regression() -> None:
    votes = _random(400)
    games = games_of(verdicts(votes))
    decided = games.outcome != 0
    a, b, won = games.a[decided], games.b[decided], games.outcome[decided] > 0
    design = np.zeros((len(a), len(games.systems)))
    design[np.arange(len(a)), a], design[np.arange(len(a)), b] = 1, -1
    logit = sm.Logit(won.astype(float), design[:, 1:]).fit(disp=0, tol=1e-14, maxiter=200)
    wanted = np.concatenate([[0], logit.params])
    found = fitted(games.tables(POINT)[0], "drop").strengths[0]
    assert found == pytest.approx(wanted - wanted.mean(), abs=1e-8)


def test_the_model_with_a_tie_parameter_is_at_the_maximum_of_its_likelihood() -> None:
    tables = games_of(verdicts(_random(400))).tables(POINT)[0]
    n = tables.wins.shape[1]

    def loss(free: np.ndarray) -> float:
        found = Fitted(free[None, :n], np.exp(free[n:]))
        d = free[:n, None] - free[None, :n]
        total = np.exp(d / 2) + np.exp(-d / 2) + found.tie[0]
        ties = (tables.ties[0] * np.log(found.tie[0] / total)).sum() / 2
        return -float((tables.wins[0] * (d / 2 - np.log(total))).sum() + ties)

    found = fitted(tables, "davidson")
    best = minimize(loss, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-6})
    assert found.strengths[0] == pytest.approx(best.x[:n] - best.x[:n].mean(), abs=1e-5)
    here = np.append(found.strengths[0], np.log(found.tie))
    assert loss(here) <= best.fun + 1e-9
    slopes = [(loss(here + step) - loss(here - step)) / 2e-5 for step in 1e-5 * np.eye(n + 1)]
    assert slopes == pytest.approx(np.zeros(n + 1), abs=1e-5)


def test_a_resample_is_fitted_as_if_its_clusters_were_the_data() -> None:
    games = games_of(verdicts(_random(120, systems=3)))
    whole, parts = games.tables(Plan(resamples=3, seed=4))
    drawn = next(iter(parts))
    for model in MODELS:
        both = fitted(drawn, model)  # type: ignore[arg-type]
        for row in range(3):
            alone = fitted(Tables(drawn.wins[row : row + 1], drawn.ties[row : row + 1]), model)  # type: ignore[arg-type]
            assert both.strengths[row] == pytest.approx(alone.strengths[0], abs=1e-9)
    assert whole.n.sum() / 2 == 120


def test_strengths_without_a_way_back_are_undefined_with_a_reason() -> None:
    made = _standings(_votes(("a", "b", FIRST, 9), ("b", "c", FIRST, 5), ("c", "b", FIRST, 5)))
    assert {s.strength.status for s in made.systems} == {"undefined"}
    assert made.systems[0].strength.reason.startswith("a never lost a point to b, c")
    assert made.systems[0].system == "a"
    assert made.systems[0].win_rate.value == 1
    parted = _standings(_votes(("a", "b", TIE, 9), ("c", "d", TIE, 5)))
    assert "never compared: a, b with c, d" in parted.systems[0].strength.reason
    half = _votes(("a", "b", FIRST, 3), ("a", "b", TIE, 3))
    assert _standings(half).systems[0].strength.ok
    assert "no maximum" in _standings(half, model="davidson").systems[0].strength.reason
    assert "ties are left out" in _standings(half, model="drop").systems[0].strength.reason


def test_resamples_without_strengths_are_counted_and_leave_no_interval() -> None:
    votes = _votes(("a", "b", FIRST, 30), ("b", "a", FIRST, 1))
    strength = _standings(votes, QUICK).systems[0].strength
    assert strength.ok
    assert strength.low is None
    assert "undefined_resamples" in strength.flags
    assert "undefined in" in strength.reason


def test_every_figure_has_its_interval_and_what_it_rests_on() -> None:
    votes = _random(400, raters=("p", "q"))
    made = _standings(votes, QUICK)
    for one in made.systems:
        for result in (one.win_rate, one.strength, one.rank):
            assert result.low is not None
            assert result.low <= result.value <= result.high  # type: ignore[operator]
            assert result.n_raters == 2
            assert 0 < result.n_clusters <= 100
            assert result.n_items <= 400
    assert made.systems[0].system == "s4"
    assert made.systems[0].rank.value == 1
    assert float(made.systems[0].rank.low or 0).is_integer()
    again = _standings(votes, QUICK)
    assert again == made


def test_a_cluster_given_twice_over_is_no_more_evidence() -> None:
    votes = _random(200, systems=3)
    doubled = votes + [replace(vote, item=f"{vote.item}'") for vote in votes]
    once, twice = (_standings(v, QUICK).systems[0].strength for v in (votes, doubled))
    assert twice.value == pytest.approx(once.value)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("both_bad", ["tie", "drop"])
def test_both_bad_counts_as_declared(both_bad: str) -> None:
    votes = _votes(("a", "b", FIRST, 2), ("a", "b", BOTH_BAD, 2))
    found = preferences(votes, Choices(both_bad=both_bad), POINT).voters[0].standings  # type: ignore[arg-type]
    assert found.systems[0].win_rate.value == (0.75 if both_bad == "tie" else 1.0)


def test_swapping_every_pair_changes_nothing_but_the_numbers_of_the_members() -> None:
    votes = _random(150, raters=("p", "q", "r"))
    flip = np.random.default_rng(1).random(150) < 0.5
    swapped = [
        replace(v, systems=v.systems[::-1], label=TURNED[v.label or ""]) if flip[int(v.item)] else v
        for v in votes
    ]
    one, other = (preferences(v, plan=QUICK) for v in (votes, swapped))
    assert [s.win_rate for s in one.voters[0].standings.systems] == [
        s.win_rate for s in other.voters[0].standings.systems
    ]
    for mine, theirs in zip(one.agreement, other.agreement, strict=True):
        assert [f for r in mine.results for f in (r.value, r.low)] == pytest.approx(
            [f for r in theirs.results for f in (r.value, r.low)]
        )


def test_kappa_is_cohens_of_the_items_read_both_ways_round() -> None:
    votes = _random(200, raters=("p", "q"))
    found = {a.setup: a.results for a in agreement(verdicts(votes), POINT) if a.raters == ("p", "q")}
    by_rater = [[v.label for v in votes if v.rater == rater] for rater in ("p", "q")]
    both = [[*labels, *(TURNED[x] for x in labels if x)] for labels in by_rater]
    answered = [
        a for a in agreement(verdicts(votes), POINT) if a.setup == "as_answered" and len(a.results) == 2
    ]
    assert answered[0].results[1].value == pytest.approx(
        cohen_kappa_score(*both, labels=list(LABELS)), abs=1e-12
    )
    decided = [pair for pair in zip(*by_rater, strict=True) if set(pair) <= {FIRST, SECOND}]
    share = np.mean([one == other for one, other in decided])
    percent, kappa = found["without_ties"]
    assert percent.value == pytest.approx(share)
    assert kappa.value == pytest.approx(2 * share - 1)
    assert percent.n_items == len(decided)


def test_repeated_answers_that_differ_are_a_tie() -> None:
    answers = [FIRST, SECOND], [FIRST, FIRST], [FIRST, TIE], [BOTH_BAD, BOTH_BAD], [FIRST, None]
    votes = [
        Vote(str(item), "j", label, ("a", "b"), sample=sample)
        for item, labels in enumerate(answers)
        for sample, label in enumerate(labels)
    ]
    assert [v.label for v in verdicts(votes)] == [TIE, FIRST, TIE, BOTH_BAD, FIRST]


def _asked(straight: str | None, swapped: str | None, times: int, start: int) -> list[Vote]:
    return [
        Vote(str(start + n), "j", label, ("a", "b"), kind="judge", swapped=bool(order), sample=order)
        for n in range(times)
        for order, label in enumerate((straight, swapped))
    ]


def test_a_judge_asked_in_both_orders_shows_its_pull_to_a_position() -> None:
    votes = [
        *_asked(FIRST, FIRST, 50, 0),
        *_asked(SECOND, SECOND, 10, 50),
        *_asked(FIRST, SECOND, 25, 60),
        *_asked(SECOND, FIRST, 5, 85),
        *_asked(TIE, FIRST, 10, 90),
        *_asked(FIRST, None, 7, 100),
    ]
    found = position_bias(votes, "j", QUICK)
    assert found is not None
    assert found.swaps is not None
    assert {key: result.value for key, result in found.swaps.items()} == {
        "consistent": 0.6,
        "for_first": 0.25,
        "for_second": 0.05,
        "otherwise": 0.1,
    }
    assert found.swaps["consistent"].n_items == 100
    assert found.swaps["consistent"].n_missing == 7
    shown_first = (50 + 0) + (0 + 10) + 50 + 0 + 0 + 7  # straight first, swapped second, and the pulled ones
    assert found.shown_first.value == pytest.approx(shown_first / (100 + 20 + 50 + 10 + 10 + 7))
    only = position_bias([v for v in votes if v.sample == 0], "j", QUICK)
    assert only is not None
    assert only.swaps is None
    assert "one_order" in only.shown_first.flags
    assert position_bias([replace(v, swapped=None) for v in votes], "j", QUICK) is None


def test_rankings_become_games_of_one_item() -> None:
    votes = [Vote("i", "p", "2>0=1", ("a", "b", "c")), Vote("i", "q", "2>1>0", ("a", "b", "c"))]
    games = games_of(verdicts(votes))
    assert len(games.a) == 6
    assert len(set(games.items)) == 1
    made = _standings(votes)
    c = next(s for s in made.systems if s.system == "c")
    assert (c.wins, c.losses, c.win_rate.value, c.win_rate.n_items) == (4, 0, 1.0, 1)
    assert ranks_of("2>0=1", 3) == (2.5, 2.5, 1.0)


def test_tau_and_w_of_rankings_meet_the_libraries() -> None:
    one, other = "0>1=2>3", "1>0>3=2"
    votes = [Vote("i", r, text, tuple("abcd")) for r, text in (("p", one), ("q", other))]
    whole, pair = ranked_alike(verdicts(votes), POINT)
    x, y = ranks_of(one, 4), ranks_of(other, 4)
    assert pair.result.value == pytest.approx(kendalltau(x, y).statistic)
    assert whole.result.value == pytest.approx(kendall_w(np.array([x, y])))
    assert kendall_w(np.array([[1, 2, 3], [1, 2, 3], [1, 2, 3.0]])) == 1
    untied = np.array([[1, 2, 3, 4], [2, 1, 4, 3], [4, 1, 2, 3.0]])
    chi_square = 12 * ((untied.sum(axis=0) - 7.5) ** 2).sum() / (9 * (64 - 4))
    assert kendall_w(untied) == pytest.approx(chi_square)
    assert np.isnan(kendall_w(np.full((3, 3), 2.0)))


@pytest.mark.parametrize("text", ["2>0", "0>0>1", "0>1>3", "a>b", "", "0,1,2", ">0>1>2"])
def test_what_does_not_rank_every_member_once_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"ranking|each of the 3"):
        checked(Vote("i", "r", text, ("a", "b", "c")))


def test_people_count_together_and_every_judge_alone() -> None:
    votes = [
        replace(v, kind="judge" if v.rater == "j" else "human", swapped=int(v.item) % 2 == 0)
        for v in _random(60, systems=3, raters=("p", "q", "j"))
    ]
    made = preferences(votes, plan=POINT)
    assert [(v.name, v.raters) for v in made.voters] == [("people", ("p", "q")), ("j", ("j",))]
    assert [p.rater for p in made.positions] == ["p", "q", "j"]
    assert made.voters[0].standings.systems[0].win_rate.n_raters == 2


def test_nothing_but_missing_answers_is_said_so() -> None:
    lost = [replace(v, label=None) for v in _random(8)]
    with pytest.raises(ValueError, match="no answer"):
        preferences(lost)
    more = [
        *(replace(v, kind="human") for v in _random(8)),
        *(replace(v, rater="j", kind="judge") for v in lost),
    ]
    made = preferences(more, plan=POINT)
    assert made.voters[1].standings.systems == ()
    assert made.voters[1].n_missing == 8
