"""People talk with systems: replies, failures, caps, and what is left of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.campaigns import campaign_actions, editing
from annotation.corpora import deletion
from annotation.errors import CampaignRefused
from annotation.models import Assignment, Campaign, Item, System
from annotation.work import task_actions
from jobs import runs
from jobs.calls import claims
from jobs.models import Call, Run
from suites.collecting import chat_actions, chat_lobby, chat_plans, chat_replies, chat_systems
from suites.collecting.chat_systems import MOST_TRIES, NewSystem
from suites.collecting.errors import ChatRefused
from suites.collecting.models import Chat, ChatMessage, ChatReply, ChatSystem
from tests import factories
from tests.suites.collecting.talking import (
    PERSONAS,
    ChatModel,
    answer_all,
    bare_corpus,
    begin,
    say,
    system_campaign,
)
from tests.suites.continuation.making import served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> Iterator[ChatModel]:
    with ChatModel() as server:
        yield server


@pytest.fixture
def ana() -> User:
    return factories.user("ana")


def reply_state(chat: Chat, person: User) -> str:
    return chat_actions.view(by=person, chat=chat.pk).reply


def texts(chat: Chat) -> list[str]:
    return list(chat.messages.values_list("text", flat=True))


def test_a_conversation_begins_at_once_and_the_model_gets_it_as_messages(model: ChatModel, ana: User) -> None:
    campaign = system_campaign([ana], model.endpoint())
    assert list(campaign.tasks.values_list("raters", flat=True)) == [1, 1, 1]
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    assert reply_state(chat, ana) == "waiting"
    answer_all()
    say(chat, ana, "And you?")
    answer_all()
    chat.refresh_from_db()
    assert chat.state == "finished"
    assert texts(chat) == ["Hello", "I heard Hello", "And you?", "I heard And you?"]
    system, *turns = model.bodies[-1]["messages"]
    assert (system["role"], model.bodies[-1]["temperature"]) == ("system", 0.5)
    assert system["content"] == f"SECRET-PROMPT of SECRET-SYSTEM\n\nYou are:\n- {PERSONAS[1]}"
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        ("user", "Hello"), ("assistant", "I heard Hello"), ("user", "And you?"),
    ]  # fmt: skip


def test_a_finished_one_is_a_continuation_of_the_system_with_the_human_side_given(
    model: ChatModel, ana: User
) -> None:
    campaign = system_campaign([ana], model.endpoint(), exchanges=1)
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    answer_all()
    part = chat.task.continuation
    assert (part.key, part.system.name, part.mode) == (f"chat-{campaign.pk}", "SECRET-SYSTEM", "rollout")
    assert part.condition == {"model": "SECRET-MODEL", "temperature": 0.5}
    rows = [(turn.speaker, turn.given, bool((turn.extra or {})["time"])) for turn in part.turns.all()]
    assert rows == [("person 1", True, True), ("person 2", False, True)]
    assert (part.turns.all()[0].extra or {})["extra"]["annotator"] == factories.called(ana, campaign)
    assert sorted(Item.objects.values_list("kind", flat=True)) == ["dialogue", "turn"]
    assert chat_lobby.wait(by=ana, campaign=campaign.pk).state == "task"
    _, own = task_actions.start(by=ana, campaign=campaign.pk)
    assert own is not None
    answers = {factories.item_name(Item.objects.get(kind="dialogue"), own.assignment): {"overall": 4}}
    task_actions.submit(by=ana, campaign=campaign.pk, assignment=own.assignment, answers=answers)
    assert begin(campaign, ana).task != chat.task


def test_a_system_may_begin(model: ChatModel, ana: User) -> None:
    campaign = system_campaign([ana], model.endpoint(), first="system", exchanges=1)
    chat = begin(campaign, ana)
    seen = chat_actions.view(by=ana, chat=chat.pk)
    assert (seen.own, seen.turn, seen.persona, seen.reply) == (2, 1, (PERSONAS[1],), "waiting")
    answer_all()
    assert model.bodies[0]["messages"][1]["content"] == chat_replies.OPENING
    say(chat, ana, "Hello")
    chat.refresh_from_db()
    assert (chat.state, len(texts(chat)), model.bodies[1:]) == ("finished", 2, [])


def test_its_run_stays_open_between_turns_and_is_done_when_the_campaign_is_closed(
    model: ChatModel, ana: User
) -> None:
    campaign = system_campaign([ana], model.endpoint(), exchanges=1)
    run = Run.objects.get()
    claims.sweep()
    run.refresh_from_db()
    assert (run.state, run.campaign, run.use_cache) == ("queued", campaign, False)
    say(begin(campaign, ana), ana, "Hello")
    answer_all()
    claims.sweep()
    run.refresh_from_db()
    assert (run.state, run.finished_at) == ("running", None)
    campaign_actions.close(by=factories.user(researcher=True), campaign=campaign)
    claims.sweep()
    run.refresh_from_db()
    assert (run.state, run.values) == ("done", 1)


def test_a_long_reply_is_not_cut_and_controls_are_removed(model: ChatModel, ana: User) -> None:
    model.reply = lambda messages: "a\x07" * 3000 + "\r\nend "
    chat = begin(system_campaign([ana], model.endpoint(), most_characters=10), ana)
    say(chat, ana, "Hello")
    answer_all()
    assert texts(chat)[1] == "a" * 3000 + "\nend"


@pytest.mark.parametrize("status", [500, 429, 400])
def test_a_failed_reply_can_be_asked_for_again_until_the_conversation_is_given_up(
    model: ChatModel, ana: User, status: int
) -> None:
    campaign = system_campaign([ana], model.endpoint())
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    model.status = status
    answer_all()
    assert reply_state(chat, ana) == "failed"
    chat_replies.retry(by=ana, chat=chat.pk)
    assert reply_state(chat, ana) == "waiting"
    model.status = 200
    answer_all()
    assert texts(chat) == ["Hello", "I heard Hello"]
    say(chat, ana, "Again")
    model.status = status
    for _ in range(MOST_TRIES):
        answer_all()
        chat.refresh_from_db()
        if chat.state == "open":
            chat_replies.retry(by=ana, chat=chat.pk)
    assert (chat.state, chat.reason) == ("abandoned", "failed")
    assert chat_actions.view(by=ana, chat=chat.pk).end_reason == "the other side could not answer"
    assert Assignment.objects.get(user=ana).state == "skipped"
    assert not chat.task.continuation.turns.exists()
    ben = factories.user("ben")
    campaign_actions.add_member(by=factories.user(researcher=True), campaign=campaign, user=ben)
    assert begin(campaign, ben).task == chat.task


def test_an_empty_reply_is_none(model: ChatModel, ana: User) -> None:
    model.reply = lambda messages: " \n "
    chat = begin(system_campaign([ana], model.endpoint()), ana)
    say(chat, ana, "Hello")
    answer_all()
    assert reply_state(chat, ana) == "failed"
    assert Call.objects.get().error_kind


def test_a_cap_in_the_middle_pauses_the_run_and_a_higher_one_lets_the_reply_come(
    model: ChatModel, ana: User
) -> None:
    campaign = system_campaign([ana], model.endpoint(), caps={"cap_calls": 1})
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    answer_all()
    say(chat, ana, "More")
    answer_all()
    run = Run.objects.get()
    assert (run.state, run.at_cap, len(model.bodies)) == ("paused", True, 1)
    assert reply_state(chat, ana) == "failed"
    chat_replies.retry(by=ana, chat=chat.pk)
    run.refresh_from_db()
    assert (run.state, reply_state(chat, ana)) == ("paused", "failed")
    runs.set_caps(by=factories.user(administrator=True), run=run, caps={"cap_calls": 5})
    answer_all()
    chat.refresh_from_db()
    assert (chat.state, texts(chat)[-1]) == ("finished", "I heard More")


def test_a_run_that_somebody_paused_stays_paused(model: ChatModel, ana: User) -> None:
    campaign, by = system_campaign([ana], model.endpoint()), factories.user(administrator=True)
    runs.pause(by=by, run=Run.objects.get())
    claims.sweep()
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    answer_all()
    assert (Run.objects.get().state, reply_state(chat, ana), model.bodies) == ("paused", "failed", [])
    runs.resume(by=by, run=Run.objects.get())
    answer_all()
    assert len(texts(chat)) == 2
    runs.pause(by=by, run=Run.objects.get())
    runs.resume(by=by, run=Run.objects.get())
    assert Run.objects.get().state == "queued", "between two turns, too"


def test_what_comes_after_the_end_is_dropped_and_is_not_asked_again(model: ChatModel, ana: User) -> None:
    campaign = system_campaign([ana], model.endpoint())
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    chat_actions.leave(by=ana, chat=chat.pk)
    assert Call.objects.get().state == "cancelled"
    runs.retry_failed(by=factories.user(administrator=True), run=Run.objects.get())
    answer_all()
    assert (Call.objects.get().state, model.bodies) == ("cancelled", [])
    other = begin(campaign, ana)
    say(other, ana, "Hello")
    Call.objects.filter(state="pending").update(state="leased", lease_expires=timezone.now())
    chat_actions.leave(by=ana, chat=other.pk)
    claims.sweep()
    answer_all()
    assert texts(other) == ["Hello"]
    assert not ChatReply.objects.exclude(text="").exists()


def test_the_clock_runs_against_the_system_while_it_owes_a_reply(model: ChatModel, ana: User) -> None:
    campaign = system_campaign([ana], model.endpoint())
    chat = begin(campaign, ana)
    say(chat, ana, "Hello")
    late = timedelta(minutes=20)
    Chat.objects.filter(pk=chat.pk).update(last_at=F("last_at") - late)
    ChatReply.objects.update(at=F("at") - late)
    assert chat_actions.sweep() == 1
    chat.refresh_from_db()
    assert chat.reason == "failed"
    other = begin(campaign, ana)
    Chat.objects.filter(pk=other.pk).update(last_at=F("last_at") - late)
    assert chat_actions.sweep() == 1
    other.refresh_from_db()
    assert other.reason == "idle"


def test_a_person_meets_each_system_equally_often(model: ChatModel, ana: User) -> None:
    ben, names = factories.user("ben"), ("x", "y", "z")
    campaign = system_campaign([ana, ben], model.endpoint(), systems=names, dialogues=12)
    for person in (ana, ben) * 6:
        chat_actions.leave(by=person, chat=begin(campaign, person).pk)
    for person in (ana, ben):
        met = Chat.objects.filter(seats__user=person).values_list("systems__system__name", flat=True)
        assert Counter(met) == dict.fromkeys(names, 2)


def test_the_fake_model_talks_with_whoever_tries_it(ana: User) -> None:
    with served() as fake:
        chat = begin(system_campaign([ana], fake.endpoint()), ana)
        say(chat, ana, "Hello")
        answer_all()
    assert len(texts(chat)[1].split()) > 1


# Identity, and what is refused.


def test_a_name_is_that_of_one_system_for_good(model: ChatModel) -> None:
    by, endpoint = factories.user(researcher=True), model.endpoint()
    campaign = system_campaign([], endpoint, opened=False)
    copied = editing.copy(by=by, campaign=campaign, name="again")
    assert copied.chat_systems.get().fingerprint == campaign.chat_systems.get().fingerprint
    assert copied.chat_systems.get().run != campaign.chat_systems.get().run
    factories.continuation(factories.dialogue(campaign.corpus, "x"), "y", system="imported", turns=[])
    for name in ("SECRET-SYSTEM", "imported", "human", "arena", " "):
        with pytest.raises(CampaignRefused):
            chat_systems.add(by=by, campaign=copied, new=NewSystem(name, endpoint, "other"))
    chat_systems.remove(by=by, campaign=copied, system=copied.chat_systems.get())
    chat_systems.remove(by=by, campaign=campaign, system=campaign.chat_systems.get())
    assert not Run.objects.exists()
    assert not System.objects.filter(name="SECRET-SYSTEM").exists()


def test_a_campaign_opens_only_with_its_systems_and_gets_no_more_then(model: ChatModel) -> None:
    by, endpoint = factories.user(researcher=True), model.endpoint()
    campaign = system_campaign([], endpoint, opened=False, partner="arena")
    with pytest.raises(CampaignRefused, match="Add 1 more system to talk with"):
        campaign_actions.open(by=by, campaign=campaign)
    chat_systems.add(by=by, campaign=campaign, new=NewSystem("other", endpoint))
    assert campaign_actions.open(by=by, campaign=campaign) == 3
    campaign.refresh_from_db()
    with pytest.raises(CampaignRefused, match="draft"):
        chat_systems.add(by=by, campaign=campaign, new=NewSystem("x", endpoint))
    with pytest.raises(CampaignRefused, match="draft"):
        chat_systems.remove(by=by, campaign=campaign, system=ChatSystem.objects.all()[0])


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"partner": "system", "participants": 3}, "participants"),
        ({"partner": "arena", "turn_order": "free"}, "participants"),
        ({"first": "system"}, "first"),
        ({"partner": "robot"}, "partner"),
    ],
)
def test_plans_that_do_not_fit_are_refused(plan: dict[str, object], field: str) -> None:
    by = factories.user(researcher=True)
    with pytest.raises(CampaignRefused) as refusal:
        chat_plans.create(by=by, name="x", corpus=bare_corpus(), scheme="comperdial_dialogue", plan=plan)
    assert refusal.value.field == field
    assert not Campaign.objects.filter(name="x").exists()


# What the database refuses, and deletion.


def test_the_database_refuses_a_system_s_turn_that_no_reply_has(model: ChatModel, ana: User) -> None:
    chat = begin(system_campaign([ana], model.endpoint()), ana)
    say(chat, ana, "Hello")
    seat = chat.seats.get(is_system=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatMessage.objects.create(chat=chat, number=2, seat=seat, text="x", key="k", at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatReply.objects.update(is_picked=True)
    answer_all()
    for change in ({"text": "other"}, {"is_picked": False}, {"place": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ChatReply.objects.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChatReply.objects.all().delete()


def test_a_corpus_is_deleted_with_its_systems(model: ChatModel, ana: User) -> None:
    campaign = system_campaign([ana], model.endpoint())
    say(begin(campaign, ana), ana, "Hello")
    answer_all()
    root = factories.user(administrator=True)
    deletion.delete_corpus(corpus=campaign.corpus, by=root, confirmation=campaign.corpus.name)
    assert not ChatReply.objects.exists()
    assert not Run.objects.exists()


def test_nothing_is_picked_or_asked_again_where_nothing_failed(model: ChatModel, ana: User) -> None:
    chat = begin(system_campaign([ana], model.endpoint()), ana)
    say(chat, ana, "Hello")
    chat_replies.retry(by=ana, chat=chat.pk)
    assert ChatReply.objects.get().tries == 1
    with pytest.raises(ChatRefused):
        chat_replies.pick(by=ana, chat=chat.pk, number=2, place=1)
