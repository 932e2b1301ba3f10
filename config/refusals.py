"""How every refusal of the HTTP API reads: pure.

    {"detail": "One sentence for people.", "code": "invalid", "fields": {"name": ["What is wrong with it."]}}

`detail` and `code` are always there. `fields` is where parts of what was sent are at fault, each by its path
(`definition.raters`). Some refusals say more, such as `kept` or `problems`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import IO, Any

from django.http import QueryDict
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, FormParser, MultiPartParser

from config import request_json

# What the HTTP API takes as a body: JSON, and forms with the same limits on their texts.


class BodyTooLarge(APIException):
    """413, in one sentence."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class JSON(BaseParser):
    """JSON within the limits of `config.request_json`."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the body's value. Nothing is read beyond the limit."""
        try:
            return request_json.parse(stream.read(request_json.LIMIT + 1))
        except request_json.TooLarge as error:
            raise BodyTooLarge(str(error)) from error
        except request_json.BadJSON as error:
            raise ParseError(str(error)) from error


class Form(FormParser):
    """A form in the address's notation."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the form, a QueryDict, with storable texts."""
        return _storable(super().parse(stream, media_type, parser_context))


class Multipart(MultiPartParser):
    """A form with files."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> DataAndFiles[Any, Any]:
        """Return the form with storable texts, and its files."""
        parsed = super().parse(stream, media_type, parser_context)
        return DataAndFiles(_storable(parsed.data), parsed.files)


def _storable(form: QueryDict) -> QueryDict:
    cleaned = QueryDict(mutable=True)
    for name, values in form.lists():
        cleaned.setlist(request_json.storable(name), [request_json.storable(value) for value in values])
    return cleaned


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
"""What a refusal's code is where nothing finer is said."""
WHOLE = ("non_field_errors", "__all__")
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
    """Return a refusal in the one shape, whatever it had: a mapping of fields, a list, a text, nothing."""
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
        whole = [line for name in WHOLE for line in fields.pop(name, [])]
        told = [f"{path}: {lines[0]}" for path, lines in fields.items()]
        first = " ".join(whole) or (told[0] if told else _phrase(status))
        return {"detail": first, "code": code} | ({"fields": fields} if fields else {})
    lines = _lines(body)
    return {"detail": " ".join(lines) or _phrase(status), "code": code}


def _lines(value: Any) -> list[str]:
    return [line for _, line in _flat(value, "")]


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence with the path of what it is about."""
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
    phrases = {int(one): one.phrase for one in HTTPStatus}
    return f"{phrases.get(status, 'Refused')}."
