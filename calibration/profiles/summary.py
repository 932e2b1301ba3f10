"""A corpus's profile: systems as rows, metrics as columns, each cell a mean with its spread.

No row is the standard: the human continuations are one point among others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.kinds import KINDS
from annotation.models import Corpus, Rater
from annotation.records import HUMAN
from annotation.text.table_cells import guarded
from calibration.profiles.cells import (
    NOTHING,
    Cell,
    Cells,
    Reasons,
    cells_of,
    explained,
    in_total,
    joined,
    metric_labels,
    reasons_of,
)
from calibration.profiles.points import ALL, SAME, Parts, at_same_points, parts_of, points_in
from calibration.reading.calls import fake_systems
from calibration.reports.latex import NEEDS, escaped, fitted
from jobs.fake_models import MARK
from judges.metrics import METRICS, Aspect, Metric, aspects
from judges.metrics.kit.base import HALVES, PAPER

Task = tuple[str, bool]
"""A system, and whether it was given a half of its predictions."""

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
class Column:
    """A metric rater of the corpus, and what its declaration says."""

    id: int
    name: str
    metric: Metric
    variant: str

    @property
    def title(self) -> str:
        """What the metric is called, with the variant where that is not the printed formula."""
        return self.metric.titled(self.variant)

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return DIRECTIONS[self.metric.direction]


@dataclass(frozen=True)
class Row:
    """A system with its cells, in the order of the columns.

    `given` are the halves of its predictions that it was given: none where it predicted both, and both where
    the row joins its continuations of two tasks, with each value from the task that has one. `fake_model`
    says whether one of its continuations that were scored was written by a fake model.
    """

    system: str
    cells: tuple[Cell, ...]
    given: tuple[str, ...] = ()
    fake_model: bool = False

    @property
    def note(self) -> str:
        """What the system was given, or, of a joined row, where its values are from."""
        if len(self.given) < 2:
            return "".join(HALVES[half] for half in self.given)
        used = dict.fromkeys(HALVES[cell.given] for cell in self.cells if cell.given)
        return "joined" + "".join(f"; values where {told}" for told in used)

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
    """The metrics of one aspect on one kind of item, at the same points for all rows or at all points.

    `shared` says of metrics that several rows have values of at how many points they are compared, and how
    many points there are.
    """

    kind: str
    aspect: Aspect
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    gone: tuple[Gone, ...] = ()
    points: str = SAME
    shared: Mapping[str, tuple[int, int]] = field(default_factory=dict)

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


@dataclass(frozen=True)
class Figures:
    """What a profile reads from the labels, and which systems asked a fake model."""

    cells: Cells
    reasons: Reasons
    fakes: tuple[str, ...]
    parts: Parts


def figures_of(corpus: Corpus) -> Figures:
    """Read a corpus's figures: five queries at most, however many labels there are."""
    cells, fakes = cells_of(corpus), tuple(fake_systems(metric_labels(corpus)))
    return Figures(cells, reasons_of(corpus), fakes, parts_of(corpus, cells))


def profile(corpus: Corpus, points: str = SAME) -> list[Panel]:
    """Return a corpus's panels, read from its labels now."""
    return panels_of(figures_of(corpus), points)


def panels_of(figures: Figures, points: str = SAME) -> list[Panel]:
    """Return the panels of figures: turns before conversations, aspects in the papers' order.

    Only systems with labels, and metrics that have been run and give numbers. The rows of a column are of the
    `points` that they share (`SAME`), or each of all of its own.
    """
    cells = explained(figures.cells, figures.reasons)
    if points == SAME:
        cells = at_same_points(cells, figures.parts)
    columns = columns_of({rater for rater, _ in cells})
    fakes, gone = figures.fakes, _gone(figures.reasons)
    panels = []
    for kind in KINDS:
        for aspect in aspects():
            of_panel = tuple(c for c in columns if (c.metric.kind, c.metric.aspect) == (kind, aspect))
            if of_panel:
                why = (Gone(c.name, reason, n) for c in of_panel for reason, n in gone.get(c.id, {}).items())
                shared = {c.name: points_in(figures.parts[c.id]) for c in of_panel if c.id in figures.parts}
                rows = _rows(of_panel, cells, fakes)
                panels.append(Panel(kind, aspect, of_panel, rows, tuple(why), points, shared))
    return panels


def column(corpus: Corpus, rater: int) -> Column | None:
    """Return one metric of a corpus's profile, None where it has no label there."""
    present = metric_labels(corpus).filter(rater=rater).exists()
    return next(iter(columns_of({rater})), None) if present else None


def columns_of(raters: Iterable[int]) -> list[Column]:
    """Return the metrics among raters that give numbers, in the catalogue's order."""
    order = {key: place for place, key in enumerate(METRICS)}
    found = [
        Column(rater.pk, rater.name, METRICS[rater.spec["metric"]], rater.spec.get("variant", PAPER))
        for rater in Rater.objects.filter(pk__in=set(raters))
        if rater.spec.get("metric") in METRICS and not METRICS[rater.spec["metric"]].categories
    ]
    return sorted(found, key=lambda c: (order[c.metric.key], c.name))


def _gone(reasons: Reasons) -> dict[int, dict[str, int]]:
    """Return per metric rater why it has no value and how often, over all systems."""
    found: dict[int, dict[str, int]] = {}
    for (rater, _), counts in reasons.items():
        found[rater] = in_total(found.get(rater, {}), counts)
    return found


def _rows(columns: tuple[Column, ...], cells: Cells, fakes: Collection[str]) -> tuple[Row, ...]:
    """Return a row per system, and one more where it was given halves of its predictions."""
    ids = {c.id for c in columns}
    sources = sorted({source for rater, source in cells if rater in ids})
    tasks: dict[tuple[str, bool], list[str]] = {}
    for system, given in sources:
        tasks.setdefault((system, bool(given)), []).append(given)
    by_column = []
    for c in columns:
        of_column = {
            task: joined(cells.get((c.id, (task[0], given)), NOTHING) for given in halves)
            for task, halves in tasks.items()
        }
        by_column.append(_marked(c, of_column))
    return tuple(
        Row(task[0], tuple(one[task] for one in by_column), tuple(filter(None, halves)), task[0] in fakes)
        for task, halves in tasks.items()
    )


def _marked(column: Column, cells: Mapping[Task, Cell]) -> dict[Task, Cell]:
    """Mark the ends of a column and the better one; nothing is marked where all means are equally good."""
    direction = column.metric.direction
    placed = {
        task: -abs(cell.mean - 0.5) if direction == NEARER_HALF else cell.mean
        for task, cell in cells.items()
        if cell.mean is not None
    }
    if len(set(placed.values())) < 2:
        return dict(cells)
    top, bottom = max(placed.values()), min(placed.values())
    ends = {name: {HIGH: top, LOW: bottom}[end] for name, end in ENDS[direction].items()}
    return {
        task: replace(cell, marks=tuple(name for name, at in ends.items() if placed.get(task) == at))
        for task, cell in cells.items()
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
            "given": cell.given or "+".join(row.given),
            "points": panel.points,
            "n": cell.n,
            "elsewhere": cell.elsewhere,
            "missing": cell.missing,
            "mean": cell.mean,
            "sd": cell.spread,
            "min": cell.low,
            "max": cell.high,
            "marks": " ".join(cell.marks),
            "reason": cell.reason,
        }
        for panel in panels
        for row in panel.rows
        for col, cell in zip(panel.columns, row.cells, strict=True)
    ]


# A profile as CSV and as LaTeX.

SENTENCES = {
    SAME: "Systems are compared at the same points: those where each of them has a value.",
    ALL: "Each system at all of its own points: the points of two systems may differ.",
}
TEXT = ("metric", "system", "reason")
MOST_LEVEL = 4
"""Headings of more columns than these are turned, so that columns are as narrow as their figures."""
ARROWS = {
    "higher": r" $\uparrow$",
    "lower": r" $\downarrow$",
    "nearer_half": r" $\to .5$",
    "descriptive": "",
}


def as_csv(panels: Sequence[Panel]) -> str:
    """Return one line per system and metric; text cells are guarded against spreadsheets."""
    rows = as_rows(panels)
    out = io.StringIO()
    names = (
        list(rows[0])
        if rows
        else ["items", "aspect", "metric", "system", "fake_model", "given", "points", "n", "mean", "sd"]
    )
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(value) if key in TEXT else value for key, value in row.items()})
    return out.getvalue()


def as_latex(panels: Sequence[Panel]) -> str:
    """Return a booktabs table per panel: means over standard deviations, the ends of a column marked."""
    return "\n\n".join([NEEDS, *map(_table, panels)]) + "\n"


def _table(panel: Panel) -> str:
    names = [f"{escaped(column.name)}{ARROWS[column.metric.direction]}" for column in panel.columns]
    if len(names) > MOST_LEVEL:
        names = [rf"\rotatebox{{60}}{{{name}}}" for name in names]
    comments = [
        f"% {panel.title}: mean and standard deviation (dividing by n); bold: highest, underlined: lowest;",
        "% where the arrow leads to .5, bold: nearest, underlined: farthest",
    ]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(panel.columns)}}}",
        r"\toprule",
        " & ".join(["System", *names]) + r" \\",
        r"\midrule",
        *(_line(row) for row in panel.systems),
    ]
    if panel.people:
        apart = [r"\midrule"] if panel.systems else []
        lines += [*apart, *(_line(row) for row in panel.people)]
    whys = dict.fromkeys(cell.reason for row in panel.rows for cell in row.cells if cell.reason)
    note = SENTENCES[panel.points] + (f" --: {escaped('; '.join(whys))}." if whys else "")
    return "\n".join([*comments, *fitted([*lines, r"\bottomrule", r"\end{tabular}"], note)])


def _named(row: Row) -> str:
    return f"{row.system} {MARK}" if row.fake_model else row.system


def _line(row: Row) -> str:
    values = " & ".join([escaped(_named(row)), *map(_figure, row.cells)])
    note = rf"{{\scriptsize {escaped(row.note)}}}" if row.note else ""
    under = " & ".join([note, *map(_spread, row.cells)])
    return f"{values} \\\\\n{under} \\\\"


def _figure(cell: Cell) -> str:
    if cell.mean is None:
        return "--"
    mean = f"{cell.mean:.3f}".replace("-", "$-$")
    if cell.is_bold:
        mean = rf"\textbf{{{mean}}}"
    if cell.is_underlined:
        mean = rf"\underline{{{mean}}}"
    return mean


def _spread(cell: Cell) -> str:
    return "" if cell.mean is None else rf"{{\scriptsize $\pm$ {cell.spread or 0:.3f}}}"
