"""The import itself: one transaction, one file, all of it or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation.corpora import splits
from annotation.formats import FORMATS, Format, Source, SourceRecord, guessing
from annotation.formats.problems import MOST, Faults, ImportProblem
from annotation.formats.settings import settings_of
from annotation.importing.labels import place_labels
from annotation.importing.questions import known_scheme
from annotation.importing.reading import read
from annotation.importing.staging import ImportResult, close_staging, open_staging, stage, staged
from annotation.importing.tidying import Tidying
from annotation.importing.writer import Writer
from annotation.models import Continuation, Corpus, Dialogue, Item, Label, Record, Turn
from annotation.models.corpora import Import
from config.models import Event
from config.planner import WORTH_TELLING, tell_planner

Progress = Callable[[int, int, ImportResult], None]
"""Told now and then: bytes read, bytes in all, what was written so far."""

STORED = (Dialogue, Continuation, Turn, Record, Item)
"""What labels are placed on: statements over many of them are planned with the sizes that these have now."""

NAME = re.compile(r"\A[^/\x00-\x1f\x7f]{1,100}\Z")


MOST_DIALOGUES = 3
"""Dialogues of each side that a problem names."""
DIVIDED = """
SELECT cluster, array_agg(key ORDER BY id) FILTER (WHERE part = 'training'),
       array_agg(key ORDER BY id) FILTER (WHERE part <> 'training')
  FROM annotation_dialogue
 WHERE corpus_id = %(corpus)s AND cluster IN
       (SELECT cluster FROM annotation_dialogue WHERE corpus_id = %(corpus)s AND part = 'training')
 GROUP BY cluster HAVING bool_or(part <> 'training') AND bool_or(imported_id = %(imported)s)
 ORDER BY min(id) LIMIT %(most)s
"""
"""Clusters of the corpus with dialogues in training and outside it, one of them of this import."""


class _NothingNew(Exception):
    """Raised inside the transaction, so that a file that adds nothing leaves nothing behind."""


def import_path(
    *,
    path: str | Path,
    format: str,
    corpus: str,
    into: bool,
    by: User | None,
    scheme: str | None = None,
    source: str = "",
    licence: str = "",
    progress: Progress | None = None,
    name: str = "",
    sha256: str = "",
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> ImportResult:
    """Import a file (or a folder, where the format says so) as a new corpus, or `into` an existing one.

    The same content again changes nothing and returns the first import's counts with `created` false. Of
    concurrent imports of the same content one is kept. `scheme` lists, comma-separated, the schemes whose
    questions the labels answer; `name` is the file's name where the path is a temporary one; `sha256` is
    what the file's content must have, where its manifest says so; `columns` are a table's own names for
    columns, by Concord's; `settings` are what the file itself does not say (`annotation.formats.settings`).
    Raises `ImportProblem` where anything is wrong (with the further problems, up to 20), and then nothing is
    kept.
    """
    known = _format(format, into, columns or {})
    told = settings_of(settings or {}, known.key, known.settings)
    order = _Order(
        origin=Source(path, name=name, columns=columns, settings=told, faults=Faults()),
        format=known,
        corpus=_checked_name(corpus),
        into=into,
        by=by,
        schemes=_schemes(scheme),
        source=source,
        licence=licence,
        sha256=sha256,
    )
    if order.origin.path.is_dir() and not order.format.folder:
        raise ImportProblem(f"is a folder; the format {format} is one file", file=name or str(path))
    try:
        return _perform(order, progress)
    except ImportProblem as problem:
        raise problem.placed(file=order.origin.name) from None


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be imported, checked as far as that goes without reading it."""

    origin: Source
    format: Format
    corpus: str
    into: bool
    by: User | None
    schemes: tuple[str, ...]
    source: str
    licence: str
    sha256: str


def _perform(order: _Order, progress: Progress | None) -> ImportResult:
    """Import in one transaction, after any other import into the same corpus."""
    content_hash = order.origin.content_hash()
    guessing.check(content_hash, order.sha256)
    result = ImportResult(order.corpus)
    try:
        with transaction.atomic():
            lock_corpus(order.corpus)
            if repeated := _repeated(order, content_hash):
                return repeated
            imported = _open(order, content_hash)
            _read(order, imported, result, progress)
            _keep(imported, result)
    except _NothingNew:
        result.created = False
    return result


def _format(key: str, into: bool, columns: Mapping[str, str]) -> Format:
    if key not in FORMATS:
        raise ImportProblem(f"there is no format {key!r}; there are {', '.join(FORMATS)}")
    if FORMATS[key].labels_only and not into:
        raise ImportProblem(f"the format {key} adds labels to an existing corpus: name it with --into")
    if columns and not FORMATS[key].columns:
        raise ImportProblem(f"the format {key} has no columns to be named", field="columns")
    return FORMATS[key]


def _schemes(scheme: str | None) -> tuple[str, ...]:
    given = tuple(key.strip() for key in (scheme or "").split(",") if key.strip())
    for key in given:
        if not known_scheme(key):
            raise ImportProblem(f"there is no scheme {key!r}")
    return given


def _checked_name(corpus: str) -> str:
    if not NAME.fullmatch(corpus) or corpus != corpus.strip() or corpus in (".", ".."):
        raise ImportProblem("the name of a corpus has 1 to 100 characters, and no slash", field="corpus")
    return corpus


def lock_corpus(corpus: str) -> None:
    """Let what imports into a corpus or deletes it follow one another, until the transaction's end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"concord import {corpus}"])


def _repeated(order: _Order, content_hash: str) -> ImportResult | None:
    """Return the result of an earlier import of the same content; refuse a name that is wrong."""
    stored = Corpus.objects.filter(name=order.corpus).first()
    if stored is None and order.into:
        raise ImportProblem(f"there is no corpus {order.corpus!r}", field="corpus")
    if stored is None:
        return None
    same = {
        "content_hash": content_hash,
        "format": order.format.key,
        "columns": order.origin.columns,
        "file_settings": order.origin.settings,
    }
    before = stored.imports.filter(**same).first()
    if before:
        return ImportResult.repeated(order.corpus, before.counts)
    if not order.into:
        raise ImportProblem(
            f"the corpus {order.corpus!r} exists with other content: choose another name, "
            "or add to it with --into",
            field="corpus",
        )
    return None


def _open(order: _Order, content_hash: str) -> Import:
    """Make the import's row, and the corpus where it is new."""
    if len(order.licence) > 200:
        raise ImportProblem("the licence is longer than 200 characters", field="licence")
    stored, _ = Corpus.objects.get_or_create(
        name=order.corpus,
        defaults={"source": order.source, "licence": order.licence, "created_by": order.by},
    )
    return Import.objects.create(
        corpus=stored,
        format=order.format.key,
        file_name=order.origin.name[:300],
        content_hash=content_hash,
        columns=order.origin.columns,
        file_settings=order.origin.settings,
        options={"schemes": list(order.schemes)} if order.schemes else {},
        created_by=order.by,
    )


def _read(order: _Order, imported: Import, result: ImportResult, progress: Progress | None) -> None:
    """Write the file's dialogues batch by batch, and then its labels as one set."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    open_staging()
    faults = order.origin.faults or Faults()
    writer = Writer.open(
        corpus=imported.corpus, imported=imported, result=result, into=order.into, faults=faults
    )
    writer.exact = order.format.exact
    tidying = Tidying(order.origin, imported.corpus, into=order.into)
    with closing(_batches(order, faults, tidying)) as reading:
        for batch in reading:
            stage(writer.write(batch), faults)
            if progress:
                progress(order.origin.done, order.origin.total, result)
    tidying.check(imported, faults, dialogues=result.dialogues > 0)
    if result.dialogues and imported.corpus.has_training:
        _refuse_divided_clusters(imported, faults)
    result.notes += [*order.origin.all_notes(), *tidying.notes()]
    close_staging()
    labels, _ = staged()
    if result.items + labels >= WORTH_TELLING:
        tell_planner(*(model._meta.db_table for model in STORED))
    if labels:
        place_labels(
            corpus=imported.corpus,
            imported=imported,
            given=order.schemes,
            fresh=not order.into,
            tidying=tidying,
            result=result,
            faults=faults,
        )
    faults.refuse()
    # These read what this package writes: not before it is whole.
    from annotation.answer_keys.actions import write
    from annotation.answers.actions import write as write_answers

    write(imported.corpus)
    if imported.corpus.dialogues.filter(script__isnull=False).exists():
        write_answers(imported.corpus)


def _batches(order: _Order, faults: Faults, tidying: Tidying) -> Generator[list[SourceRecord], None, None]:
    """Yield what is read; a problem that ends the reading is told with those before it."""
    try:
        with closing(read(order.format, order.origin)) as reading:
            for batch in reading:
                yield list(tidying.tidy(batch, faults))
    except ImportProblem as problem:
        if problem not in faults.found:
            faults.add(problem)
        faults.refuse()


def _keep(imported: Import, result: ImportResult) -> None:
    """Remember what the file brought; where it brought nothing, undo all of it."""
    if not any(result.counts().values()):
        if not result.unchanged:
            raise ImportProblem("the file holds nothing that can be imported")
        result.labels, result.missing = staged()
        raise _NothingNew
    splits.grow(corpus=imported.corpus)
    imported.counts = result.counts()
    imported.save(update_fields=["counts"])
    Event.objects.create(
        by=imported.created_by,
        verb="import",
        subject=f"{imported.file_name} into {imported.corpus.name}"[:300],
        detail={name: number for name, number in imported.counts.items() if number},
    )
    if result.labels >= WORTH_TELLING:
        tell_planner(Label._meta.db_table)


def _refuse_divided_clusters(imported: Import, faults: Faults) -> None:
    """Note each cluster that an import has divided between training and what judges are measured on."""
    values = {"corpus": imported.corpus_id, "imported": imported.pk, "most": MOST}
    with connection.cursor() as cursor:
        cursor.execute(DIVIDED, values)
        rows = cursor.fetchall()
    for cluster, training, rest in rows:
        faults.add(
            ImportProblem(
                f"the cluster {cluster!r} has dialogues in training ({_listed(training)}) and outside it "
                f"({_listed(rest)}), so what is fitted on it would be tested on the same material: give its "
                "dialogues one `part` in their metadata, or those that share none a `cluster` of their own",
                field="cluster",
            )
        )


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - MOST_DIALOGUES:,} more" if len(keys) > MOST_DIALOGUES else ""
    return f"{', '.join(map(repr, keys[:MOST_DIALOGUES]))}{more}"
