"""The expected value of a score under a model's token probabilities, after G-Eval (Liu et al. 2023).

A reply that is one value begins with a token that says the value, or its first digits. The likeliest tokens
in its place, with their probabilities, tell how much the model would have said each value: the expected value
is their mean, weighted so. Probability of anything else is left out, and said where it is much.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.prompt import Token, Tokens
from judges.protocols.writing import written

OUTSIDE = 0.05
"""So much probability may lie on no value without a flag, or be left out where two values begin alike."""
MOST = 1.02
"""What the probabilities in one place may add up to: they are rounded."""
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
    place = next((n for n, token in enumerate(tokens) if _plain(token.text)), None)
    if place is None:
        raise Unclear("the reply's tokens have no probabilities")
    names = {written(value): value for value in values}
    mass: dict[float, float] = dict.fromkeys(values, 0.0)
    likeliest = _merged(tokens[place])
    if (whole := math.fsum(likeliest.values())) > MOST:
        raise Unclear(f"the probabilities in one place add up to {whole:.2f}")
    for text, chance in likeliest.items():
        for value, part in _meant(text, text, chance, names, tokens, place).items():
            mass[value] += part
    inside = math.fsum(mass.values())
    if inside <= 0:
        raise Unclear("no value of the scale is among the likeliest tokens")
    shares = {value: part / inside for value, part in mass.items()}
    return Expected(math.fsum(v * p for v, p in shares.items()), shares, max(0.0, 1.0 - inside))


def _plain(text: str, *, within: bool = False) -> str:
    """Return what a token says, its digits as ASCII has them; a space `within` a number ends it."""
    folded = unicodedata.normalize("NFKC", text)
    folded = "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in folded)
    return folded.rstrip(_DRESS) if within else folded.strip(_DRESS)


def _merged(token: Token, *, within: bool = False) -> dict[str, float]:
    """Return the probabilities at a place by what the tokens say, ` 4` and `4` together.

    Different tokens may have one text; the same one told twice counts once.
    """
    top = set(token.top)
    if token.text not in dict(token.top):
        top.add((token.text, token.logprob))
    found: dict[str, float] = {}
    for text, logprob in sorted(top):
        said = _plain(text, within=within)
        found[said] = found.get(said, 0.0) + math.exp(min(logprob, 0.0))
    return found


def _meant(
    text: str, said: str, chance: float, names: Mapping[str, float], tokens: Tokens, place: int
) -> dict[float, float]:
    """Return which values a text means, with its probability shared out; nothing for one that means none.

    The text ends with what a token at this place says.
    """
    longer = [name for name in names if text and name.startswith(text) and name != text]
    before = len(text) - len(said)
    here = _merged(tokens[place], within=before > 0)
    apart = [name for name in longer if name[before:] not in here]  # a token of their own would be here
    if text in names and not apart:
        return {names[text]: chance}
    if text not in names and len(longer) == 1:
        return {names[longer[0]]: chance}
    if not longer:
        return {}
    if _plain(tokens[place].text, within=before > 0) == said and place + 1 < len(tokens):
        return _by_next(text, chance, names, tokens, place + 1)
    if chance <= OUTSIDE:
        return {}
    told = " or ".join([*([text] if text in names else []), *apart])
    raise Unclear(f"a token {text!r} may begin {told}")


def _by_next(
    text: str, chance: float, names: Mapping[str, float], tokens: Tokens, place: int
) -> dict[float, float]:
    """Share a text's probability out by the token that follows: `1` then `0`, or `1` and nothing more.

    A digit that makes no value of the scale makes another number, which is left out.
    """
    found: dict[float, float] = {}
    taken = 0.0
    for said, part in _merged(tokens[place], within=True).items():
        continues = bool(said) and any(name.startswith(text + said) for name in names)
        if not continues and not said[:1].isdecimal():
            continue
        taken += part
        if continues:
            for value, share in _meant(text + said, said, chance * part, names, tokens, place).items():
                found[value] = found.get(value, 0.0) + share
    if text in names:
        found[names[text]] = found.get(names[text], 0.0) + chance * max(0.0, 1.0 - taken)
    return found
