"""A turn has one number, as annotators see it, on every page and in every file."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse

from annotation import scheme_store
from annotation.models import Assignment, Rater, Task, Turn
from annotation.models.turn_numbers import numbers_of
from annotation.work import task_actions as labelling
from annotation.work.labels import Answer, record
from annotation.work.screens import load
from calibration.comparisons import metric_causes
from judges.metrics import METRICS
from judges.runs.metric_calls import scheme_of
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
    found = client.get(reverse("corpus-dialogues", args=[corpus.name]), {"text": "s3"}).content.decode()
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
    assert "turn=7&amp;index=2#turn-7" in page
    assert "d, turn 7</a>" in page


def test_exports_carry_the_number_beside_the_index(client, corpus):
    ana = factories.user("ana")
    campaign = factories.campaign(corpus, annotators=[ana])
    while (hold := labelling.start(by=ana, campaign=campaign.pk)[1]) is not None:
        item = Assignment.objects.get(pk=hold.assignment).task.item.pk
        answers = {str(item): {"overall": 4}}
        labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    client.force_login(factories.user(researcher=True))
    answer = client.get(reverse("export-labels", args=["csv"]), {"campaign": campaign.pk})
    text = b"".join(answer.streaming_content).decode()
    rows = {row["item"]: (row["turn"], row["turn_number"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows["d/roll/2"] == ("2", "7")
    assert rows["d/static/3"] == ("3", "5")
    assert rows["alone/roll/1"] == ("1", "2")


def _anchors(page):
    return re.findall(r'<div class="turn[^"]*"\s+id="(turn-[^"]+)"', page)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ({"continuation": "roll", "turn": "7"}, "c"),
        ({"continuation": "roll", "turn": "7", "index": "2"}, "c"),
        ({"continuation": "roll", "turn": "2"}, "turn 1"),
        ({"continuation": "static", "turn": "5"}, "s3"),
        ({"continuation": "static", "turn": "5", "index": "5"}, "s5"),
    ],
)
def test_a_link_by_the_annotators_number_marks_its_turn(client, corpus, query, marked):
    client.force_login(factories.user(researcher=True))
    dialogue = corpus.dialogues.get(key="d")
    page = client.get(reverse("dialogue", args=[dialogue.pk]), query).content.decode()
    anchors = _anchors(page)
    assert len(anchors) == len(set(anchors))
    here = re.findall(
        r'<div class="turn[^"]* here"\s+id="([^"]+)">.*?<div class="text"[^>]*>(.*?)</div>', page, re.S
    )
    assert [anchor for anchor, _ in here] == [f"turn-{query['turn']}"]
    assert marked in here[0][1]


def test_a_number_that_no_turn_has_marks_none(client, corpus):
    client.force_login(factories.user(researcher=True))
    dialogue = corpus.dialogues.get(key="d")
    for turn, index in (("99", "0"), ("0", "0"), ("x", "y"), ("1e3", "-1")):
        page = client.get(reverse("dialogue", args=[dialogue.pk]), {"turn": turn, "index": index})
        assert page.status_code == 200
        assert " here" not in page.content.decode()


def test_the_profile_numbers_static_turns_as_annotators_do(corpus):
    made = corpus.dialogues.get(key="d").continuations.get(key="static")
    asked = Turn.objects.get(continuation=made, text="s3")
    question = scheme_store.store(definition=scheme_of(METRICS["m_sns_min"])).questions.get()
    rater = Rater.objects.create(kind="metric", name="m_sns_min@paper", spec={"metric": "m_sns_min"})
    caused = json.dumps({"nearest": 5})  # position 5 of history and continuation: the first given turn
    record(rater=rater, answers=[Answer(asked.item, question, 0.3, explanation=caused)], occasion="main")
    lines, (value,) = metric_causes.values(made)
    numbers = numbers_of(made.turns.values_list("pk", flat=True))
    turns = list(made.turns.order_by("position"))
    assert [line.number for line in lines if not line.history] == [numbers[turn.pk] for turn in turns]
    assert len({line.anchor for line in lines}) == len(lines)
    assert (value.turn, value.turns) == (5, (3,))
    assert value.causes == ("nearest to turn 3",)
    assert [line.text for line in lines if line.anchor == value.leads[0][1]] == ["g1"]
    assert [line.text for line in lines if line.place == value.place] == ["s3"]


def test_the_api_gives_the_number_beside_the_index(client, corpus):
    client.force_login(factories.user(researcher=True))
    base = f"/api/v1/corpora/{corpus.name}"
    items = {row["key"]: row["turn_number"] for row in client.get(f"{base}/items/").json()["results"]}
    assert (items["d/roll/2"], items["d/static/3"], items["d/roll"]) == (7, 5, None)
    found = client.get(f"{base}/turns/", {"text": "s3"}).json()["results"]
    assert [(row["position"], row["turn_number"]) for row in found] == [(3, 5)]
    dialogue = client.get(f"/api/v1/dialogues/{corpus.dialogues.get(key='d').pk}/").json()
    (roll,) = (own for own in dialogue["continuations"] if own["id"] == "roll")
    assert [turn["turn_number"] for turn in roll["turns"]] == [5, 6, 7]
