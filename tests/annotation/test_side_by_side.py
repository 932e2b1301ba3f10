"""All systems' responses to one point on one screen: one task of several turns, each labelled as usual."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation import scheme_actions
from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing, rules
from annotation.errors import AnswerRefused, CampaignRefused
from annotation.models import Assignment, Item, Label, Question, Rater, Task
from annotation.schemes import files
from annotation.work import check_actions, labels, screens
from annotation.work import task_actions as labelling
from annotation.work.task_answers import hold_of
from calibration.ratings.scope import items_of, of_campaign
from judges.runs.selection import Selection, continuations, items
from tests import factories

pytestmark = pytest.mark.django_db
SYSTEMS = ("Alpha", "Beta", "Gamma")
EVIDENCE = """
scheme: pointing
title: Where?
item_kind: turn
questions: [{key: odd, wording: Odd?, level: binary, evidence: turns}]
"""
ORDER = """
scheme: order
title: Order
item_kind: turn
questions: [{key: which, wording: Which act?, level: nominal, values: [first, second]}]
"""


@pytest.fixture
def people():
    return [factories.user(name) for name in ("ana", "ben", "cem")]


@pytest.fixture
def corpus():
    """A dialogue of four turns with two points: three systems answer the first, Alpha alone the second."""
    dialogue = factories.dialogue(factories.corpus("talks"), "d", turns=4)
    for number, system in enumerate(SYSTEMS):
        turns = [{"text": f"answer {number}", "speaker": "B", "at": 1}]
        turns += [{"text": "later", "speaker": "B", "at": 3}] if system == "Alpha" else []
        factories.continuation(dialogue, system.lower(), system=system, turns=turns, mode="static")
    return dialogue.corpus


@pytest.fixture
def campaign(corpus, people):
    return factories.campaign(corpus, annotators=people, raters=3, side_by_side=True)


def first(person, campaign):
    """Return a person's task that has three responses, with its items in the order shown."""
    client = APIClient()
    client.force_authenticate(person)
    return client.post(f"/api/v1/work/{campaign.pk}/next/").json()["task"]


def submit(person, campaign, task, values, **more):
    given = {str(item): {"overall": value} for item, value in zip(task["items"], values, strict=True)}
    return labelling.submit(
        by=person, campaign=campaign.pk, assignment=task["assignment"], answers=given, **more
    )


def said(task):
    return [side["parts"][0]["lines"][-1]["text"] for side in task["sides"]]


def test_a_point_is_one_task_and_one_with_a_single_response_a_task_as_ever(campaign):
    rows = Task.objects.filter(campaign=campaign).order_by("position")
    assert [(task.item.kind, task.raters) for task in rows] == [("ranking", 3), ("turn", 3)]
    assert rows.last().item.turn.at == 3


def test_each_annotator_sees_them_in_an_order_of_their_own_and_it_is_kept(people, campaign):
    seen = {}
    for person in people:
        task = first(person, campaign)
        assert [side["name"] for side in task["sides"]] == ["Response A", "Response B", "Response C"]
        assert [side["parts"][0]["lines"][-1]["item"] for side in task["sides"]] == task["items"]
        assert [line["text"] for line in task["parts"][0]["lines"]] == ["turn 0"]
        seen[person] = said(task)
        kept = Assignment.objects.get(pk=task["assignment"]).shown
        members = list(Task.objects.filter(campaign=campaign).first().item.members.order_by("number"))
        assert [members[number].turn.text for number in kept] == seen[person]
        assert said(first(person, campaign)) == seen[person]
    assert len({tuple(order) for order in seen.values()}) == 3


def test_every_answer_lands_on_its_own_turn(people, campaign):
    ana = people[0]
    task = first(ana, campaign)
    submit(ana, campaign, task, [1, 2, 3])
    told = {label.item.turn.text: label.number for label in Label.objects.all()}
    assert told == dict(zip(said(task), [1, 2, 3], strict=True))
    assert set(Label.objects.values_list("item__kind", "shown")) == {("turn", None)}
    submit(ana, campaign, task, [1, 2, 3])
    submit(ana, campaign, task, [5, 2, 3], revising=True)
    live = Label.objects.filter(superseded_at=None)
    assert {label.item.turn.text: label.number for label in live} == dict(
        zip(said(task), [5, 2, 3], strict=True)
    )
    draft = hold_of(Assignment.objects.get(pk=task["assignment"])).draft["answers"]
    assert draft[str(task["items"][0])] == {"overall": 5.0}


def test_a_refusal_names_the_response_and_drafts_hold_all(people, campaign):
    ana = people[0]
    task = first(ana, campaign)
    given = {str(task["items"][0]): {"overall": 3}}
    labelling.save_draft(
        by=ana,
        campaign=campaign.pk,
        assignment=task["assignment"],
        draft={"version": 1, "answers": given},
    )
    assert first(ana, campaign)["draft"]["answers"] == given
    with pytest.raises(AnswerRefused, match="Response B: “"):
        labelling.submit(by=ana, campaign=campaign.pk, assignment=task["assignment"], answers=given)
    assert not Label.objects.exists()


def test_nobody_learns_which_system_spoke(people, campaign):
    client = Client()
    client.force_login(people[0])
    page = client.get(f"/work/{campaign.pk}/").content.decode().lower()
    told = str(first(people[0], campaign)).lower()
    for text in (page, told):
        assert not any(name.lower() in text for name in SYSTEMS)
    assert page.count("data-item=") == 3


def test_the_database_takes_answers_about_the_responses_of_the_task_alone(people, campaign):
    ana = people[0]
    task = first(ana, campaign)
    assignment = Assignment.objects.get(pk=task["assignment"])
    rater = Rater.objects.create(kind="human", name="ana", user=ana)
    other = Item.objects.get(turn__text="later")
    question = Question.objects.get(key="overall", version=campaign.scheme_version)
    told = {"occasion": "main", "campaign": campaign, "assignment": assignment, "compared": False}
    with pytest.raises(IntegrityError, match="the assignment is about something else"), transaction.atomic():
        labels.record(rater=rater, answers=[labels.Answer(other, question, 3)], **told)
    one = Item.objects.get(turn__text="answer 0")
    with pytest.raises(IntegrityError, match="not shown in this order"), transaction.atomic():
        labels.record(rater=rater, answers=[labels.Answer(one, question, 3)], **(told | {"compared": True}))
    assert labels.record(rater=rater, answers=[labels.Answer(one, question, 3)], **told)


def test_values_that_sound_like_sides_are_left_as_they_are(corpus, people):
    scheme_actions.create(by=None, definition=files.read(ORDER))
    campaign = factories.campaign(corpus, "order", annotators=people, side_by_side=True)
    for person in people[:1]:
        task = first(person, campaign)
        given = {str(item): {"which": "first"} for item in task["items"]}
        labelling.submit(by=person, campaign=campaign.pk, assignment=task["assignment"], answers=given)
        assert set(Label.objects.values_list("text", flat=True)) == {"first"}
        assert hold_of(Assignment.objects.get(pk=task["assignment"])).draft["answers"] == given


def test_studies_and_judges_speak_of_the_same_turns(campaign):
    turns = Item.objects.filter(kind="turn", continuation__mode="static")
    chosen = Selection(campaign.corpus, campaign)
    assert set(items(chosen, "turn")) == set(turns)
    assert continuations(chosen).count() == 3
    assert set(items_of(of_campaign(campaign)).filter(kind="turn")) == set(turns)


def test_a_preview_shows_the_sides_and_leaves_nothing(corpus, people):
    draft = factories.campaign(corpus, side_by_side=True, opened=False)
    screen = screens.campaign_preview(draft, screens.preview_places(draft)[0])
    assert (len(screen.sides), len(screen.items)) == (3, 3)
    assert not Assignment.objects.exists()


def test_what_cannot_stand_side_by_side_is_refused_in_one_line(corpus, people):
    scheme_actions.create(by=None, definition=files.read(EVIDENCE))
    rollout = factories.dialogue(factories.corpus("rolls"), "r", turns=2)
    factories.continuation(rollout, "x", system="X", turns=[{"text": "a"}])
    many = factories.dialogue(factories.corpus("many"), "m", turns=2)
    for number in range(11):
        turns = [{"text": "a", "at": 1}]
        factories.continuation(many, f"s{number}", system=f"s{number}", turns=turns, mode="static")
    alone = factories.dialogue(factories.corpus("alone"), "o", turns=2)
    factories.continuation(alone, "s", system="s", turns=[{"text": "a", "at": 1}], mode="static")
    for where, scheme, line in (
        (rollout.corpus, "comperdial_turn", "follow each other"),
        (many.corpus, "comperdial_turn", "m has 11 responses to its point 1; at most 10"),
        (alone.corpus, "comperdial_turn", "No point of a dialogue has several responses"),
        (corpus, "comperdial_dialogue", "asks about one turn at a time"),
        (corpus, "preference", "asks about one turn at a time"),
        (corpus, "pointing", "asks what an answer points at"),
    ):
        with pytest.raises(CampaignRefused, match=line) as refused:
            factories.campaign(where, scheme, side_by_side=True, opened=False)
        assert refused.value.field == "side_by_side"
        assert "\n" not in str(refused.value)


def test_groups_by_system_and_keys_are_refused(corpus, people):
    by = factories.user(researcher=True)
    draft = factories.campaign(corpus, side_by_side=True, opened=False, by=by)
    with pytest.raises(CampaignRefused, match="cannot be by system"):
        rules.set_rules(by=by, campaign=draft, rules=rules.Rules(groups_by="system"))
    spot = check_actions.spot_named(draft, "d/alpha/1")
    with pytest.raises(CampaignRefused, match="one that shows one at a time"):
        check_actions.add_key(by=by, campaign=draft, occasion="training", spot=spot, answers={})


def test_a_draft_may_be_changed_and_copied_and_a_change_of_systems_chooses_anew(corpus):
    by = factories.user(researcher=True)
    draft = factories.campaign(corpus, opened=False, by=by)
    editing.change(by=by, campaign=draft, side_by_side=True)
    assert draft.compared_items.count() == 1
    systems = list(corpus.systems.filter(name__in=SYSTEMS[:2]))
    editing.change(by=by, campaign=draft, systems=systems)
    assert draft.compared_items.get().item.kind == "pair"
    made = editing.copy(by=by, campaign=draft, name="copy")
    assert (made.side_by_side, made.compared_items.count()) == (True, 1)
    campaigns.open(by=by, campaign=draft)
    with pytest.raises(CampaignRefused, match="opened campaign cannot change"):
        editing.change(by=by, campaign=draft, side_by_side=False)


@pytest.mark.exhaustive
def test_the_form_and_the_api_set_it(corpus):
    client = APIClient()
    client.force_authenticate(factories.user(researcher=True))
    told = {"name": "c", "corpus": "talks", "scheme": "comperdial_turn", "side_by_side": True}
    made = client.post("/api/v1/campaigns/", told, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["side_by_side"] is True
    refused = client.post(
        "/api/v1/campaigns/", told | {"name": "e", "scheme": "comperdial_dialogue"}, format="json"
    )
    assert refused.status_code in (409, 422)
    page = Client()
    page.force_login(factories.user(researcher=True))
    form = page.get(f"/campaigns/new/?corpus={corpus.pk}").content.decode()
    assert "Show all systems&#x27; responses to one point on one screen" in form


def test_the_dialogues_points_come_one_after_the_other(people):
    corpus = factories.corpus()
    for key in ("d", "e"):
        dialogue = factories.dialogue(corpus, key, turns=6)
        for system in ("x", "y"):
            turns = [{"text": f"{at}", "at": at} for at in (1, 3, 5)]
            factories.continuation(dialogue, system, system=system, turns=turns, mode="static")
    campaign = factories.campaign(corpus, annotators=people, side_by_side=True)
    rows = Task.objects.filter(campaign=campaign).order_by("position")
    points = [
        (task.continuation.dialogue.key, task.item.members.first().turn.at)
        for task in rows.select_related("continuation__dialogue", "item")
    ]
    assert [at for _, at in points] == [1, 3, 5, 1, 3, 5]
    assert len({key for key, _ in points[:3]}) == 1


def test_ones_own_list_tells_what_was_rated_and_finds_it(people, campaign):
    ana = people[0]
    task = first(ana, campaign)
    submit(ana, campaign, task, [1, 2, 3])
    client = APIClient()
    client.force_authenticate(ana)
    for query in ("", "?text=answer 2"):
        (row,) = client.get(f"/api/v1/work/submissions/{query}").json()["results"]
        assert row["excerpt"].endswith(said(task)[0])
        assert row["n_answers"] == 3
