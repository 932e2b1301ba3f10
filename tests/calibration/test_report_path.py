"""A report passes through few files, so the code is easy to follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from calibration.studies import study_actions as studies
from config.settings import BASE_DIR
from tests.calibration.world import World, world
from tests.judges.test_call_path import ROOMS, traced

pytestmark = pytest.mark.django_db

MOST = 40
"""Files that read labels, compute and render a report: of calibration, without the coefficients."""
MOST_OF_ALL = 75
"""With the coefficients of a tag and a scale, and the frame of every page; without models and config."""


@pytest.fixture
def rated() -> World:
    """A tag and a scale, answered by three people, a judge and a metric."""
    built = world(dialogues=8, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, (name, kind) in enumerate(
        [("ann", "human"), ("ben", "human"), ("cid", "human"), ("gpt", "judge")]
    ):
        built.say(name, "tag", [float((n + (n % (3 + place) == 0)) % 2) for n in range(16)], kind=kind)
        built.say(name, "quality", [float(1 + (n * 7 + n % (2 + place)) % 5) for n in range(16)], kind=kind)
    built.say("bleu", "quality", [float(1 + n % 5) for n in range(16)], kind="metric")
    return built


def test_a_report_passes_from_its_labels_to_its_page_through_few_files(
    rated: World, researcher: Client
) -> None:
    pages = [
        reverse("report", args=[study.pk])
        for study in (
            studies.create(name=name, corpus=rated.corpus, definition={"resamples": n}, by=None)
            for name, n in (("first", 40), ("second", 50))
        )
    ]
    assert researcher.get(pages[0]).status_code == 200, "what is loaded once is no part of its path"
    files: set[str] = set()
    with traced(files):
        assert researcher.get(pages[1]).status_code == 200
    paths = {Path(file).relative_to(BASE_DIR) for file in files if file.startswith(f"{BASE_DIR}/")}
    own = sorted(str(path) for path in paths if path.parts[0] in ROOMS[1:] and "models" not in path.parts)
    assert len(own) <= MOST_OF_ALL, own
    rooms = [path for path in own if path.startswith("calibration/") and "/statistics/" not in path]
    assert len(rooms) <= MOST, rooms
