"""Whether a content occurs in a text, and which secrets come out by their canaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from annotation.records import Dialogue
from annotation.scenarios.inflection import forms_of
from annotation.scenarios.points import scenario_of
from annotation.scenarios.presence import listeners_at
from annotation.scenarios.records import Decision, Secret
from annotation.text.tokens import fold, words

HINTS = (
    "secret",
    "not supposed to say",
    "can't say",
    "cannot say",
    "can't tell",
    "cannot tell",
    "not allowed to",
    "in confidence",
    "confidential",
    "promised not to",
    "not at liberty",
    "not my news",
    "told me in private",
    "told me privately",
    "asked me not to",
)
"""What says that there is something that may not be told."""
NO_HINT = re.compile(
    r"\b(?:can['’]?t|cannot) (?:say|tell)(?: you)? (?:for sure|for certain|yet|exactly|how|if|whether)\b"
    r"|\bno secret\b",
    re.IGNORECASE,
)
"""What only sounds like it: it says that something is not known, or is known to all."""
_POSSESSIVE = re.compile(r"['’]s$|['’]$")


def occurs(content: str, text: str, *, inflected: bool = False) -> bool:
    """Whether a content occurs in a text as whole words in a row, folded; `inflected`: in other forms too.

    A content without words, such as a sign, is looked for as it is.
    """
    wanted, found = _plain(content), _plain(text)
    if not wanted:
        return bool(fold(content)) and fold(content) in fold(text)
    forms = [forms_of(word) if inflected else frozenset({word}) for word in wanted]
    return any(
        all(found[start + place] in each for place, each in enumerate(forms))
        for start in range(len(found) - len(wanted) + 1)
    )


def any_occurs(alternatives: Sequence[str], text: str, *, inflected: bool = False) -> bool:
    """Whether one of several alternatives occurs in a text."""
    return any(occurs(one, text, inflected=inflected) for one in alternatives)


def hits(secret: Secret, text: str) -> bool:
    """Whether a secret's canary occurs in a text, in any case and form."""
    return any_occurs(secret.canaries, text, inflected=True)


def leaked(dialogue: Dialogue, decision: Decision) -> tuple[str, ...]:
    """Return the ids of the secrets that a message tells by canary to somebody who may not know them."""
    if decision.act != "message" or not scenario_of(dialogue).secrets:
        return ()
    heard = listeners_at(dialogue, decision.point)
    return tuple(
        secret.id
        for secret in scenario_of(dialogue).secrets
        if secret.since <= decision.point and heard - set(secret.known_to) and hits(secret, decision.text)
    )


def hints(text: str) -> bool:
    """Whether a text says that there is something that may not be told."""
    return any_occurs(HINTS, NO_HINT.sub(" ", text), inflected=True)


@lru_cache(maxsize=16384)
def _plain(text: str) -> tuple[str, ...]:
    """Return a text's words, folded, without the ending of a possessive."""
    return tuple(_POSSESSIVE.sub("", word) for word in words(text))
