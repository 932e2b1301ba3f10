"""Deleting a large corpus: a job, so that nobody waits in a request and a restart loses nothing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from annotation.corpora import reading as browsing
from annotation.deletion import purging
from annotation.models import Corpus
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "deletion"
AT_ONCE = 20_000
"""A corpus of at most this many turns is deleted while the page waits, in two or three seconds."""


def delete_corpus(*, corpus: Corpus, by: User, confirmation: str) -> dict[str, int] | Job:
    """Delete a small corpus and return how many rows went, by table; start a job for a larger one.

    Raises what `deleting.delete_corpus` raises, before any job is started.
    """
    if browsing.counts([corpus])[corpus.pk]["turns"] <= AT_ONCE:
        return purging.delete_corpus(corpus=corpus, by=by, confirmation=confirmation)
    purging.check(by, confirmation, corpus.name)
    params = {"corpus": corpus.pk}
    return actions.start(kind=KIND, subject=_subject(corpus), params=params, by=by)


def under_way(corpus: Corpus) -> Job | None:
    """Return the job that deletes a corpus, None where there is none."""
    return actions.active_job(KIND, _subject(corpus))


def _subject(corpus: Corpus) -> str:
    return f"corpus {corpus.pk}: {corpus.name}"


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Delete the corpus that a job names; its result is {deleted: rows by table}."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    if corpus is None:
        return {"deleted": {}}  # its worker was lost after the last step
    if job.created_by is None:
        raise JobRefused("the account that asked for it is gone: an administrator must ask again")
    try:
        gone = purging.delete_corpus(
            corpus=corpus, by=job.created_by, confirmation=corpus.name, progress=progress
        )
    except PermissionDenied:
        raise JobRefused("the person who asked for it is no longer an administrator") from None
    except purging.StillUsed as used:
        raise JobRefused(f"it is still used: {used}") from used
    return {"deleted": gone}


JOB = JobKind(KIND, "Deletion of a corpus", run)
