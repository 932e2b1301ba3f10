"""Whether a judge can stand in for a person: counts of people, and never for a constant judge."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from calibration.reports import sentences, tables
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rare() -> World:
    """Forty dialogues in which three people mark one turn in four, and a fourth who rated little."""
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben", "cid")):
        built.say(name, "off_topic", [float((n + (n % 7 == person)) % 4 < 1) for n in range(80)])
    built.say("dee", "off_topic", [float(n % 4 < 1) for n in range(12)])
    return built


def _report(built: World) -> Any:
    return studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)


def _answer(result: Snapshot) -> sentences.Answer:
    return next(answer for answer in sentences.lede(result) if "stand in for" in answer.title)


@pytest.mark.exhaustive
def test_a_judge_that_answered_no_throughout_has_not_passed(rare: World) -> None:
    rare.say("never", "off_topic", [0.0] * 80, kind="judge")
    report = _report(rare)
    answer = _answer(snapshot_of(report))
    assert answer.figure == ""
    assert answer.text.startswith("Not passed on Off topic: never gave one value throughout")
    assert "Advantage probability 0.846" in answer.text
    for form in ("html", "md", "latex"):
        assert "Passed on" not in RENDERINGS[form].write(report)


def test_how_many_of_how_many_people_stands_with_both_figures(rare: World) -> None:
    rare.say("gpt", "off_topic", [float(n % 4 < 1) for n in range(80)], kind="judge")
    result = snapshot_of(_report(rare))
    answer = _answer(result)
    assert "it can replace 3 of 3 people tested (1 of 4 shares too few items, fewer than 30)" in answer.text
    assert answer.text.startswith("Passed on Off topic: ")
    assert "Advantage probability " in answer.text
    table = tables.agreement(result)[-1]
    assert table.title == "Alternative annotator test"
    assert [key for key, _ in table.columns] == ["alt_test_winning_rate", "alt_test_advantage"]
    (row,) = table.rows
    assert row.compared.startswith("gpt: passed, for 3 of 3 people tested")
    assert all(cell is not None and cell.value is not None for cell in row.cells)


@pytest.mark.exhaustive
def test_the_margin_is_printed_and_decides(rare: World) -> None:
    rare.say("off", "off_topic", [float((n % 4 < 1) != (n % 6 == 0)) for n in range(80)], kind="judge")
    said = {}
    for epsilon in (0.0, 0.9):
        definition = {"epsilon": epsilon, "resamples": 50}
        study = studies.create(name=f"at {epsilon}", corpus=rare.corpus, definition=definition, by=None)
        said[epsilon] = _answer(snapshot_of(studies.compute(study=study, part="all", by=None))).text
    assert "with a margin ε of 0.9." in said[0.9]
    assert said[0.9].startswith("Passed")
    assert said[0.0].startswith("Not passed on Off topic: it can replace ")


@pytest.mark.exhaustive
def test_two_people_are_told_that_three_are_needed() -> None:
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben")):
        built.say(name, "off_topic", [float((n + person) % 10 < 3) for n in range(80)])
    built.say("gpt", "off_topic", [float(n % 10 < 3) for n in range(80)], kind="judge")
    answer = _answer(snapshot_of(_report(built)))
    assert (answer.figure, answer.interval) == ("", "")
    assert answer.text == "Cannot say on Off topic: the test needs 3 people, and 2 answered."
    table = tables.agreement(snapshot_of(_report(built)))[-1]
    (row,) = table.rows
    assert row.compared == "gpt: cannot say"
    assert table.notes == ["the test needs 3 people, and 2 answered"]


@pytest.mark.exhaustive
def test_a_judge_that_guesses_is_not_passed_in_any_form_of_the_report(
    researcher: Client,
) -> None:
    built = world(dialogues=60, turns=4)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben", "cid")):
        built.say(name, "off_topic", [float((n + (n % 61 == person)) % 40 < 1) for n in range(240)])
    built.say("coin", "off_topic", [float(n % 43 == 7) for n in range(240)], kind="judge")
    report = _report(built)
    result = snapshot_of(report)
    answer = _answer(result)
    assert answer.figure == ""
    assert answer.text.startswith(
        "Not passed on Off topic: its Cohen's kappa with people could be chance: −0.0"
    )
    assert "answering 0 to every item does as well (accuracy 0.9" in answer.text
    table = tables.agreement(result)[-1]
    (row,) = table.rows
    assert row.compared == "coin: not passed"
    (sentence,) = table.remarks
    assert sentence.startswith("coin does not pass on Off topic: its Cohen's kappa")
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    for form in (page, *(str(RENDERINGS[key].write(report)) for key in ("html", "md", "latex"))):
        assert "Passed" not in form
        assert "answering 0 to every item does as well (accuracy 0.9" in form
    told = json.loads(str(RENDERINGS["json"].write(report)))
    (verdict,) = told["questions"][0]["stand_ins"]
    assert (verdict["rater"], verdict["state"], len(verdict["reasons"])) == ("coin", "not_passed", 2)
    assert "by_chance" in str(RENDERINGS["csv"].write(report))


@pytest.mark.exhaustive
def test_a_judge_that_left_out_half_of_the_turns_is_said_to_have_done_so_first(rare: World) -> None:
    half = [float(n % 4 < 1) if n % 8 < 4 else None for n in range(80)]
    rare.say("gpt", "off_topic", half, kind="judge")
    result = snapshot_of(_report(rare))
    said = [answer.text for answer in sentences.lede(result) if answer.title.startswith(("gpt", "Can gpt"))]
    assert len(said) == 2
    for text in said:
        assert text.startswith("gpt answered 40 of the 80 turns that people rated (50%). ")
