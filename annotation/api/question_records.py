"""The API of facts and quiz questions: listed, written, changed, reviews taken over, decided without."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.api.question_serializers import (
    REFUSED,
    Applied,
    Decided,
    DecideRequest,
    FactRequest,
    QuizRequest,
    RecordChange,
    RecordRow,
)
from annotation.api.questions import asked_of, refused_answer, user_of
from annotation.api.scripts import OFFSET
from annotation.errors import QuestionsRefused
from annotation.models import Record
from annotation.question_sets import applying, editing, reading
from annotation.scripts.records import FACT, QUESTION
from config.permissions import IsResearcher

ASKED = {"status": "draft, accepted or rejected", "text": "in any field", "dialogue": "by its id in the file"}
NARROWED = [OpenApiParameter(name, OpenApiTypes.STR, description=told) for name, told in ASKED.items()]


class _Records(generics.GenericAPIView[Record]):
    """Facts or quiz questions of a corpus."""

    permission_classes = (IsResearcher,)
    serializer_class = RecordRow
    queryset = Record.objects.none()
    kind: ClassVar[str]
    asks: ClassVar[type[serializers.Serializer[Any]]]

    def listed(self, request: Request, pk: int) -> Response:
        """Return a page of them."""
        rows = reading.standing(access.corpus(pk), self.kind)
        page = self.paginate_queryset(reading.narrowed(rows, asked_of(request, (*ASKED, "relation")))) or []
        return self.get_paginated_response(RecordRow(page, many=True).data)

    def added(self, request: Request, pk: int) -> Response:
        """Write one by hand."""
        corpus = access.corpus(pk)
        asked = self.asks(data=request.data)
        asked.is_valid(raise_exception=True)
        told = dict(asked.validated_data)
        scripts = corpus.dialogues.filter(script__isnull=False)
        dialogue = get_object_or_404(scripts, key=told.pop("dialogue"))
        accepted = told.pop("accepted")
        try:
            made = editing.add(
                dialogue=dialogue, kind=self.kind, content=told, accepted=accepted, by=user_of(request)
            )
        except QuestionsRefused as refused:
            return refused_answer(refused)
        return Response(RecordRow(made).data, status=status.HTTP_201_CREATED)


class Facts(_Records):
    """The facts of a corpus's scripts."""

    kind, asks = FACT, FactRequest

    @extend_schema(
        operation_id="corpora_facts_list",
        parameters=[LIMIT, OFFSET, *NARROWED, OpenApiParameter("relation", OpenApiTypes.STR)],
        responses=RecordRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """List facts that nothing supersedes."""
        return self.listed(request, pk)

    @extend_schema(request=FactRequest, responses={201: RecordRow, 400: REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        """Write a fact by hand, as a draft or accepted at once."""
        return self.added(request, pk)


class Quiz(_Records):
    """The quiz questions of a corpus's scripts."""

    kind, asks = QUESTION, QuizRequest

    @extend_schema(
        operation_id="corpora_questions_list",
        parameters=[LIMIT, OFFSET, *NARROWED],
        responses=RecordRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """List quiz questions that nothing supersedes; those of a set are listed with the set."""
        return self.listed(request, pk)

    @extend_schema(request=QuizRequest, responses={201: RecordRow, 400: REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        """Write a quiz question by hand, as a draft or accepted at once."""
        return self.added(request, pk)


class OneRecord(APIView):
    """One fact or question."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=RecordRow)
    def get(self, request: Request, pk: int, record: int) -> Response:
        """Return a fact or a question."""
        return Response(RecordRow(access.record(pk, record)).data)

    @extend_schema(request=RecordChange, responses={200: RecordRow, 400: REFUSED})
    def patch(self, request: Request, pk: int, record: int) -> Response:
        """Put it right, or accept or reject it without review; what was reviewed is superseded.

        The answer is the record that counts now.
        """
        found = access.record(pk, record)
        asked = RecordChange(data=request.data)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        if "content" in told and not isinstance(told["content"], dict):
            raise ValidationError({"content": "Write an object."})
        try:
            if "content" in told:
                found = editing.change(record=found, content=told["content"], by=user_of(request))
            if "status" in told:
                editing.decide(
                    corpus=access.corpus(pk), records=[found.pk], status=told["status"], by=user_of(request)
                )
        except QuestionsRefused as refused:
            return refused_answer(refused)
        return Response(RecordRow(access.record(pk, found.pk)).data)


def _kind(kind: str) -> str:
    if kind not in (FACT, QUESTION):
        raise Http404
    return kind


class Reviews(APIView):
    """What the reviews of a corpus's facts (`fact`) or quiz questions (`question`) came to."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=Applied)
    def get(self, request: Request, pk: int, kind: str) -> Response:
        """Return what taking them over would do; nothing is changed."""
        return Response(applying.preview(access.corpus(pk), _kind(kind)).as_json())

    @extend_schema(request=None, responses=Applied)
    def post(self, request: Request, pk: int, kind: str) -> Response:
        """Take them over: accept, reject, and put right by records that supersede."""
        done = applying.apply(corpus=access.corpus(pk), kind=_kind(kind), by=user_of(request))
        return Response(done.as_json())


class DecideRecords(APIView):
    """Accepting and rejecting without review, for a researcher's own material."""

    permission_classes = (IsResearcher,)

    @extend_schema(request=DecideRequest, responses={200: Decided, 400: REFUSED})
    def post(self, request: Request, pk: int, kind: str) -> Response:
        """Accept or reject records, or accept all drafts that nobody reviewed; the log says who did."""
        corpus, kind = access.corpus(pk), _kind(kind)
        asked = DecideRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        told = asked.validated_data
        if told["drafts"]:
            changed = editing.accept_drafts(corpus=corpus, kind=kind, by=user_of(request))
        else:
            changed = editing.decide(
                corpus=corpus, records=told["records"], status=told["status"], by=user_of(request)
            )
        return Response({"changed": changed})
