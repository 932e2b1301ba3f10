"""A real worker is killed during trials: they continue where they stopped, and nothing is paid twice."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from django.db.models import Sum

from jobs.models import Call
from suites.continuation.models import Production
from suites.long_dialogue.simulations import simulation_actions
from tests.judges.test_killed_worker import Start, start, until
from tests.suites.continuation.making import served
from tests.suites.long_dialogue.long_talk import world
from tests.suites.long_dialogue.simulating import answers, asks, brought, brought_on, simulate, written

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
TRIALS, KILLS = 2, 3


def slowly(number: int, text: str) -> bool:
    """Refuse nothing, and take some time."""
    time.sleep(0.15)
    return False


def done() -> int:
    return Call.objects.filter(state=Call.State.DONE).count()


def test_a_trial_goes_on_at_the_same_question_after_signal_9(start: Start, tmp_path: Path) -> None:
    asked = brought(world(sessions=24, questions=40, turns=6), tmp_path)
    with served() as model:
        endpoint = model.endpoint()
        alone = simulate(asked, endpoint, trials=TRIALS, name="alone")
        wanted = [[(*one, turn.text) for one, (turn, _) in zip(asks(made), answers(made), strict=True)]
                  for made in written(alone)]  # fmt: skip
        number, before = sum(map(len, wanted)), model.asked
        assert number > 20
        Call.objects.all().delete()
        model.refuses = slowly
        held = simulate(asked, endpoint, trials=TRIALS, rounds=0, name="killed")
        simulation_actions.advance(held.pk)
        under_way = 0
        for kill in range(KILLS):
            worker = start()
            until(lambda reached=(kill + 1) * number // (KILLS + 2): done() >= reached)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            under_way += Call.objects.filter(state=Call.State.LEASED).count()
            so_far = [len(state["answers"]) for state in states()]
            assert sum(so_far) == done() < number
        start()
        until(lambda: not states())
        held = brought_on(held)
        assert (held.state, held.error) == ("done", "")
        told = [[(*one, turn.text) for one, (turn, _) in zip(asks(made), answers(made), strict=True)]
                for made in written(held)]  # fmt: skip
        assert told == wanted
        assert Call.objects.count() == done() == number
        arrived = model.asked - before
        assert number <= arrived <= number + under_way
        took = Call.objects.aggregate(sent=Sum("sent"), asked=Sum("asked"), lost=Sum("lost"))
        assert arrived <= took["sent"] == took["asked"] == number + took["lost"] <= number + under_way


def states() -> list[dict]:
    rows = Production.objects.filter(writer__name="killed").exclude(status="done").order_by("trial")
    return list(rows.values_list("memory", flat=True))
