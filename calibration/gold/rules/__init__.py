"""The rules by which gold labels are chosen, one file each, in one table."""

from __future__ import annotations

from calibration.gold.rules.adjudicated import before
from calibration.gold.rules.adjudicated import rule as adjudicated_rule
from calibration.gold.rules.base import Answers as Answers
from calibration.gold.rules.base import Option as Option
from calibration.gold.rules.base import Rule as Rule
from calibration.gold.rules.by_scale import default_rule as default_rule
from calibration.gold.rules.dawid_skene import RULE as DAWID_SKENE
from calibration.gold.rules.mace import RULE as MACE
from calibration.gold.rules.majority import RULE as MAJORITY
from calibration.gold.rules.mean import RULE as MEAN
from calibration.gold.rules.median import RULE as MEDIAN
from calibration.gold.rules.median_low import RULE as MEDIAN_LOW
from calibration.gold.rules.severity_adjusted_mean import RULE as SEVERITY_ADJUSTED_MEAN
from calibration.gold.rules.trimmed_mean import RULE as TRIMMED_MEAN
from calibration.gold.rules.weighted import RULE as WEIGHTED

FROM_RATINGS: tuple[Rule, ...] = (
    MAJORITY,
    DAWID_SKENE,
    MACE,
    MEAN,
    MEDIAN,
    MEDIAN_LOW,
    TRIMMED_MEAN,
    SEVERITY_ADJUSTED_MEAN,
    WEIGHTED,
)
"""The rules that choose from raters' answers alone; what was adjudicated comes before each of them."""

RULES: dict[str, Rule] = {
    rule.key: rule for rule in (*map(before, FROM_RATINGS), adjudicated_rule(FROM_RATINGS))
}


def known_options() -> dict[str, Option]:
    """Return every option of the rules, by name; one name is one option."""
    return {name: option for rule in RULES.values() for name, option in rule.options.items()}


def rules_with(option: str) -> list[Rule]:
    """Return the rules that have an option."""
    return [rule for rule in RULES.values() if option in rule.options]
