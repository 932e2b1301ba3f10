"""Serializers of reports, shared by the APIs of all suites: their queries, tables and looks at test."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from calibration.reports.kinds import MOST_RESAMPLES

Plain = serializers.Serializer[Any]


class ReportQuerySerializer(Plain):
    """The part that a report is about, and the resampling of its intervals."""

    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all", "training"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)


class ReportLineSerializer(Plain):
    """A row of a table. A cell is a figure, a count or a text."""

    name = serializers.CharField()
    baseline = serializers.BooleanField()
    cells = serializers.ListField(child=serializers.JSONField())


class ReportTableSerializer(Plain):
    """A table of a report; `columns` head its cells."""

    key = serializers.CharField()
    title = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = ReportLineSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class ReportLookSerializer(Plain):
    """A look at test."""

    by = serializers.CharField(allow_null=True)
    at = serializers.CharField()
    purpose = serializers.CharField()
