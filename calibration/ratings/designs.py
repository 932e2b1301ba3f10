"""Sampling designs behind people's labels: the items drawn for review campaigns, and their weights.

An item drawn with probability p stands for 1 / p items. Several campaigns that draw independently of each
other, with probabilities p1, p2, ... of an item, draw it at all with 1 - (1 - p1) (1 - p2) ..., wherever each
of them drew from (Bankier 1986, Journal of the American Statistical Association 81, 1074-1079). That takes
the probabilities of an item in every campaign, also in those that did not draw it, draws from different
seeds, and answers to all items drawn. Otherwise, where all drew from the same number of items, a campaign
counts by its share of the effective number of items drawn (Kish), and an item has the sum over the campaigns
that drew it: a weighted mean of the campaigns' estimates (Hartley 1962, Multiple Frame Surveys).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from django.db.models import Exists, OuterRef, Q

from annotation.campaigns import allocation, review_queue, sampling
from annotation.campaigns.allocation import Inclusion
from annotation.models import Campaign, Label
from annotation.models.labels import Rater
from calibration.ratings.scope import Scope, items_of
from calibration.statistics.core.samples import averaged_weights


@dataclass(frozen=True, slots=True)
class DesignStratum:
    """A stratum of a campaign: its items, and the drawn and the answered ones of the part shown."""

    campaign: str
    stratum: str
    items: int
    sampled: int
    answered: int
    probability: float


Combination = Literal["", "union", "average"]
"""How several campaigns count together; empty for one."""
COMBINATIONS: dict[str, str] = {
    "": "",
    "union": "The probability is that of being drawn by any of the review campaigns.",
    "average": "The review campaigns are averaged by their effective numbers of items.",
}
"""Combinations as sentences."""


@dataclass(frozen=True)
class Design:
    """How the items that people answered were drawn. `weights` are by item key, those of the items drawn.

    `campaigns` are the review campaigns that drew them, from `population` items in all. `probabilities` are
    by item key, too: those of being drawn by any of the campaigns, empty where campaigns are averaged.
    `outside` are the keys of the items that no campaign could draw, because their strata were left out.
    `problem` is a sentence on why the figures are of the answered items only; there are then no weights.
    """

    strata: tuple[DesignStratum, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""
    population: int = 0
    combination: Combination = ""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    campaigns: tuple[int, ...] = ()
    outside: frozenset[str] = frozenset()

    @property
    def is_unequal(self) -> bool:
        """Whether the items drawn differ in weight."""
        return len(set(self.weights.values())) > 1

    def as_dict(self) -> dict[str, Any]:
        """Return the design without its weights, JSON-ready."""
        return {
            "strata": [asdict(row) for row in self.strata],
            "problem": self.problem,
            "population": self.population,
            "combination": self.combination,
        }


NO_DESIGN = Design()


def design_of(
    scope: Scope,
    questions: Collection[int],
    places: Mapping[int, str],
    answered: Collection[int],
    unanswerable: Collection[int] = (),
) -> Design:
    """Return the design of the items that people answered; NO_DESIGN if no judge chose them.

    `places` are the keys of the labelled items of the part shown, by id; `answered` the items that people
    answered, and `unanswerable` those for which a person gave a reason instead. Each item counts once where
    people answered all of them, whatever the campaigns.
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
    if outside := len(set(answered).difference(*inclusions.values())):
        if len(answered) >= _n_items(scope, answered):
            return NO_DESIGN
        items = f"{outside:,} item{'' if outside == 1 else 's'}"
        return Design(
            problem=(
                f"People answered {items} that no review campaign drew: the figures with people are of the "
                "answered items only, not of all items."
            )
        )
    is_complete = len(campaigns) == 1 or _is_complete(
        scope, set().union(*inclusions.values()), places, {*answered, *unanswerable}
    )
    combined = weighting(inclusions, is_complete=is_complete)
    rows = tuple(row for pair in inclusions.items() for row in _strata(*pair, places, answered))
    if combined.problem:
        return Design(rows, problem=combined.problem)
    unreached = left_out(campaigns, places)
    if unreached is None:
        return Design(rows, problem=UNREADABLE)
    return Design(
        rows,
        {places[item]: weight for item, weight in combined.weights.items() if item in places},
        population=combined.population,
        combination=combined.combination,
        probabilities={places[item]: p for item, p in combined.probabilities.items() if item in places},
        campaigns=tuple(campaign.pk for campaign in campaigns),
        outside=frozenset(places[item] for item in unreached),
    )


UNREADABLE = (
    "A review campaign left strata out, and which items they had can no longer be read: the figures with "
    "people are of the answered items only, not of all items."
)


def left_out(campaigns: Sequence[Campaign], items: Collection[int]) -> set[int] | None:
    """Return those of the items that no campaign could draw, because it left their stratum out.

    Without such a stratum there are none; None where the strata can no longer be read.
    """
    strata = [row for campaign in campaigns for row in (campaign.review_strata or {}).get("strata", ())]
    if all(row["probability"] is not None or not row["items"] for row in strata):
        return set()
    populations = [population for c in campaigns if (population := review_queue.drawn_from(c)) is not None]
    return set(items).difference(*populations) if len(populations) == len(campaigns) else None


def rated_only(scope: Scope, questions: Collection[int]) -> str:
    """Return a sentence for figures of people's answers that are not weighted; '' where none is needed.

    It is needed where people answered items that campaigns drew with unequal probabilities, or because a
    judge and people differ there.
    """
    campaigns = _campaigns(scope, questions)
    strata = [
        campaign.review_strata["strata"] for campaign in campaigns if campaign.review_strata is not None
    ]
    if len(strata) < len(campaigns):
        reason = "Some of people’s items were selected because a judge and people differ there"
    elif len(strata) > 1 or len({row["probability"] for rows in strata for row in rows} - {None}) > 1:
        reason = "People’s items were drawn with unequal probabilities and are not weighted here"
    else:
        return ""
    return f"{reason}: figures of their answers are of the rated items, not of all items."


@dataclass(frozen=True)
class Weighting:
    """Weights of the items that review campaigns drew from `population` items in all, by item id.

    `probabilities` are those of being drawn by any of the campaigns, by item id, empty where campaigns are
    averaged. With a `problem`, a sentence, there are no weights.
    """

    weights: Mapping[int, float] = field(default_factory=dict)
    probabilities: Mapping[int, float] = field(default_factory=dict)
    population: int = 0
    combination: Combination = ""
    problem: str = ""


def weighting(inclusions: Mapping[Campaign, Inclusion], *, is_complete: bool) -> Weighting:
    """Return the weights of items that one or more review campaigns drew.

    `inclusions` are the items that each campaign drew, as of `sampling.inclusion`; `is_complete`: all of them
    are answered, without which several campaigns are averaged.
    """
    campaigns = list(inclusions)
    if len(campaigns) == 1:
        probabilities = {item: p for item, (p, _) in inclusions[campaigns[0]].items()}
        weights = {item: 1 / p for item, p in probabilities.items()}
        return Weighting(weights, probabilities, _population(campaigns[0]))
    joint = union(campaigns) if is_complete else None
    if joint is not None:
        probabilities = {item: joint[item] for item in set().union(*inclusions.values())}
        weights = {item: 1 / p for item, p in probabilities.items()}
        return Weighting(weights, probabilities, len(joint), "union")
    sizes = {_population(campaign) for campaign in campaigns}
    if len(sizes) == 1:
        parts = [{item: 1 / p for item, (p, _) in inclusion.items()} for inclusion in inclusions.values()]
        return Weighting(averaged_weights(parts), population=max(sizes), combination="average")
    reason = "their probabilities do not combine" if is_complete else "some drawn items have no answer yet"
    return Weighting(
        problem=(
            f"The review campaigns drew from different numbers of items, and {reason}: the figures with "
            "people are of the answered items only, not of all items."
        )
    )


def _population(campaign: Campaign) -> int:
    """Return the number of items of the strata that a campaign drew from."""
    strata = (campaign.review_strata or {})["strata"]
    return sum(row["items"] for row in strata if row["probability"] is not None)


def union(campaigns: Sequence[Campaign]) -> dict[int, float] | None:
    """Return the probability that any of several campaigns draws an item, of all items that one can draw.

    None where it is not known: the strata of a campaign can no longer be read, or two draws depend on each
    other.
    """
    draws = []
    for campaign in campaigns:
        population = review_queue.drawn_from(campaign)
        if population is None:
            return None
        draws.append((campaign.seed, population))
    return allocation.joint_probabilities(draws)


def _is_complete(
    scope: Scope, drawn_items: set[int], places: Mapping[int, str], answered: Collection[int]
) -> bool:
    """Whether people answered all drawn items of the part shown; those without any label are in no place."""
    if drawn_items.intersection(places).difference(answered):
        return False
    others = drawn_items.difference(places)
    labelled = scope.labels().filter(item__in=others).order_by().values("item").distinct()
    return not others or labelled.count() == len(others)


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
    inclusion: Inclusion,
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
