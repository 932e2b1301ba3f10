"""Plans that take a while: computed by a worker, with progress that any process can read.

A plan of a small pilot is computed while the page waits. A larger one is a job, which keeps its answer.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.contrib.auth.models import User

from calibration.errors import CalibrationError
from calibration.models import Study
from calibration.plans.answer import PlanAnswer, answer_of
from calibration.plans.computing import compute, pilot_of, ranks_items
from calibration.plans.pilot import Choices
from calibration.plans.query import PlanQuery
from calibration.statistics import Ratings
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.models import Job
from jobs.queue.progress import Progress

KIND = "plan"
FEW_LABELS = 15_000
"""A pilot of at most this many labels is read while the page waits,"""
FEW_CLUSTERS = {"width": 250, "power": 130}
"""and a plan computed from at most so many dialogues: about a second;"""
FEW_RANKED = 150
"""where each resample ranks its items anew, from at most so many items."""


def plan_or_job(*, study: Study, query: PlanQuery, by: User | None) -> PlanAnswer | Job:
    """Compute a plan at once where it is small, else return its job: the one that has it, or a new one.

    Raises PlanRefused or DefinitionError.
    """
    kept = _kept(study, query)
    if kept is not None:
        done = kept.state == Job.State.DONE
        return replace(answer_of(kept.result["plan"]), pay=query.pay) if done else kept
    choices = Choices(study)
    if choices.n_labels(choices.question(query.question)) > FEW_LABELS:
        return start(study=study, query=query, by=by)
    asked, ratings = pilot_of(study=study, query=query, choices=choices, by=by)
    if not is_quick(query, ratings):
        return start(study=study, query=query, by=by)
    return compute(study=study, query=query, choices=choices, asked=asked, ratings=ratings)


def is_quick(query: PlanQuery, ratings: Ratings) -> bool:
    """Whether a plan is computed while the page waits."""
    if ratings.n_clusters > FEW_CLUSTERS[query.goal]:
        return False
    return ratings.n_items <= FEW_RANKED or not ranks_items(query, ratings)


def _kept(study: Study, query: PlanQuery) -> Job | None:
    """Return the newest job of the same question about the same labels; one that failed is made again."""
    found = Job.objects.filter(kind=KIND, subject=_subject(study, query)).first()
    if found is None or found.state in (Job.State.FAILED, Job.State.CANCELLED):
        return None
    return found


def start(*, study: Study, query: PlanQuery, by: User | None) -> Job:
    """Start computing in the background and return the job; one at a time per question."""
    params = {"study": study.pk, "query": asdict(query)}
    return actions.start(kind=KIND, subject=_subject(study, query), params=params, by=by)


def _subject(study: Study, query: PlanQuery) -> str:
    return f"study {study.pk}, {query.part}, {query.key(study)}: {study.name}"[:300]


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute the plan that a job asks for; its result is {plan: the answer}."""
    study = Study.objects.select_related("corpus", "campaign__corpus").filter(pk=job.params["study"]).first()
    if study is None:
        raise JobRefused("the study was deleted")
    query = PlanQuery(**job.params["query"])
    try:
        choices = Choices(study)
        asked, ratings = pilot_of(study=study, query=query, choices=choices, by=job.created_by)
        found = compute(
            study=study, query=query, choices=choices, asked=asked, ratings=ratings, told=progress
        )
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"plan": found.as_dict()}


JOB = JobKind(KIND, "Plan", run)
