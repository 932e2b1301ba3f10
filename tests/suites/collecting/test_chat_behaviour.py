"""Bad input and bad behaviour in conversations: every case, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import campaign_actions, editing
from annotation.models import Campaign, Label
from annotation.people import accounts, deletion, participants
from annotation.work import check_actions, task_actions
from suites.collecting import chat_actions, chat_lobby
from suites.collecting.errors import ChatRefused, MessageRefused
from suites.collecting.models import Chat, ChatMessage, ChatSeat, Waiting
from tests import factories
from tests.checks import world
from tests.suites.collecting.talking import chat_campaign, hold, meet, say

pytestmark = pytest.mark.django_db
TURNS = 14


@pytest.fixture
def people() -> list[User]:
    return [factories.user(name) for name in ("ana", "ben", "cem", "dee")]


@pytest.fixture
def rei() -> User:
    return factories.user("rei", researcher=True, administrator=True)


class Clock:
    """The server's clock, which a test sets forward and back."""

    def __init__(self) -> None:
        self.moment = timezone.now()

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **by: float) -> None:
        self.moment += timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    injected = Clock()
    monkeypatch.setattr(timezone, "now", injected)
    return injected


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client: Client, route: str, *args: Any, **body: Any) -> Any:
    return client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")


# What is written.

STORED = {
    "one character": ("x", "x"),
    "500 characters": ("x" * 500, "x" * 500),
    "500 emoji": ("😀" * 500, "😀" * 500),
    "250 letters with a combining mark": ("e\u0301" * 250, "e\u0301" * 250),
    "right to left, with marks": ("שלום \u200fمرحبا", "שלום \u200fمرحبا"),
    "Chinese": ("你好，我修自行车。", "你好，我修自行车。"),
    "a family emoji with joiners": ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    "a NUL": ("a\x00b", "ab"),
    "controls": ("a\x07\x1b[31mb\x7f\x9f", "a[31mb"),
    "a lone surrogate": ("a\ud800b", "a?b"),
    "a script": ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    "a link": ("see https://example.org/?a=1&b=2", "see https://example.org/?a=1&b=2"),
    "line breaks of all kinds": ("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"),
    "white space around": (" \t\n a b \u00a0\n", "a b"),
    "500 characters with white space around": (f"\n {'x' * 500} \n", "x" * 500),
}
REFUSED = {
    "nothing": "",
    "501 characters": "x" * 501,
    "501 emoji": "😀" * 501,
    "251 letters with a combining mark": "e\u0301" * 251,
    "20,001 characters": "x" * 20_001,
    "spaces": "   \n\t ",
    "wide and unbreakable spaces": "\u00a0\u3000\u2003",
    "characters without width": "\u200b\u200c\u200d\u2060\ufeff",
    "direction marks": "\u200e\u200f\u202e",
    "controls": "\x00\x01\x07\x1b\x9f",
}


@pytest.mark.parametrize("case", STORED)
def test_a_turn_is_stored_as_written_by_page_and_api(people: list[User], case: str) -> None:
    text, stored = STORED[case]
    chat = meet(chat_campaign(people), *people[:2])
    assert post(client_of(people[0]), "chat-send", chat.campaign_id, chat.pk, text=text, key="k").json() == {
        "number": 1
    }
    assert post(client_of(people[1]), "api-chat-send", chat.pk, text=text, key="k").json()["text"] == stored
    assert list(chat.messages.values_list("text", flat=True)) == [stored, stored]


@pytest.mark.parametrize("case", REFUSED)
def test_a_turn_is_refused_by_page_and_api_with_its_field_and_nothing_is_stored(
    people: list[User], case: str
) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    client, body = client_of(people[0]), {"text": REFUSED[case], "key": "k"}
    for answer in (
        post(client, "chat-send", chat.campaign_id, chat.pk, **body),
        post(client, "api-chat-send", chat.pk, **body),
    ):
        assert answer.status_code == 400
        assert answer.json()["code"] in ("message_refused", "invalid")
    assert not ChatMessage.objects.exists()
    assert say(chat, people[0], "a proper turn") == 1


@pytest.mark.parametrize(
    "body",
    [{}, {"text": "x"}, {"key": "k"}, {"text": "x", "key": None},
     {"text": "x", "key": ""}, {"text": "x", "key": "k" * 65}, {"text": ["x"], "key": "k"}],
)  # fmt: skip
def test_a_request_without_a_proper_text_and_key_is_refused(people: list[User], body: dict[str, Any]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    client = client_of(people[0])
    assert post(client, "chat-send", chat.campaign_id, chat.pk, **body).status_code in (400, 422)
    assert post(client, "api-chat-send", chat.pk, **body).status_code in (400, 422)
    assert not ChatMessage.objects.exists()


# Leaving, at every point and in every way.


def leave(person: User, chat: Chat, by: User) -> None:
    chat_actions.leave(by=person, chat=chat.pk)


def report(person: User, chat: Chat, by: User) -> None:
    chat_actions.leave(by=person, chat=chat.pk, report="Rude.")


def remove(person: User, chat: Chat, by: User) -> None:
    campaign_actions.remove_member(by=by, campaign=chat.campaign, user=person)


def deactivate(person: User, chat: Chat, by: User) -> None:
    accounts.deactivate(by=by, person=person)


def delete(person: User, chat: Chat, by: User) -> None:
    deletion.delete_person(person=person, by=by, confirmation=person.username, despite_use=True)


WAYS: dict[Callable[[User, Chat, User], None], str] = {
    leave: "left", report: "reported", remove: "ended", deactivate: "ended", delete: "ended",
}  # fmt: skip


def check_abandoned(chat: Chat, other: User, turns: int, reason: str) -> None:
    """Check that the other person is told at once, and that nothing of it is in the corpus."""
    seen = chat_actions.view(by=other, chat=chat.pk)
    assert (seen.state, seen.number) == ("abandoned", turns)
    chat.refresh_from_db()
    assert chat.reason == reason
    assert not chat.task.continuation.turns.exists()
    assert not chat.task.continuation.items.exists()
    with pytest.raises(ChatRefused):
        say(chat, other, "still there?", "after the end")
    assert not chat.task.slots.filter(taken=True).exists()
    assert chat_lobby.wait(by=other, campaign=chat.campaign_id).state == "waiting"


@pytest.mark.exhaustive
@pytest.mark.parametrize("turns", range(TURNS))
def test_who_leaves_after_any_turn_ends_it_and_the_other_one_waits_again(
    people: list[User], rei: User, turns: int
) -> None:
    ana, ben, *_ = people
    chat = meet(chat_campaign(people, exchanges=7), ana, ben)
    hold(chat, ana, ben, turns=turns)
    leave(ben, chat, rei)
    check_abandoned(chat, ana, turns, "left")


@pytest.mark.exhaustive
@pytest.mark.parametrize("turns", [0, 1, 7, 13])
@pytest.mark.parametrize("is_next", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whoever_goes_in_whatever_way_ends_it_before_and_after_their_turn(
    people: list[User], rei: User, way: Callable[[User, Chat, User], None], turns: int, is_next: bool
) -> None:
    chat = meet(chat_campaign(people, exchanges=7), *people[:2])
    hold(chat, *people[:2], turns=turns)
    leaver = people[(turns + (not is_next)) % 2]
    other = people[(turns + is_next) % 2]
    way(leaver, chat, rei)
    check_abandoned(chat, other, turns, WAYS[way])


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_who_goes_after_the_last_turn_leaves_the_conversation_complete(
    people: list[User], rei: User, way: Callable[[User, Chat, User], None]
) -> None:
    ana, ben, *_ = people
    chat = meet(chat_campaign(people), ana, ben)
    hold(chat, ana, ben)
    way(ben, chat, rei)
    chat.refresh_from_db()
    assert (chat.state, chat.reason, chat.task.continuation.turns.count()) == ("finished", "", 4)
    _, own = task_actions.start(by=ana, campaign=chat.campaign_id)
    assert own is not None
    item = chat.task.continuation.items.get(kind="dialogue")
    answers = {factories.item_name(item, own.assignment): {"overall": 5}}
    task_actions.submit(by=ana, campaign=chat.campaign_id, assignment=own.assignment, answers=answers)
    assert Label.objects.filter(item=item, number=5).count() == 1
    assert chat_lobby.wait(by=ana, campaign=chat.campaign_id).state == "waiting"


def test_who_goes_out_of_the_lobby_in_whatever_way_is_not_paired(people: list[User], rei: User) -> None:
    ana, ben, cem, dee = people
    campaign = chat_campaign(people)
    for person in (ana, ben, cem):
        Waiting.objects.create(campaign=campaign, user=person, since=timezone.now(), seen_at=timezone.now())
    chat_lobby.stop_waiting(by=ana, campaign=campaign.pk)
    accounts.deactivate(by=rei, person=ben)
    campaign_actions.remove_member(by=rei, campaign=campaign, user=cem)
    assert chat_lobby.wait(by=dee, campaign=campaign.pk).state == "waiting"
    assert not Chat.objects.exists()


def test_who_was_paired_and_never_comes_is_waited_for_until_the_idle_end(
    people: list[User], clock: Clock
) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    for _ in range(29):
        clock.move(seconds=30)
        assert chat_actions.view(by=people[1], chat=chat.pk).state == "open"
    clock.move(seconds=30)
    assert chat_actions.view(by=people[1], chat=chat.pk).end_reason == "nobody wrote for too long"


# Somebody in two places.


def test_a_member_of_two_campaigns_is_paired_in_one_and_told_so_in_the_other(people: list[User]) -> None:
    ana, ben, cem, dee = people
    first, second = chat_campaign(people), chat_campaign(people)
    for campaign in (first, second):
        assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"
    chat = meet(first, ana, ben)
    assert not Waiting.objects.filter(user=ana).exists()
    assert chat_lobby.wait(by=ana, campaign=second.pk).state == "busy"
    assert chat_lobby.wait(by=cem, campaign=second.pk).state == "waiting"
    page = client_of(ana).get(reverse("lobby", args=[second.pk])).content.decode()
    assert reverse("chat", args=[first.pk, chat.pk]) in page
    assert "Finish or leave it first" in page
    chat_actions.leave(by=ben, chat=chat.pk)
    assert chat_lobby.wait(by=ana, campaign=second.pk).state == "chat"
    assert chat_lobby.wait(by=dee, campaign=second.pk).state == "waiting"


def test_the_database_refuses_a_second_open_conversation_of_a_person(people: list[User]) -> None:
    ana, ben, cem, dee = people
    first, second = chat_campaign(people), chat_campaign(people)
    mine, others = meet(first, ana, ben), meet(second, cem, dee)
    seat = others.seats.get(user=cem)
    with pytest.raises(IntegrityError, match="chat_seat_one_open_a_person"), transaction.atomic():
        ChatSeat.objects.filter(pk=seat.pk).update(user=ana)
    with pytest.raises(IntegrityError, match="chat_seat_one_open_a_person"), transaction.atomic():
        ChatSeat.objects.create(chat=others, number=3, user=ana, seen_at=timezone.now(), is_open=False)
    hold(mine, ana, ben)
    ChatSeat.objects.filter(pk=seat.pk).update(user=ana)


@pytest.mark.django_db(transaction=True)
def test_two_lobbies_that_pair_one_person_at_the_same_time_pair_them_once(people: list[User]) -> None:
    ana, ben, cem, _ = people
    campaigns = [chat_campaign(people), chat_campaign(people)]
    for campaign in campaigns:
        chat_lobby.wait(by=ana, campaign=campaign.pk)
    together, states = Barrier(2), []

    def wait(person: User, campaign: Campaign) -> None:
        together.wait(60)
        states.append(chat_lobby.wait(by=person, campaign=campaign.pk).state)
        connection.close()

    threads = [Thread(target=wait, args=pair) for pair in zip((ben, cem), campaigns, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(states) == ["chat", "waiting"]
    assert Chat.objects.count() == 1


def test_a_person_who_joins_by_two_links_of_a_campaign_is_one_person(people: list[User], rei: User) -> None:
    campaign = chat_campaign(people)
    joined = [
        participants.join(
            link=participants.make_link(by=rei, campaign=campaign, name=name),
            visitor=participants.Came("p1"),
            browser="b",
        ).user
        for name in ("first link", "second link")
    ]
    assert joined[0] is not None
    assert joined[0] == joined[1]
    for _ in joined:
        assert chat_lobby.wait(by=joined[0], campaign=campaign.pk).state == "waiting"
    assert not Chat.objects.exists()


def test_two_tabs_send_what_was_written_twice_once(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    tabs = [client_of(people[0]), client_of(people[0])]
    answers = [
        post(tab, "chat-send", chat.campaign_id, chat.pk, text="Hi", key=f"{n}") for n, tab in enumerate(tabs)
    ]
    assert [answer.status_code for answer in answers] == [200, 409]
    assert "another person's turn" in answers[1].json()["error"]
    assert chat.messages.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_request_many_times_at_once_is_one_turn(people: list[User]) -> None:
    chat = meet(chat_campaign(people, turn_order="free"), *people[:2])
    together, numbers = Barrier(4), []

    def send() -> None:
        together.wait(60)
        numbers.append(say(chat, people[0], "Hi", "held key"))
        connection.close()

    threads = [Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert numbers == [1, 1, 1, 1]
    assert chat.messages.count() == 1


# Time.


def test_times_never_go_back_when_the_clock_does(people: list[User], clock: Clock) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    for number, hours in enumerate((1, -3, 2, -1)):
        clock.move(hours=hours)
        say_within(chat, people[number % 2], f"turn {number}")
    times = list(chat.messages.values_list("at", flat=True))
    assert times == sorted(times)
    stored = [turn.extra["time"] for turn in chat.task.continuation.turns.all() if turn.extra]
    assert stored == sorted(stored)


def say_within(chat: Chat, person: User, text: str) -> None:
    """Send a turn, at a clock that may have run past the idle end: then the last turn is as old as it."""
    Chat.objects.filter(pk=chat.pk, last_at__lt=timezone.now()).update(last_at=timezone.now())
    say(chat, person, text)


def test_the_database_refuses_a_turn_before_the_last_one(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    say(chat, people[0], "Hi")
    seat, before = chat.seats.get(number=2), timezone.now() - timedelta(hours=1)
    with pytest.raises(IntegrityError, match="earlier than the one before"), transaction.atomic():
        ChatMessage.objects.create(chat=chat, number=2, seat=seat, text="Ho", key="k", at=before)


def test_a_clock_set_back_ends_nothing_and_hides_who_left_the_lobby(people: list[User], clock: Clock) -> None:
    ana, ben, cem, dee = people
    campaign = chat_campaign(people)
    chat = meet(campaign, ana, ben)
    chat_actions.set_typing(by=ana, chat=chat.pk)
    assert chat_lobby.wait(by=cem, campaign=campaign.pk).state == "waiting"
    clock.move(hours=-2)
    assert chat_actions.sweep() == 0
    seen = chat_actions.view(by=ben, chat=chat.pk)
    assert (seen.state, seen.seconds, seen.typing) == ("open", 0, ())
    assert say(chat, ana, "Hi") == 1
    place = chat_lobby.wait(by=dee, campaign=campaign.pk)
    assert (place.state, place.others, place.seconds) == ("waiting", 0, 0)
    assert chat_lobby.wait(by=cem, campaign=campaign.pk).state == "chat"


def test_who_is_back_after_ten_minutes_goes_on_and_after_fifteen_it_is_over(
    people: list[User], clock: Clock
) -> None:
    ana, ben, *_ = people
    chat = meet(chat_campaign(people), ana, ben)
    say(chat, ana, "Hi")
    clock.move(minutes=10)
    page = client_of(ben).get(reverse("lobby", args=[chat.campaign_id]), follow=True)
    assert page.redirect_chain[-1][0] == reverse("chat", args=[chat.campaign_id, chat.pk])
    assert say(chat, ben, "Sorry, the train.") == 2
    clock.move(minutes=15)
    assert chat_actions.view(by=ana, chat=chat.pk).state == "abandoned"


@pytest.mark.parametrize("minutes", [1, 14, 60, 60 * 24 * 7])
def test_after_a_pause_of_any_length_people_have_all_their_time_again(
    people: list[User], rei: User, clock: Clock, minutes: int
) -> None:
    ana, ben, *_ = people
    campaign = chat_campaign(people)
    chat = meet(campaign, ana, ben)
    clock.move(minutes=14)
    campaign_actions.pause(by=rei, campaign=campaign)
    clock.move(minutes=minutes)
    assert chat_actions.sweep() == 0
    seen = chat_actions.view(by=ben, chat=chat.pk)
    assert (seen.state, seen.paused) == ("open", True)
    with pytest.raises(ChatRefused, match="paused"):
        say(chat, ana, "Hi")
    campaign_actions.open(by=rei, campaign=campaign)
    assert chat_actions.sweep() == 0
    seen = chat_actions.view(by=ben, chat=chat.pk)
    assert (seen.state, seen.paused, seen.seconds) == ("open", False, 0)
    clock.move(minutes=14)
    assert say(chat, ana, "Hi") == 1
    clock.move(minutes=15)
    assert chat_actions.sweep() == 1


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_campaign_that_is_closed_ends_its_conversations_at_once(
    people: list[User], rei: User, turns: int
) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    hold(chat, *people[:2], turns=turns)
    campaign_actions.close(by=rei, campaign=campaign)
    seen = chat_actions.view(by=people[0], chat=chat.pk)
    assert (seen.state, seen.end_reason, seen.number) == ("abandoned", "the campaign ended", turns)
    assert chat_lobby.wait(by=people[0], campaign=campaign.pk).state == "nothing"


def test_a_deadline_that_passes_ends_them_too(people: list[User], rei: User, clock: Clock) -> None:
    campaign = chat_campaign(people)
    editing.change(by=rei, campaign=campaign, deadline=clock.moment + timedelta(minutes=5))
    chat = meet(campaign, *people[:2])
    clock.move(minutes=5)
    with pytest.raises(ChatRefused, match="over"):
        say(chat, people[0], "Hi")
    assert chat_actions.sweep() == 1
    assert chat_actions.view(by=people[0], chat=chat.pk).end_reason == "the campaign ended"


# Stale pages and forged addresses.


def test_the_stale_page_of_a_finished_conversation_changes_nothing(people: list[User]) -> None:
    ana, ben, *_ = people
    chat = meet(chat_campaign(people), ana, ben)
    hold(chat, ana, ben)
    client, place = client_of(ana), (chat.campaign_id, chat.pk)
    assert client.get(reverse("chat", args=place)).status_code == 200
    assert post(client, "chat-send", *place, text="one more", key="new").status_code == 409
    assert post(client, "chat-send", *place, text="turn 1", key="turn 1").json() == {"number": 1}
    for route in ("chat-typing", "chat-leave"):
        assert post(client, route, *place, report="late").status_code == 200
    chat.refresh_from_db()
    assert (chat.state, chat.report, chat.messages.count()) == ("finished", "", 4)
    assert chat_actions.view(by=ben, chat=chat.pk).typing == ()


def test_nobody_acts_in_a_conversation_of_others_or_by_a_forged_address(people: list[User]) -> None:
    ana, ben, cem, dee = people
    campaign, other = chat_campaign(people), chat_campaign(people)
    chat, theirs = meet(campaign, ana, ben), meet(campaign, cem, dee)
    client = client_of(ana)
    forged = [
        (campaign.pk, theirs.pk), (other.pk, chat.pk), (0, chat.pk), (campaign.pk, 0),
        (campaign.pk, 2**63), (2**63, chat.pk),
    ]  # fmt: skip
    for place in forged:
        for route in ("chat", "chat-state", "chat-events"):
            assert client.get(reverse(route, args=place)).status_code == 404
        for route in ("chat-send", "chat-typing", "chat-leave"):
            assert post(client, route, *place, text="Hi", key="k").status_code == 404
    for number in (theirs.pk, 0, 2**63):
        assert client.get(reverse("api-own-chat", args=[number])).status_code == 404
        for route in ("api-chat-send", "api-chat-typing", "api-chat-leave"):
            fields = {"text": "Hi", "key": "k"} if route == "api-chat-send" else {}
            assert post(client, route, number, **fields).status_code == 404
    for after in ("-1", "x", str(2**70), "\x00"):
        seen = client.get(reverse("chat-state", args=[campaign.pk, chat.pk]), {"after": after})
        assert seen.json()["messages"] == []
    assert set(Chat.objects.values_list("state", flat=True)) == {"open"}
    assert not ChatMessage.objects.exists()


# The test of another campaign.


def test_the_lobby_is_for_those_who_passed_the_test_that_comes_first(people: list[User], rei: User) -> None:
    ana, ben, *_ = people
    first = world.campaign(ana, ben, test=1)
    campaign = chat_campaign(people)
    check_actions.set_up(by=rei, campaign=campaign, prerequisite=first)
    world.take_test(ana, first)
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"
    assert chat_lobby.wait(by=ben, campaign=campaign.pk).state == "task"
    page = client_of(ben).get(reverse("lobby", args=[campaign.pk]), follow=True)
    assert page.redirect_chain[-1][0] == reverse("work", args=[campaign.pk])
    assert reverse("work", args=[first.pk]) in page.content.decode()
    world.take_test(ben, first)
    assert chat_lobby.wait(by=ben, campaign=campaign.pk).state == "chat"


def test_a_refused_text_says_how_long_it_is(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    with pytest.raises(MessageRefused, match="at most 500 characters; this one has 20,001"):
        chat_actions.send(by=people[0], chat=chat.pk, text="x" * 20_001, key="k")
