"""The API of question sets: making them, their questions and uses; and the relations of facts."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access
from annotation.api.corpora import LIMIT
from annotation.models import QuestionSet, Use
from annotation.models.records import Record
from annotation.script_records import FACT, QUESTION, STATUSES
from config.files import row_id
from config.lists import paged
from config.permissions import user_of
from config.request_json import storable
from jobs.models import Job
from suites.api import OFFSET, REFUSED_FIELD, Plain, answered, list_answer, validated
from suites.long_dialogue.api.scripts import NUMBER
from suites.long_dialogue.editing import question_editing, question_records, question_relations, question_sets
from suites.long_dialogue.editing.question_editing import DECIDED, TEXT_LIMIT
from suites.long_dialogue.editing.question_figures import figures_of
from suites.long_dialogue.editing.question_sets import LONGEST_NAME, MOST_SEED
from suites.long_dialogue.scripts.quiz import POLICIES

# What the API of facts, questions, question sets and relations takes and gives.


@extend_schema_field(OpenApiTypes.OBJECT)
class JsonObject(serializers.JSONField):
    """Any JSON object, as the native format writes it."""


class RecordRow(Plain):
    """A fact or a question. `content` is as the native format writes it; positions of turns count from 0."""

    id = serializers.IntegerField(source="pk")
    dialogue = serializers.CharField(source="dialogue.key")
    kind = serializers.CharField()
    key = serializers.CharField()
    status = serializers.ChoiceField(choices=STATUSES)
    content = JsonObject()
    provenance = JsonObject()
    superseded_by = serializers.IntegerField(source="superseded_by_id", allow_null=True)


class FactRequest(Plain):
    """A fact by hand. `session` is an id or a number, `turns` are numbers from 1."""

    dialogue = serializers.CharField(max_length=300, help_text="the script's id in its file")
    head = serializers.CharField(max_length=300)
    relation = serializers.CharField(max_length=300)
    tail = serializers.CharField(max_length=300)
    session = serializers.CharField(max_length=300)
    turns = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), required=False, max_length=1000
    )
    accepted = serializers.BooleanField(default=False, help_text="at once, without review")


class QuizRequest(Plain):
    """A quiz question by hand. `evidence` are ids or numbers of sessions."""

    dialogue = serializers.CharField(max_length=300, help_text="the script's id in its file")
    text = serializers.CharField(max_length=TEXT_LIMIT)
    answer = serializers.CharField(max_length=TEXT_LIMIT)
    choices = serializers.ListField(child=serializers.CharField(max_length=TEXT_LIMIT), max_length=10)
    evidence = serializers.ListField(child=serializers.CharField(max_length=300), max_length=1000)
    evidence_all = serializers.BooleanField(default=False)
    accepted = serializers.BooleanField(default=False, help_text="at once, without review")


class RecordChange(Plain):
    """What a fact or a question shall say, in the fields of its request; or its status, without review."""

    content = JsonObject(required=False)
    status = serializers.ChoiceField(choices=DECIDED, required=False)


class Reason(Plain):
    """Why drafts are undecided, and how many."""

    reason = serializers.CharField()
    n = serializers.IntegerField()


class Applied(Plain):
    """What taking over reviews came to, or would."""

    kind = serializers.CharField()
    accepted = serializers.IntegerField()
    corrected = serializers.IntegerField()
    rejected = serializers.IntegerField()
    undecided = serializers.IntegerField()
    unreviewed = serializers.IntegerField()
    reasons = Reason(many=True)


class DecideRequest(Plain):
    """Records by id to accept or reject without review; or `drafts`: accept all that nobody reviewed."""

    records = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), required=False, default=list,
        max_length=10_000,
    )  # fmt: skip
    status = serializers.ChoiceField(choices=DECIDED, default="accepted")
    drafts = serializers.BooleanField(default=False)


class Decided(Plain):
    """How many changed."""

    changed = serializers.IntegerField()


class SetRow(Plain):
    """A question set: how it was made, in numbers, whether a simulation used it, and why it is stale."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    version = serializers.IntegerField()
    imported = serializers.BooleanField()
    options = JsonObject()
    figures = JsonObject()
    digest = serializers.CharField()
    stale = serializers.CharField()
    used_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class MakeRequest(Plain):
    """How a question set is made."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)
    policy = serializers.ChoiceField(choices=POLICIES, default="body")
    presence = serializers.BooleanField(default=True)


class MadeAnswer(Plain):
    """The set, and whether it is new; or the job that makes it."""

    created = serializers.BooleanField()
    set = SetRow(allow_null=True)
    job = serializers.IntegerField(allow_null=True)


class UseRow(Plain):
    """A question asked in a session (its number): key, type, and why; `choices` stand at A to D.

    `since` is the position of the last own turn that has to be heard before, null for none.
    """

    question = serializers.CharField()
    dialogue = serializers.CharField()
    session = serializers.IntegerField()
    id = serializers.CharField(help_text="the session's id")
    date = serializers.CharField()
    answerable = serializers.BooleanField()
    key = serializers.CharField()
    right = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    type = serializers.CharField()
    type_told = serializers.CharField()
    why = serializers.ListField(child=serializers.DictField())
    rule = serializers.CharField()
    rule_told = serializers.CharField()
    since = serializers.IntegerField(allow_null=True)


class RelationTableRow(Plain):
    """A corpus's relations; version 0 is the table that comes with Concord."""

    version = serializers.IntegerField()
    rows = serializers.ListField(child=JsonObject())


class RelationsRequest(Plain):
    """A whole table. `seen` is the version that whoever changes it has seen: another one is refused."""

    rows = serializers.ListField(child=JsonObject(), max_length=1000)
    seen = serializers.IntegerField(
        min_value=0, max_value=10**6, required=False, allow_null=True, default=None
    )


FILTERS = {
    "text": "in question or answer",
    "source": "quiz or tkg",
    "hops": "0, 1 or 2",
    "relation": "of a fact",
    "type": "of a use",
    "answerable": "yes or no",
}
NARROWED = [
    OpenApiParameter(name, OpenApiTypes.STR, description=description) for name, description in FILTERS.items()
]


def asked_of(request: Request, names: Any) -> dict[str, str]:
    """Return what a list is narrowed by, each a short text that can be stored."""
    try:
        return {name: storable(request.query_params.get(name, ""))[:200] for name in names}
    except ValueError:
        raise Http404 from None


class QuestionSets(generics.GenericAPIView[QuestionSet]):
    """The question sets of a corpus."""

    serializer_class = SetRow
    queryset = QuestionSet.objects.none()

    @extend_schema(
        operation_id="corpora_question_sets_list", parameters=[LIMIT, OFFSET], responses=SetRow(many=True)
    )
    def get(self, request: Request, pk: int) -> Response:
        """List question sets, each in numbers."""
        page = self.paginate_queryset(access.corpus(pk).question_sets.order_by("id")) or []
        return self.get_paginated_response([_set(question_set) for question_set in page])

    @extend_schema(
        request=MakeRequest, responses={201: MadeAnswer, 200: MadeAnswer, 202: MadeAnswer, 400: REFUSED_FIELD}
    )
    @answered
    def post(self, request: Request, pk: int) -> Response:
        """Make a question set: 200 where the same is there, 202 with the job where it takes long."""
        corpus = access.corpus(pk)
        options = validated(MakeRequest, request.data)
        done = question_sets.make_or_start(corpus=corpus, by=user_of(request), **options)
        if isinstance(done, Job):
            data = {"created": False, "set": None, "job": done.pk}
            return Response(data, status=status.HTTP_202_ACCEPTED)
        code = status.HTTP_201_CREATED if done.created else status.HTTP_200_OK
        return Response({"created": done.created, "set": _set(done.set), "job": None}, status=code)


def _set(question_set: QuestionSet) -> Any:
    figures_of(question_set)
    return SetRow(question_set).data


@extend_schema(responses=SetRow)
@api_view(["GET"])
def question_set(request: Request, pk: int, one: int) -> Response:
    """Return a set in numbers: candidates by source, hops and type, and what is never asked."""
    return Response(_set(access.question_set(pk, one)))


@extend_schema(
    operation_id="corpora_question_sets_questions",
    parameters=[LIMIT, OFFSET, *NARROWED],
    responses=RecordRow(many=True),
)
@paged
@api_view(["GET"])
def set_questions(request: Request, pk: int, one: int) -> Response:
    """List the questions that a set asks."""
    stored = access.question_set(pk, one)
    rows = question_records.questions_of(stored, asked_of(request, FILTERS))
    return list_answer(request, rows, lambda page: RecordRow(page, many=True).data)


@extend_schema(
    operation_id="corpora_question_sets_uses",
    parameters=[
        LIMIT,
        OFFSET,
        OpenApiParameter("question", OpenApiTypes.STR, description="by key"),
        OpenApiParameter("type", OpenApiTypes.STR),
        NUMBER,
    ],
    responses=UseRow(many=True),
)
@paged
@api_view(["GET"])
def set_uses(request: Request, pk: int, one: int) -> Response:
    """List where questions are asked: in which session, answerable or not, the key, the type, and why."""
    stored = access.question_set(pk, one)
    filters = asked_of(request, ("question", "type", "session"))
    rows = Use.objects.filter(set=stored).select_related("question__dialogue").order_by("id")
    rows = rows.filter(question__key=filters["question"]) if filters["question"] else rows
    rows = rows.filter(type=filters["type"]) if filters["type"] else rows
    if filters["session"]:
        number = row_id(filters["session"])
        rows = rows.filter(session=number) if number and number < 2**31 else rows.none()
    return list_answer(request, rows, lambda page: list(map(_use, page)))


def _use(use: Use) -> dict[str, Any]:
    use_data = question_records.describe_use(use, use.question, question_records.sessions_of(use.question))
    return {"question": use.question.key, "dialogue": use.question.dialogue.key, **use_data}


class Relations(APIView):
    """The relations that facts of a corpus may have."""

    @extend_schema(responses=RelationTableRow)
    def get(self, request: Request, pk: int) -> Response:
        """Return the table in force."""
        return Response(_table(pk))

    @extend_schema(request=RelationsRequest, responses={200: RelationTableRow, 400: REFUSED_FIELD})
    @answered
    def put(self, request: Request, pk: int) -> Response:
        """Keep another table as the next version; the same one changes nothing."""
        corpus = access.corpus(pk)
        table = validated(RelationsRequest, request.data)
        question_relations.replace_relations(corpus=corpus, by=user_of(request), **table)
        return Response(_table(pk))


def _table(pk: int) -> dict[str, Any]:
    corpus = access.corpus(pk)
    return {
        "version": question_relations.version_of(corpus),
        "rows": question_relations.table_of(corpus).as_rows(),
    }


# The API of facts and quiz questions: listed, written, changed, reviews taken over, decided without.

RECORD_FILTER_HELP = {
    "status": "draft, accepted or rejected",
    "text": "in any field",
    "dialogue": "by its id in the file",
}
RECORD_FILTERS = [
    OpenApiParameter(name, OpenApiTypes.STR, description=description)
    for name, description in RECORD_FILTER_HELP.items()
]


class _Records(generics.GenericAPIView[Record]):
    """Facts or quiz questions of a corpus."""

    serializer_class = RecordRow
    queryset = Record.objects.none()
    kind: ClassVar[str]
    asks: ClassVar[type[Plain]]

    def list_records(self, request: Request, pk: int) -> Response:
        """Return a page of them."""
        rows = question_records.current_records(access.corpus(pk), self.kind)
        rows = question_records.narrowed(rows, asked_of(request, (*RECORD_FILTER_HELP, "relation")))
        return list_answer(request, rows, lambda page: RecordRow(page, many=True).data)

    @answered
    def added(self, request: Request, pk: int) -> Response:
        """Write one by hand."""
        corpus = access.corpus(pk)
        content = validated(self.asks, request.data)
        scripts = corpus.dialogues.filter(script__isnull=False)
        dialogue = get_object_or_404(scripts, key=content.pop("dialogue"))
        accepted = content.pop("accepted")
        record = question_editing.add(
            dialogue=dialogue, kind=self.kind, content=content, accepted=accepted, by=user_of(request)
        )
        return Response(RecordRow(record).data, status=status.HTTP_201_CREATED)


class Facts(_Records):
    """The facts of a corpus's scripts."""

    kind, asks = FACT, FactRequest

    @extend_schema(
        operation_id="corpora_facts_list",
        parameters=[LIMIT, OFFSET, *RECORD_FILTERS, OpenApiParameter("relation", OpenApiTypes.STR)],
        responses=RecordRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """List facts that nothing supersedes."""
        return self.list_records(request, pk)

    @extend_schema(request=FactRequest, responses={201: RecordRow, 400: REFUSED_FIELD})
    def post(self, request: Request, pk: int) -> Response:
        """Write a fact by hand, as a draft or accepted at once."""
        return self.added(request, pk)


class Quiz(_Records):
    """The quiz questions of a corpus's scripts."""

    kind, asks = QUESTION, QuizRequest

    @extend_schema(
        operation_id="corpora_questions_list",
        parameters=[LIMIT, OFFSET, *RECORD_FILTERS],
        responses=RecordRow(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        """List quiz questions that nothing supersedes; those of a set are listed with the set."""
        return self.list_records(request, pk)

    @extend_schema(request=QuizRequest, responses={201: RecordRow, 400: REFUSED_FIELD})
    def post(self, request: Request, pk: int) -> Response:
        """Write a quiz question by hand, as a draft or accepted at once."""
        return self.added(request, pk)


class OneRecord(APIView):
    """One fact or question."""

    @extend_schema(responses=RecordRow)
    def get(self, request: Request, pk: int, record: int) -> Response:
        """Return a fact or a question."""
        return Response(RecordRow(access.record(pk, record)).data)

    @extend_schema(request=RecordChange, responses={200: RecordRow, 400: REFUSED_FIELD})
    @answered
    def patch(self, request: Request, pk: int, record: int) -> Response:
        """Put it right, or accept or reject it without review; what was reviewed is superseded.

        The answer is the record that counts now.
        """
        record_row = access.record(pk, record)
        data = validated(RecordChange, request.data)
        if "content" in data and not isinstance(data["content"], dict):
            raise ValidationError({"content": "Write an object."})
        if "content" in data:
            record_row = question_editing.change(
                record=record_row, content=data["content"], by=user_of(request)
            )
        if "status" in data:
            question_editing.decide(
                corpus=access.corpus(pk),
                records=[record_row.pk],
                status=data["status"],
                by=user_of(request),
            )
        return Response(RecordRow(access.record(pk, record_row.pk)).data)


def _kind(kind: str) -> str:
    if kind not in (FACT, QUESTION):
        raise Http404
    return kind


class Reviews(APIView):
    """What the reviews of a corpus's facts (`fact`) or quiz questions (`question`) came to."""

    @extend_schema(responses=Applied)
    def get(self, request: Request, pk: int, kind: str) -> Response:
        """Return what taking them over would do; nothing is changed."""
        return Response(question_editing.preview_reviews(access.corpus(pk), _kind(kind)).as_json())

    @extend_schema(request=None, responses=Applied)
    def post(self, request: Request, pk: int, kind: str) -> Response:
        """Take them over: accept, reject, and put right by records that supersede."""
        done = question_editing.apply_reviews(corpus=access.corpus(pk), kind=_kind(kind), by=user_of(request))
        return Response(done.as_json())


@extend_schema(request=DecideRequest, responses={200: Decided, 400: REFUSED_FIELD})
@api_view(["POST"])
@answered
def decide_records(request: Request, pk: int, kind: str) -> Response:
    """Accept or reject records, or accept all drafts that nobody reviewed; the log says who did."""
    corpus, kind = access.corpus(pk), _kind(kind)
    data = validated(DecideRequest, request.data)
    if data["drafts"]:
        changed = question_editing.accept_drafts(corpus=corpus, kind=kind, by=user_of(request))
    else:
        changed = question_editing.decide(
            corpus=corpus, records=data["records"], status=data["status"], by=user_of(request)
        )
    return Response({"changed": changed})
