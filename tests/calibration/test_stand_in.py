"""Whether a judge can stand in for a person: counts of people, and never for a constant judge."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from calibration.reports import tables
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


def _test(result: Snapshot) -> tables.Table:
    table = tables.agreement(result)[-1]
    assert table.title == "Alternative annotator test"
    return table


@pytest.mark.exhaustive
def test_a_judge_that_answered_no_throughout_has_not_passed(rare: World) -> None:
    rare.say("never", "off_topic", [0.0] * 80, kind="judge")
    report = rare.report()
    table = _test(snapshot_of(report))
    assert [row.compared for row in table.rows] == ["never: not passed"]
    assert "never gave one value throughout" in " ".join(table.notes)
    for form in ("html", "md", "latex"):
        assert "Passed on" not in RENDERINGS[form].write(report)


def test_how_many_of_how_many_people_stands_with_both_figures(rare: World) -> None:
    rare.say("gpt", "off_topic", [float(n % 4 < 1) for n in range(80)], kind="judge")
    result = snapshot_of(rare.report())
    table = _test(result)
    assert [key for key, _ in table.columns] == ["alt_test_winning_rate", "alt_test_advantage"]
    (row,) = table.rows
    tested = "3 of 3 people tested (1 of 4 shares too few items, fewer than 30)"
    assert row.compared == f"gpt: passed, for {tested}"
    assert all(cell is not None and cell.value is not None for cell in row.cells)


@pytest.mark.exhaustive
def test_the_margin_decides(rare: World) -> None:
    rare.say("off", "off_topic", [float((n % 4 < 1) != (n % 6 == 0)) for n in range(80)], kind="judge")
    said = {}
    for epsilon in (0.0, 0.9):
        definition = {"epsilon": epsilon, "resamples": 50}
        study = studies.create(name=f"at {epsilon}", corpus=rare.corpus, definition=definition, by=None)
        (row,) = _test(snapshot_of(studies.compute(study=study, part="all", by=None))).rows
        said[epsilon] = row.compared
    assert said[0.9].startswith("off: passed, for ")
    assert said[0.0] == "off: not passed"


@pytest.mark.exhaustive
def test_two_people_are_told_that_three_are_needed() -> None:
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben")):
        built.say(name, "off_topic", [float((n + person) % 10 < 3) for n in range(80)])
    built.say("gpt", "off_topic", [float(n % 10 < 3) for n in range(80)], kind="judge")
    table = _test(snapshot_of(built.report()))
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
    report = built.report()
    result = snapshot_of(report)
    table = _test(result)
    (row,) = table.rows
    assert row.compared == "coin: not passed"
    (sentence,) = table.remarks
    assert sentence.startswith(
        "coin does not pass on Off topic: its Cohen's kappa with people could be chance: −0.0"
    )
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    for form in (page, *(str(RENDERINGS[key].write(report)) for key in ("html", "md", "latex"))):
        assert "Passed" not in form
        assert "answering 0 to every item does as well (accuracy 0.9" in form
    told = json.loads(str(RENDERINGS["json"].write(report)))
    (verdict,) = told["questions"][0]["stand_ins"]
    assert (verdict["rater"], verdict["state"], len(verdict["reasons"])) == ("coin", "not_passed", 2)
    assert "by_chance" in str(RENDERINGS["csv"].write(report))


def test_a_judge_that_left_out_half_of_the_turns_is_said_to_have_done_so(rare: World) -> None:
    half = [float(n % 4 < 1) if n % 8 < 4 else None for n in range(80)]
    rare.say("gpt", "off_topic", half, kind="judge")
    (verdict,) = snapshot_of(rare.report()).verdicts
    assert (verdict.n_answered, verdict.n_items) == (40, 80)
