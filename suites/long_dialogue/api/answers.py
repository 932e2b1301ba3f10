"""The HTTP API of the Answers report and of single answers of long-dialogue agents. Researchers only."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.corpora_serializers import LeftOutDialoguesSerializer
from calibration.api.exports import refused_as
from calibration.api.serializers import OpensTestSerializer, ReportQuerySerializer, compute_report
from config import api
from suites.api import ReportLookSerializer, ReportTableSerializer, SystemVerdictSerializer
from suites.long_dialogue.answers.answers import NARROWED, AnswerView, Opinion, judge_named, listing, view
from suites.long_dialogue.answers.renderings import content
from suites.long_dialogue.answers.report import compute, compute_on_test
from suites.long_dialogue.answers.rows import LAYOUTS, LEVELS, AnswerRow, read
from suites.long_dialogue.scripts.answers import RULES

Plain = serializers.Serializer[Any]
JUDGE = "who decides what no rule does, or `people`"


class AnswersQuerySerializer(ReportQuerySerializer):
    """Query of the Answers report; lists are separated by commas. See the docs of the report."""

    by = serializers.CharField(required=False, help_text="system,condition (default), script, or settings")
    score = serializers.ChoiceField(required=False, choices=list(RULES))
    judge = serializers.CharField(required=False, help_text=JUDGE)
    set = serializers.CharField(required=False, help_text="names of question sets; all by default")
    layout = serializers.ChoiceField(required=False, choices=list(LAYOUTS))
    level = serializers.FloatField(required=False, min_value=LEVELS[0], max_value=LEVELS[1])


class AnswersTestSerializer(OpensTestSerializer, AnswersQuerySerializer):
    """Query of the report of the test part, and the purpose for which test is opened."""


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
    """A row of the report; `system` is empty where the row covers several."""

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


class AnswersVerdictSerializer(SystemVerdictSerializer):
    """A verdict on a row's accuracy; `scored` is the share of its answers with a score."""

    system = serializers.CharField(allow_blank=True)
    condition = serializers.DictField()
    script = serializers.CharField(allow_blank=True)
    scored = serializers.FloatField()


class AnswersReportSerializer(Plain):
    """The Answers report."""

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
    verdicts = AnswersVerdictSerializer(many=True)
    rows = AnswersRowSerializer(many=True)
    names = serializers.ListField(child=serializers.DictField())
    agreement = serializers.ListField(child=serializers.DictField())
    tables = ReportTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    excluded = LeftOutDialoguesSerializer(allow_null=True)
    looks_at_test = ReportLookSerializer(many=True)


class ListedAnswerSerializer(Plain):
    """An answer in a list; `right` is null where the answer is not scored, and `why` has the reason."""

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
        """Whether the answer is right by the requested rule."""
        return row.right(self.context["rule"])

    def get_why(self, row: AnswerRow) -> str:
        """Return the reason for a missing score, else an empty text."""
        return row.why if self.get_right(row) is None else ""


AnswerLabelSerializer = api.serializer_of(
    Opinion, "AnswerLabel", "A rater's label of an answer; where the label is missing, `value` is the reason."
)


class AnswerSerializer(Plain):
    """An answer. Its scores are null in the test part until test is opened."""

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
        source="record", help_text="the record: options, key, use, evidence, retrieval ..."
    )
    right = serializers.BooleanField(allow_null=True)
    right_lenient = serializers.BooleanField(allow_null=True)
    labels = AnswerLabelSerializer(many=True, allow_null=True, source="opinions")


def _report(request: Request, pk: int) -> dict[str, Any]:
    corpus = access.corpus(pk)
    return content(compute_report(request, lambda data: read(data, corpus), compute, compute_on_test))


@api.get(AnswersReportSerializer, AnswersQuerySerializer)
def answers(request: Request, pk: int) -> dict[str, Any]:
    """Return the Answers report of agents of long dialogues."""
    return _report(request, pk)


@api.post(AnswersTestSerializer, AnswersReportSerializer)
def answers_on_test(request: Request, pk: int) -> dict[str, Any]:
    """Log a look at test and return the report of the test part."""
    return _report(request, pk)


LIST_PARAMETERS = [
    OpenApiParameter("system", str, description="only those of this system"),
    *(OpenApiParameter(key, str, enum=list(values)) for key, values in NARROWED.items()),
    OpenApiParameter("score", str, enum=list(RULES)),
    OpenApiParameter("judge", str, description=JUDGE),
    OpenApiParameter("set", str, description="names of question sets, by commas"),
    OpenApiParameter("part", str, enum=["dev", "test", "all", "training"]),
    OpenApiParameter("exclude", str, description="leave out dialogues by an answer: `objection>=1`"),
]


@api.listing(ListedAnswerSerializer, query=LIST_PARAMETERS)
def answers_list(request: Request, pk: int) -> Response:
    """List answers one by one, in order of script and walk."""
    corpus = access.corpus(pk)
    query_values = request.query_params.dict()
    for key, values in NARROWED.items():
        if query_values.get(key) and query_values[key] not in values:
            raise ValidationError({key: [f"One of {', '.join(values)}."]})
    answer_listing = listing(read(query_values, corpus), query_values)
    context = {"rule": answer_listing.query.rule}

    def payload(page: list[AnswerRow]) -> Any:
        return ListedAnswerSerializer(page, many=True, context=context).data

    return api.page_of(request, answer_listing.rows, payload)


@api.get(AnswerSerializer, query=[OpenApiParameter("judge", str, description=JUDGE)])
def answer(request: Request, pk: int) -> AnswerView:
    """Return an answer: the question and the reply, its key with the reason, and what was retrieved."""
    item = access.answer(pk)
    with refused_as("judge", end=""):
        return view(item, judge_named(item.corpus, request.query_params.get("judge", "")))
