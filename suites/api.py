"""Serializers of reports, shared by the APIs of all suites: their tables and looks at test."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from suites.verdicts import STEPS, TITLES

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


class SystemComparisonSerializer(Plain):
    """A system's score minus a baseline's on the same items, with its interval."""

    baseline = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    low_if_missing_wrong = serializers.FloatField(allow_null=True)
    high_if_missing_right = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)


class SystemVerdictSerializer(Plain):
    """Whether a system scores better than the baselines, why, and what to do next."""

    state = serializers.ChoiceField(choices=list(TITLES))
    sentence = serializers.CharField()
    step = serializers.ChoiceField(choices=list(STEPS), allow_blank=True)
    next = serializers.CharField(allow_blank=True)
    needed = serializers.IntegerField(
        allow_null=True, help_text="clusters that would show the difference, or that a verdict needs"
    )
    baselines = SystemComparisonSerializer(many=True)
