"""JSON from a browser or a program, made safe to store."""

from __future__ import annotations

import json
from typing import Any

from annotation.errors import AnswerRefused


def parse(body: bytes) -> dict[str, Any]:
    """Return a JSON object; raise AnswerRefused where the body is none. NaN and Infinity are no JSON."""
    try:
        value = json.loads(body or b"{}", parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise AnswerRefused("The request is not valid JSON.") from error
    if not isinstance(value, dict):
        raise AnswerRefused("The request must be a JSON object.")
    return value


def cleaned(value: Any) -> Any:
    """Return a value without what PostgreSQL cannot store: NUL characters and lone surrogates."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {cleaned(key): cleaned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [cleaned(part) for part in value]
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
