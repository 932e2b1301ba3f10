"""A corpus's profile: systems as rows, metrics as columns, each cell a mean with its spread.

No row is the standard: the human continuations are one point among others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Avg, Count, Max, Min, Q, QuerySet, StdDev

from annotation.kinds import KINDS
from annotation.models import Corpus, Label, Rater
from annotation.records import HUMAN
from calibration.reading.fake_systems import fake_systems
from judges.metrics import METRICS, Aspect, Metric, aspects

DIRECTIONS = {
    "higher": "higher is better",
    "lower": "lower is better",
    "nearer_half": "nearer 0.5 is better",
    "descriptive": "describes, does not rank",
}
HIGH, LOW, NEARER_HALF = "high", "low", "nearer_half"
ENDS = {
    "higher": {"highest": HIGH, "lowest": LOW, "best": HIGH},
    "lower": {"highest": HIGH, "lowest": LOW, "best": LOW},
    NEARER_HALF: {"nearest": HIGH, "farthest": LOW, "best": HIGH},
    "descriptive": {"highest": HIGH, "lowest": LOW},
}
"""The marks of a column, and at which end of it each stands; MPCEval's tables mark the same ends."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric on one system's items: count, mean, standard deviation (dividing by n), and range.

    `missing` counts items on which the metric is not defined; they are in no figure. `marks` says whether
    the mean is the column's `highest` or `lowest` (where 0.5 is what counts, `nearest` to it or `farthest`),
    and whether it is the `best`.
    """

    n: int
    missing: int
    mean: float | None
    spread: float | None
    low: float | None = None
    high: float | None = None
    marks: tuple[str, ...] = ()

    @property
    def is_bold(self) -> bool:
        """Whether it is the end that MPCEval's tables print bold."""
        return "highest" in self.marks or "nearest" in self.marks

    @property
    def is_underlined(self) -> bool:
        """Whether it is the end that MPCEval's tables underline."""
        return "lowest" in self.marks or "farthest" in self.marks


@dataclass(frozen=True, slots=True)
class Column:
    """A metric rater of the corpus, and what its declaration says."""

    id: int
    name: str
    metric: Metric

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return DIRECTIONS[self.metric.direction]


@dataclass(frozen=True)
class Row:
    """A system with its cells, in the order of the columns.

    `fake_model` says whether one of its continuations that were scored was written by a fake model.
    """

    system: str
    cells: tuple[Cell, ...]
    fake_model: bool = False

    @property
    def human(self) -> bool:
        """Whether people wrote these."""
        return self.system.casefold() == HUMAN


@dataclass(frozen=True, slots=True)
class Gone:
    """Why a metric has no value, and on how many items."""

    metric: str
    reason: str
    n: int


@dataclass(frozen=True)
class Panel:
    """The metrics of one aspect on one kind of item."""

    kind: str
    aspect: Aspect
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    gone: tuple[Gone, ...] = ()

    @property
    def title(self) -> str:
        """The panel's heading."""
        return f"{KINDS[self.kind].heading}: {self.aspect.heading.lower()}"

    @property
    def systems(self) -> tuple[Row, ...]:
        """The rows of systems that are not people."""
        return tuple(row for row in self.rows if not row.human)

    @property
    def people(self) -> tuple[Row, ...]:
        """The rows of people."""
        return tuple(row for row in self.rows if row.human)


def metric_labels(corpus: Corpus) -> QuerySet[Label]:
    """Return the live labels that metrics gave to items of a corpus."""
    return Label.objects.filter(
        item__corpus=corpus,
        item__compared=None,
        rater__kind=Rater.Kind.METRIC,
        superseded_at__isnull=True,
    )


def profile(corpus: Corpus) -> list[Panel]:
    """Return a corpus's panels: turns before conversations, aspects in the papers' order.

    Four queries, however many labels there are. Only systems with labels, and metrics that have been run and
    give numbers.
    """
    cells = _cells(corpus)
    columns = _columns({rater for rater, _ in cells})
    reasons = _reasons(corpus)
    fakes = fake_systems(metric_labels(corpus))
    panels = []
    for kind in KINDS:
        for aspect in aspects():
            of_panel = tuple(c for c in columns if (c.metric.kind, c.metric.aspect) == (kind, aspect))
            if of_panel:
                gone = tuple(Gone(c.name, reason, n) for c in of_panel for reason, n in reasons.get(c.id, ()))
                panels.append(Panel(kind, aspect, of_panel, _rows(of_panel, cells, fakes), gone))
    return panels


def column(corpus: Corpus, rater: int) -> Column | None:
    """Return one metric of a corpus's profile, None where it has no label there."""
    present = metric_labels(corpus).filter(rater=rater).exists()
    return next(iter(_columns({rater})), None) if present else None


def _cells(corpus: Corpus) -> dict[tuple[int, str], Cell]:
    rows = (
        metric_labels(corpus)
        .values("rater_id", "item__continuation__system__name")
        .annotate(
            n=Count("number"),
            gone=Count("pk", filter=~Q(missing="")),
            mean=Avg("number"),
            spread=StdDev("number"),
            low=Min("number"),
            high=Max("number"),
        )
        .values_list(
            "rater_id", "item__continuation__system__name", "n", "gone", "mean", "spread", "low", "high"
        )
    )
    return {(rater, system): Cell(*figures) for rater, system, *figures in rows}


def _reasons(corpus: Corpus) -> dict[int, list[tuple[str, int]]]:
    """Return per metric why it has no value and how often, the most frequent first."""
    found: dict[int, list[tuple[str, int]]] = {}
    rows = metric_labels(corpus).exclude(missing="").values_list("rater_id", "missing")
    for rater, reason, n in rows.annotate(n=Count("pk")).order_by("-n", "missing"):
        found.setdefault(rater, []).append((reason, n))
    return found


def _columns(raters: Iterable[int]) -> list[Column]:
    order = {key: place for place, key in enumerate(METRICS)}
    found = [
        Column(rater.pk, rater.name, METRICS[rater.spec["metric"]])
        for rater in Rater.objects.filter(pk__in=set(raters))
        if rater.spec.get("metric") in METRICS and not METRICS[rater.spec["metric"]].categories
    ]
    return sorted(found, key=lambda c: (order[c.metric.key], c.name))


def _rows(
    columns: tuple[Column, ...], cells: Mapping[tuple[int, str], Cell], fakes: Collection[str]
) -> tuple[Row, ...]:
    ids = {c.id for c in columns}
    systems = sorted({system for rater, system in cells if rater in ids})
    marked = {c.id: _marked(c, {s: cells[c.id, s] for s in systems if (c.id, s) in cells}) for c in columns}
    nothing = Cell(0, 0, None, None)
    return tuple(Row(s, tuple(marked[c.id].get(s, nothing) for c in columns), s in fakes) for s in systems)


def _marked(column: Column, cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Mark the ends of a column and the better one; nothing is marked where all means are equally good."""
    direction = column.metric.direction
    placed = {
        system: -abs(cell.mean - 0.5) if direction == NEARER_HALF else cell.mean
        for system, cell in cells.items()
        if cell.mean is not None
    }
    if len(set(placed.values())) < 2:
        return dict(cells)
    top, bottom = max(placed.values()), min(placed.values())
    ends = {name: {HIGH: top, LOW: bottom}[end] for name, end in ENDS[direction].items()}
    return {
        system: replace(cell, marks=tuple(name for name, at in ends.items() if placed.get(system) == at))
        for system, cell in cells.items()
    }


def as_rows(panels: Iterable[Panel]) -> list[dict[str, Any]]:
    """Return every cell as a flat record, for CSV and the API."""
    return [
        {
            "items": panel.kind,
            "aspect": str(panel.aspect),
            "metric": col.name,
            "direction": col.metric.direction,
            "system": row.system,
            "fake_model": row.fake_model,
            "n": cell.n,
            "missing": cell.missing,
            "mean": cell.mean,
            "sd": cell.spread,
            "min": cell.low,
            "max": cell.high,
            "marks": " ".join(cell.marks),
        }
        for panel in panels
        for row in panel.rows
        for col, cell in zip(panel.columns, row.cells, strict=True)
    ]
