"""Answers about pairs and rankings as votes: labels with the systems of the members they speak of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from annotation.corpora import splits
from annotation.kinds import COMPARING
from annotation.models import ItemMember
from annotation.schemes.base import RANKING, is_comparison
from calibration.reading.census import Census, QuestionInfo
from calibration.reading.scope import Scope
from calibration.statistics.preferences.votes import Vote

CHUNK = 20_000


def comparing(counted: Census) -> list[QuestionInfo]:
    """Return the questions of a scope that ask which of several is better."""
    return [
        one
        for one in counted.questions.values()
        if one.item_kind in COMPARING and (one.level == RANKING or is_comparison(one.level, one.values))
    ]


def votes(
    scope: Scope, questions: Collection[QuestionInfo], counted: Census, clusters: Collection[str] | None
) -> dict[int, list[Vote]]:
    """Return the votes of each question, in three queries; of ``clusters`` alone where these are given.

    Of an answer that one rater gave again elsewhere the first counts, as in every statistic.
    """
    labels = scope.labels().filter(question__in=[one.id for one in questions])
    if clusters is not None:
        labels = labels.filter(splits.within(list(clusters), "item__"))
    place = ("item_id", "question_id", "rater_id", "sample")
    rows = list(
        labels.order_by(*place, "pk")
        .distinct(*place)
        .values_list(*place, "text", "shown", "item__continuation__dialogue__cluster")
        .iterator(chunk_size=CHUNK)
    )
    systems = systems_of({row[0] for row in rows})
    found: dict[int, list[Vote]] = {one.id: [] for one in questions}
    for item, question, rater, sample, text, shown, cluster in rows:
        who = counted.raters[rater]
        vote = Vote(str(item), who.name, text, systems[item], cluster, who.kind, _swapped(shown), sample)
        found[question].append(vote)
    return found


def systems_of(items: Collection[int]) -> Mapping[int, tuple[str, ...]]:
    """Return the systems of each item's members, in the order they are numbered in."""
    found: dict[int, list[str]] = defaultdict(list)
    members = ItemMember.objects.filter(item__in=items).order_by("item_id", "number")
    for item, system in members.values_list("item_id", "continuation__system__name").iterator(CHUNK):
        found[item].append(system)
    return {item: tuple(names) for item, names in found.items()}


def among(given: Iterable[Vote], systems: Collection[str]) -> list[Vote]:
    """Return the votes that compare some of these systems and no others; all where none are named."""
    return [vote for vote in given if not systems or set(vote.systems) <= set(systems)]


def _swapped(shown: list[int] | None) -> bool | None:
    """Return whether a pair's second member was shown first; None of more than two, or where unknown."""
    return None if shown is None or len(shown) != 2 else shown[0] == 1
