"""What a gold was chosen by, for pages: its rule's title and the options that it was used with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibration.gold.rules import RULES
from calibration.models import Gold


@dataclass(frozen=True)
class Described:
    """A gold with its rule in words; a rule that is no longer in the table is called by its key.

    An option that is one of several words is told by its meaning: a policy is no count.
    """

    gold: Gold
    title: str
    options: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        """Return `Majority (ties: no gold label; the tie is listed)`."""
        told = ", ".join(f"{name}: {value}" for name, value in self.options)
        return f"{self.title} ({told})" if told else self.title


def described(gold: Gold) -> Described:
    """Return what a gold was chosen by."""
    rule = RULES.get(gold.rule)
    if rule is None:
        return Described(gold, gold.rule, ())
    kept = [
        (name, option, gold.options[name]) for name, option in rule.options.items() if name in gold.options
    ]
    options = tuple((name, option.choices.get(value, value)) for name, option, value in kept)
    return Described(gold, rule.title, options)
