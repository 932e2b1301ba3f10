"""How a structured reply is asked for: by JSON schema, else in JSON mode, else as strict text.

What an endpoint knows is found out by asking once and remembered with the endpoint.
"""

from __future__ import annotations

from typing import Any

from jobs.prompt import Prompt

SCHEMA, JSON, TEXT = "schema", "json", "text"
FORMS: dict[str, str] = {
    SCHEMA: "JSON schema",
    JSON: "JSON mode",
    TEXT: "text",
}
"""Every form, the strictest first. A prompt without a schema is always asked for as text."""


def forms_for(prompt: Prompt, known: str) -> tuple[str, ...]:
    """Return the forms to try, in order; `known` is what the endpoint was found to take, '' if unknown."""
    if prompt.schema is None:
        return (TEXT,)
    order = tuple(FORMS)
    return order[order.index(known) :] if known in FORMS else order


def response_format(form: str, prompt: Prompt) -> dict[str, Any]:
    """Return what a form adds to a request."""
    if form == SCHEMA:
        assert prompt.schema is not None
        told = {"name": "reply", "strict": True, "schema": dict(prompt.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": told}}
    return {"response_format": {"type": "json_object"}} if form == JSON else {}
