"""How far judges of free answers agree with people on which are right: Cohen's kappa, with its interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.models import Corpus, Label, Rater
from annotation.models.corpora import ITEM_CLUSTER
from annotation.scripts.answers import RIGHT
from calibration.answers.reading import CHUNK, OCCASIONS, SCHEME, answers
from calibration.statistics import Plan, Record, Result, analyse, ratings_from_records

STATISTICS = ("cohen_kappa", "percent_agreement")
NOBODY_BOTH = "no answer was rated by both"
MEAN, HUMAN = "people", "human"
"""Most people stand as one rater beside the judge."""


@dataclass(frozen=True)
class Agreement:
    """A judge beside people: kappa and the share of equal answers, over the answers that both rated.

    Of several people, what most of them said counts; half is not most.
    """

    judge: str
    kappa: Result
    equal: Result
    people: int
    fake_model: bool = False


def agreements(
    corpus: Corpus, clusters: Collection[str] | None, plan: Plan, part: str = ""
) -> tuple[Agreement, ...]:
    """Return the agreement of each judge of a corpus's answers with people, of some clusters (None: all)."""
    items = answers(corpus, clusters, part)
    places = dict(items.annotate(own=ITEM_CLUSTER).values_list("pk", "own"))
    labels = Label.objects.filter(
        item__in=items,
        superseded_at=None,
        occasion__in=OCCASIONS,
        number__isnull=False,
        question__key=RIGHT,
        question__version__scheme__key=SCHEME,
        rater__kind__in=(Rater.Kind.JUDGE, Rater.Kind.HUMAN),
    ).order_by("rater__name", "-sample", "-pk")
    said: dict[int, dict[int, float]] = {}
    for item, rater, number in labels.values_list("item", "rater", "number").iterator(chunk_size=CHUNK):
        said.setdefault(rater, {})[item] = float(number or 0)
    raters = Rater.objects.in_bulk(said)
    people = [said[pk] for pk, rater in raters.items() if rater.kind == Rater.Kind.HUMAN]
    most = majority(people)
    judges = [rater for rater in raters.values() if rater.kind == Rater.Kind.JUDGE]
    return tuple(
        agreement(judge.name, said[judge.pk], most, places, len(people), plan)
        for judge in sorted(judges, key=lambda one: one.name)
    )


def majority(people: Sequence[dict[int, float]]) -> dict[int, float]:
    """Return what most people said of each item; half is not most."""
    votes: dict[int, list[float]] = {}
    for own in people:
        for item, value in own.items():
            votes.setdefault(item, []).append(value)
    return {item: float(sum(given) > len(given) / 2) for item, given in votes.items()}


def agreement(
    judge: str,
    said: dict[int, float],
    most: dict[int, float],
    places: dict[int, str],
    people: int,
    plan: Plan,
) -> Agreement:
    """Return how far a judge's answers are those of most people, over what both answered."""
    both = sorted(said.keys() & most.keys())
    if not both:
        kappa, equal = (Result(name, status="insufficient", reason=NOBODY_BOTH) for name in STATISTICS)
        return Agreement(judge, kappa, equal, people)
    records = [
        Record(str(item), rater, value[item], places[item], kind=HUMAN if rater == MEAN else "judge")
        for item in both
        for rater, value in ((MEAN, most), (judge, said))
    ]
    ratings = ratings_from_records(records, level="binary", values=(0, 1))
    made = analyse(ratings, statistics=STATISTICS, against=MEAN, plan=plan)
    entries = [made.find(name) for name in STATISTICS]
    assert entries[0] is not None
    assert entries[1] is not None
    return Agreement(judge, entries[0].result, entries[1].result, people)
