"""Panels: raters composed of judges by a stated rule, answer by answer.

`mean` and `median` are of the members' answers (ordered scales). `majority` is the value that most members
gave; where two are given equally often there is no answer. `weighted` is the weighted mean on ordered scales
and otherwise the value with the greatest total weight; a member's weight is its agreement with people beyond
chance on the items learned from, averaged over people by the items both rated, and at least 0: Cohen's kappa
(1960) for categories, kappa with quadratic weights (1968) for ordered values.

A member without an answer is left out. An item answered by fewer than ``least`` members (of those that count)
has no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.ratings import CATEGORIES, Floats, Ratings
from calibration.statistics.gold import EQUAL, LEAST, agreement_of

PANEL = "panel"
Rule = Literal["mean", "median", "majority", "weighted"]
RULES: tuple[Rule, ...] = get_args(Rule)
PEOPLE = "human"
NO_ANSWER, SHORT, TIE = "no member answered", "too few members answered", "a tie between members"
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Member:
    """A member's weight, the agreement with people it comes from (None: not measured), and its items."""

    name: str
    weight: float | None = None
    agreement: float | None = None
    n_items: int = 0


@dataclass(frozen=True)
class PanelAnswers:
    """A panel's answers, NaN where it has none, and the causes: ties, too few members.

    ``reason`` explains why there is no answer at all.
    """

    values: Floats
    members: tuple[Member, ...]
    least: int
    n_ties: int = 0
    n_short: int = 0
    reason: str = ""

    @property
    def n_answered(self) -> int:
        """Number of items with an answer."""
        return int((~np.isnan(self.values)).sum())


def usual_least(members: int) -> int:
    """Return the default number of members that must answer: more than half of them."""
    return members // 2 + 1


def panel_of(
    ratings: Ratings, members: Sequence[str], rule: Rule, *, least: int = 0, learn: Ratings | None = None
) -> PanelAnswers:
    """Return a panel's answers to the items of ratings.

    ``learn`` are the only ratings that weights are learned from; a member is compared with a person where
    they share `weighting.LEAST` of its items.
    """
    names = [name for name in members if name in ratings.raters]
    needed = least or usual_least(len(members))
    panel_members = tuple(Member(name) for name in names)
    nothing = np.full(ratings.n_items, np.nan)
    if reason := _unfit(ratings, names, rule, needed, learn):
        return PanelAnswers(nothing, panel_members, needed, reason=reason)
    weights = np.ones(len(names))
    if rule == "weighted":
        assert learn is not None
        panel_members = tuple(_learned(learn, name) for name in names)
        weights = np.array([member.weight or 0.0 for member in panel_members])
        if not (weights > 0).any():
            return PanelAnswers(
                nothing, panel_members, needed, reason="no member has a weight learned on dev"
            )
    block = ratings.values[:, [ratings.column(name) for name in names]]
    block = np.where(weights[None, :] > 0, block, np.nan)
    present = ~np.isnan(block)
    enough = present.sum(axis=1) >= min(needed, int((weights > 0).sum()) if rule == "weighted" else needed)
    values, ties = _combine(ratings, block, weights, rule)
    return PanelAnswers(
        np.where(enough, values, np.nan),
        panel_members,
        needed,
        n_ties=int((ties & enough).sum()),
        n_short=int((present.any(axis=1) & ~enough).sum()),
    )


def _unfit(ratings: Ratings, names: Sequence[str], rule: Rule, least: int, learn: Ratings | None) -> str:
    if len(names) < 2:
        return f"{len(names)} of its members answered this question, and a panel needs two"
    if least > len(names):
        return f"{len(names)} of its members answered this question, and it needs {least}"
    categories = ratings.level in CATEGORIES
    if categories and rule in ("mean", "median"):
        return f"categories have no {rule}"
    if categories and not all(ratings.on_scale[ratings.column(name)] for name in names):
        return "a member answers on another scale"
    if rule == "weighted" and learn is None:
        return "weights are learned on dev, and the corpus has no split"
    return ""


def _combine(ratings: Ratings, block: Floats, weights: Floats, rule: Rule) -> tuple[Floats, Mask]:
    """Return the value of each item, and where two values tie for the lead."""
    none = np.zeros(len(block), np.bool_)
    if rule == "majority" or (rule == "weighted" and ratings.level in CATEGORIES):
        return _vote(block, weights)
    present = (~np.isnan(block)).any(axis=1)
    values = np.full(len(block), np.nan)
    if rule == "median":
        values[present] = np.nanmedian(block[present], axis=1)
        return values, none
    shares = np.where(np.isnan(block), 0.0, weights[None, :])
    total = np.where(present, shares.sum(axis=1), 1.0)
    return np.where(present, (np.nan_to_num(block) * shares).sum(axis=1) / total, np.nan), none


def _vote(block: Floats, weights: Floats) -> tuple[Floats, Mask]:
    grid = np.unique(block[~np.isnan(block)])
    values = np.full(len(block), np.nan)
    if not grid.size:
        return values, np.zeros(len(block), np.bool_)
    votes = np.stack([(block == value) @ weights for value in grid], axis=1)
    best = votes.max(axis=1)
    leads = np.isclose(votes, best[:, None], rtol=0, atol=EQUAL) & (best > 0)[:, None]
    alone = leads.sum(axis=1) == 1
    values[alone] = grid[leads[alone].argmax(axis=1)]
    return values, leads.sum(axis=1) > 1


def _learned(learn: Ratings, name: str) -> Member:
    """Learn a member's weight: its agreement with each person, by the items that both rated."""
    if name not in learn.raters:
        return Member(name, 0.0)
    own = learn.values[:, learn.column(name)]
    total, n, seen = 0.0, 0, np.zeros(learn.n_items, np.bool_)
    for column in learn.of_kind(PEOPLE):
        both = ~np.isnan(own) & ~np.isnan(learn.values[:, column])
        seen |= both
        if both.sum() < LEAST:
            continue
        pair_agreement = agreement_of(learn, own[both], learn.values[both, column])
        if not np.isnan(pair_agreement):
            total, n = total + pair_agreement * int(both.sum()), n + int(both.sum())
    agreement = total / n if n else None
    return Member(name, max(agreement or 0.0, 0.0), agreement, int(seen.sum()))
