"""Uploaded files: receive, import by a job, and clean up."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import FileResponse, Http404
from django.utils import timezone

from annotation.corpora.import_file import import_path
from annotation.corpora.import_staging import ImportResult
from annotation.corpora.table_readings import choose_reading, not_one_file, recognise_format
from annotation.formats import FORMATS
from annotation.formats.corpus_format import SETTINGS, settings_of
from annotation.formats.folders import MOST_FILES, is_archive, name_together, unpack
from annotation.formats.mapping import check_entries
from annotation.formats.source import PACKED, PARTS, ZIP, ImportProblem, Source, suffix_of
from annotation.models.corpora import Corpus, Upload
from annotation.models.labels import LabelCount
from config.permissions import is_researcher
from jobs import job_actions
from jobs.errors import JobError, JobRefused
from jobs.job_actions import private_folder
from jobs.kinds import JobKind, Progress
from jobs.models.job import Job

# Files waiting for import: received, kept until their import has ended, and deleted.

# Several files sent as one: the parts of a data set, as the command reads them from a folder.

NAME_LIMIT = 200
OVERHEAD = 2**20
"""Bytes of a request beside its files, at most."""

Files: TypeAlias = "Sequence[UploadedFile[Any]]"


def check_names(files: Files) -> None:
    """Refuse several files whose names cannot be those of one folder; raises ImportProblem for `file`."""
    if len(files) < 2:
        return
    if len(files) > MOST_FILES:
        raise ImportProblem(f"{len(files)} files are more than {MOST_FILES}", field="file")
    names = [called(file) for file in files]
    for name in names:
        if suffix_of(name) not in PARTS or len(name.encode()) > NAME_LIMIT:
            raise ImportProblem(
                f"{name[:60]!r} is not a part of a data set: its files end in {' or '.join(PARTS)}",
                field="file",
            )
        if names.count(name) > 1:
            raise ImportProblem(f"{name!r} was sent twice", field="file")


def read_options(files: Files, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an import, as Upload has them, from those that a form or a program sent.

    Either `name` or `into` is set. The format is detected where none is named. Raises ImportProblem.
    """
    mapping = check_entries(sent["mapping"])
    check_names(files)
    format = sent["format"] or recognise(files)
    if len(files) > 1 and not FORMATS[format].folder:
        raise ImportProblem(not_one_file(len(files), format), field="file")
    values = {key: sent.get(key) for key in SETTINGS}
    return {
        "format": format,
        "guessed": not sent["format"],
        "mapping": mapping,
        "file_settings": settings_of(values, format, FORMATS[format].settings),
        "corpus_name": str(sent["into"] or sent["name"]),
        "into": bool(sent["into"]),
        **{name: sent[name] for name in ("scheme", "source", "licence", "sha256")},
    }


def is_too_large(content_length: str) -> bool:
    """Whether the body of a request, by its header, is larger than any file that may be sent."""
    return not content_length.isdecimal() or int(content_length) > settings.UPLOAD_LIMIT_BYTES + OVERHEAD


def called(file: UploadedFile[Any]) -> str:
    """Return an uploaded file's name, without any folder."""
    return Path(file.name or "upload").name


def together(files: Files) -> str:
    """Return a common name for the files."""
    return name_together([called(file) for file in files])


def first(files: Files) -> UploadedFile[Any]:
    """Return the file whose beginning determines the format: the first .json file, as in a folder."""
    return min(files, key=lambda file: (not called(file).endswith(".json"), called(file)))


@contextmanager
def on_disk(files: Files) -> Iterator[Path]:
    """Hold the files on disk for a while: one file, or a folder of several."""
    with tempfile.TemporaryDirectory(prefix="concord-import-") as place:
        path = Path(place) / "sent"
        write(files, path)
        yield path


def recognise(files: Files) -> str:
    """Return the format of the files; raises ImportProblem."""
    with on_disk(files) as path:
        return recognise_format(Source(path, name=together(files)))


def is_packed(files: Files) -> bool:
    """Whether the content of a file is larger than the file: an archive, a workbook, a Parquet file."""
    return any(_begins_with(file, PACKED) for file in files)


def _begins_with(file: UploadedFile[Any], marks: bytes | tuple[bytes, ...]) -> bool:
    start = file.read(4)
    file.seek(0)
    return bool(start.startswith(marks))


def size(files: Files) -> int:
    """Return how many bytes the files have together."""
    return sum(file.size or 0 for file in files)


def write(files: Files, place: Path) -> None:
    """Write one file as `place`, several and those of an archive into a new folder of that name.

    What an upload that was rolled back left there is replaced. Raises ImportProblem for an archive that
    cannot be unpacked.
    """
    _remove(place)
    if len(files) == 1:
        if _begins_with(files[0], ZIP):
            with tempfile.TemporaryDirectory(prefix="concord-import-") as folder:
                packed = Path(folder) / "sent"
                _write(files[0], packed)
                if is_archive(packed):
                    unpack(packed, place)
                    return
        _write(files[0], place)
        return
    place.mkdir(mode=0o700)
    for file in files:
        _write(file, place / called(file))


def _write(file: UploadedFile[Any], place: Path) -> None:
    with place.open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)


KIND = "import"
NOT_IMPORTED_FOR = timedelta(days=1)
"""Retention of a file that was sent and not imported."""
RETENTION = timedelta(days=7)
"""Retention of the rows left out, and of the file of a cancelled or failed import, which can be repeated."""
UNKNOWN_FOR = 3600.0
"""Seconds after which a file that belongs to no import is deleted: a younger one may be just arriving."""


def folder() -> Path:
    """Return the folder of waiting files, created at first use and private."""
    return private_folder("uploads")


def stored_file(upload: Upload) -> Path:
    """Return the path of an upload's content, until its import has ended: a file, or a folder of several."""
    return folder() / str(upload.pk)


def left_out_file(upload: Upload) -> Path | None:
    """Return the file with the rows that an import left out; None where it left out none, or long ago."""
    return next(folder().glob(f"{upload.pk}.left-out.*"), None)


def left_out_response(upload: Upload) -> FileResponse:
    """Return the rows that an import left out as a download; raises Http404 where they are not kept."""
    file = left_out_file(upload)
    if file is None:
        raise Http404
    media_type = "text/csv" if file.suffix == ".csv" else "application/x-ndjson"
    name = f"{Path(upload.file_name).stem[:100]}.left-out{file.suffix}"
    return FileResponse(file.open("rb"), content_type=media_type, as_attachment=True, filename=name)


def content_hash(upload: Upload) -> str:
    """Return the SHA-256 of an upload's content."""
    return Source(stored_file(upload)).content_hash()


@transaction.atomic
def keep(*, by: User, files: Files, **options: Any) -> Upload:
    """Store files until they are imported, with options of their import, such as a name from the file's."""
    options = {"corpus_name": propose_name(called(first(files)))} | options
    upload = Upload.objects.create(
        by=by, file_name=together(files)[:300], total_bytes=size(files), **{"guessed": True} | options
    )
    write(files, stored_file(upload))
    return upload


def propose_name(file_name: str) -> str:
    """Return a name for a new corpus: that of the file, with a number where a corpus has it already."""
    stem = file_name.partition(".")[0] or file_name
    name = "".join(letter if letter.isprintable() and letter != "/" else " " for letter in stem).strip()[:90]
    name = name or "corpus"
    names = (name, *(f"{name} {number}" for number in range(2, 1000)))
    existing = set(Corpus.objects.filter(name__startswith=name).values_list("name", flat=True))
    return next((candidate for candidate in names if candidate not in existing), "")


def revise(*, upload: Upload, **options: Any) -> None:
    """Change the options of an import that was not started."""
    for name, value in options.items():
        setattr(upload, name, value)
    upload.save(update_fields=list(options))


@transaction.atomic
def start(*, upload: Upload, by: User, **options: Any) -> None:
    """Start the import of a stored file, with these options; nothing happens where it was started before."""
    if Upload.objects.select_for_update().get(pk=upload.pk).job_id is not None:
        return
    revise(upload=upload, **options)
    subject = f"upload {upload.pk}: {upload.file_name} into {upload.corpus_name}"[:300]
    upload.job = job_actions.start(kind=KIND, subject=subject, params={"upload": upload.pk}, by=by)
    upload.save(update_fields=["job"])


@transaction.atomic
def receive(*, by: User, files: Files, **options: Any) -> Upload:
    """Store files with their import options (`format`, `corpus_name`, ...), and start their import."""
    upload = keep(by=by, files=files, **options)
    start(upload=upload, by=by)
    return upload


OPTIONS = (
    *("format", "guessed", "mapping", "file_settings", "corpus_name", "into"),
    *("scheme", "source", "licence"),
)
"""Options for the import of a corrected file: all but the SHA-256, which is another."""


def options_of(upload: Upload) -> dict[str, Any]:
    """Return the options of an import, for the import of a corrected file."""
    return {name: getattr(upload, name) for name in OPTIONS}


def corpus_to_rate(upload: Upload) -> Corpus | None:
    """Return the corpus of an ended import, if it has items that no campaign and no label is about."""
    if upload.state != "done" or not (upload.result or {}).get("items"):
        return None
    labelled = LabelCount.objects.values("corpus")
    return Corpus.objects.filter(name=upload.corpus_name, campaigns=None).exclude(pk__in=labelled).first()


def waiting_uploads() -> QuerySet[Upload]:
    """Return the uploads whose import was not started."""
    return Upload.objects.filter(job=None, result__isnull=True, problems__isnull=True)


def can_be_repeated(upload: Upload) -> bool:
    """Whether an import was cancelled or failed without fault of its file, which still exists."""
    return upload.state in (Job.State.CANCELLED, Job.State.FAILED) and stored_file(upload).exists()


def repeat(*, upload: Upload, by: User) -> Upload:
    """Queue a cancelled or failed import again. Raises JobError where that is impossible."""
    if upload.job is None or not can_be_repeated(upload):
        raise JobError("this import cannot be done again: send the file again")
    job_actions.retry(job=upload.job, by=by)
    return upload


def cancel(*, upload: Upload, by: User) -> None:
    """Cancel an import: nothing of the file is stored. A file that was not imported yet is deleted."""
    if upload.job is not None:
        job_actions.cancel(job=upload.job, by=by)
    elif upload.state == "waiting":
        discard(upload)
        upload.delete()


def discard(upload: Upload) -> None:
    """Remove the stored file of an import that has ended."""
    _remove(stored_file(upload))


def clear() -> int:
    """Remove stored files that are no longer needed; return how many. Workers call it every few seconds."""
    waiting_uploads().filter(created_at__lt=timezone.now() - NOT_IMPORTED_FOR).delete()
    for file in folder().glob("*.left-out.*"):
        if _is_old(file, RETENTION.total_seconds()):
            _remove(file)
    files = [file for file in folder().iterdir() if file.name.isdecimal() and _is_old(file)]
    if not files:
        return 0
    waiting = Q(job__state__in=job_actions.ACTIVE) | Q(job__finished_at__gt=timezone.now() - RETENTION)
    waiting |= Q(job=None)
    open_ended = Upload.objects.filter(waiting, result__isnull=True, problems__isnull=True)
    needed = set(open_ended.values_list("pk", flat=True))
    gone = [file for file in files if int(file.name) not in needed]
    for file in gone:
        _remove(file)
    return len(gone)


def _remove(file: Path) -> None:
    """Remove a stored file, or a folder of several."""
    if file.is_dir():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


def _is_old(file: Path, seconds: float = UNKNOWN_FOR) -> bool:
    try:
        return time.time() - file.stat().st_mtime > seconds
    except FileNotFoundError:  # another worker removed it
        return False


# Import of an uploaded file: a job, so that a restart loses nothing and other processes see its progress.
#
# The import is one transaction that includes its outcome: whatever is killed, a file counts once.


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Import the file of a job; the result is the counts, or {problems} of a refused file."""
    try:
        result = _import(job, progress)
    except ImportProblem as problem:
        upload = Upload.objects.get(job=job)
        upload.problems = [fault.as_dict() for fault in problem.all()]
        upload.save(update_fields=["problems"])
        discard(upload)
        raise JobRefused(str(problem), {"problems": upload.problems, "total": problem.total}) from problem
    discard(Upload.objects.get(job=job))
    return result


@transaction.atomic
def _import(job: Job, progress: Progress) -> dict[str, Any]:
    """Import, and store the outcome, in one transaction; another worker on the same upload waits here."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("by").filter(job=job).first()
    if upload is None:
        raise JobRefused("the upload is gone, and so is the account that sent it")
    if upload.result is not None:  # its worker was lost after the last step
        done: dict[str, Any] = upload.result
        return done
    if not is_researcher(upload.by):
        raise JobRefused("the account that sent the file may not import any more")
    path = stored_file(upload)
    if not path.exists():
        raise JobRefused("the file is not kept any more: send it again")

    def note(done: int, total: int, result: ImportResult) -> None:
        progress(done, total, f"{result.dialogues:,} dialogues" if result.dialogues else "")

    result = _import_from(path, upload, progress=note, left_out=folder() / f"{upload.pk}.left-out")
    upload.result = {**result.as_answer(), "format": upload.format}
    upload.problems = None
    upload.save(update_fields=["result", "problems"])
    return upload.result


def import_now(*, by: User, files: Files, **fields: Any) -> ImportResult:
    """Import small files while the program waits: they are on disk for as long as that takes."""
    with on_disk(files) as path:
        return _import_from(path, Upload(by=by, file_name=together(files), **fields))


def _import_from(path: Path, upload: Upload, **options: Any) -> ImportResult:
    origin = Source(path, name=upload.file_name, settings=upload.file_settings)
    try:
        reading = choose_reading(origin, format=upload.format, mapping=upload.mapping)
    except ImportProblem as problem:
        raise problem.placed(file=upload.file_name) from None
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
        mapping=reading.mapping,
        settings=reading.settings,
        name=upload.file_name,
        **options,
    )
    result.mapping = reading.mapping
    result.notes = [*reading.notes, *result.notes]
    return result


JOB = JobKind(KIND, "Import of a file", run)
