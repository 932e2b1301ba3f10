"""Additions to every route in the OpenAPI document, such as its refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import Direction, OpenApiParameter
from rest_framework.permissions import AllowAny

from config.idempotency import FORM, HEADER, REPLAYED

JSON = "application/json"
NOT_BLANK = r"\S"
REFUSED = {"$ref": "#/components/schemas/Refusal"}
"""`config.refusals.SCHEMA`: a sentence in `detail`, a `code`, and errors per field."""
REASONS = {
    "400": "The input is invalid; each field with its errors.",
    "401": "Not signed in: send a token.",
    "403": "Not for this account.",
    "404": "There is no such object, or this account may not see it.",
    "405": "Not with this method.",
    "406": "Not in the form that `Accept` asks for.",
    "409": "Not in the present state.",
    "413": "The body is too large.",
    "415": "The body is of another media type.",
    "422": "Well formed, but refused; `detail` says why.",
}
KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "pattern": FORM},
    OpenApiParameter.HEADER,
    description=(
        "Sent again with the same key and body within 24 hours, the request is not done again: the first "
        f"answer comes back with the header {REPLAYED}: true. With another body it is refused (422)."
    ),
)


def files(media_types: Iterable[str]) -> dict[tuple[int, str], Any]:
    """Return the responses of a route that sends a file in one of several formats, with JSON as JSON."""
    names = [media_type.partition(";")[0] for media_type in media_types]
    return {(200, name): OpenApiTypes.OBJECT if name == JSON else OpenApiTypes.BINARY for name in names}


def without_empty_defaults(result: Any, **_: Any) -> Any:
    """Remove the default "" of every parameter and field with choices: a hook on the OpenAPI document.

    It only means that the value may be omitted, and client generators drop an operation whose default is not
    among its choices.
    """
    for part in result.values() if isinstance(result, dict) else result:
        if isinstance(part, dict | list):
            without_empty_defaults(part)
    if (
        isinstance(result, dict)
        and result.get("default") == ""
        and result.keys() & {"enum", "allOf", "oneOf"}
    ):
        del result["default"]
    return result


def closed_bodies(result: Any, **_: Any) -> Any:
    """Forbid additional fields in all request bodies: a hook on the OpenAPI document.

    `config.declared_input` refuses them.
    """
    schemas, pending, seen = result["components"]["schemas"], [], set()
    for methods in result["paths"].values():
        pending += [operation["requestBody"] for operation in methods.values() if "requestBody" in operation]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            if isinstance(reference := part.get("$ref"), str) and reference not in seen:
                seen.add(reference)
                pending.append(schemas[reference.rpartition("/")[2]])
            if part.get("type") == "object" and "properties" in part:
                part.setdefault("additionalProperties", False)
        pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return result


class Words(OpenApiSerializerFieldExtension):
    """Describes a string that may not be blank: more than white space."""

    target_class = "rest_framework.serializers.CharField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        """Return the field's schema."""
        described: dict[str, Any] = auto_schema._map_serializer_field(
            self.target, direction, bypass_extensions=True
        )
        blank = self.target.allow_blank or not self.target.trim_whitespace
        if direction == "request" and described.get("type") == "string" and not blank:
            described.setdefault("pattern", NOT_BLANK)
        return described


class Described(AutoSchema):
    """Adds each route's refusals, lists only JSON for bodies that may be JSON, and names operations."""

    def get_operation_id(self) -> str:
        """Return the operation's name, only letters and `_`; with `file` for a file in a selectable format.

        Generators drop other characters, and then one of two operations: `studies_report._retrieve` would
        become `studies_report_retrieve`.
        """
        name = super().get_operation_id().replace("._", "_file_")
        return re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_")

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters in addition to a route's own: for a POST, the idempotency key."""
        declared: list[Any] = super().get_override_parameters()
        if self.method != "POST" or getattr(self.view, "without_keys", None):
            return declared
        return [*declared, KEY]

    def map_parsers(self) -> list[Any]:
        """Return the media types of a body: JSON if the route takes it, else files."""
        types = super().map_parsers()
        return [JSON] if JSON in types else types

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for status in self._refusals():
            answer = {"description": REASONS[status], "content": {JSON: {"schema": REFUSED}}}
            bodies.setdefault(status, answer)
        return bodies

    def _refusals(self) -> list[str]:
        """Return the statuses of a route's possible refusals."""
        statuses = ["400", "404", "406"]
        if AllowAny not in self.view.permission_classes:
            statuses += ["401", "403"]
        if self.method in ("POST", "PUT", "PATCH", "DELETE"):
            statuses += ["409", "413", "415", "422"]
        return statuses
