"""Two systems answer, the person picks a reply and goes on: conversations and comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Continuation, Item, Label
from annotation.work import task_actions
from suites.collecting import chat_actions, chat_replies
from suites.collecting.errors import ChatRefused
from suites.collecting.models import Chat, ChatReply
from tests import factories
from tests.suites.collecting.talking import ChatModel, answer_all, begin, say, system_campaign

pytestmark = pytest.mark.django_db(transaction=True)


def by_instructions(messages: list[dict[str, str]]) -> str:
    """Reply as the system that the instructions name."""
    return f"{messages[0]['content'].split()[2].lower()} heard {messages[-1]['content']}"


@pytest.fixture
def model() -> Iterator[ChatModel]:
    with ChatModel() as server:
        server.reply = by_instructions
        yield server


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


@pytest.fixture
def arena(model: ChatModel, ana: User) -> Campaign:
    return system_campaign([ana], model.endpoint(), systems=("Ash", "Birch"), partner="arena", dialogues=4)


def pick(chat: Chat, person: User, system: str) -> int:
    """Pick the reply of a system, and return its place."""
    seen = chat_actions.view(by=person, chat=chat.pk)
    place: int = next(reply["place"] for reply in seen.replies if reply["text"].startswith(system))
    chat_replies.pick(by=person, chat=chat.pk, number=seen.number + 1, place=place)
    return place


def hold(campaign: Campaign, person: User, *picks: str) -> Chat:
    """Hold a whole conversation, with a choice at each turn."""
    chat = begin(campaign, person)
    for number, system in enumerate(picks):
        say(chat, person, f"turn {number}")
        answer_all()
        pick(chat, person, system)
    chat.refresh_from_db()
    return chat


def test_both_replies_come_together_and_the_pick_goes_on(
    arena: Campaign, model: ChatModel, ana: User
) -> None:
    chat = begin(arena, ana)
    say(chat, ana, "Hello")
    first = ChatReply.objects.get(place=1)
    assert chat_actions.view(by=ana, chat=chat.pk).replies == ()
    with pytest.raises(ChatRefused, match="no replies"):
        chat_replies.pick(by=ana, chat=chat.pk, number=2, place=1)
    answer_all()
    seen = chat_actions.view(by=ana, chat=chat.pk)
    assert (seen.reply, seen.turn, len(seen.messages)) == ("pick", 2, 1)
    assert sorted(reply["text"] for reply in seen.replies) == ["ash heard Hello", "birch heard Hello"]
    with pytest.raises(ChatRefused, match="another person"):
        say(chat, ana, "More")
    message = chat_replies.pick(by=ana, chat=chat.pk, number=2, place=2)
    assert chat_replies.pick(by=ana, chat=chat.pk, number=2, place=2) == message
    with pytest.raises(ChatRefused):
        chat_replies.pick(by=ana, chat=chat.pk, number=2, place=1)
    assert message.text != first.text
    say(chat, ana, "More")
    answer_all()
    for body in model.bodies[-2:]:
        assert [turn["content"] for turn in body["messages"][1:]] == ["Hello", message.text, "More"]


def test_a_reply_of_one_that_failed_is_asked_for_again_alone(
    arena: Campaign, model: ChatModel, ana: User
) -> None:
    chat = begin(arena, ana)
    say(chat, ana, "Hello")
    model.reply = lambda messages: "" if "Ash" in messages[0]["content"] else "fine"
    answer_all()
    assert chat_actions.view(by=ana, chat=chat.pk).reply == "failed"
    model.reply, asked = by_instructions, len(model.bodies)
    chat_replies.retry(by=ana, chat=chat.pk)
    answer_all()
    assert len(model.bodies) == asked + 1
    assert {reply.text for reply in ChatReply.objects.all()} == {"fine", "ash heard Hello"}


def test_places_are_drawn_for_each_turn_and_stored(arena: Campaign, ana: User) -> None:
    for _ in range(4):
        hold(arena, ana, "ash", "ash")
        answer_questions(ana, arena)
    places = ChatReply.objects.filter(system__system__name="Ash").values_list("place", flat=True)
    assert set(places) == {1, 2}


def answer_questions(person: User, campaign: Campaign) -> None:
    """Submit the answers about a conversation."""
    _, own = task_actions.start(by=person, campaign=campaign.pk)
    assert own is not None
    continuation = campaign.tasks.get(pk=own.task).continuation
    item = Item.objects.get(kind="dialogue", continuation=continuation)
    answers = {factories.item_name(item, own.assignment): {"overall": 4}}
    task_actions.submit(by=person, campaign=campaign.pk, assignment=own.assignment, answers=answers)


def test_each_pick_is_a_comparison_of_two_continuations(arena: Campaign, ana: User) -> None:
    chat = hold(arena, ana, "ash", "birch")
    part = chat.task.continuation
    assert (part.system.name, part.key) == ("arena", f"chat-{arena.pk}")
    turns = list(part.turns.all())
    assert [(turn.extra or {})["extra"].get("system") for turn in turns] == [None, "Ash", None, "Birch"]
    assert [turn.given for turn in turns] == [True, False, True, False]
    pairs = Continuation.objects.filter(key__startswith=f"{part.key}-").order_by("key")
    assert [row.key.removeprefix(part.key) for row in pairs] == ["-2-1", "-2-2", "-4-1", "-4-2"]
    assert {row.system.name for row in pairs} == {"Ash", "Birch"}
    last = list(pairs[2].turns.all())
    assert [turn.text for turn in last[:3]] == [turn.text for turn in turns[:3]]
    assert [turn.given for turn in last] == [True, True, True, False]
    assert Item.objects.filter(kind="pair").count() == 2
    labels = Label.objects.filter(item__kind="pair").order_by("item__continuation__key")
    for label, system in zip(labels, ("Ash", "Birch"), strict=True):
        members = {row.number: row.continuation for row in label.item.members.select_related("continuation")}
        better = members[0 if label.text == "first" else 1]
        assert better.system.name == system
        shown = [members[number].key[-1] for number in label.shown or ()]
        assert shown == ["1", "2"]
        assert label.rater.user == ana


def test_the_report_of_preferences_reads_them(arena: Campaign, ana: User) -> None:
    for _ in range(3):
        hold(arena, ana, "ash", "ash")
        answer_questions(ana, arena)
    researcher = Client()
    researcher.force_login(factories.user(researcher=True))
    address = reverse("api-preferences", args=[arena.corpus_id])
    (question,) = researcher.get(address, {"resamples": "100"}).json()["questions"]
    rows = {row["system"]: row["win_rate"] for row in question["voters"][0]["systems"]}
    assert (rows["Ash"]["value"], rows["Birch"]["value"], rows["Ash"]["n_items"]) == (1.0, 0.0, 6)


def test_an_abandoned_arena_leaves_nothing_in_the_corpus(arena: Campaign, ana: User) -> None:
    chat = begin(arena, ana)
    say(chat, ana, "Hello")
    answer_all()
    pick(chat, ana, "ash")
    chat_actions.leave(by=ana, chat=chat.pk)
    assert not Item.objects.exists()
    assert not Label.objects.exists()


def test_no_byte_for_a_person_says_which_system_it_is(
    arena: Campaign, model: ChatModel, ana: User, settings: Any
) -> None:
    """Pages, API and responses, also of failures, from the lobby to the answers about the conversation."""
    client, seen = Client(), []
    client.force_login(ana)

    def get(name: str, *args: Any) -> None:
        answer = client.get(reverse(name, args=args), follow=True)
        assert answer.status_code == 200
        seen.append(answer.content.decode() + str(answer.headers) + str(answer.redirect_chain))

    def post(name: str, *args: Any, **body: Any) -> Any:
        answer = client.post(reverse(name, args=args), json.dumps(body), content_type="application/json")
        seen.append(answer.content.decode() + str(answer.headers))
        return answer.json() if answer.content else None

    get("lobby", arena.pk)
    chat = post("lobby-wait", arena.pk)["chat"]
    for number in range(2):
        post("chat-send", arena.pk, chat, text=f"turn {number}", key=f"{number}")
        model.status = 500
        answer_all()
        for route in ("chat", "chat-state"):
            get(route, arena.pk, chat)
        get("api-own-chat", chat)
        model.status = 200
        post("chat-retry", arena.pk, chat)
        post("api-chat-retry", chat)
        model.reply = lambda messages: f"reply to {messages[-1]['content']}"
        answer_all()
        get("chat-state", arena.pk, chat)
        get("api-own-chat", chat)
        post("chat-pick", arena.pk, chat, number=2 * number + 2, place=1)
        post("api-chat-pick", chat, number=2 * number + 2, place=1)
    for name in ("my-campaigns", "my-submissions", "api-my-campaigns"):
        get(name)
    get("work", arena.pk)
    post("work-next", arena.pk)
    post("api-work-next", arena.pk)
    text = "\n".join(seen)
    assert "reply to turn 1" in text
    assert "Partner" not in text.replace("Your partner", "")
    for secret in ("SECRET", "Ash", "Birch", "arena", "127.0.0.1", model.endpoint("other").base_url):
        assert secret not in text
