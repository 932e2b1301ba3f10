"""Counts of large corpora: computed by a worker and kept for the same question, its raters and questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Campaign, Corpus
from calibration.counts.computing import (
    Counts,
    Figures,
    Ground,
    counts_of_figures,
    figures_of,
    ground_of,
    open_test,
)
from calibration.counts.query import PEOPLE, CountsQuery, read
from calibration.errors import CountsRefused
from calibration.kept import is_small, kept_or_job, stamp_of
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KIND = "counts"


def counts_or_job(*, query: CountsQuery, by: User | None, again: bool = False) -> Counts | Job:
    """Return a query's table: of many labels as last computed, or the job that computes it or failed to.

    Raises CountsRefused as `compute` does.
    """
    ground = ground_of(query=query, by=by)
    if is_small(query.scope):
        return counts_of_figures(ground, figures_of(ground))
    kept = kept_or_job(
        kind=KIND,
        subject=_subject(ground),
        stamp=stamp_of(query.scope),
        params=_params(query),
        by=by,
        again=again,
    )
    if isinstance(kept, Job):
        return kept
    counted = set(kept.result["raters"])  # people may have joined since
    raters = tuple(rater for rater in ground.chosen.raters if rater.id in counted) or ground.chosen.raters
    ground = replace(ground, chosen=replace(ground.chosen, raters=raters))
    return counts_of_figures(ground, _adapter().validate_json(kept.result["figures"]), kept)


@transaction.atomic
def counts_on_test(*, query: CountsQuery, by: User | None, purpose: str) -> Counts | Job:
    """Log a look at test and return the counts there, or their job; what is refused at once was no look."""
    open_test(query=query, by=by, purpose=purpose)
    return counts_or_job(query=replace(query, part="test"), by=by)


def _subject(ground: Ground) -> str:
    """Return what a job is about: the query, with the rater and the questions that it names.

    People together are one name: their table stays while more of them join.
    """
    query, chosen = ground.query, ground.chosen
    named = [
        _params(query),
        PEOPLE if chosen.together else chosen.raters[0].id,
        [question.id for question in chosen.questions],
        ground.split.pk if ground.split else None,
        ground.part,
    ]
    key = sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:16]
    rater = PEOPLE if chosen.together else chosen.name
    return f"counts of corpus {query.corpus.pk}, {key}: {rater}"[:300]


def _params(query: CountsQuery) -> dict[str, Any]:
    given = {
        "rater": query.rater,
        "questions": ",".join(query.questions),
        "by": ",".join(query.by),
        "strata": query.strata,
        "per_turns": query.per_turns,
        "samples": query.samples,
        "correction": query.correction,
        "part": query.part,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
    }
    campaign = query.campaign.pk if query.campaign else None
    return {"corpus": query.corpus.pk, "campaign": campaign, "given": given}


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Compute the figures that a job asks for."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    number = job.params["campaign"]
    campaign = Campaign.objects.select_related("corpus").filter(pk=number).first() if number else None
    if corpus is None or (number and campaign is None):
        raise JobRefused("what it counts was deleted")
    try:
        query = read(job.params["given"], corpus, campaign)
        stamp = stamp_of(query.scope)
        ground = ground_of(query=query, by=job.created_by)
        figures = figures_of(ground)
    except CountsRefused as refused:
        raise JobRefused(str(refused)) from refused
    progress(1, 1)
    raters = [rater.id for rater in ground.chosen.raters]
    return {"stamp": stamp, "raters": raters, "figures": _adapter().dump_json(figures).decode()}


@cache
def _adapter() -> TypeAdapter[Figures]:
    from pydantic import TypeAdapter  # a tenth of a second, and most requests need none

    return TypeAdapter(Figures)


JOB = JobKind(KIND, "Behaviour counts", run)
