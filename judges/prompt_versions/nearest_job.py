"""Embedding what the nearest examples are found by: a job, so that no web process loads a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Continuation, Item
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.models import Job
from jobs.queue.progress import Progress
from judges.errors import JudgeError
from judges.material.loading import load
from judges.prompt_versions import nearest, texts
from judges.rating.cases import case_of

KIND = "nearest"


def start(*, by: User | None, item: Item, whole: bool, spec: Mapping[str, Any]) -> Job:
    """Let the examples nearest to an item be found for a judge of this spec; return the job that does it.

    One that failed is returned as it is: it is done again from the list of jobs.
    """
    digest = spec["wording"]
    subject = f"{item.key}, for the examples of the text {digest[:12]}"[:300]
    last = Job.objects.filter(kind=KIND, subject=subject).order_by("-pk").first()
    if last is not None and last.state == Job.State.FAILED:
        return last
    params = {
        "digest": digest,
        "continuation": item.continuation_id,
        "item": None if whole else item.pk,
        "shows": spec.get("shows"),
    }
    return actions.start(kind=KIND, subject=subject, by=by, params=params)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Embed what a text's examples and an item are about; the result is {texts: how many}."""
    told = job.params
    continuation = told["continuation"]
    if not Continuation.objects.filter(pk=continuation).exists():
        raise JobRefused("the continuation that it was to be asked about was deleted")
    shows = {} if told["shows"] is None else {"shows": told["shows"]}
    case = case_of(load({continuation})[continuation], told["item"], shows)
    try:
        found = nearest.embed(texts.of_digest(told["digest"]), case)
    except JudgeError as error:
        raise JobRefused(str(error)) from error
    progress(found, found, "embedded")
    return {"texts": found}


JOB = JobKind(KIND, "Nearest examples", run)
