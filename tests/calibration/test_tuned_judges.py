"""Sentences about judges need at least one."""

from __future__ import annotations

import pytest

from calibration.reports import sentences
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


@pytest.mark.exhaustive
def test_only_a_report_with_a_judge_warns_of_tuned_judges(rated: World) -> None:
    assert not [text for text in sentences.caveats(rated.snapshot()) if "judge" in text]
    rated.say("gpt", "quality", VALUES, kind="judge")
    assert [
        text for text in sentences.caveats(rated.snapshot()) if "a judge tuned on these dialogues" in text
    ]
