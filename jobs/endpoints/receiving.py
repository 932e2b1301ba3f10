"""What an endpoint sent, checked where it comes in: after this, a reply is a text and two plausible counts.

    CallError (jobs.endpoints.client)
      Again         the body is not a completion at all: a proxy's page, an error with status 200
      Malformed     a completion whose text is not a text, or longer than is read

An answer whose token counts make no sense is kept, without the counts and with a flag.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MOST_CHARACTERS = 200_000
"""Of a reply. No protocol's answer has a tenth of that."""
MOST_TOKENS = 100_000_000
"""Beyond any model's context; a larger count is a server's mistake."""
_ODD_COUNT = "the endpoint's token counts make no sense and were not kept"


class CallError(Exception):
    """A request without a usable reply."""


class Again(CallError):
    """Worth another try; `delay` is what the server asked for in seconds, None where it said nothing."""

    def __init__(self, message: str, delay: float | None = None) -> None:
        super().__init__(message)
        self.delay = delay


class Malformed(CallError):
    """A completion without a text that can be read; asked for once more, as an unparseable reply is.

    `reply` holds what came instead, and what it cost; None where not even that can be said.
    """

    def __init__(self, message: str, reply: Reply | None = None) -> None:
        super().__init__(message)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. Tokens are None where the server does not count them, or not plausibly."""

    text: str
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int
    flags: tuple[str, ...] = ()


def received(body: bytes, latency_ms: int) -> Reply:
    """Return the reply that a response's body holds; raise Again or Malformed."""
    try:
        data = json.loads(body)
    except RecursionError:
        raise Malformed("the response is nested too deeply") from None
    except ValueError as error:
        raise Again(f"the response was not valid: {str(error)[:200]}") from None
    choices = data.get("choices") if isinstance(data, dict) else None
    if not choices:
        raise Again(_no_choice(data))
    flags: list[str] = []
    usage = data.get("usage")
    tokens_in, tokens_out = (_count(usage, name, flags) for name in ("prompt_tokens", "completion_tokens"))
    text, trouble = _text(choices)
    reply = Reply(text, tokens_in, tokens_out, latency_ms, tuple(dict.fromkeys(flags)))
    if trouble:
        raise Malformed(trouble, reply)
    return reply


def _text(choices: Any) -> tuple[str, str]:
    """Return the first choice's text and "", or what stands in its place and why it is not a text."""
    first = choices[0] if isinstance(choices, list) else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return _raw(choices), "the reply has no message"
    text = message.get("content")
    if text is None:
        return "", ""
    if not isinstance(text, str):
        return _raw(text), f"the message's content is {_kind(text)}, not a text"
    if len(text) > MOST_CHARACTERS:
        return text, f"the reply has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read"
    return text, ""


def _count(usage: Any, name: str, flags: list[str]) -> int | None:
    """Return a token count, None where there is none; flag one that no model can have."""
    value = usage.get(name) if isinstance(usage, dict) else usage
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
        return value
    flags.append(_ODD_COUNT)
    return None


def _no_choice(data: Any) -> str:
    """Say what came instead: some servers report an error with status 200."""
    error = data.get("error") if isinstance(data, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    told = f": {message[:300]}" if isinstance(message, str) and message else ""
    return f"the reply holds no choice{told}"


def _raw(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:MOST_CHARACTERS]


def _kind(value: Any) -> str:
    names = {list: "a list", dict: "an object", bool: "true or false"}
    return names.get(type(value), "a number")
