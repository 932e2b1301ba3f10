"""The figures of a profile's cells: per metric, system and what the system was given, from the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db.models import Avg, Case, CharField, Count, Max, Min, Q, QuerySet, StdDev, Value, When

from annotation.models import Corpus, Label, Question, Rater
from judges.metrics.kit.base import GIVEN, HALVES

Source = tuple[str, str]
"""A system, and the half of its predictions that it was given ('' for none)."""
Cells = dict[tuple[int, Source], "Cell"]
Reasons = dict[tuple[int, Source], dict[str, int]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric on one system's items: count, mean, standard deviation (dividing by n), and range.

    `missing` counts items on which the metric is not defined; they are in no figure. `marks` says whether
    the mean is the column's `highest` or `lowest` (where 0.5 is what counts, `nearest` to it or `farthest`),
    and whether it is the `best`. `given` is the half of the predictions that the system was given, '' where
    it predicted both; `reason` says why there is no mean, as most items say. `elsewhere` counts values at
    points that the other rows do not share: they are in no figure either.
    """

    n: int
    missing: int
    mean: float | None
    spread: float | None
    low: float | None = None
    high: float | None = None
    marks: tuple[str, ...] = ()
    given: str = ""
    reason: str = ""
    elsewhere: int = 0

    @property
    def is_bold(self) -> bool:
        """Whether it is the end that MPCEval's tables print bold."""
        return "highest" in self.marks or "nearest" in self.marks

    @property
    def is_underlined(self) -> bool:
        """Whether it is the end that MPCEval's tables underline."""
        return "lowest" in self.marks or "farthest" in self.marks


NOTHING = Cell(0, 0, None, None)


OWN = "metric:"
"""How the schemes of metrics' own questions begin."""


def metric_labels(corpus: Corpus) -> QuerySet[Label]:
    """Return the live labels by which metrics answered their own questions about items of a corpus.

    Those about training dialogues are left out.
    """
    own = Question.objects.filter(version__scheme__key__startswith=OWN)
    return Label.objects.filter(
        question__in=own,
        item__corpus=corpus,
        item__training=False,
        item__compared=None,
        rater__kind=Rater.Kind.METRIC,
        superseded_at__isnull=True,
    )


def cells_of(corpus: Corpus, rater: int | None = None) -> Cells:
    """Return the cell of every metric rater (or of one) and source that has labels, in one query."""
    labels = _by_source(corpus) if rater is None else _by_source(corpus).filter(rater=rater)
    rows = labels.annotate(
        n=Count("number"),
        gone=Count("pk", filter=~Q(missing="")),
        mean=Avg("number"),
        spread=StdDev("number"),
        low=Min("number"),
        high=Max("number"),
    ).values_list(*SOURCE, "n", "gone", "mean", "spread", "low", "high")
    return {
        (rater, (system, given)): replace(Cell(*figures), given=given)
        for rater, system, given, *figures in rows
    }


def reasons_of(corpus: Corpus) -> Reasons:
    """Return why values are missing and how often, per metric rater and source, the most frequent first."""
    found: Reasons = {}
    rows = _by_source(corpus).exclude(missing="").annotate(n=Count("pk")).order_by("-n", "missing")
    for rater, system, given, reason, n in rows.values_list(*SOURCE, "missing", "n"):
        found.setdefault((rater, (system, given)), {})[reason] = n
    return found


def explained(cells: Cells, reasons: Reasons) -> Cells:
    """Return the cells, those without a mean with the reason that most of their items have."""
    return {
        key: cell if cell.mean is not None else replace(cell, reason=next(iter(reasons.get(key, ())), ""))
        for key, cell in cells.items()
    }


def joined(cells: Iterable[Cell]) -> Cell:
    """Return one cell of several halves of a system: that which has a value.

    Where none has one, each says why.
    """
    several = list(cells)
    for cell in several:
        if cell.mean is not None:
            return cell
    reasons = dict.fromkeys(cell.reason for cell in several if cell.reason)
    missing, elsewhere = sum(cell.missing for cell in several), sum(cell.elsewhere for cell in several)
    return replace(NOTHING, missing=missing, elsewhere=elsewhere, reason="; ".join(reasons))


def in_total(reasons: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Return how often each reason is given in both, the most frequent first."""
    total = dict(reasons)
    for reason, n in more.items():
        total[reason] = total.get(reason, 0) + n
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


_CONDITION = "item__continuation__condition"
SOURCE = ("rater_id", "item__continuation__system__name", "given")


def _by_source(corpus: Corpus) -> QuerySet[Label, dict[str, object]]:
    """Return a corpus's metric labels, grouped by rater, system and what the system was given."""
    halves = (When(**{f"{_CONDITION}__{half}": GIVEN}, then=Value(half)) for half in HALVES)
    given = Case(*halves, default=Value(""), output_field=CharField())
    return metric_labels(corpus).annotate(given=given).values(*SOURCE)
