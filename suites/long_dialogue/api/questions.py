"""The HTTP API of facts, quiz questions, question sets and relations. Researchers only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.corpora_serializers import exclude_field
from annotation.formats.fields import ID_LIMIT
from annotation.models import Corpus, QuestionSet, Use
from annotation.models.records import Record
from annotation.script_records import FACT, QUESTION, STATUSES
from config import api
from config.files import row_id
from config.request_json import storable
from jobs.endpoints.parameter_inputs import serializer_field
from jobs.models import Job
from suites.long_dialogue.access import record_kind
from suites.long_dialogue.api.scripts import NUMBER, REFUSES_FIELD
from suites.long_dialogue.editing import question_editing, question_records, question_relations, question_sets
from suites.long_dialogue.editing.question_editing import DECIDED, TEXT_LIMIT
from suites.long_dialogue.editing.question_figures import figures_of
from suites.long_dialogue.editing.question_sets import LONGEST_NAME, SEED
from suites.long_dialogue.scripts.quiz import POLICIES

Plain = serializers.Serializer[Any]

# Input and output of facts, questions, question sets and relations.


@extend_schema_field(OpenApiTypes.OBJECT)
class JsonObject(serializers.JSONField):
    """Any JSON object, as the native format writes it."""


class RecordRow(Plain):
    """A fact or a question. `content` is as in the native format; positions of turns count from 0."""

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

    dialogue = serializers.CharField(max_length=ID_LIMIT, help_text="the script's id in its file")
    head = serializers.CharField(max_length=ID_LIMIT)
    relation = serializers.CharField(max_length=ID_LIMIT)
    tail = serializers.CharField(max_length=ID_LIMIT)
    session = serializers.CharField(max_length=ID_LIMIT)
    turns = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), required=False, max_length=1000
    )
    accepted = serializers.BooleanField(default=False, help_text="at once, without review")


class QuizRequest(Plain):
    """A quiz question by hand. `evidence` are ids or numbers of sessions."""

    dialogue = serializers.CharField(max_length=ID_LIMIT, help_text="the script's id in its file")
    text = serializers.CharField(max_length=TEXT_LIMIT)
    answer = serializers.CharField(max_length=TEXT_LIMIT)
    choices = serializers.ListField(child=serializers.CharField(max_length=TEXT_LIMIT), max_length=10)
    evidence = serializers.ListField(child=serializers.CharField(max_length=ID_LIMIT), max_length=1000)
    evidence_all = serializers.BooleanField(default=False)
    accepted = serializers.BooleanField(default=False, help_text="at once, without review")


class RecordChange(Plain):
    """New content of a fact or a question, in the fields of its request; or its status, without review."""

    content = JsonObject(required=False)
    status = serializers.ChoiceField(choices=DECIDED, required=False)

    def validate_content(self, content: Any) -> Any:
        """Refuse anything but an object."""
        if not isinstance(content, dict):
            raise serializers.ValidationError("Write an object.")
        return content


class Reason(Plain):
    """A reason for undecided drafts, and their number."""

    reason = serializers.CharField()
    n = serializers.IntegerField()


class Applied(Plain):
    """Outcome, or preview, of applying reviews."""

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
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), default=list, max_length=10_000
    )
    status = serializers.ChoiceField(choices=DECIDED, default="accepted")
    drafts = serializers.BooleanField(default=False)


class Decided(Plain):
    """Number of changed records."""

    changed = serializers.IntegerField()


class SetRow(Plain):
    """A question set: options, figures, first use by a simulation, and the reason why it is stale."""

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
    """Options of a new question set."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    seed = serializer_field(SEED, default=0, allow_null=False)
    policy = serializers.ChoiceField(choices=POLICIES, default="body")
    presence = serializers.BooleanField(default=True)
    exclude = exclude_field()


class MadeAnswer(Plain):
    """The set, and whether it is new; or the job that makes it."""

    created = serializers.BooleanField()
    set = SetRow(allow_null=True)
    job = serializers.IntegerField(allow_null=True)


class UseRow(Plain):
    """A question asked in a session (its number): key, type, and reasons; `choices` are options A to D.

    `since` is the position of the last own turn that must be heard before, null for none.
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
    """A corpus's relations; version 0 is Concord's built-in table."""

    version = serializers.IntegerField()
    rows = serializers.ListField(child=JsonObject())


class RelationsRequest(Plain):
    """A complete table. `seen` is the version that the change is based on: if another is current, the
    change is refused."""

    rows = serializers.ListField(child=JsonObject(), max_length=1000)
    seen = serializers.IntegerField(min_value=0, max_value=10**6, allow_null=True, default=None)


QUESTION_FILTERS = {
    "text": "in question or answer",
    "source": "quiz or tkg",
    "hops": "0, 1 or 2",
    "relation": "of a fact",
    "type": "of a use",
    "answerable": "yes or no",
}
RECORD_FILTERS = {
    "status": "draft, accepted or rejected",
    "text": "in any field",
    "dialogue": "by its id in the file",
}
FACT_FILTERS = RECORD_FILTERS | {"relation": "by key"}
USE_FILTERS = {"question": "by key", "type": "of the use"}


def _parameters(filters: Mapping[str, str]) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, str, description=description) for name, description in filters.items()]


def _filter_values(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the filters of a list as short texts that the database can store; 404 for others."""
    try:
        return {name: storable(request.query_params.get(name, ""))[:200] for name in names}
    except ValueError:
        raise Http404 from None


# Question sets, their questions and uses.


def _with_figures(sets: list[QuestionSet]) -> list[QuestionSet]:
    """Compute the figures of sets that have none yet."""
    for question_set in sets:
        figures_of(question_set)
    return sets


@api.listing(SetRow, page=_with_figures, name="corpora_question_sets_list")
def sets(request: Request, pk: int) -> QuerySet[QuestionSet]:
    """List the question sets of a corpus with their figures."""
    return access.corpus(pk).question_sets.order_by("id")


@api.post(MakeRequest, responses={201: MadeAnswer, 200: MadeAnswer, 202: MadeAnswer, **REFUSES_FIELD})
def make_set(request: Request, pk: int) -> Response:
    """Make a question set: 200 if the same set exists, 202 with the job for a large corpus."""
    corpus = access.corpus(pk)
    result = question_sets.make_or_start(corpus=corpus, by=api.user(request), **api.data(request))
    if isinstance(result, Job):
        return Response({"created": False, "set": None, "job": result.pk}, status=202)
    figures_of(result.set)
    body = {"created": result.created, "set": SetRow(result.set).data, "job": None}
    return Response(body, status=201 if result.created else 200)


@api.get(SetRow)
def question_set(request: Request, pk: int, one: int) -> QuestionSet:
    """Return a set with its figures: candidates by source, hops and type, and exclusions."""
    stored = access.question_set(pk, one)
    figures_of(stored)
    return stored


@api.listing(RecordRow, query=_parameters(QUESTION_FILTERS), name="corpora_question_sets_questions")
def set_questions(request: Request, pk: int, one: int) -> QuerySet[Record]:
    """List the questions of a set."""
    stored = access.question_set(pk, one)
    return question_records.questions_of(stored, _filter_values(request, QUESTION_FILTERS))


def _use_rows(page: list[Use]) -> list[dict[str, Any]]:
    return [
        {
            "question": use.question.key,
            "dialogue": use.question.dialogue.key,
            **question_records.describe_use(use, use.question, question_records.sessions_of(use.question)),
        }
        for use in page
    ]


@api.listing(
    UseRow, query=[*_parameters(USE_FILTERS), NUMBER], page=_use_rows, name="corpora_question_sets_uses"
)
def set_uses(request: Request, pk: int, one: int) -> QuerySet[Use]:
    """List the uses of a set's questions: the session, answerable or not, key, type, and reasons."""
    stored = access.question_set(pk, one)
    filters = _filter_values(request, (*USE_FILTERS, "session"))
    rows = Use.objects.filter(set=stored).select_related("question__dialogue").order_by("id")
    rows = rows.filter(question__key=filters["question"]) if filters["question"] else rows
    rows = rows.filter(type=filters["type"]) if filters["type"] else rows
    if filters["session"]:
        number = row_id(filters["session"])
        rows = rows.filter(session=number) if number and number < 2**31 else rows.none()
    return rows


# Relations.


@api.get(RelationTableRow)
def relations(request: Request, pk: int) -> dict[str, Any]:
    """Return a corpus's current table of relations."""
    return _relation_table(access.corpus(pk))


@api.put(RelationsRequest, RelationTableRow, responses=REFUSES_FIELD)
def replace_relations(request: Request, pk: int) -> dict[str, Any]:
    """Store another table as the next version; an equal table changes nothing."""
    corpus = access.corpus(pk)
    question_relations.replace_relations(corpus=corpus, by=api.user(request), **api.data(request))
    return _relation_table(corpus)


def _relation_table(corpus: Corpus) -> dict[str, Any]:
    return {
        "version": question_relations.version_of(corpus),
        "rows": question_relations.table_of(corpus).as_rows(),
    }


# Facts and quiz questions: listed, written, changed, reviewed.


def _records(request: Request, pk: int, kind: str, filters: Iterable[str]) -> QuerySet[Record]:
    rows = question_records.current_records(access.corpus(pk), kind)
    return question_records.narrowed(rows, _filter_values(request, filters))


def _add_record(request: Request, pk: int, kind: str) -> Record:
    corpus, content = access.corpus(pk), api.data(request)
    scripts = corpus.dialogues.filter(script__isnull=False)
    dialogue = get_object_or_404(scripts, key=content.pop("dialogue"))
    accepted = content.pop("accepted")
    return question_editing.add(
        dialogue=dialogue, kind=kind, content=content, accepted=accepted, by=api.user(request)
    )


@api.listing(RecordRow, query=_parameters(FACT_FILTERS), name="corpora_facts_list")
def facts(request: Request, pk: int) -> QuerySet[Record]:
    """List the facts of a corpus's scripts, except superseded ones."""
    return _records(request, pk, FACT, FACT_FILTERS)


@api.post(FactRequest, RecordRow, status=201, responses=REFUSES_FIELD)
def add_fact(request: Request, pk: int) -> Record:
    """Write a fact by hand, as a draft or accepted at once."""
    return _add_record(request, pk, FACT)


@api.listing(RecordRow, query=_parameters(RECORD_FILTERS), name="corpora_questions_list")
def quiz_questions(request: Request, pk: int) -> QuerySet[Record]:
    """List quiz questions, except superseded ones; the questions of a set are listed with the set."""
    return _records(request, pk, QUESTION, RECORD_FILTERS)


@api.post(QuizRequest, RecordRow, status=201, responses=REFUSES_FIELD)
def add_quiz_question(request: Request, pk: int) -> Record:
    """Write a quiz question by hand, as a draft or accepted at once."""
    return _add_record(request, pk, QUESTION)


@api.get(RecordRow)
def record(request: Request, pk: int, record: int) -> Record:
    """Return a fact or a question."""
    return access.record(pk, record)


@api.patch(RecordChange, RecordRow, responses=REFUSES_FIELD)
def change_record(request: Request, pk: int, record: int) -> Record:
    """Correct a fact or a question, or accept or reject it without review.

    A reviewed record is superseded. The answer is the current record.
    """
    stored, by = access.record(pk, record), api.user(request)
    data = api.data(request)
    if "content" in data:
        stored = question_editing.change(record=stored, content=data["content"], by=by)
    if "status" in data:
        question_editing.decide(corpus=access.corpus(pk), records=[stored.pk], status=data["status"], by=by)
    return access.record(pk, stored.pk)


@api.get(Applied)
def reviews(request: Request, pk: int, kind: str) -> dict[str, Any]:
    """Preview applying the reviews of facts (`fact`) or quiz questions (`question`); nothing is changed."""
    return question_editing.preview_reviews(access.corpus(pk), record_kind(kind)).as_json()


@api.post(gives=Applied)
def apply_reviews(request: Request, pk: int, kind: str) -> dict[str, Any]:
    """Apply reviews: accept, reject, and correct by records that supersede the reviewed ones."""
    applied = question_editing.apply_reviews(
        corpus=access.corpus(pk), kind=record_kind(kind), by=api.user(request)
    )
    return applied.as_json()


@api.post(DecideRequest, Decided, responses=REFUSES_FIELD)
def decide_records(request: Request, pk: int, kind: str) -> dict[str, int]:
    """Accept or reject records, or accept all drafts that nobody reviewed; the log has who did it."""
    corpus, kind, by = access.corpus(pk), record_kind(kind), api.user(request)
    data = api.data(request)
    if data["drafts"]:
        return {"changed": question_editing.accept_drafts(corpus=corpus, kind=kind, by=by)}
    changed = question_editing.decide(corpus=corpus, records=data["records"], status=data["status"], by=by)
    return {"changed": changed}
