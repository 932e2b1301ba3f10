"""The sampling parameters in the HTTP API, made from their table."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.endpoints.parameters import LONGEST_STOP, MOST_STOPS, PARAMETERS, Parameter, checked
from jobs.errors import JobError


def parameter_serializer_fields() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return one field for each parameter, by its name; one that is left out or null is not sent."""
    return {one.name: _field(one) for one in PARAMETERS.values()}


def parameters_from_data(data: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters given in data that were checked field by field; raise ValidationError."""
    try:
        return checked({name: data[name] for name in PARAMETERS})
    except JobError as error:
        raise serializers.ValidationError(str(error)) from None


def _field(one: Parameter) -> serializers.Field[Any, Any, Any, Any]:
    shared: dict[str, Any] = {"required": False, "default": None, "allow_null": True, "help_text": one.help}
    if one.kind == "number":
        return serializers.FloatField(min_value=one.least, max_value=one.most, **shared)
    if one.kind == "whole":
        return serializers.IntegerField(min_value=_whole(one.least), max_value=_whole(one.most), **shared)
    if one.kind == "choice":
        return serializers.ChoiceField(choices=one.choices, **shared)
    if one.kind == "yes":
        return serializers.BooleanField(**shared)
    text = serializers.CharField(max_length=LONGEST_STOP, trim_whitespace=False)
    return serializers.ListField(child=text, max_length=MOST_STOPS, **shared)


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)
