"""The body of a request, made in one place: what is sent, and what is shown before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.endpoints.forms import response_format
from jobs.fake_models import requested_name
from jobs.prompt import Prompt


def request_body(model: str, prompt: Prompt, parameters: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Return the body of a request of the chat completions API; its order is the client's on the wire.

    `form` is one of `jobs.endpoints.forms`.
    """
    rest = dict(parameters) | response_format(form, prompt)
    return {"model": requested_name(model), "messages": prompt.messages(), **dict(sorted(rest.items()))}


def as_sent(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body as the client writes them."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
