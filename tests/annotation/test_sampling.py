"""A campaign on a sample of its corpus, drawn once by seed and strata."""

from collections import Counter

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, sampling
from annotation.corpora import splits
from annotation.errors import CampaignRefused
from annotation.models import SampledDialogue
from judges.runs.selection import Selection, continuations
from tests import factories


@pytest.mark.parametrize(
    ("sizes", "n", "shares"),
    [
        ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 7, "b": 2, "c": 1}, 4, {"a": 3, "b": 1, "c": 0}),
        ({"a": 3, "b": 2}, 5, {"a": 3, "b": 2}),
        ({"": 4}, 3, {"": 3}),
    ],
)
def test_strata_give_in_proportion_by_largest_remainder(sizes, n, shares):
    assert sampling.allocate(sizes, n) == shares


@pytest.fixture
def by(db):
    return factories.user("rosa", researcher=True)


@pytest.fixture
def corpus(db):
    """Twelve dialogues: nine about tea, three about rain; two answered by a system."""
    corpus = factories.corpus("talks")
    for number in range(12):
        topic = {"topic": "tea" if number < 9 else "rain"}
        made = factories.dialogue(corpus, f"d{number}", turns=2, metadata=topic)
        if number % 6 == 0:
            factories.continuation(made, "x", system="model-x", turns=[{"text": "one"}])
    return corpus


def asked(campaign):
    return {task.continuation.dialogue.key for task in campaign.tasks.all()}


def test_the_seed_alone_decides_which_dialogues_are_asked_about(corpus, by):
    first, again, other = (
        asked(factories.campaign(corpus, by=by, sample_dialogues=5, seed=seed)) for seed in (3, 3, 4)
    )
    assert first == again != other
    assert len(first) == len(other) == 5
    twin = factories.corpus()
    for number in reversed(range(12)):
        factories.dialogue(twin, f"d{number}", turns=2)
    assert asked(factories.campaign(twin, by=by, sample_dialogues=5, seed=3)) == first


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("stratum", "drawn"),
    [
        ("metadata.topic", {"tea": 6, "rain": 2}),
        ("system", {"human": 7, "model-x": 1}),
        ("metadata.none", {"": 8}),
    ],
)
def test_a_sample_is_drawn_in_proportion_to_strata(corpus, by, stratum, drawn):
    campaign = factories.campaign(corpus, by=by, sample_dialogues=8, sample_by=stratum)
    assert Counter(campaign.sampled.values_list("stratum", flat=True)) == drawn
    assert len(asked(campaign)) == 8


def test_a_sample_by_part_needs_a_split_and_fixes_it(corpus, by):
    with pytest.raises(CampaignRefused, match="no split"):
        factories.campaign(corpus, by=by, sample_dialogues=6, sample_by="part")
    split = splits.draw(corpus=corpus, by=by, test_share=0.5)
    campaign = factories.campaign(corpus, by=by, sample_dialogues=6, sample_by="part")
    assert Counter(campaign.sampled.values_list("stratum", flat=True)) == {"dev": 3, "test": 3}
    split.refresh_from_db()
    assert split.fixed_at is not None


def test_a_corpus_that_grew_does_not_draw_again(corpus, by):
    campaign = factories.campaign(corpus, by=by, sample_dialogues=4)
    before = asked(campaign)
    for number in range(20):
        factories.dialogue(corpus, f"later{number}", turns=2)
    campaigns.close(by=by, campaign=campaign)
    assert campaigns.open(by=by, campaign=campaign) == 0
    assert asked(campaign) == before
    with pytest.raises(DatabaseError, match="drawn once"), transaction.atomic():
        SampledDialogue.objects.create(campaign=campaign, dialogue=corpus.dialogues.get(key="later1"))


def test_what_a_sampled_dialogue_gains_is_asked_about(corpus, by):
    campaign = factories.campaign(corpus, by=by, sample_dialogues=12, include_self=True)
    dialogue = corpus.dialogues.get(key="d1")
    factories.continuation(dialogue, "late", system="model-y", turns=[{"text": "late"}])
    campaigns.pause(by=by, campaign=campaign)
    assert campaigns.open(by=by, campaign=campaign) == 1


def test_more_than_can_be_rated_cannot_be_drawn(corpus, by):
    draft = factories.campaign(corpus, by=by, opened=False, sample_dialogues=13)
    with pytest.raises(CampaignRefused, match="13 dialogues are to be drawn, but only 12"):
        campaigns.open(by=by, campaign=draft)
    editing.change(by=by, campaign=draft, systems=[corpus.systems.get(name="model-x")], sample_dialogues=2)
    assert campaigns.open(by=by, campaign=draft) == 2


def test_the_page_and_the_api_show_what_would_be_and_what_was_drawn(client, corpus, by):
    client.force_login(by)
    draft = factories.campaign(
        corpus, by=by, opened=False, sample_dialogues=8, sample_by="metadata.topic", seed=5
    )
    address = reverse("campaign", args=[draft.pk])
    seen = " ".join(client.get(address).content.decode().split())
    assert "8 dialogues, to be drawn by seed 5 in proportion to topic: rain 2, tea 6" in seen
    would_be = set(sampling.dialogues(draft))
    assert set(continuations(Selection(corpus, draft)).values_list("dialogue", flat=True)) == would_be
    campaigns.open(by=by, campaign=draft)
    assert "8 dialogues, drawn by seed 5" in " ".join(client.get(address).content.decode().split())
    assert set(draft.sampled.values_list("dialogue", flat=True)) == would_be
    sample = client.get(reverse("api-campaign", args=[draft.pk])).json()["sample"]
    assert (sample["dialogues"], sample["kept"]) == (8, True)
    assert sample["strata"] == [{"stratum": "rain", "dialogues": 2}, {"stratum": "tea", "dialogues": 6}]


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"sample_by": "system"}, "sample_dialogues"),
        ({"sample_dialogues": 2, "sample_by": "moon"}, "sample_by"),
    ],
)
def test_a_sample_that_makes_no_sense_is_refused(corpus, by, told, field):
    with pytest.raises(CampaignRefused) as refusal:
        factories.campaign(corpus, by=by, **told)
    assert refusal.value.field == field


def test_tasks_may_lie_as_the_corpus_does(corpus, by):
    campaign = factories.campaign(corpus, by=by, task_order="fixed", seed=3)
    tasks = campaign.tasks.order_by("position").values_list("continuation__dialogue__key", flat=True)
    assert list(dict.fromkeys(tasks)) == [f"d{number}" for number in range(12)]
