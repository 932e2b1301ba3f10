"""A report on many judges ranks them in sentences; sentences about judges need at least one."""

from __future__ import annotations

import pytest

from calibration.reports import sentences
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
VALUES = [float(1 + (n * 7) % 5) for n in range(20)]


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Twenty dialogues rated by two people."""
    built = world(dialogues=20, turns=1)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    built.say("ann", "quality", VALUES)
    built.say("ben", "quality", [min(5.0, v + (n % 4 == 0)) for n, v in enumerate(VALUES)])
    return built


def _result(built: World) -> Snapshot:
    return snapshot_of(studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None))


def test_many_judges_are_ranked_and_not_listed_as_they_came(rated: World) -> None:
    for number in range(6):  # each later judge errs less
        wrong = 12 - 2 * number
        given = [6 - v if n < wrong else v for n, v in enumerate(VALUES)]
        rated.say(f"judge {number}", "quality", given, kind="judge")
    answers = sentences.lede(_result(rated))
    (ranking,) = [answer for answer in answers if answer.title.startswith("Which judge")]
    assert ranking.figure == "judge 5"
    assert "of 6 judges: judge 5 " in ranking.text
    assert "last is judge 0 with" in ranking.text
    shown = [answer.title for answer in answers if answer.title.endswith(" with people")]
    assert shown == ["judge 5 with people", "judge 4 with people", "judge 3 with people"]


@pytest.mark.exhaustive
def test_only_a_report_with_a_judge_warns_of_tuned_judges(rated: World) -> None:
    assert not [text for text in sentences.caveats(_result(rated)) if "judge" in text]
    rated.say("gpt", "quality", VALUES, kind="judge")
    assert [text for text in sentences.caveats(_result(rated)) if "a judge tuned on these dialogues" in text]


def test_the_answer_about_an_interval_scale_is_spearman_s(rated: World) -> None:
    rated.ask("minutes", "interval", wording="Minutes")
    for name, kind in (("ann", "human"), ("ben", "human"), ("gpt", "judge")):
        rated.say(name, "minutes", [v + len(name) for v in VALUES], kind=kind)
    answer = next(a for a in sentences.lede(_result(rated)) if a.title == "gpt with people")
    assert answer.text.startswith("Spearman’s rank correlation on Minutes")
