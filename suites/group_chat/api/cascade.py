"""The Cascade report and single decisions of group-chat agents over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.scenario_records import STAGES
from calibration.api.serializers import OpensTestSerializer, ResultSerializer, made_of, read_request
from calibration.errors import CascadeRefused
from suites.group_chat.cascade import decisions
from suites.group_chat.cascade.decisions import raters_named
from suites.group_chat.cascade.renderings import content
from suites.group_chat.cascade.report import compute, compute_on_test
from suites.group_chat.cascade.score_figures import COMPETENCE, MOST_RESAMPLES, TURN_SCORE, read

Plain = serializers.Serializer[Any]


class CascadeQuerySerializer(Plain):
    """What a report is asked for; lists are separated by commas. See the docs of the Cascade report."""

    by = serializers.CharField(required=False, help_text="system,condition (default), or system")
    judge = serializers.CharField(required=False, help_text="raters of conduct, composition and moves")
    k = serializers.CharField(required=False, help_text="trials of pass^k: 1,2,4,8")
    success = serializers.ChoiceField(required=False, choices=[COMPETENCE, TURN_SCORE])
    threshold = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_attend = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_speak = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_address = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_ground = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_compose = serializers.FloatField(required=False, min_value=0, max_value=1)
    tau_conduct = serializers.FloatField(required=False, min_value=0, max_value=1)
    jaccard = serializers.BooleanField(required=False, default=False)
    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all", "training"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)


class CascadeTestSerializer(OpensTestSerializer, CascadeQuerySerializer):
    """What a report of test is asked for, and for what test is opened."""


class CascadeLineSerializer(Plain):
    """A row of a table. A cell is a figure as the oracle's, a number that was counted, or words."""

    name = serializers.CharField()
    baseline = serializers.BooleanField()
    cells = serializers.ListField(child=serializers.JSONField())


class CascadeSystemSerializer(Plain):
    """A system or a baseline. A figure is {value, low, high, n, reason}; objects of them are by name."""

    system = serializers.CharField()
    condition = serializers.CharField(allow_blank=True)
    baseline = serializers.BooleanField()
    competence = serializers.DictField()
    conduct = serializers.DictField(help_text="by dimension")
    leak_rate = serializers.DictField(help_text="of what reached CONDUCT, and of all")
    pass_hat = serializers.DictField(help_text="by k")
    stages = serializers.DictField(help_text="by stage: passed, of those scored there")
    probes = serializers.DictField(help_text="by kind: probe and control")
    restraint = serializers.DictField(help_text="by figure of the panel")


class CascadeTableSerializer(Plain):
    """A table of the report; `columns` head its cells."""

    key = serializers.CharField()
    title = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = CascadeLineSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class CascadeLookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.CharField()
    purpose = serializers.CharField()


class CascadeReportSerializer(Plain):
    """The report. No field joins the three scores."""

    corpus = serializers.CharField()
    part = serializers.CharField()
    by = serializers.ListField(child=serializers.CharField())
    judges = serializers.ListField(child=serializers.CharField())
    k = serializers.ListField(child=serializers.IntegerField())
    success = serializers.CharField()
    thresholds = serializers.ListField(child=serializers.FloatField())
    jaccard = serializers.BooleanField()
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    best_baseline = serializers.CharField()
    oracle = ResultSerializer()
    systems = CascadeSystemSerializer(many=True)
    tables = CascadeTableSerializer(many=True)
    facts = serializers.ListField(child=serializers.CharField())
    guardrails = serializers.ListField(child=serializers.CharField())
    looks_at_test = CascadeLookSerializer(many=True)


class CascadeStageSerializer(Plain):
    """A stage's score from 0 to 1, null where it has none: `state` and `why` say why."""

    stage = serializers.ChoiceField(choices=list(STAGES))
    score = serializers.FloatField(allow_null=True)
    state = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class CascadeOutcomeSerializer(Plain):
    """What the cascade makes of a decision; null is what waits for a judge."""

    stages = CascadeStageSerializer(many=True)
    failed_at = serializers.CharField(allow_null=True)
    competence = serializers.FloatField(allow_null=True)
    turn_score = serializers.FloatField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    leaks = serializers.ListField(child=serializers.CharField())
    leaks_elsewhere = serializers.ListField(child=serializers.CharField())


class DecisionMadeSerializer(Plain):
    """What an agent did at a point, and what it declared; null is what it did not declare."""

    act = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    mode = serializers.CharField()
    attend = serializers.BooleanField(allow_null=True)
    addressed = serializers.ListField(child=serializers.CharField(), allow_null=True)
    targets = serializers.ListField(child=serializers.CharField(), allow_null=True)
    ground = serializers.CharField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())


class AgentDecisionSerializer(Plain):
    """A decision with its key. `outcome` is null for the test part before test was opened."""

    id = serializers.IntegerField()
    corpus = serializers.CharField()
    dialogue = serializers.CharField()
    system = serializers.CharField()
    condition = serializers.DictField()
    trial = serializers.IntegerField()
    point = serializers.IntegerField()
    probes = serializers.ListField(child=serializers.CharField())
    seen = serializers.ListField(child=serializers.IntegerField())
    key = serializers.DictField()
    decision = DecisionMadeSerializer()
    outcome = CascadeOutcomeSerializer(allow_null=True)


@extend_schema(methods=["GET"], parameters=[CascadeQuerySerializer], responses=CascadeReportSerializer)
@extend_schema(methods=["POST"], request=CascadeTestSerializer, responses=CascadeReportSerializer)
@api_view(["GET", "POST"])
def cascade(request: Request, pk: int) -> Response:
    """Return the three scores of group-chat agents; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = read_request(request, CascadeQuerySerializer, CascadeTestSerializer)
    made = made_of(request, lambda: read(data, corpus), compute, compute_on_test, purpose)
    return Response(content(made))


@extend_schema(
    parameters=[OpenApiParameter("judge", str, description="raters whose answers count, by commas")],
    responses=AgentDecisionSerializer,
)
@api_view(["GET"])
def decision(request: Request, pk: int) -> Response:
    """Return a decision of a group-chat agent: its key, what it did, and its stages' scores."""
    item = access.decision(pk)
    names = [name.strip() for name in request.query_params.get("judge", "").split(",") if name.strip()]
    try:
        raters = raters_named(item.corpus, names)
    except CascadeRefused as error:
        raise ValidationError({"judge": [str(error)]}) from error
    return Response(decisions.content(decisions.view(item, raters)))
