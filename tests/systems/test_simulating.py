"""A simulation: sessions are summed up, texts embedded, questions asked, and all of it once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.models import Label, QuestionSet
from systems.models import Production, Simulation
from tests.systems.long_talk import world
from tests.systems.making import Served, served
from tests.systems.simulating import answers, brought, simulate, written

pytestmark = pytest.mark.django_db(transaction=True)
MATERIAL = world(sessions=8, questions=14, turns=6)


@pytest.fixture
def model() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> QuestionSet:
    return brought(MATERIAL, tmp_path)


def test_a_simulation_asks_a_model_trial_by_trial(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), trials=2, memory="session")
    assert (held.state, held.error) == ("done", "")
    asked.refresh_from_db()
    assert asked.used_at is not None
    trials = written(held)
    assert [one.trial for one in trials] == [0, 1]
    assert all(one.condition["set"] == "usual:1" for one in trials)
    number = sum(len(answers(one)) for one in trials)
    assert model.asked == number > 8
    assert Label.objects.filter(rater__name="score:strict", question__key="right").count() == number
    assert Production.objects.filter(status="done").count() == 2
    again = simulate(asked, held.endpoint, trials=2, memory="session")
    assert (again.pk, model.asked) == (held.pk, number)
    assert Simulation.objects.count() == 1
