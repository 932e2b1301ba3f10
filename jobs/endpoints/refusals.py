"""What a refused request was refused for, read from the error of an OpenAI-compatible server; pure.

Servers say it in different places: a field `param`, a `code`, a list of places, or only in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jobs import error_kinds

_CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_CONTEXT = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available|maximum|model's)[^.]{0,40}(?:context|tokens)",
    re.I,
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""What servers call an account that has no money left; some say it with status 429."""
_WORDS = frozenset({"temperature", "seed", "stop"})
"""Names of parameters that are words of a sentence, too."""


def kind_of(error: Any, message: str) -> str:
    """Return the kind of a refusal that concerns this one request; '' where it may concern its form."""
    codes = {str(error.get(name)) for name in ("code", "type")} if isinstance(error, Mapping) else set()
    if codes & _CONTEXT_CODES or _CONTEXT.search(message):
        return error_kinds.CONTEXT_TOO_LONG
    inner = error.get("innererror") if isinstance(error, Mapping) else None
    if isinstance(inner, Mapping):
        codes.add(str(inner.get("code")))
    return error_kinds.CONTENT_FILTER if codes & _FILTER_CODES else ""


def is_spent(error: Any) -> bool:
    """Whether a server says that nothing is left to pay with: no request can succeed until that changes."""
    return isinstance(error, Mapping) and any(str(error.get(name)) in _SPENT for name in ("code", "type"))


def refused_parameter(error: Any, message: str, sent: Collection[str]) -> str:
    """Return which of the parameters that were sent a server refuses, '' where it says nothing of the
    kind."""
    for place in _places(error):
        parts = re.split(r"[.\[\]/]", place)
        if found := next((name for name in sent if name in parts), ""):
            return found
    # The longest first: a complaint about top_logprobs is not one about logprobs.
    return next((name for name in sorted(sent, key=len, reverse=True) if _complains(message, name)), "")


def _places(error: Any) -> Iterator[str]:
    """Yield what an error names as its place: `param`, or the `loc` of each entry of a list of details."""
    if not isinstance(error, Mapping):
        return
    if isinstance(error.get("param"), str):
        yield error["param"]
    details = error.get("detail")
    for entry in details if isinstance(details, list) else ():
        place = entry.get("loc") if isinstance(entry, Mapping) else None
        if isinstance(place, list):
            yield ".".join(str(part) for part in place)


def _complains(message: str, name: str) -> bool:
    """Whether a sentence complains about a parameter; a name that is a word counts only where it stands
    out."""
    if name not in _WORDS:
        return re.search(rf"(?<!\w){name}(?!\w)", message) is not None
    stands_out = (
        rf"['\"`]{name}['\"`]"
        rf"|(?:parameter|argument|field|option|property)s?:? {name}(?!\w)"
        rf"|(?<!\w){name}(?: ?:| (?:is|must|should|cannot|does|was|has|may) )"
    )
    return re.search(stands_out, message, re.I) is not None
