"""Profiles over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.api.serializers import ReportJobSerializer
from calibration.profiles import causes as metric_causes
from calibration.profiles import summary
from calibration.profiles.job import profile_or_job
from calibration.profiles.points import POINTS, SAME
from jobs.models import Job


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
    found = profile_or_job(corpus=corpus, by=user, points=points)
    if isinstance(found, Job):
        if not found.active:
            raise ValidationError({"detail": [found.error or "The job was cancelled."]})
        return Response(ReportJobSerializer(found).data, status=status.HTTP_202_ACCEPTED)
    kept = {
        "computed_at": found.computed_at,
        "labels_since": found.labels_since,
        "calls_since": found.calls_since,
    }
    return Response({"corpus": corpus.name, "points": points, **kept, "cells": summary.as_rows(found.panels)})


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
