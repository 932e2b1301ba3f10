"""Work on comparisons: screen positions, stored answers, and no hint of the systems."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.campaigns import campaign_actions as campaigns
from annotation.campaigns import editing
from annotation.errors import AnswerRefused, CampaignRefused
from annotation.models import Assignment, Campaign, Corpus, Item, Label
from annotation.work import task_actions as labelling
from annotation.work.screens import load
from annotation.work.task_answers import current_answers
from tests import factories

pytestmark = pytest.mark.django_db
SYSTEMS = ("Quorvex-9", "Zemblan", "Oxalix")


def corpus_of(dialogues: int = 2, systems: tuple[str, ...] = SYSTEMS[:2]) -> Corpus:
    made = factories.corpus()
    for number in range(dialogues):
        dialogue = factories.dialogue(made, f"d{number}")
        for name in systems:
            said = [{"text": f"words {len(name)}", "at": 2}, {"text": f"more {len(name)}", "at": 4}]
            factories.continuation(dialogue, name, system=name, turns=said, mode="static")
    return made


def hold(user: User, campaign: Campaign) -> Assignment:
    _, held = labelling.start(by=user, campaign=campaign.pk)
    assert held is not None
    return Assignment.objects.get(pk=held.assignment)


def submit(user: User, assignment: Assignment, value: str, **more: Any) -> Any:
    assert assignment.task.item is not None
    question = assignment.campaign.scheme_version.questions.get().key
    answers = {str(assignment.task.item.pk): {question: value}}
    about = {"campaign": assignment.campaign_id, "assignment": assignment.pk, "answers": answers}
    return labelling.submit(by=user, **about, **more)


def better(label: Label) -> str:
    return label.item.members.get(number=("first", "second").index(label.text)).continuation.system.name


def test_each_side_stands_left_as_often_and_the_answer_names_what_was_meant() -> None:
    people = [factories.user() for _ in range(4)]
    campaign = factories.campaign(corpus_of(), "preference", annotators=people, raters=4)
    for person in people:
        for _ in range(4):
            mine = hold(person, campaign)
            sides = load(mine.task_id, True, mine.pk).sides
            shown = [side.parts[0].lines[-1].text for side in sides]
            by_nine = "second" if shown[1].endswith("9") else "first"
            submit(person, mine, by_nine)
    labels = list(Label.objects.select_related("item"))
    assert {better(label) for label in labels} == {"Quorvex-9"}
    assert Item.objects.filter(kind="pair").count() == 4, "two dialogues, two points each"
    for item in Item.objects.filter(kind="pair"):
        orders = sorted(tuple(one.shown) for one in labels if one.item_id == item.pk)
        assert orders == [(0, 1), (0, 1), (1, 0), (1, 0)]


def test_what_is_seen_again_is_what_was_answered_and_a_revision_turns_it_round() -> None:
    ana = factories.user()
    campaign = factories.campaign(corpus_of(1), "preference", annotators=[ana])
    mine = hold(ana, campaign)
    submit(ana, mine, "first")
    mine.refresh_from_db()
    assert current_answers(mine) == {factories.item_name(mine.task.item, mine.pk): {"preference": "first"}}
    assert submit(ana, mine, "first").status == "already submitted"
    assert submit(ana, mine, "second", revising=True).status == "revised"
    before, now = Label.objects.order_by("id")
    assert {before.text, now.text} == {"first", "second"}
    assert before.shown == now.shown == mine.shown


@pytest.mark.exhaustive
def test_a_ranking_is_answered_in_the_order_shown_with_everything_in_it() -> None:
    people = [factories.user() for _ in range(3)]
    campaign = factories.campaign(
        corpus_of(1, SYSTEMS), "preference_ranking", annotators=people, raters=3, compared="whole"
    )
    for person in people:
        mine = hold(person, campaign)
        for wrong in ("0>1", "places:1,,2", "first", "0>0=1"):
            with pytest.raises(AnswerRefused, match="best first"):
                submit(person, mine, wrong)
        submit(person, mine, "0>1=2")
    labels = list(Label.objects.all())
    assert sorted(label.text[0] for label in labels) == ["0", "1", "2"], "each stood first once"
    assert all(label.text[0] == str(label.shown[0]) for label in labels)


def test_neither_page_nor_program_learns_which_system_it_is(client: Client) -> None:
    ana = factories.user("ana")
    campaign = factories.campaign(corpus_of(), "preference", annotators=[ana])
    client.force_login(ana)
    page = client.get(reverse("work", args=[campaign.pk])).content.decode()
    told = client.post(f"/api/v1/work/{campaign.pk}/next/", content_type="application/json")
    task = told.json()["task"]
    assert [side["name"] for side in task["sides"]] == ["Response A", "Response B"]
    assert "A is better" in page
    mine = hold(ana, campaign)
    assert mine.task.item is not None
    assert [str(item) for item in task["items"]] == [factories.item_name(mine.task.item, mine.pk)]
    for text in (page, json.dumps(told.json())):
        for name in (*SYSTEMS, "shown", "canonical", f'"{mine.task.item_id}"'):
            assert name not in text


@pytest.mark.exhaustive
def test_a_campaign_compares_what_it_says(client: Client) -> None:
    boss = factories.user("boss", researcher=True)
    corpus = corpus_of(3, SYSTEMS)
    draft = factories.campaign(corpus, "preference", by=boss, opened=False)
    assert draft.compared_items.count() == 3 * 2 * 3
    oxalix = corpus.systems.get(name="Oxalix")
    editing.change(by=boss, campaign=draft, compares="baseline", baseline=oxalix)
    assert draft.compared_items.count() == 3 * 2 * 2
    editing.change(by=boss, campaign=draft, compared="whole", most_comparisons=4)
    kept = set(draft.compared_items.values_list("item", flat=True))
    assert len(kept) == 4
    copied = editing.copy(by=boss, campaign=draft, name="copy")
    assert set(copied.compared_items.values_list("item", flat=True)) == kept, "the seed draws the same"
    assert campaigns.open(by=boss, campaign=draft) == 4
    with pytest.raises(CampaignRefused, match="Duplicate the campaign"):
        editing.change(by=boss, campaign=draft, most_comparisons=2)
    for wrong, told in (
        ({"compares": "there", "scheme": "preference_ranking"}, "has no rankings of the chosen systems"),
        ({"systems": [oxalix]}, "Nothing here can be compared"),
        ({"compares": "baseline"}, "Say with which system"),
    ):
        about = {"by": boss, "corpus": corpus, "scheme": "preference", "name": told} | wrong
        with pytest.raises(CampaignRefused, match=told):
            campaigns.create(**about)
    client.force_login(boss)
    fields = {"name": "by form", "scheme": "preference", "raters_per_item": 2, "lease_minutes": 60, "seed": 1}
    made = client.post(f"{reverse('new-campaign')}?corpus={corpus.pk}", fields | {"compares": "all"})
    assert made.status_code == 302
    shown = client.get(f"/api/v1/campaigns/{Campaign.objects.get(name='by form').pk}/").json()
    assert (shown["compares"], shown["comparing"]["comparisons"]) == ("all", 18)
    preview = client.get(reverse("campaign-preview-task", args=[shown["id"], 1]))
    assert "Response B" in preview.content.decode()
