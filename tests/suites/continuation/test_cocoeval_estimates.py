"""Estimates for CoCoEval's continuations, before any call."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Corpus
from jobs.models import Endpoint
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import Estimate, estimate
from tests import factories

pytestmark = pytest.mark.django_db
INSTANCES = 300


@pytest.fixture
def benchmark() -> Corpus:
    """300 instances of the paper's shape: turns that come to 50 tokens each, and 4,000 tokens a prompt."""
    corpus = factories.corpus("shape")
    lines = [{"text": "word " * 28 + "again"} for _ in range(30)]
    for number in range(INSTANCES):
        made = factories.dialogue(corpus, f"d{number}", turns=0, metadata={"task_goal": "goal " * 1890})
        factories.continuation(made, "self", system="human", turns=lines)
    return corpus


def estimated(corpus: Corpus, **settings: Any) -> Estimate:
    endpoint = Endpoint.objects.get_or_create(name="e", base_url="http://127.0.0.1:9", model="m")[0]
    plan = Generation("cocoeval_continuation", endpoint, settings).plan()
    return estimate(plan, Dialogues(corpus))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("per_call", "calls", "tokens_in"), [(1, 30, 36e6), (5, 6, 7.2e6)])
def test_the_estimate_of_the_papers_benchmark(
    benchmark: Corpus, per_call: int, calls: int, tokens_in: float
) -> None:
    found = estimated(benchmark, turns_per_call=per_call)
    assert (found.productions, found.calls) == (INSTANCES, INSTANCES * calls)
    assert found.tokens_in == pytest.approx(tokens_in, rel=0.05)
    assert found.tokens_new == pytest.approx(450_000, rel=0.05)
    copied = 5 / per_call
    assert found.tokens_out == pytest.approx((1 + copied) * 50 * 30 * INSTANCES, rel=0.05)
    assert f"{found.tokens_new:,} of them anew" in found.sentence()
    assert found.as_json()["tokens_new"] == found.tokens_new


def test_without_copies_everything_is_new() -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus, "d0")
    found = estimated(corpus, copy=0, turns_per_call=5)
    assert found.calls == 6
    assert found.tokens_new <= found.tokens_out < found.tokens_new + 6 * 10
