"""Form fields of the sampling parameters, made from their table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from jobs.endpoints.parameters import PARAMETERS, Parameter, checked
from jobs.errors import JobError


class LinesField(forms.CharField):
    """Texts, one a line. Blanks within a line stay; lines without a character are left out."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)
        self.widget.attrs["rows"] = 2

    def prepare_value(self, value: Any) -> Any:
        """Return texts as they are edited."""
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        """Return the lines."""
        return [line for line in (super().to_python(value) or "").replace("\r\n", "\n").split("\n") if line]


def parameter_fields() -> dict[str, forms.Field]:
    """Return one field for each parameter, by its name, none of them required."""
    return {one.name: _field(one) for one in PARAMETERS.values()}


def given_parameters(form: forms.Form) -> dict[str, Any]:
    """Return the parameters given in a form that was checked."""
    data = form.cleaned_data
    return checked({name: data[name] for name in PARAMETERS if name in data})


def check_together(form: forms.Form, data: Mapping[str, Any]) -> None:
    """Say beside its field what is wrong with the parameters together, such as two that exclude each
    other."""
    try:
        checked({name: data[name] for name in PARAMETERS if name in data})
    except JobError as error:
        words = re.findall(r"\w+", str(error))
        name = next((name for name in PARAMETERS if name in words), None)
        form.add_error(name if name in form.fields else None, str(error))


class WithParameters(forms.Form):
    """A form with the sampling parameters, beside a prompt's budget of characters where it has that field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(parameter_fields())

    def clean(self) -> dict[str, Any]:
        """Check the parameters against each other."""
        data = super().clean() or {}
        check_together(self, data)
        return data

    def parameters(self) -> list[forms.BoundField]:
        """Return the fields of the sampling parameters, and the budget of a prompt's characters."""
        return [self[name] for name in (*PARAMETERS, "budget") if name in self.fields]

    def parameters_told(self) -> bool:
        """Whether one of these fields holds something or is wrong."""
        return any(field.errors or field.value() for field in self.parameters())


def _field(one: Parameter) -> forms.Field:
    shared: dict[str, Any] = {"required": False, "label": one.label, "help_text": one.help}
    bounds: dict[str, Any] = {"min_value": one.least, "max_value": one.most}
    if one.kind == "number":
        return forms.FloatField(**shared, **bounds)
    if one.kind == "whole":
        return forms.IntegerField(**shared, **bounds)
    if one.kind == "choice":
        return forms.ChoiceField(**shared, choices=[("", "not sent"), *((key, key) for key in one.choices)])
    return LinesField(**shared) if one.kind == "texts" else forms.BooleanField(**shared)
