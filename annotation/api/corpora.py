"""API of corpora: import, read, split, delete. For researchers; deletion is for administrators."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Prefetch, QuerySet, prefetch_related_objects
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from annotation import access, hooks
from annotation.api import corpora_serializers as schemas
from annotation.api.corpora_serializers import REFUSED_FILE, ImportAnswer
from annotation.corpora import deletion, exclusion, previews, queries, splits, uploads
from annotation.corpora.copy_without_turns import MOST_COPIED, USUAL, copy_without_turns
from annotation.corpora.import_staging import ImportResult
from annotation.corpora.properties import LONGEST, set_families, set_has_marks
from annotation.corpora.splits import EVALUATION, TRAINING
from annotation.errors import ExclusionRefused
from annotation.formats.corpus_format import SETTINGS, SKIP_BAD_ROWS
from annotation.formats.mapping import check_entries
from annotation.models import Continuation, Dialogue, Item, Split, System, turn_numbers
from annotation.models.corpora import Corpus
from config import api
from config.lists import DEFAULT, MOST, Filters, Pages, holds, since
from config.openapi import files as files_of
from config.parsers import Multipart
from config.permissions import is_administrator
from jobs.api import JobAnswer, accepted
from jobs.models import Job

LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT})
MOST_TURNS = 1_000_000
AT_ONCE = 4 * 2**20
"""Maximum bytes of a file that is imported within the request, in a second or two."""
CORPORA = Filters({"text": holds("name"), "since": since("created_at")}, order=("id", "name", "created_at"))


def _query(*names: str) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, OpenApiTypes.STR) for name in names]


@api.listing(schemas.CorpusSerializer, query=CORPORA.parameters)
def corpora(request: Request) -> Response:
    """List all corpora with their counts."""

    def payload(page: list[Corpus]) -> Any:
        return schemas.CorpusSerializer(page, many=True, context={"counts": queries.counts(page)}).data

    return api.page_of(request, CORPORA.of(request, Corpus.objects.order_by("name")), payload)


@api.post(
    schemas.ImportRequest,
    parsers=[Multipart],
    responses={
        201: ImportAnswer,
        200: ImportAnswer,
        202: JobAnswer,
        400: OpenApiResponse(REFUSED_FILE, description="The file, or the form, is refused."),
    },
)
def import_file(request: Request) -> Response:
    """Import a file: 201 where it adds something, 200 where everything exists already.

    A worker imports files over 4 MiB and packed ones, such as Excel workbooks: 202 with the id of a job,
    whose `result` will be the same response; so for `skip_bad_rows`, which keeps the rows left out for you to
    download (`/imports/{job}/left-out/`). The error for a refused file has `file`, `line`, `field` and
    `reason`; where the file has several problems, `problems` lists up to 20 of `total`.
    """
    if uploads.is_too_large(request.META.get("CONTENT_LENGTH") or "0"):
        return Response({"detail": "The file is too large."}, status=413)
    data, by = api.data(request), api.user(request)
    files = [data["file"], *data["more"]]
    options = uploads.read_options(files, data)
    format_name = options["format"]
    skips = options["file_settings"].get(SKIP_BAD_ROWS) == "yes"
    if uploads.size(files) > AT_ONCE or uploads.is_packed(files) or skips:
        return accepted(uploads.receive(by=by, files=files, **options).job_id)
    return _imported(uploads.import_now(by=by, files=files, **options), format_name)


@api.post(schemas.ImportPreviewRequest, schemas.ImportPreviewSerializer, parsers=[Multipart], status=200)
def preview_import(request: Request) -> Any:
    """Read the beginning of a file as an import would, and store nothing.

    A table has its columns, the plausible readings with their mappings, and the `mapping` that applies:
    yours, else the guess. Send it, corrected, with the import. `earlier` is the newest import of the same
    columns, with its mapping.
    """
    if uploads.is_too_large(request.META.get("CONTENT_LENGTH") or "0"):
        return Response({"detail": "The file is too large."}, status=413)
    data = api.data(request)
    files = [data["file"], *data["more"]]
    uploads.check_names(files)
    with uploads.on_disk(files) as path:
        prepared = previews.prepare(
            path,
            name=uploads.together(files),
            format=data["format"],
            mapping=check_entries(data["mapping"]),
            settings={key: data[key] for key in SETTINGS if data.get(key)},
            corpus=data["into"] or data["name"] or uploads.propose_name(uploads.together(files)),
            into=bool(data["into"]),
            by=api.user(request),
            remembers=False,
        )
    return schemas.ImportPreviewSerializer(schemas.preview_payload(prepared)).data


@api.get(responses=files_of(["text/csv", "application/x-ndjson"]))
def rows_left_out(request: Request, job: int) -> FileResponse:
    """Download the rows that your import left out, with the reasons: CSV, or JSON lines. Kept for 7 days."""
    upload = access.upload_of_job(api.user(request), job)
    return uploads.left_out_response(upload)


def _imported(result: ImportResult, format_name: str) -> Response:
    return Response({**result.as_answer(), "format": format_name}, status=201 if result.created else 200)


@api.get(schemas.CorpusDetailSerializer)
def corpus(request: Request, name: str) -> Any:
    """Return a corpus with its imports and systems."""
    row = access.corpus_named(name)
    return schemas.CorpusDetailSerializer(row, context={"counts": queries.counts([row])}).data


class CorpusChange(serializers.Serializer[Any]):
    """Whether words in braces in the turns are transcription marks, which pages hide on request."""

    has_marks = serializers.BooleanField(required=False)


@api.patch(CorpusChange, schemas.CorpusDetailSerializer)
def change_corpus(request: Request, name: str) -> Any:
    """Change a corpus; return it."""
    row = access.corpus_named(name)
    if changes := api.data(request):
        set_has_marks(by=api.user(request), corpus=row, **changes)
    row.refresh_from_db()
    return schemas.CorpusDetailSerializer(row, context={"counts": queries.counts([row])}).data


@api.delete(
    schemas.DeletionRequest, responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT}, status=200
)
def delete_corpus(request: Request, name: str) -> Response | dict[str, Any]:
    """Delete a corpus with everything about it. Administrators only.

    `confirmation` is the corpus's name, in the query or in a JSON body. 202 with the id of a job where it
    takes a while.
    """
    if not is_administrator(request.user):
        raise PermissionDenied
    row = access.corpus_named(name)
    deleted = deletion.start_deletion(corpus=row, by=api.user(request), **api.data(request))
    return accepted(deleted) if isinstance(deleted, Job) else {"deleted": deleted}


class SystemSerializer(serializers.ModelSerializer[System]):
    """A system with its family and the number of its continuations."""

    continuations = serializers.IntegerField(source="produced", read_only=True)

    class Meta:
        model = System
        fields = ("name", "family", "continuations")


class FamiliesRequest(serializers.Serializer[Any]):
    """Families by system name; an empty family removes it, and systems that are missing keep theirs."""

    families = serializers.DictField(child=serializers.CharField(max_length=LONGEST, allow_blank=True))


@api.get(SystemSerializer, many=True)
def systems(request: Request, name: str) -> QuerySet[System]:
    """List all systems with their families of models (such as gpt or llama)."""
    return queries.systems(access.corpus_named(name))


@api.patch(FamiliesRequest, SystemSerializer, many=True)
def change_families(request: Request, name: str) -> QuerySet[System]:
    """Set the families of systems; return all systems."""
    row = access.corpus_named(name)
    set_families(by=api.user(request), corpus=row, **api.data(request))
    return queries.systems(row)


class WithoutTurnsRequest(serializers.Serializer[Any]):
    """Name of the new corpus, number of dialogues, and their minimum and maximum turns (0: no limit)."""

    name = serializers.CharField(max_length=Corpus.name.field.max_length)
    first = serializers.IntegerField(min_value=1, max_value=MOST_COPIED, default=USUAL)
    min_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)
    max_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)
    exclude = schemas.exclude_field()


@api.post(
    WithoutTurnsRequest,
    responses={
        201: ImportAnswer,
        200: ImportAnswer,
        400: OpenApiResponse(REFUSED_FILE, description="There is nothing to copy, or the name is taken."),
    },
)
def copy_dialogues(request: Request, name: str) -> Response:
    """Copy dialogues without turns to a new corpus: people, metadata, agenda, topic; 200 if it exists."""
    row = access.corpus_named(name)
    result = copy_without_turns(by=api.user(request), corpus=row, **api.data(request))
    return _imported(result, "jsonl")


PART = OpenApiParameter("part", OpenApiTypes.STR, enum=[TRAINING, EVALUATION])


@api.listing(schemas.DialogueSerializer, query=[*_query("system"), PART])
def dialogues(request: Request, name: str) -> QuerySet[Dialogue]:
    """List dialogues, all or those with a `system` or of a `part`."""
    system, part = api.query_text(request, "system"), api.query_text(request, "part")
    if part not in ("", TRAINING, EVALUATION):
        raise ValidationError({"part": f"A part is {TRAINING} or {EVALUATION}, not {part!r}."})
    return queries.dialogues(access.corpus_named(name), system=system, part=part)


@api.get(schemas.LeftOutDialoguesSerializer, query=[OpenApiParameter("exclude", str, required=True)])
def left_out(request: Request, name: str) -> Any:
    """List the dialogues that an exclusion such as `objection>=1` leaves out of selections of a corpus."""
    corpus_row = access.corpus_named(name)
    text = request.query_params.get("exclude", "")
    exclusion.check(corpus_row, text)
    result = exclusion.left_out(corpus_row, text)
    if result is None:
        raise ExclusionRefused("say by which answer dialogues are left out, such as objection>=1")
    return result.as_json()


@api.get(schemas.TurnSearchSerializer, query=[*_query("text", "speaker", "system", "after"), LIMIT])
def turns(request: Request, name: str) -> Any:
    """List turns by `text` (anywhere, in any case), `speaker` and `system`.

    A search of a large corpus stops after a moment and returns the turns found so far, possibly none:
    `next` is the address that continues the search, null once the whole corpus was searched.
    """
    filters = {key: api.query_text(request, key) for key in ("text", "speaker", "system", "after")}
    matches = queries.search(access.corpus_named(name), **filters, most=Pages().get_limit(request))
    turn_numbers.number(matches.turns)
    address = request.build_absolute_uri()
    further = replace_query_param(address, "after", matches.after) if matches.after else None
    return schemas.TurnSearchSerializer({"next": further, "results": matches.turns}).data


def _numbered(page: list[Item]) -> list[Item]:
    """Number the turns of a page together."""
    turn_numbers.number(item.turn for item in page)
    return page


@api.listing(schemas.ItemSerializer, query=_query("kind", "dialogue", "system"), page=_numbered)
def items(request: Request, name: str) -> QuerySet[Item]:
    """List items by `kind` (such as turn or dialogue), `dialogue` and `system`."""
    filters = {key: api.query_text(request, key) for key in ("kind", "dialogue", "system")}
    rows = queries.items(access.corpus_named(name), **filters)
    rows = rows.select_related("turn", "record", "continuation__dialogue", "continuation__system")
    return rows.prefetch_related("members__continuation__system", "members__turn")


@api.get(schemas.DialogueDetailSerializer)
def dialogue(request: Request, pk: int) -> Dialogue:
    """Read a dialogue with its continuations and turns, numbered together; without turns where these have
    their own pages."""
    row = access.dialogue(pk)
    continuations = Continuation.objects.written().select_related("system").annotate(n_turns=Count("turns"))
    prefetch_related_objects([row], Prefetch("continuations", continuations.order_by("pk")))
    if hooks.own_pages(row) is None:
        prefetch_related_objects([row], "continuations__turns")
        turn_numbers.number(turn for own in row.continuations.all() for turn in own.turns.all())
    return row


@api.get(schemas.SplitSerializer, many=True)
def corpus_splits(request: Request, name: str) -> QuerySet[Split]:
    """List the splits of a corpus into dev and test, oldest first."""
    return splits.splits_of(access.corpus_named(name))


@api.post(schemas.DrawRequest, schemas.SplitSerializer, status=201)
def draw_split(request: Request, name: str) -> Split:
    """Draw a split, or redraw it while unused. A split that opens test needs a `purpose`."""
    data = api.data(request)
    return splits.draw(corpus=access.corpus_named(name), by=api.user(request), **data)
