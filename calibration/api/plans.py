"""Plans over HTTP: how many more double-rated dialogues a study needs. For who may see the study."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as loading
from annotation.access import IsCampaignResearcher
from calibration import access
from calibration.api.serializers import ReportJobSerializer
from calibration.errors import CalibrationError
from calibration.models import Study
from calibration.permissions import IsStudyResearcher
from calibration.plans import wording
from calibration.plans.job import newer_job, plan_or_job
from calibration.plans.query import GOALS, PLANNED, read
from calibration.studies import actions as study_actions
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
    pay = serializers.FloatField(
        required=False, min_value=LEAST, max_value=MOST, help_text="what an hour of rating costs"
    )
    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all"])
    again = serializers.BooleanField(
        required=False, default=False, help_text="compute a new one where the last is of earlier labels"
    )


class PlanRowSerializer(Plain):
    """The expected width (null: no interval) or power with so many dialogues, and its range over pilots."""

    n_clusters = serializers.IntegerField()
    expected = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    share_undefined = serializers.FloatField()


class PlanTimingSerializer(Plain):
    """Seconds of attention that rating an item took, with an interval over people where there are three."""

    seconds = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    ratings = serializers.IntegerField(help_text="items rated, once for each of the people")
    people = serializers.IntegerField()


class PlanCrowdSerializer(Plain):
    """The same plan with another number of raters an item; `reason` says why there is none."""

    raters = serializers.IntegerField()
    needed = serializers.IntegerField(allow_null=True)
    needed_low = serializers.IntegerField(allow_null=True)
    needed_high = serializers.IntegerField(allow_null=True)
    n_pilot = serializers.IntegerField()
    n_items = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)


class PlanEffortSerializer(Plain):
    """What it takes with so many raters an item, all told; null where it is not known."""

    raters = serializers.FloatField()
    dialogues = serializers.IntegerField(allow_null=True)
    items = serializers.IntegerField(allow_null=True)
    ratings = serializers.IntegerField(allow_null=True)
    hours = serializers.FloatField(allow_null=True)
    hours_low = serializers.FloatField(allow_null=True)
    hours_high = serializers.FloatField(allow_null=True)
    cost = serializers.FloatField(allow_null=True)
    cost_low = serializers.FloatField(allow_null=True)
    cost_high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


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
    ratings_an_item = serializers.FloatField(allow_null=True)
    crowds = PlanCrowdSerializer(many=True)
    timing = PlanTimingSerializer(allow_null=True)
    pay = serializers.FloatField(allow_null=True)
    efforts = PlanEffortSerializer(many=True, help_text="as many raters as the pilot had come first")
    answer = serializers.ListField(child=serializers.CharField())
    cautions = serializers.ListField(child=serializers.CharField())
    computed_at = serializers.CharField(allow_null=True, help_text="null: of the labels of now")
    labels_since = serializers.BooleanField(help_text="whether labels have come since, or no longer count")
    computing = ReportJobSerializer(allow_null=True, help_text="the job that computes a newer one; else null")


@extend_schema(parameters=[PlanQuerySerializer], responses={200: PlanSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def plan(request: Request, pk: int) -> Response:
    """Return how many more double-rated dialogues a study needs.

    A large plan is computed by a job: 202 until it is done. It stays as it was when labels come, and says so
    (`labels_since`); `again` asks for a new one, whose job stands at `computing` meanwhile.
    """
    return _planned(request, access.study(pk))


@extend_schema(parameters=[PlanQuerySerializer], responses={200: PlanSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_plan(request: Request, campaign: int) -> Response:
    """Return the plan from a campaign as its own pilot: that of its automatic study."""
    found = loading.campaign(campaign)
    user: Any = request.user
    return _planned(request, study_actions.automatic(corpus=found.corpus, campaign=found, by=user))


def _planned(request: Request, study: Study) -> Response:
    given = PlanQuerySerializer(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    user: Any = request.user
    try:
        query = read(given.validated_data, study)
        found = plan_or_job(study=study, query=query, by=user, again=given.validated_data["again"])
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    if isinstance(found, Job):
        if not found.active:
            raise ValidationError({"detail": [found.error or "The job was cancelled: ask `again`."]})
        return Response(ReportJobSerializer(found).data, status=status.HTTP_202_ACCEPTED)
    newer = newer_job(study, query) if found.computed_at else None
    said: dict[str, Any] = {"answer": wording.sentences(found), "cautions": wording.cautions(found)}
    said |= {"computing": newer if newer and newer.active else None}
    return Response(PlanSerializer(found.as_dict() | said).data)
