"""One statistic as routes tell it: a value never without its interval, its counts and where it came from."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from calibration.statistics.core.result import FLAGS, STATUSES


class ResultSerializer(serializers.Serializer[Any]):
    """A statistic; `value` is null exactly when `status` is not ok, and `reason` says why."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n_items = serializers.IntegerField()
    n_clusters = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=STATUSES)
    reason = serializers.CharField(allow_blank=True)
    flags = serializers.ListField(child=serializers.ChoiceField(choices=list(FLAGS)))
