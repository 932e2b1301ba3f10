"""Starting generation for many dialogues: a job, so that nobody waits in a request while it is begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Corpus, Split
from jobs import actions as jobs
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Endpoint, Job, Run
from judges.runs.selection import RunSettings, settings_from
from systems.producing import actions
from systems.producing.dialogues import Dialogues
from systems.producing.plans import Generation, digest

KIND = "writing"
AT_ONCE = 500
"""Generation for at most so many dialogues is begun while the page waits, in a few seconds."""


def start(
    *,
    by: User | None,
    generation: Generation,
    dialogues: Dialogues,
    trials: int = 1,
    settings: RunSettings | None = None,
) -> Run | Job:
    """Start generation for some dialogues and return its run; start a job for many, whose result names the
    run.

    Raises JobError for what does not fit together, before any job is started.
    """
    plan = generation.plan()
    if dialogues.rows().count() <= AT_ONCE:
        return actions.start(
            by=by, generation=generation, dialogues=dialogues, trials=trials, settings=settings
        )
    told = {
        "generator": generation.generator,
        "endpoint": generation.endpoint.pk,
        "settings": dict(generation.settings),
        "parameters": dict(generation.parameters),
        "name": generation.name,
        "condition": dict(generation.condition),
    }
    how = (settings or RunSettings()).as_json()
    params = {"generation": told, "dialogues": dialogues.as_json(), "trials": trials, "settings": how}
    subject = f"{plan.name[:180]} for {dialogues.corpus.name}, {digest(params)[:8]}"
    return jobs.start(kind=KIND, subject=subject, params=params, by=by)


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Begin what a job names, in one transaction; its result is {run: id}."""
    told = job.params
    try:
        started = actions.start(
            by=job.created_by,
            generation=_generation(told["generation"]),
            dialogues=dialogues_from(told["dialogues"]),
            trials=told["trials"],
            settings=settings_from(told["settings"]),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return {"run": started.pk}


def _generation(told: Mapping[str, Any]) -> Generation:
    endpoint = Endpoint.objects.filter(pk=told["endpoint"], active=True).first()
    if endpoint is None:
        raise JobRefused("its endpoint was taken away")
    return Generation(**{**told, "endpoint": endpoint})


def dialogues_from(told: Mapping[str, Any]) -> Dialogues:
    """Return the selection that `Dialogues.as_json` wrote; raise JobRefused where it is gone."""
    corpus = Corpus.objects.filter(pk=told["corpus"]).first()
    split = Split.objects.filter(pk=told["split"] or 0).first()
    if corpus is None or (told["split"] and split is None):
        raise JobRefused("what it was to go over was deleted")
    return Dialogues(corpus, split, told["part"], told["min_turns"], told["max_turns"], told["first"])


JOB = JobKind(KIND, "Start of generation", run)
