"""What every request for figures from labels says: of which part and campaign, resampled how often."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.models import Campaign
from calibration.counts.query import MOST_RESAMPLES


class LookedAtSerializer(serializers.Serializer[Any]):
    """The labels that are read, and how intervals are drawn from them."""

    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class OpensTestSerializer(serializers.Serializer[Any]):
    """That test is read, and for what it is opened."""

    part = serializers.ChoiceField(required=False, choices=["test"])
    purpose = serializers.CharField(max_length=500)
