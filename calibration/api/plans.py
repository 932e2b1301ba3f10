"""Plans over HTTP: how many more double-rated dialogues a study needs. For who may see the study."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from calibration import access
from calibration.api.serializers import ReportJobSerializer
from calibration.errors import CalibrationError
from calibration.permissions import IsStudyResearcher
from calibration.plans import wording
from calibration.plans.job import plan_or_job
from calibration.plans.query import GOALS, PLANNED, read
from jobs.models import Job

Plain = serializers.Serializer[Any]
LEAST, MOST = 1e-6, 1e6
"""Widths that may be asked for."""


class PlanQuerySerializer(Plain):
    """What is planned; left out: the study's headline figure, and half its present width."""

    goal = serializers.ChoiceField(required=False, choices=GOALS)
    question = serializers.CharField(required=False, help_text="scheme@version/key")
    rater = serializers.CharField(required=False, help_text="people, a judge or a metric")
    statistic = serializers.ChoiceField(required=False, choices=PLANNED)
    width = serializers.FloatField(
        required=False, min_value=LEAST, max_value=MOST, help_text="high less low of the interval wanted"
    )
    half_width = serializers.FloatField(
        required=False, min_value=LEAST, max_value=MOST, help_text="half of it"
    )
    power = serializers.FloatField(
        required=False, min_value=0.01, max_value=0.99, help_text="share of studies that are to pass"
    )
    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all"])


class PlanRowSerializer(Plain):
    """The expected width (null: no interval) or power with so many dialogues, and its range over pilots."""

    n_clusters = serializers.IntegerField()
    expected = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    share_undefined = serializers.FloatField()


class PlanSerializer(Plain):
    """A plan; `reason` says why there is none, and then `rows` is empty."""

    study = serializers.CharField()
    corpus = serializers.CharField()
    part = serializers.CharField()
    goal = serializers.CharField()
    question = serializers.CharField()
    title = serializers.CharField()
    item_kind = serializers.CharField()
    pooled = serializers.BooleanField()
    rater = serializers.CharField()
    raters = serializers.ListField(child=serializers.CharField())
    crowd = serializers.CharField()
    statistic = serializers.CharField(allow_blank=True)
    target = serializers.FloatField(allow_null=True)
    level = serializers.FloatField()
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    epsilon = serializers.FloatField()
    reason = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True)
    width = serializers.FloatField(allow_null=True)
    needed = serializers.IntegerField(allow_null=True)
    needed_low = serializers.IntegerField(allow_null=True)
    needed_high = serializers.IntegerField(allow_null=True)
    more = serializers.IntegerField(allow_null=True)
    reaching = serializers.FloatField(allow_null=True)
    rough = serializers.BooleanField()
    design_effect = serializers.FloatField(allow_null=True)
    n_pilot = serializers.IntegerField()
    n_items = serializers.IntegerField()
    rows = PlanRowSerializer(many=True)
    method = serializers.CharField(allow_blank=True)
    answer = serializers.ListField(child=serializers.CharField())
    cautions = serializers.ListField(child=serializers.CharField())


@extend_schema(parameters=[PlanQuerySerializer], responses={200: PlanSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def plan(request: Request, pk: int) -> Response:
    """Return how many more double-rated dialogues a study needs; while a large plan is computed, 202."""
    study = access.study(pk)
    given = PlanQuerySerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    user: Any = request.user
    try:
        found = plan_or_job(study=study, query=read(given.validated_data, study), by=user)
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    if isinstance(found, Job):
        return Response(ReportJobSerializer(found).data, status=status.HTTP_202_ACCEPTED)
    said = {"answer": wording.sentences(found), "cautions": wording.cautions(found)}
    return Response(PlanSerializer(found.as_dict() | said).data)
