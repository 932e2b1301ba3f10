"""Inputs for the sampling parameters in forms, the HTTP API and commands, built from their table."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.core.management.base import CommandParser
from rest_framework import serializers

from jobs.endpoints.parameters import LONGEST_STOP, MOST_STOPS, PARAMETERS, Parameter, checked
from jobs.errors import JobError

MONEY: dict[str, Any] = {"max_digits": 14, "decimal_places": 6}
TYPES: Mapping[str, type] = {"number": float, "whole": int, "money": Decimal}

# Form fields of the sampling parameters, made from their table.


class LinesField(forms.CharField):
    """Texts, one per line. Spaces within a line are kept; empty lines are dropped."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)
        self.widget.attrs["rows"] = 2

    def prepare_value(self, value: Any) -> Any:
        """Return the texts for editing, one per line."""
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        """Return the non-empty lines."""
        return [line for line in (super().to_python(value) or "").replace("\r\n", "\n").split("\n") if line]


class ObjectField(forms.JSONField):
    """A JSON object; empty if there is none."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget.attrs |= {"rows": 2, "class": "code", "spellcheck": "false"}

    def prepare_value(self, value: Any) -> Any:
        """Return the object for editing, as it was typed where it cannot be read."""
        return "" if value is None or value == "" else super().prepare_value(value)


def parameter_fields() -> dict[str, forms.Field]:
    """Return one field for each parameter, by its name, none of them required."""
    return {parameter.name: form_field(parameter) for parameter in PARAMETERS.values()}


def given_parameters(form: forms.Form) -> dict[str, Any]:
    """Return the parameters set in a validated form."""
    data = form.cleaned_data
    return checked({name: data[name] for name in PARAMETERS if name in data})


def check_together(form: forms.Form, data: Mapping[str, Any]) -> None:
    """Add an error to the right field if the parameters conflict, such as two that exclude each other."""
    try:
        checked({name: data[name] for name in PARAMETERS if name in data})
    except JobError as error:
        words = re.findall(r"\w+", str(error))
        name = next((word for word in words if word in PARAMETERS), None)
        form.add_error(name if name in form.fields else None, str(error))


class WithParameters(forms.Form):
    """Form with the sampling parameters, next to the prompt's character budget if it has that field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(parameter_fields())

    def clean(self) -> dict[str, Any]:
        """Validate the parameters against each other."""
        data = super().clean() or {}
        check_together(self, data)
        return data

    def parameters(self) -> list[forms.BoundField]:
        """Return the fields of the sampling parameters, and the prompt's character budget."""
        return [self[name] for name in (*PARAMETERS, "budget") if name in self.fields]

    def has_parameters(self) -> bool:
        """Whether one of these fields has a value or an error."""
        return any(field.errors or field.value() for field in self.parameters())


def form_field(parameter: Parameter, **options: Any) -> forms.Field:
    """Return the form field of a parameter; `options` are told to Django in place of the usual."""
    shared: dict[str, Any] = {"required": False, "label": parameter.label, "help_text": parameter.help}
    shared |= options
    bounds: dict[str, Any] = {"min_value": parameter.least, "max_value": parameter.most}
    if parameter.kind == "number":
        return forms.FloatField(**shared, **bounds)
    if parameter.kind == "whole":
        return forms.IntegerField(**shared, **bounds)
    if parameter.kind == "money":
        return forms.DecimalField(**shared, **bounds, **MONEY)
    if parameter.kind == "choice":
        return forms.ChoiceField(
            **shared, choices=[("", "not sent"), *((key, key) for key in parameter.choices)]
        )
    if parameter.kind == "object":
        return ObjectField(**shared)
    return LinesField(**shared) if parameter.kind == "texts" else forms.BooleanField(**shared)


# Serializer fields of the sampling parameters, built from their table.


def parameter_serializer_fields() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return one field for each parameter, by its name; one that is left out or null is not sent."""
    return {parameter.name: serializer_field(parameter) for parameter in PARAMETERS.values()}


def parameters_from_data(data: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters set in field-validated data; raise ValidationError."""
    try:
        return checked({name: data[name] for name in PARAMETERS})
    except JobError as error:
        raise serializers.ValidationError(str(error)) from None


def serializer_field(parameter: Parameter, **options: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field of a parameter in the API; `options` are told to DRF in place of the usual."""
    shared: dict[str, Any] = {"default": None, "allow_null": True, "help_text": parameter.help}
    shared |= options
    if parameter.kind == "number":
        return serializers.FloatField(min_value=parameter.least, max_value=parameter.most, **shared)
    if parameter.kind == "money":
        return serializers.DecimalField(min_value=_as_integer(parameter.least), **MONEY, **shared)
    if parameter.kind == "whole":
        return serializers.IntegerField(
            min_value=_as_integer(parameter.least), max_value=_as_integer(parameter.most), **shared
        )
    if parameter.kind == "choice":
        return serializers.ChoiceField(choices=parameter.choices, **shared)
    if parameter.kind == "yes":
        return serializers.BooleanField(**shared)
    if parameter.kind == "object":
        return serializers.DictField(**shared)
    text = serializers.CharField(max_length=LONGEST_STOP, trim_whitespace=False)
    return serializers.ListField(child=text, max_length=MOST_STOPS, **shared)


def _as_integer(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


# Command options for the sampling parameters, built from their table.


def add_parameters(parser: CommandParser, of: str = "", *, leave: Collection[str] = ()) -> None:
    """Add one option per parameter: `--top-p 0.1`; `--stop` may be repeated.

    With `of`, options have that prefix: `--model-top-p` where `of` is `model`. The command defines the
    options in `leave` itself.
    """
    owner = f" of the {of}" if of else ""
    group = parser.add_argument_group(f"sampling parameters{owner}", "sent to the model only where given")
    for parameter in (parameter for name, parameter in PARAMETERS.items() if name not in leave):
        group.add_argument(f"--{_option_name(of, parameter.name).replace('_', '-')}", **option(parameter))


def parameters_from_options(options: Mapping[str, Any], of: str = "") -> dict[str, Any]:
    """Return the parameters set by the options, unchecked."""
    options_by_name = {name: options.get(_option_name(of, name)) for name in PARAMETERS}
    return {name: value for name, value in options_by_name.items() if value is not None}


def _option_name(of: str, name: str) -> str:
    return f"{of}_{name}" if of else name


def option(parameter: Parameter, **options: Any) -> dict[str, Any]:
    """Return how a command takes a parameter; `options` are told to argparse in place of the usual."""
    how: dict[str, Any] = {"help": parameter.help.replace("%", "%%"), **options}
    if parameter.kind == "yes":
        return how | {"action": "store_true", "default": None}
    if parameter.kind == "texts":
        return how | {"action": "append", "metavar": "TEXT", "help": "a text that ends a reply; at most four"}
    if parameter.kind == "choice":
        return how | {"choices": parameter.choices}
    if parameter.kind == "object":
        return how | {"type": _json_object, "metavar": "JSON"}
    return how | {"type": TYPES[parameter.kind]}


def _json_object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:60]!r} is not JSON: {error}") from None
