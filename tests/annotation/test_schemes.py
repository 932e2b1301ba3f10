"""Every built-in scheme can be answered, and has explanations and distinct names."""

import pytest

from annotation.schemes import SCHEMES
from annotation.schemes.ratings import ASPECTS

RESERVED = set("ugc?mxv")
PAIRS = [(scheme, question) for scheme in SCHEMES.values() for question in scheme.questions]


@pytest.mark.parametrize("key", SCHEMES)
def test_a_scheme_is_found_under_its_own_key_and_explains_itself(key):
    scheme = SCHEMES[key]
    assert scheme.key == key
    assert scheme.title
    assert scheme.introduction
    assert scheme.source
    assert len({question.key for question in scheme.questions}) == len(scheme.questions)


@pytest.mark.parametrize("key", SCHEMES)
def test_letter_keys_are_distinct_and_do_not_clash_with_the_page(key):
    shortcuts = [question.shortcut for question in SCHEMES[key].questions if question.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)
    assert not RESERVED & set(shortcuts)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("scheme", "question"), PAIRS, ids=lambda part: part.key)
def test_a_question_is_consistent_in_itself(scheme, question):
    assert question.wording
    assert set(question.anchors) <= set(question.values)
    if question.level == "binary":
        assert question.values == (0, 1)
        assert question.positive in (0, 1)
    if question.show_if:
        asked_before = [other.key for other in scheme.questions[: scheme.questions.index(question)]]
        assert question.show_if["question"] in asked_before


def test_the_ten_behaviours_come_in_two_groups_of_five():
    groups: dict[str, list[str]] = {}
    for question in SCHEMES["cocoeval_behaviours"].questions:
        groups.setdefault(question.group, []).append(question.shortcut)
    assert groups["Inconsistent"] == list("asdfr")
    assert groups["Uncollaborative"] == list("hjkli")
    assert groups["Other"][0] == "o"


def test_a_low_dialogue_score_asks_for_each_of_the_six_aspects():
    scheme = SCHEMES["comperdial_dialogue"]
    asked = [
        question.key for question in scheme.questions if question.show_if == {"question": "overall", "max": 3}
    ]
    assert asked == [f"low_{aspect}" for aspect in ASPECTS]


def test_overall_scores_of_a_continuation_are_anchored_at_every_value():
    for question in SCHEMES["cocoeval_overall"].questions:
        assert tuple(question.anchors) == question.values == tuple(range(1, 11))


def test_the_same_definition_has_the_same_hash_and_another_one_a_different_hash():
    hashes = {scheme.content_hash() for scheme in SCHEMES.values()}
    assert len(hashes) == len(SCHEMES)
