"""A real worker is killed repeatedly while a hundred continuations are written, one turn per call."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.models import Count

from annotation.models import Continuation, Corpus
from jobs.models import Call
from suites.continuation.models import Production
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of
from tests.judges.test_killed_worker import Start, start, until

__all__ = ["start"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
DIALOGUES, TURNS, KILLS = 100, 30, 5


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    """A fake model that counts what it is asked."""
    with FakeLLM() as model:
        yield model


def corpus_of() -> Corpus:
    corpus = factories.corpus()
    for number in range(DIALOGUES):
        made = factories.dialogue(corpus, f"d{number:03}", turns=6)
        first = made.continuations.get(key="self").turns.get(position=5)
        first.text = f"this is meeting {number}"
        first.save()
    return corpus


class Poller(threading.Thread):
    """A reader who looks at what is there again and again, and notes every length that is not the asked
    one."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.looks = 0
        self.seen: Counter[int] = Counter()

    def run(self) -> None:
        written = Continuation.objects.filter(production__isnull=False)
        while not self.ended.wait(0.05):
            self.looks += 1
            for length in written.annotate(n=Count("turns")).values_list("n", flat=True):
                self.seen[length] += 1
        connection.close()


def test_every_turn_is_written_once_and_nothing_half_made_is_ever_seen(fake: FakeLLM, start: Start) -> None:
    fake.delay = 0.02
    endpoint = endpoint_of(fake, concurrency=16)
    generation = Generation(
        "cocoeval_continuation", endpoint, {"turns_per_call": 1, "turns": TURNS, "copy": 0}
    )
    run = production_actions.start(by=None, generation=generation, dialogues=Dialogues(corpus_of()))
    total = DIALOGUES * TURNS
    assert run.expected == total
    poller = Poller()
    poller.start()

    def done() -> int:
        return run.calls.filter(state=Call.State.DONE).count()

    held = 0
    for number in range(KILLS):
        worker = start()
        until(lambda reached=(number + 1) * total // (KILLS + 2): done() >= reached)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        held += run.calls.filter(state=Call.State.LEASED).count()
    start()
    until(lambda: Production.objects.filter(status="done").count() == DIALOGUES)
    poller.ended.set()
    poller.join()
    asked = fake.requests.total()
    assert total <= asked <= total + held, f"{asked - total} steps were paid twice, {held} were held at kills"
    assert held > 0
    lengths = Continuation.objects.filter(production__run=run).annotate(n=Count("turns"))
    assert set(lengths.values_list("n", flat=True)) == {TURNS}
    assert lengths.count() == DIALOGUES
    assert run.calls.count() == total
    assert poller.looks > 10
    assert set(poller.seen) == {TURNS}
