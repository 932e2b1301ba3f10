"""Plans that take a while: computed by a worker, with progress that any process can read.

A plan of a small pilot is computed while the page waits. A larger one is a job, which keeps its answer.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.contrib.auth.models import User

from calibration.errors import CalibrationError
from calibration.kept import kept_or_job
from calibration.models import Study
from calibration.plans.answer import PlanAnswer, answer_of
from calibration.plans.computing import compute, pilot_of, ranks_items
from calibration.plans.pilot import Choices
from calibration.plans.query import PlanQuery
from calibration.reading.scope import of_study
from calibration.statistics import Ratings
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "plan"
FEW_LABELS = 15_000
"""A pilot of at most this many labels is read while the page waits,"""
FEW_CLUSTERS = {"width": 250, "power": 130}
"""and a plan computed from at most so many dialogues: about a second;"""
FEW_RANKED = 150
"""where each resample ranks its items anew, from at most so many items."""


def plan_or_job(*, study: Study, query: PlanQuery, by: User | None, again: bool = False) -> PlanAnswer | Job:
    """Compute a plan at once where it is small; of a larger one return the last, else the job it waits for.

    The last one stays while labels arrive, and says so, until a new one is asked for `again`. Raises
    PlanRefused or DefinitionError.
    """
    subject = _subject(study, query)
    if not Job.objects.filter(kind=KIND, subject=subject).exists():
        choices = Choices(study)
        if choices.n_labels(choices.question(query.question)) <= FEW_LABELS:
            asked, ratings = pilot_of(study=study, query=query, choices=choices, by=by)
            if is_quick(query, ratings):
                return compute(study=study, query=query, choices=choices, asked=asked, ratings=ratings)
    params = {"study": study.pk, "query": asdict(query)}
    stamp = of_study(study).stamp()
    kept = kept_or_job(
        kind=KIND, subject=subject, stamp=stamp, params=params, by=by, again=again, follows=False
    )
    if isinstance(kept, Job):
        return kept
    answer = answer_of(kept.result["plan"])
    return replace(answer, pay=query.pay, computed_at=kept.at, labels_since=kept.labels_since)


def newer_job(study: Study, query: PlanQuery) -> Job | None:
    """Return the job that computes a newer plan than the last finished one, or that failed to."""
    last = Job.objects.filter(kind=KIND, subject=_subject(study, query)).first()
    return None if last is None or last.state == Job.State.DONE else last


def is_quick(query: PlanQuery, ratings: Ratings) -> bool:
    """Whether a plan is computed while the page waits."""
    if ratings.n_clusters > FEW_CLUSTERS[query.goal]:
        return False
    return ratings.n_items <= FEW_RANKED or not ranks_items(query, ratings)


def _subject(study: Study, query: PlanQuery) -> str:
    return f"study {study.pk}, {query.part}, {query.key(study)}: {study.name}"[:300]


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute the plan that a job asks for; its result is {plan: the answer, stamp}."""
    study = Study.objects.select_related("corpus", "campaign__corpus").filter(pk=job.params["study"]).first()
    if study is None:
        raise JobRefused("the study was deleted")
    query = PlanQuery(**job.params["query"])
    stamp = of_study(study).stamp()
    try:
        choices = Choices(study)
        asked, ratings = pilot_of(study=study, query=query, choices=choices, by=job.created_by)
        found = compute(
            study=study, query=query, choices=choices, asked=asked, ratings=ratings, told=progress
        )
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"plan": found.as_dict(), "stamp": stamp}


JOB = JobKind(KIND, "Plan", run)
