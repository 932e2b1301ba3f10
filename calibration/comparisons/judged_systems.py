"""Systems as people would have rated them: a judge's answers corrected item by item, by system and condition.

The items are turns for marks and whole continuations for scores. Where people rated the items of a campaign
that drew them with known probabilities, every figure is weighted by 1 / probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.campaigns import sampling
from annotation.models import Campaign, Item
from calibration.comparisons.count_inputs import JUDGE, CountsQuery, Selection, Units
from calibration.ratings import designs
from calibration.reports.wording import join_names
from calibration.statistics.core.ratings import Floats
from calibration.statistics.corrected_systems import CorrectedSystems, JudgedItems, corrected_systems

NOT_RANDOM = "by your choice, the items that people rated are not a random sample"


@dataclass(frozen=True)
class QuestionSystems:
    """The corrected systems of one question, by its key; `system` numbers are codes of the table's rows."""

    key: str
    result: CorrectedSystems


@dataclass(frozen=True)
class RatedSample:
    """How the items that people rated were drawn; the reasons are those of `JudgedItems`.

    `probabilities` are by item id, empty where all items were equally likely; `campaigns` drew them.
    """

    probabilities: dict[int, float]
    campaigns: tuple[Campaign, ...] = ()
    not_random: str = ""
    other_errors: str = ""

    @property
    def is_simple(self) -> bool:
        """Whether all items were equally likely."""
        return not self.probabilities and not self.not_random


def rated_sample(query: CountsQuery, selection: Selection) -> RatedSample:
    """Return how the items that people rated were drawn, from the campaigns of their answers."""
    answers = scope_answers(query, selection)
    campaigns = list(Campaign.objects.filter(pk__in=[pk for pk in answers if pk is not None]).order_by("pk"))
    apart = [campaign.name for campaign in campaigns if campaign.sample_apart is not None]
    if apart:
        reason = (
            f"in {join_names(apart)} people rated items because the judge and people differ there; rate a "
            "random sample, or a review queue with probabilities"
        )
        return RatedSample({}, (), reason, reason)
    inclusions = [sampling.inclusion(campaign) or {} for campaign in campaigns]
    probabilities = {item: probability for rows in inclusions for item, (probability, _) in rows.items()}
    if probabilities and len(answers) > 1:
        are_drawn = None not in answers and all(inclusions)
        joint = designs.union(campaigns) if are_drawn else None
        if joint is None or not probabilities.keys() <= answered_items(query, selection):
            reason = (
                "people's answers come from several samples, some of them drawn with probabilities of their "
                "own that do not combine; choose one campaign"
            )
            return RatedSample({}, (), reason, reason)
        probabilities = {item: joint[item] for item in probabilities}
    if probabilities and designs.left_out(campaigns, ()) is None:
        return RatedSample({}, (), designs.UNREADABLE.rstrip("."), designs.UNREADABLE.rstrip("."))
    not_random = NOT_RANDOM if query.correction == "rogan_gladen" else ""
    return RatedSample(probabilities, tuple(campaigns), not_random)


def scope_answers(query: CountsQuery, selection: Selection) -> set[int | None]:
    """Return the campaigns that people's answers come from; None stands for imported answers."""
    counts = query.scope.counts().filter(
        question__in=[question.id for question in selection.questions],
        rater__in=[rater.id for rater in selection.people],
    )
    return set(counts.values_list("campaign", flat=True).distinct())


def answered_items(query: CountsQuery, selection: Selection) -> set[int]:
    """Return the ids of the items that people answered, or gave a reason for not answering."""
    answers = query.scope.labels().filter(
        question__in=[question.id for question in selection.questions],
        rater__in=[rater.id for rater in selection.people],
    )
    return set(answers.order_by().values_list("item", flat=True).distinct())


def systems_of(
    query: CountsQuery,
    selection: Selection,
    units: Units,
    mine: Sequence[Sequence[Floats]],
    theirs: Sequence[Floats],
    sample: RatedSample,
) -> tuple[QuestionSystems, ...]:
    """Return the corrected systems of each question that people answered on some of the judge's items.

    `mine` and `theirs` are the voices of the judge and of people, items x questions. Empty for other raters.
    """
    if selection.kind != JUDGE or not mine or not theirs:
        return ()
    of_item = units.turn_of if selection.is_turns else np.arange(len(units.ids))
    judge = mine[0][0] if len(mine[0]) == 1 else _mean(mine[0])
    _, clusters = np.unique(np.array(units.clusters, dtype=str), return_inverse=True)
    ids = _ids(units, selection) if sample.probabilities else []
    weights = np.array([1 / sample.probabilities.get(pk, np.nan) for pk in ids]) if ids else None
    unreached = designs.left_out(sample.campaigns, ids) or set()
    could_be_drawn = np.array([pk not in unreached for pk in ids] or [True] * len(of_item))
    results = []
    for at, question in enumerate(selection.questions):
        answered = ~np.isnan(judge[:, at]) & could_be_drawn
        people = np.column_stack([voice[:, at] for voice in theirs])[answered]
        if np.isnan(people).all():
            continue
        categories = (0.0, 1.0) if selection.is_turns else tuple(float(v) for v in question.values)
        items = JudgedItems(
            judge[answered, at],
            people,
            units.rows[of_item][answered],
            clusters.ravel()[of_item][answered],
            categories or None,
            None if weights is None else weights[answered],
            sample.not_random,
            sample.other_errors,
        )
        results.append(QuestionSystems(question.key, corrected_systems(items, query.plan)))
    return tuple(results)


def _mean(voices: Sequence[Floats]) -> Floats:
    stacked = np.stack(voices)
    n = (~np.isnan(stacked)).sum(axis=0)
    return np.asarray(np.nansum(stacked, axis=0) / np.where(n > 0, n, np.nan))


def _ids(units: Units, selection: Selection) -> list[int]:
    """Return the id of each item, 0 for one that was never made."""
    if selection.is_turns:
        return [int(pk) for pk in units.turn_items]
    wholes = Item.objects.filter(kind="dialogue", continuation__in=list(units.ids))
    by_continuation = dict(wholes.values_list("continuation", "pk"))
    return [by_continuation.get(pk, 0) for pk in units.ids]
