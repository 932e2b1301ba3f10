"""A claimed call made ready by its kind of run: what to ask, and how to read the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from jobs.asking.outcomes import Outcome
from jobs.endpoints.receiving import Reply
from jobs.models import Call, Endpoint
from jobs.prompt import Prompt, Tokens


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says: answers as its kind of run records them, and flags."""

    answers: tuple[Any, ...] = ()
    flags: tuple[str, ...] = ()


def unreadable(_reply: str, _tokens: Tokens) -> Read:
    """Stand where nothing is asked."""
    raise AssertionError("a call without a prompt has no reply")


@dataclass(frozen=True, slots=True)
class Asked:
    """A leased call: the prompt to send to `model` with `parameters`, or what is `known` without asking.

    `read` turns the reply's text (and its tokens' probabilities) into answers; it raises Unparseable for one
    that does not answer. `by` names what reads, for the log. `reply_tokens` is about how long a reply is,
    before one is known. `prompt_hash` and `request_hash` are those of the prompt and of the whole request;
    `cached` is the reply that an equal request got, `saved` what that cost.
    """

    call: Call
    by: str
    prompt: Prompt | None = None
    known: Outcome | None = None
    model: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[str, Tokens], Read] = unreadable

    reply_tokens: int = 100
    prompt_hash: str = ""
    request_hash: str = ""
    cached: Reply | None = None
    saved: Decimal | None = None

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the call is made."""
        return self.call.run.endpoint


class Preparer(Protocol):
    """Makes the calls of one kind of run ready; kept for a slice of work, so it may remember material."""

    def make(self, calls: Sequence[Call]) -> list[Asked]:
        """Return the calls made ready, in order; their runs with rater and endpoint are loaded."""
