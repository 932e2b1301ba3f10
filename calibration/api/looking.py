"""What every request for figures from labels says: of which part and campaign, resampled how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation.api.people_serializers import Text
from annotation.models import Campaign
from calibration.counts.query import MOST_RESAMPLES
from calibration.errors import CalibrationError

Query = TypeVar("Query")
Made = TypeVar("Made")
Serializer = type[serializers.Serializer[Any]]


class LookedAtSerializer(serializers.Serializer[Any]):
    """The labels that are read, and how intervals are drawn from them."""

    part = serializers.ChoiceField(required=False, choices=["dev", "test", "all", "training"])
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31)
    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class OpensTestSerializer(serializers.Serializer[Any]):
    """That test is read, and for what it is opened."""

    part = serializers.ChoiceField(required=False, choices=["test"])
    purpose = Text(max_length=500)


def asked(request: Request, query: Serializer, test: Serializer) -> tuple[dict[str, Any], str]:
    """Return what is asked for, and for what test is opened: a POST opens it, a GET reads its address."""
    is_test = request.method == "POST"
    given = test(data=request.data) if is_test else query(data=request.query_params.dict())
    given.is_valid(raise_exception=True)
    data = given.validated_data | ({"part": "test"} if is_test else {})
    return data, data.pop("purpose", "")


def made_of(
    request: Request,
    read: Callable[[], Query],
    compute: Callable[..., Made],
    compute_on_test: Callable[..., Made],
    purpose: str,
) -> Made:
    """Return what a query comes to, on test for a POST; a refusal is told as what is wrong with it."""
    try:
        query = read()
        if request.method == "POST":
            return compute_on_test(query=query, by=request.user, purpose=purpose)
        return compute(query=query, by=request.user)
    except CalibrationError as error:
        raise ValidationError({"detail": [str(error)]}) from error
