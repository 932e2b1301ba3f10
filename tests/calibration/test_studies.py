"""A study's report equals the library's results on the same ratings."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, Record, analyse, ratings_from_records
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Twelve dialogues of five turns, rated by ann, ben and a judge on 1 to 5."""
    built = world(dialogues=12, turns=5)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    draw = np.random.default_rng(7)
    truth = draw.integers(1, 6, size=60)
    for name, kind in (("ann", "human"), ("ben", "human"), ("gpt", "judge")):
        noisy = np.clip(truth + draw.integers(-1, 2, size=60), 1, 5)
        built.say(name, "quality", [float(v) for v in noisy], kind=kind)
    return built


def _by_hand(built: World) -> Ratings:
    records = [
        Record(
            item=label.item.key,
            rater=label.rater.name,
            value=label.number,
            cluster=label.item.continuation.dialogue.cluster,
            kind=label.rater.kind,
        )
        for label in built.questions["quality"].labels.order_by("pk")
    ]
    return ratings_from_records(records, level="ordinal", values=(1, 2, 3, 4, 5))


@pytest.mark.exhaustive
def test_a_report_holds_the_numbers_of_the_library_on_the_same_ratings(rated: World) -> None:
    report = studies.compute(study=studies.automatic(corpus=rated.corpus), part="all", by=None)
    (question,) = report.result["questions"]
    told = {(e["name"], tuple(e["raters"])): e["value"] for e in question["panel"] + question["pairs"]}
    alone = analyse(_by_hand(rated), plan=Plan())
    assert told
    for (name, raters), value in told.items():
        entry = alone.find(name, raters)
        assert entry is not None
        assert value == entry.result.value


def test_the_same_labels_give_the_same_report(rated: World) -> None:
    study = studies.automatic(corpus=rated.corpus)
    first = studies.compute(study=study, part="all", by=None)
    assert studies.compute(study=study, part="all", by=None) == first
    assert not studies.is_stale(first)


@pytest.mark.exhaustive
def test_a_new_label_makes_a_report_stale_and_a_new_one(rated: World) -> None:
    study = studies.automatic(corpus=rated.corpus)
    first = studies.compute(study=study, part="all", by=None)
    rated.say("cem", "quality", [1.0, 2.0])
    assert studies.is_stale(first)
    second = studies.compute(study=study, part="all", by=None)
    assert second != first
    assert second.inputs_hash != first.inputs_hash
