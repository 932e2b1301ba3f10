"""Making a question set of a large corpus: a job, because that takes longer than a page waits."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.errors import QuestionsRefused
from annotation.models import Corpus, Turn
from annotation.question_sets import actions
from annotation.records import SELF
from jobs import actions as jobs
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "questions"
AT_ONCE = 2_000
"""Scripts of at most so many own turns together are done while the page waits."""


def subject(corpus: Corpus) -> str:
    """Return what a job of a corpus is about: one at a time."""
    return f"corpus {corpus.pk}: questions of {corpus.name}"[:300]


def make(
    *, corpus: Corpus, name: str, seed: int, policy: str, presence: bool, by: User | None
) -> actions.Made | Job:
    """Make a question set at once where the corpus is small, else start a job. Raises QuestionsRefused."""
    told: dict[str, Any] = {"name": name, "seed": seed, "policy": policy, "presence": presence}
    own = Turn.objects.filter(
        continuation__key=SELF,
        continuation__dialogue__corpus=corpus,
        continuation__dialogue__script__isnull=False,
    )
    if own[: AT_ONCE + 1].count() <= AT_ONCE:
        return actions.make(corpus=corpus, by=by, **told)
    actions.checked(corpus, name, seed, policy)
    return jobs.start(kind=KIND, subject=subject(corpus), params=told | {"corpus": corpus.pk}, by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Make the set that a job names; its result is the counts. Done twice, it counts once."""
    told = dict(job.params)
    corpus = Corpus.objects.filter(pk=told.pop("corpus")).first()
    if corpus is None:
        raise JobRefused("the corpus was deleted")
    try:
        return actions.make(corpus=corpus, by=job.created_by, progress=progress, **told).as_json()
    except QuestionsRefused as error:
        raise JobRefused(str(error)) from error


JOB = JobKind(KIND, "Making of questions", run)
