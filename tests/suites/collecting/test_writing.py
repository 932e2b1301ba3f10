"""Written responses: what writers see and when, what is stored, and what becomes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.campaigns import campaign_actions, editing
from annotation.corpora import deletion as corpus_deletion
from annotation.errors import AnswerRefused, CampaignNotOpen, CampaignRefused, LeaseLost, NotTaskHolder
from annotation.models import Assignment, Campaign, Continuation, ContinuationAuthor, Item, Task
from annotation.people import deletion
from annotation.work import leases, task_actions
from suites.collecting import writing_actions, writing_plans
from suites.collecting.errors import MessageRefused, WritingRefused
from suites.collecting.models import WriterNumber, WritingPlan, WrittenResponse
from suites.continuation.generators.comperdial_response import Response
from suites.continuation.generators.generator import SETTINGS
from tests import factories
from tests.suites.collecting.writing import answer, begin, finish, fixed_corpus, reply, write_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[User]:
    return [factories.user(name) for name in ("ana", "ben", "cem")]


def expire(person: User) -> None:
    """Let a person's lease run out, and return its slot."""
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(user=person, state="leased").update(lease_expires=past)
    leases.return_expired()


def test_opening_gives_each_dialogue_a_task_for_as_many_writers(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=3, raters_per_item=2)
    assert list(campaign.tasks.values_list("raters", flat=True)) == [2, 2, 2]
    assert not Item.objects.filter(continuation__key=campaign.own_key).exists()
    assert not Continuation.objects.written().filter(key=campaign.own_key).exists()


def test_only_dialogues_in_which_systems_can_answer_are_written_for() -> None:
    corpus = fixed_corpus(1)
    factories.dialogue(corpus, "no persona", turns=4)
    factories.dialogue(corpus, "no turns", turns=0, participants=corpus.dialogues.get(key="d0").participants)
    assert list(write_campaign([], corpus=corpus).tasks.values_list("continuation__dialogue__key")) == [
        ("d0",)
    ]
    with pytest.raises(CampaignRefused, match="persona"):
        writing_plans.create(
            by=factories.user(researcher=True), name="none", corpus=factories.corpus(), plan={}
        )


def test_a_writer_sees_what_a_system_sees_up_to_the_point_and_then_goes_on(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1)
    own = begin(people[0], campaign)
    assert (own.number, own.total) == (1, 3)
    assert [turn.text for turn in own.turns] == ["Mara: Opening 1 of dialogue 0."]
    assert own.persona == ("Tom", "  I run marathons.")
    assert own.others == ("Mara", "  I repair bicycles.")
    answer(people[0], campaign)
    own = begin(people[0], campaign)
    assert own.number == 2
    assert [(turn.text, turn.is_own, turn.instead) for turn in own.turns] == [
        ("Mara: Opening 1 of dialogue 0.", False, ""),
        (f"Tom: {reply(0, 1)}", True, ""),
        ("Mara: Opening 2 of dialogue 0.", False, ""),
    ]


@pytest.mark.parametrize("personas", ["both", "own"])
def test_a_system_and_a_writer_are_shown_the_same(people: list[User], personas: str) -> None:
    campaign = write_campaign(people, dialogues=1, plan={"personas": personas})
    answer(people[0], campaign)
    own = begin(people[0], campaign)
    dialogue = campaign.corpus.dialogues.get()
    script = writing_actions.Script(dialogue, personas)
    record = writing_actions.dialogue_record(dialogue, script.turns, (), "human")
    values = {setting.name: setting.default for setting in SETTINGS}
    system = Response()
    state = system.begin(record, values | {"personas": personas})
    state = {**state, "responses": ["x"]}
    (prompt,) = system.request(state)  # type: ignore[misc]
    for text in (*own.persona, *own.others, *(turn.text for turn in own.turns)):
        assert text in prompt.user
    assert reply(0, 2) not in prompt.user
    assert bool(own.others) == (personas == "both")


def test_what_was_written_stands_beside_the_real_reply_where_the_campaign_shows_it(
    people: list[User],
) -> None:
    campaign = write_campaign(people, dialogues=1, plan={"show_real": True})
    assert answer(people[0], campaign, "Hello you.").real == reply(0, 1)
    assert [turn.instead for turn in begin(people[0], campaign).turns] == ["", "Hello you.", ""]
    other = write_campaign(people, dialogues=1)
    assert answer(people[0], other).real == ""


def test_the_last_response_makes_a_static_continuation_by_a_numbered_writer(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1)
    ana, ben, _ = people
    finish(ben, campaign)
    finish(ana, campaign)
    first, second = Continuation.objects.filter(key__startswith=f"{campaign.own_key}-").order_by("pk")
    assert (first.system.name, second.system.name) == ("human 1", "human 2")
    assert first.mode == "static"
    assert first.condition == {}
    turns = list(first.turns.order_by("position"))
    assert [(turn.speaker, turn.text, turn.at) for turn in turns] == [
        ("B", f"answer {number} by ben", 2 * number - 1) for number in (1, 2, 3)
    ]
    assert {turn.extra["extra"]["annotator"] for turn in turns if turn.extra} == {
        factories.called(ben, campaign)
    }
    assert all(turn.extra and "time" in turn.extra["extra"] for turn in turns)
    assert Item.objects.filter(continuation=first).count() == 4
    assert set(ContinuationAuthor.objects.values_list("continuation", "user")) == {
        (first.pk, ben.pk),
        (second.pk, ana.pk),
    }
    assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted"}


def test_a_writer_keeps_their_number_and_a_system_of_that_name_is_passed_over(people: list[User]) -> None:
    corpus = fixed_corpus(2)
    factories.continuation(
        corpus.dialogues.get(key="d0"), "x", system="human 1", turns=[{"text": "Hi.", "at": 1}], mode="static"
    )
    campaign = write_campaign(people, corpus=corpus)
    finish(people[0], campaign)
    finish(people[0], campaign)
    assert list(WriterNumber.objects.values_list("user", "number")) == [(people[0].pk, 2)]
    keys = Continuation.objects.filter(system__name="human 2").values_list("key", flat=True)
    assert set(keys) == {f"{campaign.own_key}-2"}


def test_several_write_for_a_dialogue_and_nobody_twice(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1, raters_per_item=2)
    finish(people[0], campaign)
    assert writing_actions.start(by=people[0], campaign=campaign.pk).state == "nothing"
    finish(people[1], campaign)
    assert writing_actions.start(by=people[2], campaign=campaign.pk).state == "nothing"
    again = write_campaign(people, corpus=campaign.corpus)
    assert writing_actions.start(by=people[0], campaign=again.pk).state == "nothing"
    assert writing_actions.start(by=people[2], campaign=again.pk).state == "writing"


def test_another_tab_goes_on_where_it_was_and_a_repeated_request_is_the_same_response(
    people: list[User],
) -> None:
    campaign = write_campaign(people, dialogues=1)
    own = begin(people[0], campaign)
    assert begin(people[0], campaign) == own
    place = {"by": people[0], "campaign": campaign.pk, "assignment": own.assignment}
    first = writing_actions.send(**place, number=1, text=" Hello. ")  # type: ignore[arg-type]
    assert writing_actions.send(**place, number=1, text="Hello.") == first  # type: ignore[arg-type]
    with pytest.raises(WritingRefused, match="sent already"):
        writing_actions.send(**place, number=1, text="Something else.")  # type: ignore[arg-type]
    with pytest.raises(WritingRefused, match="not the next"):
        writing_actions.send(**place, number=3, text="Too early.")  # type: ignore[arg-type]
    assert list(WrittenResponse.objects.values_list("text", flat=True)) == ["Hello."]


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b", "\x07", "a" * 501])
def test_a_response_has_1_to_500_characters(people: list[User], text: str) -> None:
    campaign = write_campaign(people)
    own = begin(people[0], campaign)
    with pytest.raises(MessageRefused):
        writing_actions.send(
            by=people[0], campaign=campaign.pk, assignment=own.assignment, number=1, text=text
        )


def test_a_draft_is_kept_for_its_own_response(people: list[User]) -> None:
    campaign = write_campaign(people)
    own = begin(people[0], campaign)
    place = {"by": people[0], "campaign": campaign.pk, "assignment": own.assignment}
    writing_actions.save_draft(**place, number=1, text="I beg")  # type: ignore[arg-type]
    writing_actions.save_draft(**place, number=2, text="Later")  # type: ignore[arg-type]
    assert begin(people[0], campaign).draft == "I beg"
    answer(people[0], campaign)
    assert begin(people[0], campaign).draft == ""


def test_whoever_comes_back_after_the_lease_goes_on_while_a_place_is_free(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1, raters_per_item=1)
    ana, ben, _ = people
    own = begin(ana, campaign)
    answer(ana, campaign)
    expire(ana)
    assert begin(ana, campaign).number == 2
    expire(ana)
    begin(ben, campaign)
    with pytest.raises(LeaseLost, match="What you sent is kept"):
        writing_actions.send(by=ana, campaign=campaign.pk, assignment=own.assignment, number=2, text="Late.")
    assert writing_actions.start(by=ana, campaign=campaign.pk).state == "nothing"
    finish(ben, campaign)
    assert WrittenResponse.objects.filter(assignment__user=ana).count() == 1
    assert Continuation.objects.filter(system__name__startswith="human ").count() == 1


def test_a_send_takes_an_expired_dialogue_again(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1)
    own = begin(people[0], campaign)
    expire(people[0])
    sent = writing_actions.send(
        by=people[0], campaign=campaign.pk, assignment=own.assignment, number=1, text="Hello."
    )
    assert sent.number == 1
    assert Assignment.objects.get().state == "leased"


def test_skipping_needs_a_reason_and_frees_the_dialogue_for_others(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1, raters_per_item=1)
    ana, ben, _ = people
    own = begin(ana, campaign)
    answer(ana, campaign)
    with pytest.raises(AnswerRefused):
        writing_actions.skip(by=ana, campaign=campaign.pk, assignment=own.assignment, reason=" ")
    writing_actions.skip(by=ana, campaign=campaign.pk, assignment=own.assignment, reason="Too sad.")
    assert writing_actions.start(by=ana, campaign=campaign.pk).state == "nothing"
    assert begin(ben, campaign).number == 1


def test_consent_limits_and_pauses_are_those_of_any_campaign(people: list[User]) -> None:
    campaign = write_campaign(people, consent="You take part freely.", most_tasks=1)
    assert writing_actions.start(by=people[0], campaign=campaign.pk).state == "task"
    limited = write_campaign(people, most_tasks=1)
    finish(people[0], limited)
    assert writing_actions.start(by=people[0], campaign=limited.pk).state == "nothing"
    own = begin(people[1], limited)
    campaign_actions.pause(by=factories.user(researcher=True), campaign=limited)
    with pytest.raises(CampaignNotOpen):
        writing_actions.send(
            by=people[1], campaign=limited.pk, assignment=own.assignment, number=1, text="Hello."
        )
    with pytest.raises(NotTaskHolder):
        writing_actions.start(by=factories.user(), campaign=limited.pk)


def test_the_annotation_page_hands_out_nothing_of_it(people: list[User]) -> None:
    campaign = write_campaign(people)
    own = begin(people[0], campaign)
    assert task_actions.start(by=people[0], campaign=campaign.pk)[1] is None
    campaign_actions.pause(by=factories.user(researcher=True), campaign=campaign)
    assert task_actions.start(by=people[0], campaign=campaign.pk)[1] is None
    campaign_actions.open(by=factories.user(researcher=True), campaign=campaign)
    with pytest.raises(NotTaskHolder):
        task_actions.submit(by=people[0], campaign=campaign.pk, assignment=own.assignment, answers={})
    finish(people[0], campaign)
    with pytest.raises(NotTaskHolder):
        task_actions.reopen(by=people[0], campaign=campaign.pk)


def test_a_copy_keeps_its_settings(people: list[User]) -> None:
    campaign = write_campaign(people, plan={"personas": "own", "most_characters": 99, "show_real": True})
    draft = editing.copy(by=factories.user(researcher=True), campaign=campaign, name="again")
    plan = WritingPlan.objects.get(campaign=draft)
    assert (plan.personas, plan.most_characters, plan.show_real) == ("own", 99, True)
    assert draft.scheme_version.scheme.key == "written_responses"


def test_deleting_a_writer_keeps_the_text_and_drops_the_author(people: list[User]) -> None:
    campaign = write_campaign(people, dialogues=1)
    finish(people[0], campaign)
    root = factories.user(administrator=True)
    deletion.delete_person(person=people[0], by=root, confirmation="ana", despite_use=True)
    assert Continuation.objects.get(system__name="human 1").turns.count() == 3
    assert not ContinuationAuthor.objects.exists()
    assert list(WriterNumber.objects.values_list("user", "number")) == [(None, 1)]
    finish(people[1], campaign)
    assert Continuation.objects.filter(system__name="human 2").count() == 1


def test_a_corpus_is_deleted_with_what_was_written(people: list[User]) -> None:
    campaign = write_campaign(people)
    finish(people[0], campaign)
    answer(people[1], campaign)
    root = factories.user(administrator=True)
    corpus_deletion.delete_corpus(corpus=campaign.corpus, by=root, confirmation=campaign.corpus.name)
    assert not WrittenResponse.objects.exists()
    assert not WriterNumber.objects.exists()


# What the database refuses, whatever the application does.


def refused(own: Assignment, number: int, point: int = 1, text: str = "x") -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        WrittenResponse.objects.create(
            assignment=own, number=number, point=point, text=text, at=timezone.now()
        )


def test_the_database_refuses_responses_out_of_order_too_long_changed_or_after_the_end(
    people: list[User],
) -> None:
    campaign = write_campaign(people, dialogues=1)
    own = Assignment.objects.get(pk=begin(people[0], campaign).assignment)
    refused(own, 2)
    for text in ("", " x", "x" * 501):
        refused(own, 1, text=text)
    answer(people[0], campaign)
    refused(own, 1)
    refused(own, 2, point=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        WrittenResponse.objects.update(text="changed")
    with pytest.raises(IntegrityError), transaction.atomic():
        WrittenResponse.objects.all().delete()
    finish(people[0], campaign)
    refused(own, 4, point=7)
    with pytest.raises(IntegrityError), transaction.atomic():
        WritingPlan.objects.update(most_characters=1)


def test_the_database_refuses_two_numbers_of_a_writer_and_two_writers_of_a_number(
    people: list[User],
) -> None:
    corpus = fixed_corpus(1)
    WriterNumber.objects.create(corpus=corpus, user=people[0], number=1)
    for user, number in ((people[0], 2), (people[1], 1)):
        with pytest.raises(IntegrityError), transaction.atomic():
            WriterNumber.objects.create(corpus=corpus, user=user, number=number)


def test_tasks_and_campaigns_of_other_forms_stay_as_they_are(people: list[User]) -> None:
    campaign = write_campaign(people)
    finish(people[0], campaign)
    rating = factories.campaign(campaign.corpus, "comperdial_turn", annotators=people)
    keys = set(Task.objects.filter(campaign=rating).values_list("continuation__key", flat=True))
    assert campaign.own_key not in keys
    assert rating.form == Campaign.Form.RATING
