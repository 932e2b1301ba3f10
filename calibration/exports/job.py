"""Downloads of many labels: written by a worker, kept a while for the person who asked, then removed."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Campaign, Corpus
from calibration.errors import CalibrationError
from calibration.exports import orders
from calibration.exports.kept import KEPT, KIND, is_kept, path_of
from calibration.exports.labels import Download
from calibration.exports.orders import Order
from calibration.exports.parts import Taken
from calibration.exports.writing import Written
from calibration.models import Gold
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

AT_ONCE = 30_000
"""Files of at most this many labels are written while the page waits, in a second or two."""


def labels_or_job(
    *, corpus: Corpus, campaign: Campaign | None, taken: Taken, form: str, notes: bool = False, by: User
) -> Download | Job:
    """Write few labels, or what people noted beside them, at once; start a job for many.

    What is taken out was allowed and logged before.
    """
    what = orders.NOTES if notes else orders.LABELS
    return order_or_job(order=Order(what, corpus, campaign, taken, form), by=by)


def gold_or_job(*, gold: Gold, taken: Taken, form: str, by: User) -> Download | Job:
    """Write the labels of a small gold at once; start a job for a large one."""
    order = Order(orders.GOLD, gold.corpus, gold.campaign, taken, form, gold)
    return order_or_job(order=order, by=by)


def difference_or_job(*, first: Gold, second: Gold, taken: Taken, form: str, by: User) -> Download | Job:
    """Write two small golds side by side at once; start a job for large ones."""
    order = Order(orders.GOLD, first.corpus, first.campaign, taken, form, first, other=second)
    return order_or_job(order=order, by=by)


def order_or_job(*, order: Order, by: User) -> Download | Job:
    """Write a small file at once; start a job for a large one. Raises ExportRefused for what has no file."""
    order.check()
    if order.weight() <= AT_ONCE:
        return orders.send(order=order, by=by)
    what = f"gold {order.gold.pk}" if order.gold else orders.TITLES[order.what]
    what += f" beside gold {order.other.pk}" if order.other else ""
    about = f"{what} of {order.campaign.name if order.campaign else order.corpus.name} as {order.form}"
    part = {"": "", "all": ", dev and test"}.get(order.taken.part, f", {order.taken.part}")
    number = f"{order.corpus.pk}/{order.campaign.pk if order.campaign else '-'}"
    chosen = f", choice {sha256(repr(sorted(order.choice.items())).encode()).hexdigest()[:8]}"
    subject = f"{about[:180]}{part}{chosen if order.choice else ''}, for account {by.pk} ({number})"
    return actions.start(kind=KIND, subject=subject, params=order.params(), by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Write the file that a job describes; its result is {rows, size, sha256}."""
    order = orders.from_params(job.params)
    path = path_of(job)
    unfinished = path.with_suffix(".part")
    try:
        with _private(unfinished) as file:
            written = order.write(Watched(file, progress, order.most()))  # type: ignore[arg-type]
        unfinished.replace(path)
    except CalibrationError as refused:
        raise JobRefused(str(refused)) from refused
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
        "what": told.get("what") or ("gold" if told["gold"] else "labels"),
        "corpus_id": told["corpus"],
        "campaign_id": told["campaign"],
        "gold_id": told["gold"],
        "part": (told.get("choice") or {}).get("part") or told["part"],
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
    what = told.get("what") or orders.LABELS
    return f"{what}-campaign-{told['campaign']}" if told["campaign"] else f"{what}-corpus-{told['corpus']}"


JOB = JobKind(KIND, "Download", run)
