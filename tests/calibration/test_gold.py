"""Gold labels record the selected value and the rule, and the reason for a missing value."""

from __future__ import annotations

import json

import pytest

from calibration.errors import GoldRuleError
from calibration.gold.export import provenance
from calibration.models import Gold
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def tagged() -> World:
    """Four turns tagged by three people, of whom one left an item out."""
    built = world(dialogues=1, turns=4)
    built.ask("off_topic", "binary", [0, 1], scheme="tags")
    built.say("ann", "off_topic", [1.0, 0.0, 1.0, None])
    built.say("ben", "off_topic", [1.0, 0.0, 0.0, None])
    built.say("cem", "off_topic", [0.0, 0.0])
    return built


def _told(gold: Gold) -> list[tuple[float | str | None, str, int]]:
    labels = gold.labels.order_by("item_id")
    return [
        (label.number if label.text is None else label.text, label.reason, label.n_raters) for label in labels
    ]


def test_the_majority_is_the_answer_most_people_gave(tagged: World) -> None:
    assert _told(tagged.gold())[:2] == [(1.0, "", 3), (0.0, "", 3)]


def test_a_tie_has_no_gold_label_and_says_what_was_tied(tagged: World) -> None:
    assert _told(tagged.gold())[2] == (None, "tie: 0 and 1 with 1 of 2 each", 2)


def test_an_item_without_answers_has_no_gold_label(tagged: World) -> None:
    assert _told(tagged.gold())[3] == (None, "no rater gave an answer", 0)


def test_ties_go_to_the_lowest_value_where_that_is_asked(tagged: World) -> None:
    gold = tagged.gold(options={"ties": "lowest"})
    assert _told(gold)[2] == (0.0, "", 2)
    assert gold.options["ties"] == "lowest"


def test_support_and_votes_stay_with_each_label(tagged: World) -> None:
    first = tagged.gold().labels.order_by("item_id")[0]
    assert first.votes == {"0": 1, "1": 2}
    assert first.support == pytest.approx(2 / 3)


def test_the_same_answers_and_rule_give_the_gold_that_was_made_before(tagged: World) -> None:
    assert tagged.gold() == tagged.gold()
    assert Gold.objects.count() == 1


def test_another_answer_makes_another_gold(tagged: World) -> None:
    first = tagged.gold()
    tagged.say("dee", "off_topic", [1.0])
    assert tagged.gold().inputs_hash != first.inputs_hash


def test_only_people_count_unless_raters_are_named(tagged: World) -> None:
    tagged.say("gpt", "off_topic", [0.0, 1.0, 0.0, 1.0], kind="judge")
    assert tagged.gold().options["raters"] == ["ann", "ben", "cem"]
    assert _told(tagged.gold(raters=["ben", "gpt"]))[3] == (1.0, "", 1)


def test_a_mean_needs_an_ordered_scale(tagged: World) -> None:
    with pytest.raises(GoldRuleError, match="ordered scale"):
        tagged.gold("mean")


def test_the_mean_and_the_median_of_ratings() -> None:
    built = world(dialogues=1, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    for name, values in {"ann": [1.0, 2.0], "ben": [2.0, 2.0], "cem": [5.0, 4.0]}.items():
        built.say(name, "quality", values)
    assert [value for value, _, _ in _told(built.gold("mean"))] == [
        pytest.approx(8 / 3),
        pytest.approx(8 / 3),
    ]
    assert [value for value, _, _ in _told(built.gold("median"))] == [2.0, 2.0]


def test_of_two_raters_the_median_is_their_mean_and_the_lower_median_an_answer_of_theirs() -> None:
    built = world(dialogues=1, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    built.say("ann", "quality", [4.0, 2.0, 3.0])
    built.say("ben", "quality", [1.0, 3.0, 3.0])
    assert [value for value, _, _ in _told(built.gold("median"))] == [2.5, 2.5, 3.0]
    assert [value for value, _, _ in _told(built.gold("median_low"))] == [1.0, 2.0, 3.0]


def test_categories_are_chosen_by_name() -> None:
    built = world(dialogues=1, turns=1)
    built.ask("act", "nominal", ["ask", "tell"])
    for name, value in {"ann": "tell", "ben": "tell", "cem": "ask"}.items():
        built.say(name, "act", [value])
    assert _told(built.gold()) == [("tell", "", 3)]


def test_questions_that_a_rule_does_not_fit_are_left_out_and_named() -> None:
    built = world(dialogues=1, turns=1)
    built.ask("quality", "ordinal", [1, 2, 3], scheme="both")
    built.ask("act", "nominal", ["ask", "tell"], scheme="both")
    built.say("ann", "quality", [2.0])
    built.say("ann", "act", ["ask"])
    gold = built.gold("mean")
    assert gold.options["left_out"] == ["act"]
    assert gold.labels.count() == 1


def test_an_unknown_rater_is_refused_with_those_there_are(tagged: World) -> None:
    with pytest.raises(
        GoldRuleError, match="no rater 'zoe' answered these questions; there are ann, ben, cem"
    ):
        tagged.gold(raters=["zoe"])


def test_provenance_is_plain_json_with_rule_raters_and_counts(tagged: World) -> None:
    told = json.loads(json.dumps(provenance(tagged.gold())))
    assert (told["rule"], told["labels"], told["without_value"]) == ("majority", 4, 2)
    assert told["options"]["raters"] == ["ann", "ben", "cem"]
    assert len(told["inputs_hash"]) == 64
