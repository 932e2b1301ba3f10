"""Imports of uploaded files: the file is stored, a row tells how far its import is, a thread does it.

The import itself is one transaction; progress is written through a connection of its own, so that others see
it. An import that was cut off (the process died) leaves nothing behind but its row and file, and can be
resumed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.utils import timezone

from annotation.importing import ImportProblem, ImportResult, import_path
from annotation.importing.engine import Progress
from annotation.models import Upload

STALE = timedelta(minutes=2)
EVERY = 0.5
INTERRUPTED = "the import was interrupted and left nothing behind: import the file again"
logger = logging.getLogger(__name__)


def folder() -> Path:
    """Return the folder of files that wait, made at first use and private."""
    path = Path(settings.HOME) / "uploads"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def stored_file(upload: Upload) -> Path:
    """Return where an upload's content is, until its import has ended."""
    return folder() / str(upload.pk)


@transaction.atomic
def receive(*, by: User, file: UploadedFile[Any], **fields: Any) -> Upload:
    """Store an uploaded file with what is to be done with it (`format`, `corpus_name`, `into`, ...)."""
    name = (file.name or "upload")[:300]
    upload = Upload.objects.create(by=by, file_name=name, total_bytes=file.size or 0, **fields)
    with stored_file(upload).open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    return upload


def start(*, upload: Upload) -> None:
    """Import in a thread of this process, once the row is committed; it ends with the process, resumably."""
    worker = threading.Thread(target=_work_and_close, args=(upload.pk,), daemon=True)
    transaction.on_commit(worker.start)


def is_stale(upload: Upload) -> bool:
    """Whether an import has given no sign of life for so long that it must have been cut off."""
    unfinished = upload.state in (Upload.State.WAITING, Upload.State.RUNNING)
    return unfinished and timezone.now() - upload.beat > STALE


def resume(*, upload: Upload) -> None:
    """Import an upload that was cut off; safe where it still runs, because imports know their content."""
    Upload.objects.filter(pk=upload.pk, state=Upload.State.RUNNING).update(
        state=Upload.State.WAITING, beat=timezone.now()
    )
    start(upload=upload)


def _work_and_close(key: int) -> None:
    try:
        work(key)
    finally:
        connection.close()


def work(key: int) -> None:
    """Import a waiting upload; does nothing where another has taken it."""
    waiting = Upload.objects.filter(pk=key, state=Upload.State.WAITING)
    if not waiting.update(state=Upload.State.RUNNING, beat=timezone.now()):
        return
    upload = Upload.objects.select_related("by").get(pk=key)
    upload.state = Upload.State.REFUSED
    upload.problem = {"file": upload.file_name, "line": None, "field": "", "reason": INTERRUPTED}
    try:
        result = _import(upload)
        upload.state, upload.problem = Upload.State.DONE, None
        upload.result = {**result.as_dict(), "unchanged": result.unchanged, "notes": result.notes}
        upload.done_bytes = upload.total_bytes
    except ImportProblem as problem:
        upload.problem = problem.as_dict()
    finally:
        upload.save(update_fields=["state", "problem", "result", "done_bytes"])
        stored_file(upload).unlink(missing_ok=True)


def _import(upload: Upload) -> ImportResult:
    with _progress(upload.pk) as progress:
        return import_path(
            path=stored_file(upload),
            format=upload.format,
            corpus=upload.corpus_name,
            into=upload.into,
            by=upload.by,
            scheme=upload.scheme,
            source=upload.source,
            licence=upload.licence,
            name=upload.file_name,
            progress=progress,
        )


@contextmanager
def _progress(key: int) -> Iterator[Progress]:
    """Write progress to the row at most twice a second, outside the import's transaction."""
    outside = connection.copy()
    last = 0.0

    def note(done: int, total: int, result: ImportResult) -> None:
        nonlocal last
        if monotonic() - last < EVERY and done < total:
            return
        last = monotonic()
        with outside.cursor() as cursor:
            cursor.execute(
                "UPDATE annotation_upload SET done_bytes = %s, total_bytes = %s, dialogues = %s, beat = now()"
                " WHERE id = %s",
                [done, total, result.dialogues, key],
            )

    try:
        yield note
    finally:
        outside.close()
