"""Studies and reports over HTTP.

For researchers; those of a campaign also for who looks after it. Test is opened by researchers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as loading
from annotation.access import IsCampaignResearcher
from annotation.models import Item
from annotation.models.turn_numbers import numbers_of
from annotation.work.labels import Pointed
from calibration import access
from calibration.access import IsStudyResearcher, part_of
from calibration.api.serializers import (
    EveryoneSerializer,
    PartSerializer,
    PurposeSerializer,
    RecomputeSerializer,
    ReportJobSerializer,
    ReportSerializer,
    StudySerializer,
    study_out,
)
from calibration.errors import CalibrationError
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import is_readable
from calibration.reports.tables import PEOPLE
from calibration.studies import plan_texts, study_actions
from calibration.studies.disagreements import Listing, Place, listing, points_of, table
from calibration.studies.plans import GOALS, PLANNED, newer_job, plan_or_job, read
from config.lists import Filters, Pages, holds, numbered, paged, since, with_name
from config.openapi import files
from jobs.models.job import Job

# Plans over HTTP: how many more double-rated dialogues a study needs. For who may see the study.

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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a parameter of the other goal, which would change nothing."""
        goal = attrs.get("goal", "width")
        unused = {"power": ("statistic", "width", "half_width"), "width": ("power",)}[goal]
        other = next(name for name in GOALS if name != goal)
        if wrong := {name: f"It goes with goal={other}." for name in unused if name in attrs}:
            raise ValidationError(wrong)
        return attrs


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
    about = loading.campaign(campaign)
    user: Any = request.user
    return _planned(request, study_actions.automatic(corpus=about.corpus, campaign=about, by=user))


def _planned(request: Request, study: Study) -> Response:
    serializer = PlanQuerySerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    user: Any = request.user
    try:
        query = read(serializer.validated_data, study)
        answer = plan_or_job(study=study, query=query, by=user, again=serializer.validated_data["again"])
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    if isinstance(answer, Job):
        if not answer.active:
            raise ValidationError({"detail": [answer.error or "The job was cancelled: ask `again`."]})
        return Response(ReportJobSerializer(answer).data, status=status.HTTP_202_ACCEPTED)
    newer = newer_job(study, query) if answer.computed_at else None
    texts: dict[str, Any] = {"answer": plan_texts.sentences(answer), "cautions": plan_texts.cautions(answer)}
    texts |= {"computing": newer if newer and newer.active else None}
    return Response(PlanSerializer(answer.as_dict() | texts).data)


# The items behind a figure, over HTTP. For who may see the study.

PARAMETERS = [
    OpenApiParameter("question", str, required=True, description="scheme@version/key, or scheme@version/all"),
    OpenApiParameter("a", str, description=f"a rater, or {PEOPLE} (the default)"),
    OpenApiParameter("b", str, description=f"a rater, or {PEOPLE} (the default)"),
    OpenApiParameter("cell", str, description="row,column of `table`: only these items"),
    OpenApiParameter("part", str, enum=["dev", "test", "all"]),
    OpenApiParameter("limit", int),
    OpenApiParameter("offset", int),
]


@extend_schema(parameters=PARAMETERS, responses=OpenApiTypes.OBJECT)
@paged
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def disagreements(request: Request, pk: int) -> Response:
    """List the items of a question on which two raters differ, farthest apart first, with all answers."""
    study = access.study(pk)
    try:
        part = part_of(request._request, study)
        if part is None:
            raise ValidationError(
                {"part": ["Test was not opened for this study: use open-test, with a purpose."]}
            )
        items_listed = listing(study, part, request.query_params.dict())
    except CalibrationError as error:
        raise ValidationError({"question": [str(error)]}) from error
    except KeyError as error:
        raise NotFound(str(error.args[0])) from error
    pager = Pages()
    rows: list[Any] = pager.paginate_queryset(items_listed.rows, request) or []
    items = [items_listed.question.items[row] for row in rows]
    numbers, points = _numbers(items), points_of(items_listed.question, items)
    answer = pager.get_paginated_response(
        [
            _row(items_listed, row, numbers) | {"evidence": _evidence(items_listed, row, points)}
            for row in rows
        ]
    )
    ratings = items_listed.compared.ratings
    answer.data |= {
        "both": items_listed.both,
        "differ": items_listed.differ,
        "scale": ratings.names or ratings.scale,
        "table": table(items_listed.compared),
    }
    return answer


def _numbers(items: Sequence[int]) -> dict[int, int]:
    """Return the numbers of items' turns as annotators count them, by the item's id."""
    turns = dict(Item.objects.filter(pk__in=items, turn__isnull=False).values_list("pk", "turn_id"))
    numbers = numbers_of(turns.values())
    return {item: numbers[turn] for item, turn in turns.items()}


def _evidence(
    items_listed: Listing, row: int, points: Mapping[Place, tuple[Pointed, ...]]
) -> dict[str, list[dict[str, Any]]]:
    """Return what the answers to a row point at, by rater."""
    ratings = items_listed.compared.ratings
    names = [ratings.raters[column] for column in items_listed.compared.columns]
    place = items_listed.question.items[row], items_listed.question.tags[row]
    return {
        name: [point.as_json() for point in pointed]
        for name in names
        if (pointed := points.get((*place, name)))
    }


def _row(items_listed: Listing, row: int, numbers: Mapping[int, int]) -> dict[str, Any]:
    """Return an item with its turn's number, its distance, and the answers; a category by its name."""
    ratings = items_listed.compared.ratings
    answers = {
        ratings.raters[column]: ratings.values[row, column] for column in items_listed.compared.columns
    }
    return {
        "item": ratings.items[row],
        "turn_number": numbers.get(items_listed.question.items[row]),
        "distance": items_listed.apart[row],
        "answers": {
            rater: ratings.names[int(value)] if ratings.names else float(value)
            for rater, value in answers.items()
            if value == value
        },
    }


PART = OpenApiParameter("part", str, enum=["dev", "test", "all"])
EVERYONE = OpenApiParameter(
    "everyone", bool, description="whether people left out of gold count here; false by default"
)
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(RENDERINGS))


STUDIES = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "text": holds("name"),
        "since": since("created_at"),
    },
    order=("id", "name", "created_at"),
)


@extend_schema(methods=["GET"], parameters=STUDIES.parameters, responses=StudySerializer(many=True))
@extend_schema(methods=["POST"], request=StudySerializer, responses={201: StudySerializer})
@paged
@api_view(["GET", "POST"])
def studies(request: Request) -> Response:
    """List studies, newest first, or make one."""
    if request.method == "GET":
        pager = Pages()
        rows = STUDIES.of(request, Study.objects.select_related("corpus", "campaign"))
        page = pager.paginate_queryset(rows, request) or []
        return pager.get_paginated_response([study_out(study) for study in page])
    serializer = StudySerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    try:
        new_study = study_actions.create(
            name=data["name"],
            corpus=data["corpus"],
            campaign=data.get("campaign"),
            definition=data["definition"],
            by=_user(request),
        )
    except CalibrationError as error:
        raise ValidationError({"definition": [str(error)]}) from error
    return Response(study_out(new_study), status=status.HTTP_201_CREATED)


@extend_schema(responses=StudySerializer)
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def study(request: Request, pk: int) -> Response:
    """Return a study."""
    return Response(study_out(access.study(pk)))


@extend_schema(parameters=[PART], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def report(request: Request, pk: int) -> Response:
    """Return a study's newest report; of a small study it is of the labels of now.

    Of a large one it stays as it was when labels come, and says so (`labels_since`); `recompute` asks for a
    new one, whose job stands at `computing` meanwhile. Before the first is done: 202 with its progress.
    """
    return _report(request, access.study(pk))


@extend_schema(parameters=[PART, EVERYONE], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
def corpus_report(request: Request, pk: int) -> Response:
    """Return the automatic report of a corpus."""
    corpus, everyone = loading.corpus(pk), _everyone(request)
    return _report(request, study_actions.automatic(corpus=corpus, everyone=everyone, by=_user(request)))


@extend_schema(parameters=[PART, EVERYONE], responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["GET"])
@permission_classes([IsCampaignResearcher])
def campaign_report(request: Request, campaign: int) -> Response:
    """Return the automatic report of a campaign."""
    about, everyone = loading.campaign(campaign), _everyone(request)
    study = study_actions.automatic(corpus=about.corpus, campaign=about, everyone=everyone, by=_user(request))
    return _report(request, study)


@extend_schema(request=RecomputeSerializer, responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["POST"])
@permission_classes([IsStudyResearcher])
def recompute(request: Request, pk: int) -> Response:
    """Compute a study again on the labels of now. A look at test goes through open-test instead."""
    serializer = RecomputeSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    study = access.study(pk)
    part = serializer.validated_data.get("part") or _default(study)
    return _answer(_computed(request, study, part))


@extend_schema(request=PurposeSerializer, responses={200: ReportSerializer, 202: ReportJobSerializer})
@api_view(["POST"])
def open_test(request: Request, pk: int) -> Response:
    """Log a look at test with its purpose, and return the report on test."""
    serializer = PurposeSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    study = access.study(pk)
    try:
        study_actions.open_test(study=study, by=_user(request), purpose=serializer.validated_data["purpose"])
    except CalibrationError as error:
        raise ValidationError({"purpose": [str(error)]}) from error
    return _answer(_computed(request, study, "test"))


@extend_schema(parameters=[PART, FORM], responses=files(r.media_type for r in RENDERINGS.values()))
@api_view(["GET"])
@permission_classes([IsStudyResearcher])
def report_file(request: Request, pk: int, form: str) -> HttpResponse:
    """Return the newest report as json, csv, md, latex or html."""
    study, rendering = access.study(pk), RENDERINGS.get(form)
    serializer = PartSerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    newest = study_actions.latest(study, serializer.validated_data.get("part") or _default(study))
    if rendering is None or newest is None:
        raise Http404
    return HttpResponse(rendering.write(newest), content_type=rendering.media_type)


def _report(request: Request, study: Study) -> Response:
    serializer = PartSerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    part = serializer.validated_data.get("part") or _default(study)
    if part != "test":
        try:
            return _answer(study_actions.current(study=study, part=part, by=_user(request)))
        except CalibrationError as error:
            raise ValidationError({"part": [str(error)]}) from error
    newest = study_actions.latest(study, part)
    if newest is None:
        raise ValidationError(
            {"part": ["Test was not opened for this study: use open-test, with a purpose."]}
        )
    return _answer(newest)


def _everyone(request: Request) -> bool:
    serializer = EveryoneSerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    return bool(serializer.validated_data["everyone"])


def _default(study: Study) -> str:
    try:
        return study_actions.default_part(study)
    except CalibrationError as error:
        raise ValidationError({"definition": [str(error)]}) from error


def _computed(request: Request, study: Study, part: str) -> Report | Job:
    newest = study_actions.latest(study, part)
    if newest is not None and is_readable(newest) and part != "test" and not study_actions.is_stale(newest):
        return newest
    try:
        return study_actions.report_or_job(study=study, part=part, by=_user(request))
    except CalibrationError as error:
        raise ValidationError({"part": [str(error)]}) from error


def _answer(report: Report | Job) -> Response:
    if isinstance(report, Job):
        return Response(ReportJobSerializer(report).data, status=status.HTTP_202_ACCEPTED)
    return Response(ReportSerializer(report).data)


def _user(request: Request) -> Any:
    return request.user
