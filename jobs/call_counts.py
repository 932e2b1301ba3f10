"""What the calls of runs come to, read from what triggers keep (`CallCount`) and never by counting calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Sum

from config.models import Tally
from jobs.errors import ERROR_KINDS
from jobs.models import Call, CallCount, Run

SUMS = (
    *("n", "flagged", "troubled", "tokens_in", "tokens_out", "costed", "cost", "timed", "latency_ms"),
    *("asked", "cached", "saved", "sent", "lost"),
)
TALLY = Tally(table="jobs_callcount", keys=("run_id", "state", "error_kind"), sums=SUMS)
compact_call_counts = TALLY.compact


def by_state(runs: Iterable[Run]) -> dict[int, dict[str, int]]:
    """Return per run id how many calls are in each state."""
    found: dict[int, dict[str, int]] = {}
    rows = CallCount.objects.filter(run__in=list(runs)).values_list("run", "state")
    for run, state, n in rows.annotate(Sum("n")):
        found.setdefault(run, {})[state] = n
    return found


def failures(run: Run) -> dict[str, int]:
    """Return how many calls of a run failed, by their error kind, in the order of the table of kinds.

    Calls that failed before kinds were kept are under ''.
    """
    rows = CallCount.objects.filter(run=run, state=Call.State.FAILED).values_list("error_kind")
    found: dict[str, int] = dict(rows.annotate(Sum("n")))
    return {kind: found[kind] for kind in (*ERROR_KINDS, "") if found.get(kind)}


def of_run(run: Run) -> dict[str, Any]:
    """Return the sums over all calls of a run, and per state their number (`states`)."""
    counts = CallCount.objects.filter(run=run).values("state").annotate(**{name: Sum(name) for name in SUMS})
    rows: list[dict[str, Any]] = [dict(row) for row in counts]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in SUMS}
    return total | {"states": {row["state"]: row["n"] for row in rows}}
