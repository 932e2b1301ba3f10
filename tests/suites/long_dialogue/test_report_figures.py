"""The figures of a row of the Answers report, against small examples worked by hand and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan
from suites.long_dialogue.answers import figures
from suites.long_dialogue.answers.figures import Answers, Sheet, row_figures
from suites.long_dialogue.answers.report import accuracy as accuracy_table
from suites.long_dialogue.answers.rows import AnswerRow, groups
from tests.suites.long_dialogue.answers_small import row

WORDS = {"format": "open", "outcome": "text", "reply": "Some kind of footwear, was it?"}
PLAN = Plan(resamples=400, seed=0)


def made_of(rows: list[AnswerRow], by: tuple[str, ...] = ("system", "condition"), plan: Plan = PLAN):
    answers = Answers(Sheet(rows, plan))
    return list(row_figures(answers, groups(rows, by), "strict"))


def walk(trial: int, letters: str, keys: str, **fields) -> list[AnswerRow]:
    pairs = zip(letters, keys, strict=True)
    return [
        row(trial=trial, session=at, outcome=letter, key=key, **fields)
        for at, (letter, key) in enumerate(pairs, start=1)
    ]


def test_accuracy_is_the_mean_over_trials_with_their_standard_deviation() -> None:
    (found,) = made_of([*walk(0, "ABCD", "ABCE"), *walk(1, "AEED", "ABCE")])
    assert found.accuracy.value == pytest.approx((0.75 + 0.25) / 2)
    assert found.accuracy.sd == pytest.approx(np.sqrt(0.125))
    assert found.accuracy.trials == (0.75, 0.25)
    assert (found.accuracy.result.n_items, found.accuracy.result.n_clusters) == (8, 4)
    assert "few_clusters" in found.accuracy.result.flags


def test_one_trial_has_no_standard_deviation() -> None:
    (found,) = made_of(walk(0, "ABCD", "ABCE"))
    assert found.accuracy.sd is None


def test_trials_of_unequal_length_count_alike() -> None:
    (found,) = made_of([*walk(0, "AAAA", "AAAA"), *walk(1, "BB", "AA")])
    assert found.accuracy.value == 0.5


def test_rows_that_were_not_asked_the_same_are_compared_on_what_all_were_asked() -> None:
    """`strong` was asked two more questions, which it failed: on the shared two it is ahead, alone behind."""
    rows = [*walk(0, "ABEE", "ABCD", system="strong"), *walk(0, "AB", "AC", system="weak")]
    strong, weak = made_of(rows)
    assert (strong.accuracy.value, weak.accuracy.value) == (0.5, 0.5)
    assert (strong.on_shared.value, weak.on_shared.value) == (1.0, 0.5)
    table = accuracy_table([strong, weak])
    assert table.heads[1] == "On shared questions"
    assert "2 of 6 answers are left out of it." in table.notes[1]


def test_rows_without_a_question_in_common_are_not_to_be_compared() -> None:
    rows = [*walk(0, "AB", "AB", system="strong"), *walk(1, "AB", "AC", system="weak")]
    made = made_of(rows)
    assert [one.on_shared.result.reason for one in made] == ["no question was asked in every row"] * 2
    assert "the rows are not to be compared" in accuracy_table(made).notes[1]


def test_rows_asked_the_same_have_no_second_accuracy() -> None:
    rows = [*walk(0, "AB", "AB", system="strong"), *walk(0, "AB", "AC", system="weak")]
    assert accuracy_table(made_of(rows)).heads[:2] == ("Accuracy", "Strict")


def test_the_interval_resamples_sessions_with_all_their_trials() -> None:
    """All trials agree within a session, so the interval is that of sessions alone: sqrt(p q / n)."""
    n = 200
    letters = "AB" * (n // 2)
    one = walk(0, letters, "A" * n, sessions=n)
    many = [*one, *walk(1, letters, "A" * n, sessions=n), *walk(2, letters, "A" * n, sessions=n)]
    plan = Plan(resamples=4000, seed=1)
    (single,), (triple,) = made_of(one, plan=plan), made_of(many, plan=plan)
    assert (single.accuracy.result.low, single.accuracy.result.high) == (
        triple.accuracy.result.low,
        triple.accuracy.result.high,
    )
    width = triple.accuracy.result.high - triple.accuracy.result.low
    assert width == pytest.approx(2 * 1.96 * np.sqrt(0.25 / n), rel=0.06)


def test_sessions_are_drawn_within_their_scripts() -> None:
    """One script all right, the other all wrong: drawing within scripts, no resample differs."""
    rows = [*walk(0, "AAAA", "AAAA", script="x"), *walk(0, "BBBB", "AAAA", script="y")]
    (found,) = made_of(rows)
    assert found.accuracy.value == 0.5
    assert found.accuracy.result.low is None
    assert "the same in every resample" in found.accuracy.result.reason


def test_the_same_seed_gives_the_same_digits() -> None:
    rows = walk(0, "ABCDABCD", "AAAAAAAA")
    first, again = (made_of(rows)[0].accuracy.as_dict() for _ in range(2))
    assert first == again
    backwards = made_of(rows[::-1])[0].accuracy.as_dict()
    assert backwards == first, "the order of the answers changes nothing"


def test_what_is_missing_bounds_the_accuracy() -> None:
    (found,) = made_of([*walk(0, "AB", "AA"), row(session=3, outcome="failed"), row(session=4, **WORDS)])
    assert (found.accuracy.value, found.accuracy.result.n_missing) == (0.5, 2)
    assert (found.low.value, found.high.value) == (0.25, 0.75)
    assert (found.counts.failed, found.counts.waiting) == (1, 1)


def test_nothing_known_is_no_number() -> None:
    (found,) = made_of([row(outcome="failed")])
    assert found.accuracy.value is None
    assert found.accuracy.result.reason == "of none of these answers it is known whether it is right"
    assert (found.low.value, found.high.value) == (0, 1)


def test_strict_and_lenient_stand_side_by_side() -> None:
    (found,) = made_of([row(session=1, lenient=True), row(session=2)])
    assert (found.strict.value, found.lenient.value, found.accuracy.value) == (0.5, 1.0, 0.5)


def test_factors_split_the_answers() -> None:
    tkg = {"source": "tkg", "hops": 2, "use": "past_current", "relations": ["boss", "hometown"]}
    rows = [
        row(session=1, distance={"sessions": 0, "tokens": 999}),
        row(session=3, outcome="B", distance={"sessions": 9, "tokens": 1000}),
        row(session=8, forms=["past", "present"], distance={"sessions": 200, "tokens": 200_000}, **tkg),
    ]
    (found,) = made_of(rows)
    values = {key: {name: figure.value for name, figure in by.items()} for key, by in found.by.items()}
    assert values["source"] == {"quiz": 0.5, "tkg": 1.0}
    assert values["hops"] == {"2": 1.0}, "a quiz question has no hops"
    assert values["relation"] == {"boss": 1.0, "hometown": 1.0}
    assert values["shape"] == {"past-present": 1.0}
    assert values["sessions"] == {"0": 1.0, "2 to 9": 0.0, "200 or more": 1.0}
    assert values["tokens"] == {"0 to 999": 1.0, "1,000 to 9,999": 0.0, "200,000 or more": 1.0}
    assert values["position"] == {"first quarter": 1.0, "second quarter": 0.0, "last quarter": 1.0}
    assert list(values["sessions"]) == ["0", "2 to 9", "200 or more"], "bins stand in their order"


def test_abstention_has_precision_and_recall() -> None:
    """Keys E E E A A, chosen E E B E A: share 3/5, precision 2/3, recall 2/3."""
    (found,) = made_of(walk(0, "EEBEA", "EEEAA"))
    told = {name: figure.value for name, figure in found.abstention.items()}
    assert told == pytest.approx({"share": 0.6, "precision": 2 / 3, "recall": 2 / 3})
    (never,) = made_of(walk(0, "AB", "AB"))
    assert never.abstention["precision"].result.reason == "(E) was never chosen"
    assert never.abstention["recall"].result.reason == "no key is (E)"


def test_retrieval_is_told_of_answerable_questions() -> None:
    rows = [
        row(session=1, retrieval={"evidence": "sufficient"}),
        row(session=2, retrieval={"evidence": "sufficient"}, outcome="B"),
        row(session=3, retrieval={"evidence": "partly"}),
        row(session=4, retrieval={"evidence": "none"}, outcome="B"),
        row(session=5, retrieval={"evidence": "none"}, key="E", outcome="E"),
    ]
    (found,) = made_of(rows)
    assert {state: told["share"].value for state, told in found.retrieval.items()} == {
        "sufficient": 0.5,
        "partly": 0.25,
        "none": 0.25,
    }
    assert {state: told["accuracy"].value for state, told in found.retrieval.items()} == {
        "sufficient": 0.5,
        "partly": 1.0,
        "none": 0.0,
    }


def test_the_gap_to_the_oracle_is_paired_by_question_and_trial() -> None:
    """Sessions 1 to 4: the oracle is right on 1, 2, 3 and was not asked in 4; base on 1 and 4."""
    oracle = {"condition": {"model": "m", "memory": "oracle"}}
    rows = [*walk(0, "ABBA", "AAAA"), *walk(0, "AAA", "AAA", **oracle)]
    base, best = sorted(made_of(rows), key=lambda found: found.group.condition["memory"])
    assert base.gap.value == pytest.approx(2 / 3)
    assert base.gap.result.n_items == 3
    assert best.gap.result.reason == figures.IS_ORACLE
    (alone,) = made_of(walk(0, "AB", "AA"))
    assert alone.gap.result.reason == figures.NO_ORACLE


def test_shares_are_those_achieved() -> None:
    rows = walk(0, "AAEB", "AAEE")
    drawn = [
        row(
            session=5,
            **{"class": {"wanted": "unanswerable", "asked": "answerable", "owed": ["unanswerable"]}},
        ),
        row(session=6, source="tkg", hops=1, **{"class": {"wanted": "answerable", "owed": ["unanswerable"]}}),
    ]
    (found,) = made_of([*rows, *drawn])
    told = {name: figure.value for name, figure in found.shares.items()}
    assert told["unanswerable"] == pytest.approx(2 / 6)
    assert told["always_e"] == pytest.approx(2 / 6)
    assert told["unanswerable_wanted"] == 0.5
    assert told["quiz"] == pytest.approx(5 / 6)
    assert found.counts.owed == 1, "what is owed after the last question"


def test_counts_tell_outcomes_apart() -> None:
    outcomes = ("ambiguous", "none", "late", "failed")
    rows = [row(session=at, outcome=outcome) for at, outcome in enumerate(outcomes, start=1)]
    rows.append(row(session=5, **WORDS))
    (found,) = made_of(rows)
    counted = found.counts.as_dict()
    assert (counted["asked"], counted["trials"]) == (5, 1)
    assert [counted[name] for name in ("ambiguous", "none", "late", "failed", "waiting")] == [1] * 5


def test_rows_are_by_what_varies() -> None:
    settings = [{"model": "m", "memory": memory, "k": k} for memory, k in (("base", "1"), ("session", "1"))]
    rows = [row(session=at, condition=one) for at in (1, 2) for one in settings]
    assert [dict(group.condition) for group in groups(rows, ("system", "condition"))] == [
        {"memory": "base"},
        {"memory": "session"},
    ]
    (pooled,) = groups(rows, ("model",))
    assert (pooled.condition, len(pooled.rows)) == ({"model": "m"}, 4)
    assert [group.name for group in groups(rows, ("memory",))] == ["m, memory base", "m, memory session"]
