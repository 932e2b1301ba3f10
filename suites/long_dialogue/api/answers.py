"""The Answers report and single answers of agents of long dialogues over HTTP. Researchers only."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.people import Text
from calibration.api.serializers import OpensTestSerializer, made_of, read_request
from calibration.errors import CalibrationError
from config.lists import Pages, paged
from suites.long_dialogue.answers import answers as one_answer
from suites.long_dialogue.answers.answers import NARROWED, judge_named, listing
from suites.long_dialogue.answers.renderings import content
from suites.long_dialogue.answers.report import compute, compute_on_test
from suites.long_dialogue.answers.rows import LAYOUTS, LEVELS, MOST_RESAMPLES, AnswerRow, read
from suites.long_dialogue.scripts.answers import RULES

Plain = serializers.Serializer[Any]


class AnswersQuerySerializer(Plain):
    """What a report is asked for; lists are separated by commas. See the docs of the Answers report."""

    by = serializers.CharField(required=False, help_text="system,condition (default), script, or settings")
    score = serializers.ChoiceField(required=False, choices=list(RULES))
    judge = serializers.CharField(required=False, help_text="who decides what no rule does, or `people`")
    set = serializers.CharField(required=False, help_text="names of question sets; all by default")
    layout = serializers.ChoiceField(required=False, choices=list(LAYOUTS))
    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all", "training"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)
    level = serializers.FloatField(required=False, min_value=LEVELS[0], max_value=LEVELS[1])


class AnswersTestSerializer(OpensTestSerializer, AnswersQuerySerializer):
    """What a report of test is asked for, and for what test is opened."""


class AnswersFigureSerializer(Plain):
    """A figure: a mean over trials with its standard deviation, and an interval over sessions."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    sd = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    trials = serializers.ListField(child=serializers.FloatField(allow_null=True))
    flags = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_blank=True)


class AnswersBoundsSerializer(Plain):
    """The accuracy if all missing answers were wrong, and if all were right."""

    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class AnswersRowSerializer(Plain):
    """A row of the report; `system` is empty where several are in it."""

    system = serializers.CharField(allow_blank=True)
    condition = serializers.DictField()
    script = serializers.CharField(allow_blank=True)
    fake_model = serializers.BooleanField()
    accuracy = AnswersFigureSerializer()
    strict = AnswersFigureSerializer()
    lenient = AnswersFigureSerializer()
    bounds = AnswersBoundsSerializer()
    by = serializers.DictField(help_text="by factor and value: a figure")
    retrieval = serializers.DictField(help_text="sufficient, partly, none: the share, and its accuracy")
    oracle_gap = AnswersFigureSerializer()
    abstention = serializers.DictField(help_text="share, precision, recall")
    shares = serializers.DictField(help_text="unanswerable, unanswerable_wanted, quiz")
    always_e = AnswersFigureSerializer()
    counts = serializers.DictField(child=serializers.IntegerField())


class AnswersLineSerializer(Plain):
    """A line of a table. A cell is a figure, a number that was counted, or words."""

    name = serializers.CharField()
    baseline = serializers.BooleanField()
    cells = serializers.ListField(child=serializers.JSONField())


class AnswersTableSerializer(Plain):
    """A table of the layout; `columns` head its cells."""

    key = serializers.CharField()
    title = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = AnswersLineSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class AnswersLookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.CharField()
    purpose = Text()


class AnswersReportSerializer(Plain):
    """The report."""

    corpus = serializers.CharField()
    part = serializers.CharField()
    by = serializers.ListField(child=serializers.CharField())
    score = serializers.CharField()
    judge = serializers.CharField(allow_blank=True)
    sets = serializers.ListField(child=serializers.CharField())
    layout = serializers.CharField()
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    random = serializers.FloatField()
    rows = AnswersRowSerializer(many=True)
    names = serializers.ListField(child=serializers.DictField())
    agreement = serializers.ListField(child=serializers.DictField())
    tables = AnswersTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    looks_at_test = AnswersLookSerializer(many=True)


class ListedAnswerSerializer(Plain):
    """An answer in a list; `right` is null where that is not known, and `why` says why."""

    id = serializers.IntegerField()
    system = serializers.CharField()
    condition = serializers.DictField()
    script = serializers.CharField()
    trial = serializers.IntegerField()
    session = serializers.IntegerField()
    question = serializers.CharField()
    use = serializers.CharField()
    key = serializers.CharField()
    outcome = serializers.CharField()
    right = serializers.BooleanField(allow_null=True)
    why = serializers.CharField(allow_blank=True)
    evidence = serializers.CharField(allow_blank=True)


class AnswerLabelSerializer(Plain):
    """What a rater said of an answer; `value` is why there is none where it is missing."""

    rater = serializers.CharField()
    kind = serializers.CharField()
    question = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    explanation = serializers.CharField(allow_blank=True)


class AnswerSerializer(Plain):
    """An answer. What it is worth is null for the test part before test was opened."""

    id = serializers.IntegerField()
    corpus = serializers.CharField()
    dialogue = serializers.CharField()
    system = serializers.CharField()
    condition = serializers.DictField()
    trial = serializers.IntegerField()
    session = serializers.IntegerField()
    question = serializers.CharField(allow_blank=True)
    reply = serializers.CharField(allow_blank=True)
    answer = serializers.DictField(help_text="what was recorded: options, key, use, evidence, retrieval ...")
    right = serializers.BooleanField(allow_null=True)
    right_lenient = serializers.BooleanField(allow_null=True)
    labels = AnswerLabelSerializer(many=True, allow_null=True)


@extend_schema(methods=["GET"], parameters=[AnswersQuerySerializer], responses=AnswersReportSerializer)
@extend_schema(methods=["POST"], request=AnswersTestSerializer, responses=AnswersReportSerializer)
@api_view(["GET", "POST"])
def answers(request: Request, pk: int) -> Response:
    """Return how agents of long dialogues answer; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = read_request(request, AnswersQuerySerializer, AnswersTestSerializer)
    made = made_of(request, lambda: read(data, corpus), compute, compute_on_test, purpose)
    return Response(content(made))


LIST_PARAMETERS = [
    OpenApiParameter("system", str, description="only those of this system"),
    *(OpenApiParameter(key, str, enum=list(values)) for key, values in NARROWED.items()),
    OpenApiParameter("score", str, enum=list(RULES)),
    OpenApiParameter("judge", str, description="who decides what no rule does, or `people`"),
    OpenApiParameter("set", str, description="names of question sets, by commas"),
    OpenApiParameter("part", str, enum=["dev", "test", "all", "training"]),
]


@extend_schema(parameters=LIST_PARAMETERS, responses=ListedAnswerSerializer(many=True))
@paged
@api_view(["GET"])
def answers_list(request: Request, pk: int) -> Response:
    """List answers one by one, in order of script and walk."""
    corpus = access.corpus(pk)
    query_values = request.query_params.dict()
    for key, values in NARROWED.items():
        if query_values.get(key) and query_values[key] not in values:
            raise ValidationError({key: [f"One of {', '.join(values)}."]})
    try:
        answer_listing = listing(read(query_values, corpus), query_values)
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    pager = Pages()
    rows: list[AnswerRow] = pager.paginate_queryset(answer_listing.rows, request) or []
    return pager.get_paginated_response([_answer_row(row, answer_listing.query.rule) for row in rows])


def _answer_row(row: AnswerRow, rule: Any) -> dict[str, Any]:
    return {
        "id": row.place.item,
        "system": row.place.system,
        "condition": dict(row.place.condition),
        "script": row.place.script,
        "trial": row.place.trial,
        "session": row.session,
        "question": row.question,
        "use": row.use,
        "key": row.key,
        "outcome": row.outcome,
        "right": row.right(rule),
        "why": row.why if row.right(rule) is None else "",
        "evidence": row.retrieval,
    }


@extend_schema(
    parameters=[OpenApiParameter("judge", str, description="who decides what no rule does, or `people`")],
    responses=AnswerSerializer,
)
@api_view(["GET"])
def answer(request: Request, pk: int) -> Response:
    """Return an answer: what was asked and replied, its key with the why, and what was retrieved."""
    item = access.answer(pk)
    try:
        judge = judge_named(item.corpus, request.query_params.get("judge", ""))
        answer_view = one_answer.view(item, judge)
    except CalibrationError as error:
        raise ValidationError({"judge": [str(error)]}) from error
    return Response(one_answer.content(answer_view))
