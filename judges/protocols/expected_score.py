"""The expected value of a score under a model's token probabilities, after G-Eval (Liu et al. 2023).

A reply that is one value begins with a token that says the value, or its first digits. The likeliest tokens
in its place, with their probabilities, tell how much the model would have said each value: the expected value
is their mean, weighted so. Probability of anything else is left out, and said where it is much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jobs.prompt import Token, Tokens
from judges.protocols.writing import written

OUTSIDE = 0.05
"""So much probability may lie on no value without a flag, or be left out where two values begin alike."""
_DRESS = " \t\r\n*_\"'`.▁Ġ"


class Unclear(ValueError):
    """Probabilities that do not tell the values apart; the message says why."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An expected value: `shares` are the values' probabilities, renormalised to 1; `outside` is the
    probability that lay on no value."""

    value: float
    shares: Mapping[float, float]
    outside: float


def expected(tokens: Tokens, values: Sequence[float]) -> Expected:
    """Return the expected value of a reply that is one of `values`; raise Unclear where it cannot be told."""
    place = next((n for n, token in enumerate(tokens) if token.text.strip(_DRESS)), None)
    if place is None:
        raise Unclear("the reply's tokens have no probabilities")
    names = {written(value): value for value in values}
    mass: dict[float, float] = dict.fromkeys(values, 0.0)
    for text, chance in _merged(tokens[place]).items():
        for value, part in _meant(text, chance, names, tokens, place).items():
            mass[value] += part
    inside = math.fsum(mass.values())
    if inside <= 0:
        raise Unclear("no value of the scale is among the likeliest tokens")
    shares = {value: part / inside for value, part in mass.items()}
    return Expected(math.fsum(v * p for v, p in shares.items()), shares, max(0.0, 1.0 - inside))


def _merged(token: Token) -> dict[str, float]:
    """Return the probabilities at a place by what the tokens say, ` 4` and `4` together."""
    top = dict(token.top)
    top.setdefault(token.text, token.logprob)
    found: dict[str, float] = {}
    for text, logprob in top.items():
        said = text.strip(_DRESS)
        found[said] = found.get(said, 0.0) + math.exp(min(logprob, 0.0))
    return found


def _meant(
    text: str, chance: float, names: Mapping[str, float], tokens: Tokens, place: int
) -> dict[float, float]:
    """Return which values a token means, with its probability shared out; nothing for one that means none."""
    longer = [name for name in names if text and name.startswith(text) and name != text]
    whole_tokens = _merged(tokens[place])
    apart = [name for name in longer if name not in whole_tokens]  # a token of their own would be here
    if text in names and not apart:
        return {names[text]: chance}
    if text not in names and len(longer) == 1:
        return {names[longer[0]]: chance}
    if not longer:
        return {}
    if tokens[place].text.strip(_DRESS) == text and place + 1 < len(tokens):
        return _by_next(text, chance, names, apart, tokens[place + 1])
    if chance <= OUTSIDE:
        return {}
    told = " or ".join([*([text] if text in names else []), *apart])
    raise Unclear(f"a token {text!r} may begin {told}")


def _by_next(
    text: str, chance: float, names: Mapping[str, float], longer: Iterable[str], after: Token
) -> dict[float, float]:
    """Share a token's probability out by the token that follows: `1` then `0`, or `1` and nothing more."""
    following = _merged(after)
    found = {}
    for name in longer:
        rest = name[len(text) :]
        found[names[name]] = chance * math.fsum(
            p for said, p in following.items() if said and rest.startswith(said)
        )
    if text in names:
        found[names[text]] = max(0.0, chance - math.fsum(found.values()))
    return found
