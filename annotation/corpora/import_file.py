"""Importing a file: one transaction, all or nothing, read in a process with resource limits."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import re
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NoReturn

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import records
from annotation.corpora import splits
from annotation.corpora.import_dialogues import Writer
from annotation.corpora.import_labels import place_labels
from annotation.corpora.import_names import Tidying, known_scheme
from annotation.corpora.import_staging import ImportResult, close_staging, fetch, open_staging, stage, staged
from annotation.formats import FORMATS, corpus_format
from annotation.formats.corpus_format import (
    ANY_ROLES,
    RATED,
    SKIP_BAD_ROWS,
    Format,
    SourceRecord,
    settings_of,
)
from annotation.formats.left_out import MOST_LEFT_OUT, write_left_out
from annotation.formats.mapping import check_entries, has_dialogues
from annotation.formats.source import MOST, Faults, ImportProblem, Source
from annotation.hooks import LABEL_CONTINUATIONS
from annotation.models import Continuation, Corpus, Dialogue, Item, Label, Record, Turn
from annotation.models.corpora import LICENCE_LIMIT, Import
from annotation.text.table_cells import listed_names
from config.embedded.processes import follow_parent
from config.models import Event
from config.planner import WORTH_TELLING, analyse_tables

# Reading a file in a separate process with limits of memory and CPU.
#
# Whatever a file does to its reader, the import ends with a one-line error, and nothing else is slowed down.

# Entries in bounded batches, so that memory depends on the largest dialogue and not on the file.

MAX_TURNS = 10_000
MAX_CHARACTERS = 4_000_000
MAX_ENTRIES = 5_000


def batches(entries: Iterator[SourceRecord]) -> Iterator[list[SourceRecord]]:
    """Yield lists of entries of limited total size, each with at least one entry."""
    batch: list[SourceRecord] = []
    turns = characters = 0
    for entry in entries:
        batch.append(entry)
        if isinstance(entry.record, records.Dialogue):
            more, longer = _size(entry.record)
            turns += more
            characters += longer
        if turns >= MAX_TURNS or characters >= MAX_CHARACTERS or len(batch) >= MAX_ENTRIES:
            yield batch
            batch, turns, characters = [], 0, 0
    if batch:
        yield batch


def _size(dialogue: records.Dialogue) -> tuple[int, int]:
    """Return (turns and labels, characters) of a dialogue."""
    count, characters = len(dialogue.labels), 0
    for continuation in dialogue.all_continuations():
        count += len(continuation.turns)
        characters += sum(len(turn.text) for turn in continuation.turns)
    return count, characters


MEMORY = 2**30
"""Bytes that a reader may allocate beyond its process's initial memory."""
CPU_SECONDS, CPU_PER_MEGABYTE = 120, 4
"""CPU seconds that a reader may use, and additional seconds per megabyte of its file."""
HEADER = 8
_starting = threading.Lock()


class ReaderFailed(RuntimeError):
    """A reader failed by an error of its own; the message is its traceback."""


def read(format: Format, source: Source) -> Generator[list[SourceRecord], None, None]:
    """Yield a format's entries, in batches; the source has its place, notes and faults as they arrive."""
    seconds = CPU_SECONDS + CPU_PER_MEGABYTE * source.total // 2**20
    return read_apart(lambda: batches(records_of(format, source)), source, seconds=seconds)


def records_of(format: Format, source: Source) -> Iterator[SourceRecord]:
    """Yield a format's entries, with the turns of speakers that are not rated as context."""
    speakers = rated_speakers(format, source)
    return (mark_rated(entry, speakers) for entry in format.read(source))


def read_apart(
    produce: Callable[[], Iterator[list[Any]]], source: Source, *, seconds: int
) -> Generator[list[Any], None, None]:
    """Yield the batches that `produce` reads from a source, in a process of its own with limits.

    Raises ImportProblem for problems of the file, including excessive demand of memory or CPU.
    """
    with _starting:  # no other reader may inherit this one's end of the pipe
        receiving, sending = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if not child:
            _be_reader(produce, source, sending, parent, seconds)
        os.close(sending)
    ended = False
    try:
        with open(receiving, "rb") as pipe:
            for batch, state, faults, more in _received(pipe):
                vars(source).update(state)
                for fault in faults:
                    source.report(fault)
                if source.faults:
                    source.faults.total += more
                if batch:
                    yield batch
        ended = True
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    _check_end(status, seconds)


def _received(pipe: IO[bytes]) -> Iterator[Any]:
    """Yield the reader's messages, until it ends; raise its final error."""
    while len(header := pipe.read(HEADER)) == HEADER:
        size = int.from_bytes(header, "big")
        content = pipe.read(size)
        if len(content) < size:
            return
        message = pickle.loads(content)
        if isinstance(message, BaseException):
            raise message
        yield message


def _check_end(status: int, seconds: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        raise ImportProblem(f"takes more than {seconds} s of computing to read: split it into smaller files")
    if code:
        raise ImportProblem(f"cannot be read: its reader ended unexpectedly ({code})")


def _be_reader(
    produce: Callable[[], Iterator[list[Any]]], source: Source, sending: int, parent: int, seconds: int
) -> NoReturn:
    """Run as the reader process. It shares open files and connections with its parent, and uses none."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
            signal.signal(number, signal.SIG_DFL)
        follow_parent(signal.SIGKILL, parent)
        _limit(seconds)
        _send(sending, source, produce)
        status = 0
    finally:
        os._exit(status)


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    if sys.platform.startswith("linux"):
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, in_use + MEMORY))


def _send(sending: int, source: Source, produce: Callable[[], Iterator[list[Any]]]) -> None:
    """Send batches, each with the state of the source, and the final error, if any."""
    faults = source.faults.problems if source.faults else []
    sent, total = len(faults), source.faults.total if source.faults else 0
    error: BaseException | None = None

    def send(batch: list[Any]) -> None:
        nonlocal sent, total
        state = {name: value for name, value in vars(source).items() if name != "faults"}
        added = source.faults.total - total if source.faults else 0
        _write(sending, (batch, state, faults[sent:], added - len(faults[sent:])))
        sent, total = len(faults), total + added

    try:
        for batch in produce():
            send(batch)
    except ImportProblem as problem:
        error = None if problem in faults else problem
    except MemoryError:
        error = ImportProblem(
            f"takes more than {MEMORY >> 20} MiB of memory to read: split it into smaller files"
        )
    except Exception:  # noqa: BLE001 (the parent raises it)
        error = ReaderFailed(traceback.format_exc())
    send([])
    if error is not None:
        _write(sending, error)


def rated_speakers(format: Format, source: Source) -> frozenset[str]:
    """Return the speakers or roles whose turns are rated, in lower case; empty where it is all of them."""
    names = listed_names(str(source.settings[RATED])) if RATED in source.settings else format.rated
    return frozenset(name.casefold() for name in names)


def mark_rated(entry: SourceRecord, speakers: frozenset[str]) -> SourceRecord:
    """Make the turns of all other speakers context, where a dialogue has rated ones of its own."""
    dialogue = entry.record
    if not speakers or not isinstance(dialogue, records.Dialogue):
        return entry
    names = {person.id: {person.id.casefold(), person.role.casefold()} for person in dialogue.participants}
    is_rated = [
        not speakers.isdisjoint(names.get(turn.speaker, set()) | {turn.speaker.casefold()})
        for turn in dialogue.turns
    ]
    if not any(is_rated):
        return entry
    turns = tuple(
        turn if rated else replace(turn, given=True)
        for turn, rated in zip(dialogue.turns, is_rated, strict=True)
    )
    return replace(entry, record=replace(dialogue, turns=turns))


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {MappingProxyType: lambda mapping: (_mapping, (dict(mapping),))}


def _mapping(content: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(content)


def _write(sending: int, message: Any) -> None:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(message)
    content = buffer.getvalue()
    rest = memoryview(len(content).to_bytes(HEADER, "big") + content)
    while rest:
        rest = rest[os.write(sending, rest) :]


# The import itself: one transaction, one file, all or nothing.

Progress = Callable[[int, int, ImportResult], None]
"""Called periodically with bytes read, bytes in all, and the result so far."""

STORED = (Dialogue, Continuation, Turn, Record, Item)
"""Tables that labels refer to: statements over many labels are planned with their current sizes."""

NAME = re.compile(r"\A[^/\x00-\x1f\x7f]{1,100}\Z")
NOTHING = "the file holds nothing that can be imported"


MOST_DIALOGUES = 3
"""Maximum number of dialogues of each side named in a problem."""
DIVIDED = """
SELECT cluster, array_agg(key ORDER BY id) FILTER (WHERE part = 'training'),
       array_agg(key ORDER BY id) FILTER (WHERE part <> 'training')
  FROM annotation_dialogue
 WHERE corpus_id = %(corpus)s AND cluster IN
       (SELECT cluster FROM annotation_dialogue WHERE corpus_id = %(corpus)s AND part = 'training')
 GROUP BY cluster HAVING bool_or(part <> 'training') AND bool_or(imported_id = %(imported)s)
 ORDER BY min(id) LIMIT %(most)s
"""
"""Clusters of the corpus with dialogues in training and outside it, at least one of them of this import."""


class _NothingNew(Exception):
    """Raised inside the transaction, so that a file without additions leaves no trace."""


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
    mapping: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    left_out: Path | None = None,
    first_rows: int | None = None,
) -> ImportResult:
    """Import a file (or a folder, where the format allows it) as a new corpus, or `into` an existing one.

    The same content again changes nothing and returns the first import's counts with `created` false. Of
    concurrent imports of the same content one is kept. `scheme` lists, comma-separated, the schemes whose
    questions the labels answer; `name` is the file's name where the path is a temporary one; `sha256` is the
    expected hash of the content, from its manifest; `mapping` are the roles of a table's columns
    (`annotation.formats.mapping`); `settings` are declarations missing in the file itself
    (`annotation.formats.corpus_format`). With the setting `skip_bad_rows`, rows that do not fit are left out
    and written to the file `left_out`, with the suffix that its form has. A trial imports the `first_rows`
    alone and undoes that; it does nothing while another import into the corpus runs. Raises `ImportProblem`
    for any other error (with the further problems, up to 20), and then nothing is stored.
    """
    import_format = _format(format, into, mapping or {})
    checked_settings = settings_of(settings or {}, import_format.key, import_format.settings)
    skips = checked_settings.get(SKIP_BAD_ROWS) == "yes"
    if skips and left_out is not None and not os.access(left_out.parent, os.W_OK):
        raise ImportProblem(f"nothing can be written to {left_out.parent}", field=SKIP_BAD_ROWS)
    order = _Order(
        origin=Source(
            path,
            name=name,
            mapping=mapping,
            settings=checked_settings,
            faults=Faults(),
            first_rows=first_rows,
        ),
        skips=skips,
        format=import_format,
        corpus=_checked_name(corpus),
        into=into,
        by=by,
        schemes=_schemes(scheme),
        source=source,
        licence=licence,
        sha256=sha256,
    )
    if order.origin.path.is_dir() and not order.format.folder:
        reason = f"is a folder; the format {format} is one file: import them one by one"
        raise ImportProblem(reason, file=name or str(path))
    try:
        result = _perform_without_bad_rows(order, progress) if order.skips else _perform(order, progress)
    except ImportProblem as problem:
        raise order.origin.locate(problem).placed(file=order.origin.name) from None
    if result.left_out and left_out is not None:
        result.left_out_file = str(write_left_out(order.origin, left_out))
    return result


@dataclass(frozen=True, slots=True)
class _Order:
    """An import's arguments, checked as far as possible without reading the file."""

    origin: Source
    format: Format
    corpus: str
    into: bool
    by: User | None
    schemes: tuple[str, ...]
    source: str
    licence: str
    sha256: str
    skips: bool = False

    @property
    def is_trial(self) -> bool:
        """Whether the import is undone."""
        return self.origin.first_rows is not None


MOST_ROUNDS = 50
"""Times that an import is tried again without the rows that did not fit."""


def _perform_without_bad_rows(order: _Order, progress: Progress | None) -> ImportResult:
    """Import without the rows that do not fit: each time that some do not, all is undone and done again."""
    origin = order.origin
    for _ in range(MOST_ROUNDS):
        origin.begin_again(Faults(most=MOST_LEFT_OUT))
        try:
            result = _perform(order, progress)
        except ImportProblem as problem:
            if origin.leave_out(problem):
                continue
            if origin.n_left_out and problem.line is None:
                problem.reason += f" (rows left out, because they do not fit: {origin.n_left_out:,})"
            raise
        result.left_out = origin.n_left_out
        if result.left_out:
            result.notes.append(f"Rows left out, because they do not fit: {result.left_out:,}.")
        return result
    raise ImportProblem("has too many rows that do not fit: correct them, or leave them out of the file")


def _perform(order: _Order, progress: Progress | None) -> ImportResult:
    """Import in one transaction, after any other import into the same corpus."""
    content_hash = "" if order.is_trial else order.origin.content_hash()
    corpus_format.check(content_hash, "" if order.is_trial else order.sha256)
    result = ImportResult(order.corpus)
    try:
        with transaction.atomic():
            if not lock_corpus(order.corpus, waits=not order.is_trial):
                raise _NothingNew
            if repeated := _repeated(order, content_hash):
                return repeated
            imported = _open(order, content_hash)
            _read(order, imported, result, progress)
            if order.is_trial:
                raise _NothingNew
            _keep(imported, result)
    except _NothingNew:
        result.created = False
    return result


def _format(key: str, into: bool, mapping: Mapping[str, Any]) -> Format:
    if key not in FORMATS:
        raise ImportProblem(f"there is no format {key!r}; there are {', '.join(FORMATS)}")
    if FORMATS[key].labels_only and not into:
        raise ImportProblem(f"the format {key} adds labels to an existing corpus: name it with --into")
    if mapping:
        if not FORMATS[key].roles:
            raise ImportProblem(f"the format {key} takes no mapping: leave it out, or use table", field="map")
        check_entries(dict(mapping), () if FORMATS[key].roles == ANY_ROLES else FORMATS[key].roles)
        if FORMATS[key].roles == ANY_ROLES and not into and not has_dialogues(mapping):
            raise ImportProblem(
                "the mapping has ratings alone: add them to the corpus of their dialogues (--into), or map "
                "the columns of the texts, too",
                field="map",
            )
    return FORMATS[key]


def _schemes(scheme: str | None) -> tuple[str, ...]:
    keys = tuple(key.strip() for key in (scheme or "").split(",") if key.strip())
    for key in keys:
        if not known_scheme(key):
            raise ImportProblem(f"there is no scheme {key!r}")
    return keys


def _checked_name(corpus: str) -> str:
    if not NAME.fullmatch(corpus) or corpus != corpus.strip() or corpus in (".", ".."):
        raise ImportProblem("the name of a corpus has 1 to 100 characters, and no slash", field="corpus")
    return corpus


def lock_corpus(corpus: str, *, waits: bool = True) -> bool:
    """Serialise imports into a corpus and its deletion, until the transaction's end.

    Without waiting, return whether nothing else holds the lock.
    """
    name = [f"concord import {corpus}"]
    with connection.cursor() as cursor:
        if waits:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", name)
            return True
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", name)
        return bool(cursor.fetchone()[0])


def _repeated(order: _Order, content_hash: str) -> ImportResult | None:
    """Return the result of an earlier import of the same content; refuse a wrong name."""
    stored = Corpus.objects.filter(name=order.corpus).first()
    if stored is None and order.into:
        raise ImportProblem(f"there is no corpus {order.corpus!r}", field="corpus")
    if stored is None:
        return None
    same = {
        "content_hash": content_hash,
        "format": order.format.key,
        "mapping": order.origin.mapping,
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
    """Create the import's row, and the corpus where it is new."""
    if len(order.licence) > LICENCE_LIMIT:
        raise ImportProblem(f"the licence is longer than {LICENCE_LIMIT} characters", field="licence")
    stored, _ = Corpus.objects.get_or_create(
        name=order.corpus,
        defaults={"source": order.source, "licence": order.licence, "created_by": order.by},
    )
    if order.format.has_marks and not stored.has_marks:
        stored.has_marks = True
        stored.save(update_fields=["has_marks"])
    return Import.objects.create(
        corpus=stored,
        format=order.format.key,
        file_name=order.origin.name[:300],
        content_hash=content_hash,
        mapping=order.origin.mapping,
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
                progress(min(order.origin.done, order.origin.total), order.origin.total, result)
    if order.origin.mapping:  # remembered for the next table with the same columns
        imported.options["columns"] = list(order.origin.columns)
    tidying.check(imported, faults, dialogues=result.dialogues > 0)
    if result.dialogues and imported.corpus.has_training:
        _refuse_divided_clusters(imported, faults)
    result.notes += [*order.origin.all_notes(), *tidying.notes()]
    close_staging()
    labels, _ = staged()
    if result.items + labels >= WORTH_TELLING:
        analyse_tables(*(model._meta.db_table for model in STORED))
    if labels:
        place_labels(
            corpus=imported.corpus,
            imported=imported,
            schemes=order.schemes,
            fresh=not order.into,
            built_in=not order.format.own_questions,
            tidying=tidying,
            result=result,
            faults=faults,
        )
    faults.refuse()
    for label in LABEL_CONTINUATIONS:
        label(imported.corpus, None)


def _batches(order: _Order, faults: Faults, tidying: Tidying) -> Generator[list[SourceRecord], None, None]:
    """Yield the batches read; a problem that ends the reading is reported with earlier ones."""
    try:
        with closing(read(order.format, order.origin)) as reading:
            for batch in reading:
                yield list(tidying.tidy(batch, faults))
    except ImportProblem as problem:
        if problem not in faults.problems:
            faults.add(problem)
        faults.refuse()


def _keep(imported: Import, result: ImportResult) -> None:
    """Store the import's counts; where it added nothing, undo all of it."""
    if not any(result.counts().values()):
        if not result.unchanged:
            raise ImportProblem(NOTHING)
        result.labels, result.missing = staged()
        raise _NothingNew
    splits.grow(corpus=imported.corpus)
    imported.counts = result.counts()
    imported.save(update_fields=["counts", "options"])
    Event.objects.create(
        by=imported.created_by,
        verb="import",
        subject=f"{imported.file_name} into {imported.corpus.name}"[:300],
        detail={name: number for name, number in imported.counts.items() if number},
    )
    if result.labels >= WORTH_TELLING:
        analyse_tables(Label._meta.db_table)


def _refuse_divided_clusters(imported: Import, faults: Faults) -> None:
    """Report each cluster that an import divided between training and the part used to measure judges."""
    values = {"corpus": imported.corpus_id, "imported": imported.pk, "most": MOST}
    for cluster, training, rest in fetch(DIVIDED, values):
        faults.add(
            ImportProblem(
                f"the cluster {cluster!r} has dialogues in training ({_quote_keys(training)}) and outside it "
                f"({_quote_keys(rest)}), so what is fitted on it would be tested on the same material: "
                "give its dialogues one `part` in their metadata, or those that share none a `cluster` of "
                "their own",
                field="cluster",
            )
        )


def _quote_keys(keys: list[str]) -> str:
    more = f" and {len(keys) - MOST_DIALOGUES:,} more" if len(keys) > MOST_DIALOGUES else ""
    return f"{', '.join(map(repr, keys[:MOST_DIALOGUES]))}{more}"
