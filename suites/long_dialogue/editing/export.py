"""Export of scripts as lines of the native format, in bounded memory; an import restores them unchanged."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.http import FileResponse

from annotation import records
from annotation.corpora import splits
from annotation.corpora.rows import (
    agenda_record,
    continuation_json,
    head_json,
    participant_record,
    turn_json,
    turn_record,
)
from annotation.errors import ScriptRefused
from annotation.formats.source import MAX_LINE
from annotation.models import Continuation, Corpus, QuestionSet, Record, Turn, Use
from annotation.models.corpora import Dialogue
from annotation.records import HUMAN, SELF
from annotation.script_records import FACT, KIND, QUESTION, use_json
from config.models import Event
from suites.long_dialogue.editing.import_records import uses_of
from suites.long_dialogue.editing.question_records import called, find_question_set

# Export of scripts as lines of the native format; a streamed export keeps memory small.
#
# A line contains the current state of a script: sessions as edited, name maps, facts and questions with their
# status (superseded ones too, since people rated them), question sets with their uses, and, on request,
# continuations. History is not exported: earlier versions of sessions, and the provenance of records.

ROWS = 5_000
PIECE = 2**16
MIB = 2**20


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """Parts to export in addition to the script.

    `sets` are names of question sets (`first`, or of a version `first@2` or `first:2`), None for the last
    version of each name; `continuations` includes the continuations.
    """

    sets: tuple[str, ...] | None = None
    continuations: bool = False


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export: its size, SHA-256, and the scripts whose lines are too long to import."""

    bytes: int
    sha256: str
    too_long: tuple[str, ...]


def write(file: IO[bytes], dialogues: Sequence[Dialogue], selection: ExportSelection) -> ExportResult:
    """Write scripts of one corpus, one line each, in a consistent snapshot.

    Raises ScriptRefused, before anything is written, for an unknown question set, and for continuations with
    answers in a test part that is still unopened.
    """
    digest, size, too_long = hashlib.sha256(), 0, []
    with _at_one_moment():
        question_sets = _selected_sets(dialogues, selection)
        for dialogue in dialogues:
            start = size
            for piece in _pieces(_line(dialogue, question_sets, selection)):
                digest.update(piece)
                size += file.write(piece)
            if size - start > MAX_LINE:
                too_long.append(dialogue.key)
    return ExportResult(size, digest.hexdigest(), tuple(too_long))


def too_long_warning(result: ExportResult) -> str:
    """Return a warning if an import would refuse the file, else ''."""
    if not result.too_long:
        return ""
    return (
        f"{', '.join(result.too_long)}: a line of more than {MAX_LINE // MIB} MiB, which no import takes. "
        "Without question sets it is shorter; from the same seed they are made again."
    )


@contextmanager
def _at_one_moment() -> Iterator[None]:
    """Run all queries in one snapshot; inside an open transaction, in that transaction's snapshot."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _selected_sets(dialogues: Sequence[Dialogue], selection: ExportSelection) -> list[QuestionSet]:
    """Return the question sets to export, by name."""
    if not dialogues:
        return []
    corpus = dialogues[0].corpus
    if selection.continuations:
        _refuse_unopened(corpus, dialogues)
    if selection.sets is None:
        all_sets = corpus.question_sets.order_by("name", "version")
        return list({question_set.name: question_set for question_set in all_sets}.values())
    selected: dict[int, QuestionSet] = {}
    for name in selection.sets:
        if (question_set := find_question_set(corpus, name)) is None:
            raise ScriptRefused(f"There is no question set {name[:80]!r}.", field="set")
        selected.setdefault(question_set.pk, question_set)
    return list(selected.values())


def _refuse_unopened(corpus: Corpus, dialogues: Sequence[Dialogue]) -> None:
    """Raise ScriptRefused for continuations with answers in a test part that is still unopened."""
    closed = set(splits.unopened(corpus).values_list("cluster", flat=True))
    for dialogue in dialogues:
        others = dialogue.continuations.exclude(key=SELF)
        if closed & splits.of_script(dialogue) and others.exists():
            raise ScriptRefused(
                f"Answers about {dialogue.key} are in a test part that nobody has opened. Open it first, or "
                "leave the continuations out.",
                field="continuations",
            )


def _line(dialogue: Dialogue, sets: Sequence[QuestionSet], selection: ExportSelection) -> Iterator[str]:
    """Yield a script's line in parts, including its line break."""
    own = dialogue.continuations.filter(key=SELF).select_related("system").first()
    head = head_json(_head(dialogue, own.system.name if own else HUMAN)) | {"kind": KIND}
    yield _json(head | (dialogue.script or {}))[:-1]
    yield from _list_field("turns", map(_json, _turns(own)) if own else (), always=True)
    yield from _list_field("facts", map(_json, _records(dialogue, FACT, sets)))
    yield from _list_field("questions", map(_json, _records(dialogue, QUESTION, sets)))
    yield from _nested_list_field(
        "question_sets",
        (_set(question_set, dialogue) for question_set in sets if _asks(question_set, dialogue)),
    )
    if selection.continuations:
        rows = dialogue.continuations.exclude(key=SELF).select_related("system").order_by("pk")
        yield from _nested_list_field("continuations", map(_continuation, rows))
    yield "}\n"


def _head(dialogue: Dialogue, system: str) -> records.Dialogue:
    return records.Dialogue(
        id=dialogue.key,
        cluster=dialogue.cluster,
        language=dialogue.language,
        summary=dialogue.summary,
        system=system,
        metadata=dialogue.metadata,
        agenda=agenda_record(dialogue.agenda),
        participants=tuple(map(participant_record, dialogue.participants)),
    )


def _turns(continuation: Continuation) -> Iterator[dict[str, Any]]:
    columns = Turn.objects.filter(continuation=continuation).order_by("position")
    for row in columns.values_list("speaker", "text", "given", "at", "extra").iterator(ROWS):
        yield turn_json(turn_record(*row))


def _records(dialogue: Dialogue, kind: str, sets: Sequence[QuestionSet]) -> Iterator[dict[str, Any]]:
    """Yield facts or questions: those outside question sets, and those of the exported sets."""
    rows = Record.objects.filter(
        Q(set=None) | Q(set__in=[question_set.pk for question_set in sets]), dialogue=dialogue
    )
    columns = ("key", "content", "status", "superseded_by__key")
    ordered = rows.filter(kind=kind).order_by("id").values_list(*columns)
    for key, content, status, instead in ordered.iterator(ROWS):
        record_json = {"id": key, **content, "status": status}
        yield record_json | ({"superseded_by": instead} if instead else {})


def _asks(question_set: QuestionSet, dialogue: Dialogue) -> bool:
    """Whether a set contains questions of a script, or uses of them."""
    uses = Use.objects.filter(set=question_set, question__dialogue=dialogue)
    return uses.exists() or Record.objects.filter(set=question_set, dialogue=dialogue).exists()


def _set(question_set: QuestionSet, dialogue: Dialogue) -> Iterator[str]:
    options = question_set.options
    head = {
        "name": called(question_set),
        "seed": options.get("seed", 0),
        "policy": options.get("policy", "body"),
        "presence": options.get("presence", True),
        "imported": question_set.imported,
    }
    yield _json(head)[:-1]
    uses = uses_of(question_set, dialogue.pk)
    yield from _list_field("uses", (_json(use_json(use)) for use in uses), always=True)
    yield "}"


def _continuation(row: Continuation) -> Iterator[str]:
    head = records.Continuation(
        id=row.key,
        system=row.system.name,
        turns=(),
        mode="static" if row.mode == Continuation.Mode.STATIC else "rollout",
        trial=row.trial,
        condition=row.condition,
    )
    yield _json(continuation_json(head))[:-1]
    yield from _list_field("turns", map(_json, _turns(row)), always=True)
    yield "}"


def _list_field(name: str, parts: Iterable[str], *, always: bool = False) -> Iterator[str]:
    """Yield a further field of an object, a list of JSON texts; nothing for an empty one unless `always`."""
    return _nested_list_field(name, ((part,) for part in parts), always=always)


def _nested_list_field(name: str, parts: Iterable[Iterable[str]], *, always: bool = False) -> Iterator[str]:
    """Yield a list whose items come in pieces."""
    start = before = f', "{name}": ['
    for part in parts:
        yield before
        yield from part
        before = ", "
    if before != start:
        yield "]"
    elif always:
        yield f"{start}]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pieces(parts: Iterable[str]) -> Iterator[bytes]:
    """Yield texts as bytes, combined into larger pieces."""
    buffer: list[str] = []
    size = 0
    for part in parts:
        buffer.append(part)
        size += len(part)
        if size >= PIECE:
            yield "".join(buffer).encode()
            buffer, size = [], 0
    yield "".join(buffer).encode()


# Download of a script: the file is complete before the response starts, so that errors come first.

MEDIA = "application/x-ndjson"


def answer(*, dialogue: Dialogue, selection: ExportSelection, by: User) -> FileResponse:
    """Return the HTTP response with a script, and log the export. Raises ScriptRefused.

    A line that is too long to import sets the header `Concord-Warning`.
    """
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        result = write(file, [dialogue], selection)
        file.seek(0)
        stack.pop_all()
    answer = FileResponse(
        file, content_type=MEDIA, as_attachment=True, filename=f"script-{dialogue.pk}.jsonl"
    )
    answer["Content-Length"] = str(result.bytes)
    answer["Content-Encoding"] = "identity"  # compression would remove the length
    answer["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(result.sha256)).decode()}:"
    if result.too_long:
        answer["Concord-Warning"] = too_long_warning(result).partition(": ")[2]
    subject = f"script {dialogue.key} of {dialogue.corpus.name}"[:300]
    detail = {"sha256": result.sha256, "continuations": selection.continuations}
    Event.objects.create(by=by, verb="export script", subject=subject, detail=detail)
    return answer
