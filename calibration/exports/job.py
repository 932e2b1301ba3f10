"""Downloads of many labels: written by a worker, kept a while for the person who asked, then removed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Campaign, Corpus, Split
from calibration.exports.kept import KEPT, KIND, is_kept, path_of
from calibration.exports.labels import Download, labels, stream
from calibration.exports.parts import Taken
from calibration.exports.writing import ExportQuery, Written, write
from calibration.gold import difference as gold_difference
from calibration.gold import export as gold_export
from calibration.models import Gold
from calibration.reading.scope import scope_of
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.models import Job
from jobs.queue.progress import Progress

AT_ONCE = 30_000
"""Files of at most this many labels are written while the page waits, in a second or two."""


def labels_or_job(
    *, corpus: Corpus, campaign: Campaign | None, taken: Taken, form: str, by: User
) -> Download | Job:
    """Write few labels at once; start a job for many. What is taken out was allowed and logged before."""
    scope = scope_of(corpus, campaign)
    if scope.most() > AT_ONCE:
        return _start(corpus=corpus, campaign=campaign, gold=None, taken=taken, form=form, by=by)
    query = labels(scope, taken)
    return stream(query=query, form=form, corpus=corpus, part=taken.part, campaign=campaign, by=by)


def gold_or_job(*, gold: Gold, taken: Taken, form: str, by: User) -> Download | Job:
    """Write the labels of a small gold at once; start a job for a large one."""
    if gold.n <= AT_ONCE:
        return gold_export.download(gold=gold, taken=taken, form=form, by=by)
    return _start(corpus=gold.corpus, campaign=gold.campaign, gold=gold, taken=taken, form=form, by=by)


def difference_or_job(*, first: Gold, second: Gold, taken: Taken, form: str, by: User) -> Download | Job:
    """Write two small golds side by side at once; start a job for large ones."""
    if first.n + second.n <= AT_ONCE:
        return gold_difference.download(first=first, second=second, taken=taken, form=form, by=by)
    gold_difference.shared_questions(first, second)
    about: dict[str, Any] = {"corpus": first.corpus, "campaign": first.campaign, "gold": first}
    return _start(**about, other=second, taken=taken, form=form, by=by)


def _start(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    gold: Gold | None,
    other: Gold | None = None,
    taken: Taken,
    form: str,
    by: User,
) -> Job:
    params = {
        "corpus": corpus.pk,
        "campaign": campaign.pk if campaign else None,
        "gold": gold.pk if gold else None,
        "split": taken.split.pk if taken.split else None,
        "part": taken.part,
        "form": form,
    }
    what = f"gold {gold.pk}" if gold else "labels"
    if other is not None:
        params["other"] = other.pk
        what = f"{what} beside gold {other.pk}"
    about = f"{what} of {campaign.name if campaign else corpus.name} as {form}"
    part = {"": "", "all": ", dev and test"}.get(taken.part, f", {taken.part}")
    number = f"{corpus.pk}/{campaign.pk if campaign else '-'}"
    subject = f"{about[:200]}{part}, for account {by.pk} ({number})"
    return actions.start(kind=KIND, subject=subject, params=params, by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Write the file that a job describes; its result is {rows, size, sha256}."""
    query, total = _query(job)
    path = path_of(job)
    unfinished = path.with_suffix(".part")
    try:
        with _private(unfinished) as file:
            written = write(query, job.params["form"], Watched(file, progress, total))  # type: ignore[arg-type]
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return {"rows": written.rows, "size": written.size, "sha256": written.sha256}


class Watched:
    """A file that tells how far it is with every block, in lines."""

    def __init__(self, file: IO[bytes], progress: Progress, total: int) -> None:
        self.file, self.progress, self.total, self.lines = file, progress, total, 0

    def write(self, block: bytes) -> int:
        """Write a block, and stop where the job is to stop."""
        self.lines += block.count(b"\n")
        self.progress(max(0, min(self.lines, self.total - 1)), self.total)
        return self.file.write(block)


def _query(job: Job) -> tuple[ExportQuery, int]:
    """Return what a job writes, and about how many rows that is."""
    told = job.params
    corpus = Corpus.objects.filter(pk=told["corpus"]).first()
    campaign = Campaign.objects.select_related("corpus").filter(pk=told["campaign"]).first()
    gold = Gold.objects.select_related("corpus", "campaign").filter(pk=told["gold"]).first()
    split = Split.objects.filter(pk=told["split"]).first()
    other = Gold.objects.filter(pk=told.get("other")).first()
    found = {"campaign": campaign, "gold": gold, "other": other, "split": split}
    if corpus is None or any(told.get(name) and found[name] is None for name in found):
        raise JobRefused("what it was to be written from was deleted")
    taken = Taken(split, told["part"])
    if gold is not None and other is not None:
        return gold_difference.query(gold, other, taken), gold.n + other.n
    if gold is not None:
        return gold_export.query(gold, taken), gold.n
    scope = scope_of(corpus, campaign)
    return labels(scope, taken), scope.most()


def _private(path: Path) -> IO[bytes]:
    """Open a new file that nobody else may read."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def of_person(person: User, corpus: Corpus) -> QuerySet[Job]:
    """Return what a person asked for of a corpus that waits, runs or is kept, the latest first."""
    asked = Job.objects.filter(kind=KIND, created_by=person, params__corpus=corpus.pk).order_by("-pk")
    return asked.exclude(state=Job.State.DONE, finished_at__lte=timezone.now() - KEPT)


def download(job: Job) -> Download | None:
    """Return the file of a job, ready to be sent as one that was just written; None where it is gone."""
    told, result = job.params, job.result
    if job.state != Job.State.DONE or not is_kept(job):
        return None
    try:
        file = path_of(job).open("rb")
    except FileNotFoundError:
        return None
    about = {
        "corpus_id": told["corpus"],
        "campaign_id": told["campaign"],
        "gold_id": told["gold"],
        "part": told["part"],
        "created_by": job.created_by,
    }
    return Download(file, Written(result["rows"], result["size"], result["sha256"]), told["form"], about)


def name_of(job: Job) -> str:
    """Return how browsers save the file of a job, without its ending."""
    told = job.params
    if told.get("other"):
        return f"gold-{told['gold']}-and-{told['other']}"
    if told["gold"]:
        return f"gold-{told['gold']}"
    return f"labels-campaign-{told['campaign']}" if told["campaign"] else f"labels-corpus-{told['corpus']}"


JOB = JobKind(KIND, "Download of labels", run)
