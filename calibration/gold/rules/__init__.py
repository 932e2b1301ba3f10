"""The rules by which gold labels are chosen, one file each, in one table."""

from __future__ import annotations

from calibration.gold.rules import (
    adjudicated,
    dawid_skene,
    mace,
    majority,
    mean,
    median,
    median_low,
    severity_adjusted_mean,
    trimmed_mean,
    weighted,
)
from calibration.gold.rules.base import Answers, Option, Rule
from calibration.gold.rules.by_scale import default_rule

FROM_RATINGS: tuple[Rule, ...] = (
    majority.RULE,
    dawid_skene.RULE,
    mace.RULE,
    mean.RULE,
    median.RULE,
    median_low.RULE,
    trimmed_mean.RULE,
    severity_adjusted_mean.RULE,
    weighted.RULE,
)
"""The rules that choose from raters' answers alone; what was adjudicated comes before each of them."""

RULES: dict[str, Rule] = {
    rule.key: rule for rule in (*map(adjudicated.before, FROM_RATINGS), adjudicated.rule(FROM_RATINGS))
}


def known_options() -> dict[str, Option]:
    """Return every option of the rules, by name; one name is one option."""
    return {name: option for rule in RULES.values() for name, option in rule.options.items()}


def rules_with(option: str) -> list[Rule]:
    """Return the rules that have an option."""
    return [rule for rule in RULES.values() if option in rule.options]


__all__ = ["RULES", "Answers", "Option", "Rule", "default_rule", "known_options", "rules_with"]
