"""Nobody is assigned what they wrote: not by a claim, by a researcher, in a test or as a comparison."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.campaigns import campaign_actions, rules
from annotation.errors import SubmissionRefused
from annotation.models import Assignment, Campaign, Continuation, ContinuationAuthor, Item, Slot
from annotation.people import groups
from annotation.work import leases, own_work, submissions, task_actions
from tests import factories
from tests.checks import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[User]:
    return [factories.user(name) for name in ("ana", "ben")]


def responses(*systems: str) -> list[Continuation]:
    """Create a dialogue with a static response of each system to its first turn."""
    dialogue = factories.dialogue(factories.corpus(), "d1")
    return [
        factories.continuation(
            dialogue, system, system=system, mode="static", turns=[{"text": f"By {system}.", "at": 1}]
        )
        for system in systems
    ]


def wrote(person: User, *continuations: Continuation) -> None:
    for row in continuations:
        ContinuationAuthor.objects.create(continuation=row, user=person)


def all_tasks(person: User, campaign: Campaign) -> set[str]:
    """Let a person skip through a campaign, and return the continuations that they were given."""
    keys = set()
    while (hold := task_actions.start(by=person, campaign=campaign.pk)[1]) is not None:
        own = Assignment.objects.select_related("task__continuation").get(pk=hold.assignment)
        keys.add(own.task.continuation.key)
        task_actions.skip(by=person, campaign=campaign.pk, assignment=own.pk, reason="next")
    return keys


@pytest.mark.parametrize("order", ["drawn", "own", "fixed"])
def test_a_claim_leaves_out_what_the_person_wrote(people: list[User], order: str) -> None:
    x, y, z = responses("x", "y", "z")
    wrote(people[0], y)
    campaign = factories.campaign(
        x.dialogue.corpus, "comperdial_turn", annotators=people, task_order=order, raters=2
    )
    assert own_work.tasks_left(user=people[0].pk)[campaign.pk] == 2
    assert (
        own_work.progress(seat=leases.take_seat(campaign=campaign.pk, user=people[0].pk), hold=None).left == 2
    )
    assert all_tasks(people[0], campaign) == {"x", "z"}
    assert own_work.tasks_left(user=people[0].pk)[campaign.pk] == 0
    assert all_tasks(people[1], campaign) == {"x", "y", "z"}
    assert z.pk


def test_so_do_claims_by_rules_and_of_balanced_strata(people: list[User]) -> None:
    x, y = responses("x", "y")
    wrote(people[0], y)
    balanced = factories.campaign(
        x.dialogue.corpus, "comperdial_turn", annotators=people, balance_by="system"
    )
    assert all_tasks(people[0], balanced) == {"x"}
    ruled = factories.campaign(x.dialogue.corpus, "comperdial_turn", annotators=people, opened=False)
    by = factories.user(researcher=True)
    members = groups.create(by=by, name="experts", people=people)
    rules.set_rules(by=by, campaign=ruled, rules=rules.Rules(required={members: 1}))
    campaign_actions.open(by=by, campaign=ruled)
    assert all_tasks(people[0], ruled) == {"x"}


def test_whoever_wrote_all_of_it_has_no_work_there(people: list[User]) -> None:
    x, y = responses("x", "y")
    wrote(people[0], x, y)
    campaign = factories.campaign(x.dialogue.corpus, "comperdial_turn", annotators=people)
    assert own_work.with_work(user=people[0].pk) == set()
    assert own_work.with_work(user=people[1].pk) == {campaign.pk}


@pytest.mark.parametrize(("scheme", "own_comparisons"), [("preference", 1), ("preference_ranking", 0)])
def test_a_comparison_with_an_own_text_goes_to_others(
    people: list[User], scheme: str, own_comparisons: int
) -> None:
    x, y, z = responses("x", "y", "z")
    wrote(people[0], z)
    campaign = factories.campaign(x.dialogue.corpus, scheme, annotators=people, raters=2)
    for person in people:
        all_tasks(person, campaign)
    rows = Assignment.objects.filter(campaign=campaign).select_related("task__item")
    members = {
        person.username: [
            {member.continuation_id for member in row.task.item.members.all()}
            for row in rows.filter(user=person)
            if row.task.item is not None
        ]
        for person in people
    }
    assert members["ana"] == [{x.pk, y.pk}] * own_comparisons
    assert len(members["ben"]) == campaign.tasks.count()


def test_a_researcher_cannot_give_it_to_them(people: list[User]) -> None:
    (x,) = responses("x")
    wrote(people[0], x)
    campaign = factories.campaign(x.dialogue.corpus, "comperdial_turn", annotators=people)
    by, task = factories.user(researcher=True), campaign.tasks.get()
    with pytest.raises(SubmissionRefused, match="wrote what this task is about"):
        submissions.give(by=by, campaign=campaign, task=task, to=people[0], reason="please")
    submissions.give(by=by, campaign=campaign, task=task, to=people[1], reason="please")


def test_a_key_task_about_an_own_text_is_not_in_their_test(people: list[User]) -> None:
    x, y, z = responses("x", "y", "z")
    campaign = factories.campaign(
        x.dialogue.corpus, "comperdial_turn", annotators=people, systems=[z.system], opened=False
    )
    by = factories.user(researcher=True)
    for row in (x, y):
        world.key(campaign, "qualification", Item.objects.get(continuation=row, kind="turn"), by)
    wrote(people[0], y)
    campaign_actions.open(by=by, campaign=campaign)
    for person, tasks in ((people[0], 1), (people[1], 2)):
        world.accept(person, campaign, "test")
        given = 0
        while (hold := world.start(person, campaign)) is not None and given < 5:
            given += 1
            task_actions.skip(by=person, campaign=campaign.pk, assignment=hold.assignment, reason="next")
        assert given == tasks


def test_the_database_refuses_such_an_assignment(people: list[User]) -> None:
    x, y = responses("x", "y")
    wrote(people[0], x)
    campaign = factories.campaign(x.dialogue.corpus, "comperdial_turn", annotators=people)

    def assign(person: User, row: Continuation) -> None:
        slot = Slot.objects.filter(task__campaign=campaign, task__continuation=row, taken=False)[0]
        with transaction.atomic():
            Assignment.objects.create(
                slot=slot, task_id=slot.task_id, campaign=campaign, user=person, lease_expires=timezone.now()
            )

    with pytest.raises(IntegrityError, match="wrote what it is about"):
        assign(people[0], x)
    assign(people[0], y)
    assign(people[1], x)
    with pytest.raises(IntegrityError, match="wrote what it is about"), transaction.atomic():
        Assignment.objects.filter(user=people[1]).update(user=people[0])
