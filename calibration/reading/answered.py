"""What each rater answered, whether or not anything could be compared with it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db.models import Count, Max, Q

from annotation.corpora import splits
from calibration.reading.census import Census
from calibration.reading.scope import Scope


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """How many items of a question a rater answered, and how many answers are missing with a reason."""

    ref: str
    title: str
    n: int
    missing: int
    samples: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What a rater answered, whether or not anything could be compared with it."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    questions: tuple[AnsweredQuestion, ...] = ()


def answered(
    scope: Scope, counted: Census, clusters: Collection[str] | None = None, names: Collection[str] = ()
) -> list[Answered]:
    """Return per rater its questions, each with the numbers of items answered and of missing answers.

    Only items in `clusters` and raters in `names` count, where these are given.
    """
    labels = scope.labels()
    if clusters is not None:
        labels = labels.filter(splits.within(clusters, "item__"))
    rows = (
        labels.values("rater_id", "question_id")
        .annotate(
            n=Count("item_id", distinct=True, filter=Q(missing="")),
            gone=Count("pk", filter=~Q(missing="")),
            samples=Max("sample"),
        )
        .order_by("rater_id", "question_id")
        .values_list("rater_id", "question_id", "n", "gone", "samples")
    )
    found: dict[int, Answered] = {}
    order = list(counted.questions)
    for rater, question, n, gone, samples in sorted(rows, key=lambda row: (row[0], order.index(row[1]))):
        info = counted.raters[rater]
        if names and info.name not in names:
            continue
        told = found.get(rater) or Answered(info.name, info.kind, info.identified, info.simulated)
        asked = counted.questions[question]
        here = AnsweredQuestion(asked.ref, asked.title, n, gone, samples + 1)
        found[rater] = replace(told, questions=(*told.questions, here))
    return list(found.values())
