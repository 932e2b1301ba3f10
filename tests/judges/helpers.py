"""A corpus with planted behaviours, and a run over it."""

from __future__ import annotations

from typing import Any

from annotation.models import Corpus
from jobs import runs
from jobs.asking.outcomes import Counts
from jobs.asking.slices import work
from jobs.models import Call, Endpoint, Run
from jobs.queue.heartbeat import Heart
from judges.rating import actions as rating
from judges.rating.plans import Judge
from judges.rating.selection import Selection
from tests import factories
from tests.fake_llm import FakeLLM


def endpoint_of(fake: FakeLLM, **fields: Any) -> Endpoint:
    fields = {
        "name": "fake",
        "model": "fake-1",
        "price_in": 1,
        "price_out": 10,
        "timeout_s": 5,
        "allow_private": True,
    } | fields
    return Endpoint.objects.create(base_url=fake.url, **fields)


def small_corpus(dialogues: int = 2, turns: int = 6) -> Corpus:
    """Dialogues with one continuation by `secret-model`; every second turn repeats, one is off topic."""
    corpus = factories.corpus()
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        lines = [
            {"text": f"line {number}.{i} {'{repetition}' if i % 2 else '{quality 4}'}"} for i in range(turns)
        ]
        factories.continuation(dialogue, "c", system="secret-model", turns=lines)
    return corpus


def begin(corpus: Corpus, judge: Judge, **scope: Any) -> Run:
    return rating.start(by=None, plan=judge.plan(), selection=Selection(corpus, **scope))


def finish(queue: str = "calls", seconds: float = 20) -> Counts:
    """Work on the queue until nothing is ready, as a worker does."""
    with Heart(queue) as heart:
        return work(queue, seconds=seconds, heart=heart)


def finish_all() -> None:
    """Work until nothing is ready, however often calls wait for what others will have taken."""
    for _ in range(20):
        Call.objects.update(not_before=None)
        if not finish().runs and not Run.objects.filter(state__in=runs.ACTIVE).exists():
            return
    raise AssertionError("the run goes on and on")
