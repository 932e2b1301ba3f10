"""The rules by which cases are picked from the answers to one question: one table, seen whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibration.adjudication.settings import Settings
from calibration.gold.rules import RULES as GOLD_RULES
from calibration.gold.rules import Answers
from calibration.statistics import Ratings
from calibration.statistics.core.types import CATEGORIES, ORDERED, Floats
from calibration.statistics.gold import Chosen, majority

Bools = npt.NDArray[np.bool_]
CONTROL = "control"
"""What a case is picked by on which all people agree."""


@dataclass(frozen=True)
class Answered:
    """The answers to one question: items x raters, and what was noted about the items.

    `people` and `judge` are columns, None where the judge did not answer. `flagged`, `commented`, `marked`
    and `locked` (of a test part that nobody has opened) are of the items.
    """

    ratings: Ratings
    judge: int | None
    flagged: Bools
    commented: Bools
    marked: Bools
    locked: Bools

    @property
    def people(self) -> tuple[int, ...]:
        """The columns of the people."""
        return self.ratings.of_kind("human")

    @cached_property
    def said(self) -> Floats:
        """The people's answers, items x people."""
        return self.ratings.values[:, list(self.people)]

    @cached_property
    def n(self) -> npt.NDArray[np.int_]:
        """How many people answered, per item."""
        return (~np.isnan(self.said)).sum(axis=1)

    @cached_property
    def apart(self) -> Floats:
        """How far the people's answers lie apart, per item; NaN where fewer than two answered."""
        low = np.where(np.isnan(self.said), np.inf, self.said).min(axis=1, initial=np.inf)
        high = np.where(np.isnan(self.said), -np.inf, self.said).max(axis=1, initial=-np.inf)
        return np.where(self.n >= 2, high - low, np.nan)

    @cached_property
    def strict(self) -> Floats:
        """What more than half of the people said, per item; NaN where no value has that."""
        return strict_majority(self.ratings)


def strict_majority(ratings: Ratings) -> Floats:
    """Return what more than half of an item's people say, NaN where no value does."""
    people = ratings.of_kind("human")
    if not people:
        return np.full(ratings.n_items, np.nan)
    chosen: Chosen = majority(ratings, columns=people)
    return np.where(chosen.confidence > 0.5, chosen.values, np.nan)


@dataclass(frozen=True)
class PickRule:
    """A rule: what it picks, in words, and why it does not apply to a question (empty where it does)."""

    key: str
    title: str
    picks: Callable[[Answered, Settings], Bools]
    unfit: Callable[[Answered, Settings], str] = lambda answered, settings: ""


def _no_majority(answered: Answered, settings: Settings) -> Bools:
    return (answered.n >= 2) & np.isnan(answered.strict)


def _spread(answered: Answered, settings: Settings) -> Bools:
    return np.nan_to_num(answered.apart, nan=-1.0) >= (settings.spread or 0.0)


def _ordered(answered: Answered, settings: Settings) -> str:
    return "" if answered.ratings.level in ORDERED else "its answers have no order"


def _judge(answered: Answered, settings: Settings) -> Bools:
    assert answered.judge is not None  # it fits
    theirs = answered.ratings.values[:, answered.judge]
    if answered.ratings.level in CATEGORIES:
        away = (theirs != answered.strict) & ~np.isnan(answered.strict)
    else:
        total = np.where(np.isnan(answered.said), 0.0, answered.said).sum(axis=1)
        mean = total / np.maximum(answered.n, 1)
        away = np.abs(theirs - mean) >= (settings.judge_apart or np.nextafter(0, 1))
    return away & ~np.isnan(theirs) & (answered.n > 0) & ~answered.locked


def _judged(answered: Answered, settings: Settings) -> str:
    return "" if answered.judge is not None else f"{settings.judge} has not answered it"


def _confidence(answered: Answered, settings: Settings) -> Bools:
    rule = GOLD_RULES[settings.confidence_rule]
    chosen = rule.choose(Answers(answered.ratings.take(answered.people)), rule.checked({}))
    unsure = np.isnan(chosen.confidence) | (chosen.confidence <= (settings.confidence or 0.0))
    return unsure & (answered.n > 0)


def _sure(answered: Answered, settings: Settings) -> str:
    rule = GOLD_RULES[settings.confidence_rule]
    return rule.unfit(Answers(answered.ratings.take(answered.people)), rule.checked({}))


PICKS: dict[str, PickRule] = {
    rule.key: rule
    for rule in (
        PickRule("no_majority", "no strict majority", _no_majority),
        PickRule("spread", "answers far apart", _spread, _ordered),
        PickRule("flagged", "flagged by an annotator", lambda answered, settings: answered.flagged),
        PickRule("commented", "commented by an annotator", lambda answered, settings: answered.commented),
        PickRule("judge", "judge against people", _judge, _judged),
        PickRule("confidence", "low confidence", _confidence, _sure),
        PickRule("marked", "marked for adjudication", lambda answered, settings: answered.marked),
        PickRule("everything", "all that people answered", lambda answered, settings: answered.n > 0),
    )
}
TITLES = {key: rule.title for key, rule in PICKS.items()} | {CONTROL: "agreed upon (control)"}
"""What each rule is called on pages."""


@dataclass(frozen=True)
class Picked:
    """What the rules pick of one question: which rows by which rules, and which rules do not fit it."""

    by_rule: dict[str, Bools]
    chosen: Bools
    unfit: dict[str, str]

    def rules_of(self, row: int) -> tuple[str, ...]:
        """Return the rules that a row meets."""
        return tuple(key for key, hits in self.by_rule.items() if hits[row])


def picked(answered: Answered, settings: Settings) -> Picked:
    """Return what the rules that are on pick: together, or those that all of them pick."""
    by_rule: dict[str, Bools] = {}
    unfit: dict[str, str] = {}
    for key in settings.on:
        rule = PICKS[key]
        if reason := rule.unfit(answered, settings):
            unfit[key] = reason
        else:
            by_rule[key] = rule.picks(answered, settings)
    none = np.zeros(answered.ratings.n_items, dtype=np.bool_)
    if settings.combine == "all":
        whole = bool(by_rule) and not unfit
        chosen = np.logical_and.reduce(list(by_rule.values())) if whole else none
    else:
        chosen = np.logical_or.reduce(list(by_rule.values())) if by_rule else none
    return Picked(by_rule, chosen, unfit)


def control(answered: Answered, chosen: Bools, *, n: int, seed: int, salt: str) -> list[int]:
    """Return up to `n` rows on which two people or more agree and that nothing picked, drawn by the seed."""
    agreed = (answered.n >= 2) & (answered.apart == 0) & ~chosen
    rows = [int(row) for row in np.flatnonzero(agreed)]
    rows.sort(key=lambda row: draw_key(seed, salt, answered.ratings.items[row]))
    return rows[:n]


def draw_key(seed: int, *parts: str) -> str:
    """Return what puts things into an order drawn by a seed: the same on every machine."""
    return hashlib.sha256("\0".join([str(seed), *parts]).encode()).hexdigest()
