"""Whether a content occurs in a text, and which secrets come out by their canaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from annotation.records import Dialogue
from annotation.scenarios.points import scenario_of
from annotation.scenarios.presence import listeners_at
from annotation.scenarios.records import Decision, Secret
from annotation.text.folding import fold
from annotation.text.tokens import words

SHORTEST = 4
"""A word of fewer letters has no inflected forms."""
ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers")
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


@lru_cache(maxsize=65536)
def forms_of(word: str) -> frozenset[str]:
    """Return the regular English forms of a folded word: those of its stem with each ending, and itself."""
    if len(word) < SHORTEST or not word.isascii() or not word.isalpha():
        return frozenset({word})
    stems = {
        word,
        *(word.removesuffix(ending) for ending in ENDINGS if len(word) - len(ending) >= SHORTEST - 1),
    }
    found = set()
    for stem in stems:
        base = stem.removesuffix("e")
        doubled = base + base[-1]
        found |= {stem, base + "e"}
        found |= {form for ending in ENDINGS for form in (stem + ending, base + ending)}
        found |= {doubled + ending for ending in ("ed", "ing", "er", "ers")}
        if len(base) > 2 and base[-1] == base[-2]:
            found.add(base[:-1])
        if stem.endswith("y"):
            found |= {stem[:-1] + "ies", stem[:-1] + "ied", stem[:-1] + "ier"}
        if stem.endswith("i"):
            found.add(stem[:-1] + "y")
    return frozenset(found)


def hits(secret: Secret, text: str) -> bool:
    """Whether a secret's canary occurs in a text, in any case and form."""
    return any_occurs(secret.canaries, text, inflected=True)


def leaked(dialogue: Dialogue, decision: Decision) -> tuple[str, ...]:
    """Return the ids of the secrets that a message tells by canary to somebody who may not know them."""
    if decision.act != "message":
        return ()
    heard = listeners_at(dialogue, decision.point)
    return tuple(
        secret.id
        for secret in scenario_of(dialogue).secrets
        if secret.since <= decision.point and heard - set(secret.known_to) and hits(secret, decision.text)
    )


def hints(text: str) -> bool:
    """Whether a text says that there is something that may not be told."""
    return any_occurs(HINTS, text, inflected=True)


@lru_cache(maxsize=16384)
def _plain(text: str) -> tuple[str, ...]:
    """Return a text's words, folded, without the ending of a possessive."""
    return tuple(_POSSESSIVE.sub("", word) for word in words(text))
