"""Task order by priority and by disagreement, and reordering the rest of an open campaign."""

from __future__ import annotations

import json
import threading

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, sampling, tasks
from annotation.campaigns.choice import values
from annotation.campaigns.editing import reorder
from annotation.corpora import splits
from annotation.errors import CampaignRefused
from annotation.models import Assignment, Campaign, CampaignMember, Item, Label, Question, Rater
from annotation.work import task_actions as labelling
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    return factories.user("rosa", researcher=True)


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def corpus():
    made = factories.corpus()
    for number, weight in enumerate([3, "12.5", None, -1, "high"]):
        factories.dialogue(made, f"d{number}", turns=2, metadata={} if weight is None else {"weight": weight})
    return made


def judge(name="judge"):
    return Rater.objects.get_or_create(kind="judge", name=name)[0]


def person(name="ann"):
    return Rater.objects.get_or_create(kind="human", name=name)[0]


def say(rater, corpus, question="overall", scheme="comperdial_turn", **answers):
    """Answer about the first turns of dialogues: `d0=4`, or d0=[4, 5] for two samples."""
    asked = Question.objects.get(version=factories.scheme_version(scheme), key=question)
    for dialogue, value in answers.items():
        about = {"continuation__dialogue__corpus": corpus, "continuation__dialogue__key": dialogue}
        item = Item.objects.get(kind="turn", turn__position=0, **about)
        for sample, one in enumerate(value if isinstance(value, list) else [value]):
            told = {"text" if isinstance(one, str) else "number": one}
            Label.objects.create(
                item=item, question=asked, rater=rater, occasion="imported", sample=sample, **told
            )


def keys(campaign, turn=0):
    """Return the dialogues of a campaign's tasks about one turn, in their order."""
    rows = campaign.tasks.filter(item__turn__position=turn).order_by("position")
    return list(rows.values_list("continuation__dialogue__key", flat=True))


def informative(corpus, **told):
    return factories.campaign(corpus, task_order="informative", **told)


def test_tasks_go_by_a_number_of_their_dialogues_the_highest_first_and_turns_stay_together(corpus):
    campaign = factories.campaign(corpus, task_order="priority", order_by="metadata.weight")
    assert keys(campaign)[:3] == ["d1", "d0", "d3"]
    assert set(keys(campaign)[3:]) == {"d2", "d4"}
    turns = campaign.tasks.order_by("position").values_list("item__turn__position", flat=True)
    assert list(turns) == [0, 1] * 5


def test_what_a_judge_and_people_are_furthest_apart_on_comes_first(corpus):
    say(judge(), corpus, d0=1, d1=5, d2=[2, 4], d4=4)
    say(person(), corpus, d0=5, d1=4, d2=3)
    say(person("ben"), corpus, d0=5, d1=4, d2=3)
    campaign = informative(corpus, apart_judge="judge")
    assert keys(campaign)[:3] == ["d0", "d1", "d2"]


def test_where_nobody_has_answered_judges_are_compared_with_each_other(corpus):
    say(judge("one"), corpus, d0=3, d1=1, d2=2)
    say(judge("two"), corpus, d0=3, d1=5, d2=3)
    say(person(), corpus, d0=1)
    assert keys(informative(corpus))[:3] == ["d1", "d2", "d0"]
    named = informative(corpus, apart_judge="one")
    assert keys(named)[:3] == ["d1", "d0", "d2"]


def apart(campaign, **how):
    """Return how far apart raters are, by dialogue."""
    query = f"WITH {sampling.apart(**how)} SELECT item_id, apart FROM apart"
    with connection.cursor() as cursor:
        cursor.execute(query, values(campaign) | sampling.order_values(campaign))
        found = dict(cursor.fetchall())
    items = Item.objects.select_related("continuation__dialogue").in_bulk(found)
    return {items[pk].continuation.dialogue.key: number for pk, number in found.items() if number is not None}


def test_the_distance_is_a_share_of_the_scale(corpus):
    say(judge(), corpus, d0=1, d1=[4, 5], d2=2)
    say(judge("other"), corpus, d2=4)
    say(person(), corpus, d0=5, d1=4)
    say(person("ben"), corpus, d0=4, d1=4)
    campaign = factories.campaign(corpus, opened=False, apart_judge="judge")
    assert apart(campaign) == {"d0": 0.875, "d1": 0.125, "d2": 0.5}
    assert apart(campaign, people_only=True) == {"d0": 0.875, "d1": 0.125}


def test_of_categories_it_is_the_share_that_says_otherwise(corpus):
    from annotation import scheme_store
    from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition

    mood = QuestionDefinition("mood", "How?", "nominal", values=("calm", "angry", "sad"))
    told = {"unit": "item", "introduction": "", "item_kind": "turn", "questions": (mood,)}
    about = SchemeDefinition(key="moods", version=1, title="Moods", **told)
    version = scheme_store.store(definition=about)
    asked = Question.objects.get(version=version)
    for rater, told in (
        (judge(), {"d0": "calm", "d1": "sad"}),
        (judge("two"), {"d1": "calm"}),
        (person(), {"d0": "calm"}),
        (person("ben"), {"d0": "angry"}),
        (person("cy"), {"d0": "sad"}),
        (person("dee"), {"d0": "calm"}),
    ):
        for dialogue, value in told.items():
            item = Item.objects.get(kind="turn", turn__position=0, continuation__dialogue__key=dialogue)
            Label.objects.create(item=item, question=asked, rater=rater, occasion="imported", text=value)
    campaign = Campaign(corpus=corpus, scheme_version=version, apart_judge="judge")
    campaign.pk = 0
    with_values = {"corpus": corpus.pk, "kind": "turn"} | sampling.order_values(campaign)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {sampling.apart()} SELECT apart FROM apart ORDER BY item_id", with_values)
        assert [number for (number,) in cursor.fetchall()] == [0.5, 0.5]


def test_a_locked_test_part_is_not_read(corpus, rosa):
    split = splits.draw(corpus=corpus, by=rosa)
    everywhere = {f"d{number}": 1 for number in range(5)}
    say(judge(), corpus, **everywhere)
    say(person(), corpus, **dict.fromkeys(everywhere, 5))
    campaign = factories.campaign(corpus, opened=False, apart_judge="judge")
    dev = set(splits.clusters(split=split, part="dev"))
    assert set(apart(campaign)) == dev
    splits.open_test(split=split, by=rosa, purpose="the paper")
    assert set(apart(campaign)) == set(everywhere)


def test_orders_that_make_no_sense_are_refused(corpus):
    for told, why in (
        ({"task_order": "priority"}, "Say by which field"),
        ({"task_order": "priority", "order_by": "weight"}, "Say by which field"),
        ({"task_order": "priority", "order_by": "metadata.topic"}, "has a number as topic"),
        ({"order_by": "metadata.weight"}, "Only the order by priority"),
        ({"task_order": "backwards"}, "is one of drawn, own"),
        ({"apart_judge": "nobody"}, "No judge “nobody” has answered"),
    ):
        with pytest.raises(CampaignRefused, match=why):
            factories.campaign(corpus, opened=False, **told)


def test_the_database_knows_the_orders_and_their_field(corpus):
    campaign = factories.campaign(corpus, opened=False)
    for change in ({"task_order": "priority"}, {"order_by": "metadata.weight"}, {"task_order": "backwards"}):
        refused = pytest.raises(IntegrityError, match=r"campaign_(priority_has_field|order_known)")
        with refused, transaction.atomic():
            Campaign.objects.filter(pk=campaign.pk).update(**change)


def begin(who, campaign):
    hold = labelling.start(by=who, campaign=campaign.pk)[1]
    return Assignment.objects.get(pk=hold.assignment)


def submit(who, campaign, own):
    answers = {str(own.task.item_id): {"overall": 3}}
    return labelling.submit(by=who, campaign=campaign.pk, assignment=own.pk, answers=answers)


def test_the_rest_of_an_open_campaign_is_put_in_order_and_what_was_begun_stays(corpus, rosa, ana):
    campaign = factories.campaign(corpus, annotators=[ana], task_order="fixed")
    own = begin(ana, campaign)
    before = own.task.position
    moved = reorder(by=rosa, campaign=campaign, task_order="priority", order_by="metadata.weight")
    assert moved > 0
    own.task.refresh_from_db()
    assert own.task.position == before == 0
    places = list(campaign.tasks.order_by("position").values_list("position", flat=True))
    assert places == list(range(10))
    assert keys(campaign, turn=1)[:3] == ["d1", "d0", "d3"]
    for slot in campaign.slots.select_related("task"):
        assert slot.position == slot.task.position
    submit(ana, campaign, own)
    assert begin(ana, campaign).task.continuation.dialogue.key == "d1"
    campaign.refresh_from_db()
    assert (campaign.task_order, campaign.order_by) == ("priority", "metadata.weight")


def test_without_another_order_it_is_drawn_from_what_is_known_now(corpus, rosa):
    say(judge("one"), corpus, d0=3, d1=1)
    say(judge("two"), corpus, d0=3, d1=5)
    campaign = informative(corpus)
    assert keys(campaign)[0] == "d1"
    assert reorder(by=rosa, campaign=campaign) == 0
    say(judge("three"), corpus, d0=1, d3=1)
    say(judge("four"), corpus, d0=5, d3=5)
    Label.objects.filter(rater__name="one", item__continuation__dialogue__key="d1").update(
        superseded_at=campaign.created_at
    )
    reorder(by=rosa, campaign=campaign)
    assert set(keys(campaign)[:2]) == {"d0", "d3"}


def test_members_start_over_from_the_front(corpus, rosa, ana):
    campaign = factories.campaign(corpus, annotators=[ana])
    submit(ana, campaign, begin(ana, campaign))
    reorder(by=rosa, campaign=campaign, task_order="priority", order_by="metadata.weight")
    assert CampaignMember.objects.get(user=ana).cursor == -1


def test_a_draft_has_nothing_to_put_in_order(corpus, rosa):
    with pytest.raises(CampaignRefused, match="draft has no tasks"):
        reorder(by=rosa, campaign=factories.campaign(corpus, opened=False))
    campaign = factories.campaign(corpus)
    with pytest.raises(CampaignRefused, match="Say by which field"):
        reorder(by=rosa, campaign=campaign, task_order="priority")
    campaigns.close(by=rosa, campaign=campaign)
    editing.archive(by=rosa, campaign=campaign)
    with pytest.raises(CampaignRefused, match="archived"):
        reorder(by=rosa, campaign=campaign)


@pytest.mark.django_db(transaction=True)
def test_people_go_on_while_tasks_change_places(corpus, rosa):
    people = [factories.user() for _ in range(3)]
    campaign = factories.campaign(corpus, annotators=people, raters=3)
    ended = []

    def work(who):
        try:
            while (hold := labelling.start(by=who, campaign=campaign.pk)[1]) is not None:
                submit(who, campaign, Assignment.objects.get(pk=hold.assignment))
            ended.append("done")
        finally:
            connections.close_all()

    def shuffle():
        try:
            for order in ("fixed", "drawn", "fixed", "drawn", "fixed"):
                reorder(by=rosa, campaign=campaign, task_order=order)
            ended.append("done")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(who,)) for who in people]
    threads.append(threading.Thread(target=shuffle))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 4
    assert Assignment.objects.filter(state="submitted").count() == 30
    assert not campaign.slots.filter(taken=False).exists()


def test_the_preview_shows_the_first_tasks_in_their_order(corpus):
    campaign = factories.campaign(corpus, opened=False, task_order="priority", order_by="metadata.weight")
    first = tasks.first(campaign, 1)[0]
    assert Item.objects.get(pk=first[1]).continuation.dialogue.key == "d1"


def test_the_form_and_the_page_set_the_order(client, corpus, rosa):
    say(judge(), corpus, d0=1)
    client.force_login(rosa)
    page = client.get(f"{reverse('new-campaign')}?corpus={corpus.pk}").content.decode()
    assert "weight (metadata)" in page
    form = {"name": "Pilot", "scheme": "comperdial_turn", "raters_per_item": 1, "lease_minutes": 60}
    form |= {"seed": 0, "task_order": "priority", "order_by": "metadata.weight"}
    client.post(f"{reverse('new-campaign')}?corpus={corpus.pk}", form)
    campaign = Campaign.objects.get(name="Pilot")
    assert (campaign.task_order, campaign.order_by) == ("priority", "metadata.weight")
    campaigns.open(by=rosa, campaign=campaign)
    told = {"task_order": "informative", "order_by": "metadata.weight", "apart_judge": "judge"}
    answer = client.post(reverse("reorder-campaign", args=[campaign.pk]), told, follow=True)
    assert "changed place" in answer.content.decode()
    campaign.refresh_from_db()
    assert (campaign.task_order, campaign.order_by, campaign.apart_judge) == ("informative", "", "judge")
    told = {"task_order": "priority"}
    answer = client.post(reverse("reorder-campaign", args=[campaign.pk]), told, follow=True)
    assert "Say by which field" in answer.content.decode()


def test_the_api_sets_the_order(client, corpus, rosa):
    client.force_login(rosa)
    body = {"name": "Pilot", "corpus": corpus.name, "scheme": "comperdial_turn", "task_order": "priority"}
    body |= {"order_by": "metadata.weight"}
    made = client.post(reverse("api-campaigns"), json.dumps(body), content_type="application/json").json()
    assert (made["task_order"], made["order_by"]) == ("priority", "metadata.weight")
    campaigns.open(by=rosa, campaign=Campaign.objects.get())
    address = reverse("api-reorder-campaign", args=[made["id"]])

    def post(**told):
        return client.post(address, json.dumps(told), content_type="application/json")

    assert post(task_order="fixed").json()["moved"] > 0
    assert post().json()["moved"] == 0
    assert post(task_order="priority").status_code == 422
    assert post(task_order="priority", order_by="metadata.weight").status_code == 200
    assert client.get(reverse("api-campaign", args=[made["id"]])).json()["order_by"] == "metadata.weight"
    refused = post(task_order="informative", apart_judge="nobody").json()
    assert "No judge" in refused["detail"], refused
