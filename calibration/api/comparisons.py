"""Systems compared over HTTP: counts, metric scores, outputs, preferences, turn vs. dialogue.

Researchers only, as by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.models import Campaign
from calibration.api.serializers import (
    LookedAtSerializer,
    OpensTestSerializer,
    ReportJobSerializer,
    made_of,
    read_request,
)
from calibration.comparisons import metric_causes, profiles
from calibration.comparisons.count_files import COUNTS
from calibration.comparisons.count_inputs import MOST_TURNS, SAMPLES
from calibration.comparisons.engine import ReportKind
from calibration.comparisons.preferences import PREFERENCES
from calibration.comparisons.profile_cells import POINTS, SAME
from calibration.comparisons.profiles import PROFILE, Profile
from calibration.comparisons.responses import (
    CountsSerializer,
    LineSerializer,
    MetricValueSerializer,
    Plain,
    PreferencesSerializer,
    SideBySideRowSerializer,
    SideBySideSerializer,
    TurnVsDialogueSerializer,
)
from calibration.comparisons.side_by_side import SIDE_BY_SIDE
from calibration.comparisons.turn_vs_dialogue import TURN_VS_DIALOGUE
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config.lists import DEFAULT, MOST, Pages
from jobs.models.job import Job

# What routes of reports share.

PAGED = [
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}),
    OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}),
]


class PageSerializer(Plain):
    """Where a page of a list stands."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


def _compute(
    request: Request, kind: ReportKind[Any, Any], subject: Any, params: dict[str, Any], purpose: str = ""
) -> Any:
    """Return the report of a request, or the job that computes it; on test for a POST.

    A refusal, a campaign of another corpus and a job that failed are told as what is wrong with the request.
    """
    campaign = params.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != subject.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {subject.name}."]})

    report = made_of(
        request,
        lambda: kind.read(params, subject, campaign),
        kind.compute,
        kind.compute_on_test,
        purpose,
    )
    if isinstance(report, Job) and not report.active:
        raise ValidationError({"detail": [report.error or "The job was cancelled."]})
    return report


def _respond(report: Any, content: Callable[[Any], Any]) -> Response:
    """Return the content of a report, or the job that computes it."""
    if isinstance(report, Job):
        return Response(ReportJobSerializer(report).data, status=status.HTTP_202_ACCEPTED)
    return Response(content(report))


def _respond_page(request: Request, rows: Any, row: type[Plain], head: dict[str, Any]) -> Response:
    """Return a page of rows, with what stands before them."""
    pager = Pages()
    page: Any = pager.paginate_queryset(rows, request)
    answer = pager.get_paginated_response(row(page, many=True).data)
    answer.data |= head
    return answer


# Counts and scores by system and condition.


class CountsQuerySerializer(LookedAtSerializer):
    """What is counted; lists are separated by commas. See the documentation of counts."""

    rater = serializers.CharField(required=False, help_text="a rater's name, or people")
    questions = serializers.CharField(required=False, help_text="keys, scheme@version/key, or schemes")
    by = serializers.CharField(required=False, help_text="system (default), or keys of conditions")
    strata = serializers.CharField(required=False, help_text="a key of the dialogues' metadata")
    per_turns = serializers.IntegerField(required=False, min_value=1, max_value=MOST_TURNS)
    samples = serializers.ChoiceField(required=False, choices=[name for name in SAMPLES if name])
    correction = serializers.ChoiceField(required=False, choices=list(CORRECTIONS))


class CountsTestSerializer(OpensTestSerializer, CountsQuerySerializer):
    """What is counted on test, and for what test is opened."""


COUNTS_ANSWERS = {200: CountsSerializer, 202: ReportJobSerializer}


@extend_schema(methods=["GET"], parameters=[CountsQuerySerializer], responses=COUNTS_ANSWERS)
@extend_schema(methods=["POST"], request=CountsTestSerializer, responses=COUNTS_ANSWERS)
@api_view(["GET", "POST"])
def counts(request: Request, pk: int) -> Response:
    """Return counts and scores by system and condition; POST logs a look at test and counts there.

    Of many labels they are as last computed: `computed_at` says when, `labels_since` whether labels have come
    since, and `calls_since` whether calls of judges or metrics have ended; newer ones are then computed.
    Before there are any: 202 with their job; ask by GET again.
    """
    corpus = access.corpus(pk)
    params, purpose = read_request(request, CountsQuerySerializer, CountsTestSerializer)
    report = _compute(request, COUNTS, corpus, params, purpose)
    return _respond(report, lambda counted: CountsSerializer(counted).data)


# Preferences between systems.


class PreferencesQuerySerializer(LookedAtSerializer):
    """Which answers are read, and how. See the documentation of preferences."""

    question = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, or a key")
    systems = serializers.CharField(required=False, help_text="comparisons among these alone, by commas")
    ties = serializers.ChoiceField(required=False, choices=list(MODELS))
    both_bad = serializers.ChoiceField(required=False, choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(required=False, max_length=300, help_text="the system of strength 1000")


class PreferencesTestSerializer(OpensTestSerializer, PreferencesQuerySerializer):
    """What is read of test, and for what test is opened."""


@extend_schema(methods=["GET"], parameters=[PreferencesQuerySerializer], responses=PreferencesSerializer)
@extend_schema(methods=["POST"], request=PreferencesTestSerializer, responses=PreferencesSerializer)
@api_view(["GET", "POST"])
def preferences(request: Request, pk: int) -> Response:
    """Return win rates, strengths, agreement, position bias; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    params, purpose = read_request(request, PreferencesQuerySerializer, PreferencesTestSerializer)
    report = _compute(request, PREFERENCES, corpus, params, purpose)
    return _respond(report, lambda computed: PreferencesSerializer(computed).data)


# Metric scores: of a corpus, and of one continuation.


class ProfileQuerySerializer(Plain):
    """At which points the systems are compared."""

    points = serializers.ChoiceField(
        choices=POINTS,
        default=SAME,
        help_text="same: where each system has a value; all: each system's own, which may be others",
    )


@extend_schema(
    parameters=[ProfileQuerySerializer], responses={200: OpenApiTypes.OBJECT, 202: ReportJobSerializer}
)
@api_view(["GET"])
def profile(request: Request, pk: int) -> Response:
    """Return what metrics say of each system: one record per system and metric.

    Systems are compared at the same points; `elsewhere` counts a system's values at other points.
    Of a large corpus as it was last computed: `computed_at` says when (null: now), `labels_since` whether
    labels have come since, and `calls_since` whether calls of judges or metrics have ended; a newer one is
    then computed. Before there is one: 202 with its job.
    """
    corpus = access.corpus(pk)
    params, _ = read_request(request, ProfileQuerySerializer, ProfileQuerySerializer)

    def content(profiled: Profile) -> dict[str, Any]:
        return {
            "corpus": corpus.name,
            "points": profiled.points,
            "computed_at": profiled.computed_at,
            "labels_since": profiled.labels_since,
            "calls_since": profiled.calls_since,
            "cells": profiles.as_rows(profiled.panels),
        }

    return _respond(_compute(request, PROFILE, corpus, params), content)


@extend_schema(responses=MetricValueSerializer(many=True))
@api_view(["GET"])
def continuation_profile(request: Request, pk: int) -> Response:
    """Return every metric's values of one continuation, each with the turns that caused it."""
    _, values = metric_causes.values(access.continuation(pk))
    return Response(MetricValueSerializer(values, many=True).data)


# Continuations side by side.


class SideBySideQuerySerializer(Plain):
    """What is compared. What is left out is chosen: the context that most continuations share, and some of
    its continuations."""

    at = serializers.IntegerField(
        required=False, min_value=0, max_value=10**9, help_text="turns of the history before"
    )
    continuation = serializers.ListField(
        child=serializers.CharField(max_length=400),
        required=False,
        help_text="names, one a parameter; one alone has the usual others beside it",
    )
    against = serializers.CharField(
        required=False, max_length=400, help_text="whose values the others' differences are from: the first"
    )
    metric = serializers.CharField(required=False, max_length=200, help_text="only this metric, by its name")


class SideBySidePageSerializer(SideBySideSerializer, PageSerializer):
    """A page of metrics, and what is compared. Of a long context the last turns are shown."""

    results = SideBySideRowSerializer(many=True)


@extend_schema(parameters=[SideBySideQuerySerializer, *PAGED], responses=SideBySidePageSerializer)
@api_view(["GET"])
def compared(request: Request, pk: int) -> Response:
    """List what each metric says of continuations of one context, beside each other."""
    dialogue = access.dialogue(pk)
    query = request.query_params
    several = {"continuation": query.getlist("continuation")} if "continuation" in query else {}
    serializer = SideBySideQuerySerializer(data=query.dict() | several)
    serializer.is_valid(raise_exception=True)
    params = dict(serializer.validated_data)
    params["continuations"] = tuple(params.pop("continuation", ()))
    comparison = _compute(request, SIDE_BY_SIDE, dialogue, params)
    head = SideBySideSerializer(comparison).data
    return _respond_page(request, comparison.rows, SideBySideRowSerializer, head)


# Turn vs. dialogue ratings.


class TurnVsDialogueQuerySerializer(Plain):
    """Whose labels, and of which two questions; left out, the two that fit best."""

    turns = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, about turns")
    whole = serializers.CharField(
        required=False, max_length=300, help_text="scheme@version/key, about whole continuations"
    )
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class TurnVsDialoguePageSerializer(TurnVsDialogueSerializer, PageSerializer):
    """A page of continuations, those that changed rank most first, and all dialogues."""

    results = LineSerializer(many=True)


@extend_schema(parameters=[TurnVsDialogueQuerySerializer, *PAGED], responses=TurnVsDialoguePageSerializer)
@api_view(["GET"])
def turns_and_whole(request: Request, pk: int) -> Response:
    """List continuations by people's mean of their turns and by their label of the whole."""
    corpus = access.corpus(pk)
    params, _ = read_request(request, TurnVsDialogueQuerySerializer, TurnVsDialogueQuerySerializer)
    report = _compute(request, TURN_VS_DIALOGUE, corpus, params)
    head = TurnVsDialogueSerializer(report).data
    return _respond_page(request, report.lines, LineSerializer, head)
