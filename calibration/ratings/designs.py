"""Sampling designs behind people's labels: the items drawn for review campaigns, and their weights.

An item drawn with probability p stands for 1 / p items. Where people answered items of several campaigns,
each drawn from the same number of items, a campaign counts by its share of the effective number of items
drawn (Kish), and an item has the sum over the campaigns that drew it: a weighted mean of the campaigns'
estimates (Hartley 1962, Multiple Frame Surveys, with the frames the same).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, Q

from annotation.campaigns import sampling
from annotation.models import Campaign, Label
from annotation.models.labels import Rater
from calibration.ratings.scope import Scope, items_of
from calibration.statistics.core.samples import kish


@dataclass(frozen=True, slots=True)
class DesignStratum:
    """A stratum of a campaign: its items, and the drawn and the answered ones of the part shown."""

    campaign: str
    stratum: str
    items: int
    sampled: int
    answered: int
    probability: float


@dataclass(frozen=True)
class Design:
    """How the items that people answered were drawn. `weights` are by item key, those of the items drawn.

    `problem` is a sentence on why the figures are of the answered items only; there are then no weights.
    """

    strata: tuple[DesignStratum, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""

    @property
    def is_unequal(self) -> bool:
        """Whether the items drawn differ in weight."""
        return len(set(self.weights.values())) > 1

    @property
    def population(self) -> int:
        """Number of items drawn from; of several campaigns that of each."""
        return sum(row.items for row in self.strata if row.campaign == self.strata[0].campaign)

    def as_dict(self) -> dict[str, Any]:
        """Return the design without its weights, JSON-ready."""
        return {"strata": [asdict(row) for row in self.strata], "problem": self.problem}


NO_DESIGN = Design()


def design_of(
    scope: Scope, questions: Collection[int], places: Mapping[int, str], answered: Collection[int]
) -> Design:
    """Return the design of the items that people answered; NO_DESIGN if no judge chose them.

    `places` are the keys of the labelled items of the part shown, by id; `answered` the items that people
    answered. Each item counts once where people answered all of them, whatever the campaigns.
    """
    sampled = _campaigns(scope, questions) if answered else []
    if not sampled:
        return NO_DESIGN
    apart = [campaign.name for campaign in sampled if campaign.sample_apart is not None]
    if apart and len(answered) < _n_items(scope, answered):
        return Design(
            problem=(
                f"In {', '.join(apart)} people answered items because a judge and people differ there: the "
                "figures with people are of the answered items only, not of all items."
            )
        )
    campaigns = [campaign for campaign in sampled if campaign.review_strata is not None]
    if not campaigns:
        return NO_DESIGN
    inclusions = {campaign: sampling.inclusion(campaign) or {} for campaign in campaigns}
    drawn_items = set().union(*inclusions.values())
    if outside := len(set(answered) - drawn_items):
        if len(answered) >= _n_items(scope, answered):
            return NO_DESIGN
        items = f"{outside:,} item{'' if outside == 1 else 's'}"
        return Design(
            problem=(
                f"People answered {items} that no review campaign drew: the figures with people are of the "
                "answered items only, not of all items."
            )
        )
    strata = {campaign: _strata(campaign, inclusions[campaign], places, answered) for campaign in campaigns}
    rows = tuple(row for each in strata.values() for row in each)
    if len({sum(row.items for row in each) for each in strata.values()}) > 1:
        return Design(
            rows,
            problem=(
                "The review campaigns drew from different numbers of items: the figures with people are of "
                "the answered items only, not of all items."
            ),
        )
    return Design(rows, _weights([inclusions[campaign] for campaign in campaigns], places))


def _campaigns(scope: Scope, questions: Collection[int]) -> list[Campaign]:
    """Return the campaigns of a scope with items drawn by what a judge said, where people answered them."""
    if scope.campaign is not None:
        own = scope.campaign
        return [own] if own.review_strata is not None or own.sample_apart is not None else []
    answers = Label.objects.filter(
        scope.subset.of_days("created_at"),
        campaign=OuterRef("pk"),
        question__in=questions,
        occasion__in=scope.occasions,
        rater__kind=Rater.Kind.HUMAN,
        superseded_at__isnull=True,
    )
    by_judge = Q(review_strata__isnull=False) | Q(sample_apart__isnull=False)
    return list(Campaign.objects.filter(by_judge, Exists(answers), corpus=scope.corpus).order_by("pk"))


def _n_items(scope: Scope, answered: Iterable[int]) -> int:
    """Return the number of items of the scope that are of the kinds of those answered."""
    items = items_of(scope)
    kinds = items.filter(pk__in=list(answered)).values("kind")
    return items.filter(kind__in=kinds).count()


def _strata(
    campaign: Campaign,
    inclusion: Mapping[int, tuple[float, str]],
    places: Mapping[int, str],
    answered: Collection[int],
) -> list[DesignStratum]:
    rows = []
    answers = set(answered)
    for row in (campaign.review_strata or {})["strata"]:
        if row["probability"] is None:
            continue
        members = [item for item, (_, name) in inclusion.items() if name == row["stratum"] and item in places]
        rows.append(
            DesignStratum(
                campaign.name,
                row["stratum"],
                row["items"],
                len(members),
                len(answers.intersection(members)),
                row["probability"],
            )
        )
    return rows


def _weights(
    inclusions: Iterable[Mapping[int, tuple[float, str]]], places: Mapping[int, str]
) -> dict[str, float]:
    """Return the weight of each item drawn, by key: the weighted sum over the campaigns that drew it."""
    parts = [
        {places[item]: 1 / probability for item, (probability, _) in inclusion.items() if item in places}
        for inclusion in inclusions
    ]
    sizes = [kish(np.array(list(part.values()))) for part in parts]
    total = sum(sizes)
    weights: dict[str, float] = {}
    for part, size in zip(parts, sizes, strict=True):
        for key, weight in part.items():
            weights[key] = weights.get(key, 0.0) + weight * size / total
    return weights
