"""The rules by which gold labels are chosen, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from calibration.errors import GoldRuleError
from calibration.statistics import Ratings
from calibration.statistics import gold as choosing
from calibration.statistics.core.types import Samples
from calibration.statistics.gold import Gold as Chosen

TIES = {
    "none": "no gold label; the tie is listed",
    "lowest": "the lowest of the tied values",
    "highest": "the highest of the tied values",
}
ORDERED = frozenset({"ordinal", "interval", "ratio"})


@dataclass(frozen=True)
class Rule:
    """A rule: its key and title, the levels it applies to (and in words), its options, and its choice.

    An option maps the values it may have to their meaning; the first is taken where none is named.
    `samples` says which of a rater's repeated answers count: for a majority the first, as a mean may fall
    between the values.
    """

    key: str
    title: str
    levels: frozenset[str]
    needs: str
    options: Mapping[str, Mapping[str, str]]
    choose: Callable[[Ratings, Mapping[str, Any]], Chosen]
    explanation: str
    samples: Samples | None = None

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with defaults. Raises GoldRuleError for an unknown option or value."""
        if unknown := set(given) - set(self.options):
            raise GoldRuleError(f"{self.title} has no option {sorted(unknown)[0]!r}")
        for name, value in given.items():
            if value not in self.options[name]:
                raise GoldRuleError(f"{name} is {' or '.join(self.options[name])}, not {value!r}")
        return {name: given.get(name, next(iter(allowed))) for name, allowed in self.options.items()}


RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        Rule(
            "majority",
            "Majority",
            ORDERED | {"binary", "nominal"},
            "a question with values",
            {"ties": TIES},
            lambda ratings, options: choosing.majority(ratings, ties=options["ties"]),
            "the answer that most raters gave. Support is its share of the item’s answers.",
            samples="first",
        ),
        Rule(
            "mean",
            "Mean",
            ORDERED,
            "an ordered scale",
            {},
            lambda ratings, options: choosing.mean(ratings),
            "the mean of the answers. Support is 1 less their spread over the largest possible.",
        ),
        Rule(
            "median",
            "Median",
            ORDERED,
            "an ordered scale",
            {},
            lambda ratings, options: choosing.median(ratings),
            "the middle answer, or the mean of the two in the middle. Support as for the mean.",
        ),
    )
}


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
