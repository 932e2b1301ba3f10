"""The rule of CPDScore-Dialogue: when the final score rests on the turn score alone, and when on both.

Below 4 both scores count; above 4 the turn score alone; exactly at 4 as a judge's variant says. Where
responses are inordinately long, both may count from 4 on, too. "Both" is the model's own weighing, so all
that can be said is that the result lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

DISREGARD, BOTH = "disregard", "both"
"""What a turn score of exactly 4 does to the interaction score."""
BORDER = 4.0
MOST_WORDS = 20
TOLERANCE = 0.05
_DUST = 1e-9
"""So that 4.55 is not further than 0.05 from 4.5 by the way numbers are stored."""


def words(text: str) -> int:
    """Return how many parts between white space hold a letter or a digit."""
    return sum(any(character.isalnum() for character in part) for part in text.split())


def broken(
    turn_score: float, interaction: float, final: float, word_counts: Sequence[int], at_four: str
) -> str:
    """Return how three scores break the rule, '' where they do not or where it cannot be told.

    `rule_not_followed`: the turn score alone counts, no response is long, and the final score differs.
    `final_outside`: both count, and the final score is not between them. Both by more than TOLERANCE.
    """
    alone = turn_score > BORDER or (turn_score == BORDER and at_four == DISREGARD)
    if alone:
        long = any(count > MOST_WORDS for count in word_counts)
        if long or abs(final - turn_score) <= TOLERANCE + _DUST:
            return ""
        return f"rule_not_followed: final {final:g}, though the turn score {turn_score:g} alone counts"
    low, high = sorted((turn_score, interaction))
    if low - TOLERANCE - _DUST <= final <= high + TOLERANCE + _DUST:
        return ""
    return f"final_outside: final {final:g} is not between {low:g} and {high:g}"
