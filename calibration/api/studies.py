"""Studies and reports over HTTP.

For researchers; those of a campaign also for who looks after it. Test is opened by researchers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as loading
from annotation.access import IsCampaignResearcher
from annotation.models import Campaign, Corpus, Item
from annotation.models.turn_numbers import numbers_of
from annotation.work.labels import Pointed
from calibration import access
from calibration.access import IsStudyResearcher, part_of
from calibration.api.exports import refused_as
from calibration.api.serializers import (
    PENDING,
    PlaceSerializer,
    PurposeSerializer,
    ReportJobSerializer,
    ResultSerializer,
    pending,
)
from calibration.models import MOST_SHARED_DAYS, Report, ReportShare, Study
from calibration.overview import CURRENT, DONE, OPEN, NextStep, PastEvent, Step, overview
from calibration.reports.renderings import RENDERINGS, TABLE_RENDERINGS, table_of_report
from calibration.reports.snapshot import is_readable, snapshot_of
from calibration.reports.tables import PEOPLE
from calibration.reports.view import keyed_tables
from calibration.studies import plan_texts, share_actions, study_actions
from calibration.studies.disagreements import Listing, Place, listing, points_of, table
from calibration.studies.parts import PARTS
from calibration.studies.plans import (
    GOALS,
    PLANNED,
    PlanAnswer,
    PlanEffort,
    newer_job,
    plan_or_job,
    read,
)
from config import api
from config.lists import Filters, holds, numbered, since, with_name
from config.openapi import files
from jobs.models.job import Job
from judges.access import run_set

Plain = serializers.Serializer[Any]

# Plans over HTTP: how many more double-rated dialogues a study needs. For who may see the study.

LEAST, MOST = 1e-6, 1e6
"""Widths that may be asked for."""


class PlanQuerySerializer(api.QuerySerializer):
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
    part = serializers.ChoiceField(required=False, choices=PARTS)
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


PlanSerializer = api.serializer_of(
    PlanAnswer,
    "Plan",
    efforts=api.serializer_of(PlanEffort, "PlanEffort")(
        many=True, help_text="as many raters as the pilot had come first"
    ),
    answer=serializers.ListField(child=serializers.CharField()),
    cautions=serializers.ListField(child=serializers.CharField()),
    computing=ReportJobSerializer(allow_null=True, help_text="the job that computes a newer one; else null"),
)


@api.get(PlanSerializer, PlanQuerySerializer, responses=PENDING, permission=IsStudyResearcher)
def plan(request: Request, pk: int) -> Any:
    """Return how many more double-rated dialogues a study needs.

    A large plan is computed by a job: 202 until it is done. It stays as it was when labels come, and says so
    (`labels_since`); `again` asks for a new one, whose job stands at `computing` meanwhile.
    """
    return _planned(request, access.study(pk))


@api.get(PlanSerializer, PlanQuerySerializer, responses=PENDING, permission=IsCampaignResearcher)
def campaign_plan(request: Request, campaign: int) -> Any:
    """Return the plan from a campaign as its own pilot: that of its automatic study."""
    about = loading.campaign(campaign)
    study = study_actions.automatic(corpus=about.corpus, campaign=about, by=api.user(request))
    return _planned(request, study)


def _planned(request: Request, study: Study) -> Any:
    data = api.data(request)
    query = read(data, study)
    answer = plan_or_job(study=study, query=query, by=api.user(request), again=data["again"])
    if isinstance(answer, Job):
        if not answer.active:
            raise ValidationError({"detail": [answer.error or "The job was cancelled: ask `again`."]})
        return pending(answer)
    newer = newer_job(study, query) if answer.computed_at else None
    texts: dict[str, Any] = {"answer": plan_texts.sentences(answer), "cautions": plan_texts.cautions(answer)}
    texts |= {"computing": newer if newer and newer.active else None}
    return PlanSerializer(answer.as_dict() | texts).data


# The items behind a figure, over HTTP. For who may see the study.

PARAMETERS = [
    OpenApiParameter("question", str, required=True, description="scheme@version/key, or scheme@version/all"),
    OpenApiParameter("a", str, description=f"a rater, or {PEOPLE} (the default)"),
    OpenApiParameter("b", str, description=f"a rater, or {PEOPLE} (the default)"),
    OpenApiParameter("cell", str, description="row,column of `table`: only these items"),
    OpenApiParameter("part", str, enum=PARTS),
    OpenApiParameter("limit", int),
    OpenApiParameter("offset", int),
]


@api.listing(query=PARAMETERS, permission=IsStudyResearcher)
def disagreements(request: Request, pk: int) -> Response:
    """List the items of a question on which two raters differ, farthest apart first, with all answers."""
    study = access.study(pk)
    try:
        with refused_as("question", end=""):
            part = part_of(request._request, study)
            if part is None:
                raise ValidationError({"part": [NOT_OPENED]})
            items_listed = listing(study, part, request.query_params.dict())
    except KeyError as error:
        raise NotFound(str(error.args[0])) from error
    answer = api.page_of(request, items_listed.rows, lambda page: _rows(items_listed, page))
    ratings = items_listed.compared.ratings
    answer.data |= {
        "both": items_listed.both,
        "differ": items_listed.differ,
        "scale": ratings.names or ratings.scale,
        "table": table(items_listed.compared),
    }
    return answer


def _rows(items_listed: Listing, rows: Sequence[int]) -> list[dict[str, Any]]:
    items = [items_listed.question.items[row] for row in rows]
    numbers, points = _numbers(items), points_of(items_listed.question, items)
    return [
        _row(items_listed, row, numbers) | {"evidence": _evidence(items_listed, row, points)} for row in rows
    ]


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


# Studies and their reports.

NOT_OPENED = "Test was not opened for this study: use open-test, with a purpose."
FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(RENDERINGS))
TABLE_FORM = OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(TABLE_RENDERINGS))


class StudySerializer(PlaceSerializer):
    """A study; see the documentation of definitions for what one may hold."""

    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(max_length=study_actions.NAME_LIMIT)
    definition = serializers.JSONField(default=dict)
    automatic = serializers.BooleanField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)

    def validate_definition(self, value: Any) -> dict[str, Any]:
        """Refuse what is not an object."""
        if not isinstance(value, dict):
            raise serializers.ValidationError("A definition is an object.")
        return value


class ReportSerializer(serializers.ModelSerializer[Report]):
    """A report: its result, when it was computed, and the hash of what it was computed from."""

    labels_since = serializers.SerializerMethodField(
        help_text="whether labels have come since it was computed, or no longer count"
    )
    computing = serializers.SerializerMethodField(help_text="the job that computes a newer one; else null")

    class Meta:
        model = Report
        fields = ["id", "study", "part", "inputs_hash", "created_at", "labels_since", "computing", "result"]

    def get_labels_since(self, report: Report) -> bool:
        """Whether labels have come since."""
        return study_actions.is_stale(report)

    @extend_schema_field(ReportJobSerializer(allow_null=True))
    def get_computing(self, report: Report) -> dict[str, Any] | None:
        """The job that computes a newer report."""
        job = study_actions.under_way(report.study, report.part)
        return dict(ReportJobSerializer(job).data) if job else None


class PartSerializer(api.QuerySerializer):
    """Which part of the split: dev or test. Left out: dev, or everything where there is no split."""

    part = serializers.ChoiceField(choices=PARTS, required=False)


class AutomaticReportQuerySerializer(PartSerializer):
    """Which part of the split, and whose labels."""

    everyone = serializers.BooleanField(default=False, help_text="whether people left out of gold count here")


class RecomputeSerializer(Plain):
    """Which part is computed again."""

    part = serializers.ChoiceField(
        choices=["dev", "all"],
        required=False,
        error_messages={"invalid_choice": "dev or all; each look at test needs its purpose: use open-test."},
    )


STUDIES = Filters(
    {
        "corpus": with_name("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "text": holds("name"),
        "since": since("created_at"),
    },
    order=("id", "name", "created_at"),
)


@api.listing(StudySerializer, filters=STUDIES)
def list_studies(request: Request) -> QuerySet[Study]:
    """List studies, newest first."""
    return Study.objects.select_related("corpus", "campaign")


@api.post(StudySerializer, StudySerializer, status=201)
def create_study(request: Request) -> Study:
    """Make a study."""
    with refused_as("definition", end=""):
        return study_actions.create(by=api.user(request), **api.data(request))


@api.post(gives=StudySerializer)
def run_set_report(request: Request, pk: int) -> Study:
    """Return the study of a run set's judges and metrics with all people, made on first use; its report is at
    `studies/{id}/report/`."""
    return study_actions.of_run_set(run_set=run_set(pk), by=api.user(request))


@api.get(StudySerializer, permission=IsStudyResearcher)
def show_study(request: Request, pk: int) -> Study:
    """Return a study."""
    return access.study(pk)


@api.get(ReportSerializer, PartSerializer, responses=PENDING, permission=IsStudyResearcher)
def report(request: Request, pk: int) -> Report | Response:
    """Return a study's newest report; of a small study it is of the labels of now.

    Of a large one it stays as it was when labels come, and says so (`labels_since`); `recompute` asks for a
    new one, whose job stands at `computing` meanwhile. Before the first is done: 202 with its progress.
    """
    study = access.study(pk)
    return _report(request, study, api.data(request))


StepSerializer = api.serializer_of(
    Step, "CorpusStep", state=serializers.ChoiceField(choices=[DONE, CURRENT, OPEN])
)
NextStepSerializer = api.serializer_of(NextStep, "CorpusNextStep")


class CorpusCampaignSerializer(serializers.Serializer[Any]):
    """A campaign with its submitted ratings, and all that it asks for."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.values)
    submitted = serializers.IntegerField()
    slots = serializers.IntegerField()


class CorpusVerdictSerializer(serializers.Serializer[Any]):
    """A verdict of the latest report."""

    question = serializers.CharField()
    rater = serializers.CharField(allow_blank=True)
    verdict = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class CorpusAgreementSerializer(serializers.Serializer[Any]):
    """Agreement of people on a question so far; `reason` says why there is none."""

    question = serializers.CharField()
    statistics = ResultSerializer(many=True)
    reason = serializers.CharField(allow_blank=True)


class CostSerializer(serializers.Serializer[Any]):
    """A sum of costs in one currency."""

    amount = serializers.DecimalField(max_digits=20, decimal_places=6)
    currency = serializers.CharField()


class CorpusOverviewSerializer(serializers.Serializer[Any]):
    """How far a corpus has come from data to gold, what is next, and the latest figures and events."""

    steps = StepSerializer(many=True)
    next = NextStepSerializer()
    campaigns = CorpusCampaignSerializer(many=True)
    agreement_of = serializers.IntegerField(allow_null=True, help_text="the campaign of `agreement`")
    agreement = CorpusAgreementSerializer(many=True)
    report = serializers.IntegerField(allow_null=True, help_text="the study of the latest report")
    verdicts = CorpusVerdictSerializer(many=True)
    costs = CostSerializer(many=True)
    events = api.serializer_of(PastEvent, "CorpusEvent")(many=True)


@api.get(CorpusOverviewSerializer)
def corpus_overview(request: Request, name: str) -> dict[str, Any]:
    """Return the steps of a corpus from data to gold, the next one, and its latest figures and events."""
    return overview(loading.corpus_named(name)).as_json()


@api.get(ReportSerializer, AutomaticReportQuerySerializer, responses=PENDING)
def corpus_report(request: Request, pk: int) -> Report | Response:
    """Return the automatic report of a corpus."""
    return _automatic_report(request, loading.corpus(pk), None)


@api.get(ReportSerializer, AutomaticReportQuerySerializer, responses=PENDING, permission=IsCampaignResearcher)
def campaign_report(request: Request, campaign: int) -> Report | Response:
    """Return the automatic report of a campaign."""
    about = loading.campaign(campaign)
    return _automatic_report(request, about.corpus, about)


@api.post(RecomputeSerializer, ReportSerializer, responses=PENDING, permission=IsStudyResearcher)
def recompute(request: Request, pk: int) -> Report | Response:
    """Compute a study again on the labels of now. A look at test goes through open-test instead."""
    data, study = api.data(request), access.study(pk)
    return _computed(request, study, _part(study, data))


@api.post(PurposeSerializer, ReportSerializer, responses=PENDING)
def open_test(request: Request, pk: int) -> Report | Response:
    """Log a look at test with its purpose, and return the report on test."""
    data, study = api.data(request), access.study(pk)
    with refused_as("purpose", end=""):
        study_actions.open_test(study=study, by=api.user(request), purpose=data["purpose"])
    return _computed(request, study, "test")


@api.get(
    takes=PartSerializer,
    query=[PartSerializer, FORM],
    responses=files(rendering.media_type for rendering in RENDERINGS.values()),
    permission=IsStudyResearcher,
)
def report_file(request: Request, pk: int, form: str) -> HttpResponse:
    """Return the newest report as json, csv, md, latex or html."""
    study, rendering = access.study(pk), RENDERINGS.get(form)
    newest = study_actions.latest(study, _part(study, api.data(request)))
    if rendering is None or newest is None:
        raise Http404
    return HttpResponse(rendering.write(newest), content_type=rendering.media_type)


class StudyTableSerializer(Plain):
    """A table of a report: its key, under which its files are, and its title."""

    key = serializers.CharField()
    title = serializers.CharField()


class SnapshotSerializer(PartSerializer):
    """Which report of a study: that of a part, or an earlier one by its id."""

    snapshot = serializers.IntegerField(required=False, help_text="the id of an earlier report")


@api.get(
    StudyTableSerializer(many=True),
    SnapshotSerializer,
    permission=IsStudyResearcher,
)
def report_tables(request: Request, pk: int) -> list[dict[str, str]]:
    """Return the keys and titles of the tables of the newest report, or of an earlier one."""
    displayed = _displayed(request, access.study(pk))
    tables = keyed_tables(snapshot_of(displayed)).values()
    return [{"key": own.key, "title": own.title} for own in tables]


@api.get(
    takes=SnapshotSerializer,
    query=[SnapshotSerializer, TABLE_FORM],
    responses=files(rendering.media_type for rendering in TABLE_RENDERINGS.values()),
    permission=IsStudyResearcher,
)
def report_table(request: Request, pk: int, key: str, form: str) -> HttpResponse:
    """Return one table of the newest report, or of an earlier one, as json, csv, md or latex."""
    rendering = TABLE_RENDERINGS.get(form)
    own = table_of_report(_displayed(request, access.study(pk)), key, form)
    if rendering is None or own is None:
        raise NotFound(f"This report has no table {key} in the format {form}.")
    return HttpResponse(rendering.write(own), content_type=rendering.media_type)


def _displayed(request: Request, study: Study) -> Report:
    """Return the report that a query names, else the newest of the part."""
    data = api.data(request)
    if number := data.get("snapshot"):
        return access.snapshot(study, number)
    newest = study_actions.latest(study, _part(study, data))
    if newest is None:
        raise NotFound("This study has no report of this part yet: compute it first.")
    return newest


def _automatic_report(request: Request, corpus: Corpus, campaign: Campaign | None) -> Report | Response:
    data = api.data(request)
    study = study_actions.automatic(
        corpus=corpus, campaign=campaign, everyone=data["everyone"], by=api.user(request)
    )
    return _report(request, study, data)


def _report(request: Request, study: Study, data: api.Data) -> Report | Response:
    part = _part(study, data)
    if part != "test":
        with refused_as("part", end=""):
            return _or_pending(study_actions.current(study=study, part=part, by=api.user(request)))
    newest = study_actions.latest(study, part)
    if newest is None:
        raise ValidationError({"part": [NOT_OPENED]})
    return newest


def _part(study: Study, data: api.Data) -> str:
    with refused_as("definition", end=""):
        return data.get("part") or study_actions.default_part(study)


def _computed(request: Request, study: Study, part: str) -> Report | Response:
    newest = study_actions.latest(study, part)
    if newest is not None and is_readable(newest) and part != "test" and not study_actions.is_stale(newest):
        return newest
    with refused_as("part", end=""):
        return _or_pending(study_actions.report_or_job(study=study, part=part, by=api.user(request)))


def _or_pending(report: Report | Job) -> Report | Response:
    return pending(report) if isinstance(report, Job) else report


# Read-only links to reports. For researchers.


class ReportShareSerializer(serializers.ModelSerializer[ReportShare]):
    """A read-only link to a report; its address is only in the response that creates it."""

    part = serializers.CharField(source="report.part", read_only=True)
    created_by = serializers.SlugRelatedField[User](
        slug_field="username", read_only=True, allow_null=True, help_text="null, too, where they are deleted"
    )
    revoked_by = serializers.SlugRelatedField[User](slug_field="username", read_only=True, allow_null=True)
    works = serializers.BooleanField(read_only=True, help_text="neither revoked nor expired")
    views = serializers.IntegerField(source="n_views", read_only=True)
    viewed_at = serializers.SerializerMethodField(help_text="times of the latest views, newest first")

    class Meta:
        model = ReportShare
        fields = (
            *("id", "report", "part", "allows_transcripts", "created_at", "created_by", "expires_at"),
            *("revoked_at", "revoked_by", "works", "views", "viewed_at"),
        )

    def get_viewed_at(self, share: ReportShare) -> list[datetime]:
        """Times of the latest views."""
        return [view.at for view in getattr(share, "latest_views", ())]


class NewReportShareSerializer(PartSerializer):
    """What to share, for how long; without `report`, the newest report of the part."""

    report = serializers.IntegerField(required=False, min_value=1, help_text="id of a report of the study")
    days = serializers.IntegerField(
        default=share_actions.USUAL_DAYS,
        min_value=1,
        max_value=MOST_SHARED_DAYS,
        help_text="until it expires",
    )
    allows_transcripts = serializers.BooleanField(
        default=False, help_text="also show the leading disagreements with their turns, and raters' notes"
    )


class IssuedReportShareSerializer(Plain):
    """A new link; `address` is shown only once."""

    id = serializers.IntegerField()
    address = serializers.CharField()
    expires_at = serializers.DateTimeField()


@api.listing(ReportShareSerializer)
def report_shares(request: Request, pk: int) -> QuerySet[ReportShare]:
    """List the read-only links to a study's reports, newest first."""
    return share_actions.shares_of(access.study(pk))


@api.post(NewReportShareSerializer, IssuedReportShareSerializer, status=201, secret=True)
def create_report_share(request: Request, pk: int) -> dict[str, Any]:
    """Create a read-only link to a report, which needs no account; only this response has its address."""
    study, data = access.study(pk), api.data(request)
    if "report" in data:
        shared = access.snapshot(study, data["report"])
    elif (newest := study_actions.latest(study, _part(study, data))) is not None:
        shared = newest
    else:
        raise ValidationError({"report": ["The study has no such report yet: compute it first."]})
    share, token = share_actions.create(
        by=api.user(request),
        report=shared,
        days=data["days"],
        allows_transcripts=data["allows_transcripts"],
    )
    address = request.build_absolute_uri(reverse("shared-report", args=[token]))
    return {"id": share.pk, "address": address, "expires_at": share.expires_at}


@api.delete()
def revoke_report_share(request: Request, pk: int, share: int) -> None:
    """Revoke a read-only link: from now on it opens nothing."""
    share_actions.revoke(by=api.user(request), share=access.report_share(access.study(pk), share))
