"""Prompts and replies of a model. Pure: protocols and generators use them without a database.

ValueError
  Unparseable    the reply does not answer: the call fails, with the reason and the raw text
    OutOfScale   the answer has a value outside its question's scale
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Unparseable(ValueError):
    """A reply that does not answer the prompt; the message says why."""


class OutOfScale(Unparseable):
    """An answer that is not on the scale of its question."""


def about_tokens(text: str) -> int:
    """Estimate the tokens of a text: four ASCII characters per token, one token per other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply, its log probability, and (text, log probability) of the likeliest alternatives."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


Tokens = tuple[Token, ...]
"""Tokens of a reply in order; empty if probabilities were not requested or not returned."""


REPAIR = (
    "That reply could not be read ({reason}). Reply once more, completely, and only in the form that is "
    "asked for above."
)
REPAIR_WITHOUT_REPLY = (
    "An earlier reply to this could not be read ({reason}). Reply completely, and only in the form that is "
    "asked for above."
)
"""For a reply without text, since servers refuse an assistant's message that is empty."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system message (may be empty), a user message, and the JSON schema of the reply, if any.

    `history` are earlier messages of a conversation, as (role, text) with the roles `user` and `assistant`,
    the first by the user; `user` is then its latest message.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    fault: tuple[str, str] | None = None
    """An earlier reply (may be empty) that could not be read, and why: the model is shown both."""
    scored_from: int | None = None
    """Place in `user` after which the log-probabilities of its own tokens are requested: the completions API
    repeats the text with them (`echo`), and nothing that the model writes counts."""
    history: tuple[tuple[str, str], ...] = ()

    def messages(self, system_role: str = "system") -> list[dict[str, str]]:
        """Return the messages in the form of the chat completions API.

        `system_role`: the role of the system message; `user` puts it before the user's first message.
        """
        messages = [{"role": role, "content": text} for role, text in (*self.history, ("user", self.user))]
        if self.system and system_role == "user":
            messages[0]["content"] = f"{self.system}\n\n{messages[0]['content']}"
        elif self.system:
            messages = [{"role": system_role, "content": self.system}, *messages]
        if self.fault is None:
            return messages
        reply, reason = self.fault
        if not reply.strip():
            messages[-1]["content"] += f"\n\n{REPAIR_WITHOUT_REPLY.format(reason=reason)}"
            return messages
        repair = {"role": "user", "content": REPAIR.format(reason=reason)}
        return [*messages, {"role": "assistant", "content": reply}, repair]

    def about_tokens(self) -> int:
        """Estimate the tokens of its messages, without a repair."""
        texts = (self.system, *(text for _, text in self.history), self.user)
        return sum(map(about_tokens, texts))

    def digest(self) -> str:
        """Return the SHA-256 of all content sent."""
        content: list[Any] = [self.messages(), self.schema]
        if self.scored_from is not None:
            content.append(self.scored_from)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


# JSON schemas of replies.

TEXT = {"type": "string"}


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def list_schema(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object whose only field is a list of objects with these fields."""
    return object_schema({name: {"type": "array", "items": object_schema(fields)}})
