"""Pages and API of conversations: what people and researchers get, and what nobody may see of another one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from config.models import Event
from suites.collecting.chat_plans import GUIDELINES
from suites.collecting.models import Chat
from tests import factories
from tests.suites.collecting.talking import PERSONAS, SCHEME, bare_corpus, chat_campaign, hold, meet, say

pytestmark = pytest.mark.django_db


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, route: str, *args: Any, **body: Any) -> Any:
    return client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


@pytest.fixture
def ben() -> User:
    return factories.user("ben-the-partner")


@pytest.fixture
def rei() -> User:
    return factories.user("rei", researcher=True)


@pytest.fixture
def campaign(ana: User, ben: User) -> Campaign:
    return chat_campaign([ana, ben])


def test_a_member_comes_from_my_work_to_the_lobby_and_from_there_to_the_chat(
    campaign: Campaign, ana: User, ben: User
) -> None:
    client, other = client_of(ana), client_of(ben)
    page = client.get(reverse("work", args=[campaign.pk]), follow=True)
    assert page.redirect_chain == [(reverse("lobby", args=[campaign.pk]), 302)]
    assert "Find a partner" in page.content.decode()
    assert post(client, "lobby-wait", campaign.pk).json()["state"] == "waiting"
    assert post(other, "lobby-wait", campaign.pk).json()["address"] == reverse("lobby", args=[campaign.pk])
    page = client.get(reverse("lobby", args=[campaign.pk]), follow=True)
    assert page.redirect_chain[-1][0] == reverse("chat", args=[campaign.pk, Chat.objects.get().pk])
    assert PERSONAS[0] in page.content.decode()


def test_the_lobby_says_what_people_do_in_a_conversation_and_not_how_they_rate_one(
    campaign: Campaign, ana: User
) -> None:
    page = client_of(ana).get(reverse("lobby", args=[campaign.pk])).content.decode()
    assert "make up what it does not say" in page
    assert "before rating" not in page


def test_a_researcher_starts_from_these_guidelines_and_may_have_none(rei: User) -> None:
    corpus, client = bare_corpus(), client_of(rei)
    address = reverse("new-chat-campaign", args=[corpus.name])
    form = client.get(address).context["form"]
    assert form["guidelines"].value() == GUIDELINES
    values = {field.name: field.value() for field in form if field.value() is not None}
    for name, text in (("with", GUIDELINES), ("without", "")):
        client.post(address, values | {"name": name, "scheme": SCHEME, "guidelines": text})
        assert Campaign.objects.get(name=name).guidelines.get().text == text


def test_consent_is_agreed_to_on_the_annotation_page_first(ana: User, ben: User) -> None:
    campaign = chat_campaign([ana, ben], consent="You take part freely.")
    page = client_of(ana).get(reverse("lobby", args=[campaign.pk]), follow=True)
    assert page.redirect_chain == [(reverse("work", args=[campaign.pk]), 302)]
    assert "You take part freely." in page.content.decode()


def test_the_api_s_campaigns_say_what_their_members_do(campaign: Campaign, rei: User) -> None:
    rows = client_of(rei).get(reverse("api-campaigns")).json()["results"]
    assert [row["form"] for row in rows] == ["chat"]


def test_the_api_s_next_task_names_the_page(campaign: Campaign, ana: User, ben: User) -> None:
    answer = post(client_of(ana), "api-work-next", campaign.pk).json()
    assert (answer["task"], answer["own_page"]) == (None, reverse("lobby", args=[campaign.pk]))
    hold(meet(campaign, ana, ben), ana, ben)
    answer = post(client_of(ana), "api-work-next", campaign.pk).json()
    assert (answer["task"] is not None, answer["own_page"]) == (True, "")


def test_turns_are_sent_and_read_by_page_and_api(campaign: Campaign, ana: User, ben: User) -> None:
    chat = meet(campaign, ana, ben)
    place, client = [campaign.pk, chat.pk], client_of(ana)
    for _ in range(2):
        assert post(client, "chat-send", *place, text="Hello <b>you</b>", key="k").json() == {"number": 1}
    answer = post(client_of(ben), "api-chat-send", chat.pk, text="Hi", key="k")
    assert answer.json()["number"] == 2
    seen = client.get(reverse("chat-state", args=place), {"after": 1}).json()
    assert [(turn["person"], turn["text"]) for turn in seen["messages"]] == [(2, "Hi")]
    assert (seen["own"], seen["turn"], seen["number"], seen["total"]) == (1, 1, 2, 4)
    assert (
        client.get(reverse("api-own-chat", args=[chat.pk]), {"after": 1}).json()["messages"][0]["number"] == 2
    )
    too_long = post(client, "chat-send", *place, text="x" * 501, key="l")
    assert (too_long.status_code, too_long.json()["code"]) == (400, "message_refused")
    out_of_turn = post(client_of(ben), "chat-send", *place, text="x", key="l")
    assert (out_of_turn.status_code, out_of_turn.json()["code"]) == (409, "chat_refused")


def test_the_other_one_is_seen_to_write(campaign: Campaign, ana: User, ben: User) -> None:
    chat = meet(campaign, ana, ben)
    assert post(client_of(ben), "chat-typing", campaign.pk, chat.pk).status_code == 200
    place = reverse("chat-state", args=[campaign.pk, chat.pk])
    assert client_of(ana).get(place).json()["typing"] == [2]
    assert client_of(ben).get(place).json()["typing"] == []


def test_leaving_and_reporting_by_page_and_api(campaign: Campaign, ana: User, ben: User, rei: User) -> None:
    chat = meet(campaign, ana, ben)
    assert post(client_of(ana), "chat-leave", campaign.pk, chat.pk, report="insults").status_code == 200
    assert post(client_of(ben), "api-chat-leave", chat.pk).status_code == 200
    state = client_of(ben).get(reverse("chat-state", args=[campaign.pk, chat.pk])).json()
    assert (state["state"], state["end_reason"], "insults" in json.dumps(state)) == (
        "abandoned", "somebody reported it", False,
    )  # fmt: skip
    page = client_of(rei).get(reverse("conversation", args=[campaign.pk, chat.pk])).content.decode()
    assert "insults" in page
    assert Event.objects.filter(verb="campaign: report a conversation").exists()


def test_people_outside_a_conversation_get_nothing_of_it(campaign: Campaign, ana: User, ben: User) -> None:
    chat = meet(campaign, ana, ben)
    stranger = client_of(factories.user("stranger"))
    for name in ("chat", "chat-state", "chat-events"):
        assert stranger.get(reverse(name, args=[campaign.pk, chat.pk])).status_code == 404
    assert stranger.get(reverse("api-own-chat", args=[chat.pk])).status_code == 404
    assert post(stranger, "chat-send", campaign.pk, chat.pk, text="x", key="k").status_code == 404
    assert stranger.get(reverse("lobby", args=[campaign.pk])).status_code == 404
    for name in ("conversations", "conversation"):
        place = [campaign.pk, chat.pk][: 1 if name == "conversations" else 2]
        assert client_of(ana).get(reverse(name, args=place)).status_code == 403
        assert client_of(ana).get(reverse(f"api-{name}", args=place)).status_code == 403


def test_researchers_watch_and_end_conversations(campaign: Campaign, ana: User, ben: User, rei: User) -> None:
    chat = meet(campaign, ana, ben)
    say(chat, ana, "Hello there")
    client = client_of(rei)
    listing = client.get(reverse("conversations", args=[campaign.pk])).content.decode()
    assert "1 of 4" in listing
    assert "In turn, the first person first" in listing
    assert factories.called(ana, campaign) in listing
    assert "Hello there" in client.get(reverse("conversation", args=[campaign.pk, chat.pk])).content.decode()
    rows = client.get(reverse("api-conversations", args=[campaign.pk]), {"state": "open"}).json()["results"]
    assert [(row["turns"], row["people"][0]) for row in rows] == [(1, factories.called(ana, campaign))]
    text = client.get(reverse("api-conversation", args=[campaign.pk, chat.pk])).json()
    assert [turn["text"] for turn in text["messages"]] == ["Hello there"]
    answer = post(client, "api-end-conversation", campaign.pk, chat.pk, reason="A test.")
    assert (answer.json()["state"], answer.json()["reason"]) == ("abandoned", "ended")
    client.post(reverse("end-conversation", args=[campaign.pk, chat.pk]), {"reason": "Again."})
    assert Event.objects.filter(verb="campaign: end a conversation").count() == 1


def test_a_campaign_of_conversations_is_set_up_on_its_page_and_by_the_api(rei: User) -> None:
    corpus, client = bare_corpus(), client_of(rei)
    address = reverse("new-chat-campaign", args=[corpus.name])
    assert "People in a conversation" in client.get(address).content.decode()
    form = {
        "name": "talks", "scheme": SCHEME, "partner": "people", "first": "person", "participants": 2,
        "turn_order": "alternate", "exchanges": 7, "most_characters": 500,
        "remind_minutes": 5, "idle_minutes": 15,
    }  # fmt: skip
    refused = client.post(address, form | {"participants": 3})
    assert refused.status_code == 422
    assert "without turns has 3 participants" in refused.content.decode()
    draft = Campaign.objects.filter(name="talks")
    assert client.post(address, form)["Location"] == reverse("campaign", args=[draft.get().pk])
    page = client.get(reverse("campaign", args=[draft.get().pk])).content.decode()
    assert "Opening makes 3 tasks for 2 raters each" in page
    assert reverse("conversations", args=[draft.get().pk]) in page
    body = {"name": "more", "corpus": corpus.name, "scheme": SCHEME, "plan": {"exchanges": 2}}
    answer = post(client, "api-chat-campaigns", **body)
    assert (answer.status_code, answer.json()["raters_per_item"]) == (201, 2)
    assert Campaign.objects.get(name="more").chat_plan.exchanges == 2


def test_a_copy_has_the_same_plan_and_a_rating_campaign_has_no_lobby(
    campaign: Campaign, ana: User, rei: User
) -> None:
    client_of(rei).post(reverse("copy-campaign", args=[campaign.pk]), {"name": "again"})
    assert Campaign.objects.get(name="again").chat_plan.exchanges == 2
    corpus = factories.corpus()
    factories.dialogue(corpus)
    rating = factories.campaign(corpus, annotators=[ana])
    assert client_of(ana).get(reverse("lobby", args=[rating.pk])).status_code == 404


def test_nobody_gets_a_byte_about_the_other_person(campaign: Campaign, ana: User, ben: User) -> None:
    """Every response to both, from the lobby to the answers, lacks the other's persona, name and account."""
    seen: dict[User, list[str]] = {ana: [], ben: []}

    def get(person: User, address: str, **data: Any) -> None:
        answer = client_of(person).get(address, data, follow=True)
        assert answer.status_code == 200, address
        seen[person].append(answer.content.decode() + str(answer.headers) + str(answer.redirect_chain))

    def send(person: User, route: str, *args: Any, **body: Any) -> None:
        answer = post(client_of(person), route, *args, **body)
        seen[person].append(answer.content.decode() + str(answer.headers))

    for person in (ana, ben):
        get(person, reverse("lobby", args=[campaign.pk]))
        send(person, "lobby-wait", campaign.pk)
        send(person, "api-lobby", campaign.pk)
    chat = Chat.objects.get()
    place = [campaign.pk, chat.pk]
    for number in range(4):
        person = (ana, ben)[number % 2]
        send(person, "chat-typing", *place)
        send(person, "chat-send", *place, text=f"turn {number}", key=f"{number}")
        for reader in (ana, ben):
            get(reader, reverse("chat", args=place))
            get(reader, reverse("chat-state", args=place))
            get(reader, reverse("api-own-chat", args=[chat.pk]))
    for person in (ana, ben):
        get(person, reverse("work", args=[campaign.pk]))
        send(person, "api-work-next", campaign.pk)
        send(person, "work-next", campaign.pk)
        get(person, reverse("my-campaigns"))
        get(person, reverse("my-submissions"))
        get(person, reverse("api-my-campaigns"))
    for person, other, name, persona in ((ana, ben, "Tom", "marathons"), (ben, ana, "Mara", "bicycles")):
        text = "\n".join(seen[person])
        assert persona not in text
        assert name not in text
        assert other.get_username() not in text
        assert factories.called(other, campaign) not in text
        assert "turn 3" in text
        assert "Person 1" in text
