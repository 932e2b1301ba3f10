"""Format of every refusal of the HTTP API; pure functions.

    {"detail": "One sentence for people.", "code": "invalid", "fields": {"name": ["Error in this field."]}}

`detail` and `code` are always present. `fields` has the errors in parts of the request, each by its path
(`definition.raters`). Some refusals have more, such as `kept` or `problems`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

CODES = {
    400: "invalid",
    401: "not_authenticated",
    403: "permission_denied",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "refused",
    429: "too_many_requests",
    500: "error",
    503: "unavailable",
}
"""Default code of a refusal, by status."""
GENERAL_KEYS = ("non_field_errors", "__all__")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Every refusal: a sentence for people, a code for programs, fields that are at fault.",
    "required": ["detail", "code"],
    "properties": {
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "fields": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
    "additionalProperties": True,
}


def shaped(status: int, body: Any) -> dict[str, Any]:
    """Return a refusal in this format, for any body: a mapping of fields, a list, a string, or nothing."""
    code = CODES.get(status, f"http_{status}")
    if isinstance(body, Mapping) and "detail" in body:
        rest = {name: value for name, value in body.items() if name != "detail"}
        lines = _lines(body["detail"])
        more = {"problems": lines} if len(lines) > 1 else {}
        return {"detail": " ".join(lines) or _phrase(status), "code": code, **more, **rest}
    if isinstance(body, Mapping) and body:
        fields: dict[str, list[str]] = {}
        for path, line in _flat(body, ""):
            fields.setdefault(path, []).append(line)
        general_messages = [line for name in GENERAL_KEYS for line in fields.pop(name, [])]
        field_messages = [f"{path}: {lines[0]}" for path, lines in fields.items()]
        first = " ".join(general_messages) or (field_messages[0] if field_messages else _phrase(status))
        return {"detail": first, "code": code} | ({"fields": fields} if fields else {})
    lines = _lines(body)
    return {"detail": " ".join(lines) or _phrase(status), "code": code}


def _lines(value: Any) -> list[str]:
    return [line for _, line in _flat(value, "")]


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each error message with the path of its field."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            nested = isinstance(part, Mapping | list | tuple)
            yield from _flat(part, f"{path}.{number}" if nested and path else path)
    elif value is not None:
        yield path, str(value)


def _phrase(status: int) -> str:
    phrases = {int(status): status.phrase for status in HTTPStatus}
    return f"{phrases.get(status, 'Refused')}."
