"""Counts of calls on pages are kept by triggers, and lists are read from the nearer end."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from config.lists import LongPaginator
from jobs import runs
from jobs.models import Call, CallCount, Endpoint, Run
from jobs.progress import progress
from judges.runs.plans import Judge
from tests import factories
from tests.judges.helpers import begin

pytestmark = pytest.mark.django_db
_PER_STATE = """
SELECT run_id, state, {} FROM {} GROUP BY 1, 2
"""
_RECOUNT = _PER_STATE.format(
    "count(*), count(*) FILTER (WHERE flags <> '[]'),"
    " count(*) FILTER (WHERE state = 'failed' OR error <> ''), coalesce(sum(tokens_in), 0),"
    " coalesce(sum(tokens_out), 0), count(cost), coalesce(sum(cost), 0), count(latency_ms),"
    " coalesce(sum(latency_ms), 0), coalesce(sum(asked), 0), count(*) FILTER (WHERE cached),"
    " coalesce(sum(saved), 0), coalesce(sum(sent), 0), coalesce(sum(lost), 0)",
    "jobs_call",
)
_KEPT = _PER_STATE.format(", ".join(f"sum({name})" for name in runs.SUMS), "jobs_callcount")


def assert_exact() -> None:
    """What is kept equals a recount."""
    with connection.cursor() as cursor:
        cursor.execute(_RECOUNT)
        counted = set(cursor.fetchall())
        cursor.execute(f"{_KEPT} HAVING sum(n) <> 0")
        assert set(cursor.fetchall()) == counted


@pytest.fixture
def run() -> Run:
    corpus = factories.corpus("talks")
    for number in range(6):
        factories.dialogue(corpus, f"d{number}", turns=2)
    return begin(corpus, Judge("rules_baseline"))


def _finish(run: Run, calls: list[int]) -> None:
    run.calls.filter(pk__in=calls).update(
        state="done",
        tokens_in=7,
        tokens_out=3,
        cost=Decimal("0.25"),
        latency_ms=40,
        flags=["odd"],
        finished_at="2026-01-01T00:00:00Z",
    )


def test_calls_are_counted_through_their_whole_life(run: Run) -> None:
    ids = list(run.calls.order_by("pk").values_list("pk", flat=True))
    run.calls.filter(pk__in=ids[:3]).update(state="leased", lease_expires="2026-01-01T00:00:00Z")
    assert_exact()
    _finish(run, ids[:2])
    run.calls.filter(pk=ids[2]).update(state="failed", error="no", lease_expires=None)
    assert_exact()
    runs.cancel(by=None, run=run)
    runs.retry_failed(by=None, run=run)
    assert_exact()
    runs.compact_call_counts()
    assert_exact()
    run.calls.filter(pk__in=ids[:1]).delete()
    assert_exact()
    run.delete()
    assert not CallCount.objects.exists()


def test_a_heartbeat_adds_no_row(run: Run) -> None:
    run.calls.update(state="leased", lease_expires="2026-01-01T00:00:00Z")
    before = CallCount.objects.count()
    run.calls.update(lease_expires="2026-01-02T00:00:00Z")
    assert CallCount.objects.count() == before


def test_progress_says_what_the_calls_took(run: Run) -> None:
    assert progress(run).cost is None
    _finish(run, list(run.calls.order_by("pk").values_list("pk", flat=True))[:2])
    state = progress(run)
    assert (state.total, state.done, state.pending, state.flagged) == (6, 2, 4, 2)
    assert (state.tokens_in, state.tokens_out, state.cost, state.latency_ms) == (14, 6, Decimal("0.5"), 40.0)


def test_where_no_completion_came_nothing_was_spent_and_without_prices_nobody_knows(run: Run) -> None:
    endpoint = Endpoint.objects.create(name="e", base_url="http://localhost/v1", model="m")
    calls = run.calls.all()
    run = Run.objects.create(
        corpus=run.corpus, kind=run.kind, queue=run.queue, rater=run.rater, endpoint=endpoint
    )
    calls.update(run=run)
    assert progress(run).cost == 0
    run.calls.update(state="done", asked=1, latency_ms=40, finished_at="2026-01-01T00:00:00Z")
    assert progress(run).cost is None


@pytest.mark.parametrize("page", ["1", "100000"])
def test_the_page_of_a_run_counts_no_calls(client: Client, run: Run, page: str) -> None:
    client.force_login(factories.user(researcher=True))
    with CaptureQueriesContext(connection) as asked:
        found = client.get(reverse("run", args=[run.pk]), {"show": "all", "page": page})
    assert found.content.decode().count('scope="row"') == 6
    counting = [q["sql"] for q in asked if 'FROM "jobs_call"' in q["sql"] and "COUNT(" in q["sql"]]
    assert all('"finished_at" >=' in statement for statement in counting)


def test_long_lists_are_read_from_the_nearer_end(run: Run) -> None:
    ids = list(run.calls.order_by("pk").values_list("pk", flat=True))
    pages = LongPaginator(run.calls.order_by("pk"), 4, many=6)
    with CaptureQueriesContext(connection) as asked:
        assert [call.pk for call in pages.get_page(2)] == ids[4:]
    assert "OFFSET" not in asked[0]["sql"]
    assert [call.pk for call in pages.get_page(1)] == ids[:4]
    assert [call.pk for call in pages.get_page(99)] == ids[4:]
    assert list(LongPaginator(Call.objects.none().order_by("pk"), 4, many=0).get_page(1)) == []
