"""Downloads: requested exports, written in the background and kept for a limited time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import orjson
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from annotation.formats.wide_ratings import PARTS, rater_column
from annotation.models import Split, Turn
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from calibration.errors import CalibrationError, ExportRefused
from calibration.exports import labels as label_export
from calibration.exports import notes as note_export
from calibration.exports.dialogues import dialogue_lines, selected_dialogues
from calibration.exports.labels import Download, labels
from calibration.exports.packages import PACKAGES, Contents
from calibration.exports.parts import ExportPart, check_exclusion, without_excluded
from calibration.exports.transcripts import FORMS, Sheet, of_part, sheet
from calibration.exports.writing import (
    Blocks,
    Bundle,
    Column,
    ExportQuery,
    FileSummary,
    Hashed,
    RowTable,
    jsonl_blocks,
    text_of,
    write,
    write_blocks,
)
from calibration.gold import difference as gold_difference
from calibration.gold import export as gold_export
from calibration.models import Gold
from calibration.ratings.scope import Scope, scope_of
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.job_actions import private_folder
from jobs.kinds import JobKind, Progress
from jobs.models.job import Job
from jobs.tables import Table

ROW_COLUMNS = (
    Column("item", ""),
    Column("dialogue", ""),
    Column("continuation", ""),
    Column("system", ""),
    Column("turn", "", "integer"),
    Column("turn_number", "", "integer"),
    Column("text", ""),
    Column("question", ""),
    Column("scheme", ""),
    Column("level", ""),
    Column("values", ""),
    Column("group", ""),
    Column("sample", "", "integer"),
    Column("occasion", ""),
    Column("campaign", ""),
    Column("cluster", ""),
    Column("members", ""),
    Column("part", ""),
    Column("fake_model", "", "boolean"),
)
"""Columns that the labels of a row share."""
JSON = ("values", "members", "evidence", "order")
SHARED = [column.name for column in ROW_COLUMNS]

Row = dict[str, Any]


@dataclass(frozen=True)
class _Raters:
    """Columns of the raters in a table: for each name its kind, and the parts that any of its labels has."""

    kinds: dict[str, tuple[str, bool]] = field(default_factory=dict)
    parts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, label: Mapping[str, Any]) -> None:
        name = label["rater"]
        self.kinds[name] = label["kind"], label["identified"]
        self.parts.setdefault(name, set()).update(part for part in PARTS if label[part])

    def column(self, name: str, part: str = "") -> str:
        return rater_column(name, *self.kinds[name], part)

    def columns(self) -> Iterator[Column]:
        for name in sorted(self.kinds):
            yield Column(self.column(name), "", "value")
            for part in PARTS:
                if part in self.parts[name]:
                    yield Column(self.column(name, part), "")


def wide_labels(scope: Scope, export_part: ExportPart | None = None) -> RowTable:
    """Return the labels of a scope with a column for each rater; all are read before the first row."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the last row)
    for block in jsonl_blocks(labels(scope, export_part, with_text=True)):
        file.write(block)
    raters = _Raters()
    for label in _read(file):
        raters.add(label)
    return RowTable((*ROW_COLUMNS, *raters.columns()), _rows(file, raters))


def _read(file: IO[bytes]) -> Iterator[Row]:
    """Yield the labels; JSON is a text in this table, whatever the form of its file."""
    file.seek(0)
    for line in file:
        label = orjson.loads(line)
        yield label | {name: text_of(label[name]) for name in JSON if label[name] is not None}


def _rows(file: IO[bytes], raters: _Raters) -> Iterator[Row]:
    text, item = None, None
    with file:
        for place, group in groupby(_read(file), itemgetter("item", "scheme", "question")):
            members = list(group)
            if place[0] != item:
                item, text = place[0], members[0]["text"]
            yield from _rows_of_question(members, raters, text)


def _rows_of_question(labels: Iterable[Row], raters: _Raters, text: str | None) -> Iterator[Row]:
    """Yield the rows of an item and a question: a second answer of a rater is in another row."""
    rows: dict[tuple[Any, ...], Row] = {}
    for label in labels:
        column = raters.column(label["rater"])
        place, number = (label["occasion"], label["campaign"] or "", label["sample"]), 0
        while column in rows.get((*place, number), ()):
            number += 1
        shared = {name: label[name] for name in SHARED} | {"text": text}
        row = rows.setdefault((*place, number), shared)
        row[column] = label["value"]
        row |= {raters.column(label["rater"], part): label[part] for part in PARTS if label[part]}
    for _, row in sorted(rows.items()):
        yield row


# Files on request: labels, notes, gold, packages, transcripts, and kinds added by suites.
#
# An order names the content, its corpus and part, and the format; it is written at once or by a job, which
# keeps the order as plain JSON.

LABELS, NOTES, GOLD, TRANSCRIPTS, DIALOGUES = "labels", "notes", "gold", "transcripts", "dialogues"
ZIP = "zip"
TITLES = {
    LABELS: "labels",
    NOTES: "notes",
    GOLD: "gold",
    TRANSCRIPTS: "transcripts",
    DIALOGUES: "dialogues",
} | {key: package.title for key, package in PACKAGES.items()}
"""Kinds of files that can be ordered, with their names on pages."""
LONG, WIDE = "long", "wide"
SHAPES: dict[str, Callable[[Scope, ExportPart], ExportQuery | RowTable]] = {
    LONG: label_export.labels_file,
    WIDE: wide_labels,
}
"""Shapes of a file of labels: a row for each label, or a column for each rater."""
SLOWER = 4
"""How many times longer a row takes that PostgreSQL does not write itself."""


@dataclass(frozen=True)
class Content:
    """A kind of file that a suite adds.

    `most` returns the maximum number of rows of an order, `blocks` its content; a row takes about as long as
    `labels_a_row` labels. `offer` returns the context of `template` on a corpus's page of exports, None where
    there is nothing of the kind.
    """

    title: str
    most: Callable[[Order], int]
    blocks: Callable[[Order], Blocks]
    labels_a_row: int
    offer: Callable[[Corpus], dict[str, Any] | None]
    template: str


CONTENTS: Table[Content] = Table("contents")
"""Contents by kind of order; suites register theirs."""


@dataclass(frozen=True)
class Order:
    """A requested file. `choice` narrows it: questions of a package; continuations and raters; options of
    suites' kinds of files.

    With an `other` gold the file compares the two side by side.
    """

    what: str
    corpus: Corpus
    campaign: Campaign | None
    export_part: ExportPart
    form: str
    gold: Gold | None = None
    choice: Mapping[str, Any] = field(default_factory=dict)
    other: Gold | None = None

    def params(self) -> dict[str, Any]:
        """Return the order as job parameters."""
        return {
            "what": self.what,
            "corpus": self.corpus.pk,
            "campaign": self.campaign.pk if self.campaign else None,
            "gold": self.gold.pk if self.gold else None,
            "other": self.other.pk if self.other else None,
            "split": self.export_part.split.pk if self.export_part.split else None,
            "part": self.export_part.part,
            "exclude": self.export_part.exclude,
            "form": self.form,
            "choice": dict(self.choice),
        }

    def about(self) -> dict[str, Any]:
        """Return the order's entry in the log of downloads."""
        return _entry(self.params()) | {"excluded": self.excluded}

    @property
    def excluded(self) -> dict[str, Any] | None:
        """What people's answers leave out of it, as plain data; None where nothing is to be left out."""
        left_out = self.export_part.left_out
        return left_out.as_json() if left_out else None

    @property
    def scope(self) -> Scope:
        """Scope of the labels to write."""
        return self.export_part.narrowed(scope_of(self.corpus, self.campaign, self.export_part.part))

    def most(self) -> int:
        """Return an upper estimate of its rows."""
        if self.gold is not None:
            return self.gold.n + (self.other.n if self.other else 0)
        if self.what == TRANSCRIPTS:
            return Turn.objects.filter(continuation__in=self._sheet().continuations).count()
        if self.what == DIALOGUES:
            return selected_dialogues(self.corpus).count()
        if self.what in CONTENTS:
            return CONTENTS[self.what].most(self)
        scope = self.scope
        return note_export.most(scope) if self.what == NOTES else scope.most()

    def weight(self) -> int:
        """Return an upper estimate of its size in labels."""
        if self.what == DIALOGUES:
            return Turn.objects.filter(continuation__dialogue__corpus=self.corpus).count()
        slower = SLOWER if self.shape == WIDE or self.form == "xlsx" else 1
        return self.most() * (CONTENTS[self.what].labels_a_row if self.what in CONTENTS else slower)

    @property
    def shape(self) -> str:
        """Shape of a file of labels."""
        return str(self.choice.get("shape", LONG))

    @property
    def title(self) -> str:
        """Title on pages."""
        return CONTENTS[self.what].title if self.what in CONTENTS else TITLES[self.what]

    def check(self) -> None:
        """Raise ExportRefused where it cannot be written, as far as can be told without writing it."""
        if self.what == TRANSCRIPTS:
            self._sheet()
        if self.gold is not None and self.other is not None:
            gold_difference.shared_questions(self.gold, self.other)

    def write(self, file: IO[bytes]) -> FileSummary:
        """Write the order into a file. Raises ExportRefused where there is nothing to write."""
        if self.what == TRANSCRIPTS:
            return write_blocks(FORMS[self.form][1](self._sheet()), file)
        if self.what == DIALOGUES:
            return write_blocks(dialogue_lines(self.corpus, self.export_part.exclude), file)
        if self.what in CONTENTS:
            return write_blocks(CONTENTS[self.what].blocks(self), file)
        if self.what in PACKAGES:
            return self._package(file)
        return write(self.rows(), self.form, file)

    def rows(self) -> ExportQuery | RowTable:
        """Return the rows of an order of labels, notes or gold."""
        if self.gold is not None and self.other is not None:
            return gold_difference.query(self.gold, self.other, self.export_part)
        if self.gold is not None:
            return gold_export.query(self.gold, self.export_part)
        read = note_export.notes if self.what == NOTES else SHAPES[self.shape]
        return read(self.scope, self.export_part)

    def _package(self, file: IO[bytes]) -> FileSummary:
        hashed = Hashed(file)
        bundle = Bundle(hashed)  # type: ignore[arg-type]
        try:
            rows = self.fill(bundle)
            bundle.close()
        except BaseException:
            bundle.abandon()
            raise
        return FileSummary(rows, hashed.size, hashed.sha256)

    def fill(self, bundle: Bundle) -> int:
        """Add a package's files and its manifest to a bundle; return the number of labels in them."""
        questions = tuple(self.choice.get("questions", ()))
        rows = PACKAGES[self.what].write(Contents(self.scope, self.export_part, questions), bundle)
        campaign = self.campaign.name if self.campaign else None
        facts: dict[str, Any] = {"package": self.what, "corpus": self.corpus.name, "campaign": campaign}
        facts |= {"part": self.export_part.part or "all", "rows": rows}
        bundle.finish(facts | ({"excluded": self.excluded} if self.excluded else {}))
        return rows

    def _sheet(self) -> Sheet:
        scope = self.scope
        continuations = self.choice.get("continuations") or of_part(scope, self.export_part)
        return sheet(
            scope, self.export_part, continuations=continuations, raters=self.choice.get("raters", ())
        )

    @property
    def name(self) -> str:
        """File name for browsers, without its extension."""
        return _file_name(self.params())


def _entry(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "what": params["what"],
        "corpus_id": params["corpus"],
        "campaign_id": params["campaign"],
        "gold_id": params["gold"],
        "part": params["choice"].get("part") or params["part"],
    }


def _file_name(params: Mapping[str, Any]) -> str:
    if params["gold"]:
        return f"gold-{params['gold']}" + (f"-and-{params['other']}" if params["other"] else "")
    place = f"campaign-{params['campaign']}" if params["campaign"] else f"corpus-{params['corpus']}"
    return f"{params['what']}-{place}" + (f"-{WIDE}" if params["choice"].get("shape") == WIDE else "")


def from_params(params: Mapping[str, Any]) -> Order:
    """Return the order from a job's parameters. Raises JobRefused if one of its objects was deleted."""
    corpus = Corpus.objects.filter(pk=params["corpus"]).first()
    campaign = Campaign.objects.select_related("corpus").filter(pk=params["campaign"]).first()
    gold = Gold.objects.select_related("corpus", "campaign").filter(pk=params["gold"]).first()
    split = Split.objects.filter(pk=params["split"]).first()
    other = Gold.objects.filter(pk=params["other"] or 0).first()
    references = {"campaign": campaign, "gold": gold, "other": other, "split": split}
    if corpus is None or any(params[name] and references[name] is None for name in references):
        raise JobRefused("what it was to be written from was deleted")
    export_part = without_excluded(ExportPart(split, params["part"]), corpus, params.get("exclude", ""))
    form, choice = params["form"], params["choice"]
    return Order(params["what"], corpus, campaign, export_part, form, gold, choice, other)


def send(*, order: Order, by: User | None) -> Download:
    """Write an order, ready for download; it is logged once it was sent completely. Raises ExportRefused."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        try:
            summary = order.write(file)
        except ExportRefused:
            raise
        except CalibrationError as refused:
            raise ExportRefused(str(refused)) from refused
        stack.pop_all()
    file.seek(0)
    return Download(file, summary, order.form, order.about() | {"created_by": by})


# Files of large downloads: location, retention and removal.

KIND = "export"
RETENTION = timedelta(days=7)
"""Retention of a file for the person who requested it."""


def folder() -> Path:
    """Return the folder of written files, private and created at first use."""
    return private_folder("exports")


def path_of(job: Job) -> Path:
    """Return the path of a job's file."""
    return folder() / str(job.pk)


def is_kept(job: Job) -> bool:
    """Whether the file is still available: requester and objects exist, and its retention has not expired."""
    return job.pk in _retained([job])


def _retained(jobs: Iterable[Job]) -> set[int]:
    active, ended = set[int](), []
    for job in jobs:
        if job.active:
            active.add(job.pk)
        elif job.created_by_id and job.finished_at and job.finished_at > timezone.now() - RETENTION:
            ended.append(job)
    for name, model in (("corpus", Corpus), ("campaign", Campaign), ("gold", Gold)):
        ids = {job.params[name] for job in ended} - {None}
        existing_ids = {None, *model._default_manager.filter(pk__in=ids).values_list("pk", flat=True)}
        ended = [job for job in ended if job.params[name] in existing_ids]
    return active | {job.pk for job in ended}


def clear() -> int:
    """Remove files that are expired or that nobody may access any more. Workers call it every few seconds."""
    files = list(_files())
    if not files:
        return 0
    numbers = {int(file.stem) for file in files}
    retained = _retained(Job.objects.filter(pk__in=numbers, kind=KIND))
    gone = [file for file in files if int(file.stem) not in retained]
    for file in gone:
        file.unlink(missing_ok=True)
    return len(gone)


def _files() -> Iterator[Path]:
    return (file for file in folder().iterdir() if file.stem.isdecimal())


# Downloads of many labels: written by a worker, kept for the person who requested them, then removed.

AT_ONCE = 30_000
"""Files of at most this many labels are written during the request, in a second or two."""


def gold_or_job(*, gold: Gold, export_part: ExportPart, form: str, by: User) -> Download | Job:
    """Write the labels of a small gold at once; start a job for a large one."""
    order = Order(GOLD, gold.corpus, gold.campaign, export_part, form, gold)
    return order_or_job(order=order, by=by)


def difference_or_job(
    *, first: Gold, second: Gold, export_part: ExportPart, form: str, by: User
) -> Download | Job:
    """Write two small golds side by side at once; start a job for large ones."""
    order = Order(GOLD, first.corpus, first.campaign, export_part, form, first, other=second)
    return order_or_job(order=order, by=by)


def dialogues_of(corpus: Corpus, exclude: str = "") -> Order:
    """Return the order of a corpus's dialogues in the native format. Raises ExportRefused."""
    check_exclusion(corpus, exclude)
    return Order(DIALOGUES, corpus, None, without_excluded(ExportPart(None, ""), corpus, exclude), "jsonl")


def order_or_job(*, order: Order, by: User) -> Download | Job:
    """Write a small file at once; start a job for a large one. Raises ExportRefused if it has no file."""
    order.check()
    if order.weight() <= AT_ONCE:
        return send(order=order, by=by)
    title = f"gold {order.gold.pk}" if order.gold else order.title
    title += f" beside gold {order.other.pk}" if order.other else ""
    title += ", a column for each rater," if order.shape == WIDE else ""
    about = f"{title} of {order.campaign.name if order.campaign else order.corpus.name} as {order.form}"
    part = {"": "", "all": ", dev and test"}.get(order.export_part.part, f", {order.export_part.part}")
    if order.export_part.left_out:
        part += f", without {order.export_part.left_out.digest()[:8]}"
    number = f"{order.corpus.pk}/{order.campaign.pk if order.campaign else '-'}"
    choice_text = f", choice {sha256(repr(sorted(order.choice.items())).encode()).hexdigest()[:8]}"
    subject = f"{about[:180]}{part}{choice_text if order.choice else ''}, for account {by.pk} ({number})"
    return job_actions.start(kind=KIND, subject=subject, params=order.params(), by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Write the file that a job describes; the result is {rows, size, sha256, excluded}."""
    order = from_params(job.params)
    path = path_of(job)
    unfinished = path.with_suffix(".part")
    try:
        with _private(unfinished) as file:
            summary = order.write(Watched(file, progress, order.most()))  # type: ignore[arg-type]
        unfinished.replace(path)
    except CalibrationError as refused:
        raise JobRefused(str(refused)) from refused
    finally:
        unfinished.unlink(missing_ok=True)
    return {
        "rows": summary.rows,
        "size": summary.size,
        "sha256": summary.sha256,
        "excluded": order.excluded,
    }


class Watched:
    """A file that reports progress, in lines, with every block."""

    def __init__(self, file: IO[bytes], progress: Progress, total: int) -> None:
        self.file, self.progress, self.total, self.lines = file, progress, total, 0

    def write(self, block: bytes) -> int:
        """Write a block; stop if the job is to stop."""
        self.lines += block.count(b"\n")
        self.progress(max(0, min(self.lines, self.total - 1)), self.total)
        return self.file.write(block)


def _private(path: Path) -> IO[bytes]:
    """Open a new file that only this user can read."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def of_person(person: User, corpus: Corpus) -> QuerySet[Job]:
    """Return a person's waiting, running and kept exports of a corpus, newest first."""
    jobs = Job.objects.filter(kind=KIND, created_by=person, params__corpus=corpus.pk).order_by("-pk")
    return jobs.exclude(state=Job.State.DONE, finished_at__lte=timezone.now() - RETENTION)


def download(job: Job) -> Download | None:
    """Return the file of a job, ready to send like a freshly written one; None where it is gone."""
    params, result = job.params, job.result
    if job.state != Job.State.DONE or not is_kept(job):
        return None
    try:
        file = path_of(job).open("rb")
    except FileNotFoundError:
        return None
    summary = FileSummary(result["rows"], result["size"], result["sha256"])
    about = _entry(params) | {"excluded": result.get("excluded"), "created_by": job.created_by}
    return Download(file, summary, params["form"], about)


def name_of(job: Job) -> str:
    """Return the file name of a job for browsers, without its extension."""
    return _file_name(job.params)


JOB = JobKind(KIND, "Download", run)
