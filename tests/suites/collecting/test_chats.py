"""Conversations: pairs, turns in order, and what is left of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import campaign_actions, rules
from annotation.corpora import deletion as corpus_deletion
from annotation.corpora import queries
from annotation.errors import CampaignRefused, NotTaskHolder
from annotation.models import Assignment, Campaign, Continuation, Item, Label, Slot
from annotation.people import deletion, groups
from annotation.work import screens, task_actions
from annotation.work.checking import item_number
from judges.runs import selection
from suites.collecting import chat_actions, chat_lobby, chat_plans
from suites.collecting.errors import ChatRefused, MessageRefused
from suites.collecting.models import Chat, ChatMessage, ChatPlan, ChatSeat, Waiting
from tests import factories
from tests.checks import world
from tests.suites.collecting.talking import bare_corpus, chat_campaign, hold, meet, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[User]:
    return [factories.user(name) for name in ("ana", "ben", "cem", "dee")]


def age(chat: Chat, minutes: int) -> None:
    """Move the last turn of a conversation into the past."""
    Chat.objects.filter(pk=chat.pk).update(last_at=F("last_at") - timedelta(minutes=minutes))


def test_opening_gives_each_dialogue_an_empty_continuation_and_a_task_of_as_many_slots(
    people: list[User],
) -> None:
    campaign = chat_campaign(people, dialogues=3)
    rows = Continuation.objects.filter(key=f"chat-{campaign.pk}")
    assert rows.count() == campaign.tasks.count() == 3
    assert {row.system.name for row in rows} == {"human"}
    assert not Item.objects.exists()
    assert list(campaign.tasks.values_list("raters", flat=True)) == [2, 2, 2]


def test_two_who_wait_are_paired_and_sit_in_the_order_of_waiting(people: list[User]) -> None:
    campaign = chat_campaign(people)
    first = chat_lobby.wait(by=people[1], campaign=campaign.pk)
    assert (first.state, first.others) == ("waiting", 0)
    second = chat_lobby.wait(by=people[0], campaign=campaign.pk)
    assert second.state == "chat"
    assert chat_lobby.wait(by=people[1], campaign=campaign.pk) == second
    seats = ChatSeat.objects.filter(chat=second.chat).values_list(
        "number", "user", "assignment__slot__number"
    )
    assert list(seats) == [(1, people[1].pk, 1), (2, people[0].pk, 2)]
    assert not Waiting.objects.exists()


def test_one_person_by_two_tabs_waits_once_and_is_never_their_own_partner(people: list[User]) -> None:
    campaign = chat_campaign(people)
    for _ in range(3):
        assert chat_lobby.wait(by=people[0], campaign=campaign.pk).state == "waiting"
    assert Waiting.objects.count() == 1


def test_who_left_the_lobby_is_not_paired(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat_lobby.wait(by=people[0], campaign=campaign.pk)
    Waiting.objects.update(seen_at=timezone.now() - timedelta(seconds=16))
    assert chat_lobby.wait(by=people[1], campaign=campaign.pk).state == "waiting"
    chat_lobby.stop_waiting(by=people[1], campaign=campaign.pk)
    assert chat_lobby.wait(by=people[2], campaign=campaign.pk).state == "waiting"


def test_nobody_meets_a_partner_again_while_another_person_waits(people: list[User]) -> None:
    campaign = chat_campaign(people, dialogues=6)
    ana, ben, cem, _ = people
    chat_actions.leave(by=ana, chat=meet(campaign, ana, ben).pk)
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"
    assert chat_lobby.wait(by=cem, campaign=campaign.pk).state == "chat"
    chat_actions.leave(by=ana, chat=meet(campaign, ana, cem).pk)
    assert meet(campaign, ana, ben).state == "open"


def test_the_same_people_do_not_get_a_task_again(people: list[User]) -> None:
    campaign = chat_campaign(people, dialogues=1)
    ana, ben, cem, dee = people
    chat_actions.leave(by=ana, chat=meet(campaign, ana, ben).pk)
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "nothing"
    assert not Slot.objects.filter(taken=True).exists()
    assert meet(campaign, cem, dee).task == campaign.tasks.get()


def test_consent_comes_before_the_lobby_and_limits_are_kept(people: list[User]) -> None:
    campaign = chat_campaign(people, consent="You take part freely.", most_tasks=1)
    assert chat_lobby.wait(by=people[0], campaign=campaign.pk).state == "task"
    with pytest.raises(NotTaskHolder):
        chat_lobby.wait(by=factories.user("stranger"), campaign=campaign.pk)


def test_only_who_passed_the_test_waits(people: list[User]) -> None:
    ana, ben, *_ = people
    campaign = chat_campaign(people, opened=False)
    factories.dialogue(campaign.corpus, "keyed", turns=2)
    by, item = factories.user(researcher=True), Item.objects.get(kind="dialogue")
    world.key(campaign, "qualification", item, by)
    campaign_actions.open(by=by, campaign=campaign)
    assert campaign.tasks.count() == 3
    for person, value in ((ana, 5), (ben, 4)):
        assert chat_lobby.wait(by=person, campaign=campaign.pk).state == "task"
        world.accept(person, campaign, "test")
        assert chat_lobby.wait(by=person, campaign=campaign.pk).state == "task"
        own = world.start(person, campaign)
        assert own is not None
        answers = {factories.item_name(item, own.assignment): {"overall": value}}
        task_actions.submit(by=person, campaign=campaign.pk, assignment=own.assignment, answers=answers)
    world.accept(ana, campaign, "passed")
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"
    assert chat_lobby.wait(by=ben, campaign=campaign.pk).state == "task"
    assert not Chat.objects.exists()


def test_the_rules_of_a_campaign_decide_who_sits_where(people: list[User]) -> None:
    ana, ben, cem, _ = people
    campaign, by = chat_campaign(people, opened=False), factories.user(researcher=True)
    experts = groups.create(by=by, name="experts", people=[ben])
    rules.set_rules(by=by, campaign=campaign, rules=rules.Rules(required={experts: 1}))
    campaign_actions.open(by=by, campaign=campaign)
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"
    assert chat_lobby.wait(by=cem, campaign=campaign.pk).state == "waiting"
    chat = meet(campaign, ben)
    assert list(chat.seats.values_list("number", "user")) == [(1, ben.pk), (2, ana.pk)]


def test_a_finished_conversation_is_a_continuation_with_times_and_pseudonyms(people: list[User]) -> None:
    campaign = chat_campaign(people)
    ana, ben, *_ = people
    chat = meet(campaign, ana, ben)
    hold(chat, ana, ben)
    assert chat.state == "finished"
    part = chat.task.continuation
    turns = list(part.turns.all())
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("person 1", "turn 1"), ("person 2", "turn 2"), ("person 1", "turn 3"), ("person 2", "turn 4"),
    ]  # fmt: skip
    assert {turn.extra["extra"]["annotator"] for turn in turns if turn.extra} == {
        factories.called(ana, campaign), factories.called(ben, campaign),
    }  # fmt: skip
    assert [turn.extra["time"] for turn in turns if turn.extra] == sorted(
        message.at.isoformat(timespec="milliseconds") for message in chat.messages.all()
    )
    assert Item.objects.filter(continuation=part).count() == 5


def test_each_person_then_answers_about_the_conversation_on_the_annotation_page(people: list[User]) -> None:
    campaign = chat_campaign(people)
    ana, ben, *_ = people
    assert task_actions.start(by=ana, campaign=campaign.pk)[1] is None
    chat = meet(campaign, ana, ben)
    assert task_actions.start(by=ana, campaign=campaign.pk)[1] is None
    hold(chat, ana, ben)
    item = Item.objects.get(continuation=chat.task.continuation, kind="dialogue")
    for person, value in ((ana, 5), (ben, 4)):
        assert chat_lobby.wait(by=person, campaign=campaign.pk).state == "task"
        _, own = task_actions.start(by=person, campaign=campaign.pk)
        assert own is not None
        assert own.task == chat.task_id
        assert screens.load(own.task, assignment=own.assignment).items == (
            item_number(item.public, own.assignment),
        )
        answers = {factories.item_name(item, own.assignment): {"overall": value}}
        outcome = task_actions.submit(
            by=person, campaign=campaign.pk, assignment=own.assignment, answers=answers
        )
        assert outcome.next is None
    values = Label.objects.filter(item=item, question__key="overall").values_list("number", flat=True)
    assert sorted(value for value in values if value is not None) == [4, 5]
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "waiting"


def test_an_open_conversation_has_nothing_to_submit_or_skip(people: list[User]) -> None:
    campaign = chat_campaign(people)
    meet(campaign, *people[:2])
    mine = Assignment.objects.get(user=people[0])
    with pytest.raises(NotTaskHolder):
        task_actions.submit(by=people[0], campaign=campaign.pk, assignment=mine.pk, answers={})
    with pytest.raises(NotTaskHolder):
        task_actions.skip(by=people[0], campaign=campaign.pk, assignment=mine.pk, reason="no")


def test_only_whose_turn_it_is_can_send(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    with pytest.raises(ChatRefused, match="another person's turn"):
        say(chat, people[1], "first!")
    say(chat, people[0], "hello")
    with pytest.raises(ChatRefused, match="another person's turn"):
        say(chat, people[0], "anybody?")
    with pytest.raises(NotTaskHolder):
        say(chat, people[2], "hello you two")


def test_a_repeated_key_is_the_same_turn_even_after_the_end(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    assert say(chat, people[0], "hello", "k1") == say(chat, people[0], "hello", "k1") == 1
    assert say(chat, people[1], "hello", "k1") == 2
    chat_actions.leave(by=people[1], chat=chat.pk)
    assert say(chat, people[0], "hello", "k1") == 1
    with pytest.raises(ChatRefused, match="over"):
        say(chat, people[0], "still there?")


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b", "\x07", "a" * 501])
def test_a_turn_has_1_to_500_characters(people: list[User], text: str) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    with pytest.raises(MessageRefused):
        chat_actions.send(by=people[0], chat=chat.pk, text=text, key="k")
    assert not ChatMessage.objects.exists()


def test_controls_are_removed_and_other_characters_count_once(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    say(chat, people[0], " a\x00\x07b\r\nc <script> ", "k")
    assert ChatMessage.objects.get().text == "ab\nc <script>"
    say(chat, people[1], "\N{GRINNING FACE}" * 500)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_leaving_at_any_point_abandons_the_conversation_and_keeps_its_turns(
    people: list[User], turns: int
) -> None:
    campaign = chat_campaign(people)
    ana, ben, *_ = people
    chat = meet(campaign, ana, ben)
    hold(chat, ana, ben, turns=turns)
    chat_actions.leave(by=ben, chat=chat.pk)
    chat_actions.leave(by=ana, chat=chat.pk, report="rude")
    chat.refresh_from_db()
    assert (chat.state, chat.reason, chat.report) == ("abandoned", "left", "")
    assert chat.messages.count() == turns
    assert not chat.task.continuation.turns.exists()
    assert not Item.objects.exists()
    assert set(Assignment.objects.values_list("state", flat=True)) == {"skipped"}
    assert chat_actions.view(by=ana, chat=chat.pk).end_reason == "somebody left"


def test_a_report_keeps_its_words_and_a_researcher_ends_with_a_reason(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    chat_actions.leave(by=people[0], chat=chat.pk, report="They asked for my address.")
    chat.refresh_from_db()
    assert (chat.reason, chat.report) == ("reported", "They asked for my address.")
    other = meet(campaign, *people[2:])
    by = factories.user(researcher=True)
    with pytest.raises(ChatRefused, match="Say why"):
        chat_actions.end(by=by, chat=other, reason=" ")
    chat_actions.end(by=by, chat=other, reason="A test.")
    with pytest.raises(ChatRefused, match="abandoned already"):
        chat_actions.end(by=by, chat=other, reason="Again.")


def test_whoever_is_silent_for_too_long_ends_it(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    say(chat, people[0], "hello")
    age(chat, 10)
    seen = chat_actions.view(by=people[1], chat=chat.pk)
    assert (seen.state, seen.turn, seen.seconds >= seen.remind_seconds) == ("open", 2, True)
    assert chat_actions.sweep() == 0
    age(chat, 5)
    with pytest.raises(ChatRefused, match="over"):
        say(chat, people[1], "sorry")
    assert chat_actions.sweep() == 1
    assert chat_actions.view(by=people[0], chat=chat.pk).end_reason == "nobody wrote for too long"


def test_a_sweep_asks_as_little_about_many_open_conversations_as_about_few(
    django_assert_num_queries: Any,
) -> None:
    people = [factories.user(f"person {number}") for number in range(8)]
    campaign = chat_campaign(people, dialogues=4)
    for first, second in zip(people[::2], people[1::2], strict=True):
        meet(campaign, first, second)
    with django_assert_num_queries(2):
        assert chat_actions.sweep() == 0


def test_a_pause_stops_the_clock_and_the_turns(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    by = factories.user(researcher=True)
    campaign_actions.pause(by=by, campaign=campaign)
    age(chat, 60)
    assert chat_actions.sweep() == 0
    with pytest.raises(ChatRefused, match="paused"):
        say(chat, people[0], "hello")


def test_removing_a_member_ends_their_conversation(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    campaign_actions.remove_member(by=factories.user(researcher=True), campaign=campaign, user=people[1])
    assert chat_actions.view(by=people[0], chat=chat.pk).end_reason == "a researcher ended it"


def test_three_people_in_free_order(people: list[User]) -> None:
    campaign = chat_campaign(people, people=3, turn_order="free", exchanges=1)
    ana, ben, cem, _ = people
    chat = meet(campaign, ana, ben, cem)
    for person, text in ((ben, "first"), (ben, "me again"), (cem, "hi")):
        say(chat, person, text)
    chat.refresh_from_db()
    assert chat.state == "finished"
    assert [turn.speaker for turn in chat.task.continuation.turns.all()] == [
        "person 2",
        "person 2",
        "person 3",
    ]


def test_the_clock_of_a_turn_never_runs_backwards(people: list[User]) -> None:
    chat = meet(chat_campaign(people), *people[:2])
    later = timezone.now() + timedelta(hours=1)
    Chat.objects.filter(pk=chat.pk).update(last_at=later)
    say(chat, people[0], "hello")
    assert ChatMessage.objects.get().at == later


def test_opening_again_adds_only_dialogues_that_came_later(people: list[User]) -> None:
    campaign = chat_campaign(people, dialogues=2)
    hold(meet(campaign, *people[:2]), *people[:2])
    by = factories.user(researcher=True)
    participants = campaign.corpus.dialogues.all()[0].participants
    factories.dialogue(campaign.corpus, "later", turns=0, participants=participants)
    campaign_actions.close(by=by, campaign=campaign)
    assert campaign_actions.open(by=by, campaign=campaign) == 1
    assert campaign.tasks.count() == 3


def test_before_its_end_a_conversation_is_in_no_selection(people: list[User]) -> None:
    campaign = chat_campaign(people, dialogues=1)
    corpus, rei = campaign.corpus, Client()
    rei.force_login(factories.user("rei", researcher=True))
    dialogue = corpus.dialogues.get()
    factories.continuation(dialogue, "x", system="model-x", turns=[{"text": "Hello."}])
    by = factories.user(researcher=True)

    def everywhere() -> list[bool]:
        page = rei.get(reverse("dialogue", args=[dialogue.pk])).content.decode()
        parts = rei.get(reverse("api-dialogue", args=[dialogue.pk])).json()["continuations"]
        run = selection.continuations(selection.Selection(corpus))
        listed_by_system = queries.dialogues(corpus, system="human").exists()
        keys = [*run.values_list("key", flat=True)], [part["id"] for part in parts]
        return [campaign.own_key in page, *(campaign.own_key in names for names in keys), listed_by_system]

    assert everywhere() == [False] * 4
    chat = meet(campaign, *people[:2])
    assert everywhere() == [False] * 4
    with pytest.raises(CampaignRefused):
        factories.campaign(corpus, "preference", compared="whole", by=by)
    assert not Continuation.objects.written().filter(key=campaign.own_key).exists()
    hold(chat, *people[:2])
    assert everywhere() == [True] * 4
    comparing = factories.campaign(corpus, "preference", compared="whole", by=by)
    assert comparing.compared_items.count() == 1


def test_deleting_a_person_keeps_the_turns_without_their_account(people: list[User]) -> None:
    campaign = chat_campaign(people)
    ana, ben, cem, dee = people
    chat, other = meet(campaign, ana, ben), meet(campaign, cem, dee)
    hold(chat, ana, ben)
    say(other, cem, "hello")
    root = factories.user(administrator=True)
    for person in (ana, cem):
        deletion.delete_person(person=person, by=root, confirmation=person.username, despite_use=True)
    assert chat.messages.count() == chat.task.continuation.turns.count() == 4
    assert chat_actions.transcript(chat).seats[0][1] == "deleted account"
    assert chat_actions.view(by=dee, chat=other.pk).end_reason == "a researcher ended it"


def test_a_corpus_is_deleted_with_its_conversations(people: list[User]) -> None:
    campaign = chat_campaign(people)
    hold(meet(campaign, *people[:2]), *people[:2])
    meet(campaign, *people[2:])
    root = factories.user(administrator=True)
    corpus_deletion.delete_corpus(corpus=campaign.corpus, by=root, confirmation=campaign.corpus.name)
    assert not Chat.objects.exists()
    assert not ChatMessage.objects.exists()


# What the database refuses, whatever the application does.


def refused(number: int, seat: ChatSeat, text: str = "x") -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatMessage.objects.create(
            chat=seat.chat, number=number, seat=seat, text=text, key=f"{number}", at=timezone.now()
        )


def test_the_database_refuses_turns_out_of_order_too_long_or_of_others(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat, other = meet(campaign, *people[:2]), meet(campaign, *people[2:])
    one, two = chat.seats.all()
    refused(2, one)
    refused(1, two)
    refused(1, one, "")
    refused(1, one, " x")
    refused(1, one, "x" * 501)
    say(chat, people[0], "hello")
    refused(1, one)
    stranger = ChatSeat(pk=other.seats.all()[1].pk, chat=chat)
    refused(2, stranger)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatMessage.objects.update(text="changed")
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatMessage.objects.all().delete()


def test_the_database_refuses_turns_after_the_end_and_another_end(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    with pytest.raises(IntegrityError), transaction.atomic():
        Chat.objects.filter(pk=chat.pk).update(state="finished", ended_at=timezone.now())
    chat_actions.leave(by=people[0], chat=chat.pk)
    refused(1, chat.seats.all()[0])
    for change in ({"state": "open", "reason": "", "ended_at": None}, {"report": "other"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Chat.objects.filter(pk=chat.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatPlan.objects.update(exchanges=9)


# Settings, and what stays as it was for all other campaigns.


@pytest.mark.parametrize(
    ("scheme", "plan", "field"),
    [
        ("comperdial_turn", {}, "scheme"),
        ("comperdial_dialogue", {"participants": 3}, "participants"),
        ("comperdial_dialogue", {"participants": 7}, "participants"),
        ("comperdial_dialogue", {"idle_minutes": 4}, "idle_minutes"),
    ],
)
def test_settings_that_do_not_fit_are_refused(scheme: str, plan: dict[str, int], field: str) -> None:
    with pytest.raises(CampaignRefused) as refusal:
        chat_plans.create(
            by=factories.user(researcher=True), name="x", corpus=bare_corpus(), scheme=scheme, plan=plan
        )
    assert refusal.value.field == field
    assert not Campaign.objects.filter(name="x").exists()


def test_a_rating_campaign_gets_conversations_once_they_are_finished(people: list[User]) -> None:
    campaign = chat_campaign(people)
    chat = meet(campaign, *people[:2])
    by = factories.user(researcher=True)
    with pytest.raises(CampaignRefused):
        factories.campaign(campaign.corpus, "comperdial_turn", by=by)
    hold(chat, *people[:2])
    assert factories.campaign(campaign.corpus, "comperdial_turn", by=by).tasks.count() == 4
