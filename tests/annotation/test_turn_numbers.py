"""One number for a turn: the annotator's, on every page and in every file."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.models import Assignment, Task, Turn
from annotation.models.turn_numbers import numbers_of
from annotation.work import actions as labelling
from annotation.work.screens import load
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus():
    """Own turns, a rollout, static answers with given turns before them, and a rollout alone."""
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=4)
    factories.continuation(
        dialogue, "roll", system="m", turns=[{"text": "a"}, {"text": "b", "given": True}, {"text": "c"}]
    )
    static = [
        {"text": "s0", "at": 1},
        {"text": "g1", "at": 2, "given": True},
        {"text": "g2", "at": 2, "given": True},
        {"text": "s3", "at": 2},
        {"text": "g4", "at": 3, "given": True},
        {"text": "s5", "at": 4},
        {"text": "s6", "at": 9},
    ]
    factories.continuation(dialogue, "static", system="m", mode="static", turns=static)
    alone = factories.dialogue(corpus, "alone", turns=0)
    factories.continuation(alone, "roll", system="m", turns=[{"text": "x"}, {"text": "y"}])
    return corpus


@pytest.mark.parametrize("scheme", ["comperdial_turn", "cocoeval_behaviours", "comperdial_dialogue"])
def test_the_number_is_the_one_that_annotators_see(corpus, scheme):
    campaign = factories.campaign(corpus, scheme, include_self=True)
    numbers = numbers_of(Turn.objects.values_list("pk", flat=True))
    items = {
        turn.item.public: turn.pk for turn in Turn.objects.filter(item__isnull=False).select_related("item")
    }
    checked = 0
    for task in Task.objects.filter(campaign=campaign).select_related("continuation"):
        lines = [line for part in load(task.pk).parts for line in part.lines]
        for line in lines:
            if line.item:
                assert line.no == numbers[items[line.item]]
                checked += 1
        own = {(turn.text, turn.given): numbers[turn.pk] for turn in task.continuation.turns.all()}
        judged = [line for line in lines if line.place in ("given", "rated", "item")]
        assert all(line.no == own[line.text, line.place == "given"] for line in judged)
    assert checked > 0 or scheme == "comperdial_dialogue"


def test_researchers_see_the_same_number_on_the_dialogues_page(client, corpus):
    client.force_login(factories.user(researcher=True))
    dialogue = corpus.dialogues.get(key="d")
    page = client.get(reverse("dialogue", args=[dialogue.pk]), {"continuation": "roll"}).content.decode()
    assert '<span class="no">5</span>' in page
    assert '<span class="no">7</span>' in page
    found = client.get(reverse("corpus", args=[corpus.name]), {"text": "s3"}).content.decode()
    assert '<td class="n">5</td>' in found


def test_a_remark_leads_to_its_turn_by_the_annotators_number(client, corpus):
    ana = factories.user("ana")
    system = corpus.systems.get(name="m")
    campaign = factories.campaign(corpus, annotators=[ana], systems=[system])
    seat = labelling.start(by=ana, campaign=campaign.pk)[1]
    Assignment.objects.filter(pk=seat.assignment).update(
        comment="odd",
        task=Task.objects.get(campaign=campaign, item__turn__text="c"),
        slot=Task.objects.get(campaign=campaign, item__turn__text="c").slots.get(number=1),
    )
    client.force_login(factories.user(researcher=True))
    page = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert "turn=3#turn-3" in page
    assert "d, turn 7</a>" in page


def test_exports_carry_the_number_beside_the_index(client, corpus):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, annotators=[ana])
    while (hold := labelling.start(by=ana, campaign=campaign.pk)[1]) is not None:
        item = Assignment.objects.get(pk=hold.assignment).task.item.public
        answers = {str(item): {"overall": 4}}
        labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    client.force_login(factories.user(researcher=True))
    answer = client.get(reverse("export-labels", args=["csv"]), {"campaign": campaign.pk})
    text = b"".join(answer.streaming_content).decode()
    rows = {row["item"]: (row["turn"], row["turn_number"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows["d/roll/2"] == ("2", "7")
    assert rows["d/static/3"] == ("3", "5")
    assert rows["alone/roll/1"] == ("1", "2")
