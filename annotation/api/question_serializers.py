"""What the API of facts, questions, question sets and relations takes and gives."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema_field
from rest_framework import serializers

from annotation.question_sets.actions import LONGEST_NAME, MOST_SEED
from annotation.question_sets.checks import TEXT_LIMIT
from annotation.question_sets.editing import DECIDED
from annotation.scripts.quiz import POLICIES
from annotation.scripts.records import STATUSES


class QuestionsRefusal(serializers.Serializer[Any]):
    """Why nothing was changed, and the field at fault where it is one."""

    detail = serializers.CharField()
    code = serializers.CharField()
    field = serializers.CharField(required=False)


REFUSED = OpenApiResponse(QuestionsRefusal, description="Nothing is changed: by field and reason.")


@extend_schema_field(OpenApiTypes.OBJECT)
class Plain(serializers.JSONField):
    """Any JSON object, as the native format writes it."""


class RecordRow(serializers.Serializer[Any]):
    """A fact or a question. `content` is as the native format writes it; positions of turns count from 0."""

    id = serializers.IntegerField(source="pk")
    dialogue = serializers.CharField(source="dialogue.key")
    kind = serializers.CharField()
    key = serializers.CharField()
    status = serializers.ChoiceField(choices=STATUSES)
    content = Plain()
    provenance = Plain()
    superseded_by = serializers.IntegerField(source="superseded_by_id", allow_null=True)


class FactRequest(serializers.Serializer[Any]):
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


class QuizRequest(serializers.Serializer[Any]):
    """A quiz question by hand. `evidence` are ids or numbers of sessions."""

    dialogue = serializers.CharField(max_length=300, help_text="the script's id in its file")
    text = serializers.CharField(max_length=TEXT_LIMIT)
    answer = serializers.CharField(max_length=TEXT_LIMIT)
    choices = serializers.ListField(child=serializers.CharField(max_length=TEXT_LIMIT), max_length=10)
    evidence = serializers.ListField(child=serializers.CharField(max_length=300), max_length=1000)
    evidence_all = serializers.BooleanField(default=False)
    accepted = serializers.BooleanField(default=False, help_text="at once, without review")


class RecordChange(serializers.Serializer[Any]):
    """What a fact or a question shall say, in the fields of its request; or its status, without review."""

    content = Plain(required=False)
    status = serializers.ChoiceField(choices=DECIDED, required=False)


class Reason(serializers.Serializer[Any]):
    """Why drafts are undecided, and how many."""

    reason = serializers.CharField()
    n = serializers.IntegerField()


class Applied(serializers.Serializer[Any]):
    """What taking over reviews came to, or would."""

    kind = serializers.CharField()
    accepted = serializers.IntegerField()
    corrected = serializers.IntegerField()
    rejected = serializers.IntegerField()
    undecided = serializers.IntegerField()
    unreviewed = serializers.IntegerField()
    reasons = Reason(many=True)


class DecideRequest(serializers.Serializer[Any]):
    """Records by id to accept or reject without review; or `drafts`: accept all that nobody reviewed."""

    records = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), required=False, default=list,
        max_length=10_000,
    )  # fmt: skip
    status = serializers.ChoiceField(choices=DECIDED, default="accepted")
    drafts = serializers.BooleanField(default=False)


class Decided(serializers.Serializer[Any]):
    """How many changed."""

    changed = serializers.IntegerField()


class SetRow(serializers.Serializer[Any]):
    """A question set: how it was made, in numbers, whether a simulation used it, and why it is stale."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    version = serializers.IntegerField()
    imported = serializers.BooleanField()
    options = Plain()
    figures = Plain()
    digest = serializers.CharField()
    stale = serializers.CharField()
    used_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class MakeRequest(serializers.Serializer[Any]):
    """How a question set is made."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)
    policy = serializers.ChoiceField(choices=POLICIES, default="body")
    presence = serializers.BooleanField(default=True)


class MadeAnswer(serializers.Serializer[Any]):
    """The set, and whether it is new; or the job that makes it."""

    created = serializers.BooleanField()
    set = SetRow(allow_null=True)
    job = serializers.IntegerField(allow_null=True)


class UseRow(serializers.Serializer[Any]):
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


class RelationTableRow(serializers.Serializer[Any]):
    """A corpus's relations; version 0 is the table that comes with Concord."""

    version = serializers.IntegerField()
    rows = serializers.ListField(child=Plain())


class RelationsRequest(serializers.Serializer[Any]):
    """A whole table. `seen` is the version that whoever changes it has seen: another one is refused."""

    rows = serializers.ListField(child=Plain(), max_length=1000)
    seen = serializers.IntegerField(
        min_value=0, max_value=10**6, required=False, allow_null=True, default=None
    )
