"""The questions of a JSON schema: fields that can have only certain values, with these in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demo.fake_model.reading import Request

_WIDEST = 1000
_STEPS = 40

Values = tuple[Any, ...]


def questions(request: Request) -> dict[str, Values]:
    """Return the fields of the schema that have values, with these in order."""
    properties = {} if request.schema is None else request.schema.get("properties", {})
    found = {name: _values(field) for name, field in properties.items() if isinstance(field, Mapping)}
    return {name: values for name, values in found.items() if values}


def _values(field: Mapping[str, Any]) -> Values:
    for inner in field.get("anyOf", ()):
        if isinstance(inner, Mapping) and (values := _values(inner)):
            return values
    if isinstance(field.get("enum"), list):
        return tuple(value for value in field["enum"] if value is not None)
    if field.get("type") == "boolean":
        return (False, True)
    low, high = field.get("minimum"), field.get("maximum")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        return ()
    if field.get("type") == "integer" and high - low <= _WIDEST:
        return tuple(range(int(low), int(high) + 1))
    return tuple(round(low + (high - low) * step / _STEPS, 3) for step in range(_STEPS + 1))
