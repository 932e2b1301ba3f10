"""Figures that take long: a worker computes them, and they are shown until newer ones are there."""

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

# Figures that take long: a worker computes them; they are shown with their time until newer ones are there.
#
# What is small is computed while the page waits; `is_small` says which that is.

ENDED_CALLS = ", ended calls "
"""In a stamp, between that of the labels and the numbers of calls."""
SMALL = 20_000
"""Labels of a corpus or campaign up to which its figures are computed while the page waits."""


@dataclass(frozen=True)
class CachedFigures:
    """Figures as plain JSON, their time, and the job of newer ones.

    `labels_since` says whether labels have come since or no longer count, `calls_since` whether calls of
    judges or metrics have ended: figures tell of them what failed and what is doubtful.
    """

    result: Mapping[str, Any]
    at: datetime
    labels_since: bool
    job: Job | None
    calls_since: bool = False


def is_small(scope: Scope) -> bool:
    """Whether figures of a scope are computed while the page waits."""
    n = labels.total_labels(scope.counts()).n
    if scope.campaign is not None:
        n += labels.total_labels(scope.machine_counts()).n
    return n <= SMALL


def stamp_of(scope: Scope) -> str:
    """Return a short text that changes whenever labels of a scope do, or calls to rate its corpus end."""
    ended = (Call.State.DONE, Call.State.FAILED)
    calls = CallCount.objects.filter(run__corpus=scope.corpus, run__rater__isnull=False, state__in=ended)
    by_state = dict(calls.values_list("state").annotate(Sum("n")))
    return f"{scope.stamp()}{ENDED_CALLS}{'/'.join(str(by_state.get(state, 0)) for state in ended)}"


def kept_or_job(
    *,
    kind: str,
    subject: str,
    stamp: str,
    params: Mapping[str, Any],
    by: User | None,
    again: bool = False,
    follows: bool = True,
) -> CachedFigures | Job:
    """Return the last figures of a subject, else the job that computes them: under way, or failed.

    `stamp` is of the labels of now, `subject` names none of them: while labels arrive, no figures would be of
    all of them. Newer figures are computed where they are asked for `again`, and by themselves where labels
    have come since and the kind `follows` them. What failed is not tried with the same labels otherwise. The
    result of a job of the kind has the `stamp` of what it read.
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
