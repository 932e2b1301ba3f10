"""Counts and scores by system and condition over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.models import Corpus
from calibration.api.serializers import (
    LookedAtSerializer,
    OpensTestSerializer,
    ReportJobSerializer,
    asked,
    made_of,
)
from calibration.counts.job import counts_on_test, counts_or_job
from calibration.counts.query import MOST_TURNS, SAMPLES, CountsQuery
from calibration.counts.query import read as read_counts_query
from calibration.counts.renderings.as_json import content as count_content
from calibration.statistics.judge_errors import CORRECTIONS
from jobs.models import Job

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
    data, purpose = asked(request, CountsQuerySerializer, CountsTestSerializer)
    made = made_of(request, lambda: _query(corpus, data), counts_or_job, counts_on_test, purpose)
    if isinstance(made, Job):
        if not made.active:
            raise ValidationError({"detail": [made.error or "The job was cancelled."]})
        return Response(ReportJobSerializer(made).data, status=status.HTTP_202_ACCEPTED)
    return Response(count_content(made))


def _query(corpus: Corpus, data: dict[str, Any]) -> CountsQuery:
    campaign = data.pop("campaign", None)
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise ValidationError({"campaign": [f"The campaign is about another corpus than {corpus.name}."]})
    return read_counts_query(data, corpus, campaign)
