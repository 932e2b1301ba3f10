"""A campaign whose members first pass the test of another one."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.campaigns import editing
from annotation.errors import CampaignRefused
from annotation.models import Assignment, Attempt, CampaignRole, CheckPlan
from annotation.work import check_actions
from tests import factories
from tests.checks.test_stages import notice
from tests.checks.world import accept, answer, campaign, start, take_test, work


@pytest.fixture
def ana(db):
    return factories.user("ana")


def test_who_has_not_passed_the_test_of_the_other_campaign_gets_nothing_but_its_address(ana):
    first = campaign(ana, test=1)
    made = campaign(ana, training=1, prerequisite=first)
    assert start(ana, made) is None
    assert (notice(ana, made).what, notice(ana, made).prerequisite_id) == ("prerequisite", first.pk)
    accept(ana, made, "training")
    assert not Attempt.objects.exists()
    take_test(ana, first)
    assert notice(ana, made).what == "training"


def test_who_passed_the_test_of_the_other_campaign_works(ana):
    first = campaign(ana, test=1)
    made = campaign(ana, prerequisite=first)
    take_test(ana, first)
    assert work(ana, made) == ["main"] * 6


def test_who_is_let_in_by_hand_needs_no_other_test(ana):
    made = campaign(ana, prerequisite=campaign(test=1))
    assert (start(ana, made), notice(ana, made).prerequisite_id) == (None, None)
    check_actions.let_in(by=made.created_by, campaign=made, user=ana, reason="an expert")
    assert work(ana, made) == ["main"] * 6


def test_who_is_let_in_to_the_other_campaign_has_passed_its_test(ana):
    first = campaign(ana, test=1)
    made = campaign(ana, prerequisite=first)
    check_actions.let_in(by=first.created_by, campaign=first, user=ana, reason="an expert")
    assert start(ana, made) is not None


def test_a_task_held_when_the_other_test_becomes_necessary_is_finished(ana):
    first, made = campaign(ana, test=1), campaign(ana)
    hold = start(ana, made)
    check_actions.set_up(by=made.created_by, campaign=made, prerequisite=first)
    assert start(ana, made) == hold
    assert answer(ana, made, hold).next is None


def test_the_database_refuses_main_work_without_the_other_test(ana):
    first = campaign(ana, test=1)
    made = campaign(ana, prerequisite=first)
    slot = made.slots.first()
    with pytest.raises(IntegrityError, match="has not passed the test"), transaction.atomic():
        Assignment.objects.create(
            slot=slot, task=slot.task, campaign=made, user=ana, lease_expires="2030-01-01T00:00Z"
        )


def test_only_a_campaign_with_a_test_can_come_first_and_none_waits_for_itself(ana):
    first, bare = campaign(test=1), campaign()
    made = campaign(test=1, prerequisite=first)
    for waiting, other, sentence in (
        (made, bare, "has no test"),
        (first, made, "cannot each wait"),
        (made, made, "cannot each wait"),
    ):
        with pytest.raises(CampaignRefused, match=sentence) as refusal:
            check_actions.set_up(by=made.created_by, campaign=waiting, prerequisite=other)
        assert refusal.value.field == "prerequisite"


def test_the_other_test_is_set_shown_and_kept_in_a_copy(ana, client):
    first, made = campaign(ana, test=1), campaign(ana)
    client.force_login(made.created_by)
    address = reverse("campaign-checks", args=[made.pk])
    page = client.get(address)
    form = {name: value for name, value in page.context["form"].initial.items() if value is not None}
    assert client.post(address, form | {"prerequisite": first.pk}).status_code == 302
    assert CheckPlan.objects.get(campaign=made).prerequisite == first
    assert "unqualified" in client.get(address).content.decode()
    route = reverse("api-checks", args=[made.pk])
    assert client.get(route).json()["prerequisite"] == first.pk
    copy = editing.copy(by=made.created_by, campaign=made, name="again")
    assert CheckPlan.objects.get(campaign=copy).prerequisite == first
    client.patch(route, {"prerequisite": None}, content_type="application/json")
    assert CheckPlan.objects.get(campaign=made).prerequisite is None


def test_members_see_which_test_comes_first_in_my_work_and_at_the_task(ana, client):
    first = campaign(ana, test=1)
    made = campaign(ana, prerequisite=first)
    client.force_login(ana)
    link = f'href="{reverse("work", args=[first.pk])}"'
    assert "First pass the test of" in client.get(reverse("my-campaigns")).content.decode()
    assert link in client.get(reverse("my-campaigns")).content.decode()
    page = client.get(reverse("work", args=[made.pk])).content.decode()
    assert "You get tasks here once you have passed the test of" in page
    rows = {row["campaign"]: row["prerequisite"] for row in client.get(reverse("api-my-campaigns")).json()}
    assert rows == {first.pk: "", made.pk: first.name}
    waiting = client.post(reverse("api-work-next", args=[made.pk])).json()["waiting"]
    assert (waiting["what"], waiting["prerequisite_id"]) == ("prerequisite", first.pk)


def test_a_campaign_researcher_chooses_only_among_the_campaigns_that_they_manage(ana, client):
    first, made = campaign(test=1), campaign()
    CampaignRole.objects.create(campaign=made, user=ana, role="researcher")
    client.force_login(ana)
    answer = client.patch(
        reverse("api-checks", args=[made.pk]), {"prerequisite": first.pk}, content_type="application/json"
    )
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["prerequisite"])
    form = client.get(reverse("campaign-checks", args=[made.pk])).context["form"]
    assert not form.fields["prerequisite"].queryset.exists()
