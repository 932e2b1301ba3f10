"""Rules on who may or must rate an item: claims obey them, whatever the order of claims and returns."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import rules
from annotation.campaigns.rules import Rules
from annotation.errors import CampaignRefused, GroupRefused
from annotation.models import Assignment, Campaign, Slot
from annotation.people import groups
from annotation.work import task_actions as work
from annotation.work.own_work import progress, with_work
from tests import factories

pytestmark = pytest.mark.django_db


def build(*languages: str, raters: int = 1, people: int = 2, **fields: object) -> tuple[Campaign, list[User]]:
    """A campaign over one dialogue in each language, still a draft, and people who take part in it."""
    corpus = factories.corpus()
    for number, language in enumerate(languages):
        factories.dialogue(corpus, f"d{number}", turns=1, language=language, metadata={"topic": language})
    members = [factories.user() for _ in range(people)]
    fields.setdefault("task_order", "fixed")
    made = factories.campaign(corpus, annotators=members, raters=raters, opened=False, **fields)
    return made, members


def set_and_open(campaign: Campaign, **told: object) -> User:
    by = factories.user(researcher=True)
    rules.set_rules(by=by, campaign=campaign, rules=Rules(**told))  # type: ignore[arg-type]
    campaigns.open(by=by, campaign=campaign)
    campaign.refresh_from_db()
    return by


def dialogues_of(person: User, campaign: Campaign, *, most: int = 9) -> list[str]:
    """Take and skip what a person is given, to the end; return the dialogues in order."""
    seen = []
    _, hold = work.start(by=person, campaign=campaign.pk)
    while hold is not None and len(seen) < most:
        held = Assignment.objects.get(pk=hold.assignment)
        seen.append(held.task.continuation.dialogue.key)
        hold = work.skip(by=person, campaign=campaign.pk, assignment=held.pk, reason="on").next
    return seen


def test_a_person_is_given_what_they_read_and_what_is_in_no_known_language() -> None:
    campaign, (ana, ben) = build("zh-Hant", "de", "", "zh")
    by = set_and_open(campaign, by_language=True)
    groups.describe(by=by, person=ana, languages=["zh-CN", "en"])
    assert with_work(user=ben.pk) == {campaign.pk}
    seat, hold = work.start(by=ana, campaign=campaign.pk)
    assert progress(seat=seat, hold=hold).left == 3
    assert dialogues_of(ana, campaign) == ["d0", "d2", "d3"]
    assert dialogues_of(ben, campaign) == ["d2"]
    assert with_work(user=ben.pk) == set()
    assert [one["sentence"] for one in rules.unclaimable_tasks(campaign)] == [
        "1 task in German: nobody here reads it.",
        "2 tasks in Chinese: whoever may rate them has done so, skipped them, or wrote in them.",
    ]


@pytest.mark.parametrize("order", ["own", "drawn"])
def test_rules_hold_in_every_order_of_tasks(order: str) -> None:
    campaign, (ana, _) = build("zh", "de", "de", "zh", "de", task_order=order)
    by = set_and_open(campaign, by_language=True)
    groups.describe(by=by, person=ana, languages=["de"])
    assert sorted(dialogues_of(ana, campaign)) == ["d1", "d2", "d4"]


def test_a_stratum_is_rated_by_its_group_alone() -> None:
    campaign, (ana, ben) = build("law", "chat", "law")
    experts = groups.create(by=ana, name="lawyers", people=[ben])
    set_and_open(campaign, groups_by="metadata.topic", strata={"law": experts})
    assert dialogues_of(ana, campaign) == ["d1"]
    assert dialogues_of(ben, campaign) == ["d0", "d1", "d2"]


@pytest.mark.parametrize("by", ["participants", "metadata.author"])
def test_nobody_rates_what_they_wrote_under_whatever_name(by: str) -> None:
    corpus = factories.corpus()
    for key, author in (("d0", "Ana María"), ("d1", "Somebody"), ("d2", "b3n")):
        people = [{"id": "A", "name": author}, {"id": "B", "name": "Bot"}]
        factories.dialogue(corpus, key, turns=1, participants=people, metadata={"author": ["x", author]})
    ana, ben = factories.user(), factories.user("B3n")
    campaign = factories.campaign(corpus, annotators=[ana, ben], opened=False, task_order="fixed")
    researcher = set_and_open(campaign, not_own=by)
    groups.describe(by=researcher, person=ana, writes_as=["ana maría"])
    assert dialogues_of(ana, campaign) == ["d1", "d2"]
    assert dialogues_of(ben, campaign) == ["d0", "d1"]


def test_each_task_keeps_a_place_for_an_expert_and_gives_it_to_nobody_else() -> None:
    campaign, (ana, ben, eva, eli) = build("", raters=2, people=4)
    experts = groups.create(by=ana, name="experts", people=[eva, eli])
    set_and_open(campaign, required={experts: 1})
    assert work.start(by=ana, campaign=campaign.pk)[1] is not None
    assert work.start(by=ben, campaign=campaign.pk)[1] is None
    _, hold = work.start(by=eva, campaign=campaign.pk)
    assert hold is not None
    assert Assignment.objects.get(pk=hold.assignment).slot.number == 1
    Assignment.objects.filter(pk=hold.assignment).update(state="expired")
    with pytest.raises(IntegrityError, match="not for person"), transaction.atomic():
        Assignment.objects.filter(user=ana).update(slot=Slot.objects.get(number=1))


def test_an_expert_on_an_open_place_moves_to_the_reserved_one_when_it_falls_free() -> None:
    campaign, (ana, eva, eli) = build("", raters=2, people=3)
    experts = groups.create(by=ana, name="experts", people=[eva, eli])
    set_and_open(campaign, required={experts: 1})
    _, first = work.start(by=eva, campaign=campaign.pk)
    _, second = work.start(by=eli, campaign=campaign.pk)
    assert first is not None
    assert second is not None
    work.skip(by=eva, campaign=campaign.pk, assignment=first.assignment, reason="ill")
    assert Assignment.objects.get(pk=second.assignment).slot.number == 1
    assert work.start(by=ana, campaign=campaign.pk)[1] is not None


def test_rules_that_make_no_sense_are_refused_and_change_nothing() -> None:
    campaign, (ana, _) = build("", raters=1)
    experts = groups.create(by=ana, name="experts")
    for told, field in (
        ({"required": {experts: 2}}, "required"),
        ({"strata": {"x": experts}}, "groups_by"),
        ({"groups_by": "colour"}, "groups_by"),
        ({"not_own": "somebody"}, "not_own"),
    ):
        with pytest.raises(CampaignRefused) as refusal:
            rules.set_rules(by=ana, campaign=campaign, rules=Rules(**told))  # type: ignore[arg-type]
        assert refusal.value.field == field
    by = set_and_open(campaign, required={experts: 1})
    with pytest.raises(CampaignRefused, match="once a campaign has been opened"):
        rules.set_rules(by=by, campaign=campaign, rules=Rules())
    with pytest.raises(GroupRefused, match="rules of a campaign"):
        groups.delete(by=by, group=experts)


def test_rules_set_while_people_work_hold_from_the_next_task_on() -> None:
    campaign, (ana, _) = build("de", "zh", "de")
    by = set_and_open(campaign)
    _, hold = work.start(by=ana, campaign=campaign.pk)
    groups.describe(by=by, person=ana, languages=["de"])
    rules.set_rules(by=by, campaign=campaign, rules=Rules(by_language=True))
    assert work.start(by=ana, campaign=campaign.pk)[1].assignment == hold.assignment  # type: ignore[union-attr]
    assert dialogues_of(ana, campaign) == ["d0", "d2"]
    rules.set_rules(by=by, campaign=campaign, rules=Rules())
    assert not Slot.objects.filter(campaign=campaign, gate__isnull=False).exists()


def test_a_campaign_without_rules_asks_nothing_more() -> None:
    free, (ana, _) = build("de", "de")
    campaigns.open(by=ana, campaign=free)
    ruled, (ben, _) = build("de", "de")
    set_and_open(ruled, by_language=True)
    counts = []
    for person, campaign in ((ana, free), (ben, ruled)):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            work.start(by=person, campaign=campaign.pk)
        counts.append(sum("annotation_gate" in query["sql"] for query in queries))
    assert counts[0] == 0 < counts[1]


@pytest.mark.django_db(transaction=True)
def test_people_who_come_at_once_never_take_what_is_not_for_them() -> None:
    campaign, people = build(*["de", "zh"] * 6, raters=3, people=8)
    experts = groups.create(by=people[0], name="experts", people=people[6:])
    by = set_and_open(campaign, by_language=True, required={experts: 1})
    for number, person in enumerate(people):
        groups.describe(by=by, person=person, languages=["de", "zh"] if number > 3 else ["de"])
    failed: list[BaseException] = []

    def rate(person: User) -> None:
        try:
            while (hold := work.start(by=person, campaign=campaign.pk)[1]) is not None:
                Assignment.objects.filter(pk=hold.assignment).update(
                    state="submitted", submitted_at=hold_time
                )
        except Exception as error:  # noqa: BLE001  (told below, in the thread of the test)
            failed.append(error)
        finally:
            connections.close_all()

    hold_time = campaign.created_at
    threads = [threading.Thread(target=rate, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    done = Assignment.objects.filter(campaign=campaign, state="submitted")
    assert set(Counter(done.values_list("task", flat=True)).values()) == {3}
    names = {person.pk for person in people[6:]}
    by_task = {task: set() for task in done.values_list("task", flat=True)}
    for task, person in done.values_list("task", "user"):
        by_task[task].add(person)
    assert all(raters & names for raters in by_task.values())
    chinese = done.filter(task__continuation__dialogue__language="zh").values_list("user", flat=True)
    assert not set(chinese) & {person.pk for person in people[:4]}
