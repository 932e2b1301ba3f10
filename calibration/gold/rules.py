"""Rules for choosing gold labels: one table, with their options in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.errors import GoldRuleError
from calibration.statistics import Ratings, gold
from calibration.statistics.core.ratings import CATEGORIES, ORDERED, Samples
from calibration.statistics.gold import GoldLabels, adjudicated_first, dawid_skene, mace

# The types: a rule, its options, and the answers it chooses from.

OptionValue = float | int | str


@dataclass(frozen=True)
class Option:
    """An option of a rule: its default (whose type it keeps), a help sentence, and its allowed values.

    `choices` maps allowed values to their meaning; a number lies between `low` and `high`, both included. An
    option name means the same in all rules that have it.
    """

    default: OptionValue
    help: str
    choices: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether the option is a number, not a choice of words."""
        return not isinstance(self.default, str)

    def read(self, name: str, value: Any) -> OptionValue:
        """Return the value in the stored type. Raises GoldRuleError for a value that is not allowed."""
        if not self.is_number:
            if not isinstance(value, str) or value not in self.choices:
                raise GoldRuleError(f"{name} is {' or '.join(self.choices)}, not {value!r}")
            return value
        number = _number(value)
        is_integer = isinstance(self.default, int)
        if number is None or (is_integer and number != int(number)):
            raise GoldRuleError(f"{name} is a {'whole ' if is_integer else ''}number, not {value!r}")
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high):
            raise GoldRuleError(f"{name} lies between {low:g} and {high:g}, and {value} does not")
        return int(number) if is_integer else number


@dataclass(frozen=True)
class Answers:
    """Answers to one question, the input of a rule.

    `dev` marks the items of the dev part; None if the corpus is not split. `decisions` are adjudicators'
    answers, items x adjudicators over the same items; `empty` holds the items for which an adjudicator
    decided that there is no answer. Only rules that read adjudications get these two.
    """

    ratings: Ratings
    dev: npt.NDArray[np.bool_] | None = None
    decisions: Ratings | None = None
    empty: frozenset[str] = frozenset()

    @cached_property
    def present(self) -> tuple[int, ...]:
        """Columns of the raters who gave an answer."""
        return tuple(int(j) for j in np.flatnonzero((~np.isnan(self.ratings.values)).any(axis=0)))


Options = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule for choosing gold labels: an entry of `RULES`.

    A rule has a key and a title, the levels it applies to (`needs` names them in words), its choice, an
    explanation, the meaning of a label's support, and its options. `samples` says which of a rater's repeated
    answers count: for a majority the first, as a mean may fall between the values. `least_raters` is the
    minimum number of raters with answers; a rule that `tells_raters_apart` rejects unidentified raters; one
    that `learns_on_dev` needs a split; one that `reads_adjudications` gets decisions; one that is `slow`
    takes seconds per question, however few the answers, so no request waits for it. `check` returns any
    further reason why the rule cannot choose from these answers; empty if it can.
    """

    key: str
    title: str
    levels: frozenset[str]
    needs: str
    choose: Callable[[Answers, Options], GoldLabels]
    explanation: str
    support: str
    options: Mapping[str, Option] = field(default_factory=dict)
    samples: Samples | Callable[[Options], Samples | None] | None = None
    least_raters: int = 0
    tells_raters_apart: bool = False
    learns_on_dev: bool | Callable[[Options], bool] = False
    reads_adjudications: bool = False
    slow: bool | Callable[[Options], bool] = False
    check: Callable[[Answers, Options], str] | None = None

    def checked(self, values: Mapping[str, Any]) -> dict[str, OptionValue]:
        """Return the options with defaults filled in. Raises GoldRuleError for an unknown option or value."""
        if unknown := set(values) - set(self.options):
            raise GoldRuleError(f"{self.title} has no option {sorted(unknown)[0]!r}")
        return {
            name: option.read(name, values[name]) if name in values else option.default
            for name, option in self.options.items()
        }

    def samples_of(self, options: Options) -> Samples | None:
        """Return which of a rater's repeated answers count, given these options."""
        return self.samples(options) if callable(self.samples) else self.samples

    def is_slow(self, options: Options) -> bool:
        """Whether the rule is too slow to run within a request, given these options."""
        return self.slow(options) if callable(self.slow) else self.slow

    def reads_dev(self, options: Options) -> bool:
        """Whether the rule learns on the dev part, given these options."""
        return self.learns_on_dev(options) if callable(self.learns_on_dev) else self.learns_on_dev

    def unfit(self, answers: Answers, options: Options) -> str:
        """Return why the rule does not apply to these answers, as one clause; empty if it applies."""
        ratings = answers.ratings
        if ratings.level not in self.levels:
            return f"{self.title} needs {self.needs}, and this one is {ratings.level}"
        if ratings.problem:
            return ratings.problem
        if self.reads_dev(options) and answers.dev is None:
            return f"{self.title} learns on the dev part, and the corpus has no split"
        unknown = [ratings.raters[j] for j in answers.present if not ratings.identified[j]]
        if self.tells_raters_apart and unknown:
            return f"{self.title} tells raters apart, and it is not known who {unknown[0]} is"
        if len(answers.present) < self.least_raters:
            there_are = "there is 1" if len(answers.present) == 1 else f"there are {len(answers.present)}"
            return f"{self.title} needs {self.least_raters} raters with answers, and {there_are}"
        return self.check(answers, options) if self.check else ""

    @property
    def raters_needed(self) -> str:
        """The raters that the rule needs, in words."""
        if self.tells_raters_apart:
            return f"{self.least_raters} or more, identified"
        return "any" if self.least_raters <= 1 else f"{self.least_raters} or more"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


# Options shared by several rules; a name always means the same option.

TIES = Option(
    "none",
    "What becomes of a tie.",
    {
        "none": "no gold label; the tie is listed",
        "lowest": "the lowest of the tied values",
        "highest": "the highest of the tied values",
    },
)


# Majority: the answer that most raters gave.

MAJORITY = Rule(
    key="majority",
    title="Majority",
    levels=ORDERED | CATEGORIES,
    needs="a question with values",
    choose=lambda answers, options: gold.majority(answers.ratings, ties=options["ties"]),
    explanation="the answer that most raters gave",
    support="its share of the item’s answers",
    options={"ties": TIES},
    samples="first",
)


# Union: a tag counts where any rater set it.

UNION = Rule(
    key="union",
    title="Union",
    levels=frozenset({"binary"}),
    needs="tags, or another question of yes or no",
    choose=lambda answers, options: gold.union(answers.ratings),
    explanation="yes where at least one rater says yes, such as a tag that anyone set",
    support="the share of the raters who say the same",
    samples="first",
)


# Dawid-Skene: the most probable answer, with a confusion matrix per rater.


def _choose_by_dawid_skene(answers: Answers, options: Options) -> GoldLabels:
    return dawid_skene(answers.ratings, ties=options["ties"]).gold


DAWID_SKENE = Rule(
    key="dawid_skene",
    title="Dawid-Skene",
    levels=CATEGORIES | {"ordinal"},
    needs="categories or an ordinal scale",
    choose=_choose_by_dawid_skene,
    explanation="the most probable answer, by how each rater mistakes each value for each other",
    support="its probability",
    options={"ties": TIES},
    samples="first",
    least_raters=3,
    tells_raters_apart=True,
    slow=True,
)


# MACE: the most probable answer, where each rater either knows it or guesses.

SEED = Option(0, "The seed of the random starts of the estimation.", low=0, high=2**32 - 1)

MACE = Rule(
    key="mace",
    title="MACE",
    levels=CATEGORIES | {"ordinal"},
    needs="categories or an ordinal scale",
    choose=lambda answers, options: mace(answers.ratings, ties=options["ties"], seed=options["seed"]),
    explanation="the most probable answer, by how often each rater knows it instead of guessing",
    support="its probability",
    options={"ties": TIES, "seed": SEED},
    samples="first",
    least_raters=3,
    tells_raters_apart=True,
    slow=True,
)


# Mean of the answers.

MEAN = Rule(
    key="mean",
    title="Mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.mean(answers.ratings),
    explanation="the mean of the answers",
    support="1 less their spread over the largest possible",
)


# Median.

MEDIAN = Rule(
    key="median",
    title="Median",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.median(answers.ratings),
    explanation="the middle answer, or the mean of the two in the middle",
    support="as for the mean",
)


# Lower median.

MEDIAN_LOW = Rule(
    key="median_low",
    title="Lower median",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.median_low(answers.ratings),
    explanation="the middle answer, the lower of the two in the middle: always a value that somebody gave",
    support="as for the mean",
    samples="first",
)


# Mean without the extremes.

SHARE = Option(
    0.2,
    "Share of an item’s answers left out at each end, rounded down: of five answers 0.2 is one.",
    low=0,
    high=0.49,
)

TRIMMED_MEAN = Rule(
    key="trimmed_mean",
    title="Trimmed mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.trimmed_mean(answers.ratings, share=options["share"]),
    explanation="the mean without the lowest and the highest answers",
    support="as for the mean, of all answers",
    options={"share": SHARE},
)


# Mean after subtracting each rater's severity.


def _check_severity(answers: Answers, options: Options) -> str:
    if gold.comparable(answers.ratings.values).sum() < 2:
        return "no two raters answered about the same item, so their severities cannot be compared"
    return ""


SEVERITY_ADJUSTED_MEAN = Rule(
    key="severity_adjusted_mean",
    title="Severity-adjusted mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.severity_adjusted(answers.ratings),
    explanation="the mean after each rater’s severity, the same on all items, is taken off",
    support="as for the mean, of the adjusted answers",
    least_raters=2,
    tells_raters_apart=True,
    check=_check_severity,
)


# Raters weighted by their agreement with the others on dev.

LEAST = Option(gold.LEAST, "How many dev items two raters must share to be compared.", low=2, high=1_000_000)


def _choose(answers: Answers, options: Options) -> GoldLabels:
    assert answers.dev is not None  # the rule learns on dev
    return gold.weighted(answers.ratings, answers.dev, ties=options["ties"], least=options["least"])


def _check(answers: Answers, options: Options) -> str:
    assert answers.dev is not None
    weights = gold.learned(answers.ratings, answers.dev, least=options["least"])
    if (weights.weights > 0).any():
        return ""
    if (weights.agreement == weights.agreement).any():
        return "no rater agrees with the others beyond chance on dev: there is nothing to learn weights from"
    return (
        f"no two raters share {options['least']} dev items with an agreement that is defined: there is "
        "nothing to learn weights from"
    )


WEIGHTED = Rule(
    key="weighted",
    title="Weighted by agreement on dev",
    levels=ORDERED | CATEGORIES,
    needs="a question with values",
    choose=_choose,
    explanation=(
        "categories: the answer with the most weight behind it; ordered scales: the weighted mean. A rater’s "
        "weight is the agreement with the others on the dev part"
    ),
    support="its share of the weight; of a mean, 1 less the weighted spread over the largest possible",
    options={"ties": TIES, "least": LEAST},
    least_raters=3,
    tells_raters_apart=True,
    learns_on_dev=True,
    check=_check,
)


# Default rule.

MEANING = "the median for each question on an ordered scale, the majority for categories"


def default_rule(level: str) -> str:
    """Return the key of the default rule for a question's level.

    A majority of two raters on a scale is a tie wherever they differ; categories have no median.
    """
    return "median" if level in ORDERED else "majority"


# Adjudicators' decisions: they come before any other rule by default, and form a rule of their own.

NONE = "none"
BY_SCALE = "scale"
"""Fallback that depends on each question's scale."""
DECISIONS = "decisions"
"""Option of every other rule: use or ignore adjudicators' decisions."""
FIRST, IGNORED = "first", "ignored"
WHETHER = Option(
    FIRST,
    "What becomes of what adjudicators decided.",
    {FIRST: "it is the gold label, and the item says so", IGNORED: "as if nothing had been adjudicated"},
)


def before(other: Rule) -> Rule:
    """Return a rule that takes decisions first and lets the other rule choose the rest."""

    def choose(answers: Answers, options: Options) -> GoldLabels:
        gold_values = other.choose(answers, options)
        decided = answers.empty or (answers.decisions is not None and answers.decisions.raters)
        if answers.decisions is None or not decided or options.get(DECISIONS) == IGNORED:
            return gold_values
        return adjudicated_first(
            answers.ratings, answers.decisions, empty=answers.empty, fallback=gold_values, name=other.key
        )

    options = {**other.options, DECISIONS: WHETHER}
    return replace(other, choose=choose, options=options, reads_adjudications=True)


def adjudicated_rule(others: Iterable[Rule]) -> Rule:
    """Return the rule that takes decisions first and falls back to one of the others."""
    table = {other.key: other for other in others}

    def fallback(answers: Answers, options: Options) -> str:
        name: str = options["fallback"]
        return default_rule(answers.ratings.level) if name == BY_SCALE else name

    def choose(answers: Answers, options: Options) -> GoldLabels:
        assert answers.decisions is not None  # the rule reads adjudications
        name, gold_values = fallback(answers, options), None
        if name != NONE:
            gold_values = table[name].choose(answers, table[name].checked({}))
        return adjudicated_first(
            answers.ratings, answers.decisions, empty=answers.empty, fallback=gold_values, name=name
        )

    def check(answers: Answers, options: Options) -> str:
        name = fallback(answers, options)
        if name != NONE:
            return table[name].unfit(answers, table[name].checked({}))
        decided = answers.empty or (answers.decisions is not None and answers.decisions.raters)
        return "" if decided else "nothing was adjudicated, and no other rule is to choose"

    def samples(options: Options) -> Samples | None:
        name = options["fallback"]
        if name == BY_SCALE:
            return None  # what fits the scale: the mean if it is ordered, else the first answer
        return "first" if name == NONE else table[name].samples_of(table[name].checked({}))

    def reads_dev(options: Options) -> bool:
        name = options["fallback"]
        return name in table and table[name].reads_dev(table[name].checked({}))

    def slow(options: Options) -> bool:
        name = options["fallback"]
        return name in table and table[name].is_slow(table[name].checked({}))

    choices = {key: other.title for key, other in table.items()}
    return Rule(
        key="adjudicated",
        title="Adjudicated first",
        levels=ORDERED | CATEGORIES,
        needs="a question with values",
        choose=choose,
        explanation="what was decided by adjudication; else another rule chooses, and the item says so",
        support="the share of the raters who say the same; else that of the other rule",
        options={
            "fallback": Option(
                BY_SCALE,
                "The rule for items that were not adjudicated, with its own defaults.",
                {
                    BY_SCALE: "the median on an ordered scale, the majority of categories",
                    **choices,
                    NONE: "no gold label where nothing was adjudicated",
                },
            )
        },
        samples=samples,
        learns_on_dev=reads_dev,
        reads_adjudications=True,
        slow=slow,
        check=check,
    )


# The table of rules.

FROM_RATINGS: tuple[Rule, ...] = (
    MAJORITY,
    UNION,
    DAWID_SKENE,
    MACE,
    MEAN,
    MEDIAN,
    MEDIAN_LOW,
    TRIMMED_MEAN,
    SEVERITY_ADJUSTED_MEAN,
    WEIGHTED,
)
"""Rules that choose from raters' answers alone; adjudicators' decisions come before each of them."""

RULES: dict[str, Rule] = {
    rule.key: rule for rule in (*map(before, FROM_RATINGS), adjudicated_rule(FROM_RATINGS))
}


def rule_choices() -> list[tuple[str, str]]:
    """Return the keys of all rules as the choices of a field."""
    return [(key, key) for key in RULES]


def known_options() -> dict[str, Option]:
    """Return the options of all rules by name; a name means the same option everywhere."""
    return {name: option for rule in RULES.values() for name, option in rule.options.items()}


def rules_with(option: str) -> list[Rule]:
    """Return the rules that have this option."""
    return [rule for rule in RULES.values() if option in rule.options]


# Rules in words, for the form, the command's help and the documentation.


def limits(option: Option) -> str:
    """Return an option's allowed values, or its range."""
    if not option.is_number:
        return ", ".join(f"`{value}`" for value in option.choices)
    return f"{option.low:.10g} to {option.high:.10g}"


def help_line(name: str, option: Option) -> str:
    """Return the command's help text for an option: meaning, allowed values and default."""
    rules = ", ".join(rule.key for rule in rules_with(name))
    if option.is_number:
        text = f"{option.help} From {limits(option)}"
    else:
        meanings = "; ".join(f"{value}: {meaning}" for value, meaning in option.choices.items())
        text = f"{option.help} {meanings}"
    return f"for {rules}: {text} ({option.default})"


def table() -> str:
    """Return the rules as the Markdown table of docs/gold.md."""
    head = "| rule | chooses | for | raters | options | support |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"{_row(rule)}\n" for rule in RULES.values())


def _row(rule: Rule) -> str:
    options = "; ".join(
        f"`{name}` ({option.default}): {limits(option)}" for name, option in rule.options.items()
    )
    needs = f"{rule.needs}, and a split" if rule.learns_on_dev is True else rule.needs
    cells = (f"`{rule.key}`", rule.explanation, needs, rule.raters_needed, options, rule.support)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")
