"""Campaigns: the tasks that they create, and their state changes."""

import pytest

from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import CampaignRefused
from annotation.models import Task
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def by():
    return factories.user(researcher=True)


@pytest.fixture
def corpus():
    corpus = factories.corpus()
    alone = factories.dialogue(corpus, "alone", turns=3)
    answered = factories.dialogue(corpus, "answered", turns=4)
    factories.continuation(answered, "x", system="model-x", turns=[{"text": "one"}, {"text": "two"}])
    factories.continuation(answered, "y", system="model-y", turns=[{"text": "three"}])
    assert alone.continuations.count() == 1
    return corpus


def _rated(campaign):
    tasks = Task.objects.filter(campaign=campaign).order_by("position")
    return [(task.continuation.dialogue.key, task.continuation.key) for task in tasks]


def test_a_dialogue_is_rated_itself_only_where_it_has_no_other_continuation(corpus, by):
    campaign = factories.campaign(corpus, by=by)
    assert sorted(set(_rated(campaign))) == [("alone", "self"), ("answered", "x"), ("answered", "y")]
    assert campaign.tasks.count() == 3 + 2 + 1


def test_own_turns_are_rated_when_chosen(corpus, by):
    campaign = factories.campaign(corpus, by=by, include_self=True)
    assert ("answered", "self") in _rated(campaign)


def test_only_the_chosen_systems_are_rated(corpus, by):
    campaign = factories.campaign(corpus, by=by, systems=[corpus.systems.get(name="model-y")])
    assert _rated(campaign) == [("answered", "y")]


def test_a_scheme_about_continuations_makes_one_task_for_each(corpus, by):
    campaign = factories.campaign(corpus, "cocoeval_behaviours", by=by, raters=3)
    assert len(_rated(campaign)) == 3
    assert campaign.slots.count() == 9


def test_a_scheme_about_dialogues_makes_one_task_for_each_dialogue_item(corpus, by):
    campaign = factories.campaign(corpus, "cocoeval_overall", by=by)
    assert {task.item.kind for task in campaign.tasks.all()} == {"dialogue"}
    assert campaign.tasks.count() == 3


def test_the_order_follows_the_seed_and_keeps_the_turns_of_a_continuation_together(corpus, by):
    first = factories.campaign(corpus, by=by, seed=1)
    again = factories.campaign(corpus, by=by, seed=1)
    others = [factories.campaign(corpus, by=by, seed=seed) for seed in range(2, 8)]
    assert _rated(first) == _rated(again)
    assert any(_rated(first) != _rated(other) for other in others)
    positions = [
        task.item.turn.position for task in first.tasks.order_by("position") if task.continuation.is_self
    ]
    assert positions == [0, 1, 2]


def test_a_campaign_goes_from_draft_to_open_to_paused_to_open_to_closed(corpus, by):
    campaign = factories.campaign(corpus, by=by, opened=False)
    assert campaign.state == "draft"
    for verb, state in [("open", "open"), ("pause", "paused"), ("open", "open"), ("close", "closed")]:
        getattr(campaigns, verb)(by=by, campaign=campaign)
        campaign.refresh_from_db()
        assert campaign.state == state
    verbs = list(Event.objects.filter(subject=campaign.name).order_by("id").values_list("verb", flat=True))
    assert verbs[-4:] == ["campaign: open", "campaign: paused", "campaign: open", "campaign: closed"]


@pytest.mark.parametrize("verb", ["pause", "close"])
def test_a_draft_can_be_neither_paused_nor_closed(corpus, by, verb):
    campaign = factories.campaign(corpus, by=by, opened=False)
    with pytest.raises(CampaignRefused, match="this one is draft"):
        getattr(campaigns, verb)(by=by, campaign=campaign)


def test_a_campaign_over_nothing_cannot_open(by):
    campaign = factories.campaign(factories.corpus(), by=by, opened=False)
    with pytest.raises(CampaignRefused, match="can be rated"):
        campaigns.open(by=by, campaign=campaign)


def test_opening_again_adds_the_tasks_of_a_corpus_that_grew(corpus, by):
    campaign = factories.campaign(corpus, by=by)
    before = _rated(campaign)
    factories.dialogue(corpus, "new", turns=2)
    campaigns.pause(by=by, campaign=campaign)
    assert campaigns.open(by=by, campaign=campaign) == 2
    assert _rated(campaign) == [*before, ("new", "self"), ("new", "self")]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": " "}, "name"),
        ({"scheme": "no-such"}, "no scheme"),
        ({"raters": 0}, "between 1 and 100"),
        ({"lease_minutes": 0}, "minute"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused(corpus, by, fields, problem):
    with pytest.raises(CampaignRefused, match=problem):
        factories.campaign(corpus, by=by, **fields)


def test_a_name_is_used_once(corpus, by):
    factories.campaign(corpus, by=by, name="pilot")
    with pytest.raises(CampaignRefused, match="already"):
        factories.campaign(corpus, by=by, name="pilot")


def test_a_system_of_another_corpus_is_refused(corpus, by):
    other = factories.corpus()
    factories.dialogue(other, system="elsewhere")
    with pytest.raises(CampaignRefused, match="not one of the corpus"):
        factories.campaign(corpus, by=by, systems=[other.systems.get()])


def test_guidelines_start_from_the_scheme_and_are_rewritten_until_somebody_worked_with_them(corpus, by):
    campaign = factories.campaign(corpus, by=by, opened=False)
    assert "response" in campaign.guidelines.get().text
    assert campaigns.set_guidelines(by=by, campaign=campaign, text="Be kind.").version == 1
