"""Side-by-side responses in every order and sample: a task counts for each of its responses."""

import pytest

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns.editing import reorder
from annotation.errors import CampaignRefused
from annotation.models import Item, Label, Question, Task
from tests import factories
from tests.annotation.test_ordering import judge, person

pytestmark = pytest.mark.django_db
FAR = ("e", 3)
"""The point at which the judge and people are apart on one of two responses."""


@pytest.fixture
def corpus():
    """Three dialogues with two points each; two systems answer every one. Judge and people rated all of x."""
    made = factories.corpus()
    for weight, key in enumerate("def"):
        dialogue = factories.dialogue(made, key, turns=4, metadata={"weight": weight})
        for system in ("x", "y"):
            turns = [{"text": f"{system}{at}", "at": at} for at in (1, 3)]
            factories.continuation(dialogue, system, system=system, turns=turns, mode="static")
    asked = Question.objects.get(version=factories.scheme_version("comperdial_turn"), key="overall")
    for item in Item.objects.filter(kind="turn", continuation__key="x").select_related("turn"):
        is_far = (item.continuation.dialogue.key, item.turn.at) == FAR
        for rater, value in ((judge(), 5), (person(), 1 if is_far else 5)):
            Label.objects.create(item=item, question=asked, rater=rater, occasion="imported", number=value)
    return made


def points(campaign):
    """Return where each task is, in their order."""
    rows = Task.objects.filter(campaign=campaign).order_by("position").select_related("item")
    return [(task.continuation.dialogue.key, task.item.members.first().turn.at) for task in rows]


def beside(corpus, **told):
    return factories.campaign(corpus, side_by_side=True, **told)


def test_the_point_with_the_response_that_divides_comes_first(corpus):
    campaign = beside(corpus, task_order="informative", apart_judge="judge")
    assert points(campaign)[0] == FAR
    assert len(set(points(campaign))) == 6


def test_points_go_by_priority_and_stay_in_their_order(corpus):
    campaign = beside(corpus, task_order="priority", order_by="metadata.weight")
    assert points(campaign) == [(key, at) for key in "fed" for at in (1, 3)]


def test_the_rest_is_put_in_order_as_the_first_was(corpus):
    rosa = factories.user(researcher=True)
    campaign = beside(corpus, task_order="fixed")
    before = points(campaign)
    assert before == [(key, at) for key in "def" for at in (1, 3)]
    reorder(by=rosa, campaign=campaign, task_order="informative", apart_judge="judge")
    assert points(campaign)[0] == FAR
    reorder(by=rosa, campaign=campaign, task_order="fixed")
    assert points(campaign) == before
    reorder(by=rosa, campaign=campaign, task_order="drawn")
    assert points(campaign) == points(beside(corpus, task_order="drawn"))


def test_a_point_is_in_the_sample_where_one_of_its_responses_differs(corpus):
    campaign = beside(corpus, apart_judge="judge", sample_apart=0.5, opened=False)
    campaigns.open(by=factories.user(researcher=True), campaign=campaign)
    assert points(campaign) == [FAR]


def test_work_is_not_balanced_by_system_where_a_task_has_several(corpus):
    with pytest.raises(CampaignRefused, match="A task shows several systems"):
        beside(corpus, balance_by="system")
