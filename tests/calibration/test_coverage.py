"""Behaviours outside the list: counted by rater, with notes and links, on the page and in every file."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Occasion, Question
from calibration.models import Report
from calibration.ratings.coverage import CoverageTable
from calibration.reports.behaviours import MOST_NOTES
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.statistics.prevalence import wilson_bounds
from calibration.studies import study_actions as studies
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
TURNS = 60
HOSTILE = '=HYPERLINK("x")<script>alert(1)</script> *b* | \\input{x} 100% $a_b'


def built(**marked: dict[int, str]) -> World:
    """Two tags and another behaviour: each rater's marked turns with its notes; judges begin with `gpt`."""
    made = world(dialogues=TURNS // 2, turns=2)
    for key in ("repetition", "off_topic"):
        made.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group="Listed", positive=1)
    made.ask(
        "another_behaviour", "binary", [0, 1], scheme="tags", wording="Another", group="Other", positive=1
    )
    show = {"question": "another_behaviour", "min": 1}
    made.ask("another_behaviour_note", "text", scheme="tags", group="Other", required=False, show_if=show)
    for name, notes in marked.items():
        kind = "judge" if name.startswith("gpt") else "human"
        for key in ("repetition", "off_topic"):
            made.say(name, key, [float(n % 4 == 0) for n in range(TURNS)], kind=kind)
        made.say(name, "another_behaviour", [float(n in notes) for n in range(TURNS)], kind=kind)
        written = {made.turns[n]: text for n, text in notes.items() if text}
        made.say(name, "another_behaviour_note", written, kind=kind)
    return made


def report_of(made: World, **definition: object) -> Report:
    settings = {"resamples": 20} | definition
    study = studies.create(name=f"tags {definition}", corpus=made.corpus, definition=settings, by=None)
    return studies.compute(study=study, part="all", by=None)


def table_of(report: Report) -> CoverageTable:
    (found,) = snapshot_of(report).coverage
    return found


def page_of(researcher: Client, report: Report) -> str:
    return researcher.get(reverse("report", args=[report.study_id])).content.decode()


@pytest.mark.exhaustive
def test_none_in_a_number_of_turns_has_an_upper_limit(researcher: Client) -> None:
    report = report_of(built(ann={}, ben={}))
    table = table_of(report)
    assert table.share is not None
    assert (table.share.value, table.share.low, table.share.n_items) == (0.0, 0.0, TURNS)
    assert table.share.high == pytest.approx(1.96**2 / (TURNS + 1.96**2), rel=1e-4)
    said = "No annotator marked another behaviour in 60 turns (at most 6.02%, Wilson)."
    for text in (
        page_of(researcher, report),
        *(RENDERINGS[form].write(report) for form in ("md", "latex", "html")),
    ):
        assert said in text.replace("\\%", "%")


def test_the_sentence_of_the_paper_is_said_of_its_turns() -> None:
    assert round(100 * wilson_bounds(0, 1080)[1], 2) == 0.35


@pytest.mark.exhaustive
def test_each_rater_has_its_turns_and_its_share_and_turns_count_once_for_all() -> None:
    table = table_of(report_of(built(ann={1: "shouts", 4: "sulks"}, ben={4: ""}, gpt={9: ""})))
    rows = {row.name: row for row in table.rows}
    assert {name: row.marked for name, row in rows.items()} == {"ann": 2, "ben": 1, "gpt": 1}
    assert (rows["ann"].share.low, rows["ann"].share.high) == wilson_bounds(2, TURNS)
    assert table.marked == 2
    assert table.share is not None
    assert (table.share.low, table.share.high) == wilson_bounds(2, TURNS)
    assert [(note.rater, note.note) for note in table.notes] == [
        ("ann", "shouts"),
        ("ann", "sulks"),
        ("ben", ""),
        ("gpt", ""),
    ]


@pytest.mark.exhaustive
def test_notes_lead_to_their_turns(researcher: Client) -> None:
    made = built(ann={3: "shouts"}, ben={})
    page = page_of(researcher, report_of(made))
    item = made.turns[3]
    assert "shouts" in page
    address = reverse("dialogue", args=[item.continuation.dialogue_id]) + "?continuation=self"
    assert f"{address}&amp;turn=2&amp;index=1#turn-2" in page
    assert 'id="turn-2"' in researcher.get(f"{address}&turn=2&index=1").content.decode()


def test_notes_are_text_in_every_form(researcher: Client, compiled: Compiled) -> None:
    report = report_of(built(ann={3: HOSTILE}, ben={}))
    page = page_of(researcher, report)
    assert "<script>alert(1)" not in page
    assert "<script>alert(1)" not in RENDERINGS["html"].write(report)
    assert "&lt;script&gt;" in page
    (line,) = [
        row for row in csv.reader(io.StringIO(RENDERINGS["csv"].write(report))) if HOSTILE in "".join(row)
    ]
    assert f"'{HOSTILE}" in line
    assert "\\<script\\>" in RENDERINGS["md"].write(report)
    assert json.loads(RENDERINGS["json"].write(report))["coverage"][0]["notes"][0]["note"] == HOSTILE
    compiled(RENDERINGS["latex"].write(report), packages="booktabs,graphicx")


@pytest.mark.exhaustive
def test_the_page_shows_some_notes_and_the_files_have_all(researcher: Client) -> None:
    report = report_of(built(ann={n: f"note {n:02}." for n in range(30)}, ben={}))
    page = page_of(researcher, report)
    assert page.count(">note ") + page.count("note ") >= MOST_NOTES
    assert sum(f"note {n:02}." in page for n in range(30)) == MOST_NOTES
    assert "10 more are in the" in " ".join(page.split())
    text = RENDERINGS["csv"].write(report)
    assert all(f"note {n:02}." in text for n in range(30))


@pytest.mark.exhaustive
def test_a_part_of_a_split_shows_its_own_turns_and_notes_alone() -> None:
    made = built(ann={n: f"note {n:02}." for n in range(TURNS)}, ben={})
    split = splits.draw(corpus=made.corpus, by=None, seed=3, test_share=0.5)
    study = studies.automatic(corpus=made.corpus)
    table = table_of(studies.compute(study=study, part="dev", by=None))
    dev = splits.clusters(split=split, part="dev")
    assert len(table.notes) == 2 * len(dev) == TURNS // 2
    assert {note.item.partition("/")[0] for note in table.notes} == set(dev)


@pytest.mark.exhaustive
def test_one_annotator_alone_has_a_coverage() -> None:
    made = built(ann={1: "shouts"})
    made.say("ben", "repetition", [float(n % 3 == 0) for n in range(TURNS)])
    table = table_of(report_of(made))
    assert [row.name for row in table.rows] == ["ann"]
    assert table.marked == 1


@pytest.mark.exhaustive
def test_a_study_of_other_schemes_or_raters_has_no_coverage_of_these() -> None:
    made = built(ann={1: "shouts"}, ben={})
    made.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben"):
        made.say(name, "quality", [float(1 + n % 3) for n in range(TURNS)])
    assert snapshot_of(report_of(made, questions=["quality@1/quality"])).coverage == ()
    only = report_of(made, questions=["tags@1/repetition"], raters=["ben", "ann"])
    assert {row.name for row in table_of(only).rows} == {"ann", "ben"}


@pytest.mark.exhaustive
def test_training_does_not_count_and_a_reason_of_a_judge_is_its_note() -> None:
    made = built(ann={}, ben={})
    made.say("cid", "another_behaviour", [1.0], occasion=Occasion.TRAINING)
    made.say("gpt", "another_behaviour", {made.turns[0]: 1.0}, kind="judge")
    assert {row.name for row in table_of(report_of(made)).rows} == {"ann", "ben", "gpt"}
    assert Question.objects.filter(key="another_behaviour_note").exists()


def test_a_tag_set_without_the_question_has_no_coverage() -> None:
    made = world(dialogues=4)
    made.ask("repetition", "binary", [0, 1])
    for name in ("ann", "ben"):
        made.say(name, "repetition", [float(n % 2) for n in range(20)])
    assert snapshot_of(report_of(made)).coverage == ()
