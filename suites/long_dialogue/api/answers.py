"""The Answers report and single answers of agents of long dialogues over HTTP. Researchers only."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.api.serializers import OpensTestSerializer, made_of, read_request
from calibration.errors import CalibrationError
from config.lists import paged
from suites.api import Plain, ReportLookSerializer, ReportQuerySerializer, ReportTableSerializer, list_answer
from suites.long_dialogue.answers.answers import NARROWED, judge_named, listing, view
from suites.long_dialogue.answers.renderings import content
from suites.long_dialogue.answers.report import compute, compute_on_test
from suites.long_dialogue.answers.rows import LAYOUTS, LEVELS, AnswerRow, read
from suites.long_dialogue.scripts.answers import RULES


class AnswersQuerySerializer(ReportQuerySerializer):
    """What a report is asked for; lists are separated by commas. See the docs of the Answers report."""

    by = serializers.CharField(required=False, help_text="system,condition (default), script, or settings")
    score = serializers.ChoiceField(required=False, choices=list(RULES))
    judge = serializers.CharField(required=False, help_text="who decides what no rule does, or `people`")
    set = serializers.CharField(required=False, help_text="names of question sets; all by default")
    layout = serializers.ChoiceField(required=False, choices=list(LAYOUTS))
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
    tables = ReportTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    looks_at_test = ReportLookSerializer(many=True)


class ListedAnswerSerializer(Plain):
    """An answer in a list; `right` is null where that is not known, and `why` says why."""

    id = serializers.IntegerField(source="place.item")
    system = serializers.CharField(source="place.system")
    condition = serializers.DictField(source="place.condition")
    script = serializers.CharField(source="place.script")
    trial = serializers.IntegerField(source="place.trial")
    session = serializers.IntegerField()
    question = serializers.CharField()
    use = serializers.CharField()
    key = serializers.CharField()
    outcome = serializers.CharField()
    right = serializers.SerializerMethodField()
    why = serializers.SerializerMethodField()
    evidence = serializers.CharField(source="retrieval", allow_blank=True)

    def get_right(self, row: AnswerRow) -> bool | None:
        """Whether it is right by the rule that is asked for."""
        return row.right(self.context["rule"])

    def get_why(self, row: AnswerRow) -> str:
        """Why that is not known."""
        return row.why if self.get_right(row) is None else ""


class AnswerLabelSerializer(Plain):
    """What a rater said of an answer; `value` is why there is none where it is missing."""

    rater = serializers.CharField()
    kind = serializers.CharField()
    question = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    explanation = serializers.CharField(allow_blank=True)


class AnswerSerializer(Plain):
    """An answer. What it is worth is null for the test part before test was opened."""

    id = serializers.IntegerField(source="item.pk")
    corpus = serializers.CharField(source="item.corpus.name")
    dialogue = serializers.CharField(source="continuation.dialogue.key")
    system = serializers.CharField(source="continuation.system.name")
    condition = serializers.DictField(source="continuation.condition")
    trial = serializers.IntegerField(source="continuation.trial")
    session = serializers.IntegerField(source="row.session")
    question = serializers.CharField(allow_blank=True)
    reply = serializers.CharField(allow_blank=True)
    answer = serializers.DictField(
        source="record", help_text="what was recorded: options, key, use, evidence, retrieval ..."
    )
    right = serializers.BooleanField(allow_null=True)
    right_lenient = serializers.BooleanField(allow_null=True)
    labels = AnswerLabelSerializer(many=True, allow_null=True, source="opinions")


@extend_schema(methods=["GET"], parameters=[AnswersQuerySerializer], responses=AnswersReportSerializer)
@extend_schema(methods=["POST"], request=AnswersTestSerializer, responses=AnswersReportSerializer)
@api_view(["GET", "POST"])
def answers(request: Request, pk: int) -> Response:
    """Return how agents of long dialogues answer; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = read_request(request, AnswersQuerySerializer, AnswersTestSerializer)
    report = made_of(request, lambda: read(data, corpus), compute, compute_on_test, purpose)
    return Response(content(report))


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
    context = {"rule": answer_listing.query.rule}
    return list_answer(
        request,
        answer_listing.rows,
        lambda page: ListedAnswerSerializer(page, many=True, context=context).data,
    )


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
        answer_view = view(item, judge)
    except CalibrationError as error:
        raise ValidationError({"judge": [str(error)]}) from error
    return Response(AnswerSerializer(answer_view).data)
