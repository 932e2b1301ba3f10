"""Cells of a profile: metrics per system, and the points of dialogues at which systems are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from typing import Any

from django.db import connection
from django.db.models import Avg, Case, CharField, Count, Max, Min, Q, QuerySet, StdDev, Value, When

from annotation.corpora import exclusion
from annotation.models import Label, Rater
from annotation.models.corpora import Corpus
from annotation.models.schemes import Question
from judges.metrics.kit.metric import GIVEN, HALVES

# Figures of a profile's cells: per metric, system and given half of predictions, from the labels.

Source = tuple[str, str]
"""A system, and the half of its predictions that it was given ('' for none)."""
Cells = dict[tuple[int, Source], "Cell"]
Reasons = dict[tuple[int, Source], dict[str, int]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric on one system's items: count, mean, standard deviation (dividing by n), and range.

    `missing` counts items for which the metric is undefined; no figure includes them. `marks` says whether
    the mean is the column's `highest` or `lowest` (where 0.5 is the target, `nearest` to it or `farthest`),
    and whether it is the `best`. `given` is the half of the predictions that the system was given, '' where
    it predicted both; `reason` says why there is no mean, the reason of most items. `elsewhere` counts values
    at points that the other rows do not share; no figure includes them either.
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
        """Whether MPCEval's tables print this mean in bold."""
        return "highest" in self.marks or "nearest" in self.marks

    @property
    def is_underlined(self) -> bool:
        """Whether MPCEval's tables underline this mean."""
        return "lowest" in self.marks or "farthest" in self.marks


NOTHING = Cell(0, 0, None, None)


OWN = "metric:"
"""Prefix of the schemes of metrics' own questions."""


def metric_labels(corpus: Corpus, excluded: Sequence[int] = ()) -> QuerySet[Label]:
    """Return the current labels by which metrics answered their own questions about items of a corpus.

    Labels about training dialogues are left out, and those about `excluded` dialogues (ids).
    """
    own = Question.objects.filter(version__scheme__key__startswith=OWN)
    return Label.objects.filter(
        exclusion.without(excluded, "item__continuation__dialogue__"),
        question__in=own,
        item__corpus=corpus,
        item__training=False,
        item__compared=None,
        rater__kind=Rater.Kind.METRIC,
        superseded_at__isnull=True,
    )


def cells_of(corpus: Corpus, rater: int | None = None, excluded: Sequence[int] = ()) -> Cells:
    """Return the cell of every metric rater (or of one) and source with labels, in one query."""
    labels = _by_source(corpus, excluded)
    labels = labels if rater is None else labels.filter(rater=rater)
    rows = labels.annotate(
        n=Count("number"),
        gone=Count("pk", filter=~Q(missing="")),
        mean=Avg("number"),
        spread=StdDev("number"),
        low=Min("number"),
        high=Max("number"),
    ).values_list(*SOURCE, "n", "gone", "mean", "spread", "low", "high")
    return {
        (rater, (system, half)): replace(Cell(*figures), given=half) for rater, system, half, *figures in rows
    }


def reasons_of(corpus: Corpus, excluded: Sequence[int] = ()) -> Reasons:
    """Count the reasons for missing values per metric rater and source, the most frequent first."""
    reasons: Reasons = {}
    rows = _by_source(corpus, excluded).exclude(missing="").annotate(n=Count("pk")).order_by("-n", "missing")
    for rater, system, half, reason, n in rows.values_list(*SOURCE, "missing", "n"):
        reasons.setdefault((rater, (system, half)), {})[reason] = n
    return reasons


def explained(cells: Cells, reasons: Reasons) -> Cells:
    """Return the cells, giving those without a mean their most frequent reason."""
    return {
        key: cell if cell.mean is not None else replace(cell, reason=next(iter(reasons.get(key, ())), ""))
        for key, cell in cells.items()
    }


def joined(cells: Iterable[Cell]) -> Cell:
    """Merge the cells of a system's halves: return the cell with a value.

    If none has a value, the merged cell lists their reasons.
    """
    several = list(cells)
    for cell in several:
        if cell.mean is not None:
            return cell
    reasons = dict.fromkeys(cell.reason for cell in several if cell.reason)
    missing, elsewhere = sum(cell.missing for cell in several), sum(cell.elsewhere for cell in several)
    return replace(NOTHING, missing=missing, elsewhere=elsewhere, reason="; ".join(reasons))


def in_total(reasons: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Add two counts of reasons, the most frequent first."""
    total = dict(reasons)
    for reason, n in more.items():
        total[reason] = total.get(reason, 0) + n
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


_CONDITION = "item__continuation__condition"
SOURCE = ("rater_id", "item__continuation__system__name", "given")


def _by_source(corpus: Corpus, excluded: Sequence[int]) -> QuerySet[Label, dict[str, object]]:
    """Return a corpus's metric labels, grouped by rater, system and given half."""
    halves = (When(**{f"{_CONDITION}__{half}": GIVEN}, then=Value(half)) for half in HALVES)
    given_half = Case(*halves, default=Value(""), output_field=CharField())
    return metric_labels(corpus, excluded).annotate(given=given_half).values(*SOURCE)


# Points of dialogues at which the rows of a profile are compared: those where every row has a value.
#
# A turn's point is its place in the dialogue, with the given turns right before a static one; that of a whole
# conversation is its beginning: with the dialogue, or after its own turns.

SAME, ALL = "same", "all"
POINTS = (SAME, ALL)
"""Points that a profile covers: those shared by its rows, or each row's own."""

APART = "no point in common with the other rows"

SCORED = """
WITH used AS (
    SELECT * FROM unnest(%(raters)s::bigint[], %(systems)s::text[], %(halves)s::text[])
        AS u(rater, system, half)
), histories AS (
    SELECT c.dialogue_id AS dialogue, count(*) AS length
      FROM annotation_dialogue d JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = 'self'
      JOIN annotation_turn t ON t.continuation_id = c.id
     WHERE d.corpus_id = %(corpus)s GROUP BY c.dialogue_id
), scored AS (
    SELECT l.rater_id AS rater, s.name AS system, u.half,
           s.id * 2 + (u.half <> '')::int AS source_row, l.number, c.dialogue_id AS dialogue,
           CASE WHEN t.id IS NULL THEN -1 - (c.key <> 'self')::int
                WHEN c.key = 'self' THEN t.position
                WHEN c.mode = 'static' THEN least(coalesce(t.at, 0), coalesce(h.length, 0))
                ELSE coalesce(h.length, 0) + t.position END AS place,
           CASE WHEN c.mode = 'static' THEN coalesce((
               SELECT md5(string_agg(g.speaker || ': ' || g.text, chr(10) ORDER BY g.position))
                 FROM annotation_turn g
                WHERE g.continuation_id = c.id AND g.given AND g.at = t.at AND g.position < t.position
                  AND NOT EXISTS (SELECT FROM annotation_turn o
                                   WHERE o.continuation_id = c.id AND o.position > g.position
                                     AND o.position < t.position AND NOT (o.given AND o.at = t.at))
           ), '') ELSE '' END AS before
      FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
      JOIN annotation_continuation c ON c.id = i.continuation_id
      JOIN annotation_system s ON s.id = c.system_id
      JOIN used u ON u.rater = l.rater_id AND u.system = s.name
                 AND u.half = CASE WHEN c.condition->>'speaker' = 'given' THEN 'speaker'
                                   WHEN c.condition->>'content' = 'given' THEN 'content' ELSE '' END
      LEFT JOIN annotation_turn t ON t.id = i.turn_id LEFT JOIN histories h ON h.dialogue = c.dialogue_id
     WHERE i.corpus_id = %(corpus)s AND NOT i.training AND i.compared IS NULL AND l.superseded_at IS NULL
       AND l.number IS NOT NULL AND l.question_id = ANY(%(questions)s)
       AND c.dialogue_id <> ALL(%(excluded)s::bigint[])
), points AS (
    SELECT rater, dialogue, place, before, array_agg(DISTINCT source_row) AS rows
      FROM scored GROUP BY rater, dialogue, place, before
)
"""
_PARTS = """
SELECT rater, system, half, source_row, rows, count(DISTINCT (dialogue, place, before)), count(*),
       avg(number), var_pop(number), min(number), max(number)
  FROM scored JOIN points USING (rater, dialogue, place, before)
 GROUP BY rater, system, half, source_row, rows
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A source's values at the points where exactly these rows have a value; a row is a number here."""

    row: int
    rows: frozenset[int]
    points: int
    n: int
    mean: float
    variance: float
    low: float
    high: float


Parts = dict[int, dict[Source, list[Part]]]
"""Parts per metric rater for which several rows have values."""


def parts_of(corpus: Corpus, cells: Cells, excluded: Sequence[int] = ()) -> Parts:
    """Return the parts of the cells in columns where several rows have a value; at most two queries."""
    used = sources_used(cells)
    if not used:
        return {}
    parts_by_rater: Parts = {}
    with connection.cursor() as cursor:
        cursor.execute(SCORED + _PARTS, parameters(corpus, used, excluded))
        for rater, system, half, row, rows, *figures in cursor.fetchall():
            part = Part(row, frozenset(rows), *figures)
            parts_by_rater.setdefault(rater, {}).setdefault((system, half), []).append(part)
    return parts_by_rater


def sources_used(cells: Cells) -> list[tuple[int, Source]]:
    """Return the sources of the rows' values, for columns in which several rows have values.

    Of the halves of a system's predictions, the first with a value is used.
    """
    rows: dict[int, dict[tuple[str, bool], Source]] = {}
    for rater, source in sorted(key for key, cell in cells.items() if cell.mean is not None):
        rows.setdefault(rater, {}).setdefault((source[0], bool(source[1])), source)
    return [(rater, source) for rater, used in rows.items() if len(used) > 1 for source in used.values()]


def parameters(corpus: Corpus, used: Sequence[tuple[int, Source]], excluded: Sequence[int]) -> dict[str, Any]:
    """Return the parameters of `SCORED`."""
    own = Question.objects.filter(version__scheme__key__startswith=OWN)
    return {
        "corpus": corpus.pk,
        "excluded": list(excluded),
        "questions": list(own.values_list("pk", flat=True)),
        "raters": [rater for rater, _ in used],
        "systems": [system for _, (system, _) in used],
        "halves": [half for _, (_, half) in used],
    }


def compared_rows(parts: Iterable[Part]) -> frozenset[int]:
    """Return the rows of a column to compare, empty if no two rows have a point in common.

    All rows are compared if there is a point where each has a value. Otherwise the row with the fewest points
    in common with others is dropped, until the remaining rows share a point.
    """
    several = list(parts)
    rows = {part.row for part in several}
    while len(rows) > 1:
        if any(rows <= part.rows for part in several):
            return frozenset(rows)
        shared = dict.fromkeys(sorted(rows), 0)
        for part in several:
            if part.row in rows and len(part.rows & rows) > 1:
                shared[part.row] += part.points
        rows.remove(min(shared, key=lambda row: shared[row]))
    return frozenset()


def at_same_points(cells: Cells, parts: Parts) -> Cells:
    """Restrict cells to the points that the rows of their column share; columns of one row stay unchanged."""
    compared = {rater: compared_rows(_all(sources)) for rater, sources in parts.items()}
    return {
        (rater, source): _narrowed(cell, parts[rater].get(source, []), compared[rater])
        if rater in parts and cell.mean is not None
        else cell
        for (rater, source), cell in cells.items()
    }


def _all(sources: Mapping[Source, list[Part]]) -> list[Part]:
    return [part for parts in sources.values() for part in parts]


def _narrowed(cell: Cell, parts: Sequence[Part], rows: frozenset[int]) -> Cell:
    """Restrict a cell to its values at the points shared by `rows`, of which it is one."""
    shared = [part for part in parts if part.row in rows and rows <= part.rows]
    n = sum(part.n for part in shared)
    if not n:
        gone = {"mean": None, "spread": None, "low": None, "high": None}
        return replace(cell, n=0, elsewhere=cell.n, reason=APART, **gone)  # type: ignore[arg-type]
    if n == cell.n:
        return cell
    mean = fsum(part.n * part.mean for part in shared) / n
    variance = fsum(part.n * (part.variance + (part.mean - mean) ** 2) for part in shared) / n
    return replace(
        cell,
        n=n,
        elsewhere=cell.n - n,
        mean=mean,
        spread=sqrt(variance),
        low=min(part.low for part in shared),
        high=max(part.high for part in shared),
    )


def points_in(parts: Mapping[Source, list[Part]]) -> tuple[int, int]:
    """Return the number of points at which a column's rows are compared, and the number of all points."""
    several = _all(parts)
    rows = compared_rows(several)
    shared = sum(part.points for part in several if rows and part.row == min(rows) and rows <= part.rows)
    return shared, sum(part.points for part in several if part.row == min(part.rows))
