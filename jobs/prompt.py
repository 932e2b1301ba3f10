"""What a model is asked. Pure: protocols and generators use it without a database.

ValueError
  Unparseable    the reply does not answer: the call fails, with the reason and the raw text
    OutOfScale   it answers with a value that its question does not have
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Unparseable(ValueError):
    """A reply that does not answer what was asked; the message says why."""


class OutOfScale(Unparseable):
    """An answer that is not on the scale of its question."""


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has: four characters of ASCII to a token, else one."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply, its log probability, and (text, log probability) of the likeliest in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


Tokens = tuple[Token, ...]
"""A reply's tokens in order; empty where their probabilities were not asked for or not given."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: a system message where it says something, a user message, and the JSON schema of the
    reply where it has one."""

    system: str
    user: str
    schema: Mapping[str, Any] | None = None

    def messages(self) -> list[dict[str, str]]:
        """Return the messages in the form of the chat completions API."""
        own = [{"role": "system", "content": self.system}] if self.system else []
        return [*own, {"role": "user", "content": self.user}]

    def digest(self) -> str:
        """Return the SHA-256 of everything that is sent."""
        text = json.dumps([self.messages(), self.schema], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
