"""Questions declared equivalent: which raters are compared, and on which scale."""

from __future__ import annotations

import pytest

from annotation.schemes import SCHEMES
from calibration.ratings.ratings import COUNTERPARTS, counterpart
from judges.protocols import PROTOCOLS, Protocol
from judges.protocols.rubric import EXPECTED_SCHEME, Rubric

FIVE = [1, 2, 3, 4, 5]
KNOWN = {
    **SCHEMES,
    **{scheme.key: scheme for protocol in PROTOCOLS.values() for scheme, _ in protocol.answers.values()},
}


@pytest.mark.parametrize("questions", COUNTERPARTS, ids="/".join)
def test_both_questions_exist_and_are_about_the_same_kind_of_item(
    questions: tuple[str, str, str, str],
) -> None:
    scheme, question, other, other_question = questions
    assert KNOWN[scheme].question(question)
    assert KNOWN[other].question(other_question)
    assert KNOWN[scheme].item_kind == KNOWN[other].item_kind


@pytest.mark.parametrize(
    ("people", "judge", "kind", "shares_categories"),
    [
        (("comperdial_turn", "overall"), ("original_simple", "overall"), "identity", True),
        (("comperdial_turn", "overall"), ("original_detail", "engagingness"), "rank", False),
        (("comperdial_dialogue", "overall"), ("cpdscore_dialogue", "turn_score"), "identity", False),
        (("comperdial_dialogue", "overall"), ("cpdscore_dialogue", "final"), "identity", False),
        (("comperdial_turn", "overall"), ("rubric_expected:comperdial_turn", "overall"), "identity", False),
    ],
)
def test_a_judges_question_meets_peoples_and_shares_categories_only_where_it_has_them(
    people: tuple[str, str], judge: tuple[str, str], kind: str, shares_categories: bool
) -> None:
    found = counterpart(*people, *judge)
    assert found is not None
    assert found.kind == kind
    values = KNOWN[judge[0]].question(judge[1]).values if judge[0] in KNOWN else ()
    assert found.on_scale(list(values), FIVE) is shares_categories


def test_what_asks_something_else_meets_nobody() -> None:
    assert counterpart("comperdial_dialogue", "overall", "cpdscore_dialogue", "interaction") is None
    assert counterpart("comperdial_turn", "overall", "rubric_expected:fed_turn", "overall") is None
    assert counterpart("comperdial_turn", "overall", "rubric_expected:comperdial_turn", "other") is None


def test_the_scheme_of_expected_scores_is_named_as_rubrics_name_it() -> None:
    rubric: Protocol = Rubric().over(SCHEMES["fed_turn"], "expected")
    (scheme,) = {scheme.key for scheme, _ in rubric.answers.values()}
    assert scheme == f"{EXPECTED_SCHEME}fed_turn"
    assert counterpart("fed_turn", "overall", scheme, "overall") is not None
