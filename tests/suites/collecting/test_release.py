"""The release check: one objection of four leaves a dialogue out of every selection, and so does a missing review."""

from __future__ import annotations

import pytest

from annotation.corpora import exclusion
from annotation.errors import CampaignRefused, ExclusionRefused
from annotation.models import Campaign, Continuation, Task
from tests import factories
from tests.suites.collecting.release_world import EXCLUDE, LEFT_OUT, PASSED, World, corpus_to_release, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def checked() -> World:
    return world()


def test_one_objection_of_four_and_a_missing_review_leave_a_dialogue_out(checked: World) -> None:
    result = exclusion.left_out(checked.corpus, EXCLUDE)
    assert result is not None
    rows = {row.dialogue: (row.state, row.objections, row.reviews, row.needed) for row in result.rows}
    assert rows == {
        "d0": ("passed", 0, 4, 4),
        "d1": ("passed", 0, 4, 4),
        "d2": ("objected", 1, 4, 4),
        "d3": ("not_checked", 0, 3, 4),
        "d4": ("not_checked", 0, 0, 4),
    }
    assert [(row["dialogue"], row["reason"]) for row in result.as_json()["left_out"]] == [
        ("d2", "1 person objects"),
        ("d3", "3 of 4 have answered"),
        ("d4", "0 of 4 have answered"),
    ]
    assert result.as_json()["sentence"].endswith("1 objected and 2 not checked of 5 dialogues.")


def test_a_campaign_asks_about_what_passed_and_logs_what_it_left_out(checked: World) -> None:
    campaign = factories.campaign(checked.corpus, exclude=EXCLUDE, by=checked.researcher)
    tasks = Task.objects.filter(campaign=campaign)
    assert sorted(set(tasks.values_list("continuation__dialogue__key", flat=True))) == PASSED


def test_a_campaign_that_makes_no_number_has_four_reviewers() -> None:
    corpus = corpus_to_release()
    from annotation.campaigns import campaign_actions

    by = factories.user(researcher=True)
    assert campaign_actions.create(by=by, name="check", corpus=corpus, scheme="ethics").raters_per_item == 4
    made = campaign_actions.create(by=by, name="turns", corpus=corpus, scheme="comperdial_turn")
    assert made.raters_per_item == Campaign._meta.get_field("raters_per_item").default


def test_an_exclusion_by_a_question_that_nobody_asks_is_refused(checked: World) -> None:
    with pytest.raises(ExclusionRefused, match="has the key 'rudeness'"):
        exclusion.check(checked.corpus, "rudeness>=1")
    with pytest.raises(CampaignRefused, match="has the key 'rudeness'"):
        factories.campaign(checked.corpus, exclude="rudeness>=1")
    with pytest.raises(ExclusionRefused, match="is not an exclusion"):
        exclusion.check(checked.corpus, "objection")


def test_the_selection_holds_dialogues_of_every_other_corpus(checked: World) -> None:
    other = corpus_to_release("others")
    assert exclusion.excluded_ids(other, EXCLUDE) == list(
        other.dialogues.order_by("key").values_list("pk", flat=True)
    )
    assert Continuation.objects.filter(dialogue__key__in=LEFT_OUT, dialogue__corpus=other).exists()
