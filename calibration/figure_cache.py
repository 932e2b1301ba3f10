"""Cache of slow figures: computed by a worker, and shown until newer ones are ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Sum

from annotation.work import labels
from calibration.ratings.scope import Scope
from jobs import job_actions
from jobs.models import Call, CallCount, Job

# Slow figures: computed by a worker, and shown with their time until newer ones are ready.
#
# Small ones (`is_small`) are computed within the request.

ENDED_CALLS = ", ended calls "
"""Separates the stamp of the labels from the numbers of calls."""
SMALL = 20_000
"""Largest number of labels for which figures are computed within the request."""


@dataclass(frozen=True)
class CachedFigures:
    """Figures as JSON data, their time, and the job of newer ones.

    `labels_since` is whether labels have changed since, `calls_since` whether calls of judges or metrics have
    ended: figures report failed and doubtful calls.
    """

    result: Mapping[str, Any]
    at: datetime
    labels_since: bool
    job: Job | None
    calls_since: bool = False


def is_small(scope: Scope) -> bool:
    """Whether figures of a scope are computed within the request."""
    n = labels.total_labels(scope.counts()).n
    if scope.campaign is not None:
        n += labels.total_labels(scope.machine_counts()).n
    return n <= SMALL


def stamp_of(scope: Scope) -> str:
    """Return a short text that changes when a scope's labels do, or when a rating call in its corpus ends."""
    ended = (Call.State.DONE, Call.State.FAILED)
    calls = CallCount.objects.filter(run__corpus=scope.corpus, run__rater__isnull=False, state__in=ended)
    by_state = dict(calls.values_list("state").annotate(Sum("n")))
    return f"{scope.stamp()}{ENDED_CALLS}{'/'.join(str(by_state.get(state, 0)) for state in ended)}"


def cached_or_job(
    *,
    kind: str,
    subject: str,
    stamp: str,
    params: Mapping[str, Any],
    by: User | None,
    again: bool = False,
    follows: bool = True,
) -> CachedFigures | Job:
    """Return the last figures of a subject, else the job that computes them: active, or failed.

    `stamp` describes the current labels; `subject` does not, because while labels arrive no figures would
    cover all of them. Newer figures are computed if `again` requests them, and automatically if labels have
    changed and the kind `follows` them. A failed job is otherwise not retried with the same labels. The
    result of each job holds the `stamp` of the labels that it read.
    """
    jobs = Job.objects.filter(kind=kind, subject=subject)
    done = jobs.filter(state=Job.State.DONE).first()
    last = jobs.first()
    if done is not None and not again and (done.result["stamp"] == stamp or not follows):
        return _cached_figures(done, stamp, None if last == done else last)
    is_failed = last is not None and last.state != Job.State.DONE and last.params["stamp"] == stamp
    if last is None or not (last.active or (is_failed and not again)):
        last = job_actions.start(kind=kind, subject=subject, params={**params, "stamp": stamp}, by=by)
    return last if done is None else _cached_figures(done, stamp, last)


def _cached_figures(done: Job, stamp: str, newer: Job | None) -> CachedFigures:
    assert done.finished_at is not None, "a job that is done has ended"
    before, now = (text.partition(ENDED_CALLS) for text in (done.result["stamp"], stamp))
    labels_since, calls_since = before[0] != now[0], before[2] != now[2]
    return CachedFigures(done.result, done.finished_at, labels_since, newer, calls_since)
