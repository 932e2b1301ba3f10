"""Evidence marked by raters with their answers: disagreement on it, and its display in the dialogue."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Turn
from annotation.records import Passage
from annotation.work.labels import Answer, record
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import EvidenceTable
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.world import World, world


@pytest.fixture
def rated(db: None) -> World:
    """Ann sees a contradiction of turn 1 in turn 2, Ben none."""
    built = world(dialogues=1, turns=2)
    asked = built.ask("contradicts", "binary", [0, 1], scheme="own", positive=1, evidence="spans")
    pointed = (Passage("self", 0, 0, 5), Passage("self", 1))
    for name, value, evidence in (("ann", 1.0, pointed), ("ben", 0.0, ())):
        answer = Answer(built.turns[1], asked, value, evidence=evidence)
        record(rater=built.rater(name), answers=[answer], occasion="main")
    return built


def test_evidence_stands_beside_the_answers_that_differ_and_in_the_api(client: Client, rated: World) -> None:
    client.force_login(factories.user("rosa", researcher=True))
    study = studies.automatic(corpus=rated.corpus)
    query = urlencode({"question": "own@1/contradicts", "a": "ann", "b": "ben"})
    page = client.get(f"{reverse('report-items', args=[study.pk])}?{query}")
    text = " ".join(page.content.decode().split())
    assert "ann points at turn 1: “<bdi>words</bdi>”; turn 2: “<bdi>words 1</bdi>” (all of it)" in text
    listed = client.get(f"{reverse('api-report-items', args=[study.pk])}?{query}").json()
    (row,) = listed["results"]
    assert row["evidence"] == {
        "ann": [
            {"continuation": "self", "turn": 0, "start": 0, "end": 5, "turn_number": 1, "quote": "words"},
            {
                "continuation": "self",
                "turn": 1,
                "start": None,
                "end": None,
                "turn_number": 2,
                "quote": "words 1",
            },
        ]
    }
    own = rated.turns[1].continuation.dialogue
    assert "1 → 1 “words”, 2" in client.get(reverse("dialogue", args=[own.pk])).content.decode()


@pytest.fixture
def pointing(db: None) -> World:
    """Three people and a judge say where turns contradict what was said before, in words and whole turns."""
    built = world(dialogues=6, turns=4)
    built.ask("contradicts", "binary", [0, 1], scheme="own", positive=1, evidence="spans")
    for item in built.turns:
        Turn.objects.filter(pk=item.turn_id).update(text="他说他昨天去了北京")
    back = {"ann": (1,), "ben": (1, 2), "cem": (1,), "gpt": (3,)}
    for name, offsets in back.items():
        rater = built.rater(name, "judge" if name == "gpt" else "human")
        for number in range(6):
            item = built.turns[4 * number + 3]
            passages = [Passage("self", 3 - offset, 5, 9) for offset in offsets]
            if name == "ann":
                passages = [Passage("self", 2)]
            value = 0.0 if (name, number) == ("cem", 0) else 1.0
            answer = Answer(
                item, built.questions["contradicts"], value, evidence=tuple(passages * int(value))
            )
            record(rater=rater, answers=[answer], occasion="imported")
    return built


def _evidence(built: World) -> EvidenceTable:
    study = studies.automatic(corpus=built.corpus)
    (table,) = snapshot_of(studies.compute(study=study, part="all", by=None)).evidence
    return table


def test_a_report_says_how_alike_people_and_judges_point(pointing: World) -> None:
    table = _evidence(pointing)
    assert (table.asks, table.n_answers, table.n_pointed) == ("spans", 23, 23)
    people, judge = table.rows
    of = {figure.name: figure for figure in people.figures}
    pairs = {"ab": 2 / 3, "ac": 1.0, "bc": 2 / 3}
    assert of["evidence_f1"].value == pytest.approx((5 * sum(pairs.values()) / 3 + pairs["ab"]) / 6)
    assert of["evidence_f1"].low is not None
    assert of["evidence_f1"].n_clusters == 6
    chars = {"ab": 2 * 4 / (9 + 8), "ac": 2 * 4 / (9 + 4), "bc": 2 * 4 / (8 + 4)}
    assert of["evidence_span_f1"].value == pytest.approx((5 * sum(chars.values()) / 3 + chars["ab"]) / 6)
    assert (judge.name, judge.raters[0]) == ("gpt", "gpt")
    assert {figure.name: figure.value for figure in judge.figures}["evidence_f1"] == 0.0


def test_every_form_of_a_report_has_the_figures_of_evidence(client: Client, pointing: World) -> None:
    client.force_login(factories.user("rosa", researcher=True))
    study = studies.automatic(corpus=pointing.corpus)
    report = studies.compute(study=study, part="all", by=None)
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    assert "What answers point at" in page
    assert "gpt with people" in page
    for form in ("md", "latex", "html"):
        assert "What answers point at" in RENDERINGS[form].write(report)
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    alphas = [row for row in rows if row["name"] == "evidence_alpha"]
    assert [row["question"] for row in alphas] == ["own@1/contradicts"]
    kept = json.loads(RENDERINGS["json"].write(report))["evidence"]
    assert [row["name"] for row in kept[0]["rows"]] == ["", "gpt"]
    told = client.get(f"/api/v1/studies/{study.pk}/report/").json()["result"]["evidence"]
    assert told == kept


def test_a_question_that_asks_for_no_evidence_has_no_section(db: None) -> None:
    built = world(dialogues=2, turns=2)
    built.ask("plain", "binary", [0, 1], scheme="own", positive=1)
    for name in ("ann", "ben"):
        built.say(name, "plain", [1.0, 0.0, 1.0, 0.0])
    study = studies.automatic(corpus=built.corpus)
    report = studies.compute(study=study, part="all", by=None)
    assert snapshot_of(report).evidence == ()
    assert "What answers point at" not in RENDERINGS["html"].write(report)


def test_where_nobody_points_the_report_says_so(db: None) -> None:
    built = world(dialogues=2, turns=2)
    built.ask("contradicts", "binary", [0, 1], scheme="own", positive=1, evidence="turns")
    for name in ("ann", "ben"):
        built.say(name, "contradicts", [1.0, 1.0, 1.0, 0.0])
    study = studies.automatic(corpus=built.corpus)
    text = RENDERINGS["md"].write(studies.compute(study=study, part="all", by=None))
    assert "## What answers point at" not in text, "a section without content is not printed"
    assert "0 of 6 answers point at turns or words" in text


@pytest.mark.exhaustive
def test_other_evidence_is_another_report(pointing: World) -> None:
    study = studies.automatic(corpus=pointing.corpus)
    before = studies.compute(study=study, part="all", by=None)
    asked = pointing.questions["contradicts"]
    cem = pointing.rater("cem")
    answer = Answer(pointing.turns[7], asked, 1.0, evidence=(Passage("self", 0),))
    record(rater=cem, answers=[answer], occasion="imported")
    after = studies.compute(study=study, part="all", by=None)
    assert before.inputs_hash != after.inputs_hash
