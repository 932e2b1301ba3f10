"""The body of a request, made in one place: what is sent, and what is shown before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.prompt import Prompt

SCHEMA, TEXT = "schema", "text"
"""How a reply is asked for: by JSON schema, or as text."""


def request_body(model: str, prompt: Prompt, parameters: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Return the body of a request of the chat completions API; its order is the client's on the wire.

    `form` is SCHEMA or TEXT; a prompt without a schema is asked as text alone.
    """
    rest = dict(parameters)
    if form == SCHEMA and prompt.schema is not None:
        told = {"name": "reply", "strict": True, "schema": dict(prompt.schema)}
        rest["response_format"] = {"type": "json_schema", "json_schema": told}
    return {"model": model, "messages": prompt.messages(), **dict(sorted(rest.items()))}


def first_form(prompt: Prompt) -> str:
    """Return the form that is tried first: the strictest that a prompt has."""
    return TEXT if prompt.schema is None else SCHEMA


def as_sent(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body as the client writes them."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
