"""A campaign on the items on which a judge and people disagree."""

import pytest
from django.db import IntegrityError, transaction

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import sampling
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Label, SampledItem
from tests import factories
from tests.annotation.test_ordering import judge, person, say

pytestmark = pytest.mark.django_db


def differing(**told):
    """Make a campaign over three dialogues of two turns, of which the judge and people were asked some."""
    corpus = factories.corpus()
    for number in range(4):
        factories.dialogue(corpus, f"d{number}", turns=2)
    say(judge(), corpus, d0=1, d1=3, d2=4, d3=5)
    say(person(), corpus, d0=5, d1=4, d2=4)
    told = {"apart_judge": "judge", "sample_apart": 0.25, **told}
    return factories.campaign(corpus, opened=False, **told)


def asked(campaign):
    rows = campaign.tasks.values_list("continuation__dialogue__key", "item__turn__position")
    return set(rows)


def test_only_what_judge_and_people_differ_on_is_asked_about():
    by = factories.user(researcher=True)
    campaign = differing()
    assert sampling.describe(campaign) == {
        **{"dialogues": 2, "by": "", "strata": [], "kept": False, "refusal": ""},
        **{"items": 2, "apart": 0.25},
    }
    campaigns.open(by=by, campaign=campaign)
    assert asked(campaign) == {("d0", 0), ("d1", 0)}
    campaign.refresh_from_db()
    assert sampling.describe(campaign)["kept"]


def test_what_differs_is_kept_when_the_campaign_opens():
    by = factories.user(researcher=True)
    campaign = differing(sample_apart=1.0)
    campaigns.open(by=by, campaign=campaign)
    say(person("ben"), campaign.corpus, d3=1)
    campaigns.close(by=by, campaign=campaign)
    campaigns.open(by=by, campaign=campaign)
    assert asked(campaign) == {("d0", 0)}
    item = campaign.corpus.items.filter(kind="turn").last()
    with pytest.raises(IntegrityError, match="drawn once"), transaction.atomic():
        SampledItem.objects.create(campaign=campaign, item=item)


def test_dialogues_are_drawn_from_those_in_which_something_differs():
    campaign = differing(sample_dialogues=1)
    assert sampling.describe(campaign)["dialogues"] == 1
    campaigns.open(by=factories.user(researcher=True), campaign=campaign)
    assert len(asked(campaign)) == 1
    more = differing(sample_dialogues=3)
    with pytest.raises(CampaignRefused, match="only 2 can be rated"):
        campaigns.open(by=factories.user(researcher=True), campaign=more)


def test_a_whole_continuation_is_asked_about_where_one_of_its_items_differs():
    corpus = factories.corpus()
    for number in range(2):
        factories.dialogue(corpus, f"d{number}", turns=2)
    tags = factories.scheme_version("cocoeval_behaviours").questions.filter(level="binary")
    tagged = {"question": tags.first().key, "scheme": "cocoeval_behaviours"}
    say(judge(), corpus, **tagged, d0=1, d1=0)
    say(person(), corpus, **tagged, d0=0, d1=0)
    campaign = factories.campaign(corpus, "cocoeval_behaviours", apart_judge="judge", sample_apart=0.5)
    assert [task.continuation.dialogue.key for task in campaign.tasks.all()] == ["d0"]


def test_nothing_that_differs_is_said_before_and_refused_at_opening():
    campaign = differing(sample_apart=1.0)
    Label.objects.filter(rater__kind="human").update(superseded_at=campaign.created_at)
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert "of the scale apart" in sampling.describe(campaign)["refusal"]
    with pytest.raises(CampaignRefused, match="of the scale apart"):
        campaigns.open(by=factories.user(researcher=True), campaign=campaign)


def test_a_sample_by_difference_needs_its_judge_and_a_share():
    for told, why in (
        ({"apart_judge": "", "sample_apart": 0.5}, "which judge"),
        ({"sample_apart": 0.0}, "above 0"),
        ({"sample_apart": 1.5}, "above 0"),
    ):
        with pytest.raises(CampaignRefused, match=why):
            differing(**told)
