"""Importing an uploaded file: a job, so that a restart loses nothing and other processes see how far it is.

The import is one transaction, and its outcome is written in it: whatever is killed, a file counts once.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotation.formats import ImportProblem
from annotation.importing import uploads
from annotation.importing.engine import import_path
from annotation.importing.staging import ImportResult
from annotation.models import Upload
from config.permissions import is_researcher
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Import the file that a job names; its result is the counts, or {problems} of a refused file."""
    try:
        result = _import(job, progress)
    except ImportProblem as problem:
        upload = Upload.objects.get(job=job)
        upload.problems = [found.as_dict() for found in problem.all()]
        upload.save(update_fields=["problems"])
        uploads.discard(upload)
        raise JobRefused(str(problem), {"problems": upload.problems}) from problem
    uploads.discard(Upload.objects.get(job=job))
    return result


@transaction.atomic
def _import(job: Job, progress: Progress) -> dict[str, Any]:
    """Import, and write what came of it, in one transaction; another worker on the same upload waits here."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("by").filter(job=job).first()
    if upload is None:
        raise JobRefused("the upload is gone, and so is the account that sent it")
    if upload.result is not None:  # its worker was lost after the last step
        done: dict[str, Any] = upload.result
        return done
    if not is_researcher(upload.by):
        raise JobRefused("the account that sent the file may not import any more")
    path = uploads.stored_file(upload)
    if not path.exists():
        raise JobRefused("the file is not kept any more: send it again")

    def note(done: int, total: int, result: ImportResult) -> None:
        progress(done, total, f"{result.dialogues:,} dialogues" if result.dialogues else "")

    result = import_path(
        path=path,
        format=upload.format,
        corpus=upload.corpus_name,
        into=upload.into,
        by=upload.by,
        scheme=upload.scheme,
        source=upload.source,
        licence=upload.licence,
        sha256=upload.sha256,
        columns=upload.columns,
        settings=upload.file_settings,
        name=upload.file_name,
        progress=note,
    )
    upload.result = {**result.as_answer(), "format": upload.format}
    upload.problems = None
    upload.save(update_fields=["result", "problems"])
    return upload.result


JOB = JobKind(uploads.KIND, "Import of a file", run)
