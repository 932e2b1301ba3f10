"""Quiz questions: who was present, and what was said so far, decide which can be answered."""

from __future__ import annotations

import pytest

from suites.long_dialogue.scripts.quiz import dated, quiz_use

HEARD = {1, 2, 4, 5, 6}
WORDS = {
    "before": ("unanswerable", "before_event_unans"),
    "excluded": ("excluded", ""),
    "known": ("answerable", "ans_wo_time"),
    "absent": ("unanswerable", "dont_know_unans"),
}


@pytest.mark.parametrize(
    ("evidence", "needed", "wanted"),
    [
        ({2}, "one", "before excluded known known known"),
        ({3}, "one", "absent absent absent absent absent"),
        ({3, 4}, "one", "before before before excluded known"),
        ({2, 4}, "all", "before before before excluded known"),
        ({3, 4}, "all", "excluded excluded excluded excluded excluded"),
    ],
)
@pytest.mark.parametrize("policy", ["body", "appendix"])
def test_the_worked_example_row_by_row(evidence: set[int], needed: str, wanted: str, policy: str) -> None:
    for t, word in enumerate(wanted.split(), start=1):
        verdict = quiz_use(HEARD, evidence, needed == "all", t, policy)
        expected = WORDS["excluded" if (word, policy) == ("before", "appendix") else word]
        assert (verdict.kind, verdict.type) == expected, t


def test_the_first_session_heard_is_the_why() -> None:
    assert quiz_use(HEARD, {3, 4, 5}, False, 6).sessions == (4,)
    assert quiz_use(HEARD, {2, 4}, True, 6).sessions == (2, 4)


def test_with_a_date_the_type_says_so_and_nothing_is_asked_before_the_evidence() -> None:
    assert dated(quiz_use(HEARD, {2}, False, 4)).type == "ans_w_time"
    assert dated(quiz_use(HEARD, {3}, False, 4)).type == "dont_know_unans_time"
    assert dated(quiz_use(HEARD, {2}, False, 1)).kind == "excluded"
    assert dated(quiz_use(HEARD, {2}, False, 2)).kind == "excluded"


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="'paper' is no policy"):
        quiz_use(HEARD, {2}, False, 1, "paper")
