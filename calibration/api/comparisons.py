"""Systems compared over HTTP: counts, metric scores, outputs, preferences, turn vs. dialogue.

Researchers only, as by default.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.corpora_serializers import exclude_field
from annotation.models import Campaign
from calibration.api.serializers import (
    PENDING,
    LabelsQuerySerializer,
    OpensTestSerializer,
    compute_report,
    pending,
)
from calibration.comparisons import metric_causes, profiles
from calibration.comparisons.count_files import COUNTS
from calibration.comparisons.count_inputs import MOST_TURNS, SAMPLES
from calibration.comparisons.preferences import PREFERENCES
from calibration.comparisons.profile_cells import POINTS, SAME
from calibration.comparisons.profiles import PROFILE
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
from calibration.reports.kinds import ReportKind
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config import api
from config.lists import DEFAULT, MOST
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


def _compute(request: Request, kind: ReportKind[Any, Any], subject: Any) -> Any:
    """Return the report of a request, or 202 with the job that computes it.

    A campaign of another corpus and a job that failed are errors of the request.
    """

    def read(params: api.Data) -> Any:
        campaign = params.pop("campaign", None)
        if campaign is not None and campaign.corpus_id != subject.pk:
            reason = f"The campaign is about another corpus than {subject.name}."
            raise ValidationError({"campaign": [reason]})
        return kind.read(params, subject, campaign)

    report = compute_report(request, read, kind.compute, kind.compute_on_test)
    if not isinstance(report, Job):
        return report
    if not report.active:
        raise ValidationError({"detail": [report.error or "The job was cancelled."]})
    return pending(report)


def _page(request: Request, rows: Any, row: type[Plain], head: dict[str, Any]) -> Response:
    """Answer with a page of rows, and what stands before them."""
    answer = api.page_of(request, rows, lambda page: row(page, many=True).data)
    answer.data |= head
    return answer


# Counts and scores by system and condition.


class CountsQuerySerializer(LabelsQuerySerializer):
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


@api.get(CountsSerializer, CountsQuerySerializer, responses=PENDING)
def counts(request: Request, pk: int) -> Any:
    """Return counts and scores by system and condition.

    Of many labels they are as last computed: `computed_at` says when, `labels_since` whether labels have come
    since, and `calls_since` whether calls of judges or metrics have ended; newer ones are then computed.
    Before there are any: 202 with their job; ask again.
    """
    return _compute(request, COUNTS, access.corpus(pk))


@api.post(CountsTestSerializer, CountsSerializer, responses=PENDING)
def counts_on_test(request: Request, pk: int) -> Any:
    """Log a look at test with its purpose, and return counts and scores there.

    Where many labels are counted: 202 with the job; ask by GET with part=test.
    """
    return _compute(request, COUNTS, access.corpus(pk))


# Preferences between systems.


class PreferencesQuerySerializer(LabelsQuerySerializer):
    """Which answers are read, and how. See the documentation of preferences."""

    question = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, or a key")
    systems = serializers.CharField(required=False, help_text="comparisons among these alone, by commas")
    ties = serializers.ChoiceField(required=False, choices=list(MODELS))
    both_bad = serializers.ChoiceField(required=False, choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(required=False, max_length=300, help_text="the system of strength 1000")


class PreferencesTestSerializer(OpensTestSerializer, PreferencesQuerySerializer):
    """What is read of test, and for what test is opened."""


@api.get(PreferencesSerializer, PreferencesQuerySerializer)
def preferences(request: Request, pk: int) -> Any:
    """Return win rates, strengths, agreement and position bias."""
    return _compute(request, PREFERENCES, access.corpus(pk))


@api.post(PreferencesTestSerializer, PreferencesSerializer)
def preferences_on_test(request: Request, pk: int) -> Any:
    """Log a look at test with its purpose, and return preferences there."""
    return _compute(request, PREFERENCES, access.corpus(pk))


# Metric scores: of a corpus, and of one continuation.


class ProfileQuerySerializer(api.QuerySerializer):
    """At which points the systems are compared, and the dialogues that are left out."""

    points = serializers.ChoiceField(
        choices=POINTS,
        default=SAME,
        help_text="same: where each system has a value; all: each system's own, which may be others",
    )
    exclude = exclude_field()


@api.get(takes=ProfileQuerySerializer, responses={200: OpenApiTypes.OBJECT, **PENDING})
def profile(request: Request, pk: int) -> dict[str, Any] | Response:
    """Return what metrics say of each system: one record per system and metric.

    Systems are compared at the same points; `elsewhere` counts a system's values at other points.
    Of a large corpus as it was last computed: `computed_at` says when (null: now), `labels_since` whether
    labels have come since, and `calls_since` whether calls of judges or metrics have ended; a newer one is
    then computed. Before there is one: 202 with its job.
    """
    corpus = access.corpus(pk)
    report = _compute(request, PROFILE, corpus)
    if isinstance(report, Response):
        return report
    return {
        "corpus": corpus.name,
        "points": report.points,
        "excluded": report.excluded,
        "computed_at": report.computed_at,
        "labels_since": report.labels_since,
        "calls_since": report.calls_since,
        "cells": profiles.as_rows(report.panels),
    }


@api.get(MetricValueSerializer, many=True)
def continuation_profile(request: Request, pk: int) -> list[metric_causes.Value]:
    """Return every metric's values of one continuation, each with the turns that caused it."""
    return metric_causes.values(access.continuation(pk))[1]


# Continuations side by side.


class SideBySideQuerySerializer(api.QuerySerializer):
    """What is compared. What is left out is chosen: the context that most continuations share, and some of
    its continuations."""

    at = serializers.IntegerField(
        required=False, min_value=0, max_value=10**9, help_text="turns of the history before"
    )
    continuation = serializers.ListField(
        child=serializers.CharField(max_length=400),
        source="continuations",
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


@api.get(SideBySidePageSerializer, SideBySideQuerySerializer, query=[SideBySideQuerySerializer, *PAGED])
def compared(request: Request, pk: int) -> Response:
    """List what each metric says of continuations of one context, beside each other."""
    report = _compute(request, SIDE_BY_SIDE, access.dialogue(pk))
    return _page(request, report.rows, SideBySideRowSerializer, SideBySideSerializer(report).data)


# Turn vs. dialogue ratings.


class TurnVsDialogueQuerySerializer(api.QuerySerializer):
    """Whose labels, and of which two questions; left out, the two that fit best."""

    turns = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, about turns")
    whole = serializers.CharField(
        required=False, max_length=300, help_text="scheme@version/key, about whole continuations"
    )
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )
    exclude = exclude_field()


class TurnVsDialoguePageSerializer(TurnVsDialogueSerializer, PageSerializer):
    """A page of continuations, those that changed rank most first, and all dialogues."""

    results = LineSerializer(many=True)


@api.get(
    TurnVsDialoguePageSerializer,
    TurnVsDialogueQuerySerializer,
    query=[TurnVsDialogueQuerySerializer, *PAGED],
)
def turns_and_whole(request: Request, pk: int) -> Response:
    """List continuations by people's mean of their turns and by their label of the whole."""
    report = _compute(request, TURN_VS_DIALOGUE, access.corpus(pk))
    return _page(request, report.lines, LineSerializer, TurnVsDialogueSerializer(report).data)
