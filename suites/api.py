"""Serializers of reports, shared by the APIs of all suites: their tables and looks at test."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


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
