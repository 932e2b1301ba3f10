"""Metric scores of a corpus: systems as rows, metrics as columns, each cell a mean with its spread."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, Self, TypeVar

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from annotation.corpora import exclusion
from annotation.kinds import KINDS
from annotation.models import Campaign, Continuation, Label, Rater
from annotation.models.corpora import Corpus
from annotation.records import HUMAN
from annotation.text.display import number
from calibration.comparisons.profile_cells import (
    ALL,
    NOTHING,
    POINTS,
    SAME,
    SCORED,
    Cell,
    Cells,
    Part,
    Parts,
    Reasons,
    Source,
    at_same_points,
    cells_of,
    compared_rows,
    explained,
    in_total,
    joined,
    metric_labels,
    parameters,
    parts_of,
    points_in,
    reasons_of,
    sources_used,
)
from calibration.errors import ProfileRefused
from calibration.figure_cache import CachedFigures, cached_or_job, is_small, stamp_of
from calibration.ratings.calls import calls_of, fake_systems
from calibration.ratings.scope import Scope, narrowed, of_corpus
from calibration.ratings.subsets import Subset
from calibration.renderings import (
    NEEDS,
    Rendering,
    escaped,
    latex_comment,
    latex_headings,
    latex_line,
    latex_table,
    records_csv,
)
from calibration.reports import charts
from calibration.reports.chart_layout import place_rows
from calibration.reports.charts import alt
from calibration.reports.kinds import Dated, Parameters, ReportKind, adapter
from jobs.errors import JobRefused
from jobs.fake_models import MARK
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from judges.metrics import METRICS, Aspect, Metric, aspects
from judges.metrics.kit.metric import HALVES, PAPER
from judges.runs.estimates import Doubt, doubtful_values, fitted_on_themselves

# Profile of a corpus: systems as rows, metrics as columns, each cell a mean with its spread.
#
# No row is the standard: the human continuations are one point among others.

Entry = TypeVar("Entry")
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
"""Marks of a column, and the end at which each is set; MPCEval's tables mark the same ends."""


@dataclass(frozen=True, slots=True)
class Column:
    """A metric rater of the corpus, with its declaration."""

    id: int
    name: str
    metric: Metric
    variant: str
    short_name: str = ""

    @classmethod
    def of(cls, rater: Rater) -> Self:
        """Take a metric's rater."""
        variant = rater.spec.get("variant", PAPER)
        return cls(rater.pk, rater.name, METRICS[rater.spec["metric"]], variant, rater.short_name)

    @property
    def order(self) -> tuple[int, str]:
        """Sort key: the catalogue's order, then the name."""
        return list(METRICS).index(self.metric.key), self.name

    @property
    def title(self) -> str:
        """Short name, else the metric's title, with the variant unless it is the printed formula."""
        return self.short_name or self.metric.titled(self.variant)

    @property
    def direction(self) -> str:
        """Which direction is better, in words."""
        return DIRECTIONS[self.metric.direction]


@dataclass(frozen=True)
class Row:
    """A system with its cells, in the order of the columns.

    `given` are the halves of its predictions that it was given: empty where it predicted both; both halves
    where the row joins its continuations of two tasks, with each value from the task that has one.
    `fake_model` says whether a fake model wrote one of its scored continuations.
    """

    system: str
    cells: tuple[Cell, ...]
    given: tuple[str, ...] = ()
    fake_model: bool = False

    @property
    def note(self) -> str:
        """The half that the system was given, or, for a joined row, the origin of its values."""
        if len(self.given) < 2:
            return "".join(HALVES[half] for half in self.given)
        used = dict.fromkeys(HALVES[cell.given] for cell in self.cells if cell.given)
        return "joined" + "".join(f"; values where {source}" for source in used)

    @property
    def human(self) -> bool:
        """Whether people wrote the continuations."""
        return self.system.casefold() == HUMAN


@dataclass(frozen=True, slots=True)
class Gone:
    """A reason why a metric has no value, and its number of items."""

    metric: str
    reason: str
    n: int


@dataclass(frozen=True)
class Panel:
    """Metrics of one aspect on one kind of item, at the same points for all rows or at all points.

    For metrics with values in several rows, `shared` has the number of points compared and the number of all
    points.
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
        """Heading of the panel."""
        return heading(self.kind, self.aspect)

    @property
    def systems(self) -> tuple[Row, ...]:
        """Rows of systems other than people."""
        return tuple(row for row in self.rows if not row.human)

    @property
    def people(self) -> tuple[Row, ...]:
        """Rows of people."""
        return tuple(row for row in self.rows if row.human)

    @property
    def bodies(self) -> list[tuple[Row, ...]]:
        """Rows in the parts of the table, those of people last; no part without rows."""
        return [*filter(None, (self.systems, self.people))]


@dataclass(frozen=True)
class Figures:
    """Figures that a profile reads from the labels, and the systems that used a fake model."""

    cells: Cells
    reasons: Reasons
    fakes: tuple[str, ...]
    parts: Parts


def figures_of(corpus: Corpus, excluded: Sequence[int] = ()) -> Figures:
    """Read a corpus's figures, without `excluded` dialogues (ids); at most five queries for any number of
    labels."""
    cells, labels = cells_of(corpus, excluded=excluded), metric_labels(corpus, excluded)
    fakes, parts = tuple(fake_systems(labels)), parts_of(corpus, cells, excluded)
    return Figures(cells, reasons_of(corpus, excluded), fakes, parts)


def profile(corpus: Corpus, points: str = SAME) -> list[Panel]:
    """Compute a corpus's panels from its current labels."""
    return panels_of(figures_of(corpus), points)


def panels_of(figures: Figures, points: str = SAME) -> list[Panel]:
    """Build the panels from figures: turns before conversations, aspects in the papers' order.

    Includes only systems with labels, and metrics that have been run and give numbers. The rows of a column
    cover the `points` that they share (`SAME`), or each all of its own.
    """
    cells = explained(figures.cells, figures.reasons)
    if points == SAME:
        cells = at_same_points(cells, figures.parts)
    columns = columns_of({rater for rater, _ in cells})
    fakes, gone = figures.fakes, _gone(figures.reasons)
    panels = []
    for kind, aspect, of_panel in by_aspect(columns, lambda column: column.metric):
        why = (Gone(c.name, reason, n) for c in of_panel for reason, n in gone.get(c.id, {}).items())
        shared = {c.name: points_in(figures.parts[c.id]) for c in of_panel if c.id in figures.parts}
        rows = _rows(of_panel, cells, fakes)
        panels.append(Panel(kind, aspect, of_panel, rows, tuple(why), points, shared))
    return panels


def heading(kind: str, aspect: Aspect) -> str:
    """Return the heading for the metrics of one aspect on one kind of item."""
    return f"{KINDS[kind].heading}: {aspect.heading.lower()}"


def by_aspect(
    entries: Sequence[Entry], metric_of: Callable[[Entry], Metric]
) -> Iterator[tuple[str, Aspect, tuple[Entry, ...]]]:
    """Group entries by their metric's kind of item and aspect: turns first, aspects in the papers' order."""
    for kind in KINDS:
        for aspect in aspects():
            group = [
                entry
                for entry in entries
                if (metric_of(entry).kind, metric_of(entry).aspect) == (kind, aspect)
            ]
            if group:
                yield kind, aspect, tuple(group)


def column(corpus: Corpus, rater: int) -> Column | None:
    """Return one metric of a corpus's profile, None if it has no label there."""
    present = metric_labels(corpus).filter(rater=rater).exists()
    return next(iter(columns_of({rater})), None) if present else None


def columns_of(raters: Iterable[int]) -> list[Column]:
    """Return the metrics among raters that give numbers, in the catalogue's order."""
    metric_columns = [
        Column.of(rater)
        for rater in Rater.objects.filter(pk__in=set(raters))
        if rater.spec.get("metric") in METRICS and not METRICS[rater.spec["metric"]].categories
    ]
    return sorted(metric_columns, key=attrgetter("order"))


def _gone(reasons: Reasons) -> dict[int, dict[str, int]]:
    """Count the reasons for missing values per metric rater, over all systems."""
    counts_by_rater: dict[int, dict[str, int]] = {}
    for (rater, _), counts in reasons.items():
        counts_by_rater[rater] = in_total(counts_by_rater.get(rater, {}), counts)
    return counts_by_rater


def _rows(columns: tuple[Column, ...], cells: Cells, fakes: Collection[str]) -> tuple[Row, ...]:
    """Return one row per system, and another if it was given halves of its predictions."""
    ids = {c.id for c in columns}
    sources = sorted({source for rater, source in cells if rater in ids})
    tasks: dict[tuple[str, bool], list[str]] = {}
    for system, half in sources:
        tasks.setdefault((system, bool(half)), []).append(half)
    by_column = []
    for c in columns:
        of_column = {
            task: joined(cells.get((c.id, (task[0], half)), NOTHING) for half in halves)
            for task, halves in tasks.items()
        }
        by_column.append(_marked(c, of_column))
    return tuple(
        Row(
            task[0],
            tuple(column_cells[task] for column_cells in by_column),
            tuple(filter(None, halves)),
            task[0] in fakes,
        )
        for task, halves in tasks.items()
    )


def _marked(column: Column, cells: Mapping[Task, Cell]) -> dict[Task, Cell]:
    """Mark the ends of a column and the better end; no marks if all means are equally good."""
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
ARROWS = {
    "higher": r" $\uparrow$",
    "lower": r" $\downarrow$",
    "nearer_half": r" $\to .5$",
    "descriptive": "",
}


def as_csv(panels: Sequence[Panel]) -> str:
    """Return one line per system and metric; text is guarded against spreadsheet formulas."""
    rows = as_rows(panels)
    names = ["items", "aspect", "metric", "system", "fake_model", "given", "points", "n", "mean", "sd"]
    return records_csv(list(rows[0]) if rows else names, rows)


def as_latex(panels: Sequence[Panel]) -> str:
    """Return one booktabs table per panel: means over standard deviations, the ends of a column marked."""
    return "\n\n".join([NEEDS, *map(_table, panels)]) + "\n"


def _table(panel: Panel) -> str:
    names = [f"{escaped(column.name)}{ARROWS[column.metric.direction]}" for column in panel.columns]
    comments = [
        latex_comment(
            f"{panel.title}: mean and standard deviation (dividing by n); bold: highest, underlined: lowest;"
        ),
        latex_comment("where the arrow leads to .5, bold: nearest, underlined: farthest"),
    ]
    apart = [r"\midrule"] if panel.systems and panel.people else []
    body = [*map(_line, panel.systems), *apart, *map(_line, panel.people)]
    reasons = dict.fromkeys(cell.reason for row in panel.rows for cell in row.cells if cell.reason)
    note = SENTENCES[panel.points] + (f" --: {escaped('; '.join(reasons))}." if reasons else "")
    head = ["System", *latex_headings(names)]
    return "\n".join([*comments, *latex_table(f"l{'r' * len(names)}", head, body, note)])


def _line(row: Row) -> str:
    name = f"{row.system} {MARK}" if row.fake_model else row.system
    note = rf"{{\scriptsize {escaped(row.note)}}}" if row.note else ""
    values = latex_line([escaped(name), *map(_figure, row.cells)])
    return f"{values}\n{latex_line([note, *map(_spread, row.cells)])}"


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


# Distribution of one metric's values by system: quartiles and the mean, drawn as box plots.

QUARTILES = """
SELECT s.name || CASE WHEN c.condition->>'speaker' = 'given' THEN ' (the speaker was given)'
                      WHEN c.condition->>'content' = 'given' THEN ' (the message was given)' ELSE '' END
       AS source, count(*), avg(l.number), percentile_cont(ARRAY[0, 0.25, 0.5, 0.75, 1])
       WITHIN GROUP (ORDER BY l.number)
  FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id JOIN annotation_system s ON s.id = c.system_id
 WHERE i.corpus_id = %s AND NOT i.training AND l.rater_id = %s AND l.superseded_at IS NULL
   AND l.number IS NOT NULL
   AND c.dialogue_id <> ALL(%s::bigint[]) AND i.compared IS NULL AND EXISTS (
       SELECT FROM annotation_question q JOIN annotation_schemeversion v ON v.id = q.version_id
         JOIN annotation_scheme m ON m.id = v.scheme_id WHERE q.id = l.question_id AND m.key LIKE 'metric:%%')
 GROUP BY s.name, source ORDER BY lower(s.name) = %s, source
"""
SHARED = """
SELECT system || CASE half WHEN 'speaker' THEN ' (the speaker was given)'
                           WHEN 'content' THEN ' (the message was given)' ELSE '' END AS source,
       count(*), avg(number), percentile_cont(ARRAY[0, 0.25, 0.5, 0.75, 1]) WITHIN GROUP (ORDER BY number)
  FROM scored JOIN points USING (rater, dialogue, place, before)
 WHERE source_row = ANY(%(rows)s) AND rows @> %(rows)s::bigint[]
 GROUP BY system, source ORDER BY lower(system) = %(human)s, source
"""
FIELDS = ("system", "n", "mean", "low", "q1", "median", "q3", "high")


def distribution(
    corpus: Corpus, column: Column, points: str = SAME, excluded: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """Return each system's number of values, mean and quartiles (linear interpolation); people come last.

    Covers the values at the points that the rows of the profile share, or all values, without those of
    `excluded` dialogues (ids).
    """
    cells = cells_of(corpus, column.id, excluded) if points == SAME else {}
    query = QUARTILES
    values: Any = [corpus.pk, column.id, list(excluded), HUMAN]
    if used := sources_used(cells):
        parts = parts_of(corpus, cells, excluded)[column.id]
        compared = sorted(compared_rows(part for several in parts.values() for part in several))
        query, values = (
            SCORED + SHARED,
            parameters(corpus, used, excluded) | {"rows": compared, "human": HUMAN},
        )
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows = cursor.fetchall()
    return [dict(zip(FIELDS, (name, n, mean, *quartiles), strict=True)) for name, n, mean, quartiles in rows]


def svg(values: list[dict[str, Any]], column: Column) -> str:
    """Return the box plots as a standalone SVG on white."""
    return charts.on_white(_render_svg(json.dumps(values), column.name))


def inline_svg(values: list[dict[str, Any]], column: Column) -> str:
    """Return the box plots for a page, in the page's colours."""
    return charts.in_page(_render_svg(json.dumps(values), column.name), alt_text(values, column))


def alt_text(values: list[dict[str, Any]], column: Column) -> str:
    """Return the mean of each system, or the lowest and the highest of many."""
    means = [(row["system"], row["mean"]) for row in values]
    if len(means) > charts.MOST_SPOKEN:
        means = sorted(means, key=lambda pair: pair[1])
        means = [means[0], means[-1]]
    spoken = ", ".join(f"{system} {number(mean, 3)}" for system, mean in means)
    which = f"the lowest and the highest of {len(values):,} means" if len(means) < len(values) else "means"
    return f"{column.name} by system, {which}: {spoken}."


@lru_cache(maxsize=256)
def _render_svg(values: str, title: str) -> str:
    return charts.to_svg(_specification(json.loads(values), title))


def _specification(values: list[dict[str, Any]], title: str) -> dict[str, Any]:
    points = [
        row | {"question": row["system"], "series": "", "value": row["mean"], "n_items": row["n"]}
        for row in values
    ]
    rows = place_rows(points, title)
    scale = alt.Scale(zero=False, nice=True)
    heading = charts.axis_lines(title, rows)
    x = charts.rows_axis("low:Q", heading, scale=scale, form=".3~g")
    base = charts.in_rows(rows.points)
    marks = [
        base.mark_rule(color=charts.INK_3).encode(x=x, x2="high:Q"),
        base.mark_rule(strokeWidth=12, color=charts.COLOURS[0], opacity=0.35).encode(x="q1:Q", x2="q3:Q"),
        base.mark_tick(orient="vertical", color=charts.COLOURS[0], thickness=2, size=12).encode(x="median:Q"),
        base.mark_point(filled=True, color=charts.COLOURS[1], size=40, opacity=1).encode(x="mean:Q"),
    ]
    return charts.rows_specification(rows, marks, heading)


# Profiles of large corpora: a worker computes and stores everything that their page reads from the labels.

KIND = "profile"
EXAMPLES = 30


@dataclass(frozen=True)
class StoredFigures:
    """Profile data stored by a worker; names as in `Figures` and `Profile`."""

    cells: list[tuple[tuple[int, Source], Cell]]
    reasons: list[tuple[tuple[int, Source], dict[str, int]]]
    fakes: tuple[str, ...]
    parts: list[tuple[int, list[tuple[Source, list[Part]]]]]
    doubts: dict[int, Doubt]
    learned: dict[int, int]
    examples: list[int]

    @property
    def figures(self) -> Figures:
        """Figures by rater and source."""
        parts = {rater: dict(sources) for rater, sources in self.parts}
        return Figures(dict(self.cells), dict(self.reasons), self.fakes, parts)


@dataclass(frozen=True)
class ProfileQuery:
    """Corpus of a profile, and the points at which its systems are compared."""

    corpus: Corpus
    points: str = SAME
    exclude: str = ""

    @property
    def scope(self) -> Scope:
        """The labels that are read: those of the corpus, without the dialogues that `exclude` leaves out."""
        return narrowed(of_corpus(self.corpus), Subset(exclude=self.exclude))


@dataclass(frozen=True)
class Profile(Dated):
    """Contents of a corpus's profile. `cached` says when it was computed; None for figures computed just now.

    `doubts` and `learned` are by rater, `examples` some continuations with values; `excluded` describes the
    dialogues that an exclusion leaves out.
    """

    points: str
    panels: list[Panel]
    doubts: dict[int, Doubt]
    learned: dict[int, int]
    examples: QuerySet[Continuation]
    excluded: dict[str, Any] | None = None
    cached: CachedFigures | None = None


def profile_or_job(*, query: ProfileQuery, by: User | None, again: bool = False) -> Profile | Job:
    """Return a corpus's profile, for a large corpus as last computed, or the job that computes it."""
    points = query.points
    excluded = exclusion.described(query.corpus, query.exclude)
    if is_small(of_corpus(query.corpus)):
        return _read(query.scope, points, excluded)
    cached = _cached_or_job(query, by, again)
    if isinstance(cached, Job):
        return cached
    stored = adapter(StoredFigures).validate_json(cached.result["figures"])
    examples = Continuation.objects.filter(pk__in=stored.examples).order_by("pk")
    panels = panels_of(stored.figures, points)
    return Profile(points, panels, stored.doubts, stored.learned, examples, excluded, cached)


def spread_of(*, query: ProfileQuery, column: Column, by: User | None) -> list[dict[str, Any]]:
    """Return the distribution of a metric's values, consistent with the cached page if there is one."""
    if not is_small(of_corpus(query.corpus)):
        cached = _cached_or_job(query, by, again=False)
        if (
            isinstance(cached, CachedFigures)
            and (by_points := cached.result["spread"].get(str(column.id))) is not None
        ):
            spread: list[dict[str, Any]] = by_points[query.points]
            return spread
    return distribution(query.corpus, column, query.points, query.scope.excluded)


def _cached_or_job(query: ProfileQuery, by: User | None, again: bool) -> CachedFigures | Job:
    corpus = query.corpus
    without = f" without {query.exclude}" if query.exclude else ""
    subject = f"metric scores{without[:100]} of corpus {corpus.pk}: {corpus.name}"[:300]
    return cached_or_job(
        kind=KIND,
        subject=subject,
        stamp=stamp_of(query.scope),
        params={"corpus": corpus.pk, "exclude": query.exclude},
        by=by,
        again=again,
    )


def _read(scope: Scope, points: str, excluded: dict[str, Any] | None) -> Profile:
    panels = panels_of(figures_of(scope.corpus, scope.excluded), points)
    columns = {column.id for panel in panels for column in panel.columns}
    calls = calls_of(scope, columns)
    doubts, learned = doubtful_values(calls), fitted_on_themselves(calls)
    return Profile(points, panels, doubts, learned, _examples(scope), excluded)


def _examples(scope: Scope) -> QuerySet[Continuation]:
    scored = Label.objects.filter(
        item__continuation=OuterRef("pk"), item__training=False, rater__kind="metric"
    )
    rows = Continuation.objects.filter(
        Exists(scored), scope.of_continuations(), dialogue__corpus=scope.corpus
    )
    return rows.order_by("pk")[:EXAMPLES]


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Read the figures of a corpus's profile; the result holds all that its page shows."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    if corpus is None:
        raise JobRefused("the corpus was deleted")
    scope = ProfileQuery(corpus, exclude=job.params.get("exclude", "")).scope
    stamp, figures = stamp_of(scope), figures_of(corpus, scope.excluded)
    columns = columns_of({rater for rater, _ in figures.cells})
    calls = calls_of(scope, {column.id for column in columns})
    spread = {}
    for place, column in enumerate(columns, 1):
        spread[str(column.id)] = {
            points: distribution(corpus, column, points, scope.excluded) for points in POINTS
        }
        progress(place, len(columns))
    stored = StoredFigures(
        list(figures.cells.items()),
        list(figures.reasons.items()),
        figures.fakes,
        [(rater, list(sources.items())) for rater, sources in figures.parts.items()],
        doubtful_values(calls),
        fitted_on_themselves(calls),
        [continuation.pk for continuation in _examples(scope)],
    )
    return {
        "stamp": stamp,
        "figures": adapter(StoredFigures).dump_json(stored).decode(),
        "spread": spread,
    }


JOB = JobKind(KIND, "Metric scores", run)

CSV, LATEX = "text/csv; charset=utf-8", "text/plain; charset=utf-8"
FILES: dict[str, Rendering[Profile, str]] = {
    "csv": Rendering("csv", "CSV", "csv", CSV, lambda profiled: as_csv(profiled.panels)),
    "tex": Rendering("tex", "LaTeX", "tex", LATEX, lambda profiled: as_latex(profiled.panels)),
}


def points_suffix(points: str) -> str:
    """Return the suffix of a file's name."""
    return "-all-points" if points == ALL else ""


def _query(params: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> ProfileQuery:
    exclude = Parameters.of(params, ProfileRefused).exclude(corpus)
    return ProfileQuery(corpus, params.get("points", SAME), exclude)


PROFILE = ReportKind(
    "profile",
    "Metric scores of each system",
    _query,
    profile_or_job,
    FILES,
    file_detail=lambda profiled, form: points_suffix(profiled.points),
)
