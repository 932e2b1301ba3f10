"""The API of question sets: making them, their questions and uses; and the relations of facts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.api.question_serializers import (
    REFUSED,
    MadeAnswer,
    MakeRequest,
    RecordRow,
    RelationsRequest,
    RelationTableRow,
    SetRow,
    UseRow,
)
from annotation.api.scripts import OFFSET
from annotation.errors import QuestionsRefused
from annotation.models import QuestionSet, Record, Use
from annotation.question_sets import job as question_set_job
from annotation.question_sets import reading, relations
from annotation.question_sets.figures import figures_of
from config.files import row_id
from config.permissions import IsResearcher
from config.request_json import storable
from jobs.models import Job

FILTERS = {
    "text": "in question or answer",
    "source": "quiz or tkg",
    "hops": "0, 1 or 2",
    "relation": "of a fact",
    "type": "of a use",
    "answerable": "yes or no",
}
NARROWED = [OpenApiParameter(name, OpenApiTypes.STR, description=told) for name, told in FILTERS.items()]


def refused_answer(refused: QuestionsRefused) -> Response:
    """Return the answer that says why nothing was changed."""
    told = {"detail": str(refused), "code": "questions_refused", "field": refused.field}
    return Response(told, status=status.HTTP_400_BAD_REQUEST)


def user_of(request: Request) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


def asked_of(request: Request, names: Any) -> dict[str, str]:
    """Return what a list is narrowed by, each a short text that can be stored."""
    try:
        return {name: storable(request.query_params.get(name, ""))[:200] for name in names}
    except ValueError:
        raise Http404 from None


class QuestionSets(generics.GenericAPIView[QuestionSet]):
    """The question sets of a corpus."""

    permission_classes = (IsResearcher,)
    serializer_class = SetRow
    queryset = QuestionSet.objects.none()

    @extend_schema(
        operation_id="corpora_question_sets_list", parameters=[LIMIT, OFFSET], responses=SetRow(many=True)
    )
    def get(self, request: Request, pk: int) -> Response:
        """List question sets, each in numbers."""
        page = self.paginate_queryset(access.corpus(pk).question_sets.order_by("id")) or []
        return self.get_paginated_response([_set(one) for one in page])

    @extend_schema(
        request=MakeRequest, responses={201: MadeAnswer, 200: MadeAnswer, 202: MadeAnswer, 400: REFUSED}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Make a question set: 200 where the same is there, 202 with the job where it takes long."""
        corpus = access.corpus(pk)
        asked = MakeRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            done = question_set_job.make(corpus=corpus, by=user_of(request), **asked.validated_data)
        except QuestionsRefused as refused:
            return refused_answer(refused)
        if isinstance(done, Job):
            told = {"created": False, "set": None, "job": done.pk}
            return Response(told, status=status.HTTP_202_ACCEPTED)
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        return Response({"created": done.created, "set": _set(done.set), "job": None}, status=code)


def _set(one: QuestionSet) -> Any:
    figures_of(one)
    return SetRow(one).data


class OneQuestionSet(APIView):
    """One question set."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=SetRow)
    def get(self, request: Request, pk: int, one: int) -> Response:
        """Return a set in numbers: candidates by source, hops and type, and what is never asked."""
        return Response(_set(access.question_set(pk, one)))


class SetQuestions(generics.GenericAPIView[Record]):
    """The questions of a set."""

    permission_classes = (IsResearcher,)
    serializer_class = RecordRow
    queryset = Record.objects.none()

    @extend_schema(
        operation_id="corpora_question_sets_questions",
        parameters=[LIMIT, OFFSET, *NARROWED],
        responses=RecordRow(many=True),
    )
    def get(self, request: Request, pk: int, one: int) -> Response:
        """List the questions that a set asks."""
        found = access.question_set(pk, one)
        page = self.paginate_queryset(reading.questions_of(found, asked_of(request, FILTERS))) or []
        return self.get_paginated_response(RecordRow(page, many=True).data)


class SetUses(generics.GenericAPIView[Use]):
    """The uses of a set."""

    permission_classes = (IsResearcher,)
    serializer_class = UseRow
    queryset = Use.objects.none()

    @extend_schema(
        operation_id="corpora_question_sets_uses",
        parameters=[
            LIMIT,
            OFFSET,
            OpenApiParameter("question", OpenApiTypes.STR, description="by key"),
            OpenApiParameter("type", OpenApiTypes.STR),
            OpenApiParameter(
                "session", {"type": "integer", "minimum": 1, "maximum": 10**6}, description="by number"
            ),
        ],
        responses=UseRow(many=True),
    )
    def get(self, request: Request, pk: int, one: int) -> Response:
        """List where questions are asked: in which session, answerable or not, the key, the type, and why."""
        found = access.question_set(pk, one)
        asked = asked_of(request, ("question", "type", "session"))
        rows = Use.objects.filter(set=found).select_related("question__dialogue").order_by("id")
        rows = rows.filter(question__key=asked["question"]) if asked["question"] else rows
        rows = rows.filter(type=asked["type"]) if asked["type"] else rows
        if asked["session"]:
            number = row_id(asked["session"])
            rows = rows.filter(session=number) if number and number < 2**31 else rows.none()
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response([_use(use) for use in page])


def _use(use: Use) -> dict[str, Any]:
    told = reading.use_told(use, use.question, reading.sessions_of(use.question))
    return {"question": use.question.key, "dialogue": use.question.dialogue.key, **told}


class Relations(APIView):
    """The relations that facts of a corpus may have."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=RelationTableRow)
    def get(self, request: Request, pk: int) -> Response:
        """Return the table in force."""
        return Response(_table(pk))

    @extend_schema(request=RelationsRequest, responses={200: RelationTableRow, 400: REFUSED})
    def put(self, request: Request, pk: int) -> Response:
        """Keep another table as the next version; the same one changes nothing."""
        corpus = access.corpus(pk)
        asked = RelationsRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            relations.replace(corpus=corpus, by=user_of(request), **asked.validated_data)
        except QuestionsRefused as refused:
            return refused_answer(refused)
        return Response(_table(pk))


def _table(pk: int) -> dict[str, Any]:
    corpus = access.corpus(pk)
    return {"version": relations.version_of(corpus), "rows": relations.table_of(corpus).as_rows()}
