"""The rules by which gold labels are chosen, one file each, in one table."""

from __future__ import annotations

from calibration.gold.rules import majority, mean, median
from calibration.gold.rules.base import Rule

RULES: dict[str, Rule] = {rule.key: rule for rule in (majority.RULE, mean.RULE, median.RULE)}


def known_options() -> dict[str, dict[str, str]]:
    """Return every option of the rules, with the meaning of its values; one name is one option."""
    known: dict[str, dict[str, str]] = {}
    for rule in RULES.values():
        for name, values in rule.options.items():
            known.setdefault(name, {}).update(values)
    return known


def rules_with(option: str) -> list[str]:
    """Return the titles of the rules that have an option."""
    return [rule.title for rule in RULES.values() if option in rule.options]


__all__ = ["RULES", "Rule", "known_options", "rules_with"]
