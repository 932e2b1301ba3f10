"""A budget of characters for a whole prompt: the longest texts lose their middle first, and it is said.

Nothing is cut where no budget is set.
"""

from __future__ import annotations

from dataclasses import replace

from annotation.text.views import Cut
from judges.protocols.base import Asking, Case, Prompt
from judges.protocols.wording import Wording

SHORTEST = 40
"""No text is cut to fewer characters than these."""


class TooLong(ValueError):
    """A prompt over its budget even with every text at its shortest; the message has both numbers."""


def within(
    protocol: Asking, case: Case, variant: str, budget: int | None, wording: Wording | None = None
) -> tuple[Prompt, tuple[str, ...]]:
    """Return the prompt about a case in at most `budget` characters, and its flags.

    The flag `shortened` says how many characters were left out. Raises TooLong.
    """
    prompt = protocol.prompt(case, variant, wording)
    if budget is None or len_of(prompt) <= budget:
        return prompt, ()
    low, high = SHORTEST, budget
    best, left_out = _cut(protocol, case, variant, wording, low)
    if len_of(best) > budget:
        raise TooLong(
            f"the prompt has {len_of(prompt):,} characters and cannot be shortened below {len_of(best):,}; "
            f"the budget is {budget:,}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        found, count = _cut(protocol, case, variant, wording, middle)
        if len_of(found) <= budget:
            low, best, left_out = middle, found, count
        else:
            high = middle
    return best, (f"shortened: {left_out} characters left out",)


def len_of(prompt: Prompt) -> int:
    """Return the characters of both messages."""
    return len(prompt.system) + len(prompt.user)


def _cut(
    protocol: Asking, case: Case, variant: str, wording: Wording | None, limit: int
) -> tuple[Prompt, int]:
    cut = Cut(limit)
    shortened = replace(case, view=replace(case.view, cut=cut))
    return protocol.prompt(shortened, variant, wording), cut.left_out
