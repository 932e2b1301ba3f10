"""The API of corpora: import, read, split, delete. Researchers; deletion is for administrators."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Prefetch, QuerySet, prefetch_related_objects
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from annotation import access, hooks
from annotation.api import corpora_serializers as schemas
from annotation.api.corpora_serializers import REFUSED_FILE, ImportAnswer
from annotation.corpora import deletion, queries, splits, uploads
from annotation.corpora.copy_without_turns import MOST_COPIED, USUAL, copy_without_turns
from annotation.corpora.families import LONGEST, set_families
from annotation.corpora.import_file import import_path
from annotation.corpora.import_staging import ImportResult
from annotation.corpora.splits import EVALUATION, TRAINING
from annotation.errors import DeletionRefused, FamilyRefused, SplitRefused
from annotation.formats import FORMATS
from annotation.formats.base import SETTINGS, SIZE, columns_of, guess, settings_of
from annotation.formats.source import ImportProblem
from annotation.models import Continuation, Dialogue, Item, Split, System, Turn, turn_numbers
from annotation.models.corpora import Corpus
from config.lists import DEFAULT, MOST, Filters, Pages, holds, since
from config.parsers import Multipart
from config.permissions import IsResearcher, is_administrator
from jobs.models import Job

# The API of a corpus's systems: which there are, and of which family of models each is.


class SystemSerializer(serializers.ModelSerializer[System]):
    """A system with its family and the number of its continuations."""

    continuations = serializers.IntegerField(source="produced", read_only=True)

    class Meta:
        model = System
        fields = ("name", "family", "continuations")


class FamiliesRequest(serializers.Serializer[Any]):
    """Families by the names of systems; an empty one takes it back, systems left out keep theirs."""

    families = serializers.DictField(child=serializers.CharField(max_length=LONGEST, allow_blank=True))


class Systems(APIView):
    """The systems of a corpus."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=SystemSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        """List all systems with their families of models (such as gpt or llama)."""
        return _systems_response(access.corpus_named(name))

    @extend_schema(request=FamiliesRequest, responses=SystemSerializer(many=True))
    def patch(self, request: Request, name: str) -> Response:
        """Say of which family systems are; return all systems."""
        corpus = access.corpus_named(name)
        serializer = FamiliesRequest(data=request.data)
        serializer.is_valid(raise_exception=True)
        assert isinstance(request.user, User)
        try:
            set_families(by=request.user, corpus=corpus, **serializer.validated_data)
        except FamilyRefused as refused:
            raise ValidationError({"families": [str(refused)]}) from None
        return _systems_response(corpus)


def _systems_response(corpus: Corpus) -> Response:
    return Response(SystemSerializer(queries.systems(corpus), many=True).data)


# The API of copying a corpus's dialogues without their turns.

MOST_TURNS = 1_000_000


class WithoutTurnsRequest(serializers.Serializer[Any]):
    """The new corpus's name, how many dialogues, and how many turns these have (0: no limit)."""

    name = serializers.CharField(max_length=100)
    first = serializers.IntegerField(min_value=1, max_value=MOST_COPIED, default=USUAL)
    min_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)
    max_turns = serializers.IntegerField(min_value=0, max_value=MOST_TURNS, default=0)


class WithoutTurns(APIView):
    """A corpus's dialogues without what was said in them."""

    permission_classes = (IsResearcher,)

    @extend_schema(
        request=WithoutTurnsRequest,
        responses={
            201: ImportAnswer,
            200: ImportAnswer,
            400: OpenApiResponse(REFUSED_FILE, description="There is nothing to copy, or the name is taken."),
        },
    )
    def post(self, request: Request, name: str) -> Response:
        """Copy dialogues into a new corpus: people, metadata, agenda, topic; 200 where it is there."""
        corpus = access.corpus_named(name)
        serializer = WithoutTurnsRequest(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        assert isinstance(request.user, User)
        try:
            result = copy_without_turns(
                by=request.user,
                corpus=corpus,
                name=values["name"],
                first=values["first"],
                least=values["min_turns"],
                most=values["max_turns"],
            )
        except ImportProblem as problem:
            answer = {"detail": str(problem), "code": "import_refused", **problem.as_answer()}
            return Response(answer, status=status.HTTP_400_BAD_REQUEST)
        code = status.HTTP_201_CREATED if result.created else status.HTTP_200_OK
        return Response({**result.as_answer(), "format": "jsonl"}, status=code)


LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT})
OVERHEAD = 2**20
AT_ONCE = 4 * 2**20
"""A file of at most so many bytes is imported while the program waits, in a second or two."""


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def _query(*names: str) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, OpenApiTypes.STR) for name in names]


def _value(request: Request, name: str) -> str:
    return request.query_params.get(name, "").replace("\0", "")


CORPORA = Filters({"text": holds("name"), "since": since("created_at")}, order=("id", "name", "created_at"))


@extend_schema_view(get=extend_schema(parameters=CORPORA.parameters))
class Corpora(generics.ListAPIView[Corpus]):
    """All corpora, and importing a new one or into an existing one."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.CorpusSerializer
    parser_classes = (Multipart,)
    queryset = Corpus.objects.order_by("name")

    def list(self, request: Request, *args: Any, **options: Any) -> Response:
        """List corpora with their counts."""
        page = self.paginate_queryset(CORPORA.of(request, self.get_queryset())) or []
        context = {"counts": queries.counts(page)}
        return self.get_paginated_response(schemas.CorpusSerializer(page, many=True, context=context).data)

    @extend_schema(
        request={"multipart/form-data": schemas.ImportRequest},
        responses={
            201: schemas.ImportAnswer,
            200: schemas.ImportAnswer,
            202: schemas.JobAnswer,
            400: OpenApiResponse(schemas.REFUSED_FILE, description="The file, or the form, is refused."),
        },
    )
    def post(self, request: Request) -> Response:
        """Import a file: 201 where something is new, 200 where all of it was there already.

        A file over 4 MiB, or an Excel workbook, is left to a worker: 202 with the id of a job, whose `result`
        will be the same answer. A file that is refused is told by `file`, `line`, `field` and `reason`; where
        it has several problems, `problems` lists them, up to 20.
        """
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > settings.UPLOAD_LIMIT_BYTES + OVERHEAD:
            return Response(
                {"detail": "The file is too large."}, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
            )
        serializer = schemas.ImportRequest(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            order = _understood(**serializer.validated_data)
            if sum(file.size for file in order["files"]) > AT_ONCE or FORMATS[order["format"]].packed:
                return Response(_job(request, **order), status=status.HTTP_202_ACCEPTED)
            result = _import(request, **order)
        except ImportProblem as problem:
            answer = {"detail": str(problem), "code": "import_refused", **problem.as_answer()}
            return Response(answer, status=status.HTTP_400_BAD_REQUEST)
        code = status.HTTP_201_CREATED if result.created else status.HTTP_200_OK
        return Response({**result.as_answer(), "format": order["format"]}, status=code)


def _understood(
    *, file: UploadedFile[Any], more: list[UploadedFile[Any]], format: str, columns: str, **rest: Any
) -> dict[str, Any]:
    """Return what is asked for with columns and settings read, and the format found where none is named."""
    mapped = columns_of(columns)
    files = [file, *more]
    telling = uploads.first(files)
    format_name = format or guess(FORMATS, telling.read(SIZE), mapped)
    telling.seek(0)
    uploads.check(files, format_name)
    options = settings_of(
        {key: rest.pop(key) for key in SETTINGS}, format_name, FORMATS[format_name].settings
    )
    return {"files": files, "format": format_name, "columns": mapped, "settings": options, **rest}


def _job(
    request: Request,
    *,
    files: uploads.Files,
    name: str,
    into: str,
    settings: dict[str, str | int],
    **rest: Any,
) -> dict[str, int | None]:
    """Leave a file to a worker; return the id of the job."""
    upload = uploads.receive(
        by=_user(request),
        file=files[0],
        more=files[1:],
        corpus_name=into or name,
        into=bool(into),
        file_settings=settings,
        **rest,
    )
    return {"job": upload.job_id}


def _import(
    request: Request, *, files: uploads.Files, name: str, into: str, format: str, **rest: Any
) -> ImportResult:
    """Import a small file at once; it is on disk for as long as that takes."""
    with tempfile.TemporaryDirectory(prefix="concord-import-") as folder:
        stored = Path(folder) / "sent"
        uploads.write(files, stored)
        return import_path(
            path=stored,
            name=uploads.together(files),
            format=format,
            corpus=into or name,
            into=bool(into),
            by=_user(request),
            **rest,
        )


class CorpusDetail(APIView):
    """One corpus: reading it, and deleting it."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=schemas.CorpusDetailSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return a corpus with its imports and systems."""
        corpus = access.corpus_named(name)
        context = {"counts": queries.counts([corpus])}
        return Response(schemas.CorpusDetailSerializer(corpus, context=context).data)

    @extend_schema(
        parameters=[schemas.DeletionRequest],
        responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT},
    )
    def delete(self, request: Request, name: str) -> Response:
        """Delete a corpus with everything about it. Administrators.

        `confirmation` is the corpus's name, in the query or in a JSON body. 202 with the id of a job where it
        takes a while.
        """
        if not is_administrator(request.user):
            raise PermissionDenied
        corpus = access.corpus_named(name)
        serializer = schemas.DeletionRequest(data=request.data or request.query_params)
        serializer.is_valid(raise_exception=True)
        try:
            gone = deletion.start_deletion(corpus=corpus, by=_user(request), **serializer.validated_data)
        except DeletionRefused as refused:
            return Response({"confirmation": [str(refused)]}, status=status.HTTP_400_BAD_REQUEST)
        if isinstance(gone, Job):
            return Response({"job": gone.pk}, status=status.HTTP_202_ACCEPTED)
        return Response({"deleted": gone})


class Dialogues(generics.ListAPIView[Dialogue]):
    """The dialogues of a corpus."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.DialogueSerializer

    @extend_schema(
        parameters=[
            *_query("system"),
            OpenApiParameter("part", OpenApiTypes.STR, enum=[TRAINING, EVALUATION]),
        ]
    )
    def get(self, request: Request, *args: Any, **options: Any) -> Response:
        """List dialogues: those that a `system` took part in, those of a `part`, where they are named."""
        return super().get(request, *args, **options)

    def get_queryset(self) -> QuerySet[Dialogue]:
        """Return the dialogues that are asked for."""
        if getattr(self, "swagger_fake_view", False):
            return Dialogue.objects.none()
        system, part = _value(self.request, "system"), _value(self.request, "part")
        if part not in ("", TRAINING, EVALUATION):
            raise ValidationError({"part": f"A part is {TRAINING} or {EVALUATION}, not {part!r}."})
        return queries.dialogues(access.corpus_named(self.kwargs["name"]), system=system, part=part)


class Turns(generics.GenericAPIView[Turn]):
    """Searching the turns of a corpus."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.TurnSearchSerializer
    queryset = Turn.objects.none()

    @extend_schema(
        parameters=[*_query("text", "speaker", "system", "after"), LIMIT],
        responses=schemas.TurnSearchSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        """List turns by `text` (anywhere, in any case), `speaker` and `system`.

        A search of a large corpus ends after a moment with what was found so far, which may be nothing:
        `next` is the address that goes on with it, null once the whole corpus was searched.
        """
        filters = {key: _value(request, key) for key in ("text", "speaker", "system", "after")}
        matches = queries.search(access.corpus_named(name), **filters, most=Pages().get_limit(request))
        turn_numbers.number(matches.turns)
        address = request.build_absolute_uri()
        further = replace_query_param(address, "after", matches.after) if matches.after else None
        return Response(schemas.TurnSearchSerializer({"next": further, "results": matches.turns}).data)


class Items(generics.ListAPIView[Item]):
    """The items of a corpus, with the keys that name them in files."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.ItemSerializer

    @extend_schema(parameters=_query("kind", "dialogue", "system"))
    def get(self, request: Request, *args: Any, **options: Any) -> Response:
        """List items by `kind` (such as turn or dialogue), `dialogue` and `system`."""
        return super().get(request, *args, **options)

    def get_queryset(self) -> QuerySet[Item]:
        """Return the items that are asked for."""
        if getattr(self, "swagger_fake_view", False):
            return Item.objects.none()
        filters = {name: _value(self.request, name) for name in ("kind", "dialogue", "system")}
        items = queries.items(access.corpus_named(self.kwargs["name"]), **filters)
        items = items.select_related("turn", "record", "continuation__dialogue", "continuation__system")
        return items.prefetch_related("members__continuation__system", "members__turn")

    def paginate_queryset(self, queryset: Any) -> Any:
        """Number the turns of a page together."""
        page = super().paginate_queryset(queryset)
        turn_numbers.number(item.turn for item in page or [])
        return page


class DialogueDetail(generics.RetrieveAPIView[Dialogue]):
    """One dialogue with its continuations and turns."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.DialogueDetailSerializer
    queryset = Dialogue.objects.select_related("corpus").prefetch_related(
        Prefetch(
            "continuations",
            Continuation.objects.select_related("system").annotate(n_turns=Count("turns")).order_by("pk"),
        )
    )

    def get_object(self) -> Dialogue:
        """Return the dialogue with its turns, numbered together; without them where it has its own pages."""
        dialogue = super().get_object()
        if hooks.own_pages(dialogue) is None:
            prefetch_related_objects([dialogue], "continuations__turns")
            turn_numbers.number(turn for own in dialogue.continuations.all() for turn in own.turns.all())
        return dialogue


class Splits(generics.ListAPIView[Split]):
    """The splits of a corpus into dev and test."""

    permission_classes = (IsResearcher,)
    serializer_class = schemas.SplitSerializer
    pagination_class = None

    def get_queryset(self) -> QuerySet[Split]:
        """Return the corpus's splits, first drawn first."""
        if getattr(self, "swagger_fake_view", False):
            return Split.objects.none()
        return access.corpus_named(self.kwargs["name"]).splits.order_by("id")

    @extend_schema(request=schemas.DrawRequest, responses={201: schemas.SplitSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Draw a split, or draw it anew while it is not used. One that opens test needs its `purpose`."""
        serializer = schemas.DrawRequest(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            split = splits.draw(
                corpus=access.corpus_named(name), by=_user(request), **serializer.validated_data
            )
        except SplitRefused as refused:
            return Response({"detail": str(refused)}, status=status.HTTP_400_BAD_REQUEST)
        answer: BaseSerializer[Split] = schemas.SplitSerializer(split)
        return Response(answer.data, status=status.HTTP_201_CREATED)
