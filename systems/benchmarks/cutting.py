"""Where a conversation is cut: the last turns of the history, and people's own next turns.

x = turns s - 30 to s - 1,  r = turns s to s + 29,  30 <= s <= n - 30       (CoCoEval, section 3)
"""

from __future__ import annotations

from annotation.text.draws import one_of

HISTORY = CONTINUATION = 30
LEAST = HISTORY + CONTINUATION
"""Turns with text that a conversation needs, and how far apart its starts are: nothing is shown twice."""


def starts(seed: int, dialogue: str, n: int, most: int = 1) -> list[int]:
    """Return up to `most` starts in a conversation of n turns with text, in the order of their draws.

    The first is drawn uniformly from 30 to n - 30 with `u(seed, "cut", dialogue, 0)`, each further one with
    its number from those that are left: at least 60 turns from every one before it. Fewer where nothing is
    left; none where n is below 60.
    """
    left = list(range(HISTORY, n - CONTINUATION + 1))
    found: list[int] = []
    while left and len(found) < most:
        start = one_of(left, seed, "cut", dialogue, len(found))
        found.append(start)
        left = [other for other in left if abs(other - start) >= LEAST]
    return found
