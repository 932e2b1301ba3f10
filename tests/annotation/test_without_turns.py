"""Dialogues without turns are rated as a whole: by what is told about the people in them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora import continuing
from annotation.models import Continuation, Corpus, Item, Label
from annotation.work import task_actions
from tests import factories

pytestmark = pytest.mark.django_db
PEOPLE = [{"id": "A", "name": "Mara", "profile": ["I repair bicycles."]}]
SCHEME = "comperdial_dialogue"


@pytest.fixture
def corpus() -> Corpus:
    corpus = factories.corpus()
    for number in (1, 2):
        factories.dialogue(corpus, f"p{number}", turns=0, participants=PEOPLE)
    return corpus


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


def test_a_campaign_about_dialogues_asks_about_those_without_turns(corpus: Corpus, ana: User) -> None:
    campaign = factories.campaign(corpus, SCHEME, annotators=[ana])
    assert campaign.tasks.count() == 2
    assert list(Item.objects.values_list("kind", "turn")) == [("dialogue", None)] * 2
    assert sorted(item.key for item in Item.objects.all()) == ["p1/self", "p2/self"]


def test_a_rater_reads_the_profile_and_answers(corpus: Corpus, ana: User) -> None:
    campaign = factories.campaign(corpus, SCHEME, annotators=[ana])
    client = Client()
    client.force_login(ana)
    page = client.get(reverse("work", args=[campaign.pk]), follow=True).content.decode()
    assert "I repair bicycles." in page
    _, hold = task_actions.start(by=ana, campaign=campaign.pk)
    assert hold is not None
    item = Item.objects.get(continuation__task__assignments=hold.assignment)
    answers = {factories.item_name(item, hold.assignment): {"overall": 4}}
    task_actions.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    assert Label.objects.get(item=item, question__key="overall").number == 4


def test_a_campaign_about_turns_adds_nothing(corpus: Corpus, ana: User) -> None:
    factories.dialogue(corpus, "with turns")
    campaign = factories.campaign(corpus, "comperdial_turn", annotators=[ana])
    assert campaign.tasks.count() == 4
    assert not Continuation.objects.filter(dialogue__key="p1").exists()


def test_dialogues_that_wait_for_a_system_are_not_asked_about(corpus: Corpus) -> None:
    factories.continuation(corpus.dialogues.get(key="p1"), "x", system="m", turns=[{"text": "Hello."}])
    assert continuing.add_without_turns(corpus=corpus) == 0
    assert factories.campaign(corpus, SCHEME).tasks.count() == 1


def test_they_become_ratable_once(corpus: Corpus) -> None:
    assert continuing.add_without_turns(corpus=corpus) == 2
    assert continuing.add_without_turns(corpus=corpus) == 0


def test_dialogues_that_come_later_are_asked_about_when_the_campaign_opens_again(
    corpus: Corpus, ana: User
) -> None:
    campaign = factories.campaign(corpus, SCHEME, annotators=[ana])
    factories.dialogue(corpus, "p3", turns=0, participants=PEOPLE)
    by = factories.user(researcher=True)
    campaigns.pause(by=by, campaign=campaign)
    assert campaigns.open(by=by, campaign=campaign) == 1
