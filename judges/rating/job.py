"""Starting runs over a large corpus: a job, so that nobody waits in a request while their calls are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora import reading as browsing
from annotation.models import Campaign, Corpus, Split
from jobs import actions
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Endpoint, Job, Run
from judges.errors import JudgeError
from judges.rating import actions as rating
from judges.rating.metric_plans import check_keys, metric_plan, metric_plans
from judges.rating.plans import MOST_SAMPLES, Judge, RaterPlan
from judges.rating.selection import Selection, open_or_refuse
from judges.rating.settings import RunSettings, settings_from

KIND = "starting"
AT_ONCE = 20_000
"""Runs over a corpus of at most this many items are started while the page waits, in a few seconds."""


def start_judge(
    *,
    by: User | None,
    judge: Judge,
    selection: Selection,
    settings: RunSettings | None = None,
    open_test: str = "",
) -> Run | Job:
    """Start a judge over a small corpus and return its run; start a job for a larger one.

    `open_test` is the reason for opening test for this judge, where the run covers it. Raises JobError for
    what does not fit together, before any job is started.
    """
    plan = judge.plan(selection.campaign)
    if _is_small(selection.corpus):
        return rating.start(by=by, plan=plan, selection=selection, settings=settings, open_test=open_test)
    open_or_refuse(rater=plan.rater, selection=selection, by=by, reason=open_test)
    if not 1 <= selection.samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    told = asdict(judge) | {"endpoint": judge.endpoint.pk if judge.endpoint else None}
    about = f"rater {plan.rater.pk}, {plan.rater.name}"
    how = (settings or RunSettings()).as_json()
    return _job(by, about, selection, {"judge": told | {"shows": list(judge.shows)}, "settings": how})


def start_metrics(*, by: User | None, keys: Sequence[str], selection: Selection) -> list[Run] | list[Job]:
    """Start metrics over a small corpus and return their runs; start a job for each over a larger one.

    Raises JudgeError for a key that there is none of, before any job is started.
    """
    if _is_small(selection.corpus):
        plans = metric_plans(keys, selection.corpus)
        return [rating.start(by=by, plan=plan, selection=selection) for plan in plans]
    check_keys(keys)
    return [_job(by, key, selection, {"metric": key}) for key in keys]


def _is_small(corpus: Corpus) -> bool:
    return browsing.counts([corpus])[corpus.pk]["items"] <= AT_ONCE


def _job(by: User | None, about: str, selection: Selection, what: Mapping[str, Any]) -> Job:
    subject = f"{about[:180]} over {selection.corpus.name}, selection {selection.digest()[:8]}"
    return actions.start(kind=KIND, subject=subject, params={**what, "scope": selection.as_json()}, by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the run that a job names, or resume it where an earlier attempt had started it.

    All calls are made in one transaction, so one whose worker was lost leaves none. Its result is {run: id}.
    """
    selection = _selection(job.params["scope"])
    try:
        started = rating.start(
            by=job.created_by,
            plan=_plan(job.params, selection),
            selection=selection,
            settings=settings_from(job.params.get("settings", {})),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return {"run": started.pk}


def _selection(told: Mapping[str, Any]) -> Selection:
    """Return the selection that `Selection.as_json` wrote."""
    corpus = Corpus.objects.filter(pk=told["corpus"]).first()
    campaigns = Campaign.objects.select_related("corpus", "scheme_version__scheme")
    campaign = campaigns.filter(pk=told["campaign"]).first()
    split = Split.objects.filter(pk=told.get("split") or 0).first()
    if corpus is None or (told["campaign"] and campaign is None) or (told.get("split") and split is None):
        raise JobRefused("what it was to go over was deleted")
    systems = tuple(told["systems"])
    return Selection(
        corpus, campaign, systems, told["include_self"], told["samples"], split, told.get("part", "")
    )


def _plan(params: Mapping[str, Any], selection: Selection) -> RaterPlan:
    if "metric" in params:
        return metric_plan(params["metric"], selection.corpus)
    told = _with_parameters(params["judge"])
    endpoint = Endpoint.objects.filter(pk=told["endpoint"], active=True).first()
    if told["endpoint"] and endpoint is None:
        raise JobRefused("its endpoint was taken away")
    return Judge(**told | {"endpoint": endpoint, "shows": tuple(told["shows"])}).plan(selection.campaign)


def _with_parameters(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a judge as a job tells it; one queued by an earlier version has two parameters of its own."""
    older = {name: told[name] for name in ("temperature", "max_tokens") if name in told}
    rest = {name: value for name, value in told.items() if name not in older}
    return {"parameters": older, **rest}


JOB = JobKind(KIND, "Start of a run", run)
