"""Systems compared over HTTP: counts, metric scores, outputs, preferences, turn vs. dialogue."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.models import Campaign, Corpus
from calibration.api.serializers import (
    LookedAtSerializer,
    OpensTestSerializer,
    ReportJobSerializer,
    made_of,
    read_request,
)
from calibration.comparisons import metric_causes, profiles
from calibration.comparisons.count_files import content as count_content
from calibration.comparisons.count_inputs import MOST_TURNS, SAMPLES, CountsQuery
from calibration.comparisons.count_inputs import read as read_counts_query
from calibration.comparisons.counts import counts_on_test, counts_or_job
from calibration.comparisons.preferences import compute as compute_preferences
from calibration.comparisons.preferences import compute_on_test
from calibration.comparisons.preferences import content as preference_content
from calibration.comparisons.preferences import read as read_preferences_query
from calibration.comparisons.profile_cells import POINTS, SAME
from calibration.comparisons.profiles import profile_or_job
from calibration.comparisons.side_by_side import ComparisonQuery, compare, head_out, row_out
from calibration.comparisons.turn_vs_dialogue import compute as compute_inversions
from calibration.comparisons.turn_vs_dialogue import head_out as inversions_head
from calibration.comparisons.turn_vs_dialogue import line_out
from calibration.comparisons.turn_vs_dialogue import read as read_turn_questions
from calibration.errors import CalibrationError
from calibration.statistics.judge_errors import CORRECTIONS
from calibration.statistics.preference_strengths import BOTH_BAD_POLICIES, MODELS
from config.lists import DEFAULT, MOST, Pages
from jobs.models.job import Job

# Counts and scores by system and condition over HTTP. Researchers only, as by default.

Plain = serializers.Serializer[Any]


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


class FigureSerializer(Plain):
    """A value with its interval; null where there is none, and `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    method = serializers.CharField(allow_blank=True)
    n = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)
    flags = serializers.ListField(child=serializers.CharField())


class DifferenceSerializer(FigureSerializer):
    """A cell less people's over the dialogues that both have, with its p-value."""

    p = serializers.FloatField()
    p_holm = serializers.FloatField()


class CellSerializer(FigureSerializer):
    """One column of one row."""

    lowest = serializers.FloatField(allow_null=True)
    highest = serializers.FloatField(allow_null=True)
    corrected = FigureSerializer(allow_null=True)
    difference = DifferenceSerializer(allow_null=True)
    raw = serializers.FloatField(allow_null=True)
    n_missing = serializers.IntegerField()
    not_corrected = serializers.CharField(allow_blank=True)
    no_difference = serializers.CharField(allow_blank=True)


class DistanceSerializer(Plain):
    """How far two distributions are apart."""

    tv = FigureSerializer()
    js = FigureSerializer()
    amount = FigureSerializer()


class RowSerializer(Plain):
    """The continuations of one condition, or people's."""

    by = serializers.DictField()
    human = serializers.BooleanField()
    fake_model = serializers.BooleanField()
    n_continuations = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    cells = serializers.DictField(child=CellSerializer())
    distance = DistanceSerializer(allow_null=True)


class LookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.CharField()
    purpose = serializers.CharField()


class CountsSerializer(Plain):
    """The table: people's row first."""

    corpus = serializers.CharField()
    campaign = serializers.CharField(allow_null=True)
    part = serializers.CharField()
    computed_at = serializers.CharField(allow_null=True, help_text="null: of the labels of now")
    labels_since = serializers.BooleanField(help_text="whether labels have come since it was computed")
    calls_since = serializers.BooleanField(
        help_text="whether calls of judges or metrics have ended since it was computed"
    )
    rater = serializers.CharField()
    kind = serializers.CharField()
    simulated = serializers.BooleanField()
    questions = serializers.ListField(child=serializers.CharField())
    by = serializers.ListField(child=serializers.CharField())
    strata = serializers.CharField(allow_null=True)
    n_strata = serializers.IntegerField()
    per_turns = serializers.IntegerField(allow_null=True)
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    rows = RowSerializer(many=True)
    halves = DistanceSerializer(allow_null=True)
    no_differences = serializers.CharField(allow_blank=True)
    no_distance = serializers.CharField(allow_blank=True)
    notes = serializers.ListField(child=serializers.CharField())
    looks_at_test = LookSerializer(many=True)


ANSWERS = {200: CountsSerializer, 202: ReportJobSerializer}


@extend_schema(methods=["GET"], parameters=[CountsQuerySerializer], responses=ANSWERS)
@extend_schema(methods=["POST"], request=CountsTestSerializer, responses=ANSWERS)
@api_view(["GET", "POST"])
def counts(request: Request, pk: int) -> Response:
    """Return counts and scores by system and condition; POST logs a look at test and counts there.

    Of many labels they are as last computed: `computed_at` says when, `labels_since` whether labels have come
    since, and `calls_since` whether calls of judges or metrics have ended; newer ones are then computed.
    Before there are any: 202 with their job; ask by GET again.
    """
    corpus = access.corpus(pk)
    data, purpose = read_request(request, CountsQuerySerializer, CountsTestSerializer)
    counted = made_of(request, lambda: _query(corpus, data), counts_or_job, counts_on_test, purpose)
    if isinstance(counted, Job):
        if not counted.active:
            raise ValidationError({"detail": [counted.error or "The job was cancelled."]})
        return Response(ReportJobSerializer(counted).data, status=status.HTTP_202_ACCEPTED)
    return Response(count_content(counted))


def _query(corpus: Corpus, data: dict[str, Any]) -> CountsQuery:
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    return read_counts_query(data, corpus, campaign)


# Profiles over HTTP. Researchers only, as by default.


class ProfileQuerySerializer(serializers.Serializer[Any]):
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
    corpus, user = access.corpus(pk), cast(User, request.user)
    query = ProfileQuerySerializer(data=request.query_params.dict())
    query.is_valid(raise_exception=True)
    points = query.validated_data["points"]
    report = profile_or_job(corpus=corpus, by=user, points=points)
    if isinstance(report, Job):
        if not report.active:
            raise ValidationError({"detail": [report.error or "The job was cancelled."]})
        return Response(ReportJobSerializer(report).data, status=status.HTTP_202_ACCEPTED)
    freshness = {
        "computed_at": report.computed_at,
        "labels_since": report.labels_since,
        "calls_since": report.calls_since,
    }
    return Response(
        {"corpus": corpus.name, "points": points, **freshness, "cells": profiles.as_rows(report.panels)}
    )


class MetricValueSerializer(serializers.Serializer[Any]):
    """What a metric says of a turn, or of the whole continuation, and what caused it."""

    metric = serializers.CharField()
    turn = serializers.IntegerField(allow_null=True, help_text="null: the value is of the continuation")
    value = serializers.JSONField(allow_null=True, help_text="null: `missing` says why")
    missing = serializers.CharField()
    causes = serializers.ListField(child=serializers.CharField())
    turns = serializers.ListField(
        child=serializers.IntegerField(), help_text="the turns that caused it, numbered as `turn` is"
    )


@extend_schema(responses=MetricValueSerializer(many=True))
@api_view(["GET"])
def continuation_profile(request: Request, pk: int) -> Response:
    """Return every metric's values of one continuation, each with the turns that caused it."""
    _, values = metric_causes.values(access.continuation(pk))
    return Response(MetricValueSerializer(values, many=True).data)


# Continuations side by side over HTTP. Researchers only, as by default.

LONGEST = 10**9


class SideBySideQuerySerializer(Plain):
    """What is compared. What is left out is chosen: the context that most continuations share, and some of
    its continuations."""

    at = serializers.IntegerField(
        required=False, min_value=0, max_value=LONGEST, help_text="turns of the history before"
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


class SharedContextSerializer(Plain):
    """A context that continuations share: `given` turns stand between the history and each of them."""

    at = serializers.IntegerField()
    given = serializers.IntegerField()
    continuations = serializers.ListField(child=serializers.CharField())


class SideBySideLineSerializer(Plain):
    """A turn: its number as annotators count it, who speaks, and what happened beside the text."""

    number = serializers.IntegerField()
    speaker = serializers.CharField()
    how = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)


class SideBySideColumnSerializer(Plain):
    """A continuation: the index of its turn here, and those that are shown of the `n_turns` from there on."""

    name = serializers.CharField()
    id = serializers.IntegerField()
    continuation = serializers.CharField()
    system = serializers.CharField()
    human = serializers.BooleanField(help_text="people's is one of several valid continuations")
    fake_model = serializers.BooleanField()
    mode = serializers.CharField()
    condition = serializers.DictField()
    trial = serializers.IntegerField()
    turn = serializers.IntegerField()
    turns = SideBySideLineSerializer(many=True)
    n_turns = serializers.IntegerField()


class SideBySideCellSerializer(Plain):
    """A metric's value of one column. Where it is null, `missing` says why."""

    column = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    missing = serializers.CharField(allow_blank=True)
    difference = serializers.FloatField(allow_null=True)
    causes = serializers.ListField(child=serializers.CharField())
    turns = serializers.ListField(
        child=serializers.IntegerField(), help_text="numbers of turns that caused it"
    )


class SideBySideRowSerializer(Plain):
    """A metric, with a cell for each column."""

    metric = serializers.CharField()
    title = serializers.CharField()
    items = serializers.CharField()
    aspect = serializers.CharField()
    direction = serializers.CharField()
    cells = SideBySideCellSerializer(many=True)


class SideBySideSerializer(Plain):
    """A page of metrics, and what is compared. Of a long context the last turns are shown."""

    corpus = serializers.CharField()
    dialogue = serializers.CharField()
    at = serializers.IntegerField()
    contexts = SharedContextSerializer(many=True)
    before = SideBySideLineSerializer(many=True)
    n_before = serializers.IntegerField()
    columns = SideBySideColumnSerializer(many=True)
    against = serializers.CharField()
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SideBySideRowSerializer(many=True)


@extend_schema(
    parameters=[
        SideBySideQuerySerializer,
        OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}),
        OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}),
    ],
    responses=SideBySideSerializer,
)
@api_view(["GET"])
def compared(request: Request, pk: int) -> Response:
    """List what each metric says of continuations of one context, beside each other."""
    dialogue = access.dialogue(pk)
    query = request.query_params
    serializer = SideBySideQuerySerializer(
        data=query.dict()
        | ({"continuation": query.getlist("continuation")} if "continuation" in query else {})
    )
    serializer.is_valid(raise_exception=True)
    data = dict(serializer.validated_data)
    names = tuple(data.pop("continuation", ()))
    try:
        comparison = compare(dialogue, ComparisonQuery(continuations=names, **data))
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    pager = Pages()
    rows: Any = pager.paginate_queryset(comparison.rows, request)
    answer = pager.get_paginated_response([row_out(comparison, row) for row in rows])
    answer.data |= head_out(comparison)
    return answer


# Preferences between systems over HTTP. Researchers only, as by default.


class PreferencesQuerySerializer(LookedAtSerializer):
    """Which answers are read, and how. See the documentation of preferences."""

    question = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, or a key")
    systems = serializers.CharField(required=False, help_text="comparisons among these alone, by commas")
    ties = serializers.ChoiceField(required=False, choices=list(MODELS))
    both_bad = serializers.ChoiceField(required=False, choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(required=False, max_length=300, help_text="the system of strength 1000")


class PreferencesTestSerializer(OpensTestSerializer, PreferencesQuerySerializer):
    """What is read of test, and for what test is opened."""


class PreferenceFigureSerializer(Plain):
    """A value with its interval; null where there is none, and `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_items = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=["ok", "undefined", "insufficient", "rejected"])
    reason = serializers.CharField(allow_blank=True)
    flags = serializers.ListField(child=serializers.CharField())


class StandingSerializer(Plain):
    """One system against all others."""

    system = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    strength = PreferenceFigureSerializer()
    rank = PreferenceFigureSerializer()


class MeetingSerializer(Plain):
    """Two systems: the first's wins, and what the strengths expect."""

    first = serializers.CharField()
    second = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    win_rate = PreferenceFigureSerializer()
    expected_win_rate = PreferenceFigureSerializer()


class PositionSerializer(Plain):
    """How often the one shown first was chosen; `both_orders` is null where no item was answered in both."""

    rater = serializers.CharField()
    shown_first = PreferenceFigureSerializer()
    both_orders = serializers.DictField(child=PreferenceFigureSerializer(), allow_null=True)


class VotersSerializer(Plain):
    """Raters whose answers count together: all people, or one judge."""

    name = serializers.CharField()
    kind = serializers.CharField(allow_blank=True)
    raters = serializers.ListField(child=serializers.CharField())
    answers = serializers.DictField(child=serializers.IntegerField())
    n_missing = serializers.IntegerField()
    scale = serializers.CharField()
    systems = StandingSerializer(many=True)
    meetings = MeetingSerializer(many=True)
    tie_parameter = PreferenceFigureSerializer(allow_null=True)
    position = PositionSerializer(allow_null=True)


class PairAgreementSerializer(Plain):
    """Agreement of two raters, or of all, in one setup."""

    raters = serializers.ListField(child=serializers.CharField())
    setup = serializers.ChoiceField(choices=["as_answered", "with_ties", "without_ties"])
    figures = serializers.DictField(child=PreferenceFigureSerializer())


class RankingAgreementSerializer(Plain):
    """Agreement of two raters on rankings, or of all."""

    raters = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(child=PreferenceFigureSerializer())


class PreferenceQuestionSerializer(Plain):
    """The report of one question."""

    question = serializers.CharField()
    title = serializers.CharField()
    ties = serializers.ChoiceField(choices=list(MODELS))
    both_bad = serializers.ChoiceField(choices=list(BOTH_BAD_POLICIES))
    anchor = serializers.CharField(allow_null=True)
    resamples = serializers.IntegerField()
    seed = serializers.IntegerField()
    level = serializers.FloatField()
    voters = VotersSerializer(many=True)
    positions = PositionSerializer(many=True)
    agreement = PairAgreementSerializer(many=True)
    rankings = RankingAgreementSerializer(many=True)


class PreferencesSerializer(Plain):
    """The report of a corpus or campaign, question by question."""

    name = serializers.CharField()
    facts = serializers.ListField(child=serializers.CharField())
    questions = PreferenceQuestionSerializer(many=True)


@extend_schema(methods=["GET"], parameters=[PreferencesQuerySerializer], responses=PreferencesSerializer)
@extend_schema(methods=["POST"], request=PreferencesTestSerializer, responses=PreferencesSerializer)
@api_view(["GET", "POST"])
def preferences(request: Request, pk: int) -> Response:
    """Return win rates, strengths, agreement, position bias; POST logs a look at test and reports there."""
    corpus = access.corpus(pk)
    data, purpose = read_request(request, PreferencesQuerySerializer, PreferencesTestSerializer)
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    answer = made_of(
        request,
        lambda: read_preferences_query(data, corpus, campaign),
        compute_preferences,
        compute_on_test,
        purpose,
    )
    return Response(preference_content(answer.report))


# Turns and whole over HTTP. Researchers only, as by default.


class TurnsAndWholeQuerySerializer(Plain):
    """Whose labels, and of which two questions; left out, the two that fit best."""

    turns = serializers.CharField(required=False, max_length=300, help_text="scheme@version/key, about turns")
    whole = serializers.CharField(
        required=False, max_length=300, help_text="scheme@version/key, about whole continuations"
    )
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class LineSerializer(Plain):
    """A continuation by both scores, and its ranks in its dialogue; 1 is best."""

    dialogue = serializers.CharField()
    continuation = serializers.CharField()
    system = serializers.CharField()
    n_turns = serializers.IntegerField()
    by_turns = serializers.FloatField()
    by_whole = serializers.FloatField()
    difference = serializers.FloatField(allow_null=True)
    rank_by_turns = serializers.FloatField()
    rank_by_whole = serializers.FloatField()
    moved = serializers.FloatField()


class DialogueOrdersSerializer(Plain):
    """The pairs of continuations of a dialogue that the two scores put in different orders."""

    dialogue = serializers.CharField()
    continuations = serializers.IntegerField()
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)


class TurnsAndWholeSerializer(Plain):
    """A page of continuations, those that changed rank most first, and all dialogues."""

    corpus = serializers.CharField()
    campaign = serializers.CharField(allow_null=True)
    turns = serializers.CharField()
    whole = serializers.CharField()
    same_scale = serializers.BooleanField()
    people = serializers.IntegerField()
    left_out = serializers.IntegerField()
    test_left_out = serializers.BooleanField()
    inversions = serializers.FloatField()
    pairs = serializers.IntegerField()
    dialogues = DialogueOrdersSerializer(many=True)
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = LineSerializer(many=True)


@extend_schema(
    parameters=[
        TurnsAndWholeQuerySerializer,
        OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}),
        OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": 10**9, "default": 0}),
    ],
    responses=TurnsAndWholeSerializer,
)
@api_view(["GET"])
def turns_and_whole(request: Request, pk: int) -> Response:
    """List continuations by people's mean of their turns and by their label of the whole."""
    corpus = access.corpus(pk)
    serializer = TurnsAndWholeQuerySerializer(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    try:
        inversions = compute_inversions(read_turn_questions(corpus, campaign, data))
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
    pager = Pages()
    lines: Any = pager.paginate_queryset(inversions.lines, request)
    answer = pager.get_paginated_response([line_out(line) for line in lines])
    answer.data |= inversions_head(inversions)
    return answer
