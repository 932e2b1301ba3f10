"""Database constraints on campaigns, slots and assignments."""

import pytest

from annotation.models import Assignment, Slot
from annotation.work import task_actions as labelling
from tests import factories
from tests.constraints.sql import execute

pytestmark = pytest.mark.django_db
ASSIGN = (
    "INSERT INTO annotation_assignment (slot_id, task_id, campaign_id, user_id, occasion, state,"
    " lease_expires, leased_at, draft, skip_reason, comment, flagged, submitted_at)"
    " VALUES (%s, %s, %s, %s, 'main', %s, now(), now(), '{}', %s, '', false, %s)"
)
SLOT = (
    "INSERT INTO annotation_slot (task_id, number, campaign_id, position, taken)"
    " VALUES (%s, %s, %s, %s, false)"
)


@pytest.fixture
def campaign(world):
    return factories.campaign(
        world.corpus, annotators=[world.ana, world.ben], raters=2, include_self=True, by=factories.user()
    )


@pytest.fixture
def slots(campaign):
    """The two slots of the first task, and one of the second."""
    return list(campaign.slots.order_by("position", "number")[:3])


def assign(slot, user, *, state="leased", reason="", at=None, task=None):
    return (slot.pk, task or slot.task_id, slot.campaign_id, user.pk, state, reason, at)


def test_a_slot_is_held_once(world, slots, refused):
    execute(ASSIGN, *assign(slots[0], world.ana))
    refused("assignment_slot_held_once", ASSIGN, *assign(slots[0], world.ben))


@pytest.mark.parametrize("state", ["leased", "submitted"])
def test_a_done_slot_is_taken_for_good(world, slots, refused, state):
    execute(ASSIGN, *assign(slots[0], world.ana, state="submitted", at="2026-01-01T00:00Z"))
    refused(
        "assignment_slot_held_once", ASSIGN, *assign(slots[0], world.ben, state=state, at="2026-01-01T00:00Z")
    )


def test_nobody_is_in_two_slots_of_a_task(world, slots, refused):
    execute(ASSIGN, *assign(slots[0], world.ana))
    refused("assignment_user_once_per_task", ASSIGN, *assign(slots[1], world.ana))


def test_a_task_has_no_more_holders_than_slots(world, slots, refused):
    third = factories.user()
    execute(ASSIGN, *assign(slots[0], world.ana))
    execute(ASSIGN, *assign(slots[1], world.ben))
    for slot in slots[:2]:
        refused("assignment_slot_held_once", ASSIGN, *assign(slot, third))
    refused("slot_number_once", SLOT, slots[0].task_id, 1, slots[0].campaign_id, slots[0].position)


def test_a_task_never_has_more_slots_than_raters_per_item(world, slots, refused):
    for number in (0, 3):
        refused("fewer raters", SLOT, slots[0].task_id, number, slots[0].campaign_id, slots[0].position)


def test_a_task_has_the_raters_that_its_campaign_asks_for(campaign, slots, refused):
    refused(
        "are not what its campaign", "UPDATE annotation_task SET raters = 3 WHERE id = %s", slots[0].task_id
    )
    execute("UPDATE annotation_campaign SET overlap_raters = 3, overlap_tasks = 1 WHERE id = %s", campaign.pk)
    execute("UPDATE annotation_task SET raters = 3 WHERE id = %s", slots[0].task_id)
    execute(SLOT, slots[0].task_id, 3, campaign.pk, slots[0].position)
    refused("fewer raters", SLOT, slots[2].task_id, 3, campaign.pk, slots[2].position)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("task", "raters = 1"),
        ("campaign", "raters_per_item = 1"),
        ("campaign", "overlap_raters = 3"),
        ("campaign", "overlap_raters = NULL, overlap_tasks = NULL"),
    ],
)
def test_raters_never_become_fewer_where_there_are_tasks(campaign, slots, refused, table, change):
    execute("UPDATE annotation_campaign SET overlap_raters = 4, overlap_tasks = 1 WHERE id = %s", campaign.pk)
    place = slots[0].task_id if table == "task" else campaign.pk
    refused("never become fewer", f"UPDATE annotation_{table} SET {change} WHERE id = %s", place)


@pytest.mark.parametrize(
    "change",
    [
        "overlap_raters = 3",
        "overlap_share = 0.5",
        "overlap_raters = 3, overlap_share = 0",
        "overlap_raters = 3, overlap_share = 1.1",
        "overlap_raters = 3, overlap_share = 0.5, overlap_tasks = 2",
        "overlap_raters = 2, overlap_share = 0.5",
    ],
)
def test_a_part_with_more_raters_is_said_whole(campaign, refused, change):
    refused("campaign_overlap_whole", f"UPDATE annotation_campaign SET {change} WHERE id = %s", campaign.pk)


def test_an_archived_campaign_is_at_rest(campaign, refused):
    refused(
        "campaign_archived_is_at_rest",
        "UPDATE annotation_campaign SET archived_at = now() WHERE id = %s",
        campaign.pk,
    )


def test_an_assignment_is_to_a_slot_of_its_own_task(world, slots, refused):
    refused("assignment_slot_of_task", ASSIGN, *assign(slots[0], world.ana, task=slots[2].task_id))


def test_a_slot_repeats_its_tasks_campaign_and_position(world, slots, refused):
    refused(
        "slot_of_its_task", "UPDATE annotation_slot SET position = position + 1 WHERE id = %s", slots[0].pk
    )
    other = factories.campaign(world.corpus, by=factories.user())
    sql = "UPDATE annotation_slot SET campaign_id = %s WHERE id = %s"
    refused("slot_of_its_task", sql, other.pk, slots[0].pk)


def test_a_slot_is_marked_taken_exactly_while_it_is_held_or_done(world, slots):
    slot = slots[0]

    def taken():
        return Slot.objects.get(pk=slot.pk).taken

    assert not taken()
    execute(ASSIGN, *assign(slot, world.ana))
    assert taken()
    for state, expected in [("expired", False), ("leased", True)]:
        Assignment.objects.filter(slot=slot).update(state=state)
        assert taken() is expected
    Assignment.objects.filter(slot=slot).delete()
    assert not taken()


def test_a_submitted_assignment_has_its_time_and_a_skipped_one_its_reason(world, slots, refused):
    refused("assignment_submit_has_time", ASSIGN, *assign(slots[0], world.ana, state="submitted"))
    refused("assignment_skip_has_reason", ASSIGN, *assign(slots[0], world.ana, state="skipped"))
    refused("assignment_state_known", ASSIGN, *assign(slots[0], world.ana, state="lost"))


def test_a_task_is_made_once_even_for_a_whole_continuation(world, refused):
    whole = factories.campaign(world.corpus, "cocoeval_behaviours", by=factories.user())
    task = whole.tasks.first()
    sql = (
        "INSERT INTO annotation_task (campaign_id, continuation_id, item_id, position)"
        " VALUES (%s, %s, NULL, 99)"
    )
    refused("task_once", sql, whole.pk, task.continuation_id)


def test_a_position_holds_one_task(campaign, refused):
    refused(
        "task_position_once", "UPDATE annotation_task SET position = 0 WHERE campaign_id = %s", campaign.pk
    )


def test_a_person_is_a_member_once(world, campaign, refused):
    sql = "INSERT INTO annotation_campaignmember (campaign_id, user_id, cursor, done) VALUES (%s, %s, -1, 0)"
    refused("member_once", sql, campaign.pk, world.ana.pk)


@pytest.mark.parametrize(
    ("rule", "change"),
    [("campaign_has_raters", "raters_per_item = 0"), ("campaign_state_known", "state = 'lost'")],
)
def test_a_campaign_has_raters_and_a_known_state(campaign, refused, rule, change):
    refused(rule, f"UPDATE annotation_campaign SET {change} WHERE id = %s", campaign.pk)


def test_who_has_answered_cannot_be_deleted(world, campaign, refused):
    labelling.start(by=world.ana, campaign=campaign.pk)
    refused("foreign key", "DELETE FROM auth_user WHERE id = %s", world.ana.pk)


def test_guidelines_have_each_version_once(campaign, refused):
    sql = (
        "INSERT INTO annotation_guidelines (campaign_id, version, text, created_at)"
        " VALUES (%s, 1, 'x', now())"
    )
    refused("guidelines_version_once", sql, campaign.pk)
