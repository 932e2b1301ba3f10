"""Finished conversations become dialogues of a corpus of their own, by page and by API."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Campaign, ContinuationAuthor, Corpus, Item, Turn
from config.models import Event
from suites.collecting import chat_actions
from suites.continuation.generators import GENERATORS
from suites.continuation.productions.dialogues import Dialogues
from tests import factories
from tests.suites.collecting.talking import PERSONAS, chat_campaign, hold, meet

pytestmark = pytest.mark.django_db


def held_and_left() -> Campaign:
    """Hold one conversation to its end, leave another, and leave a third dialogue alone."""
    ann, bob, cid, dan = (factories.user(name) for name in ("ann", "bob", "cid", "dan"))
    campaign = chat_campaign([ann, bob, cid, dan], dialogues=3)
    hold(meet(campaign, ann, bob), ann, bob)
    left = meet(campaign, cid, dan)
    hold(left, cid, dan, turns=1)
    chat_actions.leave(by=dan, chat=left.pk)
    return campaign


def sign_in(campaign: Campaign) -> Client:
    client = Client()
    assert campaign.created_by is not None
    client.force_login(campaign.created_by)
    return client


def test_a_finished_conversation_is_a_dialogue_with_its_turns_times_and_pseudonyms() -> None:
    campaign = held_and_left()
    answer = sign_in(campaign).post(reverse("conversation-dialogues", args=[campaign.pk]), {"name": "held"})
    assert answer.status_code == 302
    corpus = Corpus.objects.get(name="held")
    (dialogue,) = corpus.dialogues.all()
    assert [person["profile"] for person in dialogue.participants] == [[PERSONAS[0]], [PERSONAS[1]]]
    original = Turn.objects.filter(continuation__key=campaign.own_key).order_by("position")
    copies = Turn.objects.filter(continuation__dialogue=dialogue, continuation__key="self")
    assert list(copies.order_by("position").values_list("speaker", "text", "extra")) == list(
        original.values_list("speaker", "text", "extra")
    )
    assert [turn.text for turn in original] == ["turn 1", "turn 2", "turn 3", "turn 4"]
    assert {turn.continuation.system.name for turn in copies.select_related("continuation__system")} == {
        "human"
    }
    assert Item.objects.filter(corpus=corpus, kind="turn").count() == 4
    authors = ContinuationAuthor.objects.filter(continuation__dialogue=dialogue)
    assert set(authors.values_list("user__username", flat=True)) == {"ann", "bob"}
    assert Event.objects.get(verb__contains="make dialogues of conversations").detail["dialogues"] == 1


def test_systems_can_respond_to_it_as_they_could_not_to_the_conversation() -> None:
    campaign = held_and_left()
    responder = GENERATORS["comperdial_response"]
    settings = responder.resolved({})
    reasons = {responder.why_not(record, settings) for _, record in Dialogues(campaign.corpus).read()}
    assert reasons == {"nobody answers in it: it has fewer than two speakers"}
    sign_in(campaign).post(reverse("conversation-dialogues", args=[campaign.pk]), {"name": "held"})
    ((_, record),) = Dialogues(Corpus.objects.get(name="held")).read()
    assert responder.why_not(record, settings) == ""


def test_a_name_that_is_taken_and_a_campaign_without_conversations_are_refused() -> None:
    campaign = held_and_left()
    page = reverse("conversation-dialogues", args=[campaign.pk])
    answer = sign_in(campaign).post(page, {"name": campaign.corpus.name})
    assert (answer.status_code, "There is a corpus" in answer.content.decode()) == (422, True)
    empty = chat_campaign([factories.user("eva")])
    answer = sign_in(empty).post(reverse("conversation-dialogues", args=[empty.pk]), {"name": "none"})
    assert "No conversation of this campaign is finished yet." in answer.content.decode()
    assert not Corpus.objects.filter(name="none").exists()


def test_the_api_makes_the_same() -> None:
    campaign = held_and_left()
    client = APIClient()
    client.force_authenticate(campaign.created_by)
    answer = client.post(
        reverse("api-conversation-dialogues", args=[campaign.pk]), {"name": "held"}, format="json"
    )
    assert (answer.status_code, answer.json()) == (201, {"corpus": "held", "dialogues": 1})
    again = client.post(
        reverse("api-conversation-dialogues", args=[campaign.pk]), {"name": "held"}, format="json"
    )
    assert again.status_code == 400
