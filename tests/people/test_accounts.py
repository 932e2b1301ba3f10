"""Accounts: roles, deactivation, passwords, and their log entries."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.errors import PasswordRefused, PersonInUse, RoleRefused
from annotation.models import Assignment
from annotation.people import accounts, deletion, links
from calibration.gold import derivation
from calibration.studies import study_actions as studies
from config.models import Event
from tests import factories
from tests.calibration.world import world
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


def test_a_role_is_changed_and_logged() -> None:
    boss, ana = factories.user(administrator=True), factories.user("ana")
    for role in ("researcher", "administrator", "annotator"):
        accounts.set_role(by=boss, person=ana, role=role)
        ana = type(ana).objects.get(pk=ana.pk)
        assert accounts.role_of(ana) == role
    assert Event.objects.filter(verb="change role", by=boss, subject=f"account {ana.pk}").count() == 3


def test_the_only_administrator_stays_one() -> None:
    boss = factories.user(administrator=True)
    for act in (
        lambda: accounts.set_role(by=boss, person=boss, role="annotator"),
        lambda: accounts.deactivate(by=None, person=boss),
    ):
        with pytest.raises(RoleRefused, match="only administrator"):
            act()


def test_a_deactivated_person_is_out_at_once_and_their_tasks_are_free() -> None:
    boss, ana = factories.user(administrator=True), factories.user("ana")
    made = factories.corpus()
    factories.dialogue(made)
    campaign = factories.campaign(made, annotators=[ana], include_self=True)
    slot = campaign.slots.first()
    assert slot is not None
    Assignment.objects.create(
        slot=slot, task=slot.task, campaign=campaign, user=ana, lease_expires="2030-01-01T00:00Z"
    )
    client = Client()
    client.force_login(ana)
    assert client.get("/account/").status_code == 200
    accounts.deactivate(by=boss, person=ana)
    assert client.get("/account/").status_code == 302
    slot.refresh_from_db()
    assert not slot.taken
    assert client.post("/sign-in/", {"username": "ana", "password": PASSWORD}).status_code == 200
    accounts.activate(by=boss, person=ana)
    assert client.post("/sign-in/", {"username": "ana", "password": PASSWORD}).status_code == 302


def test_sessions_end_when_the_password_changes() -> None:
    ana, here, elsewhere = factories.user("ana"), Client(), Client()
    here.force_login(ana)
    elsewhere.force_login(ana)
    form = {"old": PASSWORD, "password": "another long one", "again": "another long one"}
    assert here.post("/account/password/", form).status_code == 302
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert Event.objects.filter(verb="change password", by=ana).exists()


def test_a_password_is_changed_only_by_who_knows_it() -> None:
    ana = factories.user("ana")
    with pytest.raises(PasswordRefused, match="not your password"):
        accounts.change_password(person=ana, old="wrong", new="another long one")
    client = Client()
    client.force_login(ana)
    form = {"old": "wrong", "password": "another long one", "again": "another long one"}
    assert client.post("/account/password/", form).status_code == 422


def test_changing_the_password_kills_open_reset_links() -> None:
    ana = factories.user("ana")
    made = links.reset(by=None, person=ana)
    accounts.change_password(person=ana, old=PASSWORD, new="another long one")
    assert Client().get(f"/link/{made.token}/").status_code == 410


def test_each_account_is_listed_with_its_count_of_items() -> None:
    ana = factories.user("ana")
    built = world(dialogues=2, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.ask("fit", "ordinal", [1, 2, 3])
    rater = built.rater("ana")
    type(rater).objects.filter(pk=rater.pk).update(user=ana, corpus=None)
    rater.refresh_from_db()
    built.say(rater, "quality", [1.0, 2.0, 3.0, 1.0])
    built.say(rater, "fit", [1.0, 2.0])
    (row,) = accounts.rows([ana])
    assert (row.role, row.items) == ("annotator", 4)


def test_a_person_behind_a_report_and_gold_is_deleted_only_when_told_twice() -> None:
    boss, ana = factories.user(administrator=True), factories.user("ana")
    built = world(dialogues=2, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3])
    rater = built.rater("ana")
    type(rater).objects.filter(pk=rater.pk).update(user=ana)
    rater.refresh_from_db()
    built.say(rater, "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    built.say("ben", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 2.0])
    assert deletion.destroyed_with(ana).uses == ()
    study = studies.automatic(corpus=built.corpus)
    studies.compute(study=study, part="all", by=None)
    version = built.questions["quality"].version
    made = derivation.make(corpus=built.corpus, campaign=None, scheme_version=version, rule="mean", by=None)
    told = deletion.destroyed_with(ana)
    assert (told.labels, told.items) == (6, 6)
    assert told.uses == (f"the report {study.name}", f"gold {made.pk} (Quality by mean)")
    with pytest.raises(PersonInUse, match="could no longer be reproduced"):
        deletion.delete_person(person=ana, by=boss, confirmation="ana")
    deletion.delete_person(person=ana, by=boss, confirmation="ana", despite_use=True)
    assert not type(ana).objects.filter(username="ana").exists()
