"""What a rule is by which gold labels are chosen, and what it chooses from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.errors import GoldRuleError
from calibration.statistics import Ratings
from calibration.statistics.core.types import Samples
from calibration.statistics.gold import Chosen

OptionValue = float | int | str


@dataclass(frozen=True)
class Option:
    """An option of a rule: its default (whose type it keeps), a sentence about it, and what it may be.

    `choices` maps the values it may have to their meaning; a number lies between `low` and `high`, both
    included. One name is one option in all rules that have it.
    """

    default: OptionValue
    help: str
    choices: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a number, not one of several words."""
        return not isinstance(self.default, str)

    def read(self, name: str, given: Any) -> OptionValue:
        """Return a value as it is kept. Raises GoldRuleError for one that it cannot have."""
        if not self.is_number:
            if not isinstance(given, str) or given not in self.choices:
                raise GoldRuleError(f"{name} is {' or '.join(self.choices)}, not {given!r}")
            return given
        number = _number(given)
        whole = isinstance(self.default, int)
        if number is None or (whole and number != int(number)):
            raise GoldRuleError(f"{name} is a {'whole ' if whole else ''}number, not {given!r}")
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high):
            raise GoldRuleError(f"{name} lies between {low:g} and {high:g}, and {given} does not")
        return int(number) if whole else number


@dataclass(frozen=True)
class Answers:
    """What a rule chooses from: the answers to one question.

    `dev` marks the items of the dev part, None where the corpus is not split. `decisions` are adjudicators'
    answers, items x adjudicators over the same items; `empty` names the items of which one of them said that
    there is no answer. Both are there for rules that read adjudications alone.
    """

    ratings: Ratings
    dev: npt.NDArray[np.bool_] | None = None
    decisions: Ratings | None = None
    empty: frozenset[str] = frozenset()

    @cached_property
    def present(self) -> tuple[int, ...]:
        """The columns of the raters who gave an answer."""
        return tuple(int(j) for j in np.flatnonzero((~np.isnan(self.ratings.values)).any(axis=0)))


Options = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule is one file here and one line in `RULES`.

    It has a key and a title, the levels it applies to (`needs` says so in words), its choice, an explanation
    and what the support of a label means, and its options. `samples` says which of a rater's repeated answers
    count: for a majority the first, as a mean may fall between the values. `least_raters` is how many raters
    with answers it takes; a rule that `tells_raters_apart` takes no unidentified ones; one that
    `learns_on_dev` needs a split; one that `reads_adjudications` gets them; one that is `slow` takes seconds
    for each question, however few the answers, so nobody waits for it in a request. `check` returns why it
    cannot choose from these answers, for what these facts do not say; empty where it can.
    """

    key: str
    title: str
    levels: frozenset[str]
    needs: str
    choose: Callable[[Answers, Options], Chosen]
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

    def checked(self, given: Mapping[str, Any]) -> dict[str, OptionValue]:
        """Return the options with defaults. Raises GoldRuleError for an unknown option or value."""
        if unknown := set(given) - set(self.options):
            raise GoldRuleError(f"{self.title} has no option {sorted(unknown)[0]!r}")
        return {
            name: option.read(name, given[name]) if name in given else option.default
            for name, option in self.options.items()
        }

    def samples_of(self, options: Options) -> Samples | None:
        """Return which of a rater's repeated answers count, with these options."""
        return self.samples(options) if callable(self.samples) else self.samples

    def is_slow(self, options: Options) -> bool:
        """Return whether nobody should wait for it, with these options."""
        return self.slow(options) if callable(self.slow) else self.slow

    def reads_dev(self, options: Options) -> bool:
        """Return whether the rule learns on the dev part, with these options."""
        return self.learns_on_dev(options) if callable(self.learns_on_dev) else self.learns_on_dev

    def unfit(self, answers: Answers, options: Options) -> str:
        """Return why the rule does not apply to these answers, one clear clause; empty where it does."""
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
        """Whom the rule takes, in words."""
        if self.tells_raters_apart:
            return f"{self.least_raters} or more, identified"
        return "any" if self.least_raters <= 1 else f"{self.least_raters} or more"


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
