"""The files that large downloads were written to: where they are, how long they are kept, and their end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from annotation.models import Campaign, Corpus
from calibration.models import Gold
from jobs.actions import private_folder
from jobs.models import Job

KIND = "export"
KEPT = timedelta(days=7)
"""For so long a file is kept for the person who asked for it."""


def folder() -> Path:
    """Return the folder of files that were written, made at first use and private."""
    return private_folder("exports")


def path_of(job: Job) -> Path:
    """Return where the file of a job is."""
    return folder() / str(job.pk)


def is_kept(job: Job) -> bool:
    """Whether the person who asked is still there, what the file speaks of too, and its time not over."""
    return job.pk in _kept([job])


def _kept(jobs: Iterable[Job]) -> set[int]:
    active, ended = set[int](), []
    for job in jobs:
        if job.active:
            active.add(job.pk)
        elif job.created_by_id and job.finished_at and job.finished_at > timezone.now() - KEPT:
            ended.append(job)
    for name, model in (("corpus", Corpus), ("campaign", Campaign), ("gold", Gold)):
        named = {job.params[name] for job in ended} - {None}
        there = {None, *model._default_manager.filter(pk__in=named).values_list("pk", flat=True)}
        ended = [job for job in ended if job.params[name] in there]
    return active | {job.pk for job in ended}


def clear() -> int:
    """Remove files whose time is over or that nobody may have any more. Workers call it every few seconds."""
    files = list(_files())
    if not files:
        return 0
    numbers = {int(file.stem) for file in files}
    kept = _kept(Job.objects.filter(pk__in=numbers, kind=KIND))
    gone = [file for file in files if int(file.stem) not in kept]
    for file in gone:
        file.unlink(missing_ok=True)
    return len(gone)


def _files() -> Iterator[Path]:
    return (file for file in folder().iterdir() if file.stem.isdecimal())
