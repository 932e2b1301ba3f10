"""A stored report is verified against its labels: equal digits, or the places that differ."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from calibration.models import Report
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Six dialogues rated by three people and a judge."""
    built = world(dialogues=6, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for place, (name, kind) in enumerate([("ann", "human"), ("ben", "human"), ("gpt", "judge")]):
        built.say(name, "quality", [float(1 + (n + n // (3 + place)) % 3) for n in range(12)], kind=kind)
    return built


def _verified(*arguments: str) -> str:
    out = io.StringIO()
    call_command("study", "--corpus", "talks", "--verify", *arguments, stdout=out)
    return out.getvalue()


def test_the_same_labels_give_the_same_digits(rated: World) -> None:
    rated.report()
    said = _verified()
    assert said.startswith("The report of Corpus talks (all, ")
    assert "figures, all digits the same. scikit-learn gives the same " in said
    assert said.endswith("values of kappa and MCC.\n")
    assert Report.objects.count() == 1


@pytest.mark.exhaustive
def test_a_digit_that_differs_is_named_with_its_place(rated: World) -> None:
    report = rated.report()
    value = report.result["questions"][0]["panel"][0]["value"]
    report.result["questions"][0]["panel"][0]["value"] = value + 1e-15 + abs(value) * 1e-15
    report.save()
    with pytest.raises(CommandError, match=r"differs in 1 places:\n  questions\[0\]\.panel\[0\]\.value was"):
        _verified()


def test_labels_that_came_since_leave_nothing_to_compare_with(rated: World) -> None:
    rated.report()
    rated.say("dee", "quality", [1.0] * 12)
    with pytest.raises(CommandError, match="labels, definition or split changed"):
        _verified()


def test_without_a_report_there_is_nothing_to_verify(rated: World) -> None:
    with pytest.raises(CommandError, match="has no report on all yet"):
        _verified()
