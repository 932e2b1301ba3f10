"""A judge's cost on a large corpus is estimated from a part of it, regardless of the corpus's size."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Corpus, Import
from jobs.models import Endpoint
from judges.runs import selection
from judges.runs.estimates import Estimate, estimate
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories

pytestmark = pytest.mark.django_db


def _corpus(dialogues: int) -> Corpus:
    corpus = factories.corpus()
    for number in range(dialogues):
        factories.dialogue(corpus, f"d{number}", turns=4)
    counts = {"dialogues": dialogues, "items": 5 * dialogues}
    Import.objects.create(corpus=corpus, format="jsonl", content_hash=corpus.name, counts=counts)
    return corpus


def _estimate(corpus: Corpus, **scope: object) -> Estimate:
    endpoint, _ = Endpoint.objects.get_or_create(name="nobody", base_url="http://127.0.0.1:9/v1", model="m")
    judge = Judge("cpdscore_simple", endpoint=endpoint, variant="without_reference")
    found = estimate(judge, Selection(corpus, **scope))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is looked at is told from four dialogues or tasks."""
    monkeypatch.setattr(selection, "AT_ONCE", 0)
    monkeypatch.setattr(selection, "LOOKED_AT", 4)


def test_calls_are_told_from_some_dialogues(large: None) -> None:
    found = _estimate(_corpus(12), samples=3)
    assert (found.about, found.calls, found.dialogues) == (True, 144, 12)
    assert "about 144 calls" in found.sentence()
    assert "about 12 dialogues" in found.sentence()


def test_calls_of_a_campaign_are_told_from_some_tasks(large: None) -> None:
    corpus = _corpus(12)
    found = _estimate(corpus, campaign=factories.campaign(corpus))
    assert (found.about, found.calls) == (True, 48)


def test_a_part_of_the_tasks_tells_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = _corpus(6)
    campaign = factories.campaign(corpus)
    exact = _estimate(corpus, campaign=campaign)
    monkeypatch.setattr(selection, "AT_ONCE", 0)
    told = _estimate(corpus, campaign=campaign, samples=1)
    assert (told.about, told.calls, told.dialogues) == (True, exact.calls, exact.dialogues)
    assert not exact.about


def test_a_corpus_ten_times_as_large_is_looked_at_with_as_many_queries(large: None) -> None:
    asked = []
    for corpus in (_corpus(3), _corpus(30)):
        with CaptureQueriesContext(connection) as captured:
            _estimate(corpus)
        asked.append([q["sql"] for q in captured if "annotation_" in q["sql"]])
    assert len(asked[0]) >= len(asked[1])
