"""JSON from a browser or a program, made safe to store."""

from __future__ import annotations

from typing import Any

from annotation.errors import AnswerRefused
from config import request_json


def parse(body: bytes) -> dict[str, Any]:
    """Return a JSON object; raise AnswerRefused where the body is not one, or beyond a limit."""
    try:
        value = request_json.parse(body or b"{}")
    except request_json.BadJSON as error:
        raise AnswerRefused(str(error)) from error
    if not isinstance(value, dict):
        raise AnswerRefused("The request must be a JSON object.")
    return value


def cleaned(value: Any) -> Any:
    """Return a value without what PostgreSQL cannot store: NUL characters and lone surrogates."""
    if isinstance(value, str):
        return request_json.storable(value)
    if isinstance(value, dict):
        return {cleaned(key): cleaned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [cleaned(part) for part in value]
    return value
