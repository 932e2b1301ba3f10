"""Log probabilities of a reply's tokens, as chat completions return them; pure, and strict with what comes.

A list that is not what the API describes is taken for none at all: a judge that scores by probabilities then
says that it got none.
"""

from __future__ import annotations

import math
from typing import Any

from jobs.prompt import Token, Tokens

MOST = 20_000
"""Tokens of a reply whose probabilities are kept."""


def tokens_of(logprobs: Any) -> Tokens:
    """Return the tokens of `choices[0].logprobs`; empty where there are none, or none that make sense."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or len(content) > MOST:
        return ()
    found = [_token(entry) for entry in content]
    return tuple(one for one in found if one is not None) if None not in found else ()


def of_text(tokens: Tokens, text: str) -> Tokens:
    """Return the tokens that a text ends with: those of what was thought before it belong to nothing read.

    A token may be a part of a character, so texts are compared by their length only where they differ.
    """
    if not tokens or "".join(one.text for one in tokens) == text:
        return tokens
    length = 0
    for number in range(len(tokens) - 1, -1, -1):
        length += len(tokens[number].text)
        if length >= len(text):
            return tokens[number:]
    return tokens


def as_json(tokens: Tokens) -> list[list[Any]] | None:
    """Return tokens as they are kept with a call: [text, logprob, [[text, logprob], ...]] each."""
    return [[one.text, one.logprob, [list(pair) for pair in one.top]] for one in tokens] or None


def from_json(kept: list[list[Any]] | None) -> Tokens:
    """Return tokens that were kept with a call."""
    return tuple(
        Token(text, logprob, tuple((other, value) for other, value in top))
        for text, logprob, top in kept or ()
    )


def _token(entry: Any) -> Token | None:
    told = _pair(entry)
    top = entry.get("top_logprobs") or [] if told else None
    if told is None or not isinstance(top, list):
        return None
    others = [_pair(other) for other in top]
    return Token(*told, tuple(pair for pair in others if pair is not None))


def _pair(entry: Any) -> tuple[str, float] | None:
    """Return a token and its log probability, at most 0; None for anything else."""
    if not isinstance(entry, dict):
        return None
    text, value = entry.get("token"), entry.get("logprob")
    if not isinstance(text, str) or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if math.isnan(value) or value > 1e-6:
        return None
    # JSON has no infinity; servers that mean "impossible" say -9999.
    # What PostgreSQL can hold: no NUL, no lone surrogates.
    plain = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return plain, max(min(float(value), 0.0), -9999.0)
