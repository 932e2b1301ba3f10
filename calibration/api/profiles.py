"""Profiles over HTTP. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from calibration.profiles import causes, summary


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
def profile(request: Request, pk: int) -> Response:
    """Return what metrics say of each system: one record per system and metric."""
    corpus = access.corpus(pk)
    return Response({"corpus": corpus.name, "cells": summary.as_rows(summary.profile(corpus))})


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
    _, values = causes.values(access.continuation(pk))
    return Response(MetricValueSerializer(values, many=True).data)
