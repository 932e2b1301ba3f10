"""Body parsers of the HTTP API: JSON, and forms with the same limits on their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.http import QueryDict
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, FormParser, MultiPartParser

from config import request_json


class BodyTooLarge(APIException):
    """413, with a one-sentence message."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class JSON(BaseParser):
    """JSON within the limits of `config.request_json`."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the body's value. Reads no further than the limit."""
        try:
            return request_json.parse(stream.read(request_json.LIMIT + 1))
        except request_json.TooLarge as error:
            raise BodyTooLarge(str(error)) from error
        except request_json.BadJSON as error:
            raise ParseError(str(error)) from error


class Form(FormParser):
    """A URL-encoded form."""

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
