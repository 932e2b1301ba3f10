"""Requests to the fake model, and its replies."""

from __future__ import annotations

import json
from typing import Any

from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt


def asked(prompt: Prompt, *, schema: bool = True, **more: Any) -> dict[str, Any]:
    """Return the body of a request as the client sends it."""
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": prompt.schema}}
    wanted = {"response_format": form} if schema and prompt.schema else {}
    return {"model": "fake-1", "messages": prompt.messages(), **wanted, **more}


def rating(text: str, instruction: str = "Rate it.") -> Prompt:
    """Return a prompt for the turn judge."""
    return Prompt(instruction, f"<<<BEGIN RESPONSE>>>\n| Ana: {text}\n<<<END RESPONSE>>>\n\noverall - x")


def said(model: FakeModel, body: dict[str, Any]) -> str:
    """Return the text of the reply."""
    response = model.respond("POST", "/v1/chat/completions", body)
    assert response.status == 200, response.body
    return str(json.loads(response.body)["choices"][0]["message"]["content"])
