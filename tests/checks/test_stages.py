"""Training and the test come before the main work."""

import pytest
from django.db import IntegrityError, transaction

from annotation.errors import AlreadySubmitted, CampaignRefused
from annotation.models import Assignment, Attempt, CampaignMember, Label, Standing, live_labels
from annotation.work import check_actions, check_stages
from annotation.work import task_actions as labelling
from annotation.work.leases import take_seat
from config.models import Event
from tests import factories
from tests.checks.world import RIGHT, WRONG, accept, answer, campaign, occasion_of, start, take_test, work


@pytest.fixture
def ana(db):
    return factories.user("ana")


def notice(who, made):
    with transaction.atomic():
        return check_stages.waiting(take_seat(campaign=made.pk, user=who.pk))


def test_training_shows_after_each_answer_what_is_right_and_why(ana):
    made = campaign(ana, training=2)
    assert start(ana, made) is None
    assert (notice(ana, made).what, notice(ana, made).tasks) == ("training", 2)
    accept(ana, made, "training")
    answer(ana, made, start(ana, made), WRONG)
    told = notice(ana, made)
    assert (told.what, told.right, told.asked) == ("feedback", 0, 1)
    assert (told.rows[0].given[0], told.rows[0].right[0], told.rows[0].is_right) == ("1", "5", False)
    assert told.explanation == "Because it fits."
    assert start(ana, made) is None
    accept(ana, made, "feedback", told.number)
    answer(ana, made, start(ana, made), RIGHT)
    accept(ana, made, "feedback", notice(ana, made).number)
    told = notice(ana, made)
    assert (told.what, told.right, told.asked, told.again) == ("trained", 1, 2, 2)


@pytest.mark.exhaustive
def test_training_may_be_done_again_and_is_followed_by_the_main_work(ana):
    made = campaign(ana, training=1)
    for number in (1, 2):
        accept(ana, made, "training", number)
        answer(ana, made, start(ana, made))
        accept(ana, made, "feedback", notice(ana, made).number)
    accept(ana, made, "trained", 2)
    assert work(ana, made) == ["main"] * 6
    assert Label.objects.filter(occasion="training", sample__in=[1, 2]).count() == 2
    assert CampaignMember.objects.get(user=ana).done == 6


@pytest.mark.exhaustive
def test_who_passes_the_test_works_and_its_labels_are_in_no_statistic(ana):
    made = campaign(ana, test=2)
    take_test(ana, made)
    assert start(ana, made) is None
    assert notice(ana, made).what == "passed"
    accept(ana, made, "passed")
    assert work(ana, made) == ["main"] * 6
    assert set(live_labels().values_list("occasion", flat=True)) == {"main"}
    assert Event.objects.filter(verb="campaign: pass the test", by=ana).exists()


@pytest.mark.exhaustive
def test_who_fails_has_another_try_and_then_none_but_may_be_let_in(ana):
    made = campaign(ana, test=2, test_tries=2)
    take_test(ana, made, WRONG)
    told = notice(ana, made)
    assert (told.what, told.number, told.tries_left, told.score) == ("test", 2, 1, 0.0)
    take_test(ana, made, WRONG, 2)
    assert notice(ana, made).what == "failed"
    accept(ana, made, "test", 3)
    assert start(ana, made) is None
    assert Attempt.objects.count() == 2
    with pytest.raises(CampaignRefused, match="Say why"):
        check_actions.let_in(by=made.created_by, campaign=made, user=ana, reason=" ")
    check_actions.let_in(by=made.created_by, campaign=made, user=ana, reason="a slip of the mouse")
    assert work(ana, made) == ["main"] * 6


def test_a_skipped_task_of_the_test_is_wrong(ana):
    made = campaign(ana, test=2, test_mark=0.5, test_tries=1)
    accept(ana, made, "test")
    labelling.skip(by=ana, campaign=made.pk, assignment=start(ana, made).assignment, reason="hard")
    answer(ana, made, start(ana, made))
    found = Attempt.objects.get()
    assert (found.right, found.asked, found.passed) == (1, 2, True)


def test_the_corrected_score_takes_off_what_guessing_gives(ana):
    made = campaign(ana, test=2, test_measure="corrected", test_mark=0.4, test_tries=1)
    accept(ana, made, "test")
    answer(ana, made, start(ana, made), RIGHT)
    answer(ana, made, start(ana, made), WRONG)
    found = Attempt.objects.get()  # 1 of 2 right, of five values each: (1 - 0.4) / (2 - 0.4)
    assert found.score == pytest.approx(0.375)
    assert found.passed is False


def test_nobody_holds_main_work_before_they_are_admitted_whatever_a_program_does(ana):
    made = campaign(ana, test=1)
    slot = made.slots.first()
    with pytest.raises(IntegrityError, match="not admitted"), transaction.atomic():
        Assignment.objects.create(
            slot=slot, task=slot.task, campaign=made, user=ana, lease_expires="2030-01-01T00:00Z"
        )
    Standing.objects.create(campaign=made, user=ana, admitted_at="2026-01-01T00:00Z")
    Assignment.objects.create(
        slot=slot, task=slot.task, campaign=made, user=ana, lease_expires="2030-01-01T00:00Z"
    )


def test_what_was_part_of_the_test_is_not_revised(ana):
    made = campaign(ana, test=1)
    accept(ana, made, "test")
    hold = start(ana, made)
    item = Assignment.objects.get(pk=hold.assignment).task.item
    answer(ana, made, hold, WRONG)
    with pytest.raises(AlreadySubmitted):
        labelling.submit(
            by=ana,
            campaign=made.pk,
            assignment=hold.assignment,
            answers={str(item.pk): {"overall": 5}},
            revising=True,
        )


def test_a_lease_of_a_test_task_that_ran_out_is_taken_up_again(ana):
    made = campaign(ana, test=1)
    accept(ana, made, "test")
    hold = start(ana, made)
    Assignment.objects.update(state="expired")
    assert start(ana, made).assignment == hold.assignment
    assert occasion_of(hold) == "qualification"
