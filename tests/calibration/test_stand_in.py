"""Whether a judge can stand in for a person: how many of how many, and never where it is constant."""

from __future__ import annotations

from typing import Any

import pytest

from calibration.reports import lede, tables
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rare() -> World:
    """Forty dialogues in which three people mark one turn in ten, and a fourth who rated little."""
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben", "cid")):
        built.say(name, "off_topic", [float((n + person) % 10 < 1) for n in range(80)])
    built.say("dee", "off_topic", [float(n % 10 < 1) for n in range(12)])
    return built


def _report(built: World) -> Any:
    return studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)


def _answer(result: Snapshot) -> lede.Answer:
    return next(answer for answer in lede.lede(result) if "stand in for" in answer.title)


def test_a_judge_that_answered_no_throughout_has_not_passed(rare: World) -> None:
    rare.say("never", "off_topic", [0.0] * 80, kind="judge")
    report = _report(rare)
    answer = _answer(snapshot_of(report))
    assert answer.figure == ""
    assert answer.text.startswith("Not passed on Off topic: never gave one value throughout")
    assert "Advantage probability 1.000" in answer.text
    for form in ("html", "md", "latex"):
        assert "Passed on" not in RENDERINGS[form].write(report)


def test_how_many_of_how_many_people_stands_with_both_figures(rare: World) -> None:
    rare.say("gpt", "off_topic", [float(n % 10 < 1) for n in range(80)], kind="judge")
    result = snapshot_of(_report(rare))
    answer = _answer(result)
    assert (
        "it can replace 3 of 3 people tested (1 of all 4 have fewer than 30 items to test on)" in answer.text
    )
    assert "Advantage probability " in answer.text
    table = tables.agreement(result)[-1]
    assert table.title == "Alternative annotator test"
    assert [key for key, _ in table.columns] == ["alt_test_winning_rate", "alt_test_advantage"]
    (row,) = table.rows
    assert all(cell is not None and cell.value is not None for cell in row.cells)


def test_the_margin_is_printed_and_decides(rare: World) -> None:
    rare.say("off", "off_topic", [float((n + 5) % 10 < 1) for n in range(80)], kind="judge")
    said = {}
    for epsilon in (0.0, 0.9):
        definition = {"epsilon": epsilon, "resamples": 50}
        study = studies.create(name=f"at {epsilon}", corpus=rare.corpus, definition=definition, by=None)
        said[epsilon] = _answer(snapshot_of(studies.compute(study=study, part="all", by=None))).text
    assert "with a margin ε of 0.9." in said[0.9]
    assert said[0.9].startswith("Passed")
    assert said[0.0].startswith("Not shown")


def test_two_people_are_told_that_three_are_needed() -> None:
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben")):
        built.say(name, "off_topic", [float((n + person) % 10 < 3) for n in range(80)])
    built.say("gpt", "off_topic", [float(n % 10 < 3) for n in range(80)], kind="judge")
    answer = _answer(snapshot_of(_report(built)))
    assert (answer.figure, answer.interval) == ("", "")
    assert answer.text == "The alternative annotator test needs three people; two answered Off topic."
