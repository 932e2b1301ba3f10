"""Requests to the HTTP API may have only the query parameters and body fields that their route declares.

A route declares what the OpenAPI document lists for it (`config.openapi`), so the document, the generated
clients and the server cannot differ. A misspelt filter or field is refused with the valid names: if it were
ignored, the response would answer a different question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

CSRF_FIELD = "csrfmiddlewaretoken"
"""Django's own form field, allowed in every body."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class DeclaredInput:
    """The query parameters of one method of a route, and the schema of its body (`None`: no body)."""

    parameters: frozenset[str]
    body: Schema | None
    components: Mapping[str, Schema]
    media_types: tuple[str, ...] = ()
    """Media types of the body."""

    def takes_list(self, name: str) -> bool:
        """Whether a field of the body may be a list."""
        shapes = list(_alternatives(self, self.body or {}))
        fields = [shape["properties"][name] for shape in shapes if name in shape.get("properties", {})]
        return any("items" in shape for field in fields for shape in _alternatives(self, field))


class DeclaredInputOnly(BaseThrottle):
    """Refuses undeclared names (400). A throttle, since throttles run last: after sign-in and permissions."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Return True, or raise ValidationError with each unknown name."""
        match = request.resolver_match
        if match is None or request.method not in METHODS or request.method not in view.allowed_methods:
            return True
        declared = declared_input(match.func, request.method, f"/{match.route}")
        errors = {
            name: [f"There is no parameter {name} here. {_listing('Parameters', declared.parameters)}"]
            for name in request.query_params
            if name not in declared.parameters
        }
        if request.method != "GET":
            errors |= dict(unknown_fields(declared, request.data))
        if errors:
            raise ValidationError(errors)
        return True


@cache
def declared_input(callback: Any, method: str, route: str) -> DeclaredInput:
    """Return a view's declared input for a method, from the OpenAPI document: a few milliseconds, once per
    process."""
    # Imported here because they need DRF's complete settings, which need this module.
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.plumbing import ComponentRegistry

    generator = SchemaGenerator()
    view = generator.create_view(callback, method)
    schema = view.schema
    schema.registry, schema.method, schema.path_regex, schema.path_prefix = (
        ComponentRegistry(),
        method,
        route,
        "",
    )
    schema.path = generator.coerce_path(re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route), method, view)
    if schema.is_excluded():  # the document, and the page that shows it
        return DeclaredInput(
            frozenset(parameter["name"] for parameter in schema._get_format_parameters()), None, {}
        )
    parameters = {parameter["name"] for parameter in schema._get_parameters() if parameter["in"] == "query"}
    content = (schema._get_request_body() or {}).get("content", {})
    body = next((part["schema"] for part in content.values()), None)
    if method == "DELETE":  # the document has no body for it; its parameters may be sent in one, too
        body = {"type": "object", "properties": {name: {} for name in parameters}}
    components = {name: part.schema for (name, _), part in schema.registry._components.items()}
    return DeclaredInput(frozenset(parameters), body, components, tuple(content))


def unknown_fields(declared: DeclaredInput, data: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the path of each undeclared field of a body, with an error message."""
    if hasattr(data, "getlist"):  # a form: names may have a field's part after a dot or in brackets
        names = {name.partition(".")[0].partition("[")[0] for name in data} - {CSRF_FIELD}
        data = dict.fromkeys(names)
    yield from _unknown(declared, declared.body or {"type": "object", "properties": {}}, data, "")


def _unknown(
    declared: DeclaredInput, schema: Schema, value: Any, path: str
) -> Iterator[tuple[str, list[str]]]:
    shapes = list(_alternatives(declared, schema))
    if isinstance(value, list):
        for shape in shapes:
            if "items" in shape:
                for number, part in enumerate(value):
                    yield from _unknown(
                        declared, shape["items"], part, f"{path}.{number}" if path else str(number)
                    )
        return
    if not isinstance(value, Mapping):
        return
    objects = [shape for shape in shapes if shape.get("type") == "object"]
    declared_parts = {name: part for shape in objects for name, part in shape.get("properties", {}).items()}
    is_open = not objects or any(
        "properties" not in shape or shape.get("additionalProperties") for shape in objects
    )
    rest: Any = next((more for shape in objects if (more := shape.get("additionalProperties"))), {})
    for name, part in value.items():
        where = f"{path}.{name}" if path else str(name)
        if name in declared_parts:
            yield from _unknown(declared, declared_parts[name], part, where)
        elif not is_open:
            yield where, [f"There is no field {name} here. {_listing('Fields', declared_parts)}"]
        elif isinstance(rest, Mapping):
            yield from _unknown(declared, rest, part, where)


def _alternatives(declared: DeclaredInput, schema: Schema) -> Iterator[Schema]:
    """Yield the plain schemas behind references and combinations."""
    if reference := schema.get("$ref"):
        yield from _alternatives(declared, declared.components[reference.rpartition("/")[2]])
        return
    parts = [part for word in ("oneOf", "anyOf", "allOf") for part in schema.get(word, ())]
    for part in parts:
        yield from _alternatives(declared, part)
    if not parts:
        yield schema


def _listing(title: str, names: Any) -> str:
    return f"{title}: {', '.join(sorted(names))}." if names else f"It takes no {title.lower()}."
